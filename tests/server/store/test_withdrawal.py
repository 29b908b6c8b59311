"""What is withdrawn is gone from every count, as if it had never come."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import count_of, recount_of, tally_of
from werkzeug.test import TestResponse

from deniable.device.entropy import os_words
from deniable.survey import Survey
from deniable.wire.access_codes import submission_id
from deniable.wire.part import MODES
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.results.results import results_of
from deniable_server.store import open_store
from deniable_server.store.errors import ConflictError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.sql import counting
from deniable_server.store.sql import submissions as submissions_shelf
from deniable_server.web import limits

Make = Callable[..., Submission]
PARTS = [(None, False), ("North", False), ("South", False), (None, True), ("North", True), ("South", True)]


@pytest.fixture
def clinics(store: Store) -> Survey:
    """A published survey with two groups that real coins can answer too."""
    questions = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
    source = {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
        "id": "clinics",
        "title": "T",
        "about": "A.",
        "epsilon": "ln 3",
        "groups": ["North", "South"],
    }
    survey = Survey.from_dict({**source, "questions": questions})
    store.surveys.publish(survey)
    return survey


def new_code() -> bytes:
    return os_words(4).tobytes()[:15]


def counts(store: Store, count: Callable[..., Tally] = tally_of) -> dict[Any, tuple[int, bytes]]:
    """Every tally of the survey, byte for byte."""
    found = {part: count(store, "clinics", *part) for part in PARTS}
    return {part: (tally.n, tally.to_bytes()) for part, tally in found.items()}


def rows(store: Store, table: str) -> list[Any]:
    with store.database.reading() as connection:
        return connection.execute(f"SELECT * FROM {table}").fetchall()


def send_code(client: FlaskClient, code: bytes, survey: str = "clinics") -> TestResponse:
    body = json.dumps({"code": base64.urlsafe_b64encode(code).decode()})
    return client.post(f"/api/v1/surveys/{survey}/withdrawals", data=body, content_type="application/json")


def send(client: FlaskClient, submission: Submission) -> TestResponse:
    return client.post("/api/v1/surveys/clinics/submissions", data=submission.to_json(), content_type="application/json")


@pytest.mark.parametrize(("group", "by_hand"), [("North", False), ("South", True)])
def test_after_a_withdrawal_every_count_is_what_it_was_before(
    group: str, by_hand: bool, store: Store, clinics: Survey, submissions: Make
) -> None:
    for part in (("North", False), ("South", False), ("North", True)):
        store.submissions.add("clinics", submissions(30, to=clinics, group=part[0], mode=MODES[part[1]]))
    before, kept, estimates = counts(store), rows(store, "tallies"), results_of(store, "clinics", {}).to_json()
    withdrawn = submissions(20, to=clinics, group=group, mode=MODES[by_hand])
    store.submissions.add("clinics", withdrawn)
    assert counts(store) != before
    store.submissions.withdraw("clinics", withdrawn.id)
    assert counts(store) == counts(store, recount_of) == before
    assert sorted(row[1:] for row in rows(store, "tallies")) == sorted(row[1:] for row in kept)
    assert results_of(store, "clinics", {}).to_json() == estimates
    assert rows(store, "withdrawn") == [(withdrawn.id,)]


def test_a_withdrawal_that_left_the_counts_alone_would_be_found_out(
    store: Store, clinics: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = counts(store)
    submission = submissions(20, to=clinics, group="North")
    store.submissions.add("clinics", submission)
    assert counts(store) != before
    monkeypatch.setattr(counting.tallies, "change", lambda *_: None)
    store.submissions.withdraw("clinics", submission.id)
    assert counts(store) != before


RELEASED = pytest.mark.parametrize("released", [False, True])  # whether the record is withdrawn before its release or after it


@RELEASED
def test_a_repetition_that_comes_late_is_refused_and_not_counted(
    client: FlaskClient, store: Store, clinics: Survey, submissions: Make, released: bool
) -> None:
    code = new_code()
    submission = submissions(to=clinics, id_=submission_id(code), group="North")
    assert send(client, submission).status_code == 200
    assert not released or release_people(store)
    assert tally_of(store, "clinics").n == released
    send_code(client, code)
    for late in (submission, submissions(to=clinics, id_=submission.id, group="South")):
        reply = send(client, late)
        assert (reply.status_code, reply.get_json()["rule"]) == (409, "conflict")
    store.surveys.set_open("clinics", False)
    assert tally_of(store, "clinics").n == recount_of(store, "clinics").n == 0


def test_a_submission_that_was_withdrawn_before_it_came_is_refused(
    client: FlaskClient, store: Store, clinics: Survey, submissions: Make
) -> None:
    code = new_code()
    assert send_code(client, code).status_code == 200
    assert send(client, submissions(to=clinics, id_=submission_id(code), group="North")).status_code == 409
    store.surveys.set_open("clinics", False)
    assert tally_of(store, "clinics").n == 0


def test_a_counted_a_waiting_an_unknown_and_a_withdrawn_code_get_the_same_reply(
    client: FlaskClient, store: Store, clinics: Survey, submissions: Make
) -> None:
    code, waiting = new_code(), new_code()
    send(client, submissions(to=clinics, id_=submission_id(code), group="North"))
    assert release_people(store) == ["clinics"]
    send(client, submissions(to=clinics, id_=submission_id(waiting), group="North"))
    replies = [send_code(client, sent) for sent in (code, waiting, code, waiting, new_code())]
    assert len({(reply.status, tuple(reply.headers), reply.data) for reply in replies}) == 1
    assert (replies[0].status_code, replies[0].get_json()) == (200, {"withdrawn": True})


def test_a_closed_survey_lets_go_of_what_it_has(client: FlaskClient, store: Store, clinics: Survey, submissions: Make) -> None:
    code = new_code()
    store.submissions.add("clinics", submissions(to=clinics, id_=submission_id(code), group="North"))
    store.surveys.set_open("clinics", False)
    assert tally_of(store, "clinics").n == 1
    assert send_code(client, code).status_code == 200
    assert tally_of(store, "clinics").n == recount_of(store, "clinics").n == 0
    assert rows(store, "intake") == []


def test_an_unknown_survey_is_an_error_of_a_withdrawal(client: FlaskClient, store: Store) -> None:
    assert send_code(client, new_code(), "nope").status_code == 404
    with pytest.raises(UnknownSurveyError):
        store.submissions.withdraw("nope", bytes(16))
    assert rows(store, "withdrawn") == []


@RELEASED
def test_a_code_erases_its_record_in_whichever_survey_it_is(store: Store, clinics: Survey, submissions: Make, released: bool) -> None:
    submission = submissions(to=clinics, group="North")
    store.submissions.add("clinics", submission)
    assert not released or release_people(store)
    assert tally_of(store, "clinics").n == released
    store.submissions.withdraw("study", submission.id)
    store.surveys.set_open("clinics", False)
    assert tally_of(store, "clinics").n == recount_of(store, "clinics").n == 0


BAD = {
    "no JSON": (b"{", "json"),
    "a key twice": (b'{"code":"AAAAAAAAAAAAAAAAAAAA","code":"AAAAAAAAAAAAAAAAAAAA"}', "json"),
    "deep nesting": (b"[" * limits.SMALL, "json"),
    "a list": (b"[]", "keys"),
    "nothing": (b"{}", "keys"),
    "a key too many": (b'{"code":"AAAAAAAAAAAAAAAAAAAA","why":"x"}', "keys"),
    "a number": (b'{"code":7}', "code"),
    "a short code": (b'{"code":"AAAAAAAAAAAAAAAAAAA"}', "code"),
    "a long code": (b'{"code":"AAAAAAAAAAAAAAAAAAAAAAAA"}', "code"),
    "padding": (b'{"code":"AAAAAAAAAAAAAAAAAAAA=="}', "code"),
    "another alphabet": (b'{"code":"++++++++++++++++++++"}', "code"),
    "a code as it is written": (b'{"code":"0000-0000-0000-0000-0000-0000-0000"}', "code"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_no_code_is_refused_by_the_name_of_the_rule(case: str, client: FlaskClient, store: Store, clinics: Survey) -> None:
    body, rule = BAD[case]
    reply = client.post("/api/v1/surveys/clinics/withdrawals", data=body, content_type="application/json")
    assert (reply.status_code, reply.get_json()["rule"]) == (400, rule)
    assert rows(store, "withdrawn") == []


def test_a_body_that_is_larger_than_any_code_is_refused_by_its_size(client: FlaskClient, store: Store, clinics: Survey) -> None:
    for body in (b"[" * (limits.SMALL + 1), b"[" * 100_000):
        reply = client.post("/api/v1/surveys/clinics/withdrawals", data=body, content_type="application/json")
        assert (reply.status_code, reply.get_json()["rule"]) == (413, "request entity too large")
    assert rows(store, "withdrawn") == []


def test_codes_that_strangers_make_up_leave_a_limited_number_of_ids(
    store: Store, clinics: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submissions_shelf, "UNMATCHED", 3)
    made_up = [os_words(4).tobytes() for _ in range(10)]
    for id_ in [made_up[0]] * 5 + made_up:
        store.submissions.withdraw("clinics", id_)
    assert {row[0] for row in rows(store, "withdrawn")} == set(made_up[:3])
    late = submissions(to=clinics, id_=made_up[9], group="North")
    store.submissions.add("clinics", late)
    store.submissions.withdraw("clinics", late.id)  # the same code, once more
    with pytest.raises(ConflictError):
        store.submissions.add("clinics", late)
    store.submissions.withdraw("study", os_words(4).tobytes())  # another survey has a limit of its own
    assert len(rows(store, "withdrawn")) == 5
    store.surveys.set_open("clinics", False)
    assert tally_of(store, "clinics").n == 0


def test_two_withdrawals_of_one_record_at_once_take_it_out_of_the_counts_once(
    store: Store, clinics: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    going, staying = submissions(10, to=clinics, group="North"), submissions(10, to=clinics, group="North")
    for submission in (going, staying):
        store.submissions.add("clinics", submission)
    tally_of(store, "clinics")

    def stored(id_: bytes) -> Any:
        monkeypatch.setattr(store.submissions, "_stored", original)
        found = original(id_)
        store.submissions.withdraw("clinics", going.id)
        return found

    original = store.submissions._stored
    monkeypatch.setattr(store.submissions, "_stored", stored)
    store.submissions.withdraw("clinics", going.id)
    assert tally_of(store, "clinics").n == 10
    assert counts(store) == counts(store, recount_of)


@pytest.mark.parametrize("mode", ["device", "organisation"])  # one waits, the other is counted at once
def test_a_submission_that_arrives_in_the_middle_of_its_withdrawal_is_erased(
    store: Store, clinics: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    submission = submissions(to=clinics, group="North", mode=mode)
    arriving = [submission]

    def stored(id_: bytes) -> Any:
        found = original(id_)
        if arriving:
            store.submissions.add("clinics", arriving.pop())
        return found

    original = store.submissions._stored
    monkeypatch.setattr(store.submissions, "_stored", stored)
    store.submissions.withdraw("clinics", submission.id)
    assert rows(store, "submissions") == rows(store, "intake") == []
    assert rows(store, "withdrawn") == [(submission.id,)]


def test_a_record_that_is_released_in_the_middle_of_its_withdrawal_is_erased(
    store: Store, clinics: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = submissions(to=clinics, group="North")
    store.submissions.add("clinics", submission)
    releases: list[list[str]] = []

    def stored(id_: bytes) -> Any:
        found = original(id_)
        if not releases:
            releases.append(release_people(store))
        return found

    original = store.submissions._stored
    monkeypatch.setattr(store.submissions, "_stored", stored)
    store.submissions.withdraw("clinics", submission.id)
    assert releases == [["clinics"]]
    assert rows(store, "submissions") == []
    store.surveys.set_open("clinics", False)
    assert count_of(store, "clinics") == recount_of(store, "clinics").n == 0
    assert rows(store, "intake") == []


def test_many_at_once_in_two_processes_leave_what_was_not_withdrawn(url: str, store: Store, clinics: Survey, submissions: Make) -> None:
    other = open_store(url)
    sent = [submissions(to=clinics, group=("North", "South")[i % 2], mode=MODES[i % 3]) for i in range(120)]

    def one(own: Store, part: list[Submission]) -> None:
        for i, submission in enumerate(part):
            own.submissions.add("clinics", submission)
            if i % 4 == 0:
                tally_of(own, "clinics")
            if i % 5 == 0:
                release_people(own)
            if i % 2 == 0:
                own.submissions.withdraw("clinics", submission.id)

    threads = [threading.Thread(target=one, args=[(store, other)[i % 2], sent[i::6]]) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    staying = {s.id for i in range(6) for s in sent[i::6][1::2]}
    other.surveys.set_open("clinics", False)
    assert rows(store, "intake") == []
    assert {row[1] for row in rows(store, "submissions")} == staying
    assert counts(store) == counts(other) == counts(store, recount_of)
    assert sum(tally_of(store, "clinics", by_hand=b).n for b in (False, True)) == len(staying) == 60
    other.close()


@pytest.fixture
def waiting(store: Store) -> Survey:
    """A published survey whose records are counted five at a time, with two groups."""
    question = {"id": "q", "text": "?", "type": "yes_no"}
    source = {
        "deniable": 1,
        "batch": 5,
        "accept_small_batches": True,
        "id": "waiting",
        "title": "T",
        "about": "A.",
        "epsilon": "ln 3",
        "groups": ["North", "South"],
    }
    survey = Survey.from_dict({**source, "questions": [question]})
    store.surveys.publish(survey)
    return survey


def test_a_bulk_record_that_is_withdrawn_while_it_waits_never_enters_the_counts(store: Store, waiting: Survey, submissions: Make) -> None:
    sent = [submissions(to=waiting, group="North", mode="organisation") for _ in range(9)]
    for submission in sent:
        store.submissions.add("waiting", submission)
    store.submissions.withdraw("waiting", sent[0].id)
    store.submissions.add("waiting", submissions(to=waiting, group="North", mode="organisation"))
    assert count_of(store, "waiting") == 0
    store.submissions.add("waiting", submissions(to=waiting, group="North", mode="organisation"))
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 5
    assert sent[0].id not in {row[1] for row in rows(store, "submissions")}


def everything(store: Store) -> list[Any]:
    """Returns all that is stored of a survey's records, but the number of the last release and when the next one is due."""
    listed = {table: sorted(rows(store, table), key=repr) for table in ("submissions", "tallies", "spans", "invitations", "unmatched")}
    return [listed, [row[:3] for row in rows(store, "arrivals") if row[0] == "waiting"], store.submissions.waiting("waiting")]


