"""A session ends when it should: at logout, with the password, with the account, and with time."""

from __future__ import annotations

import html
import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_server import Config, create_app
from deniable_server.config import make_key
from deniable_server.context import services_of
from deniable_server.identity import sessions
from deniable_server.identity.passwords import Passwords, set_password
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

PASSWORD = "correct horse battery"


def token(page: TestResponse) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)[0])


def log_in(client: FlaskClient, password: str = PASSWORD, path: str = "/login") -> TestResponse:
    return client.post(path, data={"user": "ada", "password": password, "csrf_token": token(client.get(path))})


def press(client: FlaskClient, path: str) -> TestResponse:
    return client.post(path, data={"csrf_token": token(client.get("/manage"))})


@pytest.fixture
def ada(app: Flask) -> FlaskClient:
    client = app.test_client()
    assert log_in(client).status_code == 302
    assert client.get("/manage").status_code == 200
    return client


def stolen(ada: FlaskClient, app: Flask) -> FlaskClient:
    """Somebody with a copy of ada's cookie."""
    thief = app.test_client()
    thief.set_cookie("deniable", ada.get_cookie("deniable").value)
    assert thief.get("/manage").status_code == 200
    return thief


def command(tmp_path: Path, *words: str) -> str:
    make_key(tmp_path / "deniable.db.key")
    name, *rest = words
    group = [name] if name == "init" else [name, rest.pop(0)]
    result = CliRunner().invoke(main, [*group, "--db", str(tmp_path / "deniable.db"), *rest], env={"PW": "another horse battery"})
    assert result.exit_code == 0, result.output
    return result.output


def another_operator(tmp_path: Path) -> None:
    command(tmp_path, "user", "add", "eve", "--operator", "--password-env", "PW")


