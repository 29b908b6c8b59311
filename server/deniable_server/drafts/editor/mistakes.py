"""Error placement: maps the parser's paths to the ids of form fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from deniable.errors import Problem
from deniable_server.drafts.editor.conditions import row_at
from deniable_server.drafts.editor.shapes import Fields

_QUESTION = re.compile(r"questions\[(\d+)\](?:\.(.*))?", re.DOTALL)
_WORDS = re.compile(
    r"translations\.([^.]*)\.questions\.([^.]*)(?:\.(text|options|help|section\.title|section\.note|section).*)?", re.DOTALL
)
_LANGUAGE = re.compile(r"translations\.([^.]*)(?:\.(.*))?", re.DOTALL)
_NAMES = {"required": "optional", "section": "section_title", "section.title": "section_title", "section.note": "section_note"}
_INDEX = re.compile(r"(?<!^questions)(?<!\.all)(?<!\.any)\[(\d+)\](?:\.\w+)?$")

NO_TEXTS = "has no text in this language yet: write one here or at a question, or remove the language"


def beside(problems: Iterable[Problem], fields: Fields) -> Mapping[str, Sequence[str]]:
    """Returns the messages of each field, by field id.

    "questions-2" is a whole question, "questions" their list, "" a problem without a field.
    """
    messages: dict[str, list[str]] = {}
    for problem in problems:
        place = _place(problem.where, fields)
        message = problem.message if place else f"{problem.where} {problem.message}"
        if place and _empty_language(problem, fields):
            place, message = place.replace("-tag", "-title"), NO_TEXTS
        if place and (index := _INDEX.search(problem.where)):
            message = f"no. {int(index[1]) + 1} {message}"
        messages.setdefault(place, []).append(message)
    return messages


def _empty_language(problem: Problem, fields: Fields) -> bool:
    """Returns whether a language was added without any text, for which the parser's message speaks of mappings."""
    match = _LANGUAGE.fullmatch(problem.where)
    return match is not None and match[2] is None and problem.message.startswith("must be a mapping")


def _place(where: str, fields: Fields) -> str:
    if match := _QUESTION.fullmatch(where):
        return _of_question(int(match[1]), match[2] or "", fields["questions"])
    if match := _WORDS.fullmatch(where):
        return _of_words(match[1], match[2], match[3] or "text", fields)
    if match := _LANGUAGE.fullmatch(where):
        return _of_language(match[1], match[2] or "tag", fields)
    key = where.partition("[")[0]
    return key if key in fields and key != "rest" else ""


def _of_question(place: int, key: str, questions: Sequence[Fields]) -> str:
    plain = re.sub(r"\[.*", "", key)
    name = _NAMES.get(plain, plain)
    if place >= len(questions):
        return ""
    if plain.partition(".")[0] == "show_if":
        return f"questions-{place}-conditions-{row_at(key.removeprefix('show_if').removeprefix('.'), questions[place]['conditions'])}"
    return f"questions-{place}-{name}" if name in questions[place] and name not in ("rest", "was") else f"questions-{place}"


def _of_words(tag: str, question: str, key: str, fields: Fields) -> str:
    places = [place for place, one in enumerate(fields["questions"]) if one["id"] == question]
    number = _number(tag, fields)
    if not places or number is None:
        return _of_language(tag, "tag", fields)
    return f"questions-{places[0]}-words-{number}-{_NAMES.get(key, key)}"


def _of_language(tag: str, key: str, fields: Fields) -> str:
    number = _number(tag, fields)
    if number is None:
        return ""
    return f"languages-{number}-{key if key in fields['languages'][number] else 'tag'}"


def _number(tag: str, fields: Fields) -> int | None:
    return next((number for number, language in enumerate(fields["languages"]) if language["tag"] == tag), None)


def named(place: str, labels: Mapping[str, str]) -> str:
    """Returns the name of a field for people. labels: the fields' labels, by id without the numbers."""
    kind, *parts = place.split("-")
    label = labels.get(re.sub(r"-\d+", "", place), "").partition(",")[0]
    if kind == "questions" and parts:
        question = f"Question {int(parts[0]) + 1}"
        return f"{question}: {label}" if len(parts) > 1 else question
    return f"In another language: {label}" if kind == "languages" else label or "Questions"