def test_a_record_that_is_withdrawn_before_its_release_leaves_no_trace_but_its_id(store: Store, waiting: Survey, submissions: Make) -> None:
    for _ in range(12):
        store.submissions.add("waiting", submissions(to=waiting, group="North"))
    before, intake = everything(store), sorted(rows(store, "intake"))
    submission = submissions(to=waiting, group="South", mode="by_hand")
    store.submissions.add("waiting", submission)
    assert everything(store) != before
    store.submissions.withdraw("waiting", submission.id)
    assert everything(store) == before
    assert sorted(rows(store, "intake")) == intake
    assert rows(store, "withdrawn") == [(submission.id,)]
    release_people(store)
    store.surveys.set_open("waiting", False)
    assert submission.id not in {row[1] for row in rows(store, "submissions")}
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 12
    assert count_of(store, "waiting", by_hand=True) == 0


def test_a_bulk_record_leaves_the_counts_together_with_other_changes(store: Store, waiting: Survey, submissions: Make) -> None:
    for _ in range(15):
        store.submissions.add("waiting", submissions(to=waiting, group="North", mode="organisation"))
    counted = [row[1] for row in rows(store, "submissions")]
    before = tally_of(store, "waiting").to_bytes()
    for number, id_ in enumerate(counted[:4], start=1):
        store.submissions.withdraw("waiting", id_)
        assert id_ not in {row[1] for row in rows(store, "submissions")}  # erased at once
        assert tally_of(store, "waiting").to_bytes() == recount_of(store, "waiting").to_bytes() == before, number
    store.submissions.add("waiting", submissions(to=waiting, group="South", mode="organisation"))  # another part
    for _ in range(5):
        assert count_of(store, "waiting") == 10
        store.submissions.add("waiting", submissions(to=waiting, group="North", mode="organisation"))
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 11  # five came, four went
    for id_ in counted[4:9]:
        assert count_of(store, "waiting", "North") == 11
        store.submissions.withdraw("waiting", id_)
    assert count_of(store, "waiting", "North") == recount_of(store, "waiting").n == 6  # five that go are a batch as well


