"""Every link on every page that a researcher can come to leads to a page."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.store.protocol import Store

GROUPED = """
deniable: 1
id: grouped
title: Two clinics
about: Who asks, and why.
epsilon: 4
groups: [North, South]
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: mood, text: How are you?, type: scale, options: [bad, well]}
"""
_HREF = re.compile(r'<a\b[^>]*\bhref="([^"#]+)')


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


def dead(client: FlaskClient, start: str) -> list[str]:
    """Follows all links from a page on, and theirs; gives those that lead nowhere, each with the page that it stands on."""
    waiting, seen, found = [("", start)], {start}, []
    while waiting:
        page, address = waiting.pop()
        with client.get(address) as reply:
            if reply.status_code != 200:
                found.append(f"{address} on {page}: {reply.status_code}")
            if reply.mimetype != "text/html" or not address.startswith("/manage"):
                continue
            text = reply.get_data(as_text=True)
        for href in map(unescape, _HREF.findall(text)):
            to = urlsplit(urljoin(f"http://localhost{address}", href))
            target = f"{to.path}?{to.query}" if to.query else to.path
            if to.netloc == "localhost" and target not in seen:
                seen.add(target)
                waiting.append((address, target))
    return found


@pytest.mark.slow
def test_no_link_of_a_researchers_page_is_dead(ada: FlaskClient, store: Store, submissions: Callable[..., Submission]) -> None:
    grouped = Survey.from_text(GROUPED)
    store.surveys.publish(grouped, owner="ada")
    for group in grouped.groups:
        store.submissions.add("grouped", submissions(40, to=grouped, group=group))
    store.submissions.add("study", submissions(40))
    store.drafts.begin("ada", GROUPED.replace("id: grouped", "id: draft"))
    assert dead(ada, "/manage") == []
