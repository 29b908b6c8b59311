"""`GET /api/v1/surveys` lists what the account or the key may see, and nothing else; page by page, whatever happens between two pages."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.process import PASSWORD
from tests.kit.surveys import STUDY

from deniable import RejectedError, SurveyClient
from deniable.cli import main
from deniable.errors import DeliveryError
from deniable.sdk.survey_list import SurveySummary
from deniable.survey import Survey
from deniable_server.access import api_keys
from deniable_server.identity.passwords import set_password
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

URL = "/api/v1/surveys"
ADA = ("ada", PASSWORD)


def publish(store: Store, name: str, owner: str | None = None) -> Survey:
    survey = Survey.from_text(STUDY.replace("id: study", f"id: {name}").replace("A study", f"About {name}"))
    store.surveys.publish(survey, owner)
    return survey


def listed(client: FlaskClient, start: str = URL, **who: Any) -> list[str]:
    """The ids of all pages."""
    found: list[str] = []
    following: str | None = start
    while following:
        reply = client.get(following, **who)
        assert reply.status_code == 200, reply.text
        found += [each["id"] for each in reply.get_json()["surveys"]]
        link = reply.headers.get("Link")
        following = None if link is None else link.removeprefix("<").removesuffix('>; rel="next"')
        assert (reply.get_json()["next"] is None) == (following is None)
    return found


def test_each_sees_the_surveys_in_which_they_have_a_role_and_a_key_those_that_it_is_for(client: FlaskClient, store: Store) -> None:
    set_password(store.accounts, "eve", PASSWORD)
    for name, owner in (("hers", "eve"), ("shared", "ada"), ("private", "ada")):
        publish(store, name, owner)
    store.roles.grant("shared", "eve", Role.VIEWER)
    assert listed(client, auth=("eve", PASSWORD)) == ["hers", "shared"]
    assert listed(client, auth=ADA) == ["private", "shared", "study"]  # what nobody owns is the operators'
    for name, scopes, survey, seen in (
        ("all", ["submit"], None, ["hers", "private", "shared", "study"]),
        ("one", ["reports"], "private", ["private"]),
    ):
        assert listed(client, headers={"Authorization": f"Bearer {api_keys.make(store, name, scopes, survey)}"}) == seen
    other = client.get(URL, headers={"Authorization": f"Bearer {api_keys.make(store, 'prometheus', ['metrics'])}"})
    assert (other.status_code, "private" in other.text) == (403, False)
    assert client.get(URL).status_code == 401
    assert client.get(URL, auth=("eve", "wrong")).status_code == 401


def test_a_survey_is_told_with_its_state_and_its_digest(client: FlaskClient, store: Store) -> None:
    for name in ("a", "b"):
        publish(store, name)
    store.surveys.pause("a", True)
    store.surveys.set_open("b", False)
    told = {each["id"]: each for each in client.get(URL, auth=ADA).get_json()["surveys"]}
    assert {name: each["state"] for name, each in told.items()} == {"a": "paused", "b": "closed", "study": "open"}
    survey = store.surveys.published("a")
    store.tags.set_survey("a", ["ward 7", "health"])
    wave = store.studies.join("b", "a")
    told = {each["id"]: each for each in client.get(URL, auth=ADA).get_json()["surveys"]}
    assert (told["b"]["study"], told["study"]["study"], told["study"]["tags"]) == (
        {"id": wave.study, "name": "About a", "wave": 2},
        None,
        [],
    )
    assert told["a"] == {
        "id": "a",
        "title": "About a",
        "state": "paused",
        "published_on": survey.published_on,
        "digest": survey.survey.digest,
        "epsilon": survey.survey.epsilon,
        "tags": ["health", "ward 7"],
        "study": {"id": wave.study, "name": "About a", "wave": 1},
    }


def test_pages_of_any_size_make_the_same_list(client: FlaskClient, store: Store) -> None:
    names = sorted(["study", *(publish(store, name).id for name in ("a-1", "a_1", "z", "0"))])
    for limit in (1, 2, 3, 4, 5, 6, 200):
        assert listed(client, f"{URL}?limit={limit}", auth=ADA) == names, limit


def test_nothing_is_told_twice_or_left_out_where_surveys_come_and_go_between_two_pages(client: FlaskClient, store: Store) -> None:
    for name in ("b", "d", "f"):
        publish(store, name)
    first = client.get(f"{URL}?limit=2", auth=ADA)
    assert [each["id"] for each in first.get_json()["surveys"]] == ["b", "d"]
    for name in ("a", "e"):
        publish(store, name)
    set_password(store.accounts, "eve", PASSWORD)
    store.roles.grant("d", "eve", Role.OWNER)  # the last that was told is not to be seen any more
    rest = listed(client, first.headers["Link"][1:].partition(">")[0], auth=ADA)
    assert rest == ["e", "f", "study"]


def test_what_is_no_limit_and_no_cursor_is_told(client: FlaskClient) -> None:
    limits = ("0", "201", "-1", "x", "1e1", "", "²")
    cursors = ("", "x", "====", "YQ==", "w7w", base64.urlsafe_b64encode(b"A B").decode(), "A" * 5000)
    for rule, written in [*(("limit", each) for each in limits), *(("cursor", each) for each in cursors)]:
        reply = client.get(URL, query_string={rule: written}, auth=ADA)
        assert (reply.status_code, reply.get_json()["rule"]) == (400, rule), written


# The SDK and the command.


@contextmanager
def reached(app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Clients reach the application without a network; what they asked for."""
    asked: list[str] = []
    real, wsgi = httpx.Client, httpx.WSGITransport(app=app)

    class Noted(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request.url.raw_path.decode())
            return wsgi.handle_request(request)

    monkeypatch.setattr(httpx, "Client", lambda **options: real(**{**options, "transport": Noted()}))
    yield asked