def test_a_record_leaves_the_counts_with_the_next_release(store: Store, waiting: Survey, submissions: Make) -> None:
    for _ in range(15):
        store.submissions.add("waiting", submissions(to=waiting, group="North"))
    assert release_people(store) == ["waiting"]
    counted = [row[1] for row in rows(store, "submissions")]
    before = tally_of(store, "waiting").to_bytes()
    for number, id_ in enumerate(counted[:4], start=1):
        store.submissions.withdraw("waiting", id_)
        assert id_ not in {row[1] for row in rows(store, "submissions")}  # erased at once
        assert tally_of(store, "waiting").to_bytes() == recount_of(store, "waiting").to_bytes() == before, number
    erased = [row for row in rows(store, "intake") if row[1] is None]
    assert len(erased) == 4
    assert not any(id_ in sealed for id_ in counted for *_, sealed in erased)
    for _ in range(5):
        store.submissions.add("waiting", submissions(to=waiting, group="South"))  # another part
    release_people(store)
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 10
    for _ in range(5):
        store.submissions.add("waiting", submissions(to=waiting, group="North"))
        assert count_of(store, "waiting") == 10
    assert release_people(store) == ["waiting"]
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 11  # five came, four went
    for id_ in counted[4:9]:
        store.submissions.withdraw("waiting", id_)
        assert count_of(store, "waiting", "North") == recount_of(store, "waiting").n == 11
    release_people(store)
    assert count_of(store, "waiting", "North") == recount_of(store, "waiting").n == 6  # five that go are a batch as well


