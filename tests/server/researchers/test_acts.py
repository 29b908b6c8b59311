"""Acts on researchers' pages: each says what it has done, removing asks first, and a form that is sent again makes nothing new."""

from __future__ import annotations

import ast
import html
import inspect
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import deniable_server
from deniable.survey import Survey
from deniable_server.store.protocol import Store
from deniable_server.web.audience import Routes

STUDY = "/manage/surveys/study"
LEADS_ON = {
    "auth",
    "joining",
    "publishing",
}  # blueprints whose acts lead to a page that is what was asked for: logged in, joined, published


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient], survey: Survey) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


def status(reply: TestResponse) -> list[str]:
    return [html.unescape(one) for one in re.findall(r'<p class="done" role="status">(.*?)</p>', reply.text)]


ACTS: list[tuple[str, dict[str, str], str]] = [
    (f"{STUDY}/pause", {}, "The survey is paused."),
    (f"{STUDY}/pause", {"end": "1"}, "The survey is open again."),
    (f"{STUDY}/members", {"user": "eve", "role": "analyst"}, "eve is an analyst now."),
    (f"{STUDY}/members", {"user": "eve", "role": "none", "sure": "1"}, "eve no longer has a role in this survey."),
    (f"{STUDY}/settings", {"points": "5", "least": "7"}, "Saved."),
    (f"{STUDY}/archive", {}, "Nothing was changed: close the survey first."),
    (f"{STUDY}/keys/revoke", {"name": "lab", "sure": "1"}, "The key lab no longer works."),
    (f"{STUDY}/webhooks/remove", {"id": "none", "sure": "1"}, "The webhook is removed."),
    ("/manage/people", {"act": "operator", "name": "eve"}, "eve is now an operator."),
    ("/manage/people", {"act": "researcher", "name": "eve"}, "eve is now a researcher."),
    ("/manage/people", {"act": "disable", "name": "eve"}, "eve is disabled and logged out."),
    ("/manage/people", {"act": "enable", "name": "eve"}, "eve can log in again."),
    ("/manage/people", {"act": "password only", "name": "eve", "sure": "1"}, "eve now logs in with the password alone."),
    ("/manage/people", {"act": "remove", "name": "eve", "sure": "1"}, "eve is removed."),
    ("/manage/people/links/end", {"link": "00"}, "The link no longer works."),
    (f"{STUDY}/copy", {}, "This draft is a copy. Change what you like, then publish it."),
    (f"{STUDY}/wave", {}, "This draft is a new wave."),
    (f"{STUDY}/tags", {"tags": "b, a"}, "The tags are saved."),
    (f"{STUDY}/study", {"do": "leave"}, "Nothing was changed: the survey is in no study."),
    (f"{STUDY}/study", {"do": "rename", "name": "x"}, "Nothing was changed: the survey is in no study."),
    ("/manage/tags", {"do": "rename", "tag": "a", "new": "c"}, "The tag is renamed on 1 survey or draft."),
    ("/manage/tags", {"do": "remove", "tag": "c", "sure": "1"}, "The tag is removed from 1 survey or draft."),
    (f"{STUDY}/close", {}, "The survey is closed."),
    (f"{STUDY}/pause", {}, "Nothing was changed: the survey is closed."),
    (f"{STUDY}/archive", {}, "The survey is archived."),
    (f"{STUDY}/archive", {"end": "1"}, "The survey is back in the list."),
    (f"{STUDY}/delete", {"survey": "study"}, "All records are deleted."),
]


def test_each_act_says_once_what_it_has_done(ada: FlaskClient, store: Store, logged_in: Callable[..., FlaskClient], app: Flask) -> None:
    logged_in(app, "eve")
    store.roles.grant("study", "ada", deniable_server.store.roles.Role.OWNER)
    for path, fields, message in ACTS:
        reply = ada.post(path, data=fields, follow_redirects=True)
        assert (reply.status_code, status(reply)) == (200, [message]), path
        assert status(ada.get(reply.request.path)) == []
    draft = store.drafts.begin("ada", "deniable: 1")
    assert status(ada.post(f"/manage/drafts/{draft.id}/delete", follow_redirects=True)) == ["The draft is deleted."]


