"""Public pages come from a cache, and nobody can tell: each reply is the one that Flask gives to the same visitor, whoever came before."""

from __future__ import annotations

import asyncio
import gzip
import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask, request, request_started, template_rendered
from flask.testing import FlaskClient
from tests.kit.patience import PATIENCE
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable.wire.spare_codes import HEADER
from deniable_server.access import invitations
from deniable_server.api.submissions import DirectSubmissions
from deniable_server.context import services_of
from deniable_server.front import Front, public_pages
from deniable_server.respondents import by_hand
from deniable_server.store.errors import UnavailableError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.web import page_cache
from deniable_server.web.lanes import READING, Lane, lane_of_endpoint
from deniable_server.web.languages import PageLanguages

Reply = tuple[int, list[tuple[str, str]], bytes]
Headers = dict[str, str]
CODE = re.compile(rb'value="[0-9A-Z]{4}(-[0-9A-Z]{4}){6}"')
LABELS = ["North & South", 'A <b> "x"', "Ost"]
KEYS: dict[str, Any] = {
    "deniable": 1,
    "id": "coins",
    "title": "A <b>bold</b> study",
    "about": "Who asks, and why.",
    "closed": "Write to us: https://example.org/x",
    "epsilon": "ln 9",
    "batch": 1,
    "accept_small_batches": True,
    "groups": LABELS,
    "questions": [{"id": "a", "text": "Did you cheat?", "type": "yes_no"}, {"id": "b", "text": "Again?", "type": "yes_no"}],
    "translations": {"de": {"title": "Eine Studie", "questions": {"a": {"text": "Gemogelt?"}}}, "sw": {"title": "Utafiti"}},
}
INVITED = {key: value for key, value in KEYS.items() if key != "groups"}
INVITED |= {"id": "codes", "access": "invited", "language": "sw", "translations": {"de": {"title": "Eine Studie"}}}
PAGES = ("", "/definition", "/by-hand", "/kiosk", "/withdraw")
PATHS = (
    *(f"/s/{survey}{page}" for survey in ("coins", "codes", "study", "none") for page in PAGES),
    *(f"/api/v1/surveys/{survey}{page}" for survey in ("coins", "codes", "none") for page in ("", "/groups")),
    *("/privacy", "/accessibility", "/logo", "/browser/respond.mjs", "/static/respond.css", "/browser/none.mjs"),
)
QUERIES = ("", "?lang=de", "?lang=sw", "?lang=xx", "?lang=ar&lang=de", "?x=1", "?lang=%FF", "?%6Cang=de")
GROUPS = (
    "?group=ost",
    "?group=Ost&lang=de",
    "?lang=de&group=Ost",
    "?group=North+%26+South",
    "?group=%22%3E%3Cxss%3E",
    "?group=a%20%3Cb%3E%20%22x%22",
)
LANGUAGES = ("", "de", "sw, fr;q=0.5", "pt-BR, en;q=0.3", "de;q=0, es", "*", "x" * 300, "ar")
ENCODINGS = ("", "gzip, br", "gzip;q=0", "*", "identity")


class Scope:
    """The head of a request, as granian gives it."""

    http_version = "1.1"

    def __init__(self, path: str, headers: Headers, method: str = "GET") -> None:
        self.method, (self.path, _, self.query_string) = method, path.partition("?")
        self.headers: Any = type("Headers", (), {"items": lambda _: list(headers.items())})()


class Proto:
    """Where a reply goes to; a request's body, if it has one."""

    def __init__(self, body: bytes = b"") -> None:
        self.body = body
        self.reply: Reply | None = None

    async def __call__(self) -> bytes:
        return self.body

    async def __aiter__(self) -> Any:
        yield self.body

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        assert self.reply is None
        self.reply = status, sorted(headers), body


