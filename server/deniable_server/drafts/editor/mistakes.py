"""Which field a mistake is beside: the paths of the parser's problems become the ids of fields."""

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

NO_TEXTS = "has no text in this language yet: write one, here or at a question, or remove the language"


def beside(problems: Iterable[Problem], fields: Fields) -> Mapping[str, Sequence[str]]:
    """The rules that are broken, by the id of the field that breaks them.

    "questions-2" stands for a whole question, "questions" for their list, "" for what no field holds.
    """
    found: dict[str, list[str]] = {}
    for problem in problems:
        place = _place(problem.where, fields)
        told = problem.message if place else f"{problem.where} {problem.message}"
        if place and _empty_language(problem, fields):
            place, told = place.replace("-tag", "-title"), NO_TEXTS
        if place and (index := _INDEX.search(problem.where)):
            told = f"no. {int(index[1]) + 1} {told}"
        found.setdefault(place, []).append(told)
    return found


def _empty_language(problem: Problem, fields: Fields) -> bool:
    """Whether a mistake is that a language was added and no text in it: the file's rule speaks of mappings."""
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
    """What people call the field with this id. labels: those of fields, by their ids without the numbers."""
    kind, *parts = place.split("-")
    label = labels.get(re.sub(r"-\d+", "", place), "").partition(",")[0]
    if kind == "questions" and parts:
        question = f"Question {int(parts[0]) + 1}"
        return f"{question}: {label}" if len(parts) > 1 else question
    return f"In another language: {label}" if kind == "languages" else label or "Questions"
