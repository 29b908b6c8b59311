"""Message extraction for `make messages`: the literals in calls of `t` and `tn` in the browser's modules, and the table of claims.

Babel's JavaScript extractor misses nested calls, and calls in template strings with braces.
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
    """Yields (line, function, texts, no comments) for each call, the interface of a Babel extraction method."""
    source = file.read().decode()
    for call in _CALL.finditer(source):
        name, *texts = filter(None, call.groups())
        yield source.count("\n", 0, call.start()) + 1, name, [json.loads(text) for text in texts], []


def claim_texts(file: IO[bytes], keywords: Any, comment_tags: Any, options: Mapping[str, Any]) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yields (line, function, text, id) for each claim of the table that respondents read."""
    for line, source in enumerate(file.read().decode().splitlines(), 1):
        if '"id":' in source and not (claim := json.loads(source.strip().rstrip(","))).get("english"):
            yield line, "gettext", claim["text"], [claim["id"]]