ENDS: dict[str, Callable[[FlaskClient, Path], object]] = {
    "logout": lambda ada, _: press(ada, "/logout"),
    "logout everywhere": lambda ada, _: press(ada, "/logout/everywhere"),
    "init": lambda ada, folder: command(folder, "init", "--user", "ada", "--password-env", "PW"),
    "a new password": lambda ada, folder: command(folder, "user", "password", "ada", "--password-env", "PW"),
    "removal": lambda ada, folder: (another_operator(folder), command(folder, "user", "remove", "ada")),
    "disabling": lambda ada, folder: (another_operator(folder), command(folder, "user", "disable", "ada")),
    "the operator": lambda ada, folder: command(folder, "user", "log-out", "ada"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_cookie_opens_nothing_after(end: str, ada: FlaskClient, app: Flask, tmp_path: Path) -> None:
    thief = stolen(ada, app)
    ENDS[end](ada, tmp_path)
    for client in (ada, thief):
        for path in ("/manage", "/manage/surveys/study", "/manage/surveys/study/results.csv"):
            assert client.get(path).headers["Location"] == f"/login?next={path}"


def test_another_account_keeps_its_sessions(ada: FlaskClient, store: Store, tmp_path: Path) -> None:
    command(tmp_path, "user", "add", "eve", "--password-env", "PW")
    assert command(tmp_path, "user", "list") == "ada\toperator\neve\tresearcher\n"
    command(tmp_path, "user", "remove", "eve")
    assert ada.get("/manage").status_code == 200


def test_logging_out_here_leaves_other_devices_logged_in_and_everywhere_does_not(ada: FlaskClient, app: Flask) -> None:
    others = [app.test_client() for _ in range(2)]
    for other in others:
        log_in(other)
    press(ada, "/logout")
    assert [client.get("/manage").status_code for client in (ada, *others)] == [302, 200, 200]
    press(others[0], "/logout/everywhere")
    assert [client.get("/manage").status_code for client in others] == [302, 302]


def test_each_login_is_a_new_session_and_ends_the_one_before_on_this_device(ada: FlaskClient, app: Flask, store: Store) -> None:
    thief = stolen(ada, app)
    before = thief.get_cookie("deniable").value
    log_in(ada)
    assert ada.get_cookie("deniable").value != before
    assert thief.get("/manage").status_code == 302
    assert ada.get("/manage").status_code == 200


def test_a_cookie_that_somebody_put_there_before_the_login_opens_nothing(app: Flask) -> None:
    attacker, victim = app.test_client(), app.test_client()
    attacker.get("/login")
    victim.set_cookie("deniable", attacker.get_cookie("deniable").value)
    log_in(victim)
    assert victim.get("/manage").status_code == 200
    assert attacker.get("/manage").status_code == 302


def test_the_token_of_one_session_is_worth_nothing_in_another(ada: FlaskClient, app: Flask) -> None:
    other = app.test_client()
    log_in(other)
    assert other.post("/logout", data={"csrf_token": token(ada.get("/manage"))}).status_code == 400
    for path in ("/logout", "/logout/everywhere"):
        assert other.post(path).status_code == 400
    assert other.get("/manage").status_code == 200


@pytest.mark.slow
def test_a_session_in_constant_use_ends_after_twelve_hours(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, now = time.time(), time.time()
    monkeypatch.setattr("time.time", lambda: now)
    while now < begun + timedelta(hours=11, minutes=55).total_seconds():
        now += 300
        assert ada.get("/manage").status_code == 200
    now = begun + timedelta(hours=12, seconds=2).total_seconds()
    assert ada.get("/manage").status_code == 302


def test_a_session_that_nobody_uses_ends_after_two_hours(ada: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    thief, now = stolen(ada, app), time.time()
    monkeypatch.setattr("time.time", lambda: now)
    now += timedelta(hours=1, minutes=59).total_seconds()
    assert ada.get("/manage").status_code == 200
    now += timedelta(minutes=2).total_seconds()
    assert ada.get("/manage").status_code == 200
    thief.set_cookie("deniable", "")
    now += timedelta(hours=2, minutes=1).total_seconds()
    assert ada.get("/manage").status_code == 302


def test_sessions_survive_a_restart_and_end_while_the_server_is_down(ada: FlaskClient, tmp_path: Path) -> None:
    def restarted() -> int:
        store = open_store(tmp_path / "deniable.db")
        again = create_app(Config(tmp_path / "deniable.db", "x" * 40), store).test_client()
        again.set_cookie("deniable", ada.get_cookie("deniable").value)
        status = again.get("/manage").status_code
        store.close()
        return status

    assert restarted() == 200
    command(tmp_path, "user", "log-out", "ada")
    assert restarted() == 302


def test_the_database_has_nothing_that_opens_a_session_and_forgets_those_that_are_over(
    ada: FlaskClient, app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ada.session_transaction("/manage") as session:
        secret = session["token"]
    assert len(secret) == 43
    for file in tmp_path.glob("deniable.db*"):
        assert secret.encode() not in file.read_bytes()
    later = time.time() + sessions.LONGEST.total_seconds() + 1
    monkeypatch.setattr("time.time", lambda: later)
    log_in(app.test_client())
    with closing(sqlite3.connect(tmp_path / "deniable.db")) as db:
        assert db.execute("SELECT count(*) FROM sessions").fetchone() == (1,)


def test_over_https_both_cookies_are_bound_to_this_very_host(tmp_path: Path, store: Store) -> None:
    set_password(store.accounts, "ada", PASSWORD)
    client = create_app(Config(tmp_path / "deniable.db", "x" * 40, "https://survey.test"), store).test_client()
    page = client.get("/login", base_url="https://survey.test")
    form = {"user": "ada", "password": PASSWORD, "csrf_token": token(page)}
    own = {"base_url": "https://survey.test"}
    cookies = client.post("/login", data=form, **own).headers.getlist("Set-Cookie")
    assert sorted(cookie.split("=")[0] for cookie in cookies) == ["__Host-deniable", "__Host-deniable-device"]
    for cookie in cookies:
        assert {"secure", "httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}
        assert "domain" not in cookie.lower()
        assert "ada" not in cookie


def test_only_researchers_pages_set_a_cookie_even_for_a_researcher(ada: FlaskClient) -> None:
    assert "Set-Cookie" in ada.get("/manage").headers
    for path in ("/", "/s/study", "/s/study/withdraw", "/s/study/definition", "/api/v1/surveys/study", "/privacy", "/healthz", "/nothing"):
        assert "Set-Cookie" not in ada.get(path).headers, path


# The device that is known.


def test_a_device_is_known_to_the_user_who_logged_in_from_it_and_to_no_other(ada: FlaskClient, app: Flask) -> None:
    cookie = ada.get_cookie("deniable-device").value
    for user, sent, known in (("ada", cookie, True), ("eve", cookie, False), ("ada", cookie[:-1], False), ("ada", "", False)):
        with app.test_request_context("/login", headers={"Cookie": f"deniable-device={sent}"}):
            assert (sessions.device_id(user) is not None) == known
    log_in(ada)
    log_out = press(ada, "/logout")
    assert log_out.status_code == 302
    assert ada.get_cookie("deniable-device").value.split(".")[0] == cookie.split(".")[0]


def test_while_guessers_keep_ada_out_elsewhere_she_logs_in_from_her_device(ada: FlaskClient, app: Flask, store: Store) -> None:
    press(ada, "/logout")
    services_of(app).add(Passwords(store.accounts, lambda: 0.0))  # no time passes, and nobody was let in lately
    guesser, elsewhere = app.test_client(), app.test_client()
    replies = [log_in(guesser, f"guess number {number}") for number in range(8)]
    assert [reply.status_code for reply in replies] == [401] * 5 + [429] * 3
    assert all(int(reply.headers["Retry-After"]) >= 1 for reply in replies[5:])
    assert "Too many tries. Wait 1 second" in replies[5].text
    assert log_in(elsewhere).status_code == 429
    assert log_in(ada).status_code == 302


# Where a login leads.

ELSEWHERE = [
    *("https://evil.test/", "//evil.test/manage", "/\\evil.test", "/manage\\@evil.test", "/manage@evil.test", "/manage.evil.test"),
    *("/manage\n", "/manage\r\nSet-Cookie: a=b", "/manage/\nx", "/manage/%0d%0ax", "/manage\x00", "/manage/\t", "\n/manage", " /manage"),
    *("manage", "", "/", "/logout", "javascript:alert(1)", "/manage/\u2028", "/manage/?a=b", "/manage/#x", "/manage/é"),
]


@pytest.mark.parametrize("elsewhere", ELSEWHERE)
def test_login_leads_to_no_other_place_and_never_fails(client: FlaskClient, elsewhere: str) -> None:
    page = client.get("/login", query_string={"next": elsewhere})
    form = {"user": "ada", "password": PASSWORD, "csrf_token": token(page)}
    reply = client.post("/login", query_string={"next": elsewhere}, data=form)
    assert (reply.status_code, reply.headers["Location"]) == (302, "/manage")


@pytest.mark.parametrize("path", ["/manage", "/manage/surveys/study", "/manage/surveys/study/results.csv"])
def test_login_leads_back_to_where_somebody_was_going(client: FlaskClient, path: str) -> None:
    asked = client.get(path).headers["Location"]
    assert log_in(client, path=asked).headers["Location"] == path


@pytest.mark.parametrize("path", ["/manage/%0a", "/manage/surveys/%0d%0aX:%20y", "/manage/surveys/a%5Cb"])
def test_an_odd_address_leads_to_the_login_page_without_an_error(client: FlaskClient, path: str) -> None:
    reply = client.get(path)
    assert reply.status_code in (302, 404)


def test_a_login_without_its_cookie_is_told_why_and_nothing_that_it_sent_is_shown(client: FlaskClient, app: Flask) -> None:
    form = {"user": "ada<", "password": PASSWORD, "csrf_token": token(client.get("/login?next=/manage/account"))}
    for address in ("/login?next=/manage/account", "/login/code?next=/manage/account"):
        reply = app.test_client().post(address, data=form)
        page = html.unescape(reply.text)
        assert (reply.status_code, "Your browser sent no cookie" in page, "you have logged in or out" in page) == (400, True, False)
        assert "ada" not in page.split("</header>")[-1]
        assert PASSWORD not in page
        assert 'action="/login?next=/manage/account"' in page
    assert "you have logged in or out since you opened it" in client.post("/login", data={**form, "csrf_token": "of another visit"}).text


def test_whoever_logs_in_with_the_page_that_said_so_is_in(client: FlaskClient) -> None:
    form = {"user": "ada", "password": PASSWORD}
    page = client.post("/login?next=/manage/account", data=form)
    assert page.status_code == 400
    reply = client.post("/login?next=/manage/account", data={**form, "csrf_token": token(page)})
    assert (reply.status_code, reply.headers["Location"]) == (302, "/manage/account")
