"""Translatable texts of a survey file: each with a stable key, its place in words, and its translation if there is one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.survey.other_option import WORDS, with_other_options
from deniable.survey.piping import PARTS, pipes
from deniable.survey.piping import TEXTS as OWN_TEXTS
from deniable.survey.rating import is_rating, items_of
from deniable.survey.translation import TEXTS

_PLACES = {
    "title": "Title",
    "about": "Introduction",
    "institution": "Institution",
    "contact": "Contact",
    "ethics": "Ethics approval",
    "thanks": "Thank-you message",
    "closed": "Message after closing",
}
_WORDS = {
    "text": "text",
    "help": "help",
    "section.title": "title of the section that begins here",
    "section.note": "note of the section that begins here",
    "grid.text": "text of the table that begins here",
    "grid.help": "help of the table that begins here",
}
OTHER = "other"
"""The last part of the key of an option that `other: true` adds."""


@dataclass(frozen=True)
class TranslatableText:
    """A text of a survey in its own language and in another one.

    Attributes:
        key: Its key, such as "questions.mood.options.2". The number of an option counts from 1.
        place: Where respondents read it, in words.
        original: The text in the survey's own language.
        translation: The text in the other language; empty if it is missing.
        note: Advice for the translator, or empty.
        path: The keys of its translation in the survey file, below the language.
        index: The index of an option in its list; None for other texts.
        shows_answers: Whether references such as ${town} in it are replaced by answers.
    """

    key: str
    place: str
    original: str
    translation: str
    note: str
    path: tuple[str, ...]
    index: int | None = None
    shows_answers: bool = False


def own_language(document: Mapping[str, Any]) -> str:
    """Returns the tag of a survey file's own language."""
    language = document.get("language", "en")
    return language if isinstance(language, str) else "en"


def translated_languages(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the tags of the languages that a survey file has translations for."""
    translations = document.get("translations")
    return tuple(tag for tag in translations if isinstance(tag, str)) if isinstance(translations, Mapping) else ()


def translatable_texts(document: Mapping[str, Any], language: str) -> list[TranslatableText]:
    """Returns the texts of a survey file, valid or not, in the order of the file.

    Args:
        document: The survey file's value.
        language: The tag of another language, new or present.
    """
    words = _mapping(_mapping(document.get("translations")).get(language))
    texts = [
        TranslatableText(key, _PLACES[key], original, _text(words.get(key)), "", (key,))
        for key in TEXTS
        if (original := _text(document.get(key)))
    ]
    questions = document.get("questions")
    for number, question in enumerate(questions if isinstance(questions, list | tuple) else (), 1):
        if isinstance(question, Mapping):
            texts += _of_question(question, f"Question {number}", _mapping(words.get("questions")), (own_language(document), language))
    by_key: dict[str, TranslatableText] = {}
    for text in texts:
        by_key.setdefault(text.key, text)  # a file with mistakes may repeat an id
    return list(by_key.values())


def _of_question(
    question: Mapping[str, Any], place: str, words: Mapping[str, Any], languages: tuple[str, str]
) -> Iterator[TranslatableText]:
    """Yields the texts of a question or a rating block. languages: the survey's own, and the other one."""
    name = question.get("id")
    if not isinstance(name, str) or not name:
        return
    own = _mapping(words.get(name))
    for part in ("section", "", "grid"):
        for key in PARTS.get(part, OWN_TEXTS):
            yield from _one_text(question, own, ("questions", name), f"{part}.{key}".lstrip("."), place)
    yield from _options(question, own, place, languages)
    for number, item in enumerate(items_of(question) if is_rating(question) else (), 1):
        if isinstance(item, Mapping) and isinstance(item.get("id"), str):
            path = ("questions", item["id"])
            yield from _one_text(item, _mapping(words.get(item["id"])), path, "text", f"{place}, item {number}")


def _one_text(source: Mapping[str, Any], own: Mapping[str, Any], path: tuple[str, ...], key: str, place: str) -> Iterator[TranslatableText]:
    """Yields the text under a key such as "text" or "section.title", if there is one."""
    part, _, last = key.rpartition(".")
    original = _text((_mapping(source.get(part)) if part else source).get(last))
    if original:
        translation = _text((_mapping(own.get(part)) if part else own).get(last))
        full = (*path, *key.split("."))
        yield TranslatableText(".".join(full), f"{place}, {_WORDS[key]}", original, translation, _note(original), full, shows_answers=True)


def _options(question: Mapping[str, Any], own: Mapping[str, Any], place: str, languages: tuple[str, str]) -> Iterator[TranslatableText]:
    """Yields the options that have texts of their own. A list of another length is out of date, so it counts as missing."""
    name, present = question["id"], own.get("options")
    offered = _offered(question, present, languages)
    is_current = isinstance(present, list | tuple) and len(present) == len(offered)
    for index, (key, original) in enumerate(offered):
        translation = _text(present[index]) if is_current and present is not None else ""
        words = "option “Other”" if key == OTHER else f"option {key}"
        path = ("questions", name, "options")
        yield TranslatableText(f"questions.{name}.options.{key}", f"{place}, {words}", original, translation, "", path, index)


def _offered(question: Mapping[str, Any], present: Any, languages: tuple[str, str]) -> list[tuple[str, str]]:
    """Returns (last part of the key, text) of the options, with “Other” where the language needs a translator's word for it."""
    labels = _labels(question)
    offered = [(str(number), label) for number, label in enumerate(labels, 1)]
    expanded = with_other_options({"language": languages[0], "questions": [question]})["questions"][0].get("options")
    if not labels or not isinstance(expanded, list | tuple) or len(expanded) != len(labels) + 1:
        return offered
    is_known = languages[1].split("-")[0] in WORDS
    if is_known and not (isinstance(present, list | tuple) and len(present) == len(expanded)):
        return offered  # every list gets the language's own word
    index = next((index for index, label in enumerate(labels) if expanded[index] != label), len(labels))
    return [*offered[:index], (OTHER, str(expanded[index])), *offered[index:]]


def _labels(question: Mapping[str, Any]) -> Sequence[str]:
    """Returns the options of a question, or the names of a number's bins; none if a question has the options of its grid."""
    options, bins, grid = question.get("options"), question.get("bins"), question.get("grid")
    if isinstance(grid, Mapping) and "text" not in grid:
        return ()
    if isinstance(bins, list | tuple):
        options = [_mapping(entry).get("name") for entry in bins]
    is_list = isinstance(options, list | tuple) and all(isinstance(option, str) and option for option in options)
    return [str(option) for option in options] if is_list and options else ()


def _note(original: str) -> str:
    """Returns the advice to keep the references in a text."""
    lines = []
    for pipe in dict.fromkeys(pipes(original)):
        if pipe.question and pipe.fallback is not None:
            lines.append(f"Keep ${{{pipe.question}|…}}: translate only “{pipe.fallback}” in it.")
        elif pipe.question:
            lines.append(f"Keep ${{{pipe.question}}} as it is.")
    return " ".join(lines)


def _text(value: Any) -> str:
    return value if isinstance(value, str) and value.strip() else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
