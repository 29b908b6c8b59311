"""Keys of a survey on its page: made by owners, shown once, for this survey alone, and revoked."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from deniable.survey import Survey
from deniable_server.access import api_keys
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

PATH = "/manage/surveys/hers/keys"


@pytest.fixture
def eve(app: Flask, logged_in: Callable[..., FlaskClient], store: Store, survey: Survey) -> FlaskClient:
    """She owns a survey."""
    client = logged_in(app, "eve")
    store.surveys.publish(Survey.from_dict({**survey.to_dict(), "id": "hers"}), "eve")
    return client


def send(client: FlaskClient, path: str, **fields: object) -> TestResponse:
    token = html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', client.get("/manage").text)[0])
    return client.post(path, data={"csrf_token": token, **fields})


def status(client: FlaskClient, key: str, survey: str, path: str) -> int:
    return client.get(f"/api/v1/surveys/{survey}/{path}", headers={"Authorization": f"Bearer {key}"}).status_code


@pytest.mark.slow
@pytest.mark.parametrize("scopes", [["submit"], ["results"], ["reports"], list(api_keys.OF_SURVEYS)])
def test_a_key_is_for_what_was_ticked_in_this_survey_until_it_is_revoked(
    eve: FlaskClient, client: FlaskClient, store: Store, scopes: list[str]
) -> None:
    page = send(eve, PATH, name="lab", scopes=scopes).text
    (key,) = set(re.findall(r"dk_[A-Za-z0-9_-]{43}", page))
    assert [(made.scopes, made.survey) for made in store.accounts.all_keys()] == [(tuple(scopes), "hers")]
    assert [status(client, key, "hers", path) for path in ("results", "reports")] == [
        200 if path in scopes else 403 for path in ("results", "reports")
    ]
    assert status(client, key, "study", "results") == 403
    assert key not in eve.get(PATH).text  # shown once
    assert "lab" in eve.get(PATH).text
    assert send(eve, f"{PATH}/revoke", name="lab", sure="1").status_code == 302
    assert status(client, key, "hers", "results") == 401


def test_browsers_are_told_to_want_a_name_and_not_every_box(eve: FlaskClient) -> None:
    required = re.findall(r"<input[^>]* required [^>]*>", eve.get(PATH).text)
    assert [re.findall(r'name="(\w+)"', field) for field in required] == [["name"]]


def test_the_overview_has_the_keys_of_surveys_that_one_owns_and_no_others(eve: FlaskClient, store: Store) -> None:
    for name, survey in (("one-of-hers", "hers"), ("of-study", "study"), ("of-all", None)):
        api_keys.make(store, name, ["results"], survey)
    store.accounts.set_password("ada", "hash")
    store.roles.grant("study", "ada", Role.OWNER)
    store.roles.grant("study", "eve", Role.EDITOR)
    page = eve.get("/manage/keys").text
    assert [name in page for name in ("one-of-hers", PATH, "of-study", "of-all", "/manage/surveys/study")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_an_owner_revokes_keys_of_the_survey_alone(eve: FlaskClient, store: Store) -> None:
    api_keys.make(store, "all-of-them", ["results"])
    api_keys.make(store, "study", ["results"], "study")
    for name in ("all-of-them", "study", "nothing", ""):
        assert send(eve, f"{PATH}/revoke", name=name, sure="1").status_code == 302
    assert [key.name for key in store.accounts.all_keys()] == ["all-of-them", "study"]
    page = eve.get(PATH).text
    assert "all-of-them" not in page
    assert ">study<" not in page


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "", "scopes": ["submit"]}, "Enter a name"),
        ({"name": "lab"}, "Choose at least one scope"),
        ({"name": "lab", "scopes": ["manage everything"]}, "not a valid choice"),
        ({"name": "taken", "scopes": ["submit"]}, "Another key has this name"),
        ({"name": "a\u202eb", "scopes": ["submit"]}, "printable"),
    ],
)
def test_what_makes_no_key_is_told(eve: FlaskClient, store: Store, fields: dict[str, object], told: str) -> None:
    api_keys.make(store, "taken", ["results"])
    reply = send(eve, PATH, **fields)
    assert (reply.status_code, told in reply.text) == (422, True), reply.text
    assert len(store.accounts.all_keys()) == 1
