"""The pages as they are served, before a script fills them: no heading is empty, and every link leads somewhere."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from deniable.survey import Survey
from deniable_server.store.protocol import Store

PAGES = ["", "/by-hand", "/definition", "/withdraw"]
EMPTY_HEADING = re.compile(r"<h[1-6][^>]*>\s*</h[1-6]>")
LINK_TO_NOWHERE = re.compile(r"<a (?![^>]*\bhref=)[^>]*>")


@pytest.fixture
def coins(store: Store, survey: Survey) -> Survey:
    question = {"id": "q", "text": "Yes?", "type": "yes_no", "section": {"title": "First"}}
    keys = {"deniable": 1, "id": "coins", "title": "T", "about": "A.", "epsilon": "ln 3", "groups": ["N", "S"], "questions": [question]}
    published = Survey.from_dict({**keys, "return_link": "https://panel.example.org/done"})
    store.surveys.publish(published)
    return published


@pytest.mark.parametrize("state", ["open", "closed", "paused"])
def test_no_page_has_an_empty_heading_or_a_link_to_nowhere(client: FlaskClient, store: Store, coins: Survey, state: str) -> None:
    store.surveys.set_open(coins.id, state != "closed")
    if state == "paused":
        store.surveys.pause(coins.id, True)
    for path in [*(f"/s/{coins.id}{page}" for page in PAGES), "/privacy", "/accessibility"]:
        page = client.get(path).text
        assert re.search(r"<h1", page), path
        assert [EMPTY_HEADING.findall(page), LINK_TO_NOWHERE.findall(page)] == [[], []], path
