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
from tests.kit.issuer import base64url
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.access import api_keys
from deniable_server.context import services_of
from deniable_server.identity import account_links
from deniable_server.identity.passwords import set_password
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role
from deniable_server.store.teams import Team
from deniable_server.web import audience

Make = Callable[..., Submission]
INSIDE = ("researcher", "viewer", "analyst", "editor", "owner", "operator")  # logged in; a researcher and an operator have no role here
ROLES = ("stranger", "respondent", "another site", *INSIDE, "key to submit", "key to results", "key elsewhere", "key to reports")


def row(outside: int, *inside: int) -> tuple[int, ...]:
    """What the pages of researchers reply: one status for all who are not logged in, and one for each who is."""
    return (outside,) * 3 + inside + (outside,) * 4


def of_survey(role: str, status: int = 200) -> tuple[int, ...]:
    """Of a page of a survey: its members may open it from this role up; for others who are logged in there is no such survey."""
    members = INSIDE[1:-1]
    return row(302, 404, *(status if members.index(one) >= members.index(role) else 403 for one in members), 404)


def of_draft(role: str, status: int, others: int = 403) -> tuple[int, ...]:
    """Of a page of a draft: those it is shared with may open it from this role up; others get `others`, or 404 without a role."""
    members = INSIDE[1:-1]
    return row(302, 404, *(status if members.index(one) >= members.index(role) else others for one in members), 404)


PUBLIC = (200,) * 13  # reading it is everybody's
OWN_PAGE = (200, 200, 403, *(200,) * 10)  # sending it is everybody's, but for pages of other sites
RESEARCHERS = row(302, *(200,) * 6)  # whoever is logged in
SENT_ON = row(302, *(302,) * 6)  # who is logged in to the next page, others to the door
OPERATORS = row(302, *(403,) * 5, 200)
VIEWERS, ANALYSTS, EDITORS, OWNERS = map(of_survey, INSIDE[1:-1])
AUTHORS = of_draft("owner", 200)
READERS = of_draft("viewer", 200)


