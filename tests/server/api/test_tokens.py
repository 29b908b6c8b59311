"""A code is exchanged once for a blind signature; the record carries what the server has never seen, and counts once."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.issuer import ISSUER, OTHER_ISSUER, base64url, exchanged, issued, sign
from tests.kit.surveys import submission
from werkzeug.test import TestResponse

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire import access_codes, blind_rsa
from deniable.wire.spare_codes import parse_spare_codes
from deniable.wire.submission import Submission
from deniable.wire.tokens import Token, modulus_of, token_message
from deniable_server.access import invitations
from deniable_server.context import services_of
from deniable_server.store import blind_signing
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import Rate, Rates

QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
KEYS: dict[str, Any] = {"deniable": 1, "title": "T", "about": "A.", "epsilon": "ln 27", "access": "invited", "questions": QUESTIONS}
Exchange = Callable[..., TestResponse]


def invited(id_: str = "staff", **keys: Any) -> Survey:
    return Survey.from_dict({**KEYS, "id": id_, **keys})


def published(store: Store, survey: Survey) -> Survey:
    store.surveys.publish(survey)
    return store.surveys.published(survey.id).survey


@pytest.fixture
def staff(store: Store) -> Survey:
    return published(store, invited())


@pytest.fixture
def codes(store: Store, staff: Survey) -> list[bytes]:
    return [access_codes.read(code) for code in invitations.make(store, "staff", 4)]


def exchange(client: FlaskClient, code: bytes, blinded: bytes, survey: str = "staff", **headers: str) -> TestResponse:
    body = {"code": base64url(code), "blinded": base64url(blinded)}
    return client.post(f"/api/v1/surveys/{survey}/tokens", json=body, headers=headers)


def send(client: FlaskClient, sent: Submission, survey: str = "staff", **headers: str) -> TestResponse:
    url = f"/api/v1/surveys/{survey}/submissions"
    return client.post(url, data=sent.to_json(), content_type="application/json", headers=headers)


def rule(reply: TestResponse) -> tuple[int, str]:
    return reply.status_code, str(reply.get_json()["rule"])


def token_of(client: FlaskClient, survey: Survey, code: bytes) -> Token:
    drawn = draw(survey)
    reply = exchange(client, code, drawn.blinded, survey.id)
    return drawn.finish(base64.urlsafe_b64decode(reply.get_json()["signature"] + "=="))


def test_a_code_is_exchanged_for_a_signature_and_the_token_lets_one_record_in(
    client: FlaskClient, store: Store, staff: Survey, codes: list[bytes]
) -> None:
    token = token_of(client, staff, codes[0])
    assert blind_rsa.verify(modulus_of(staff.issuer), token_message(staff.digest, token.nonce), token.signature)
    first, second = (submission(staff, token=token) for _ in range(2))
    assert send(client, first).get_json() == {"accepted": 1}
    assert send(client, first).status_code == 200, "the same again"
    assert rule(send(client, second)) == (403, "invitation")
    assert store.submissions.waiting("staff")["device"] == 0, "in steps of ten"
    store.submissions.withdraw("staff", first.id)
    assert rule(send(client, second)) == (403, "invitation"), "a withdrawal does not give the token back"


def test_the_same_request_gets_the_same_reply_and_another_token_for_the_code_is_refused_like_an_unknown_code(
    client: FlaskClient, staff: Survey, codes: list[bytes]
) -> None:
    first, second = draw(staff).blinded, draw(staff).blinded
    replies = [exchange(client, codes[0], first) for _ in range(5)]
    assert len({(reply.status, tuple(reply.headers), reply.data) for reply in replies}) == 1
    assert list(replies[0].get_json()) == ["signature"]
    refused = [exchange(client, codes[0], second), exchange(client, bytes(15), second), exchange(client, bytes(15), first)]
    assert len({(reply.status, tuple(reply.headers), reply.data) for reply in refused}) == 1
    assert rule(refused[0]) == (403, "invitation")
    assert exchange(client, codes[0], first).data == replies[0].data
    assert "Set-Cookie" not in replies[0].headers
    assert replies[0].headers["RateLimit-Policy"] == refused[0].headers.get("RateLimit-Policy", replies[0].headers["RateLimit-Policy"])


def test_a_record_without_a_token_or_with_a_wrong_one_is_refused_and_uses_nothing_up(
    client: FlaskClient, store: Store, staff: Survey, codes: list[bytes]
) -> None:
    other = published(store, invited("other"))
    (elsewhere,) = (access_codes.read(code) for code in invitations.make(store, "other", 1))
    token = token_of(client, staff, codes[0])
    wrong = {
        "none": None,
        "of another survey": token_of(client, other, elsewhere),
        "by another key": by_another_key(staff),
        "another nonce": replace(token, nonce=bytes(32)),
        "another signature": replace(token, signature=bytes(255) + b"\1"),
        "above the modulus": replace(token, signature=b"\xff" * 256),
    }
    replies = {name: rule(send(client, submission(staff, token=each))) for name, each in wrong.items()}
    assert replies == dict.fromkeys(wrong, (400, "token"))
    assert rule(send(client, submission(staff, invitation=codes[1]))) == (400, "token"), "a device must not send its code"
    assert rule(send(client, submission(staff, token=token, invitation=codes[1]))) == (400, "invitation")
    assert send(client, submission(staff, token=token)).status_code == 200
    assert exchange(client, codes[1], draw(staff).blinded).status_code == 200


def by_another_key(survey: Survey) -> Token:
    drawn = replace(draw(survey.with_issuer(OTHER_ISSUER)), survey=survey.digest)
    blinded, inverse = blind_rsa.blind(modulus_of(OTHER_ISSUER), token_message(survey.digest, drawn.nonce), bytes(48), 2)
    return replace(drawn, blinded=blinded, inverse=inverse).finish(sign(blinded, by_another_key=True))


def test_the_control_a_server_that_checks_no_signature_lets_anybody_in(
    client: FlaskClient, staff: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable_server.api.submissions.is_signed", lambda *_: True)
    assert send(client, submission(staff, token=Token(os.urandom(32), bytes(256)))).status_code == 200


def test_a_survey_that_is_open_to_all_takes_neither(
    client: FlaskClient, store: Store, survey: Survey, staff: Survey, codes: list[bytes]
) -> None:
    token = token_of(client, staff, codes[0])
    assert rule(send(client, submission(survey, token=token), "study")) == (400, "token")
    assert rule(exchange(client, codes[1], draw(staff).blinded, "study")) == (400, "invitation")
    assert rule(exchange(client, codes[1], draw(staff).blinded, "none")) == (404, "survey")


@pytest.mark.parametrize("wrong", [b"\0" * 256, b"\xff" * 256, b"\1" * 255, b"\1" * 257], ids=["zero", "above", "short", "long"])
def test_a_message_that_cannot_be_signed_does_not_cost_the_code(
    wrong: bytes, client: FlaskClient, store: Store, staff: Survey, codes: list[bytes]
) -> None:
    assert rule(exchange(client, codes[0], wrong)) == (400, "blinded")
    assert exchange(client, codes[0], draw(staff).blinded).status_code == 200


def test_an_exchange_of_something_else_is_refused_by_the_name_of_the_rule(client: FlaskClient, staff: Survey, codes: list[bytes]) -> None:
    url, blinded = "/api/v1/surveys/staff/tokens", base64url(draw(staff).blinded)
    for body in ({}, {"code": "x"}, {"code": "x", "blinded": blinded, "id": "y"}, []):
        assert rule(client.post(url, json=body)) == (400, "keys")
    assert rule(client.post(url, json={"code": base64url(bytes(14)), "blinded": blinded})) == (400, "code")
    assert client.post(url, data=b"{}", content_type="text/plain").status_code == 415
    assert client.post(url, data=b"x" * 9000, content_type="application/json").status_code == 413
    assert client.get(url).status_code == 405
    assert exchange(client, codes[0], draw(staff).blinded, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert exchange(client, codes[0], draw(staff).blinded, Origin="https://elsewhere.example").status_code == 403


def test_exchanges_have_a_limit_of_their_own(app: Flask, client: FlaskClient, staff: Survey, codes: list[bytes]) -> None:
    services_of(app).get(Rates).exchanges = Rate(1, 2, lambda: 0.0)
    drawn = draw(staff)
    assert [exchange(client, codes[0], drawn.blinded).status_code for _ in range(3)] == [200, 200, 429]
    assert client.post("/api/v1/surveys/staff/invitations/check", json={"code": base64url(codes[0])}).status_code == 200


def test_a_code_sent_by_hand_and_a_code_that_was_exchanged_exclude_each_other(
    client: FlaskClient, store: Store, staff: Survey, codes: list[bytes], key: dict[str, str]
) -> None:
    by_hand = submission(staff, mode="by_hand", invitation=codes[0])
    assert send(client, by_hand, **key).status_code == 200
    assert send(client, by_hand, **key).status_code == 200
    assert rule(exchange(client, codes[0], draw(staff).blinded)) == (403, "invitation")
    assert exchange(client, codes[1], draw(staff).blinded).status_code == 200
    assert rule(send(client, submission(staff, mode="by_hand", invitation=codes[1]), **key)) == (403, "invitation")


def test_each_survey_has_a_key_of_its_own_and_the_same_file_is_the_same_survey(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [blind_signing.SigningKey(*(key.p, key.q)) for key in map(new_key, range(3))]
    monkeypatch.setattr(blind_signing.SigningKey, "generate", iter(keys).__next__)
    staff, other = published(store, invited()), published(store, invited("other"))
    third = published(store, invited("third").with_issuer(ISSUER))
    assert [each.issuer for each in (staff, other, third)] == [key.issuer for key in keys], "it cannot sign with a key of the file"
    monkeypatch.undo()
    assert not any(store.surveys.publish(again) for again in (invited(), staff, issued(invited()), invited().with_issuer(other.issuer)))
    assert store.surveys.published("staff").survey == staff


def new_key(_: int) -> blind_signing.SigningKey:
    numbers = rsa.generate_private_key(65537, 2048).private_numbers()
    return blind_signing.SigningKey(numbers.p, numbers.q)


def test_no_file_has_a_code_a_token_or_what_was_blinded(
    tmp_path: Path, client: FlaskClient, store: Store, staff: Survey, codes: list[bytes]
) -> None:
    drawn = draw(staff)
    signed = base64.urlsafe_b64decode(exchange(client, codes[0], drawn.blinded).get_json()["signature"] + "==")
    token = drawn.finish(signed)
    send(client, submission(staff, token=token))
    content = b"".join(path.read_bytes() for path in tmp_path.glob("deniable.db*"))
    secrets = (codes[0], drawn.blinded, signed, token.nonce, token.signature)
    assert not any(form in content for secret in secrets for form in (secret, secret[:16], base64url(secret).encode()))


def test_a_private_key_that_fails_says_so_and_signs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong result could reveal a factor of the modulus (a fault attack on the Chinese remainder theorem)."""
    key = new_key(0)
    power = blind_signing.SigningKey._power
    assert key.sign(b"\1" * 256) == key.sign(b"\1" * 256)
    monkeypatch.setattr(blind_signing.SigningKey, "_power", lambda self, message: power(self, message) ^ 1)
    with pytest.raises(ArithmeticError):
        key.sign(b"\1" * 256)


