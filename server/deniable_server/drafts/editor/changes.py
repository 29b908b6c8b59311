"""What the editor's buttons do to the fields of a draft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deniable.survey.translation import TEXTS
from deniable.survey.types import TYPES
from deniable_server.drafts.editor.conditions import BLANK
from deniable_server.drafts.editor.drafted import MOST_QUESTIONS
from deniable_server.drafts.editor.fields import fields_of, words_of
from deniable_server.drafts.editor.shapes import Fields

Change = Callable[..., str]
"""Changes the fields; gives the id of the field where one goes on."""


def changed(fields: Fields, told: str, language: str = "") -> str:
    """Does what a button tells: a word, and the numbers that it is about. Gives the id of the field where one goes on; "" for none.

    language: the tag that stands beside the button that adds one. A button that is none, or about nothing, does nothing.
    """
    word, *numbers = told.split() or [""]
    if word == "language":
        return _add_language(fields, language.strip())
    if word not in _CHANGES or not all(number.isascii() and number.isdigit() for number in numbers):
        return ""
    places = [int(number[:9]) for number in numbers]
    among = fields["languages"] if word == "unlanguage" else fields["questions"]
    inside = places[:1] if word == "uncondition" else places  # whose second number is that of a row
    if len(places) != _PLACES[word] or any(place >= len(among) for place in inside):
        return ""
    return _CHANGES[word](fields, *places)


def blank(questions: list[Fields], languages: int) -> Fields:
    """A question to be filled in, with a name that no other has."""
    taken = {one["id"] for one in questions}
    number = next(number for number in range(len(questions) + 1, 2 * len(questions) + 2) if f"q{number}" not in taken)
    made: Fields = fields_of({"questions": [{"id": f"q{number}", "type": next(iter(TYPES)), "required": "false"}]})["questions"][0]
    return {**made, "was": "", "words": [words_of({}) for _ in range(languages)]}


def _add(fields: Fields) -> str:
    questions = fields["questions"]
    if len(questions) >= MOST_QUESTIONS:
        return "add"
    questions.append(blank(questions, len(fields["languages"])))
    return f"questions-{len(questions) - 1}-text"


def _remove(fields: Fields, place: int) -> str:
    del fields["questions"][place]
    left = len(fields["questions"])
    return f"questions-{min(place, left - 1)}-text" if left else "add"


def _copy(fields: Fields, place: int) -> str:
    questions: list[Fields] = fields["questions"]
    if len(questions) >= MOST_QUESTIONS:
        return "add"
    new = blank(questions, 0)
    questions.insert(place + 1, {**questions[place], "id": new["id"], "was": ""})
    return f"questions-{place + 1}-text"


def _move(fields: Fields, place: int, to: int) -> str:
    questions: list[Any] = fields["questions"]
    questions.insert(to, questions.pop(place))
    return f"questions-{to}-text"


def _up(fields: Fields, place: int) -> str:
    _move(fields, place, max(0, place - 1))
    return f"up-{max(0, place - 1)}"


def _down(fields: Fields, place: int) -> str:
    to = min(len(fields["questions"]) - 1, place + 1)
    _move(fields, place, to)
    return f"down-{to}"


def _add_condition(fields: Fields, place: int) -> str:
    rows = fields["questions"][place]["conditions"]
    rows.append(dict(BLANK))
    return f"questions-{place}-conditions-{len(rows) - 1}-question"


def _remove_condition(fields: Fields, place: int, row: int) -> str:
    rows = fields["questions"][place]["conditions"]
    del rows[row : row + 1]
    if not rows:
        rows.append(dict(BLANK))
    return f"questions-{place}-conditions-{min(row, len(rows) - 1)}-question"


def _add_language(fields: Fields, tag: str) -> str:
    if not tag or tag in {language["tag"] for language in fields["languages"]}:
        return "new_language"
    fields["languages"].append({"tag": tag, **dict.fromkeys(TEXTS, "")})
    for one in fields["questions"]:
        one["words"] = [*one["words"], words_of({})][: len(fields["languages"])]
    return f"languages-{len(fields['languages']) - 1}-title"


def _remove_language(fields: Fields, place: int) -> str:
    for holder in (fields["languages"], *(one["words"] for one in fields["questions"])):
        del holder[place : place + 1]
    return "new_language"


_CHANGES: dict[str, Change] = {
    "add": _add,
    "remove": _remove,
    "copy": _copy,
    "move": _move,
    "up": _up,
    "down": _down,
    "condition": _add_condition,
    "uncondition": _remove_condition,
    "unlanguage": _remove_language,
}
_PLACES = {
    "add": 0,
    **dict.fromkeys(("move", "uncondition"), 2),
    **dict.fromkeys(("remove", "copy", "up", "down", "condition", "unlanguage"), 1),
}
