"""Who may do what: every route of the server, for everybody who may come. A route that stands in no row fails."""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from flask import Blueprint, Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.api import keys
from deniable_server.store.protocol import Store

Make = Callable[..., Submission]
ROLES = ("stranger", "respondent", "another site", "researcher", "key to submit", "key to results", "key elsewhere", "key to reports")
PUBLIC = (200, 200, 200, 200, 200, 200, 200, 200)  # reading it is everybody's
OWN_PAGE = (200, 200, 403, 200, 200, 200, 200, 200)  # sending it is everybody's, but for pages of other sites
RESEARCHERS = (302, 302, 302, 200, 302, 302, 302, 302)
SENT_ON = (302,) * 8  # who is logged in to the next page, others to the door

MATRIX: dict[tuple[str, str], tuple[int, ...]] = {
    ("about.home", "GET"): (302,) * 8,
    ("respondents.survey", "GET"): PUBLIC,
    ("files.browser_file", "GET"): PUBLIC,
    ("files.static_file", "GET"): PUBLIC,
    ("about.definition", "GET"): PUBLIC,
    ("about.privacy", "GET"): PUBLIC,
    ("about.accessibility", "GET"): PUBLIC,
    ("by_hand.blank", "GET"): PUBLIC,
    ("by_hand.record", "POST"): OWN_PAGE,
    ("withdraw.blank", "GET"): PUBLIC,
    ("withdraw.erase", "POST"): OWN_PAGE,
    ("health.healthz", "GET"): PUBLIC,
    ("health.readyz", "GET"): PUBLIC,
    ("api.definition", "GET"): PUBLIC,
    ("api.submit", "POST"): (200, 200, 403, 200, 200, 403, 403, 403),  # one record
    ("api.submit many", "POST"): (401, 401, 403, 401, 200, 403, 403, 403),
    ("api.withdraw", "POST"): OWN_PAGE,
    ("api.check_invitation", "POST"): OWN_PAGE,
    ("api.results", "GET"): (401, 401, 401, 401, 403, 200, 403, 403),  # a session opens the pages only
    ("api.tally", "GET"): (401, 401, 401, 401, 403, 200, 403, 403),  # what results are computed from
    ("api.reports", "GET"): (401, 401, 401, 401, 403, 403, 403, 200),  # the records themselves are a right of their own
    ("auth.login", "GET"): PUBLIC,
    ("auth.login", "POST"): (400, 400, 400, 401, 400, 400, 400, 400),  # with a wrong password
    ("account.logout", "POST"): SENT_ON,
    ("account.logout_everywhere", "POST"): SENT_ON,
    ("researchers.surveys", "GET"): RESEARCHERS,
    ("researchers.survey", "GET"): RESEARCHERS,
    ("researchers.groups", "GET"): RESEARCHERS,
    ("researchers.download", "GET"): RESEARCHERS,
    ("drafting.survey", "GET"): RESEARCHERS,
    ("drafting.survey", "POST"): SENT_ON,
    ("drafting.edit", "GET"): RESEARCHERS,
    ("drafting.change", "POST"): (302, 302, 302, 409, 302, 302, 302, 302),  # of a page that is out of date
    ("drafting.source", "GET"): RESEARCHERS,
    ("drafting.write", "POST"): (302, 302, 302, 409, 302, 302, 302, 302),
    ("drafting.download", "GET"): RESEARCHERS,
    ("drafting.planned", "GET"): RESEARCHERS,
    ("drafting.preview", "GET"): RESEARCHERS,
    ("drafting.delete", "POST"): SENT_ON,
    ("preview.page", "GET"): RESEARCHERS,
    ("preview.definition", "GET"): RESEARCHERS,
    ("settings.questions", "GET"): RESEARCHERS,
    ("settings.planned", "GET"): RESEARCHERS,
    ("settings.page", "GET"): RESEARCHERS,
    ("settings.close", "POST"): SENT_ON,
    ("inviting.page", "GET"): RESEARCHERS,
    ("inviting.codes", "POST"): (302, 302, 302, 422, 302, 302, 302, 302),  # of a survey without codes
}
DRAFT = "{deniable: 1, id: new, title: T, about: A, epsilon: 1, questions: [{id: q, text: Q, type: yes_no}]}"
OTHER_NAMES = {"browser_file": "form.mjs", "static_file": "base.css"}
LOGGED_IN = ("researchers.", "inviting.", "settings.")  # pages of surveys for whoever is logged in
OPEN = (200, 400)  # statuses of somebody who is let in; what they get then depends on what they ask for