def test_a_key_signs_what_the_vectors_say(vectors: Callable[[str], Any]) -> None:
    for case in vectors("blind_rsa"):
        if "private_key" in case and len(case["modulus"]) == 512:
            key = blind_signing.SigningKey(*(int(case["private_key"][name], 16) for name in "pq"))
            assert key.sign(bytes.fromhex(case["blinded"])).hex() == case["blind_signature"], case["name"]


def test_a_token_lasts_until_it_is_used(client: FlaskClient, store: Store, staff: Survey, codes: list[bytes]) -> None:
    token = exchanged(store.invitations, staff, codes[0])
    store.surveys.pause("staff", True)
    assert rule(exchange(client, codes[1], draw(staff).blinded))[1] == "paused"
    assert rule(send(client, submission(staff, token=token)))[1] == "paused"
    store.surveys.pause("staff", False)
    assert send(client, submission(staff, token=token)).status_code == 200


def test_a_definition_states_codes_beyond_the_people_expected_and_only_these(client: FlaskClient, store: Store, staff: Survey) -> None:
    address = f"/api/v1/surveys/{staff.id}"
    store.invitations.add(staff.id, [bytes([n]) * 32 for n in range(1, 4)])
    assert "Deniable-Codes" not in client.get(address).headers
    store.life.keep(staff.id, Settings(expected=3))
    assert "Deniable-Codes" not in client.get(address).headers
    store.life.keep(staff.id, Settings(expected=2))
    reply = client.get(address)
    assert reply.headers["Deniable-Codes"] == "3/2"
    assert reply.data == staff.definition


@pytest.mark.parametrize(
    ("text", "counts"),
    [("3/2", (3, 2)), ("2/3", None), ("2/2", None), ("3/0", None), ("03/2", None), ("3/2 ", None), ("3", None), ("", None)],
)
def test_a_statement_of_spare_codes_is_read_strictly(text: str, counts: tuple[int, int] | None) -> None:
    assert parse_spare_codes(text) == counts