async def asked(front: Front, path: str, headers: Headers | None = None, method: str = "GET", body: bytes = b"") -> Reply:
    proto: Any = Proto(body)
    scope: Any = Scope(path, headers or {}, method)
    await front.__rsgi__(scope, proto)
    reply: Reply = proto.reply
    return reply


async def asked_at_once(front: Front, paths: list[str]) -> list[Reply]:
    return await asyncio.gather(*(asked(front, path, {"cookie": f"a={number}"}) for number, path in enumerate(paths)))


def ask(front: Front, path: str, headers: Headers | None = None, method: str = "GET", body: bytes = b"") -> Reply:
    return asyncio.run(asked(front, path, headers, method, body))


def plain(reply: Reply) -> tuple[int, list[tuple[str, str]], bytes]:
    """A reply whose code, which is its own, is left out."""
    status, headers, body = reply
    return status, sorted(headers), CODE.sub(b"CODE", body)


def of_flask(client: FlaskClient, path: str, headers: Headers, method: str) -> Reply:
    reply = client.open(path, method=method, headers=headers)
    return reply.status_code, reply.headers.to_wsgi_list(), reply.data


@pytest.fixture
def surveys(store: Store) -> None:
    for keys in (KEYS, INVITED):
        store.surveys.publish(Survey.from_dict(keys))


@pytest.fixture
def front(app: Flask, surveys: None, monkeypatch: pytest.MonkeyPatch) -> Front:
    monkeypatch.setattr(public_pages, "PAUSE", 0.0)  # no test waits for it
    return Front(app, services_of(app).get(DirectSubmissions), "localhost", 8000)


@contextmanager
def renders(app: Flask) -> Iterator[list[str]]:
    """The templates that are rendered meanwhile."""
    names: list[str] = []

    def note(_: Flask, template: Any, **__: Any) -> None:
        names.append(template.name)

    with template_rendered.connected_to(note, app):
        yield names


def visits(seed: int, count: int) -> list[tuple[str, Headers, str]]:
    """Requests of visitors whose languages, encodings, cookies and queries differ, in any order: each path among them, and others."""
    draw = random.Random(seed)
    paths = [*PATHS, *draw.choices(PATHS[:10], k=count)]
    draw.shuffle(paths)
    requests = []
    for number, path in enumerate(paths):
        languages, encodings = draw.choice(LANGUAGES), draw.choice(ENCODINGS)
        headers = {
            "Accept-Language": languages,
            "Accept-Encoding": encodings,
            "Cookie": f"deniable=visitor{number}",
            "User-Agent": f"n{number}",
        }
        query = draw.choice([*QUERIES, *(GROUPS if path.endswith("by-hand") else ())])
        requests.append((path + query, headers, draw.choice(["GET", "GET", "GET", "HEAD"])))
    return requests


def differences(front: Front, client: FlaskClient, seed: int, count: int = 60) -> list[str]:
    """The requests whose reply is not the one of Flask, to the last header."""
    wrong = []
    for path, headers, method in visits(seed, count):
        front_headers = {name.lower(): value for name, value in headers.items()}
        if plain(ask(front, path, front_headers, method)) != plain(of_flask(client, path, headers, method)):
            wrong.append(f"{method} {path} {headers}")
    return wrong


def opening(at: str, zone: str) -> Callable[[Store, str], object]:
    return lambda store, survey: store.life.keep(survey, Settings(opens_at=f"2999-01-01T{at}Z", zone=zone, expected=2))


STATES: dict[str, Callable[[Store, str], object]] = {
    "paused": lambda store, survey: store.surveys.pause(survey, True),
    "goes on": lambda store, survey: store.surveys.pause(survey, False),
    "not open yet": opening("10:00", "Europe/Berlin"),
    "an hour later": opening("11:00", "Europe/Berlin"),
    "in another zone": opening("11:00", "Asia/Tokyo"),
    "over": lambda store, survey: store.life.keep(survey, Settings(closes_at="2001-01-01T10:00Z", expected=2)),
    "open again": lambda store, survey: store.life.keep(survey, Settings(expected=2)),
    "closed": lambda store, survey: store.surveys.set_open(survey, False),
}


