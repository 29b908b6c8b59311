"""Writes the vectors of numbers that go through a window: coins, definitions and whole submissions.

Like make_twin_vectors.py, whose canonical JSON it uses, it shares no code with the project: a window is a stretch of a list of places here,
and what lies outside is what is left of the list.

Run: python -m tests.vectors.make_window_vectors [FOLDER]   (the standard library only; the same bytes on every run)
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import sys
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.vectors.make_twin_vectors import COIN, base64url, bound_on, canonical, es_number, packed, question

RANDOM = random.Random(20261122)

Json = dict[str, Any]


def places(levels: int, window: int, apart: bool) -> list[int]:
    """The output of each place in a row: those of the levels, and as many of "no answer" as a window is wide."""
    alone = levels + window - 1
    return [*range(alone), *[alone] * window] if apart else [*range(alone)]


def stretch(levels: int, window: int, apart: bool, category: int) -> tuple[list[int], list[int]]:
    """The outputs of the places in a category's window, and of the others."""
    row = places(levels, window, apart)
    first = category if category < levels else len(row) - window
    return row[first : first + window], row[:first] + row[first + window :]


def threshold(epsilon: float, levels: int, window: int, apart: bool) -> int:
    """floor(2^32 theta), theta = e^epsilon w / (e^epsilon w + the places outside)."""
    own = Decimal(epsilon).exp() * window
    return math.floor(COIN * own / (own + len(places(levels, window, apart)) - window))


# ---- coins ---------------------------------------------------------------------------------------


def report(keep: int, near: list[int], far: list[int], words: list[int]) -> tuple[int, int]:
    """The reported output, and how many of the words it took."""
    left = list(words)

    def one_of(outputs: list[int]) -> int:
        bound = len(outputs)
        while bound > 1:
            word = left.pop(0)
            if word < COIN // bound * bound:
                return outputs[word % bound]
        return outputs[0]

    kept = left.pop(0) < keep
    inside, outside = one_of(near), one_of(far)
    return (inside if kept else outside), len(words) - len(left)


def some_words(keep: int, near: list[int], far: list[int]) -> list[int]:
    """Words for one report, many of them next to where something changes, with rejected ones between."""
    words = [RANDOM.choice([keep - 1, keep, 0, COIN - 1, RANDOM.randrange(COIN), RANDOM.randrange(COIN)])]
    for bound in (len(near), len(far)):
        if bound == 1:
            continue
        end = COIN // bound * bound
        while end < COIN and RANDOM.random() < 0.25:
            words.append(RANDOM.choice([end, COIN - 1]))
        words.append(RANDOM.choice([end - 1, 0, bound - 1, RANDOM.randrange(end), RANDOM.randrange(end), RANDOM.randrange(end)]))
    return words


def in_people(keep: int, window: int, outside: int) -> list[int]:
    """Of 100 people, or of more: how many records lie in the window of an answer, if it is theirs, and if one with another window is."""
    theta = Decimal(keep) / COIN
    for of in (100, 1000, 10**4, 10**5, 10**6):
        chances = (theta, window * (1 - theta) / outside)
        own, other = (int((of * chance).to_integral_value(ROUND_HALF_UP)) for chance in chances)
        if of == 10**6 or 0 < other < own:
            return [of, own, other]
    raise AssertionError


def windows() -> list[Json]:
    sizes = [(2, 1), (3, 1), (3, 2), (4, 3), (5, 2), (7, 6), (9, 4), (10, 3), (13, 4), (14, 3), (20, 3), (31, 2), (33, 1), (500, 300)]
    vectors = []
    for levels, window in sizes:
        for apart in (False, True):
            for case in range(32 if levels < 100 else 12):
                epsilon = RANDOM.choice([0.5, 1.0, 2.0, 4.0, RANDOM.uniform(0.01, 10), 10 ** RANDOM.uniform(-5, 1)])
                keep = threshold(epsilon, levels, window, apart)
                category = [0, levels - 1, levels - 1 + apart, RANDOM.randrange(levels)][case % 4]
                near, far = stretch(levels, window, apart, category)
                words = some_words(keep, near, far)
                output, used = report(keep, near, far, [*words, 7, 7])
                assert used == len(words)
                design = {"epsilon": epsilon, "levels": levels, "window": window, "apart": apart}
                known = {"keep_threshold": keep, "outputs": max(places(levels, window, apart)) + 1}
                people = {"people": in_people(keep, window, len(far))}
                vectors.append({**design, **known, **people, "category": category, "words": words, "output": output})
    return vectors


# ---- definitions ---------------------------------------------------------------------------------


def number(name: str, epsilon: float, ends: tuple[float, float], size: tuple[int, int], required: bool = True) -> Json:
    (low, high), (levels, window) = ends, size
    grid = [es_number(low + (high - low) * level / (levels - 1)) for level in range(levels - 1)] + [es_number(high)]
    made = {"id": name, "text": "How much?", "type": "number", "epsilon": epsilon, "low": low, "high": high}
    outputs = len(set(places(levels, window, not required)))
    coins = {"k": levels + (not required), "outputs": outputs, "keep_threshold": threshold(epsilon, levels, window, not required)}
    more = {} if required else {"required": False}
    return {**made, **more, **coins, "levels": levels, "window": window, "categories": grid + ["no answer"] * (not required)}


def survey(*questions: Json) -> Json:
    return {"deniable": 1, "id": "s", "title": "A title", "about": "Who asks, why.", "questions": list(questions)}


