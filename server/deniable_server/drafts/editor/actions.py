"""Form actions: the changes that the editor's buttons make to the fields of a draft."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deniable.survey.translation import TEXTS
from deniable.survey.types import TYPES
from deniable_server.drafts.editor.conditions import BLANK
from deniable_server.drafts.editor.draft_text import MOST_QUESTIONS
from deniable_server.drafts.editor.fields import fields_of, words_of
from deniable_server.drafts.editor.rating_items import copy_items, names_of
from deniable_server.drafts.editor.shapes import Fields

Action = Callable[..., str]
"""Changes the fields. Returns the id of the field that gets the focus."""


def apply_action(fields: Fields, action: str, language: str = "") -> str:
    """Changes the fields as a button says; an unknown button or a number out of range changes nothing.

    Args:
        fields: The fields of a draft.
        action: The button's value: a word and up to two numbers, such as "copy 2".
        language: The tag in the field beside the button "Add language".

    Returns:
        The id of the field that gets the focus; empty for none.
    """
    word, *numbers = action.split() or [""]
    if word == "language":
        return _add_language(fields, language.strip())
    if word not in _ACTIONS or not all(number.isascii() and number.isdigit() for number in numbers):
        return ""
    indexes = [int(number[:9]) for number in numbers]
    entries = fields["languages"] if word == "unlanguage" else fields["questions"]
    checked = indexes[:1] if word == "uncondition" else indexes  # the second number of "uncondition" is a row
    if len(indexes) != _NUMBERS[word] or any(index >= len(entries) for index in checked):
        return ""
    return _ACTIONS[word](fields, *indexes)


def new_question(questions: list[Fields], languages: int) -> Fields:
    """Returns an empty question with a new name, for a survey with this number of languages."""
    names = names_of(questions)
    number = next(number for number in range(len(questions) + 1, 2 * len(questions) + 2) if f"q{number}" not in names)
    question: Fields = fields_of({"questions": [{"id": f"q{number}", "type": next(iter(TYPES))}]})["questions"][0]
    return {**question, "was": "", "words": [words_of({}) for _ in range(languages)]}


def _add(fields: Fields) -> str:
    questions = fields["questions"]
    if len(questions) >= MOST_QUESTIONS:
        return "add"
    questions.append(new_question(questions, len(fields["languages"])))
    return f"questions-{len(questions) - 1}-text"


def _remove(fields: Fields, index: int) -> str:
    del fields["questions"][index]
    left = len(fields["questions"])
    return f"questions-{min(index, left - 1)}-text" if left else "add"


def _copy(fields: Fields, index: int) -> str:
    questions: list[Fields] = fields["questions"]
    if len(questions) >= MOST_QUESTIONS:
        return "add"
    new_id = new_question(questions, 0)["id"]
    copy = {**questions[index], "id": new_id, "was": ""}
    if questions[index].get("items"):
        copy = copy_items(copy, {new_id, *names_of(questions)})
    questions.insert(index + 1, copy)
    return f"questions-{index + 1}-text"


def _move(fields: Fields, index: int, to: int) -> str:
    questions: list[Any] = fields["questions"]
    questions.insert(to, questions.pop(index))
    return f"questions-{to}-text"


def _up(fields: Fields, index: int) -> str:
    _move(fields, index, max(0, index - 1))
    return f"up-{max(0, index - 1)}"


def _down(fields: Fields, index: int) -> str:
    to = min(len(fields["questions"]) - 1, index + 1)
    _move(fields, index, to)
    return f"down-{to}"


def _add_condition(fields: Fields, index: int) -> str:
    rows = fields["questions"][index]["conditions"]
    rows.append(dict(BLANK))
    return f"questions-{index}-conditions-{len(rows) - 1}-question"


def _remove_condition(fields: Fields, index: int, row: int) -> str:
    rows = fields["questions"][index]["conditions"]
    del rows[row : row + 1]
    if not rows:
        rows.append(dict(BLANK))
    return f"questions-{index}-conditions-{min(row, len(rows) - 1)}-question"


def _add_language(fields: Fields, tag: str) -> str:
    if not tag or tag in {language["tag"] for language in fields["languages"]}:
        return "new_language"
    fields["languages"].append({"tag": tag, **dict.fromkeys(TEXTS, "")})
    for question in fields["questions"]:
        question["words"] = [*question["words"], words_of({})][: len(fields["languages"])]
    return f"languages-{len(fields['languages']) - 1}-title"


def _remove_language(fields: Fields, index: int) -> str:
    for entries in (fields["languages"], *(question["words"] for question in fields["questions"])):
        del entries[index : index + 1]
    return "new_language"


_ACTIONS: dict[str, Action] = {
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
_NUMBERS = {  # how many numbers follow each word
    "add": 0,
    **dict.fromkeys(("move", "uncondition"), 2),
    **dict.fromkeys(("remove", "copy", "up", "down", "condition", "unlanguage"), 1),
}
