"""Piping: earlier answers in later texts. `${id}` in a question's texts is replaced by the answer to an earlier question, on the device.

`${id|text}` has the author's fallback for a question without an answer, and `$${` is a literal `${`. The answer stays on the respondent's
page: Python programs have no page, and everything that has no answers shows the fallback. Twin: `browser/piping.mjs`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

FALLBACK = "…"
"""Shown in place of a missing answer, unless the author has another text."""
MAX_FALLBACK = 100
TEXTS = ("text", "help")
"""The keys of a question's own texts."""
PARTS = {"section": ("title", "note"), "grid": TEXTS}
"""The keys of further texts, by the question's key that they are in."""
_PIPE = re.compile(r"\$(\$\{)|\$\{([A-Za-z][A-Za-z0-9_]{0,63})(?:\|([^{}|]*))?\}|(\$\{)")


class Pipe(NamedTuple):
    """A reference to an earlier answer in a text.

    Attributes:
        question: The id of the earlier question; empty if the reference is malformed.
        fallback: The author's text for a missing answer, or None.
    """

    question: str
    fallback: str | None


def pipes(text: str) -> Iterator[Pipe]:
    """Yields the references in a text, in order."""
    for match in _PIPE.finditer(text):
        if not match[1]:
            yield Pipe(match[2] or "", match[3])


def without_answers(text: str) -> str:
    """Returns a text as it is shown without any answer: fallbacks in place of references, and no escapes."""
    return _PIPE.sub(lambda match: match[1] or (match[3] or FALLBACK if match[2] else match[4]), text)


def pipe_problem(text: str, allowed: Container[str], names: str = "earlier questions") -> str | None:
    """Returns the rule that a text's references break, if any.

    Args:
        text: The text.
        allowed: The ids that it may refer to.
        names: A description of `allowed`, for the message.
    """
    for question, fallback in pipes(text):
        if not question:
            return "must write a reference as ${id} or ${id|text without an answer}, and a literal ${ as $${"
        if question not in allowed:
            return f"must refer to {names} only, got ${{{question}}}; a literal ${{ is written $${{"
        if fallback is not None and not 1 <= len(fallback.strip()) <= len(fallback) <= MAX_FALLBACK:
            return f"must have 1 to {MAX_FALLBACK} characters after | in ${{{question}|…}}, got {len(fallback)}"
    return None


def texts_of(question: Any) -> Iterator[tuple[str, str]]:
    """Yields (key, text) of the texts of a question in a survey file, or of its translation, that may refer to answers."""
    if not isinstance(question, Mapping):
        return
    places = [(key, question.get(key)) for key in TEXTS]
    for part, keys in PARTS.items():
        if isinstance(own := question.get(part), Mapping):
            places += [(f"{part}.{key}", own.get(key)) for key in keys]
    yield from ((key, text) for key, text in places if isinstance(text, str))


def piped_ids(texts: Iterable[str]) -> list[str]:
    """Returns the ids that some texts refer to, each once."""
    return list(dict.fromkeys(pipe.question for text in texts for pipe in pipes(text) if pipe.question))
