"""Anybody sends one record; many need a key. And nobody's page sends anything in a visitor's name."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import tally_of
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.config import make_key
from deniable_server.context import services_of
from deniable_server.operate.cli import main
from deniable_server.store.errors import ConflictError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import Rate, Rates

Make = Callable[..., Submission]
URL = "/api/v1/surveys/study/submissions"


def send(client: FlaskClient, body: bytes, key: str | None = None, url: str = URL, **headers: str) -> TestResponse:
    sent = {"Content-Type": "application/json", **headers, **({} if key is None else {"Authorization": f"Bearer {key}"})}
    return client.post(url, data=body, headers=sent)


def message(reply: TestResponse) -> str:
    return str(reply.get_json()["detail"])


@pytest.fixture
def other(store: Store, survey: Survey) -> Survey:
    """Another survey with the same questions."""
    copy = Survey.from_dict({**survey.to_dict(), "id": "other"})
    store.surveys.publish(copy)
    return copy


# Many records need a key.


@pytest.mark.parametrize("count", [2, 10, 100, 100_000])
def test_a_strangers_submission_of_many_records_is_refused_and_says_how_to_get_a_key(
    client: FlaskClient, store: Store, submissions: Make, count: int
) -> None:
    reply = send(client, submissions(count).to_json())
    assert reply.status_code == 401
    assert reply.headers["WWW-Authenticate"].startswith("Bearer")
    assert "without a key with the scope submit" in message(reply)
    assert "deniable-server key make --scope submit" in message(reply)
    assert tally_of(store, "study").n == 0


def test_a_large_body_is_refused_before_it_is_read(client: FlaskClient, submissions: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Submission, "from_json", lambda body: pytest.fail("it was parsed"))
    for body in (submissions(1000).to_json(), b"[" * 100_000, b" " * 100_000):
        assert send(client, body).status_code == 401


def test_one_record_needs_no_key_however_large_and_odd_its_survey_is(client: FlaskClient, store: Store, submissions: Make) -> None:
    groups = ["𝔊" * 60, '"' * 60, "North"]
    wide = [{"id": f"q{n}", "text": "?", "type": "yes_no"} for n in range(1000)]
    for number, questions in enumerate((wide, wide[:1])):
        keys_ = {"deniable": 1, "id": f"odd{number}", "title": "T", "about": "A.", "epsilon": 8, "groups": groups, "questions": questions}
        odd = Survey.from_dict(keys_)
        store.surveys.publish(odd)
        for group in groups:
            envelope = json.loads(submissions(to=odd, group=group).to_json())
            for body in (json.dumps(envelope), json.dumps(envelope, ensure_ascii=False)):  # every character escaped, and none
                assert send(client, body.encode(), url=f"/api/v1/surveys/odd{number}/submissions").status_code == 200


def test_a_key_opens_its_survey_its_scope_and_nothing_else(
    client: FlaskClient, store: Store, survey: Survey, other: Survey, submissions: Make
) -> None:
    everywhere, here, reader = (
        api_keys.make(store, "everywhere", ["submit"]),
        api_keys.make(store, "here", ["submit"], "study"),
        api_keys.make(store, "reader", ["results"]),
    )

    def statuses(key: str) -> list[int]:
        found = []
        for to in (survey, other):
            url = f"/api/v1/surveys/{to.id}"
            found += [send(client, submissions(3, to=to).to_json(), key, f"{url}/submissions").status_code]
            found += [client.get(f"{url}/results", headers={"Authorization": f"Bearer {key}"}).status_code]
        return found

    assert statuses(everywhere) == [200, 403, 200, 403]
    assert statuses(here) == [200, 403, 403, 403]
    assert statuses(reader) == [403, 200, 403, 200]
    assert [tally_of(store, to.id).n for to in (survey, other)] == [6, 3]


WRONG_KEYS = ["", "dk_", "dk_" + "A" * 43, "A" * 43, "dk_" + "ä" * 43, "null", "dk_" + "A" * 5000]


@pytest.mark.parametrize("wrong", WRONG_KEYS)
def test_what_is_no_key_is_refused_even_for_one_record_and_not_repeated(client: FlaskClient, submissions: Make, wrong: str) -> None:
    for count in (1, 3):
        reply = send(client, submissions(count).to_json(), wrong.encode().decode("latin-1"))
        assert reply.status_code == 401
        assert len(wrong) < 5 or wrong not in reply.text
        assert reply.headers["WWW-Authenticate"] == "Bearer realm=deniable, error=invalid_token"


def test_a_revoked_key_opens_nothing_from_now_on(client: FlaskClient, store: Store, submissions: Make) -> None:
    key = api_keys.make(store, "lab", ["submit"])
    assert send(client, submissions(3).to_json(), key).status_code == 200
    assert store.accounts.remove_key("lab")
    assert send(client, submissions(3).to_json(), key).status_code == 401


def test_only_a_hash_of_a_key_is_on_the_disk_and_no_log_has_it(
    client: FlaskClient, store: Store, submissions: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    key = api_keys.make(store, "lab", ["submit", "results"])
    assert re.fullmatch(r"dk_[A-Za-z0-9_-]{43}", key)
    assert len(base64.urlsafe_b64decode(key[3:] + "=")) == 32
    send(client, submissions(3).to_json(), key)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store.submissions, "add", lambda *_: 1 / 0)
        assert send(client, submissions(3).to_json(), key).status_code == 500
    for file in tmp_path.glob("deniable.db*"):
        assert key.encode() not in file.read_bytes()
        assert key[3:].encode() not in file.read_bytes()
    assert key not in caplog.text
    assert "ZeroDivisionError" in caplog.text  # the log was looked at


def test_a_key_that_is_made_twice_is_two_and_a_name_is_one_keys(store: Store) -> None:
    assert api_keys.make(store, "a", ["submit"]) != api_keys.make(store, "b", ["submit"])
    with pytest.raises(ConflictError, match="a key with this name exists"):
        api_keys.make(store, "a", ["results"])
    with pytest.raises(UnknownSurveyError):
        api_keys.make(store, "c", ["submit"], "nothing")
    for name, scopes in (("", ["submit"]), ("x" * 65, ["submit"]), ("a\n", ["submit"]), ("d", []), ("d", ["everything"])):
        with pytest.raises(ValueError, match="must be"):
            api_keys.make(store, name, scopes)
    assert [key.name for key in store.accounts.all_keys()] == ["a", "b"]


# The command.


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Callable[..., Result]:
    make_key(tmp_path / "deniable.db.key")

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["key", words[0], "--db", str(tmp_path / "deniable.db"), *words[1:]])

    return run


def test_the_command_makes_lists_and_revokes_keys(run: Callable[..., Result], client: FlaskClient, submissions: Make) -> None:
    made = run("make", "--scope", "submit", "--scope", "results", "--name", "lab", "--survey", "study")
    assert made.stdout.count("\n") == 1
    key = made.stdout.strip()
    assert "Nobody can print it again" in made.stderr
    assert key not in made.stderr
    assert send(client, submissions(3).to_json(), key).status_code == 200
    listed = run("list").stdout
    assert re.fullmatch(r"lab\tsubmit,results\tstudy\t\d{4}-\d\d-\d\d\n", listed)
    assert run("make", "--scope", "submit", "--name", "lab").exit_code == 1
    assert run("make", "--scope", "everything", "--name", "x").exit_code == 2
    assert run("make", "--name", "x").exit_code == 2
    assert run("make", "--scope", "submit", "--name", "x", "--survey", "nothing").exit_code == 1
    assert run("revoke", "lab").exit_code == 0
    assert run("revoke", "lab").exit_code == 1
    assert run("list").stdout == ""
    assert send(client, submissions(3).to_json(), key).status_code == 401


# What the request must look like.

TYPES = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/json5", "text/json"]


@pytest.mark.slow
@pytest.mark.parametrize("path", ["submissions", "withdrawals"])
@pytest.mark.parametrize("kind", TYPES)
def test_what_is_not_json_is_refused(client: FlaskClient, store: Store, submissions: Make, path: str, kind: str) -> None:
    url = f"/api/v1/surveys/study/{path}"
    assert send(client, submissions().to_json(), url=url, **{"Content-Type": kind}).status_code == 415
    assert tally_of(store, "study").n == 0


def test_json_may_name_its_encoding(client: FlaskClient, submissions: Make) -> None:
    assert send(client, submissions().to_json(), **{"Content-Type": "application/json; charset=utf-8"}).status_code == 200


PASSES: list[dict[str, str]] = [
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "null"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "http://localhost"},
    {"Origin": "https://survey.test"},  # the public address
]
FAILS: list[dict[str, str]] = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://other.localhost"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": ""},
    {"Sec-Fetch-Site": "anything"},
    {"Origin": "https://evil.test"},
    {"Origin": "http://localhost:8001"},
    {"Origin": "http://localhost.evil.test"},
    {"Origin": "http://localhost@evil.test"},
    {"Origin": "file://"},
    {"Origin": ""},
]
OF_FORMS = ["/s/study/by-hand", "/s/study/withdraw"]


@pytest.fixture
def public(tmp_path: Path, store: Store) -> FlaskClient:
    """Of a server whose public address is https://survey.test."""
    return create_app(Config(tmp_path / "deniable.db", "x" * 40, "https://survey.test"), store).test_client()