MATRIX: dict[tuple[str, str], tuple[int, ...]] = {
    ("about.home", "GET"): (302,) * 13,
    ("respondents.survey", "GET"): PUBLIC,
    ("respondents.damaged", "GET"): PUBLIC,
    ("files.browser_file", "GET"): PUBLIC,
    ("files.static_file", "GET"): PUBLIC,
    ("files.logo", "GET"): (404,) * 13,  # there is none
    ("about.definition", "GET"): PUBLIC,
    ("about.privacy", "GET"): PUBLIC,
    ("public.page", "GET"): PUBLIC,  # of a survey with `results: public`; of others there is none: tests/server/public
    ("public.download", "GET"): PUBLIC,
    ("about.accessibility", "GET"): PUBLIC,
    ("kiosk.page", "GET"): PUBLIC,
    ("by_hand.blank", "GET"): PUBLIC,
    ("by_hand.record", "POST"): OWN_PAGE,
    ("withdraw.blank", "GET"): PUBLIC,
    ("withdraw.erase", "POST"): OWN_PAGE,
    ("health.healthz", "GET"): PUBLIC,
    ("health.readyz", "GET"): PUBLIC,
    ("metrics.page", "GET"): (404,) * 13,  # it is there on request only: tests/server/api/test_metrics.py
    ("api.surveys", "GET"): (*(401,) * 9, *(200,) * 4),  # those that the key is for: tests/server/api/test_listing.py
    ("api.definition", "GET"): PUBLIC,
    ("api.full_groups", "GET"): PUBLIC,
    ("api.submit", "POST"): (*OWN_PAGE[:9], 200, 403, 403, 403),  # one record
    ("api.submit many", "POST"): (401, 401, 403, *(401,) * 6, 200, 403, 403, 403),
    ("api.withdraw", "POST"): OWN_PAGE,
    ("api.check_invitation", "POST"): OWN_PAGE,
    ("api.exchange", "POST"): (400, 400, 403, *(400,) * 10),  # likewise; this survey takes no codes
    ("api.results", "GET"): (*(401,) * 9, 403, 200, 403, 403),  # a session opens the pages only
    ("api.progress", "GET"): (*(401,) * 9, 403, 200, 403, 403),
    ("api.tally", "GET"): (*(401,) * 9, 403, 200, 403, 403),  # what results are computed from
    ("api.reports", "GET"): (*(401,) * 9, 403, 403, 403, 200),  # the records themselves are a right of their own
    ("api.bundle", "GET"): (*(401,) * 9, 403, 403, 403, 200),  # the same, with what belongs to them
    ("api.bundle_file", "GET"): (*(401,) * 9, 403, 403, 403, 200),
    ("api.list_webhooks", "GET"): (*(401,) * 9, *(403,) * 4),  # no key is for what owners do
    ("api.make_webhook", "POST"): (401, 401, 403, *(401,) * 6, *(403,) * 4),
    ("api.remove_webhook", "DELETE"): (401, 401, 403, *(401,) * 6, *(403,) * 4),
    ("webhooks.page", "GET"): OWNERS,
    ("webhooks.make", "POST"): of_survey("owner", 422),  # without an address
    ("webhooks.remove", "POST"): of_survey("owner", 302),
    ("api_document.openapi", "GET"): PUBLIC,
    ("api_document.page", "GET"): PUBLIC,
    ("auth.login", "GET"): PUBLIC,
    ("auth.login", "POST"): row(400, *(401,) * 6),  # with a wrong password
    ("auth.code", "GET"): (302,) * 13,  # to the door: nobody has shown a password here
    ("auth.code", "POST"): row(400, *(302,) * 6),
    ("joining.page", "GET"): PUBLIC,  # whoever has the link
    ("joining.accept", "POST"): row(400, *(422,) * 6),  # without a name
    ("account.page", "GET"): RESEARCHERS,
    ("helping.page", "GET"): RESEARCHERS,
    ("account.password", "POST"): row(302, *(422,) * 6),
    ("second_factor.page", "GET"): RESEARCHERS,
    ("second_factor.begin", "POST"): row(302, *(422,) * 6),
    ("second_factor.add_passkey", "POST"): row(302, *(422,) * 6),
    ("second_factor.remove", "POST"): row(302, *(422,) * 6),
    ("account.logout", "POST"): SENT_ON,
    ("account.logout_everywhere", "POST"): SENT_ON,
    ("researchers.surveys", "GET"): RESEARCHERS,
    ("researchers.survey", "GET"): VIEWERS,
    ("researchers.groups", "GET"): VIEWERS,
    ("researchers.download", "GET"): VIEWERS,
    ("researchers.chart", "GET"): VIEWERS,
    ("researchers.group_file", "GET"): VIEWERS,
    ("among.page", "GET"): VIEWERS,
    ("among.download", "GET"): of_survey("viewer", 400),  # of no answer
    ("among.chart", "GET"): of_survey("viewer", 400),
    ("building.crosstab", "GET"): VIEWERS,
    ("building.waves", "GET"): VIEWERS,
    ("building.download_waves", "GET"): of_survey("viewer", 400),  # with no other survey
    ("building.waves_chart", "GET"): of_survey("viewer", 400),
    ("building.download_trends", "GET"): of_survey("viewer", 400),  # of a survey in no study
    ("building.download", "GET"): of_survey("viewer", 400),  # of a survey with one question
    ("building.model", "GET"): VIEWERS,
    ("building.download_model", "GET"): of_survey("viewer", 400),  # of nothing that was chosen
    ("drafting.survey", "GET"): RESEARCHERS,
    ("drafting.survey", "POST"): SENT_ON,
    ("drafting.edit", "GET"): of_draft("editor", 200, others=302),
    ("drafting.change", "POST"): of_draft("editor", 409),  # of a page that is out of date
    ("drafting.source", "GET"): of_draft("editor", 200, others=302),
    ("drafting.write", "POST"): of_draft("editor", 409),
    ("drafting.download", "GET"): READERS,
    ("drafting.planned", "GET"): READERS,
    ("drafting.preview", "GET"): READERS,
    ("drafting.delete", "POST"): of_draft("owner", 302),
    ("library.page", "GET"): of_draft("editor", 200),
    ("library.insert", "POST"): of_draft("editor", 422),  # nothing
    ("levels.page", "GET"): READERS,
    ("levels.apply", "POST"): of_draft("editor", 422),  # without a number of people
    ("publishing.page", "GET"): AUTHORS,
    ("publishing.publish", "POST"): of_draft("owner", 409),  # of nothing that was asked about
    ("preview.page", "GET"): READERS,
    ("preview.definition", "GET"): READERS,
    ("sharing.page", "GET"): AUTHORS,
    ("sharing.share", "POST"): of_draft("owner", 422),  # with nobody
    ("sharing.share_team", "POST"): of_draft("owner", 422),
    ("sharing.read", "GET"): row(302, 404, 200, 200, 302, 302, 404),  # whoever may write is led to the fields
    ("sso.start", "GET"): (404,) * 13,  # there is none: tests/server/identity/test_sso.py
    ("sso.back", "GET"): (404,) * 13,
    ("sso_account.bind", "POST"): row(302, *(404,) * 6),
    ("sso_account.unbind", "POST"): SENT_ON,  # from a provider that is not there any more
    ("teams.page", "GET"): RESEARCHERS,
    ("teams.create", "POST"): row(302, *(403,) * 5, 422),  # without a name
    ("teams.members", "GET"): row(302, 404, 404, 200, 404, 404, 200),  # the analyst is in it
    ("teams.change", "POST"): row(302, 404, 404, 403, 404, 404, 422),
    ("teams.delete", "POST"): row(302, 404, 404, 403, 404, 404, 302),
    ("translations.page", "GET"): READERS,
    ("translations.download", "GET"): of_draft("viewer", 400),  # without a language
    ("translations.upload", "POST"): of_draft("editor", 422),  # without a file
    ("trials.page", "GET"): READERS,
    ("trials.start", "POST"): of_draft("editor", 302),
    ("trials.simulate", "POST"): of_draft("editor", 422),  # without a number of people
    ("trials.discard", "POST"): of_draft("editor", 302),
    ("sample.results", "GET"): SENT_ON,
    ("sample.remove", "POST"): SENT_ON,
    ("guide.contents", "GET"): RESEARCHERS,
    ("guide.chapter", "GET"): RESEARCHERS,
    ("copies.copy", "POST"): of_survey("viewer", 302),
    ("copies.wave", "POST"): of_survey("editor", 302),
    ("copies.source", "GET"): VIEWERS,
    ("studies.change", "POST"): of_survey("editor", 400),  # nothing that it does
    ("tags.of_survey", "GET"): VIEWERS,
    ("tags.tag_survey", "POST"): of_survey("editor", 302),
    ("tags.of_draft", "GET"): READERS,
    ("tags.tag_draft", "POST"): of_draft("editor", 302),
    ("tags.page", "GET"): RESEARCHERS,
    ("tags.change", "POST"): row(302, *(400,) * 6),  # nothing that it does
    ("people.page", "GET"): OPERATORS,
    ("people.change", "POST"): row(302, *(403,) * 5, 400),  # nothing
    ("people.invite", "POST"): OPERATORS,
    ("people.revoke", "POST"): row(302, *(403,) * 5, 302),
    ("audit.page", "GET"): OPERATORS,
    ("survey_keys.overview", "GET"): RESEARCHERS,
    ("survey_keys.page", "GET"): OWNERS,
    ("survey_keys.make", "POST"): of_survey("owner", 422),
    ("survey_keys.revoke", "POST"): of_survey("owner", 302),
    ("members.page", "GET"): OWNERS,
    ("members.change", "POST"): of_survey("owner", 422),  # nobody
    ("members.change_team", "POST"): of_survey("owner", 422),
    ("settings.questions", "GET"): VIEWERS,
    ("settings.planned", "GET"): VIEWERS,
    ("settings.page", "GET"): VIEWERS,
    ("settings.keep", "POST"): of_survey("owner", 302),
    ("settings.quotas", "POST"): of_survey("owner", 302),
    ("settings.pause", "POST"): of_survey("editor", 302),
    ("settings.archive", "POST"): of_survey("owner", 302),
    ("settings.delete", "POST"): of_survey("owner", 422),  # without the survey's id
    ("watch.page", "GET"): VIEWERS,
    ("ethics.page", "GET"): VIEWERS,
    ("ethics.document", "GET"): VIEWERS,
    ("ethics.draft_page", "GET"): READERS,
    ("ethics.draft_document", "GET"): READERS,
    ("data.page", "GET"): ANALYSTS,
    ("data.download", "GET"): ANALYSTS,
    ("settings.close", "POST"): of_survey("owner", 302),
    ("inviting.page", "GET"): EDITORS,
    ("inviting.codes", "POST"): of_survey("editor", 422),  # of a survey without codes
    ("inviting.reminder", "GET"): of_survey("editor", 302),  # the same
}
OTHER_NAMES = {
    "browser_file": "form.mjs",
    "static_file": "base.css",
    "download": "README.md",
    "bundle_file": "README.md",
    "document": "protocol.md",
    "chapter": "guide/writing",
}
OTHER_NAMES["draft_document"] = "protocol.md"
TEAM = "Analysts"
DRAFT = "{deniable: 1, id: new, title: T, about: A, epsilon: 1, questions: [{id: q, text: Q, type: yes_no}]}"
OPEN = (200, 400)  # statuses of somebody who is let in; what they get then depends on what they ask for


