"""Links in a survey's own texts, made from web, mail and telephone addresses. Twin: `browser/links.mjs`."""

from __future__ import annotations

import re

from flask import Flask
from markupsafe import Markup, escape

_FOUND = re.compile(
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
    for found in _FOUND.finditer(text):
        parts += [escape(text[end : found.start()]), _link(found)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _link(found: re.Match[str]) -> Markup:
    text = found[0]
    if found["page"]:
        opened = Markup('<a dir="ltr" href="{}" target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer">{}</a>')
        return opened.format(text, text)
    address = f"mailto:{text}" if found["mail"] else "tel:" + re.sub("[^+0-9]", "", text)
    return Markup('<a dir="ltr" href="{}">{}</a>').format(address, text)