def test_each_reply_is_that_of_the_application_in_each_state_and_language(front: Front, client: FlaskClient, store: Store) -> None:
    assert differences(front, client, 0) == []
    for seed, (state, change) in enumerate(STATES.items()):
        for survey in ("coins", "codes"):
            change(store, survey)
        assert differences(front, client, seed + 1, 40) == [], state
    store.surveys.set_open("coins", True)
    assert differences(front, client, 99, 40) == []


def test_codes_and_quotas_are_live(front: Front, client: FlaskClient, store: Store) -> None:
    store.life.keep("codes", Settings(expected=2))
    for _ in range(2):
        invitations.make(store, "codes", 3)
        (_, headers, _), definition = ask(front, "/api/v1/surveys/codes"), client.get("/api/v1/surveys/codes")
        assert dict(headers)[HEADER] == definition.headers[HEADER]
        assert plain(ask(front, "/s/codes/by-hand")) == plain(of_flask(client, "/s/codes/by-hand", {}, "GET"))
    full = '{"full":["Ost"]}'
    assert full not in ask(front, "/api/v1/surveys/coins/groups")[2].decode()
    store.life.set_quotas("coins", {"Ost": 10})
    survey = store.surveys.published("coins").survey
    for _ in range(10):
        store.submissions.add("coins", submission(survey, group="Ost"))
    assert full in ask(front, "/api/v1/surveys/coins/groups")[2].decode().replace(" ", "")


@pytest.mark.parametrize(("field", "value"), [("page", "en"), ("survey", "en"), ("address", None)])
def test_the_control_a_cache_that_ignores_a_language_is_found_out(
    front: Front, client: FlaskClient, monkeypatch: pytest.MonkeyPatch, field: str, value: str | None
) -> None:
    def ignorant(path: str, languages: Any, state: Any) -> page_cache.PageKey:
        return page_cache.PageKey(path, languages and languages._replace(**{field: value}), state)

    monkeypatch.setattr(public_pages, "PageKey", ignorant)
    assert any(differences(front, client, seed) for seed in range(3))


@pytest.mark.parametrize("field", ["state", "opens_at", "zone", "spare"])
def test_the_control_a_cache_that_ignores_a_state_is_found_out(
    front: Front, client: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch, field: str
) -> None:
    relevant, values = page_cache.CacheableView.relevant, dict[str, Any]({field: None})

    def ignorant(view: page_cache.CacheableView, state: page_cache.PageState | None) -> page_cache.PageState | None:
        return (rest := relevant(view, state)) and rest._replace(**values)

    monkeypatch.setattr(page_cache.CacheableView, "relevant", ignorant)
    for change in (lambda *_: None, *STATES.values()):
        change(store, "codes")
        if any(plain(ask(front, path)) != plain(of_flask(client, path, {}, "GET")) for path in ("/s/codes", "/s/codes/by-hand")):
            return
        invitations.make(store, "codes", 3)
    pytest.fail("a reply of an earlier state was not noticed")


# How often pages are rendered.


def test_a_page_is_rendered_once_for_all_visitors_of_a_state_and_language(app: Flask, front: Front, store: Store) -> None:
    strangers = [{"cookie": f"deniable={n}", "accept-encoding": ("gzip", "br")[n % 2], "host": f"h{n}"} for n in range(20)]
    paths = {"/s/coins/definition": "definition", "/s/coins": "survey", "/s/coins/by-hand": "by_hand", "/privacy": "privacy"}
    with renders(app) as names:
        for path, name in paths.items():
            for number, headers in enumerate(strangers):
                assert ask(front, f"{path}?x={number}", headers)[0] == 200
            assert names.count(f"respondents/{name}.html") == 1, path
            ask(front, path, {"accept-language": "de-AT, de;q=0.9"})
            ask(front, f"{path}?lang=de", {"accept-language": "de"})
            assert names.count(f"respondents/{name}.html") == 3  # a named language is in the links, too
        for change, name in (("paused", "closed"), ("goes on", "survey"), ("not open yet", "closed"), ("closed", "closed")):
            before = names.count(f"respondents/{name}.html")
            STATES[change](store, "coins")
            for headers in strangers:
                ask(front, "/s/coins", headers)
            assert names.count(f"respondents/{name}.html") == before + (change != "goes on"), change