def routes(app: Flask) -> Iterator[tuple[str, str]]:
    for rule in app.url_map.iter_rules():
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
            yield rule.endpoint, method


class Door:
    """Everybody knocks at every route, each time with what the route takes, and at three objects: a survey in which the members have
    their roles, one of somebody else's, and one that is not there."""

    def __init__(self, app: Flask, log_in: Callable[..., FlaskClient], submissions: Make) -> None:
        self.app, self.log_in, self.submissions = app, log_in, submissions
        store: Store = services_of(app).store
        question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
        keys_ = {"deniable": 1, "title": "T", "about": "A.", "results": "public", "groups": ["North", "South"], "questions": [question]}
        self.survey, hers, other = (Survey.from_dict({**keys_, "id": name}) for name in ("s-here", "s-hers", "elsewhere"))
        for user in (*INSIDE, "she"):
            set_password(store.accounts, user, "correct horse battery")
        store.people.set_operator("operator", True)
        store.surveys.publish(self.survey, "owner")
        store.surveys.publish(hers, "she")
        store.surveys.publish(other)
        for user in ("viewer", "editor"):
            store.roles.grant("s-here", user, Role.of(user))
        self.link = account_links.make(store, "", operator=False)
        self.make_team()
        made = {
            "key to submit": api_keys.make(store, "submit", ["submit"]),
            "key to results": api_keys.make(store, "results", ["results"]),
            "key elsewhere": api_keys.make(store, "elsewhere", ["submit", "results", "reports"], "elsewhere"),
            "key to reports": api_keys.make(store, "reports", ["reports"]),
        }
        self.headers: dict[str, dict[str, str]] = {role: {"Authorization": f"Bearer {key}"} for role, key in made.items()}
        self.headers["respondent"] = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
        self.headers["another site"] = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.test"}

    def knock(self, name: str, method: str, role: str, survey: str) -> TestResponse:
        client = self.log_in(self.app, role.removesuffix(" without a token")) if role.startswith(INSIDE) else self.app.test_client()
        endpoint = name.split()[0]
        (rule,) = [rule for rule in self.app.url_map.iter_rules(endpoint) if method in (rule.methods or set())]
        self.make_team()
        values = {
            "survey_id": survey,
            "token": self.link.rpartition("/")[2],
            "webhook_id": "wh_0",
            "draft_id": self.draft() if "draft_id" in rule.arguments else "",
            "team_id": Team(TEAM, {}).id,
            "question": "q",
            "kind": "yaml" if "draft_id" in rule.arguments else "csv",
            "name": OTHER_NAMES.get(endpoint.split(".")[1], "x"),
        }
        with self.app.test_request_context():
            path = self.app.url_for(endpoint, **{key: values[key] for key in rule.arguments})
        body = self.body(name, client, role) if method == "POST" else {}
        return client.open(path, method=method, headers=self.headers.get(role, {}), **body)

    def make_team(self) -> None:
        """The analyst has all rights by a team alone. It is made again where somebody has deleted it."""
        teams = services_of(self.app).store.teams
        if TEAM not in [team.name for team in teams.all()]:
            teams.create(TEAM)
            teams.join(TEAM, "analyst", manager=False)
            teams.grant("s-here", TEAM, Role.ANALYST)

    def draft(self) -> str:
        """A new draft of the owner's, which the others share."""
        store = services_of(self.app).store
        for head in store.drafts.listed("owner"):
            store.drafts.remove(head.id)  # a person has 200 at most
        draft = store.drafts.begin("owner", DRAFT)
        for user in ("viewer", "editor"):
            store.draft_roles.grant(draft.id, user, Role.of(user))
        store.draft_roles.grant_team(draft.id, TEAM, Role.VIEWER)
        return draft.id

    def body(self, name: str, client: FlaskClient, role: str) -> dict[str, object]:
        secret = os.urandom(15)
        if name.startswith("api.submit"):
            return {"data": self.submissions(3 if "many" in name else 1, to=self.survey, group="North").to_json(), **JSON}
        if name in ("api.withdraw", "api.check_invitation", "api.make_webhook"):
            return {"json": {"code": codes_base64(secret)}}
        if name == "api.exchange":
            return {"json": {"code": codes_base64(secret), "blinded": base64url(b"\1" * 256)}}
        if name == "auth.login":
            return {"data": {"user": role, "password": "a wrong password", "csrf_token": token(client) if role in INSIDE else ""}}
        if self.app.blueprints[name.split(".")[0]].audience.csrf:
            return {
                "data": {"csrf_token": token(client) if role in INSIDE else "", "sure": "1", "source": DRAFT, "points": "10", "least": "1"}
            }
        return {
            "data": {
                "secret": access_codes.format_code(secret),
                "code": access_codes.format_code(secret),
                "mark-1": "yes",
                "group": "North",
            }
        }

    def wrong(self) -> list[str]:
        """Every place of the matrix where the server does something else."""
        found = []
        for (name, method), statuses in MATRIX.items():
            for role, expected in zip(ROLES, statuses, strict=True):
                got = self.knock(name, method, role, "s-here").status_code
                if got != expected:
                    found.append(f"{name} {method}, {role}: {expected} expected, got {got}")
        return found


