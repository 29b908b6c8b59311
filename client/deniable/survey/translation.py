"""Translation of a survey's own texts: rules for translations, and the negotiation of a respondent's language.

A survey's `translations` map a language to texts, under their keys in the survey; pages show a missing text in the survey's language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.question import Question
from deniable.survey.types.base import label_problems

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
TEXTS = ("title", "about", "institution", "contact", "ethics", "thanks", "closed")


def negotiate(preferred: Iterable[str], available: Sequence[str]) -> str | None:
    """Returns the available language that fits a reader best. Twin: `negotiate` in browser/survey_language.mjs.

    For each preferred tag in turn: the same tag, in any case; else its longest available prefix (`pt` for `pt-BR`); else the first
    relative (`pt-BR` for `pt-PT`).

    Args:
        preferred: Language tags, best first, as a browser sends them.
        available: Language tags to choose from.

    Returns:
        A tag as `available` spells it, or None if no preferred language is available in any form.
    """
    by_tag = {tag.lower(): tag for tag in reversed(available)}
    for tag in map(str.lower, preferred):
        parts = tag.split("-")
        prefixes = ("-".join(parts[:length]) for length in range(len(parts), 0, -1))
        fit = next((by_tag[prefix] for prefix in prefixes if prefix in by_tag), None)
        fit = fit or next((other for other in available if other.lower().split("-")[0] == parts[0]), None)
        if fit is not None:
            return fit
    return None


def option_problems(question: Question, options: Any) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for a question's options in another language."""
    size = len(question.options)
    other = ", that for other answers among them" if question.kind.other_option else ""
    if not size:
        yield "options", f"must be left out: question {question.id} has no options of its own"
    elif isinstance(options, list | tuple) and len(options) != size:
        yield "options", f"must be {size} texts, one for each option of question {question.id}{other}, got {len(options)}"
    else:
        yield from label_problems(options, "options")


def language_problem(language: Any) -> str | None:
    """Returns the rule that a language's tag breaks, if any."""
    if isinstance(language, str) and LANGUAGE.fullmatch(language):
        return None
    return "must be a language tag such as en, de or pt-BR"


def plain(value: Any) -> Any:
    """Returns translations, or any part of them, as plain dicts, as in a definition."""
    return {key: plain(own) for key, own in value.items()} if isinstance(value, Mapping) else value