def redirects(view: Callable[..., object]) -> bool:
    """Whether a view leads to another page by itself, and not by `done`, which says what was done."""
    tree = ast.parse(inspect.getsource(inspect.unwrap(view)).lstrip())
    return any(isinstance(node, ast.Call) and getattr(node.func, "id", "") == "redirect" for node in ast.walk(tree))


def test_no_act_leads_to_another_page_without_a_word(app: Flask) -> None:
    silent = []
    for rule in app.url_map.iter_rules():
        blueprint = app.blueprints.get(rule.endpoint.split(".")[0])
        if (
            "POST" not in (rule.methods or ())
            or not isinstance(blueprint, Routes)
            or not (blueprint.audience.login and blueprint.audience.csrf)
        ):
            continue
        if rule.endpoint.split(".")[0] not in LEADS_ON and redirects(app.view_functions[rule.endpoint]):
            silent.append(rule.endpoint)
    # a draft that is begun, kept or ready to publish: the page that comes is the draft itself
    assert sorted(silent) == ["account.logout", "drafting.write"]


@pytest.mark.parametrize(
    ("path", "fields", "question"),
    [
        (f"{STUDY}/members", {"user": "eve", "role": "none"}, "Remove eve from this survey?"),
        (f"{STUDY}/keys/revoke", {"name": "lab"}, "Revoke the key lab?"),
        (f"{STUDY}/webhooks/remove", {"id": "none"}, "Remove the webhook?"),
        ("/manage/people", {"act": "remove", "name": "eve"}, "Remove eve?"),
        ("/manage/tags", {"do": "remove", "tag": "health"}, "Remove the tag health?"),
        ("/manage/people", {"act": "password only", "name": "eve"}, "Remove the second factor of eve?"),
    ],
)
def test_removing_asks_first_and_carries_on_with_what_was_sent(
    ada: FlaskClient, app: Flask, logged_in: Callable[..., FlaskClient], store: Store, path: str, fields: dict[str, str], question: str
) -> None:
    logged_in(app, "eve")
    store.roles.grant("study", "ada", deniable_server.store.roles.Role.OWNER)
    store.roles.grant("study", "eve", deniable_server.store.roles.Role.VIEWER)
    asked = ada.post(path, data=fields)
    assert asked.status_code == 200
    assert question in html.unescape(asked.text)
    assert "eve" in store.roles.members("study")
    assert store.people.person("eve") is not None
    again = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', asked.text))
    assert {name: html.unescape(value) for name, value in again.items() if name != "csrf_token"} == fields
    assert ada.post(path, data={**again, "sure": "1"}).status_code == 302


def once(page: str) -> str:
    (token,) = re.findall(r'name="once" value="([^"]+)"', page)
    return str(token)


def test_a_sheet_of_codes_that_is_loaded_again_makes_no_codes(ada: FlaskClient, store: Store, survey: Survey) -> None:
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "invited", "access": "invited"}), "ada")
    page = "/manage/surveys/invited/invite"
    form = {"count": "6", "group": "", "sheet": "Show a sheet to print", "once": once(ada.get(page).text)}
    first = ada.post(page, data=form)
    assert first.text.count("type the code") == 6
    again = ada.post(page, data=form)
    assert (again.status_code, "Codes already made" in again.text) == (409, True)
    assert store.invitations.count("invited")[0] == 6
    assert ada.post(page, data={**form, "once": once(ada.get(page).text)}).status_code == 200
    assert store.invitations.count("invited")[0] == 12


def test_a_link_for_an_account_that_is_loaded_again_makes_no_link(ada: FlaskClient, store: Store) -> None:
    form = {"kind": "researcher", "once": once(ada.get("/manage/people").text)}
    assert [ada.post("/manage/people/links", data=form).status_code for _ in range(2)] == [200, 409]
    assert len(store.people.links(0)) == 1


def test_a_form_used_before_a_restart_is_known_by_the_cookie(ada: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    form = {"kind": "researcher", "once": once(ada.get("/manage/people").text)}
    assert ada.post("/manage/people/links", data=form).status_code == 200
    monkeypatch.setattr("deniable_server.pages.one_time_forms._used", type(deniable_server.pages.one_time_forms._used)())
    assert ada.post("/manage/people/links", data=form).status_code == 409