def good_definitions() -> list[Json]:
    made = []
    for size in ((2, 1), (3, 2), (7, 6), (9, 4), (10, 3), (14, 3), (33, 1), (600, 425)):
        for epsilon in (0.5, math.log(3), 2.0, RANDOM.uniform(0.01, 7)):
            for required in (True, False):
                made.append(survey(number("q", epsilon, RANDOM.choice([(0, 40), (-1.5, 2.25), (0.1, 0.3)]), size, required)))
    first, after = question("first", 1.0), {**number("more", 2.0, (0, 60), (9, 4), required=False)}
    made.append(survey(first, {**after, "show_if": {"question": "first", "is": ["yes"]}}))
    made.append({**survey(first, after, number("n", 1.0, (0, 1), (7, 6)), question("c", 1.0, ["a", "b", "d"])), "ask": 2})
    return made


def odds(q: Json) -> Fraction:
    if "window" not in q:
        return Fraction(q["keep_threshold"] * (q["k"] - q["d"]), (COIN - q["keep_threshold"]) * q["d"])
    near, far = stretch(q["levels"], q["window"], not q.get("required", True), 0)
    return Fraction(q["keep_threshold"] * len(far), (COIN - q["keep_threshold"]) * len(near))


def total(definition: Json) -> Fraction:
    each = sorted(map(odds, definition["questions"]))  # of a sample the questions that give away most; each is a block of its own
    return math.prod(each[-definition.get("ask", len(each)) :], start=Fraction(1))


def bad_definitions() -> dict[str, Json]:
    good = number("q", 2.0, (0, 40), (9, 4))
    bad = {f"{key} {step:+d}": {**good, key: good[key] + step} for key in ("k", "outputs", "keep_threshold") for step in (-1, 1)}
    bad |= {f"window {value!r}": {**good, "window": value} for value in (0, -1, 3, 5, 9, 10, 2.5, "4", None, True, [4])}
    bad |= {f"levels {value!r}": {**good, "levels": value} for value in (8, 10, 4, 1, "9", None)}
    for key in ("window", "levels", "outputs", "k", "keep_threshold"):
        bad[f"without {key}"] = {name: value for name, value in good.items() if name != key}
    bad["a grid's d"] = {**good, "d": 1}
    grid = {**question("q", 2.0, good["categories"]), **{key: good[key] for key in ("type", "low", "high", "levels")}}
    del grid["options"]
    bad["a grid with outputs"] = {**grid, "outputs": grid["k"]}
    bad["a grid with a window and a grid's coins"] = {**grid, "window": 4}
    bins = [{"name": "few", "from": 0}, {"name": "many", "from": 20}]
    named = {key: value for key, value in question("q", 2.0, ["few", "many"]).items() if key != "options"}
    bad["bins with a window"] = {**named, "type": "number", "low": 0, "high": 40, "bins": bins, "window": 1}
    bad["a choice with a window"] = {**question("q", 2.0, ["a", "b", "c"]), "window": 1}
    bad["a yes/no question with outputs"] = {**question("q", 2.0), "outputs": 2}
    bad["as if it need not be answered"] = {**good, "required": False}
    bad["as if it had to be answered"] = {**number("q", 2.0, (0, 40), (9, 4), required=False), "required": True}
    bad |= {f"{size} in all": number("q", 2.0, (0, 1), size) for size in ((600, 426), (9, 9), (2, 2))}
    return {f"a number: {name}": survey(made) for name, made in bad.items()}


def window_definitions() -> list[Json]:
    vectors = []
    for place, definition in enumerate(good_definitions()):
        raw, own = canonical(definition), total(definition)
        epsilon = float(Decimal(own.numerator).ln() - Decimal(own.denominator).ln())
        known = {"digest": hashlib.sha256(raw.encode()).hexdigest(), "epsilon": epsilon, "bound": bound_on(own)}
        vectors.append({"name": f"good {place}", "accepted": True, "text": raw, **known})
    return vectors + [{"name": name, "accepted": False, "text": canonical(made)} for name, made in bad_definitions().items()]


# ---- whole submissions ---------------------------------------------------------------------------


def window_submissions() -> list[Json]:
    """Of each good definition that asks everybody everything: a level, or no answer, as it is said, sent with these words."""
    vectors = []
    for definition in good_definitions():
        q = definition["questions"][0]
        if len(definition["questions"]) > 1 or q["levels"] > 100:
            continue
        for _ in range(3):
            category = RANDOM.randrange(q["k"])
            near, far = stretch(q["levels"], q["window"], not q.get("required", True), category)
            stream = some_words(q["keep_threshold"], near, far)
            output, _ = report(q["keep_threshold"], near, far, stream)
            words = [RANDOM.randrange(99, COIN - 99), *stream]  # the first one rounds what stands a hair beside its level, as decimals may
            raw, name = canonical(definition), RANDOM.randbytes(16)
            said = float(q["categories"][category]) if category < q["levels"] else None
            bits = [int(place == output) for place in range(q["outputs"])]
            digest = hashlib.sha256(raw.encode()).hexdigest()
            sent = {"id": base64url(name), "digest": digest, "count": 1, "reports": base64url(packed([bits]))}
            asked = {"definition": raw, "answers": {"q": said}, "id": name.hex(), "words": words, "asked": None}
            vectors.append({**asked, "envelope": json.dumps(sent, separators=(",", ":"))})
    return vectors


FILES = {"windows": windows, "window_definitions": window_definitions, "window_submissions": window_submissions}


def main(folder: Path) -> None:
    for name, make in FILES.items():
        lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in make())
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
