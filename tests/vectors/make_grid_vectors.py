"""Writes the vectors of definitions with rating blocks: which are accepted, and the epsilon of those that are sampled.

Like make_twin_vectors.py, whose canonical JSON it uses, it shares no code with the project.

Run: python -m tests.vectors.make_grid_vectors [FOLDER]   (the standard library only; the same bytes on every run)
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import Any

from tests.vectors.make_twin_vectors import LN3, canonical, optional, question, scale, shown_if, survey

Json = dict[str, Any]
OPTIONS = ["never", "some days", "daily"]
SCORES = [0.0, 1.0, 2.0]
TEXT = {"text": "How often?"}


def item(number: int, grid: Json, block: str = "mood", epsilon: float = 0.5) -> Json:
    """An item of a block; `grid` is what its mark has beside the block's id."""
    return {**scale(f"{block}_{number}", epsilon, OPTIONS, SCORES), "grid": {"id": block, **grid}}


def block(size: int, name: str = "mood", **texts: str) -> list[Json]:
    return [item(number, {**TEXT, **texts} if number == 0 else {}, name) for number in range(size)]


def shown(made: Json, answer: str = "yes") -> Json:
    return {**shown_if(made, "first", answer)}


def translated(own: Json, *, helped: bool = False) -> Json:
    return survey(block(2, **({"help": "All days."} if helped else {})), translations={"de": {"questions": own}})


def good() -> dict[str, Json]:
    first, last = question("first", 1.0), question("last", LN3)
    german = ["nie", "manchmal", "täglich"]
    return {
        "a block alone": survey(block(3)),
        "a block of one item": survey(block(1)),
        "a block with help between others": survey([first, *block(3, help="All days."), last]),
        "items that may be skipped": survey([optional(each) for each in block(2)]),
        "a block with a condition": survey([first, *map(shown, block(2)), last]),
        "a block in a section": survey([{**block(2)[0], "section": {"title": "S"}}, block(2)[1]]),
        "two blocks": survey([*block(2), *block(3, "sleep"), last]),
        "two epsilons": survey([item(0, TEXT), item(1, {}, epsilon=1.0)]),
        "a block of a sample": survey([*block(3), last, first], ask=1),
        "two blocks of three are asked": survey([*block(3), *block(2, "sleep"), last], ask=2),
        "a block that follow-up questions tie to another": survey([first, *map(shown, block(2)), last], ask=1),
        "a follow-up question of an item": survey([*block(2), shown_if(question("last", 1.0), "mood_1", "daily"), first], ask=1),
        "an id of a block and of a question": survey([*block(2, "first"), question("first", 1.0)]),
        "a translated block": translated({"mood_0": {"grid": {"text": "Wie oft?"}, "options": german}, "mood_1": {"text": "Zweites"}}),
        "translated help": translated({"mood_0": {"grid": {"help": "Alle Tage."}}}, helped=True),
        "the longest text": survey(block(2, text="🙂" * 1000)),
    }


def bad() -> dict[str, Json]:
    first, last = question("first", 1.0), question("last", 1.0)
    two = block(2)
    other = {**scale("mood_1", 0.5, [*OPTIONS[:2], "always"], SCORES), "grid": {"id": "mood"}}
    scored = {**scale("mood_1", 0.5, OPTIONS, [0.0, 1.0, 5.0]), "grid": {"id": "mood"}}
    choice = {**question("mood_1", 0.5, OPTIONS), "grid": {"id": "mood"}}
    german = ["nie", "manchmal", "täglich"]
    return {
        "a block without a text": survey([item(0, {}), item(1, {})]),
        "a text at the second item": survey([two[0], item(1, TEXT)]),
        "help at the second item": survey([two[0], item(1, {"help": "All days."})]),
        "help without a text": survey([item(0, {"help": "All days."}), two[1]]),
        "help of an item": survey([{**two[0], "help": "All days."}, two[1]]),
        "another question within": survey([two[0], last, two[1]]),
        "a block that begins again": survey([*two, last, {**item(2, TEXT)}]),
        "other options": survey([two[0], other]),
        "other scores": survey([two[0], scored]),
        "only the second may be skipped": survey([two[0], optional(two[1])]),
        "only the second has a condition": survey([first, optional(two[0]), shown(two[1])]),
        "other conditions": survey([first, shown(two[0]), shown(two[1], "no")]),
        "a section within": survey([two[0], {**two[1], "section": {"title": "S"}}]),
        "a choice in a block": survey([two[0], choice]),
        "a block of choices": survey([{**question("c", 0.5, OPTIONS), "grid": {"id": "mood", **TEXT}}]),
        "a mark that is a text": survey([{**two[0], "grid": "mood"}, two[1]]),
        "a mark without an id": survey([{**two[0], "grid": dict(TEXT)}]),
        "a mark with a number for an id": survey([{**two[0], "grid": {"id": 1, **TEXT}}]),
        "an id with a space": survey(block(2, "my mood")),
        "a mark with another key": survey([{**two[0], "grid": {"id": "mood", **TEXT, "first": "mood_0"}}, two[1]]),
        "an empty text": survey([item(0, {"text": " "}), two[1]]),
        "a text that is too long": survey([item(0, {"text": "x" * 1001}), two[1]]),
        "all blocks are asked": survey([*block(3), last], ask=2),
        "the translation of no help": translated({"mood_0": {"grid": {"help": "Alle Tage."}}}),
        "a translated mark of the second item": translated({"mood_1": {"grid": {"text": "Wie oft?"}}}),
        "translated options of the second item": translated({"mood_1": {"options": german}}),
        "a translated id": translated({"mood_0": {"grid": {"id": "stimmung", "text": "Wie oft?"}}}),
        "an empty translation": translated({"mood_0": {"grid": {}}}),
        "a translation by the block's id": translated({"mood": {"text": "Wie oft?"}}),
        "a rating block as in a file": survey(
            [{**two[0], "type": "rating", "items": [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]}]
        ),
    }


def grid_definitions() -> list[Json]:
    vectors = []
    for accepted, cases in ((True, good()), (False, bad())):
        for name, definition in cases.items():
            text = canonical(definition)
            known = {"digest": hashlib.sha256(text.encode()).hexdigest(), "blocks": BLOCKS.get(name)} if accepted else {}
            vectors.append({"name": name, "accepted": accepted, "text": text, **known})
    return vectors


BLOCKS = {
    "a block of a sample": [[0, 1, 2], [3], [4]],
    "two blocks of three are asked": [[0, 1, 2], [3, 4], [5]],
    "a block that follow-up questions tie to another": [[0, 1, 2], [3]],
    "a follow-up question of an item": [[0, 1, 2], [3]],
}


def main(folder: Path) -> None:
    lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in grid_definitions())
    (folder / "grid_definitions.json").write_text(f"[\n{lines}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
