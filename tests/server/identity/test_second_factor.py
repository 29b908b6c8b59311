"""The second factor: an app that shows codes, recovery codes, and what neither lets in."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable_server.config import make_key
from deniable_server.context import services_of
from deniable_server.identity import second_factor, totp
from deniable_server.identity.passwords import set_password
from deniable_server.operate.cli import main
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import LONGEST_FOR_CODES, Delays, Rates

PASSWORD, SECRET = "correct horse battery", b"12345678901234567890"


class Clock:
    """Time is the test's own, on every clock that decides something here."""

    now = 1_900_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("time.time", clock)
    services_of(app).get(Rates).codes = Delays(clock, LONGEST_FOR_CODES)
    return clock


def code(clock: Clock, after: int = 0) -> str:
    return totp.code_at(SECRET, int(clock.now) // totp.STEP + after)


def token(page: TestResponse) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)[0])


def send(client: FlaskClient, path: str, **fields: str) -> TestResponse:
    page = client.get(path)
    return client.post(path, data={"csrf_token": token(page if page.status_code == 200 else client.get("/login")), **fields})


def enter(client: FlaskClient, written: str) -> TestResponse:
    """The password, and then a code."""
    assert send(client, "/login", user="ada", password=PASSWORD).headers["Location"] == "/login/code"
    return send(client, "/login/code", code=written)


@pytest.fixture
def recovery(app: Flask, clock: Clock, logged_in: Callable[..., FlaskClient]) -> list[str]:
    """ada has a second factor with these recovery codes. Its code of this time step is used up."""
    fields = {"secret": totp.encode_secret(SECRET), "code": code(clock), "current": PASSWORD}
    page = send(logged_in(app), "/manage/account/second-factor", **fields)
    assert page.status_code == 200
    codes = re.findall(r"<code>([a-z2-7-]{19})</code>", page.text)
    clock.now += totp.STEP
    return codes


# Codes.


