"""Every page of researchers, of a survey that has everything; and every text in it is one that somebody attacks with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable_server.access import api_keys
from deniable_server.identity import account_links
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

HOSTILE = "=1+1'\"></title></textarea><xss onxss=1>{{7*7}}"
"""Markup wherever it is not escaped, in a text, an attribute or a script; a template where it is rendered twice; a formula in a cell."""

TEXTS = dict.fromkeys(("title", "about", "contact", "ethics", "thanks", "closed"), HOSTILE)
EVERYTHING: dict[str, Any] = {
    "deniable": 1,
    "id": "full",
    **TEXTS,
    "epsilon": 9,
    "accept_high_epsilon": True,
    "batch": 1,
    "accept_small_batches": True,
    "access": "invited",
    "groups": [HOSTILE, f"+{HOSTILE}"],
    "questions": [
        {"id": "a", "text": HOSTILE, "help": HOSTILE, "type": "yes_no", "section": {"title": HOSTILE, "note": HOSTILE}},
        {"id": "b", "text": HOSTILE, "type": "choice", "options": [f"@{HOSTILE}", f"-{HOSTILE}"]},
        {"id": "c", "text": HOSTILE, "type": "number", "low": -9, "high": 9, "levels": 3},
        {
            "id": "d",
            "text": HOSTILE,
            "type": "multi_choice",
            "options": [f"={HOSTILE}", f"+{HOSTILE}"],
            "show_if": {"question": "b", "is": [f"@{HOSTILE}"]},
        },
    ],
    "translations": {"de": {**TEXTS, "questions": {"a": {"text": HOSTILE}}}},
}


class Site:
    """The pages, in the browser of an operator who owns the survey. People have answered it."""

    def __init__(self, app: Flask, ada: FlaskClient, store: Store) -> None:
        self.app, self.ada = app, ada
        values = {"survey_id": "full", "draft_id": store.drafts.begin("ada", to_yaml(EVERYTHING)).id}
        self.values = {**values, "token": account_links.make(store, "", operator=False).rpartition("/")[2]}

    def get(self, endpoint: str, **more: str) -> TestResponse:
        (rule,) = (one for one in self.app.url_map.iter_rules(endpoint) if "GET" in (one.methods or ()))
        with self.app.test_request_context():
            known = {key: value for key, value in self.values.items() if key in rule.arguments}
            path = self.app.url_for(endpoint, **{**known, **more})
        return self.ada.get(path)

    @property
    def pages(self) -> dict[str, TestResponse]:
        """All that can be read, by endpoint."""
        rules = [rule for rule in self.app.url_map.iter_rules() if rule.arguments <= set(self.values) and "GET" in (rule.methods or ())]
        csrf = [rule.endpoint for rule in rules if self.app.blueprints[rule.endpoint.split(".")[0]].audience.csrf]
        found = {endpoint: self.get(endpoint) for endpoint in csrf}
        return {name: page for name, page in found.items() if page.mimetype == "text/html" and page.status_code == 200}


@pytest.fixture
def everything(app: Flask, logged_in: Callable[..., FlaskClient], store: Store, submissions: Callable[..., Any]) -> Site:
    survey = Survey.from_dict(EVERYTHING)
    store.surveys.publish(survey, "ada")
    for group in survey.groups:
        store.submissions.add(survey.id, submissions(60, to=survey, group=group))
    store.accounts.set_password(HOSTILE, "hash")
    store.roles.grant(survey.id, HOSTILE, Role.VIEWER)
    api_keys.make(store, HOSTILE, ["results"], survey.id)
    return Site(app, logged_in(app), store)