def test_closing_takes_out_of_the_counts_what_was_withdrawn(store: Store, waiting: Survey, submissions: Make) -> None:
    sent = [submissions(to=waiting, group="North") for _ in range(6)]
    for submission in sent:
        store.submissions.add("waiting", submission)
    store.submissions.withdraw("waiting", sent[0].id)
    store.surveys.set_open("waiting", False)
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 5
    store.submissions.withdraw("waiting", sent[1].id)  # a closed survey keeps nothing waiting
    assert count_of(store, "waiting") == recount_of(store, "waiting").n == 4
    assert rows(store, "intake") == []


def test_whoever_has_no_right_to_submit_learns_nothing_of_an_id(
    client: FlaskClient, store: Store, waiting: Survey, submissions: Make
) -> None:
    kept, withdrawn = (submissions(to=waiting, group="North") for _ in range(2))
    for submission in (kept, withdrawn):
        store.submissions.add("waiting", submission)
    store.submissions.withdraw("waiting", withdrawn.id)
    store.surveys.set_open("waiting", False)
    replies = set()
    for id_ in (kept.id, withdrawn.id, os_words(4).tobytes()):
        other = submissions(to=waiting, group="South", id_=id_)
        reply = client.post("/api/v1/surveys/waiting/submissions", data=other.to_json(), content_type="application/json")
        replies.add((reply.status, reply.data))
    assert [status for status, _ in replies] == ["403 FORBIDDEN"]
