"""Accounts: links that make one, the page on which operators manage them, and roles that owners give."""

from __future__ import annotations

import html
import json
import re
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable_server.config import make_key
from deniable_server.context import services_of
from deniable_server.identity import account_links
from deniable_server.identity.passwords import Passwords
from deniable_server.operate.cli import main
from deniable_server.store.errors import AccountLinkError
from deniable_server.store.people import Person
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

PASSWORD = "correct horse battery"
LogIn = Callable[..., FlaskClient]


@pytest.fixture
def ada(app: Flask, logged_in: LogIn) -> FlaskClient:
    """An operator."""
    return logged_in(app)


def token(page: TestResponse) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)[0])


def press(client: FlaskClient, path: str, **fields: str) -> TestResponse:
    return client.post(path, data={"csrf_token": token(client.get("/manage")), **fields})


def a_link(ada: FlaskClient, kind: str = "researcher") -> str:
    (link,) = re.findall(r'value="http://localhost(/join/[^"]+)"', press(ada, "/manage/people/links", kind=kind).text)
    return str(link)


def join(client: FlaskClient, link: str, user: str = "eve", password: str = PASSWORD, again: str = PASSWORD) -> TestResponse:
    page = client.get(link)
    data = {
        "user": user,
        "password": password,
        "again": again,
        "csrf_token": token(page if page.status_code == 200 else client.get("/login")),
    }
    return client.post(link, data=data)


# Links that make accounts.


@pytest.mark.parametrize("kind", ["researcher", "operator"])
def test_a_link_makes_one_account_and_opens_a_session_of_it(app: Flask, ada: FlaskClient, store: Store, kind: str) -> None:
    link, eve = a_link(ada, kind), app.test_client()
    assert re.fullmatch(r"/join/[A-Za-z0-9_-]{43}", link)
    assert join(eve, link).headers["Location"] == "/manage"
    assert eve.get("/manage").status_code == 200
    assert store.people.person("eve") == Person("eve", kind == "operator", False)
    assert services_of(app).get(Passwords).verify("eve", PASSWORD)
    assert eve.get("/manage/people").status_code == (200 if kind == "operator" else 403)
    assert join(app.test_client(), link, "mallory").status_code == 404
    assert [person.name for person in store.people.all()] == ["ada", "eve"]


def test_looking_at_a_link_spends_nothing(app: Flask, ada: FlaskClient) -> None:
    link = a_link(ada)
    for _ in range(3):
        assert app.test_client().get(link).status_code == 200
        assert app.test_client().head(link).status_code == 200
    assert join(app.test_client(), link).status_code == 302


def test_of_two_who_use_a_link_at_once_one_gets_the_account(store: Store, survey: Survey) -> None:
    token_hash = account_links.hash_of(account_links.make(store, "", False).rpartition("/")[2])
    store.people.accept(token_hash, "eve", "hash", int(time.time()))
    with pytest.raises(AccountLinkError):
        store.people.accept(token_hash, "mallory", "hash", int(time.time()))


def test_a_link_ends_after_seven_days(app: Flask, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    link, now = a_link(ada), time.time()
    monkeypatch.setattr("time.time", lambda: now)
    now += timedelta(days=7).total_seconds() - 10
    assert app.test_client().get(link).status_code == 200
    now += 11
    assert join(app.test_client(), link).status_code == 404


def test_a_link_that_is_taken_back_opens_nothing(app: Flask, ada: FlaskClient) -> None:
    link = a_link(ada)
    (shown,) = re.findall(r'name="link" value="([0-9a-f]{64})"', ada.get("/manage/people").text)
    assert press(ada, "/manage/people/links/end", link=shown).status_code == 302
    assert app.test_client().get(link).status_code == 404
    assert 'name="link"' not in ada.get("/manage/people").text


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"user": "ada"}, "Another account has this name"),
        ({"user": " "}, "Choose a name"),
        ({"user": "x" * 65}, "1 to 64 characters"),
        ({"user": "e\u202eve"}, "printable characters"),
        ({"password": "short", "again": "short"}, "10 to 256 characters"),
        ({"again": "another horse battery"}, "The passwords differ"),
    ],
)
def test_what_makes_no_account_is_told_and_spends_nothing(
    app: Flask, ada: FlaskClient, store: Store, fields: dict[str, str], told: str
) -> None:
    link = a_link(ada)
    reply = join(app.test_client(), link, **fields)
    assert (reply.status_code, told in reply.text) == (422, True)
    assert PASSWORD not in reply.text
    assert [person.name for person in store.people.all()] == ["ada"]
    assert store.accounts.password_hash("ada") != "hash"
    assert join(app.test_client(), link).status_code == 302