def routes(app: Flask) -> Iterator[tuple[str, str]]:
    for rule in app.url_map.iter_rules():
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            yield rule.endpoint, method


class Door:
    """Everybody knocks at every route, each time with what the route takes."""

    def __init__(self, app: Flask, log_in: Callable[[Flask], FlaskClient], submissions: Make) -> None:
        self.app, self.log_in, self.submissions = app, log_in, submissions
        store: Store = app.extensions["deniable"]
        question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
        keys_ = {"deniable": 1, "title": "T", "about": "A.", "groups": ["North", "South"], "questions": [question]}
        self.survey, other = (Survey.from_dict({**keys_, "id": name}) for name in ("here", "elsewhere"))
        store.surveys.publish(self.survey)
        store.surveys.publish(other)
        made = {
            "key to submit": keys.make(store, "submit", ["submit"]),
            "key to results": keys.make(store, "results", ["results"]),
            "key elsewhere": keys.make(store, "elsewhere", ["submit", "results", "reports"], "elsewhere"),
            "key to reports": keys.make(store, "reports", ["reports"]),
        }
        self.headers: dict[str, dict[str, str]] = {role: {"Authorization": f"Bearer {key}"} for role, key in made.items()}
        self.headers["respondent"] = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
        self.headers["another site"] = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.test"}

    def knock(self, name: str, method: str, role: str, survey: str) -> TestResponse:
        client = self.log_in(self.app) if role.startswith("researcher") else self.app.test_client()
        endpoint = name.split()[0]
        (rule,) = [rule for rule in self.app.url_map.iter_rules(endpoint) if method in (rule.methods or set())]
        draft = self.app.extensions["deniable"].drafts.begin("ada", DRAFT) if "draft_id" in rule.arguments else None
        kind = "yaml" if draft else "csv"
        values = {"survey_id": survey, "draft_id": draft and draft.id, "kind": kind, "name": OTHER_NAMES.get(endpoint.split(".")[1], "x")}
        with self.app.test_request_context():
            path = self.app.url_for(endpoint, **{key: values[key] for key in rule.arguments})
        body = self.body(name, client, role) if method == "POST" else {}
        return client.open(path, method=method, headers=self.headers.get(role, {}), **body)

    def body(self, name: str, client: FlaskClient, role: str) -> dict[str, object]:
        secret = os.urandom(15)
        if name.startswith("api.submit"):
            return {"data": self.submissions(3 if "many" in name else 1, to=self.survey, group="North").to_json(), **JSON}
        if name in ("api.withdraw", "api.check_invitation"):
            return {"json": {"code": codes_base64(secret)}}
        if name == "auth.login":
            return {"data": {"user": "ada", "password": "a wrong password", "csrf_token": token(client) if role == "researcher" else ""}}
        if name.startswith(("account.", "drafting.", "settings.", "inviting.")):
            return {"data": {"csrf_token": token(client) if role == "researcher" else ""}}
        return {"data": {"secret": access_codes.written(secret), "code": access_codes.written(secret), "mark-1": "yes", "group": "North"}}

    def wrong(self) -> list[str]:
        """Every place of the matrix where the server does something else."""
        found = []
        for (name, method), statuses in MATRIX.items():
            for role, expected in zip(ROLES, statuses, strict=True):
                got = self.knock(name, method, role, "here").status_code
                if got != expected:
                    found.append(f"{name} {method}, {role}: {expected} expected, got {got}")
        return found


JSON = {"content_type": "application/json"}


def codes_base64(secret: bytes) -> str:
    return base64.urlsafe_b64encode(secret).decode()


def token(client: FlaskClient) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/manage").text)[0])


