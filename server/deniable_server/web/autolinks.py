"""Links in a survey's own texts, made from web, mail and telephone addresses. Twin: `browser/links.mjs`."""

from __future__ import annotations

import re

from flask import Flask
from markupsafe import Markup, escape

_ADDRESS = re.compile(
    r"""(?P<page>https://[^\s<>"]*[^\s<>".,;:!?)])"""
    r"""|(?P<mail>[A-Za-z0-9_.+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)"""
    r"""|(?P<phone>\+[0-9][0-9 ()/-]{5,}[0-9])"""
)


def register(app: Flask) -> None:
    """Adds the template filter `linked`."""
    app.add_template_filter(linked)


def linked(text: str) -> Markup:
    """Escapes a text and turns web, mail and telephone addresses in it into links."""
    parts, end = [], 0
    for match in _ADDRESS.finditer(text):
        parts += [escape(text[end : match.start()]), _link(match)]
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


def _link(match: re.Match[str]) -> Markup:
    text = match[0]
    if match["page"]:
        opened = Markup('<a dir="ltr" href="{}" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">{}</a>')
        return opened.format(text, text)
    address = f"mailto:{text}" if match["mail"] else "tel:" + re.sub("[^+0-9]", "", text)
    return Markup('<a dir="ltr" href="{}">{}</a>').format(address, text)
