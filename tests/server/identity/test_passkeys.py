"""Passkeys, with a device in Python: what lets in, and what does not. `tests/e2e/test_journey.py` has a browser's."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.authenticator import PRESENT, Device
from werkzeug.test import TestResponse

from deniable_server.context import services_of
from deniable_server.identity import passkeys
from deniable_server.store.factors import Passkey
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import Rates

PASSWORD, ORIGIN = "correct horse battery", "http://localhost"
LogIn = Callable[..., FlaskClient]


def field(page: TestResponse, pattern: str) -> str:
    return html.unescape(re.findall(pattern, page.text)[0])


def token(page: TestResponse) -> str:
    return field(page, r'name="csrf_token"[^>]*value="([^"]+)"')


def options(page: TestResponse) -> str:
    return field(page, r'data-options="([^"]+)"')


def add(client: FlaskClient, device: Device, **fields: str) -> TestResponse:
    page = client.get("/manage/account/second-factor")
    data = {"csrf_token": token(page), "credential": device.make(options(page)), "name": "phone", "current": PASSWORD}
    return client.post("/manage/account/passkeys", data={**data, **fields})


def half_way(app: Flask, user: str = "ada") -> tuple[FlaskClient, TestResponse]:
    """Somebody who has shown the password, and the page that asks for the second factor."""
    client = app.test_client()
    csrf = token(client.get("/login"))
    assert client.post("/login", data={"user": user, "password": PASSWORD, "csrf_token": csrf}).headers["Location"] == "/login/code"
    return client, client.get("/login/code")


def show(client: FlaskClient, page: TestResponse, credential: str) -> int:
    data = {"csrf_token": token(page), "code": "passkey", "credential": credential}
    return client.post("/login/code", data=data).status_code


@pytest.fixture
def device(app: Flask, logged_in: LogIn) -> Device:
    """ada's."""
    device = Device(ORIGIN)
    assert add(logged_in(app), device).status_code == 200
    return device


@pytest.mark.slow
def test_who_has_a_passkey_alone_gets_in_by_recovery_codes_once_each(app: Flask, logged_in: LogIn, store: Store) -> None:
    codes = re.findall(r"<code>([a-z2-7-]{19})</code>", add(logged_in(app), Device(ORIGIN)).text)
    assert len(codes) == 10
    for code, status in ((codes[0], 302), (codes[0], 401), ("123456", 401), (codes[1], 302)):
        client, page = half_way(app)
        assert "If you cannot use your passkey, enter a recovery code." in page.text
        assert "app shows" not in page.text
        assert client.post("/login/code", data={"csrf_token": token(page), "code": code}).status_code == status
    assert store.factors.recovery_left("ada") == 8
    new = re.findall(r"<code>([a-z2-7-]{19})</code>", add(logged_in(app), Device(ORIGIN)).text)
    for code, status in ((codes[2], 401), (new[0], 302)):  # another passkey brings other codes
        client, page = half_way(app)
        assert client.post("/login/code", data={"csrf_token": token(page), "code": code}).status_code == status


def test_a_passkey_lets_in_after_the_password_again_and_again(app: Flask, device: Device, store: Store) -> None:
    for count in (1, 2):
        client, page = half_way(app)
        assert client.get("/manage").status_code == 302
        assert show(client, page, device.answer(options(page))) == 302
        assert client.get("/manage").status_code == 200
        (kept,) = store.factors.passkeys("ada")
        assert (kept.id, kept.name, kept.count) == (device.id, "phone", count)


def test_an_authenticator_that_does_not_count_lets_in_too(app: Flask, device: Device) -> None:
    for _ in range(2):
        client, page = half_way(app)
        device.count = -1
        assert show(client, page, device.answer(options(page))) == 302