def test_the_token_is_in_no_file_and_no_log_and_the_browser_tells_it_to_nobody(
    app: Flask, ada: FlaskClient, store: Store, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    link = a_link(ada)
    secret = link.rpartition("/")[2]
    page = app.test_client().get(link)
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert secret not in page.text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.people, "accept", lambda *_: 1 / 0)
        failed = join(app.test_client(), link)
    assert (failed.status_code, secret in failed.text) == (500, False)
    assert "ZeroDivisionError" in caplog.text  # the log was looked at
    assert secret not in caplog.text
    for file in tmp_path.glob("deniable.db*"):
        assert secret.encode() not in file.read_bytes()


def test_wrong_links_are_slowed_down_and_right_ones_are_not(app: Flask, ada: FlaskClient) -> None:
    link = a_link(ada)
    statuses = [app.test_client().get(f"/join/{number:043d}").status_code for number in range(30)]
    assert statuses[:10] == [404] * 10
    assert statuses[12:] == [429] * 18  # one or two more, where the test itself takes its time
    assert join(app.test_client(), link).status_code == 302


# The page of people.


def test_an_operator_disables_enables_and_removes_an_account(app: Flask, ada: FlaskClient, logged_in: LogIn, store: Store) -> None:
    eve = logged_in(app, "eve")
    assert press(ada, "/manage/people", act="disable", name="eve").status_code == 302
    assert eve.get("/manage").status_code == 302
    assert not Passwords(store.accounts).verify("eve", PASSWORD)
    assert press(ada, "/manage/people", act="enable", name="eve").status_code == 302
    assert Passwords(store.accounts).verify("eve", PASSWORD)
    assert press(ada, "/manage/people", act="remove", name="eve", sure="1").status_code == 302
    assert [person.name for person in store.people.all()] == ["ada"]


def test_a_password_that_held_a_moment_ago_opens_nothing_once_the_account_is_disabled(
    app: Flask, ada: FlaskClient, logged_in: LogIn, client: FlaskClient
) -> None:
    logged_in(app, "eve")
    passwords = services_of(app).get(Passwords)
    assert passwords.verify("eve", PASSWORD)
    press(ada, "/manage/people", act="disable", name="eve")
    assert not passwords.verify("eve", PASSWORD)


def test_an_operator_makes_others_and_the_last_one_stays(app: Flask, ada: FlaskClient, logged_in: LogIn, store: Store) -> None:
    for act in ("researcher", "disable", "remove"):
        reply = press(ada, "/manage/people", act=act, name="ada", sure="1")
        assert (reply.status_code, "The account is the only operator" in reply.text) == (409, True)
    eve = logged_in(app, "eve")
    assert eve.get("/manage/people").status_code == 403
    press(ada, "/manage/people", act="operator", name="eve")
    assert eve.get("/manage/people").status_code == 200
    press(eve, "/manage/people", act="researcher", name="ada")
    assert ada.get("/manage/people").status_code == 403
    assert "People" not in ada.get("/manage").text


def test_the_only_owner_of_a_survey_cannot_be_removed(app: Flask, ada: FlaskClient, logged_in: LogIn, store: Store, survey: Survey) -> None:
    logged_in(app, "eve")
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "hers"}), "eve")
    reply = press(ada, "/manage/people", act="remove", name="eve", sure="1")
    assert (reply.status_code, "only owner of hers" in reply.text) == (409, True)
    assert store.people.person("eve") is not None


@pytest.mark.parametrize(
    ("fields", "status"), [({"act": "burn", "name": "ada"}, 400), ({"act": "disable", "name": "nobody"}, 404), ({}, 400)]
)
def test_what_cannot_be_done_with_an_account_is_told(ada: FlaskClient, fields: dict[str, str], status: int) -> None:
    assert press(ada, "/manage/people", **fields).status_code == status


def test_a_name_is_shown_as_text_and_nothing_else(app: Flask, ada: FlaskClient) -> None:
    nasty = '<img src=x onerror="1">'
    join(app.test_client(), a_link(ada), nasty)
    page = ada.get("/manage/people").text
    assert "<img" not in page
    assert html.escape(nasty, quote=False).replace('"', "&#34;") in page


# Roles that owners give.


@pytest.fixture
def hers(app: Flask, logged_in: LogIn, store: Store, survey: Survey) -> FlaskClient:
    """Eve, who owns a survey; bob has an account."""
    eve = logged_in(app, "eve")
    logged_in(app, "bob")
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "hers"}), "eve")
    return eve


