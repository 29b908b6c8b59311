"""Many rows are read once, and sent while the next are perturbed; what is found wrong first leaves nothing anywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest

from deniable.delivery import jobs
from deniable.device.sources.csv_rows import CsvRows
from deniable.errors import AnswerError, DeliveryError, RejectedError
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey
from deniable.wire.submission import Submission

ROWS = 10


@pytest.fixture
def client(server, outbox, no_waiting) -> Iterator[SurveyClient]:
    with SurveyClient(server.url, outbox=outbox, retries=0, key=server.key) as client:
        yield client


@pytest.fixture
def read(monkeypatch) -> list[int]:
    """How many rows were left out at each reading of a file of CSV."""
    begun, stretches = list[int](), CsvRows.batches

    def noted(self: CsvRows, names: Any, size: int, skip: int) -> Any:
        begun.append(skip)
        return stretches(self, names, size, skip)

    monkeypatch.setattr(CsvRows, "batches", noted)
    return begun


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("smokes,party\n" + "yes,Red\n" * ROWS)
    return path


def test_a_file_is_read_once_though_all_of_it_is_checked_before_any_is_sent(client, server, rows, read):
    assert client.submit_many("study", rows, batch=4).accepted == server.counted == ROWS
    assert read == [0]
    assert client.submit_many("study", rows, batch=4).resumed == ROWS
    assert server.counted == ROWS


@pytest.mark.parametrize("held", [0, 1, 8, 9])
def test_what_does_not_fit_into_memory_is_read_again_and_counted_once(client, server, rows, read, monkeypatch, held):
    """A record has one byte: so many stretches of 4 rows are held, until they are as many bytes."""
    monkeypatch.setattr(jobs, "HELD", held)
    report = client.submit_many("study", rows, batch=4)
    assert (report.accepted, report.submissions, server.counted) == (ROWS, 3, ROWS)
    assert read == ([0] if held == 9 else [0, {0: 0, 1: 4, 8: 8}[held]])
    assert len(server.posts) == len(server.accepted) == 3


@pytest.mark.parametrize("held", [0, 1 << 20])
def test_a_wrong_row_at_the_end_leaves_nothing_anywhere(client, server, rows, monkeypatch, held):
    monkeypatch.setattr(jobs, "HELD", held)
    rows.write_text(rows.read_text() + "CANARY,Red\n")
    with pytest.raises(AnswerError, match="1 row has answers that cannot be sent; nothing was sent"):
        client.submit_many("study", rows, batch=4)
    assert server.posts == []
    assert client.outbox.waiting(server.url) == 0
    rows.write_text("smokes,party\nno,Blue\n")  # another file now, of which no row was dealt with
    assert client.submit_many("study", rows).accepted == 1


def test_the_next_rows_are_perturbed_while_a_submission_travels_and_wait_for_it_before_they_are_journaled(client, server, monkeypatch):
    read, kept = [threading.Event() for _ in range(3)], list[int]()
    post = client._transport.post

    def slow(*told: Any) -> None:
        assert read[len(kept)].wait(30), "the next rows were not read meanwhile"
        kept.append(client.outbox.waiting(server.url))
        post(*told)

    def rows() -> Iterator[dict[str, str]]:
        for number in range(ROWS):
            if number in (4, 8):
                read[number // 4 - 1].set()
            yield {"smokes": "yes", "party": "Red"}
        read[2].set()

    monkeypatch.setattr(client._transport, "post", slow)
    assert client.submit_many("study", rows(), batch=4).accepted == ROWS
    assert kept == [1, 1, 1]


def test_of_a_refusal_while_the_next_rows_are_perturbed_the_next_are_in_no_outbox(client, server, fault):
    server.faults.extend([fault(status=200, worked=True, body=b'{"accepted": 4}'), fault(status=409)])
    with pytest.raises(RejectedError, match="Rows up to 4 are processed; rows 5 to 8 are randomized and in the outbox"):
        client.submit_many("study", ({"smokes": "yes", "party": "Red"} for _ in range(ROWS)), batch=4)
    assert len(client.outbox.refused_submissions(server.url)) == 1
    assert client.outbox.waiting(server.url) == 0


def test_a_wrong_row_of_a_stream_waits_for_what_is_under_way_and_a_failure_of_that_is_told_first(client, server, fault):
    def rows(last: str) -> Iterator[dict[str, str]]:
        yield from [{"smokes": "yes", "party": "Red"}] * 4
        yield {"smokes": last, "party": "Red"}

    with pytest.raises(AnswerError, match="4 rows before them are processed"):
        client.submit_many("study", rows("CANARY"), batch=4)
    assert server.counted == 4
    server.faults.append(fault(status=503))
    with pytest.raises(DeliveryError, match="Rows up to 0 are processed; rows 1 to 4 are randomized and in the outbox"):
        client.submit_many("study", rows("CANARY"), batch=4)


def test_no_request_of_a_table_has_too_few_rows_for_a_batch_of_the_survey(client, server):
    """A batch of its records is ten."""
    client.submit_many("study", pd.DataFrame({"smokes": ["no"] * 41, "party": ["Red"] * 41}), batch=20)
    assert [Submission.from_json(post.body).count for post in server.posts] == [15, 15, 11]


@pytest.mark.parametrize(("rows", "most", "least"), [(100_001, 100_000, 10), (2_001, 50, 10), (59, 20, 10), (40, 20, 10), (7, 20, 10)])
def test_the_last_request_has_all_rows_or_as_many_as_a_batch(rows, most, least):
    size = jobs.even(rows, most, least)
    assert least <= size <= most
    assert rows <= most or rows % size == 0 or rows % size >= least


def test_where_no_size_does_that_it_is_what_was_asked_for():
    assert jobs.even(25, 4, 10) == 4
    assert jobs.even(11, 10, 10) == 10


def test_without_being_told_otherwise_a_submission_has_half_a_megabyte(client, server, monkeypatch):
    study = Survey.from_definition(server.definitions["study"])
    assert jobs.rows_at_once(study) == 100_000
    wide = {"id": "w", "text": "?", "type": "yes_no"}
    source = {"deniable": 1, "id": "wide", "title": "T", "about": "A", "epsilon": 8}
    many = Survey.from_dict({**source, "questions": [{**wide, "id": f"w{i}"} for i in range(2040)]})
    assert jobs.rows_at_once(many) == 1028
    monkeypatch.setattr("deniable.sdk.client.rows_at_once", lambda survey: 7)
    client.submit_many("study", pd.DataFrame({"smokes": ["no"] * 16, "party": ["Red"] * 16}))
    assert [Submission.from_json(post.body).count for post in server.posts] == [7, 7, 2]