JSON = {"content_type": "application/json"}


def codes_base64(secret: bytes) -> str:
    return base64.urlsafe_b64encode(secret).decode()


def token(client: FlaskClient) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/manage/account").text)[0])


@pytest.fixture
def door(app: Flask, logged_in: Callable[..., FlaskClient], submissions: Make) -> Door:
    return Door(app, logged_in, submissions)


def test_every_route_stands_in_the_matrix(app: Flask) -> None:
    assert set(routes(app)) == {(name.split()[0], method) for name, method in MATRIX}


@pytest.mark.slow
def test_everybody_may_what_the_matrix_says(door: Door) -> None:
    assert door.wrong() == []


def test_no_form_of_researchers_counts_without_the_token_of_the_session(door: Door) -> None:
    asked = set()
    for endpoint, method in routes(door.app):
        whom = door.app.blueprints[endpoint.split(".")[0]].audience
        if method == "POST" and whom.csrf:
            reply = door.knock(endpoint, method, f"{'operator' if whom.operator else 'owner'} without a token", "s-here")
            assert reply.status_code == 400, endpoint
            asked.add(endpoint)
    assert {"auth.login", "account.logout", "drafting.survey", "settings.close", "inviting.codes"} <= asked


def alike(one: TestResponse, name: str, other: TestResponse, other_name: str) -> bool:
    """Whether two replies are the same: status, bytes, headers; but for the name of the survey and the token, which has the time in it."""

    def told(reply: TestResponse, name: str) -> tuple[object, ...]:
        headers = [(key, value.replace(name, "#")) for key, value in reply.headers if key != "Set-Cookie"]
        text = re.sub(r'(?<=name="csrf_token" value=")[^"]+', "", reply.text.replace(name, "#"))
        return reply.status_code, text, headers

    return told(one, name) == told(other, other_name)


