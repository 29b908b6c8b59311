"""Translation of a survey's own texts: their rules, gaps, and the language that a respondent reads.

`translations` maps a language to the survey's texts in it, under their keys in the survey; a missing text is shown in the survey's own
language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.question import Question
from deniable.survey.types.base import label_problems

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
TEXTS = ("title", "about", "contact", "ethics", "thanks", "closed")


def negotiate(wanted: Iterable[str], offered: Sequence[str]) -> str | None:
    """Returns the offered language that fits a reader best. Twin: `negotiate` in browser/survey_language.mjs.

    For each wanted tag in turn: the same tag, in any case; else the longest beginning of it (`pt` for `pt-BR`); else the first
    relative (`pt-BR` for `pt-PT`).

    Args:
        wanted: Language tags, best first, as a browser sends them.
        offered: Language tags to choose from.

    Returns:
        A tag as `offered` spells it, or None if no wanted language is offered in any form.
    """
    by_tag = {tag.lower(): tag for tag in reversed(offered)}
    for tag in map(str.lower, wanted):
        parts = tag.split("-")
        tries = ("-".join(parts[:length]) for length in range(len(parts), 0, -1))
        fit = next((by_tag[one] for one in tries if one in by_tag), None)
        fit = fit or next((one for one in offered if one.lower().split("-")[0] == parts[0]), None)
        if fit is not None:
            return fit
    return None


def option_problems(question: Question, options: Any) -> Iterator[tuple[str, str]]:
    """Yields (place, rule broken) for a question's options in another language."""
    known = question.options
    if not known:
        yield "options", f"must be left out: question {question.id} has no options of its own"
    elif isinstance(options, list | tuple) and len(options) != len(known):
        yield "options", f"must be {len(known)} texts, one for each option of question {question.id}, got {len(options)}"
    else:
        yield from label_problems(options, "options")


def language_problem(language: Any) -> str | None:
    """Returns the rule that a language's tag breaks, if any."""
    if isinstance(language, str) and LANGUAGE.fullmatch(language):
        return None
    return "must be a language tag such as en, de or pt-BR"


def plain(value: Any) -> Any:
    """Returns translations, or any part of them, as plain objects, as a definition has them."""
    return {key: plain(own) for key, own in value.items()} if isinstance(value, Mapping) else value
