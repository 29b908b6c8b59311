"""Resources that a page, a module or a style sheet loads or runs.

The list finds the files to compare, and names additions. Files that match byte for byte do not need it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html.parser import HTMLParser
from typing import NamedTuple

_URLS = frozenset(
    {"src", "srcset", "data", "poster", "background", "href", "xlink:href", "imagesrcset", "manifest", "archive", "code", "codebase"}
)
_LINKS = frozenset({"a", "area"})  # a browser loads their addresses only when a person follows them
_RUN = frozenset({"srcdoc", "style", "http-equiv", "formaction", "action", "ping"})
_DATA = frozenset({"application/json"})
_IMPORT = re.compile(r"""\b(?:from|import|importScripts|Worker)\s*\(?\s*["'`]([^"'`\n]+)["'`]""")
_COMPUTED = re.compile(r"\bimport\s*\(\s*([^\s\"'`)][^)\n]{0,60})")
_STYLE = re.compile(r"""(?:@import\s*|url\(\s*)["']?([^"'\s)]+)""")


class Load(NamedTuple):
    """A resource that a page loads or runs.

    Attributes:
        element: The HTML element, as in the page.
        url: The address; None for code in the page itself.
    """

    element: str
    url: str | None


@lru_cache(maxsize=64)  # a correct server's pages are the reference's, so each is parsed twice
def of_page(page: str) -> tuple[Load, ...]:
    """Returns everything that an HTML page makes a browser load or run by itself, in the page's order."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return tuple(parser.loads)


def of_file(path: str, text: str) -> list[str]:
    """Returns the addresses in a module or a style sheet, unresolved; for a computed import, its expression."""
    if path.endswith(".css"):
        return _STYLE.findall(text)
    return _IMPORT.findall(text) + _COMPUTED.findall(text)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.loads: list[Load] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element, attributes = self.get_starttag_text() or f"<{tag}>", dict(attrs)
        self.loads += [Load(element, url or "") for name, url in attrs if name in _URLS and tag not in _LINKS]
        runs = [
            name
            for name, value in attrs
            if name in _RUN or name.startswith("on") or (value or "").strip().lower().startswith("javascript:")
        ]
        inline = tag == "script" and "src" not in attributes and attributes.get("type") not in _DATA
        if runs or inline or tag in ("style", "base"):
            self.loads.append(Load(element, None))