def told_apart(door: Door) -> list[str]:
    """Where somebody who may not see a survey gets something else than where there is none."""
    found = []
    named = {rule.endpoint for rule in door.app.url_map.iter_rules() if "survey_id" in rule.arguments}
    for (name, method), statuses in MATRIX.items():
        if name.split()[0] not in named:
            continue
        for role, expected in zip(ROLES, statuses, strict=True):
            missing, place = door.knock(name, method, role, "s-gone"), f"{name} {method}, {role}"
            if door.app.blueprints[name.split(".")[0]].audience.login:
                if not alike(missing, "s-gone", door.knock(name, method, role, "s-hers"), "s-hers"):
                    found.append(f"{place}: somebody else's survey shows")
                if role in INSIDE and missing.status_code != 404:
                    found.append(f"{place}: no survey is no 404")
            many = name == "api.submit many" and expected == 401  # the survey's page is everybody's, so its id is no secret
            if expected in OPEN or many:
                if missing.status_code != 404:
                    found.append(f"{place}: no survey is no 404")
            elif (role not in INSIDE or expected == 404) and not alike(
                missing, "s-gone", door.knock(name, method, role, "s-here"), "s-here"
            ):
                found.append(f"{place}: the survey shows")
    return found


@pytest.mark.slow
def test_a_survey_that_somebody_may_not_see_looks_as_one_that_is_not_there(door: Door) -> None:
    assert told_apart(door) == []