@pytest.mark.parametrize("headers", PASSES)
def test_a_program_and_the_servers_own_page_may_send(public: FlaskClient, submissions: Make, headers: dict[str, str]) -> None:
    assert send(public, submissions().to_json(), **headers).status_code == 200


@pytest.mark.parametrize("headers", [*FAILS, {"Origin": "null"}])
def test_another_sites_page_may_not_send_with_a_key_or_without(
    public: FlaskClient, store: Store, submissions: Make, headers: dict[str, str]
) -> None:
    key = api_keys.make(store, "lab", ["submit"])
    assert send(public, submissions().to_json(), **headers).status_code == 403
    assert send(public, submissions(3).to_json(), key, **headers).status_code == 403
    assert send(public, b"{}", url=URL.replace("submissions", "withdrawals"), **headers).status_code == 403
    forms = [public.post(path, headers=headers).status_code for path in OF_FORMS]
    assert (forms == [403, 403]) == (headers != {"Origin": "null"})
    assert tally_of(store, "study").n == 0


@pytest.mark.parametrize("headers", [*PASSES, {"Origin": "null"}])
def test_the_forms_of_respondents_may_be_sent_from_their_own_page(public: FlaskClient, headers: dict[str, str]) -> None:
    """A browser that knows no Sec-Fetch-Site says `Origin: null` for a form whose page asks for no referrer, as ours do."""
    assert 403 not in [public.post(path, headers=headers).status_code for path in OF_FORMS]