def test_codes_are_those_of_the_standards() -> None:
    hotp = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]  # RFC 4226, appendix D
    assert [totp.code_at(SECRET, counter) for counter in range(10)] == hotp
    times = {59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037", 20000000000: "353130"}
    assert {now: totp.code_at(SECRET, now // 30) for now in times} == times  # RFC 6238, appendix B: the last six digits of SHA-1


def test_a_code_holds_for_its_step_and_one_beside_it() -> None:
    now = 1_900_000_015.0
    assert [totp.find_step(SECRET, totp.code_at(SECRET, int(now) // 30 + after), now) is not None for after in range(-3, 4)] == [
        False, False, True, True, True, False, False
    ]  # fmt: skip
    for wrong in ("", "12345", "1234567", "abcdef", "１２３４５６", "\ud800", "-12345"):
        assert totp.find_step(SECRET, wrong, now) is None


def test_a_secret_is_read_as_it_was_written_and_nothing_else_is_one() -> None:
    assert totp.decode_secret(totp.encode_secret(SECRET)) == SECRET
    for wrong in ("", "A", totp.encode_secret(b"short"), totp.encode_secret(SECRET) + "A" * 8, "ä" * 32, "0" * 32):
        assert totp.decode_secret(wrong) is None
    address = totp.otpauth_uri(SECRET, "ada & bob", "deniable survey.example.org")
    assert address == (
        "otpauth://totp/deniable%20survey.example.org%3Aada%20%26%20bob?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&"
        "issuer=deniable%20survey.example.org"
    )


# Logging in.


def test_the_password_alone_opens_nothing_and_with_the_code_everything(app: Flask, clock: Clock, recovery: list[str]) -> None:
    client = app.test_client()
    assert send(client, "/login", user="ada", password=PASSWORD).headers["Location"] == "/login/code"
    for path in ("/manage", "/manage/account", "/manage/surveys/study"):
        assert client.get(path).status_code == 302
    assert send(client, "/login/code", code="000000").status_code == 401
    assert client.get("/manage").status_code == 302
    assert send(client, "/login/code", code=code(clock)).headers["Location"] == "/manage"
    assert client.get("/manage").status_code == 200


def test_a_code_is_taken_once(app: Flask, clock: Clock, recovery: list[str]) -> None:
    used = code(clock)
    assert enter(app.test_client(), used).status_code == 302
    again = enter(app.test_client(), used)
    assert (again.status_code, "was already used" in again.text) == (401, True)
    assert enter(app.test_client(), code(clock, -1)).status_code == 401  # an earlier one that nobody used
    assert enter(app.test_client(), code(clock, 1)).status_code == 302


def test_a_store_that_forgets_used_codes_is_found_out(
    app: Flask, clock: Clock, recovery: list[str], store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store.factors, "take_step", lambda user, step: True)
    with pytest.raises(AssertionError):
        test_a_code_is_taken_once(app, clock, recovery)


def test_a_recovery_code_lets_in_once_however_it_is_typed(app: Flask, clock: Clock, recovery: list[str], store: Store) -> None:
    assert (len(recovery), len(set(recovery))) == (10, 10)
    assert enter(app.test_client(), recovery[0]).status_code == 302
    assert enter(app.test_client(), recovery[0]).status_code == 401
    assert enter(app.test_client(), f" {recovery[1].upper().replace('-', ' ')} ").status_code == 302
    assert store.factors.recovery_left("ada") == 8


def test_the_code_page_is_for_whoever_has_just_shown_the_password(app: Flask, clock: Clock, recovery: list[str], store: Store) -> None:
    assert app.test_client().get("/login/code").headers["Location"] == "/login"
    late, changed = app.test_client(), app.test_client()
    for client in (late, changed):
        send(client, "/login", user="ada", password=PASSWORD)
        assert client.get("/login/code").status_code == 200
    clock.now += 299
    assert late.get("/login/code").status_code == 200
    clock.now += 1
    assert send(late, "/login/code", code=code(clock)).headers["Location"] == "/login"
    send(changed, "/login", user="ada", password=PASSWORD)
    set_password(store.accounts, "ada", "another horse battery")
    assert send(changed, "/login/code", code=code(clock)).headers["Location"] == "/login"


def test_after_the_code_somebody_comes_where_they_were_going(app: Flask, clock: Clock, recovery: list[str]) -> None:
    client = app.test_client()
    reply = send(client, "/login?next=/manage/people", user="ada", password=PASSWORD)
    assert reply.headers["Location"] == "/login/code?next=/manage/people"
    assert send(client, reply.headers["Location"], code=code(clock)).headers["Location"] == "/manage/people"


@pytest.mark.slow
def test_a_thousand_codes_in_a_minute_are_ten(app: Flask, clock: Clock, recovery: list[str]) -> None:
    guesser, owner = app.test_client(), app.test_client()
    send(guesser, "/login", user="ada", password=PASSWORD)
    path, csrf, statuses = "/login/code", token(guesser.get("/login/code")), []
    begun = clock.now
    while clock.now < begun + 60:
        statuses.append(guesser.post(path, data={"csrf_token": csrf, "code": "abcdef"}).status_code)
        clock.now += 0.06
    assert len(statuses) >= 1000
    assert (statuses.count(401), set(statuses)) == (10, {401, 429})
    assert enter(owner, code(clock)).status_code == 429  # whoever else has the password has to wait as well,
    clock.now += LONGEST_FOR_CODES
    assert enter(owner, code(clock)).status_code == 302  # fifteen minutes at most,
    send(guesser, "/login", user="ada", password=PASSWORD)
    for _ in range(10):
        send(guesser, path, code="abcdef")
    clock.now += totp.STEP
    assert enter(owner, code(clock)).status_code == 302  # and not on a device that is known


def test_a_password_is_no_way_around_it_for_programs(app: Flask, clock: Clock, recovery: list[str]) -> None:
    reply = app.test_client().get("/api/v1/surveys/study/results", auth=("ada", PASSWORD))
    assert (reply.status_code, "needs a key" in reply.text) == (403, True)
    assert app.test_client().get("/api/v1/surveys/study/results", auth=("ada", "wrong")).status_code == 401


# Setting it up and taking it away.


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"code": "000000"}, "The code is wrong"),
        ({"current": "wrong wrong wrong"}, "not your password"),
        ({"secret": "GEZDGNBV"}, "Start again"),
        ({"code": ""}, "Enter the code"),
    ],
)
def test_nothing_is_set_up_without_the_password_and_the_code(
    app: Flask, clock: Clock, logged_in: Callable[..., FlaskClient], store: Store, fields: dict[str, str], told: str
) -> None:
    right = {"secret": totp.encode_secret(SECRET), "code": code(clock), "current": PASSWORD}
    reply = send(logged_in(app), "/manage/account/second-factor", **{**right, **fields})
    assert (reply.status_code, told in reply.text, PASSWORD in reply.text) == (422, True, False)
    assert store.factors.secret("ada") is None


def test_each_look_at_the_page_offers_another_secret(app: Flask, logged_in: Callable[..., FlaskClient]) -> None:
    client = logged_in(app)
    secrets = {re.findall(r'name="secret"[^>]*value="([A-Z2-7]{32})"', client.get("/manage/account/second-factor").text)[0] for _ in "12"}
    assert len(secrets) == 2


def test_it_is_taken_away_with_the_password_and_by_operators(
    app: Flask, clock: Clock, recovery: list[str], store: Store, logged_in: Callable[..., FlaskClient], tmp_path: Path
) -> None:
    client = logged_in(app)
    for current, status in (("wrong wrong wrong", 422), (PASSWORD, 302)):
        csrf = token(client.get("/manage"))
        reply = client.post("/manage/account/second-factor/remove", data={"csrf_token": csrf, "current": current})
        assert reply.status_code == status
    assert store.factors.secret("ada") is None
    assert store.factors.recovery_left("ada") == 0
    store.factors.set_secret("ada", SECRET, 0, [b"h"])
    csrf = token(client.get("/manage"))
    assert client.post("/manage/people", data={"csrf_token": csrf, "act": "password only", "name": "ada", "sure": "1"}).status_code == 302
    assert store.factors.secret("ada") is None
    store.factors.set_secret("ada", SECRET, 0, [b"h"])
    make_key(tmp_path / "deniable.db.key")
    command = ["user", "password-only", "ada", "--db", str(tmp_path / "deniable.db")]
    assert [CliRunner().invoke(main, command).exit_code for _ in range(2)] == [0, 1]


def test_the_database_has_neither_the_secret_nor_a_recovery_code(
    app: Flask, clock: Clock, recovery: list[str], store: Store, tmp_path: Path
) -> None:
    assert store.factors.secret("ada") == SECRET
    plain = [recovery[0].replace("-", "").encode(), recovery[0].encode()]
    for file in tmp_path.glob("deniable.db*"):
        for secret in (SECRET, totp.encode_secret(SECRET).encode(), *plain):
            assert secret not in file.read_bytes()


def test_what_is_typed_in_a_recovery_code_does_not_matter_but_its_letters() -> None:
    made = second_factor.recovery_code()
    assert re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", made)
    assert second_factor.hash_of(made) == second_factor.hash_of(f" {made.upper().replace('-', '')}\n")
    assert second_factor.hash_of(made) != second_factor.hash_of(made[:-1])
