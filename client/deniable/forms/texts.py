"""Texts of a form as survey files write them: ids, labels without markup, and limits of length."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from deniable.survey.types.base import MAX_OPTION_LENGTH
from deniable.survey.validator import LENGTHS

_MARKUP = re.compile(r"</?[a-zA-Z][^<>]*>|\*\*|^[ \t]*#{1,6}\s", re.MULTILINE)
_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
"""Characters without a shape that texts have from other programs, except the joiners of some scripts."""
_BROKEN = re.compile(r"\$\{[^}]*…$")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def legal_id(name: str, illegal: str, pattern: re.Pattern[str], prefix: str) -> str:
    """Returns a name as an id of a survey file.

    Args:
        name: The name in the form.
        illegal: A regular expression of the characters that an id cannot have.
        pattern: The rule for ids.
        prefix: Put before an id that breaks the rule, or used alone if that does not help.
    """
    candidate = re.sub(illegal, "_", name).strip("_-")[:60]
    return next((text for text in (candidate, f"{prefix}_{candidate}") if pattern.fullmatch(text)), prefix)


def one_line(text: str) -> str:
    """Returns a text on one line, without a form's markup."""
    return " ".join(_INVISIBLE.sub("", _UNPRINTABLE.sub(" ", html.unescape(_MARKUP.sub(" ", text)))).split())


def truncate(text: str, most: int) -> str:
    """Returns a text on one line, of at most `most` characters."""
    return _truncate(one_line(text), most)


def _truncate(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def distinct_labels(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Returns labels of the allowed length that all differ: repeated ones end with their name, or with their position in the list."""
    distinct: dict[str, None] = {}
    for position, (label, name) in enumerate(zip(labels, names, strict=True), start=1):
        ends = chain(("", f" ({truncate(name, 60)})" if name else ""), (f" ({number})" for number in count(position)))
        candidates = (truncate(label, MAX_OPTION_LENGTH - len(end)) + end for end in ends)
        distinct[next(candidate for candidate in candidates if candidate and candidate not in distinct)] = None
    return list(distinct)


def truncate_texts(texts: dict[str, Any], notes: list[str], where: str = "") -> dict[str, Any]:
    """Returns the texts of a question, truncated to their allowed lengths.

    Args:
        texts: The texts by their keys in a survey file.
        notes: Gets a note for each truncated text.
        where: The end of a note: the language, unless it is the form's own.
    """
    fitting: dict[str, Any] = {}
    for key, text in texts.items():
        if isinstance(text, dict):
            fitting[key] = truncate_texts(text, notes, where)
        elif key in LENGTHS:
            fitting[key] = _BROKEN.sub("…", _truncate(text, LENGTHS[key]))
            if fitting[key] != text:
                notes.append(f"its {key} is cut to {LENGTHS[key]:,} characters{where}")
        else:
            fitting[key] = text
    return fitting


def references_in(texts: Any) -> list[str]:
    """Returns the references to answers and calculated values in texts, ${name}, each once."""
    if isinstance(texts, str):
        return list(dict.fromkeys(re.findall(r"\$\{[^}]*\}", texts)))
    nested = texts.values() if isinstance(texts, dict) else texts
    return list(dict.fromkeys(name for text in nested for name in references_in(text)))


def pipe(texts: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    """Returns texts that show answers, ${name}, with the ids of their questions; other references become [name].

    A survey file reads `$${` as a literal `${`, so a dollar sign before an answer gets a space behind it.
    """

    def replace(match: re.Match[str]) -> str:
        if match[1] is None:
            return f"${match[0]}" if match[0].count("$") == 1 else match[0]
        name = match[1].strip()
        before = f"{match[0][0]} " if match[0].startswith("$$") else ""
        return before + (f"${{{ids[name]}}}" if name in ids else f"[{name}]")

    piped: dict[str, Any] = {}
    for key, text in texts.items():
        if isinstance(text, dict):
            piped[key] = pipe(text, ids)
        else:
            piped[key] = re.sub(r"\$?\$\{([^}]*)\}|\$+\{", replace, text) if isinstance(text, str) else text
    return piped