def test_every_page_of_a_survey_says_its_least_role(app: Flask) -> None:
    pages = [rule.endpoint for rule in app.url_map.iter_rules() if "survey_id" in rule.arguments]
    pages = [endpoint for endpoint in pages if app.blueprints[endpoint.split(".")[0]].audience.login]
    assert [endpoint for endpoint in pages if app.view_functions[endpoint] not in audience._LEAST] == []
    assert len(pages) > 5


@pytest.mark.parametrize(("path", "least"), [("results", "viewer"), ("tally", "viewer"), ("reports", "analyst")])
def test_a_password_opens_by_the_api_what_its_role_may_see_and_shows_no_other_survey(door: Door, path: str, least: str) -> None:
    def statuses(survey: str) -> dict[str, int]:
        client = door.app.test_client()
        auths = {user: (user, "correct horse battery") for user in INSIDE}
        return {user: client.get(f"/api/v1/surveys/{survey}/{path}", auth=auth).status_code for user, auth in auths.items()}

    members = INSIDE[1:-1]
    expected = {user: 403 if members.index(user) < members.index(least) else 200 for user in members}
    assert statuses("s-here") == {"researcher": 404, **expected, "operator": 404}
    assert statuses("s-hers") == statuses("s-gone") == dict.fromkeys(INSIDE, 404)
    assert statuses("elsewhere") == {**dict.fromkeys(INSIDE, 404), "operator": 200}  # nobody owns it


