"""Addresses that people are given: this server's own, the link to a survey, and those in a survey's texts."""

from __future__ import annotations

import re

from flask import Flask
from markupsafe import Markup, escape

from deniable.survey import Survey
from deniable.wire.link import Link
from deniable_server.context import current_config


def register(app: Flask) -> None:
    """Gives the templates `respondents_link`, `server_address`, `institution` and the filter `linked`."""
    app.add_template_filter(linked)
    app.add_template_global(respondents_link)
    app.add_template_global(server_address)
    app.context_processor(lambda: {"institution": current_config().institution})


def server_address() -> str:
    """The address that people use, without a slash at its end."""
    return current_config().address


def respondents_link(survey: Survey, group: str | None = None) -> str:
    """The link to send out, for one group or for all; its fragment pins the definition and reaches no server."""
    return str(Link(server_address(), survey.id, survey.digest, group))


_FOUND = re.compile(
    r"""(?P<page>https://[^\s<>"]*[^\s<>".,;:!?)])"""
    r"""|(?P<mail>[A-Za-z0-9_.+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+)"""
    r"""|(?P<phone>\+[0-9][0-9 ()/-]{5,}[0-9])"""
)


def linked(text: str) -> Markup:
    """A survey's own text, escaped, with links to its addresses: pages, people to write to or to call. Twin: `browser/links.mjs`."""
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
