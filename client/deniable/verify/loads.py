"""What a page, a module or a style sheet makes a browser load or run.

Bytes that are compared whole need no such list. It is there to find the files, and to name what somebody has added.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.parser import HTMLParser
from typing import NamedTuple

_URLS = frozenset(
    {"src", "srcset", "data", "poster", "background", "href", "xlink:href", "imagesrcset", "manifest", "archive", "code", "codebase"}
)
_LINKS = frozenset({"a", "area"})  # their addresses are visited when somebody wants to
_RUN = frozenset({"srcdoc", "style", "http-equiv", "formaction", "action", "ping"})
_DATA = frozenset({"application/json"})
_IMPORT = re.compile(r"""\b(?:from|import|importScripts|Worker)\s*\(?\s*["'`]([^"'`\n]+)["'`]""")
_COMPUTED = re.compile(r"\bimport\s*\(\s*([^\s\"'`)][^)\n]{0,60})")
_STYLE = re.compile(r"""(?:@import\s*|url\(\s*)["']?([^"'\s)]+)""")


class Load(NamedTuple):
    """One thing that is loaded: the `element` as it is written, and the address; None where the code stands in the page itself."""

    element: str
    url: str | None


@lru_cache(maxsize=64)  # what a right server sends is what it is compared with, once more
def of_page(page: str) -> tuple[Load, ...]:
    """All that an HTML page makes a browser load or run by itself, in the order of the page."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return tuple(parser.found)


def of_file(path: str, text: str) -> list[str]:
    """The addresses that a module or a style sheet names, as they are written; a computed import as its expression."""
    if path.endswith(".css"):
        return _STYLE.findall(text)
    return _IMPORT.findall(text) + _COMPUTED.findall(text)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Load] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element, attributes = self.get_starttag_text() or f"<{tag}>", dict(attrs)
        self.found += [Load(element, url or "") for name, url in attrs if name in _URLS and tag not in _LINKS]
        runs = [
            name
            for name, value in attrs
            if name in _RUN or name.startswith("on") or (value or "").strip().lower().startswith("javascript:")
        ]
        inline = tag == "script" and "src" not in attributes and attributes.get("type") not in _DATA
        if runs or inline or tag in ("style", "base"):
            self.found.append(Load(element, None))
