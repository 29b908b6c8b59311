"""Notes of a draft: the comments of its survey file, which the form shows and keeps.

Changing a field writes the file anew. It then begins with all of its comments, so that none is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

MOST_CHARACTERS = 4_000
"""The most characters of notes that the form accepts: lists read the title from the beginning of a file."""

_COMMENT = re.compile(r"#+ ?(.*)")


def notes_in(text: str) -> str:
    """Returns the comments of a survey file, one a line; empty for a text that is not valid YAML."""
    try:
        return "\n".join(comment.rstrip() for gap in _gaps(text) for comment in _COMMENT.findall(gap)).strip("\n")
    except (YAMLError, RecursionError):
        return ""


def with_notes(text: str, notes: str) -> str:
    """Returns a survey file without comments with these notes as comments at its beginning."""
    lines = notes.strip("\n").split("\n") if notes.strip() else []
    return "".join(f"# {line}".rstrip() + "\n" for line in lines) + text


def _gaps(text: str) -> Iterator[str]:
    """Yields what is between the tokens of a YAML text: spaces, line ends and comments."""
    end = 0
    for token in YAML(typ="safe", pure=True).scan(text):
        yield text[end : token.start_mark.index]
        end = max(end, token.end_mark.index)
    yield text[end:]