# How many in all.


def test_beyond_the_limit_in_all_strangers_are_told_to_come_back_and_key_holders_are_not(
    app: Flask, client: FlaskClient, store: Store, submissions: Make, key: dict[str, str]
) -> None:
    services_of(app).get(Rates).submissions = Rate(3, 3, clock=lambda: 0.0)
    replies = [send(client, submissions().to_json()) for _ in range(5)]
    assert [reply.status_code for reply in replies] == [200] * 3 + [429] * 2
    assert replies[-1].headers["Retry-After"] == "1"
    assert replies[-1].get_json()["rule"] == "later"
    assert send(client, submissions(7).to_json(), **key).status_code == 200
    release_people(store)
    assert tally_of(store, "study").n == 10
    assert client.get("/s/study").status_code == 200


@pytest.mark.parametrize("wrong", [0, -1])
def test_the_limit_in_all_is_a_number_above_zero(tmp_path: Path, wrong: int) -> None:
    with pytest.raises(ValueError, match="most_per_second must be at least 1"):
        Config(tmp_path / "db", "x" * 40, most_per_second=wrong)


def test_serve_takes_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    make_key(tmp_path / "deniable.db.key")
    seen: list[Any] = []
    monkeypatch.setattr("deniable_server.operate.serve.serve", lambda *given: seen.append(given))
    command = ["serve", "--db", str(tmp_path / "deniable.db")]
    for words, most in (([], 2000), (["--most-per-second", "50"], 50)):
        assert CliRunner().invoke(main, [*command, *words]).exit_code == 0
        assert seen.pop()[0].most_per_second == most
    assert CliRunner().invoke(main, [*command, "--most-per-second", "0"]).exit_code == 2


def test_a_program_that_has_to_wait_with_a_password_is_pointed_to_keys(client: FlaskClient) -> None:
    replies = [client.get("/api/v1/surveys/study/results", auth=("ada", "a wrong password")) for _ in range(6)]
    assert [reply.status_code for reply in replies] == [401] * 5 + [429]
    assert "A program that sends a key in place of a password does not wait." in replies[-1].get_json()["detail"]
