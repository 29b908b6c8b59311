"""Error placement: maps the paths of a survey's problems to the ids of form fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from deniable.errors import Problem
from deniable_server.drafts.editor.conditions import row_at
from deniable_server.drafts.editor.rating_items import item_ids
from deniable_server.drafts.editor.shapes import Fields

_QUESTION = re.compile(r"questions\[(\d+)\](?:\.(.*))?", re.DOTALL)
_WORDS = re.compile(
    r"translations\.([^.]*)\.questions\.([^.]*)(?:\.(text|options|help|section\.title|section\.note|section|grid\.text|grid\.help).*)?",
    re.DOTALL,
)
_LANGUAGE = re.compile(r"translations\.([^.]*)(?:\.(.*))?", re.DOTALL)
_NAMES = {"required": "optional", "section": "section_title", **{f"section.{key}": f"section_{key}" for key in ("title", "note", "fixed")}}
_END_WORDS = {  # the ends of a condition's range, as their fields call them
    "must have at_least, below or both: the range of the sum": "must have a number here, in “Below”, or in both",
    "must be above at_least": "must be above “At least”",
}
_INDEX = re.compile(r"(?<!^questions)(?<!\.all)(?<!\.any)\[(\d+)\](?:\.\w+)?$")

MISSING = "is missing"
NO_TEXTS = "has no text in this language yet: write one here or at a question, or remove the language"


def messages_by_field(problems: Iterable[Problem], fields: Fields) -> Mapping[str, Sequence[str]]:
    """Returns the messages of each field, by field id.

    "questions-2" is a whole question, "questions" their list, "" a problem without a field.
    """
    messages: dict[str, list[str]] = {}
    for problem in problems:
        field = _field_id(problem.where, fields)
        message = problem.message if field else f"{problem.where} {problem.message}"
        if field and _is_empty_language(problem):
            field, message = field.replace("-tag", "-title"), NO_TEXTS
        message = _END_WORDS.get(message, message)
        if field.endswith("-items") and (words := _WORDS.fullmatch(problem.where)):
            message = f"item {words[2]} {message}"
        if field and (index := _INDEX.search(problem.where)):
            message = f"no. {int(index[1]) + 1} {message}"
        messages.setdefault(field, []).append(message)
    return messages


def is_missing(messages: Sequence[str]) -> bool:
    """Returns whether a field is only not filled in yet, so that nothing in it is wrong."""
    return bool(messages) and all(message == MISSING for message in messages)


def _is_empty_language(problem: Problem) -> bool:
    """Returns whether a language was added without any text: then the parser's message is about mappings, which a form does not have."""
    match = _LANGUAGE.fullmatch(problem.where)
    return match is not None and match[2] is None and problem.message.startswith("must be a mapping")


def _field_id(where: str, fields: Fields) -> str:
    if match := _QUESTION.fullmatch(where):
        return _question_field(int(match[1]), match[2] or "", fields["questions"])
    if match := _WORDS.fullmatch(where):
        return _words_field(match[1], match[2], match[3] or "text", fields)
    if match := _LANGUAGE.fullmatch(where):
        return _language_field(match[1], match[2] or "tag", fields)
    key = where.partition("[")[0]
    return key if key in fields and key != "rest" else ""


def _question_field(index: int, key: str, questions: Sequence[Fields]) -> str:
    plain = re.sub(r"\[.*", "", key)
    name = _NAMES.get(plain, plain)
    if index >= len(questions):
        return ""
    if plain.partition(".")[0] == "show_if":
        row = row_at(key.removeprefix("show_if").removeprefix("."), questions[index]["conditions"])
        return f"questions-{index}-conditions-{row}"
    return f"questions-{index}-{name}" if name in questions[index] and name not in ("rest", "was", "was_items") else f"questions-{index}"


def _words_field(tag: str, question_id: str, key: str, fields: Fields) -> str:
    number = _language_number(tag, fields)
    for index, question in enumerate(fields["questions"]):
        is_item = question_id in question["items"] and question_id in item_ids(question["items"])
        if number is None or not (is_item or question["id"] == question_id):
            continue
        if is_item:  # the definition of a block has its texts at its first item, in a grid
            key = "items" if key == "text" else key.removeprefix("grid.")
        elif key.startswith("grid."):
            break
        return f"questions-{index}-words-{number}-{_NAMES.get(key, key)}"
    return _language_field(tag, "tag", fields)


def _language_field(tag: str, key: str, fields: Fields) -> str:
    number = _language_number(tag, fields)
    if number is None:
        return ""
    return f"languages-{number}-{key if key in fields['languages'][number] else 'tag'}"


def _language_number(tag: str, fields: Fields) -> int | None:
    return next((number for number, language in enumerate(fields["languages"]) if language["tag"] == tag), None)


def field_name(field: str, labels: Mapping[str, str]) -> str:
    """Returns the name of a field for people, by its id and all fields' labels, which are by id without the numbers."""
    kind, *parts = field.split("-")
    label = labels.get(re.sub(r"-\d+", "", field), "").partition(",")[0]
    if kind == "questions" and parts:
        question = f"Question {int(parts[0]) + 1}"
        return f"{question}: {label}" if len(parts) > 1 else question
    return f"In another language: {label}" if kind == "languages" else label or "Questions"
