"""Collects the texts of the browser's modules for `make messages`: the literals in calls of `t` and `tn`.

Babel's own reader of JavaScript passes over calls inside of calls, and over those in template strings with braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import IO, Any

_TEXT = r'\s*("(?:[^"\\\n]|\\.)*")'
_CALL = re.compile(rf"(?<![\w.$])(?:(t)\({_TEXT}|(tn)\({_TEXT},{_TEXT})")


def module_texts(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Mapping[str, Any]
) -> Iterator[tuple[int, str, list[str], list[str]]]:
    """Yields (line, function, its texts, no comments) for each call, as Babel asks of an extraction method."""
    source = file.read().decode()
    for call in _CALL.finditer(source):
        name, *texts = filter(None, call.groups())
        yield source.count("\n", 0, call.start()) + 1, name, [json.loads(text) for text in texts], []
