"""Damaged link repair: recovers the intended address from one that mail programs or messengers have changed."""

from __future__ import annotations

import re
from urllib.parse import quote

_SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_PAGES = ("by-hand", "definition", "kiosk", "withdraw")
_PUNCTUATION = " \t\r\n.,;:!?)]}>\"'»’”"
"""Punctuation of a sentence that may follow a link."""


def repaired(rest: str) -> str | None:
    """Returns the intended address of a damaged one below `/s/`, or None if it cannot be repaired.

    Args:
        rest: The decoded path behind `/s/`, with a `#` and a fragment if a program has encoded them.
    """
    path, _, fragment = rest.partition("#")
    names = [name for name in path.rstrip(_PUNCTUATION + "/").lower().split("/") if name]
    if not names or len(names) > 2 or not _SURVEY_ID.fullmatch(names[0]) or not set(names[1:]) <= set(_PAGES):
        return None
    address = "/s/" + "/".join(names)
    if fragment:
        return f"{address}#{quote(fragment, safe='=&%+~')}"
    return None if address == "/s/" + rest else address
