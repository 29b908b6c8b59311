"""Option for all other answers: `other: true` adds "Other" to a question's options in each language of the survey.

It is one more option, without a text field: a text that a person writes can identify them, and no coin can hide it. A definition has the
option among the others and names it, since a drawn order leaves it behind them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deniable.survey.types.base import label_problem

WORDS = {"en": "Other", "ar": "غير ذلك", "de": "Sonstiges", "es": "Otro", "fr": "Autre"}
"""The option, by the family of a language."""
_TYPES = ("choice", "multi_choice")
_UNCLEAR = ("yes", "no")  # some readers take these words for true and false


def with_other_options(top: Any) -> Any:
    """Returns a survey file's value with the option in the options and translations of each question that asks for it.

    Invalid parts stay as they are, for the parser to report.
    """
    if not isinstance(top, Mapping) or not isinstance(questions := top.get("questions"), list | tuple):
        return top
    language, places = top.get("language", "en"), dict[str, tuple[int, int]]()
    expanded = []
    for question in questions:
        if not isinstance(question, Mapping) or question.get("type") not in _TYPES or "other" not in question:
            expanded.append(question)
            continue
        expanded.append(_expanded(question, language))
        before, after = question.get("options"), expanded[-1].get("options")
        if isinstance(name := question.get("id"), str) and isinstance(before, list | tuple) and len(before) < len(after):
            places[name] = (_place(question, before), len(before))
    translations = top.get("translations")
    if not places or not isinstance(translations, Mapping):
        return {**top, "questions": expanded}
    return {**top, "questions": expanded, "translations": {tag: _translated(texts, tag, places) for tag, texts in translations.items()}}


def _expanded(question: Mapping[str, Any], language: Any) -> dict[str, Any]:
    """Returns a question with the option, and its text under `other`; without the key if that is false."""
    other, options = question["other"], question.get("options")
    if other is False or other == "false":
        return {key: value for key, value in question.items() if key != "other"}
    text = _word(language) if other is True or other == "true" else other
    if not isinstance(text, str) or label_problem(text) or not isinstance(options, list | tuple) or len(options) < 2:
        return dict(question)
    if text not in options and text.lower() in _UNCLEAR:
        return dict(question)
    place = _place(question, options)
    added = options if text in options else [*options[:place], text, *options[place:]]
    return {**question, "options": added, "other": text}


def _word(language: Any) -> str | None:
    """Returns the word of a language, if there is one."""
    return WORDS.get(language.split("-")[0]) if isinstance(language, str) else None


def _place(question: Mapping[str, Any], options: Sequence[Any]) -> int:
    """Returns the index of the option: behind all options but the exclusive ones at the end."""
    exclusive = question.get("exclusive")
    last = [*(exclusive if isinstance(exclusive, list | tuple) else ()), question.get("none")]
    place = len(options)
    while place and options[place - 1] in last:
        place -= 1
    return place


def _translated(texts: Any, tag: Any, places: Mapping[str, tuple[int, int]]) -> Any:
    """Returns the texts of a language with its word in each list of options that lacks it."""
    word, questions = _word(tag), texts.get("questions") if isinstance(texts, Mapping) else None
    if word is None or not isinstance(questions, Mapping):
        return texts
    translated = dict(questions)
    for name, (place, count) in places.items():
        if not isinstance(own := questions.get(name), Mapping):
            continue
        options = own.get("options")
        if isinstance(options, list | tuple) and len(options) == count:
            translated[name] = {**own, "options": [*options[:place], word, *options[place:]]}
    return {**texts, "questions": translated}
