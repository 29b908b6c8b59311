"""Opening, lists and posts parse no definition, however many surveys there are; each is compiled once, when it is published."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.kit.surveys import submission

from deniable.survey import Survey, compiled
from deniable_server.api.metrics import Metrics
from deniable_server.api.submissions import DirectSubmissions
from deniable_server.operate.survey_list import list_entries
from deniable_server.operate.upkeep import keep_up, seconds_to_closing, upkeep
from deniable_server.researchers.dashboard import ORDERS, ListQuery, listing
from deniable_server.store import open_store
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.protocol import Store
from deniable_server.store.sql import compiled as compiled_rows
from deniable_server.web.rate_limiter import Rate

MANY = {"sqlite": 300, "postgresql": 40}
NOW = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The definitions that are parsed, with caches that are empty at first."""
    parsed: list[bytes] = []
    real = Survey.from_definition

    def counting(raw: bytes) -> Survey:
        parsed.append(raw)
        return real(raw)

    monkeypatch.setattr(Survey, "from_definition", counting)
    monkeypatch.setattr(compiled_rows, "_parsed", ByteCache(1 << 20))
    monkeypatch.setattr(compiled_rows, "_compiled", ByteCache(1 << 16))  # about thirty surveys
    return parsed


@pytest.fixture
def surveys(store: Store, survey: Survey, request: pytest.FixtureRequest) -> list[Survey]:
    """Many published surveys. Only the id and the title differ."""
    number = MANY[request.node.callspec.params["databases"]]
    every = [replace(survey, id=f"many-{n}", title=f"Title {n}") for n in range(number)]
    with ThreadPoolExecutor(2) as threads:  # more would have to wait too long on a busy machine
        list(threads.map(store.surveys.publish, every))
    return every


def remove_rows(store: Store, version: str = "") -> None:
    """Makes the database one of a server that compiled no survey, or in another version."""
    change = f"UPDATE compiled SET version = {version}, rules = '!', heading = '!'" if version else "DELETE FROM compiled"
    store.database.writer.run(lambda connection: connection.execute(change))  # type: ignore[attr-defined]


def post(store: Store, surveys: list[Survey]) -> list[object]:
    """Posts a record to each survey, as the front does. Returns the outcomes."""
    backend, outcomes = DirectSubmissions(lambda _: store, Rate(10**6, 10**6)), []
    for each in surveys:
        outcome: list[object] = []
        rules = backend.survey(each.id) or backend.learn(each.id)
        backend.take(rules, submission(each).to_json(), outcome.append)
        outcomes.append(outcome)
    store.surveys.set_open("study", False)  # a job behind them
    return [value for outcome in outcomes for value in outcome]


READS: dict[str, Callable[[Store], Any]] = {
    "list": list_entries,
    "metrics": lambda store: Metrics(store).text(),
    "upkeep": lambda store: (upkeep(store, "2030-01-01"), seconds_to_closing(store, NOW), store.submissions.release_due(NOW)),
    **{
        f"dashboard by {order}": lambda store, order=order: len(  # type: ignore[misc]
            listing(store, store.surveys.headings(), [], ListQuery(order=order, page=1), 1).rows
        )
        for order in ORDERS
    },
}


def test_opening_lists_and_posts_parse_no_definition(store: Store, surveys: list[Survey], url: str, parses: list[bytes]) -> None:
    for name in ("list", "metrics", "upkeep"):
        READS[name](store)
    assert post(store, surveys) == [True] * len(surveys)
    open_store(url).close()
    assert parses == []


def test_a_list_of_pages_parses_the_surveys_of_its_page_only(store: Store, surveys: list[Survey], parses: list[bytes]) -> None:
    for order in ORDERS:
        assert READS[f"dashboard by {order}"](store) == min(50, len(surveys) + 1)
    assert len(parses) == len(set(parses))
    assert len(parses) <= 50 * len(ORDERS)


def test_a_definition_of_an_older_database_is_parsed_until_it_is_compiled_once(
    store: Store, surveys: list[Survey], parses: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = list_entries(store)
    for version in ("", str(compiled.VERSION - 1)):
        monkeypatch.setattr(compiled_rows, "_parsed", ByteCache(1 << 20))
        parses.clear()
        remove_rows(store, version)
        assert list_entries(store) == before
        assert parses
        numbers = []
        while number := store.surveys.compile_some(7):
            numbers.append(number)
        assert sum(numbers) == len(surveys) + 1
        assert max(numbers) == 7
        parses.clear()
        assert list_entries(store) == before
        for each in surveys:
            assert store.surveys.compiled(each.id) == compiled.CompiledSurvey.of(each)
        assert parses == []


def test_records_are_accepted_before_an_older_database_is_compiled(store: Store, survey: Survey) -> None:
    remove_rows(store)
    other = replace(survey, id="other")
    store.surveys.publish(other)
    remove_rows(store)
    assert store.submissions.add(other.id, submission(other))
    assert post(store, [other]) == [True]


def test_a_server_compiles_what_is_missing_at_its_first_upkeep(store: Store, surveys: list[Survey]) -> None:
    remove_rows(store)
    keep_up(store, lambda *_: 200, lambda: NOW, lambda _: True)
    assert store.surveys.compile_some(1) == 0
    assert store.surveys.wrongly_compiled(surveys) == []


@pytest.mark.parametrize("rules", ["'!'", "'[]'", "'{}'", "(SELECT rules FROM compiled WHERE survey = 'other')"])
def test_where_a_row_is_damaged_the_definition_decides(store: Store, survey: Survey, rules: str, parses: list[bytes]) -> None:
    store.surveys.publish(replace(survey, id="other"))
    change = f"UPDATE compiled SET rules = {rules}, heading = '!' WHERE survey = 'study'"
    before = list_entries(store)
    store.database.writer.run(lambda connection: connection.execute(change))  # type: ignore[attr-defined]
    for _ in range(2):
        assert store.surveys.compiled("study") == compiled.CompiledSurvey.of(survey)
        assert store.submissions.add("study", submission(survey, 100, mode="organisation"))
    assert [{**entry, "records": 0} for entry in list_entries(store)] == before
    assert store.surveys.wrongly_compiled([survey]) == ["study"]


def test_surveys_with_a_common_question_are_known_without_its_texts(store: Store, survey: Survey) -> None:
    source = {"deniable": 1, "id": "other", "title": "T", "about": "A.", "epsilon": 4}
    several = {"id": "used", "text": "?", "type": "multi_choice", "options": ["kanary", "b"]}
    other = Survey.from_dict({**source, "questions": [several]})
    again = Survey.from_dict({**source, "id": "again", "questions": [{**several, "options": ["kanary", "c"]}]})
    renamed = Survey.from_dict({**source, "id": "renamed", "questions": [{**several, "id": "taken"}]})
    for each in (other, again, renamed):
        store.surveys.publish(each)
    for _ in range(2):
        assert store.surveys.sharing(other, ["study", "other", "again", "renamed", "none"]) == ["again"]
        remove_rows(store)
    while store.surveys.compile_some(10):
        pass
    with store.database.reading() as connection:  # type: ignore[attr-defined]
        assert "kanary" not in str(connection.execute("SELECT * FROM compiled").fetchall())