@pytest.mark.slow
def test_the_client_goes_through_all_pages_as_they_are_wanted(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    surveys = [publish(store, f"s{number:03}") for number in range(120)]
    with reached(app, monkeypatch) as asked, SurveyClient("http://localhost", auth=ADA) as client:
        found = client.surveys()
        first = next(found)
        assert first == SurveySummary(
            "s000", "About s000", "open", store.surveys.published("s000").published_on, surveys[0].digest, surveys[0].epsilon
        )
        assert len(asked) == 1
        assert [each.id for each in found] == [*(survey.id for survey in surveys[1:]), "study"]
        assert len(asked) == 3


def test_the_client_says_who_may_not(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    with reached(app, monkeypatch), SurveyClient("http://localhost", auth=("ada", "wrong")) as client, pytest.raises(RejectedError):
        next(client.surveys())


GOOD = {"id": "a", "title": "T", "state": "open", "published_on": "2026-01-01", "digest": "0" * 64, "epsilon": 1.5}


WRONG: list[tuple[str, Any]] = [
    *(("id", "../x"), ("id", 1), ("title", "a\x1b[2J"), ("title", None), ("state", "gone")),
    *(("published_on", "soon"), ("digest", "x"), ("epsilon", "1"), ("epsilon", -1)),
]


@pytest.mark.parametrize(
    "reply",
    [
        *("[]", "{}", '{"surveys": [], "next": 1}', '{"surveys": {}, "next": null}', "[" * 5000),
        *(json.dumps({"surveys": [{**GOOD, key: wrong}], "next": None}) for key, wrong in WRONG),
        json.dumps({"surveys": [GOOD, GOOD], "next": None}),
        json.dumps({"surveys": [GOOD], "next": "again"}),
    ],
)
def test_a_reply_that_is_no_list_is_refused(reply: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, mock = httpx.Client, httpx.MockTransport(lambda _: httpx.Response(200, stream=httpx.ByteStream(reply.encode())))
    monkeypatch.setattr(httpx, "Client", lambda **options: real(**{**options, "transport": mock}))
    with SurveyClient("http://localhost", auth=ADA) as client, pytest.raises(DeliveryError, match="did not answer with a list of surveys"):
        list(client.surveys())


def test_the_command_prints_a_line_a_survey_or_json(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store, "b")
    store.surveys.set_open("b", False)
    run: Callable[..., Any] = CliRunner().invoke
    who = ["--user", "ada", "--password-env", "P"]
    with reached(app, monkeypatch):
        lines = run(main, ["surveys", "http://localhost", *who], env={"P": PASSWORD})
        assert (lines.exit_code, lines.stdout) == (0, "b\tclosed\tAbout b\nstudy\topen\tA study\n")
        told = json.loads(run(main, ["surveys", "http://localhost", *who, "--json"], env={"P": PASSWORD}).stdout)
        assert [each["id"] for each in told] == ["b", "study"]
        assert set(told[0]) == set(GOOD)
        key = api_keys.make(store, "reader", ["results"], "b")
        assert run(main, ["surveys", "http://localhost"], env={"DENIABLE_KEY": key}).stdout == "b\tclosed\tAbout b\n"
        assert run(main, ["surveys", "http://localhost"]).exit_code == 2