WRONG: dict[str, Callable[[Device], Device]] = {
    "another site's page": lambda device: replace(device, origin="https://localhost.evil.test"),
    "the same page without HTTPS, or with": lambda device: replace(device, origin="https://localhost"),
    "another key": lambda device: replace(device, key=Device(ORIGIN).key),
    "a passkey that nobody has": lambda device: replace(device, id=b"x" * 32),
    "nobody there": lambda device: replace(device, flags=0),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_another_device_or_page_answers_opens_nothing(app: Flask, device: Device, wrong: str) -> None:
    client, page = half_way(app)
    assert show(client, page, WRONG[wrong](device).answer(options(page))) == 401
    assert client.get("/manage").status_code == 302


def test_a_device_that_verifies_nobody_is_enough_beside_the_password(app: Flask, device: Device) -> None:
    client, page = half_way(app)
    assert show(client, page, replace(device, flags=PRESENT).answer(options(page))) == 302


def test_the_passkey_of_somebody_else_opens_nothing(app: Flask, device: Device, logged_in: LogIn) -> None:
    eves = Device(ORIGIN)
    assert add(logged_in(app, "eve"), eves).status_code == 200
    client, page = half_way(app)
    assert show(client, page, eves.answer(options(page))) == 401
    client, page = half_way(app, "eve")
    assert show(client, page, eves.answer(options(page))) == 302


def test_a_count_that_goes_back_opens_nothing(app: Flask, device: Device) -> None:
    device.count = 9
    for count, status in ((9, 302), (4, 401), (10, 302)):
        client, page = half_way(app)
        device.count = count
        assert show(client, page, device.answer(options(page))) == status


def recorded(app: Flask, device: Device) -> tuple[FlaskClient, TestResponse, str]:
    """Somebody who has the cookie of a visit from before the passkey was shown in it, its token, and the answer."""
    client, page = half_way(app)
    device.count = -1  # it does not count
    answer = device.answer(options(page))
    thief = app.test_client()
    thief.set_cookie("deniable", client.get_cookie("deniable").value)
    assert show(client, page, answer) == 302
    return thief, page, answer


def test_an_answer_that_was_recorded_opens_nothing(app: Flask, device: Device) -> None:
    thief, page, answer = recorded(app, device)
    assert show(thief, page, answer) == 401
    client, page = half_way(app)
    assert show(client, page, answer) == 401  # nor to another challenge


def test_a_store_that_forgets_challenges_is_found_out(app: Flask, device: Device, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store.factors, "use_passkey", lambda *_: True)
    thief, page, answer = recorded(app, device)
    assert show(thief, page, answer) == 302


def test_a_challenge_is_over_after_five_minutes(app: Flask, device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    client, page = half_way(app)
    answer = device.answer(options(page))
    asked = passkeys.time.time_ns()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.time_ns", lambda: asked + 301 * 10**9)
        assert show(client, page, answer) == 401


JUNK = ["", "{}", "[]", "null", "1", "x", '{"id": 1}', '{"rawId": "", "response": {}}', "\0ä", "[" * 2000, '{"response": null}']


@pytest.mark.parametrize("junk", JUNK)
def test_what_is_no_answer_is_refused_and_nothing_fails(app: Flask, device: Device, logged_in: LogIn, junk: str) -> None:
    client, page = half_way(app)
    assert show(client, page, junk) == 401
    own = logged_in(app)
    reply = add(own, device, credential=junk)
    assert (reply.status_code, "sent no valid passkey" in reply.text) == (422, True)


def test_every_field_of_an_answer_matters(app: Flask, device: Device) -> None:
    client, page = half_way(app)
    answer = json.loads(device.answer(options(page)))
    for name in answer["response"]:
        for spoiled in ("", "AAAA", answer["response"][name][:-8] + "AAAAAAAA", None):
            _, page = half_way(app)
            whole = json.loads(device.answer(options(page)))
            wrong = {**whole, "response": {**whole["response"], name: spoiled}}
            client, page = half_way(app)
            assert show(client, page, json.dumps(wrong)) in (401, 429), (name, spoiled)
            services_of(app).get(Rates).codes.forgive("ada")
            assert client.get("/manage").status_code == 302


def test_nothing_is_added_without_the_password_or_for_another_page(app: Flask, logged_in: LogIn, store: Store) -> None:
    client = logged_in(app)
    for device, fields, told in (
        (Device(ORIGIN), {"current": "wrong wrong wrong"}, "not your password"),
        (Device(ORIGIN), {"name": ""}, "Enter a name for the passkey"),
        (Device("https://evil.test"), {}, "sent no valid passkey"),
    ):
        reply = add(client, device, **fields)
        assert (reply.status_code, told in reply.text) == (422, True)
    assert store.factors.passkeys("ada") == []


def test_an_account_with_a_passkey_has_no_basic_login(app: Flask, device: Device) -> None:
    assert app.test_client().get("/api/v1/surveys/study/results", auth=("ada", PASSWORD)).status_code == 403


def test_a_server_with_an_address_of_numbers_offers_none(app: Flask, logged_in: LogIn, store: Store) -> None:
    client = logged_in(app)
    services_of(app).config = replace(services_of(app).config, public_url="http://127.0.0.1:8000")
    page = client.get("/manage/account/second-factor")
    assert (page.status_code, "data-passkey" in page.text) == (200, False)


def test_a_passkey_is_kept_as_it_was_made(app: Flask, device: Device, store: Store) -> None:
    (kept,) = store.factors.passkeys("ada")
    assert kept == Passkey(device.id, "phone", kept.public_key, 0, datetime.now(UTC).date().isoformat())
    assert store.factors.remove("ada")
    assert not store.factors.any("ada")
