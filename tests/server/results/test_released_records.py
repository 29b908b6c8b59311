"""Rows of a download: of one snapshot, sorted when they are first read, and as many as the download has said."""

from __future__ import annotations

import os

import pytest
from tests.client.bundle.conftest import COINS

from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.results.bundles import version_of
from deniable_server.results.disclosure_control import labelled_rows
from deniable_server.results.released_records import ReleasedRecords
from deniable_server.store.errors import UnavailableError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

SURVEY = Survey.from_dict(COINS)
NORTH, BY_HAND = Part("North"), Part("North", "by_hand")


def add(store: Store, n: int, part: Part = NORTH) -> bytes:
    reports = simulate(SURVEY, {item.id: [1 / item.k] * item.k for item in SURVEY.items}, n=n).reports
    store.submissions.add(SURVEY.id, Submission(os.urandom(16), SURVEY.digest, n, reports, part.group, part.mode))
    return reports


@pytest.fixture
def published(store: Store) -> Store:
    store.surveys.publish(SURVEY)
    return store


def ordered(raw: bytes) -> bytes:
    size = SURVEY.record.bytes
    return b"".join(sorted(raw[first : first + size] for first in range(0, len(raw), size)))


def test_records_that_are_counted_after_the_snapshot_was_opened_are_not_in_the_file(published: Store) -> None:
    raw = add(published, 50)
    before = version_of(published, SURVEY)
    with ReleasedRecords(labelled_rows(published, SURVEY), SURVEY) as records:
        records.open()
        add(published, 9)
        assert version_of(published, SURVEY) != before
        assert records.sizes == {NORTH: 50}
        records.seek(0)
        assert (records.read(), records.sizes) == (ordered(raw), {NORTH: 50})
        records.seek(0)
        assert records.read(3) == ordered(raw)[:3]


def test_other_records_than_were_said_are_refused_and_not_sent(published: Store) -> None:
    add(published, 50)
    with ReleasedRecords(labelled_rows(published, SURVEY), SURVEY) as records:
        add(published, 9)
        records.open()
        with pytest.raises(UnavailableError, match="try again"):
            records.seek(0)


def test_a_file_that_is_sorted_before_says_how_many_there_are(published: Store) -> None:
    add(published, 50)
    with ReleasedRecords(labelled_rows(published, SURVEY), SURVEY) as records:
        add(published, 9)
        records.open()
        records.sort()
        records.sort()
        records.seek(0)
        assert (len(records.read()) // SURVEY.record.bytes, records.sizes) == (59, {NORTH: 59})


def test_two_tables_are_two_snapshots(published: Store) -> None:
    add(published, 50)
    for has_two in (False, True):
        with ReleasedRecords(labelled_rows(published, SURVEY), SURVEY) as records:
            assert records.has_two_tables is has_two
        add(published, 8, BY_HAND)
        add(published, 8, BY_HAND)


def test_the_version_changes_with_the_records_and_with_the_least_number_of_records_that_are_shown(published: Store) -> None:
    versions = {version_of(published, SURVEY)}
    add(published, 50)
    versions.add(version_of(published, SURVEY))
    published.life.keep(SURVEY.id, Settings(least=30))
    versions.add(version_of(published, SURVEY))
    assert len(versions) == 3
    assert version_of(published, SURVEY) in versions