def test_the_list_of_surveys_has_those_that_somebody_may_see(door: Door) -> None:
    def listed(user: str) -> list[str]:
        return sorted(
            set(re.findall(r"/manage/surveys/([a-z-]+)", door.log_in(door.app, user).get("/manage").text))
            & {"s-here", "s-hers", "elsewhere"}
        )

    seen = {user: listed(user) for user in (*INSIDE, "she")}
    members = {user: ["s-here"] for user in INSIDE[1:-1]}
    assert seen == {"researcher": [], **members, "operator": ["elsewhere"], "she": ["s-hers"]}


def test_tabs_lead_where_the_role_may_go(door: Door) -> None:
    for user, tabs in (("viewer", {"questions", "plan", "settings"}), ("owner", {"questions", "plan", "settings", "invite"})):
        page = door.log_in(door.app, user).get("/manage/surveys/s-here/plan").text
        trail = page.split('<nav class="trail"')[1].split("</nav>")[0]
        found = set(re.findall(r"/manage/surveys/s-here/([a-z]+)", trail)) - {"groups"}
        assert tabs <= found
        assert ("invite" in found) == ("invite" in tabs)


# Controls: what the matrix must notice.


@pytest.fixture
def extended(door: Door) -> Door:
    """The application can still be given routes."""
    door.app._got_first_request = False
    return door


def test_a_route_that_nobody_thought_of_is_noticed(extended: Door) -> None:
    extended.app.add_url_rule("/manage/surveys/<survey_id>/rows", "researchers.rows", lambda survey_id: "rows")
    assert set(routes(extended.app)) - set(MATRIX) - {("api.submit", "POST")} == {("researchers.rows", "GET")}
    assert extended.knock("researchers.rows", "GET", "stranger", "s-here").status_code == 302  # and it is closed all the same


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


@pytest.mark.slow
def test_pages_that_are_open_by_mistake_are_noticed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = door.app.blueprints["researchers"]
    monkeypatch.setattr(pages, "audience", replace(pages.audience, login=False))
    assert [line for line in door.wrong() if line.startswith("researchers.survey GET, stranger: 302 expected, got 200")]


@pytest.mark.slow
def test_an_api_without_its_guard_is_noticed(door: Door) -> None:
    door.app.before_request_funcs["api"].clear()
    assert [line for line in door.wrong() if line.startswith("api.submit POST, another site: 403 expected, got 200")]


@pytest.mark.slow
def test_pages_that_ask_for_no_role_are_noticed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audience, "_ask_role", lambda: None)
    assert "researchers.survey GET, researcher: 404 expected, got 200" in door.wrong()
    assert "researchers.survey GET, researcher: somebody else's survey shows" in told_apart(door)


@pytest.mark.slow
def test_a_page_whose_role_is_too_low_is_noticed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(audience._LEAST, door.app.view_functions["settings.close"], Role.VIEWER)
    assert [line.partition(":")[0] for line in door.wrong()] == [f"settings.close POST, {user}" for user in INSIDE[1:4]]


@pytest.mark.slow
def test_a_refusal_that_differs_from_a_missing_survey_is_noticed(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    role, store = services_of(door.app).store.roles.role, services_of(door.app).store

    def chatty(user: str, survey_id: str) -> Role:
        try:
            return role(user, survey_id)
        except UnknownSurveyError:
            store.surveys.published(survey_id)
            raise UnknownSurveyError("this survey is somebody else's") from None

    monkeypatch.setattr(store.roles, "role", chatty)
    assert any("somebody else's survey shows" in line for line in told_apart(door))
