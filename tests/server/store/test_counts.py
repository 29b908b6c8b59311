"""Sizes without tallies, parts counted apart, reports as they are asked for; and whoever opens a store does it by one door."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.kit.servers.release import release_people
from tests.server.store.conftest import Databases

import deniable_server
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.record import unpack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.results.results import counted
from deniable_server.store import open_store
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.protocol import Store, by_hand, estimated

Make = Callable[..., Submission]
GROUPS, QUESTIONS, PAGE = 50, 100, 4096
SENT, PERSONS = Part("Group 1", "organisation"), Part("Group 1")


def survey_of(questions: int, groups: int = GROUPS, **keys: Any) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(questions)]
    labels = [f"Group {i}" for i in range(groups)]
    return Survey.from_dict(
        {
            "deniable": 1,
            "id": "many",
            "title": "T",
            "about": "A.",
            "epsilon": 4,
            "batch": 1,
            "accept_small_batches": True,
            "groups": labels,
            "questions": asked,
            **keys,
        }
    )


@pytest.fixture
def filled(databases: Databases, submissions: Make) -> Iterator[tuple[Store, Survey]]:
    store, survey = open_store(databases.new()), survey_of(QUESTIONS)
    store.surveys.publish(survey)
    for group in survey.groups:
        store.submissions.add("many", submissions(2, to=survey, group=group))
    store.rewrite()
    yield store, survey
    store.close()


def test_every_part_is_counted_apart_and_added_up_only_on_demand(store: Store, submissions: Make) -> None:
    survey = survey_of(2, 2, epsilon="ln 9")
    store.surveys.publish(survey)
    sent = {
        Part(group, mode): 2 + i
        for i, (group, mode) in enumerate((g, m) for g in survey.groups for m in ("device", "by_hand", "organisation"))
    }
    for part, count in sent.items():
        store.submissions.add("many", submissions(count, to=survey, group=part.group, mode=part.mode))
    counts = store.submissions.counts("many")
    assert counts == sent
    for group in (None, *survey.groups):
        for parts in (estimated(survey, group), by_hand(survey, group)):
            tally = store.submissions.tally("many", parts)
            assert tally.n == counted(counts, parts) == sum(sent[part] for part in parts)
            assert tally.to_bytes() == store.submissions.recount("many", parts).to_bytes()
    assert store.submissions.tally("many", []).n == store.submissions.tally("many", [Part("none")]).n == 0


def test_the_reports_of_a_part_are_those_that_its_tally_counts(filled: tuple[Store, Survey]) -> None:
    store, survey = filled
    part = Part("Group 7")
    read = b"".join(store.submissions.reports("many", part))
    assert len(read) == 2 * survey.record.bytes
    assert Tally.from_bits(unpack(survey, read, 2)).to_bytes() == store.submissions.tally("many", [part]).to_bytes()
    assert list(store.submissions.reports("many", Part("none"))) == []
    with pytest.raises(UnknownSurveyError):
        store.submissions.reports("none", part)


def test_reports_that_are_being_read_do_not_change_and_hinder_nobody(filled: tuple[Store, Survey], submissions: Make) -> None:
    store, survey = filled
    reading = store.submissions.reports("many", Part("Group 7"))
    first = next(reading)
    store.submissions.add("many", submissions(3, to=survey, group="Group 7"))
    assert store.submissions.counts("many")[Part("Group 7")] == 5
    assert first + b"".join(reading) in (first, b"")  # all of two records came at once
    assert len(b"".join(store.submissions.reports("many", Part("Group 7")))) == 5 * survey.record.bytes


def test_a_withdrawn_record_leaves_the_reports_with_the_next_batch_as_it_leaves_the_tally(store: Store, submissions: Make) -> None:
    survey = survey_of(3, 2, epsilon="ln 9", batch=2, accept_small_batches=True)
    store.surveys.publish(survey)
    for _ in range(4):
        store.submissions.add("many", submissions(to=survey, group="Group 1", mode="organisation"))
    before, counted = sorted(records(store, survey)), stored(store)
    assert before == sorted(counted.values())
    store.submissions.withdraw("many", next(iter(counted)))
    assert sorted(records(store, survey)) == before
    for _ in range(2):
        assert sorted(records(store, survey)) == before
        store.submissions.add("many", submissions(to=survey, group="Group 1", mode="organisation"))
    assert sorted(records(store, survey)) == sorted(stored(store).values())
    assert store.submissions.tally("many", [SENT]).n == 3


def test_a_withdrawn_record_of_a_person_leaves_the_reports_with_the_next_release(store: Store, submissions: Make) -> None:
    survey = survey_of(3, 2, epsilon="ln 9", batch=2, accept_small_batches=True)
    store.surveys.publish(survey)
    send = lambda: store.submissions.add("many", submissions(to=survey, group="Group 1"))  # noqa: E731
    for _ in range(4):
        send()
    assert (release_people(store), release_people(store)) == (["many"], [])
    before, counted = sorted(records(store, survey, PERSONS)), stored(store)
    assert before == sorted(counted.values())
    assert len(before) == 2
    store.submissions.withdraw("many", next(iter(counted)))
    send()
    assert release_people(store) == []  # one came, two stay behind
    assert sorted(records(store, survey, PERSONS)) == before
    send()
    assert sorted(records(store, survey, PERSONS)) == before
    assert release_people(store) == ["many"]
    assert sorted(records(store, survey, PERSONS)) == sorted(stored(store).values())
    assert store.submissions.tally("many", [PERSONS]).n == 3


def stored(store: Store) -> dict[bytes, bytes]:
    """The rows of counted submissions: what was withdrawn is in none."""
    with store.database.reading() as connection:
        return {bytes(id_): bytes(reports) for id_, reports in connection.execute("SELECT id, reports FROM submissions").fetchall()}


def records(store: Store, survey: Survey, part: Part = SENT) -> list[bytes]:
    """Returns the records of a part; they are what the tally counts."""
    read, size = b"".join(store.submissions.reports("many", part)), survey.record.bytes
    assert Tally.from_bits(unpack(survey, read, len(read) // size)).to_bytes() == store.submissions.tally("many", [part]).to_bytes()
    return [read[at : at + size] for at in range(0, len(read), size)]


def test_nothing_but_the_store_itself_names_a_database() -> None:
    root = Path(deniable_server.__file__).parent
    found = {
        file.relative_to(root).as_posix()
        for file in root.glob("**/*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("deniable_server.store.sql")
    }
    assert {name.rsplit("/", 1)[0] for name in found} == {"store", "store/moving", "store/postgres", "store/sql", "store/sqlite"}
    assert {name for name in found if name.count("/") == 1} == {"store/__init__.py"}


def test_a_url_is_opened_as_a_store(url: str, survey: Survey) -> None:
    store = open_store(url)
    assert store.surveys.publish(survey)
    store.close()
    again = open_store(url)
    assert [published.survey.id for published in again.surveys.all()] == [survey.id]
    again.close()