def test_an_owner_gives_changes_and_takes_roles(app: Flask, hers: FlaskClient, logged_in: LogIn, store: Store) -> None:
    bob, path = logged_in(app, "bob"), "/manage/surveys/hers"
    assert bob.get(path).status_code == 404
    for role in ("viewer", "editor", "analyst"):
        assert press(hers, f"{path}/members", user="bob", role=role).status_code == 302
        assert store.roles.members("hers") == {"bob": Role.of(role), "eve": Role.OWNER}
        assert bob.get(path).status_code == 200
        assert bob.get(f"{path}/members").status_code == 403
    assert press(hers, f"{path}/members", user="bob", role="none", sure="1").status_code == 302
    assert bob.get(path).status_code == 404


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"user": "nobody", "role": "viewer"}, "There is no account with this name"),
        ({"user": "eve", "role": "viewer"}, "The account is the survey&#39;s only owner"),
        ({"user": "eve", "role": "none", "sure": "1"}, "The account is the survey&#39;s only owner"),
        ({"user": "bob", "role": "boss"}, "Not a valid choice"),
        ({"user": "", "role": "viewer"}, "Enter a name"),
    ],
)
def test_a_role_that_cannot_be_given_is_told(hers: FlaskClient, store: Store, fields: dict[str, str], told: str) -> None:
    reply = press(hers, "/manage/surveys/hers/members", **fields)
    assert (reply.status_code, told in reply.text) == (422, True)
    assert store.roles.members("hers") == {"eve": Role.OWNER}


def test_who_publishes_on_the_page_owns_the_survey(app: Flask, logged_in: LogIn, store: Store, survey: Survey) -> None:
    eve = logged_in(app, "eve")
    text = json.dumps({**survey.to_dict(), "id": "mine", "title": "Another study"})
    draft = store.drafts.begin("eve", text)
    reply = press(eve, f"/manage/drafts/{draft.id}/publish", revision=draft.revision)
    assert reply.status_code == 302, reply.text
    assert store.roles.members("mine") == {"eve": Role.OWNER}
    assert eve.get(reply.headers["Location"]).status_code == 200


# One's own account.


def test_a_new_password_needs_the_old_one_and_ends_all_other_sessions(app: Flask, ada: FlaskClient, logged_in: LogIn, store: Store) -> None:
    elsewhere, new = logged_in(app), "another horse battery"
    for current, again, told in (("wrong wrong wrong", new, "not your password"), (PASSWORD, "differs", "The passwords differ")):
        reply = press(ada, "/manage/account/password", current=current, password=new, again=again)
        assert (reply.status_code, told in reply.text) == (422, True)
        assert elsewhere.get("/manage").status_code == 200
    assert press(ada, "/manage/account/password", current=PASSWORD, password=new, again=new).status_code == 302
    assert (ada.get("/manage").status_code, elsewhere.get("/manage").status_code) == (200, 302)
    passwords = Passwords(store.accounts)
    assert (passwords.verify("ada", new), passwords.verify("ada", PASSWORD)) == (True, False)


# The commands.


def command(tmp_path: Path, *words: str) -> str:
    make_key(tmp_path / "deniable.db.key")
    result = CliRunner().invoke(main, [*words, "--db", str(tmp_path / "deniable.db")], env={"PW": PASSWORD})
    assert result.exit_code == 0, result.output
    return result.output


def test_a_link_comes_from_the_command_line_too(app: Flask, store: Store, tmp_path: Path) -> None:
    link = command(tmp_path, "user", "invite", "--operator", "--public-url", "https://survey.example.org").splitlines()[0]
    assert link.startswith("https://survey.example.org/join/")
    assert join(app.test_client(), link.removeprefix("https://survey.example.org")).status_code == 302
    assert store.people.person("eve") == Person("eve", True, False)


def test_nobody_is_locked_out_of_a_survey_whose_owner_left(app: Flask, hers: FlaskClient, store: Store, tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["user", "remove", "eve", "--db", str(tmp_path / "deniable.db")])
    assert (refused.exit_code, "only owner of hers" in refused.output) == (1, True)
    command(tmp_path, "grant", "hers", "bob", "owner")
    command(tmp_path, "user", "remove", "eve")
    assert store.roles.members("hers") == {"bob": Role.OWNER}
    command(tmp_path, "grant", "hers", "ada", "analyst")
    command(tmp_path, "grant", "hers", "ada", "none")
    assert store.roles.members("hers") == {"bob": Role.OWNER}


def test_the_list_says_what_each_account_is(app: Flask, hers: FlaskClient, tmp_path: Path) -> None:
    command(tmp_path, "user", "disable", "bob")
    command(tmp_path, "user", "operator", "eve")
    assert command(tmp_path, "user", "list") == "ada\toperator\nbob\tresearcher\tdisabled\neve\toperator\n"
    command(tmp_path, "user", "disable", "bob", "--no")
    command(tmp_path, "user", "operator", "eve", "--no")
    assert command(tmp_path, "user", "list") == "ada\toperator\nbob\tresearcher\neve\tresearcher\n"


def test_a_survey_is_published_for_its_owner(app: Flask, hers: FlaskClient, store: Store, tmp_path: Path, survey: Survey) -> None:
    (tmp_path / "survey.json").write_text(json.dumps({**survey.to_dict(), "id": "cli", "title": "Another study"}))
    command(tmp_path, "publish", str(tmp_path / "survey.json"), "--owner", "bob")
    assert store.roles.members("cli") == {"bob": Role.OWNER}