def test_eight_at_once_render_once_and_share_a_reading(app: Flask, front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[set[str]] = []
    read = front._pages._surveys._read

    def counted(ids: Any) -> Any:
        readings.append(set(ids))
        return read(ids)

    monkeypatch.setattr(front._pages._surveys, "_read", counted)
    with renders(app) as names:
        replies = asyncio.run(asked_at_once(front, ["/s/coins/definition", "/s/codes"] * 4))
        assert [status for status, _, _ in replies] == [200] * 8
    assert sorted(names) == ["respondents/definition.html", "respondents/survey.html"]
    assert readings == [{"coins", "codes"}]


def test_the_control_without_the_cache_eight_render_eight_times(app: Flask, front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front._pages._pages, "add", lambda *_: None)
    with renders(app) as names:
        asyncio.run(asked_at_once(front, ["/s/coins/definition"] * 8))
    assert len(names) == 8


def test_a_reading_begins_after_its_request_arrived(front: Front, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(front, "/s/coins")[0] == 200  # so that the open page is in the cache
    read, has_read, may_return = front._pages._surveys._read, threading.Event(), threading.Event()

    def slow(ids: Any) -> Any:
        states = read(ids)
        has_read.set()
        assert may_return.wait(PATIENCE)
        return states

    async def closed_during_a_reading() -> Reply:
        first = asyncio.ensure_future(asked(front, "/s/coins"))
        while not has_read.is_set():
            await asyncio.sleep(0.001)
        store.surveys.set_open("coins", False)
        second = asyncio.ensure_future(asked(front, "/s/coins"))
        for _ in range(10):
            await asyncio.sleep(0)
        may_return.set()
        await first
        return await second

    monkeypatch.setattr(front._pages._surveys, "_read", slow)
    assert b'<section id="closed">' in asyncio.run(closed_during_a_reading())[2]


# What is kept, and what is not.


def test_nothing_of_a_visitor_is_in_the_request_that_renders(app: Flask, front: Front) -> None:
    environs: list[str] = []

    def note(*_: Any, **__: Any) -> None:
        if page_cache.RENDERING in request.environ:
            environs.append(repr(request.environ))

    marks = {name: f"mark-{name}" for name in ("cookie", "user-agent", "host", "referer", "authorization", "x-forwarded-for", "forwarded")}
    headers = {**marks, "accept-language": "mark-language, de", "accept-encoding": "mark-encoding"}
    with request_started.connected_to(note, app):
        for path in PATHS:
            ask(front, f"{path}?mark=query&lang=mark&group=mark", headers)
    assert len(environs) > 12
    assert not [environ for environ in environs if "mark" in environ]


def test_each_visitor_has_a_secret_of_its_own(front: Front) -> None:
    forms = [ask(front, "/s/coins/by-hand")[2] for _ in range(20)]
    codes = [code[0] for form in forms if (code := CODE.search(form))]
    assert len(set(codes)) == 20
    assert not [form for form in forms if by_hand._PLACEHOLDER.encode() in form]


@pytest.mark.parametrize("part", [b'<form method="post" action="/p"', by_hand._PLACEHOLDER.encode()], ids=["address", "secret"])
def test_a_form_in_which_a_part_is_not_there_once_is_not_served(part: bytes) -> None:
    facts = page_cache.SurveyFacts("en", ("en",), ())
    languages: Any = PageLanguages("en", "en", None)
    page = f'<form method="post" action="/p"><input value="{by_hand._PLACEHOLDER}">'.encode() + by_hand._QUESTIONS
    assert b"/p" in by_hand._fill(page, "/p", {}, languages, facts)  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        by_hand._fill(page.replace(part, part + part), "/p", {}, languages, facts)  # type: ignore[arg-type]
    with pytest.raises(LookupError):
        by_hand._fill(page.replace(part, b""), "/p", {}, languages, facts)  # type: ignore[arg-type]


def test_an_error_is_not_cached(front: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: str) -> Any:
        raise UnavailableError("the database is away")

    with monkeypatch.context() as patch:
        patch.setattr(page_cache, "published", failing)
        assert ask(front, "/s/coins")[0] == 503
    assert ask(front, "/s/coins")[0] == 200


def test_a_database_that_cannot_be_read_is_an_error_of_the_application(front: Front, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise UnavailableError("the database is away")

    assert ask(front, "/s/coins")[0] == 200
    monkeypatch.setattr(store.surveys, "headings", failing)
    monkeypatch.setattr(store.surveys, "published", failing)
    status, _, body = ask(front, "/s/coins")
    assert (status, b"The server cannot do this now" in body) == (503, True)
    assert ask(front, "/privacy")[0] == 200


def test_a_page_of_another_state_than_its_key_is_not_cached(front: Front, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    published = page_cache.published

    def closing(survey_id: str) -> Any:
        store.surveys.set_open(survey_id, False)  # between the reading and the view
        return published(survey_id)

    with monkeypatch.context() as patch:
        patch.setattr(page_cache, "published", closing)
        assert b'<section id="closed">' in ask(front, "/s/coins")[2]
    store.surveys.set_open("coins", True)
    assert b'<section id="closed">' not in ask(front, "/s/coins")[2]


def test_large_pages_without_compression_are_the_same_bytes(front: Front, client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_pages, "INLINE_BYTES", 1000)
    for path in ("/s/coins/definition", "/s/coins/by-hand", "/browser/respond.mjs"):
        assert plain(ask(front, path)) == plain(of_flask(client, path, {}, "GET"))
        assert gzip.decompress(ask(front, "/s/coins/definition", {"accept-encoding": "gzip"})[2]) == client.get("/s/coins/definition").data


def test_a_body_is_read_and_ignored_however_long(app: Flask, front: Front) -> None:
    with renders(app) as names:
        for length in ("10", "9000"):
            status, headers, _ = ask(front, "/s/coins/definition", {"content-length": length}, body=b"x" * int(length))
            assert status == 200
            assert (("Connection", "close") in headers) == (length == "9000")
        ask(front, "/s/coins/definition", {"transfer-encoding": "chunked"}, body=b"x" * 10_000)
    assert len(names) == 1


def test_the_cache_is_limited_in_bytes(front: Front) -> None:
    cache = page_cache.PageCache()
    page = page_cache.CachedPage(200, [], bytes(1 << 20), 1 << 20, compressible=True)
    for number in range(100):
        cache.add(page_cache.PageKey(f"/s/{number}", None, None), page)
    assert 40 <= len(cache) < 48


UNCACHED = {
    "about.home",  # a redirect
    "respondents.damaged",  # a redirect, or an error
    "health.healthz",  # the front has its own
    "health.readyz",  # live
}


def test_each_page_for_respondents_is_cacheable_or_named_here(app: Flask) -> None:
    rules = [rule for rule in app.url_map.iter_rules() if lane_of_endpoint(app, rule.endpoint) is Lane.RESPONDENTS]
    endpoints = {rule.endpoint for rule in rules if set(READING) & (rule.methods or set()) and "GET" in (rule.methods or set())}
    assert {endpoint for endpoint in endpoints if page_cache.cacheable_view(app, endpoint) is None} == UNCACHED