@pytest.fixture
def door(app: Flask, logged_in: Callable[[Flask], FlaskClient], submissions: Make) -> Door:
    return Door(app, logged_in, submissions)


def test_every_route_stands_in_the_matrix(app: Flask) -> None:
    assert set(routes(app)) == {(name.split()[0], method) for name, method in MATRIX}


def test_everybody_may_what_the_matrix_says(door: Door) -> None:
    assert door.wrong() == []


def test_no_form_of_researchers_counts_without_the_token_of_the_session(door: Door) -> None:
    asked = set()
    for endpoint, method in routes(door.app):
        if method == "POST" and door.app.blueprints[endpoint.split(".")[0]].audience.csrf:
            reply = door.knock(endpoint, method, "researcher without a token", "here")
            assert reply.status_code == 400, endpoint
            asked.add(endpoint)
    assert {"auth.login", "account.logout", "drafting.survey", "settings.close", "inviting.codes"} <= asked


def test_who_is_not_let_in_does_not_learn_whether_there_is_such_a_survey(door: Door) -> None:
    named = [
        (rule.endpoint, method) for rule in door.app.url_map.iter_rules() for method in rule.methods or () if "survey_id" in rule.arguments
    ]
    for (name, method), statuses in MATRIX.items():
        if (name.split()[0], method) not in named:
            continue
        for role, expected in zip(ROLES, statuses, strict=True):
            reply = door.knock(name, method, role, "nothing")
            many = name == "api.submit many" and expected == 401  # the survey's page is everybody's, so its id is no secret
            if role == "researcher" if name.startswith(LOGGED_IN) else expected in OPEN or many:
                assert reply.status_code == 404, (name, role)
            else:
                here = door.knock(name, method, role, "here")
                assert (reply.status_code, reply.text.replace("nothing", "here")) == (here.status_code, here.text), (name, role)


# Controls: what the matrix must notice.


@pytest.fixture
def extended(door: Door) -> Door:
    """The application can still be given routes."""
    door.app._got_first_request = False
    return door


def test_a_route_that_nobody_thought_of_is_noticed(extended: Door) -> None:
    extended.app.add_url_rule("/manage/surveys/<survey_id>/rows", "researchers.rows", lambda survey_id: "rows")
    assert set(routes(extended.app)) - set(MATRIX) - {("api.submit", "POST")} == {("researchers.rows", "GET")}
    assert extended.knock("researchers.rows", "GET", "stranger", "here").status_code == 302  # and it is closed all the same


def test_a_route_without_an_audience_is_noticed_and_open_to_nobody(extended: Door) -> None:
    new = Blueprint("new", __name__)
    new.add_url_rule("/new", "rows", lambda: "rows")
    extended.app.register_blueprint(new)
    extended.app.add_url_rule("/bare", "bare", lambda: "rows")
    assert set(routes(extended.app)) - set(MATRIX) - {("api.submit", "POST")} == {("new.rows", "GET"), ("bare", "GET")}
    for path in ("/new", "/bare"):
        for client in (extended.app.test_client(), extended.log_in(extended.app)):
            reply = client.get(path)
            assert (reply.status_code, "rows" in reply.text, "Set-Cookie" in reply.headers) == (403, False, False), path
    assert extended.app.test_client().get("/nothing").status_code == 404


def test_without_the_question_for_an_audience_such_a_route_would_be_open(extended: Door) -> None:
    extended.app.add_url_rule("/bare", "bare", lambda: "rows")
    asked = extended.app.before_request_funcs[None]
    (admit,) = [function for function in asked if function.__name__ == "admit"]
    asked.remove(admit)
    assert extended.app.test_client().get("/bare").text == "rows"


def test_pages_that_are_open_by_mistake_are_noticed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = door.app.blueprints["researchers"]
    monkeypatch.setattr(pages, "audience", replace(pages.audience, login=False))
    assert [line for line in door.wrong() if line.startswith("researchers.survey GET, stranger: 302 expected, got 200")]


def test_an_api_without_its_guard_is_noticed(door: Door) -> None:
    door.app.before_request_funcs["api"].clear()
    assert [line for line in door.wrong() if line.startswith("api.submit POST, another site: 403 expected, got 200")]
