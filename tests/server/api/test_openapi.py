"""The API's description says what the routes are and what they reply: whatever is sent, no failure and nothing that is not written there.

`make long NAME=fuzz-api` sends 2,000 requests to each operation; the suite a few.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import checks
from schemathesis.core.failures import FailureGroup
from tests.kit.issuer import base64url
from tests.kit.servers.process import PASSWORD, USER

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.access import api_keys, invitations
from deniable_server.api.openapi import document
from deniable_server.store.protocol import Store
from deniable_server.store.webhooks import ReceiverState, Webhook

CASES = int(os.environ.get("DENIABLE_API_CASES", "40"))
OPERATIONS = [(path, method) for path, item in document()["paths"].items() for method in item if method != "parameters"]
EXACT = (
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
)
WEBHOOK = Webhook("wh_0123456789abcdef", "study", "https://example.org/in", ("survey.closed",), "2026-01-01")
Make = Callable[..., Submission]


def routes(app: Flask) -> Iterator[tuple[str, str]]:
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("api."):
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                yield re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule.removeprefix("/api/v1")), method.lower()


def test_every_route_is_described_and_nothing_else(app: Flask) -> None:
    assert sorted(routes(app)) == sorted(OPERATIONS)


@pytest.mark.parametrize("endpoint", ["unheard", "v2"])
def test_a_route_that_is_not_described_is_noticed(app: Flask, endpoint: str) -> None:
    app.add_url_rule(f"/api/v1/{endpoint}", f"api.{endpoint}", lambda: "")
    assert sorted(routes(app)) != sorted(OPERATIONS)


def schemas(value: Any, place: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the description that requires keys, and where it is."""
    if isinstance(value, dict):
        if isinstance(value.get("required"), list):
            yield place, value
        for name, inner in value.items():
            yield from schemas(inner, f"{place}/{name}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from schemas(inner, f"{place}/{number}")


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from ([value["$ref"]] if isinstance(value.get("$ref"), str) else [])
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from references(inner)


def test_every_key_that_is_required_is_described() -> None:
    missing = [
        f"{place}: {name}" for place, schema in schemas(document()) for name in schema["required"] if name not in schema["properties"]
    ]
    assert missing == []


def test_every_schema_that_is_named_is_there_and_used() -> None:
    named = {f"#/components/{kind}/{name}" for kind, of in document()["components"].items() if kind != "securitySchemes" for name in of}
    assert set(references(document())) == named


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_every_operation_says_who_may_what_it_does_and_what_it_gives(path: str, method: str) -> None:
    operation = document()["paths"][path][method]
    assert {"operationId", "tags", "summary", "description", "security", "responses"} <= set(operation)
    ways = [way for way in operation["security"] if way]
    assert all(way in ({"key": []}, {"password": []}) for way in ways), "scopes belong to OAuth; those of keys are in x-key-scope"
    assert ("x-key-scope" in operation) == ({"key": []} in ways and path != "/surveys")
    assert operation.get("x-key-scope", "submit") in api_keys.OF_SURVEYS
    assert ("researchers" in operation["tags"]) == (bool(ways) and {} not in operation["security"])


def test_what_clients_are_generated_from_has_names() -> None:
    for path, name in (("", "Definition"), ("/tally", "Tally"), ("/results", "Results")):
        reply = document()["paths"][f"/surveys/{{survey_id}}{path}"]["get"]["responses"]["200"]
        assert reply["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{name}"}
    assert document()["info"]["contact"]["name"]


def test_the_page_shows_every_operation_and_every_status(client: FlaskClient) -> None:
    text = client.get("/api/v1/").text
    assert "`" not in text, "code is marked as code, not by the backticks of the description"
    assert "any key" in text
    for path, method in OPERATIONS:
        operation = document()["paths"][path][method]
        assert f"{method.upper()} {path}" in text.replace("&lt;", "<")
        section = text[text.index(f'id="{operation["operationId"]}"') :].partition("</section>")[0]
        assert [f'role="rowheader">{status}</th>' in section for status in operation["responses"]] == [True] * len(operation["responses"])
    assert client.get("/api/v1/openapi.json").get_json() == document()


@pytest.fixture
def groups(store: Store) -> Survey:
    question = {"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
    source = {"deniable": 1, "id": "groups", "title": "T", "about": "A.", "groups": ["North", "South"], "questions": [question]}
    store.surveys.publish(Survey.from_dict(source))
    return store.surveys.published("groups").survey


def check(app: Flask, store: Store, path: str, method: str, whole: list[Any]) -> set[int]:
    """Sends CASES requests, a right one and a wrong one to one operation; returns the statuses of the replies.

    Args:
        app: The server.
        store: Its store.
        path: The operation's path, as the description writes it.
        method: Its method.
        whole: Right bodies of it, with which wrong ones are mixed. The right request has the first of them.
    """
    schema = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", app)
    operation = schema[path][method]
    credentials = [
        None,
        "Bearer dk_none",
        *(f"Bearer {api_keys.make(store, scope, [scope])}" for scope in api_keys.OF_SURVEYS),
        *[f"Bearer {api_keys.make(store, 'all', list(api_keys.SCOPES))}"] * 3,
    ]
    if "webhooks" in path:  # what no key is for
        credentials[-3:] = [f"Basic {base64.b64encode(f'{USER}:{PASSWORD}'.encode()).decode()}"] * 3
    seen: set[int] = set()

    known = "staff" if path.endswith("tokens") else "study"

    @settings(max_examples=CASES, derandomize=CASES < 100, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(
        case=operation.as_strategy(),
        survey=st.sampled_from([known, "groups", None]),
        query=st.sampled_from([{}, {}, {"group": "North"}, {"by_hand": "1"}, {"form": "parquet"}, None]),
        key=st.sampled_from(credentials[::-1]),
        body=st.sampled_from([None, *whole]),
    )
    def search(case: Any, survey: str | None, query: dict[str, str] | None, key: str | None, body: Any) -> None:
        send(case, survey, query, key, body)

    def send(case: Any, survey: str | None, query: dict[str, str] | None, key: str | None, body: Any) -> None:
        if survey is not None and "{survey_id}" in path:
            case.path_parameters["survey_id"] = survey
            if "name" in case.path_parameters:
                case.path_parameters["name"] = "rows.csv"
        if "{webhook_id}" in path and survey == "study":
            store.webhooks.remove("study", WEBHOOK.id)
            store.webhooks.add(WEBHOOK, bytes(32), ReceiverState(True, False, 0))
            case.path_parameters["webhook_id"] = WEBHOOK.id
        if query is not None and method == "get":
            case.query = query
        if body is not None and method == "post":
            case.body = body
        headers = {"Accept-Encoding": "identity", **({} if key is None else {"Authorization": key})}
        response = case.call(headers=headers)
        case.validate_response(response, checks=EXACT)
        seen.add(response.status_code)

    # One right request and one to no survey without a key are made by hand: that chance finds such is not what is tested.
    for id_of, key, survey in ((known, credentials[-1], known), ("nobody-has-this", None, None)):
        values = {"survey_id": id_of, "name": "rows.csv", "webhook_id": WEBHOOK.id}
        case = operation.Case(path_parameters={name: value for name, value in values.items() if f"{{{name}}}" in path})
        body = whole[0] if whole and method == "post" else None
        case.media_type = None if body is None else "application/json"
        send(case, survey, {}, key, body)
    search()
    return seen


def exchange_of(store: Store) -> dict[str, str]:
    """What a device sends for a token: the code of a survey by invitation, and a blinded message."""
    question = {"id": "q", "text": "?", "type": "yes_no"}
    keys = {"deniable": 1, "id": "staff", "title": "T", "about": "A.", "epsilon": 1, "access": "invited", "questions": [question]}
    store.surveys.publish(Survey.from_dict(keys))
    code = access_codes.read(invitations.make(store, "staff", 1)[0])
    return {"code": base64url(code), "blinded": base64url(draw(store.surveys.published("staff").survey).blinded)}


@pytest.mark.slow
@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_whatever_is_sent_the_reply_is_one_that_is_described(
    app: Flask, store: Store, groups: Survey, submissions: Make, path: str, method: str
) -> None:
    good = [submissions(), submissions(2), submissions(to=groups, group="North"), submissions(to=groups, mode="by_hand", group="South")]
    whole: list[Any] = [json.loads(each.to_json()) for each in good] if path.endswith("submissions") else [{"code": "A" * 20}]
    with app.test_client() as client:  # so that there is something to show
        for submission in [submissions() for _ in range(20)]:
            assert (
                client.post("/api/v1/surveys/study/submissions", data=submission.to_json(), content_type="application/json").status_code
                == 200
            )
    if path.endswith("webhooks"):
        whole = [{"url": WEBHOOK.url, "events": list(WEBHOOK.events)}]
    if path.endswith("tokens"):
        whole = [exchange_of(store)]
    seen = check(app, store, path, method, whole)
    assert seen > {int(next(iter(document()["paths"][path][method]["responses"])))}  # right requests were sent, and wrong ones


@pytest.mark.slow
def test_a_reply_that_is_not_described_is_noticed(app: Flask, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(app.view_functions, "api.tally", lambda survey_id: ("", 418))
    with pytest.raises(FailureGroup) as failed:
        check(app, store, "/surveys/{survey_id}/tally", "get", [])
    assert "418" in str(failed.value.exceptions[0])
