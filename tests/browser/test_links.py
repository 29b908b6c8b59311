"""Addresses in a survey's texts are links, the same in the browser as on pages without script; and nothing else becomes markup."""

from __future__ import annotations

from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest

from deniable_server.web.autolinks import linked

pytestmark = pytest.mark.browser
TEXTS = {
    "Ada Example, ada@example.org": [("mailto:ada@example.org", "ada@example.org")],
    "Call +49 (30) 123-456, or see https://example.org/a?b=c#d.": [
        ("tel:+4930123456", "+49 (30) 123-456"),
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
    ],
    "(https://example.org/) and a.b+c@x-y.example.co.uk!": [
        ("https://example.org/", "https://example.org/"),
        ("mailto:a.b+c@x-y.example.co.uk", "a.b+c@x-y.example.co.uk"),
    ],
    "آدا، ada@example.org": [("mailto:ada@example.org", "ada@example.org")],
    "<img src=x onerror=alert(1)>": [],
    'javascript:alert(1) http://example.org data:text/html,x " onclick="': [],
    'https://example.org/"onmouseover="alert(1)': [("https://example.org/", "https://example.org/")],
    "no. 2026-17, 1 + 1 = 2, @home, +1": [],
    "": [],
}
IN_THE_BROWSER = """
const { linkUp } = await import("/links.mjs");
return given.map((text) => {
  const element = document.createElement("dd");
  element.textContent = text;
  linkUp(element);
  const links = [...element.querySelectorAll("a")].map((a) => [a.getAttribute("href"), a.textContent, a.rel]);
  return { text: element.textContent, links, others: element.querySelectorAll(":not(a)").length };
});
"""


class Links(HTMLParser):
    """The links of a piece of a page, and its text."""

    def __init__(self, piece: str) -> None:
        super().__init__()
        self.links: list[tuple[str, str]] = []
        self.others: list[str] = []
        self.text = ""
        self.inside = False
        self.feed(piece)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.inside = tag == "a"
        if self.inside:
            self.links.append((dict(attrs)["href"], ""))
        else:
            self.others.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.inside:
            self.links[-1] = (self.links[-1][0], self.links[-1][1] + data)


def test_both_find_the_same_addresses_and_keep_the_text(javascript: Callable[..., Any]) -> None:
    for (text, expected), found in zip(TEXTS.items(), javascript(IN_THE_BROWSER, list(TEXTS)), strict=True):
        page = Links(str(linked(text)))
        assert (page.text, page.links, page.others) == (text, expected, [])
        assert (found["text"], [(a, b) for a, b, _ in found["links"]], found["others"]) == (text, expected, 0)
        assert all(rel == "noopener noreferrer" for address, _, rel in found["links"] if address.startswith("https:"))
