"""Codes of records by hand, which travel with them: one invitation, one submission; nothing leads from a code to a record."""

from __future__ import annotations

import base64
import csv
import io
import re
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of, tally_of
from werkzeug.test import TestResponse

from deniable.device.entropy import os_words
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission
from deniable_server.access import invitations
from deniable_server.config import make_key
from deniable_server.context import services_of
from deniable_server.operate.cli import main
from deniable_server.store import open_store
from deniable_server.store.errors import InvitationError, UnavailableError, UnknownSurveyError
from deniable_server.store.protocol import Store
from deniable_server.store.sql.invitations import SqlInvitations, _unspent
from deniable_server.web.rate_limiter import Rate, Rates

Make = Callable[..., Submission]
REQUESTS = 200


QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
BASE = {
    "deniable": 1,
    "batch": 1,
    "accept_small_batches": True,
    "title": "T",
    "about": "A.",
    "epsilon": "ln 27",
    "access": "invited",
    "questions": QUESTIONS,
}


def invited(id_: str = "staff") -> Survey:
    return Survey.from_dict({**BASE, "id": id_})


def invited_daily() -> Survey:
    """Returns a survey whose records are released while people answer: the marks of spent codes with them."""
    return Survey.from_dict({**BASE, "id": "daily", "release": "daily"})


@pytest.fixture
def staff(store: Store) -> Survey:
    return published(store, invited())


def published(store: Store, survey: Survey) -> Survey:
    """Publishes a survey, which gives it a key and so another digest."""
    store.surveys.publish(survey)
    return store.surveys.published(survey.id).survey


@pytest.fixture
def submissions(submissions: Make) -> Make:
    """Makes submissions as the one of all tests does; those with a code are made by hand."""

    def make(*args: Any, **fields: Any) -> Submission:
        return submissions(*args, **({"mode": "by_hand"} if "invitation" in fields else {}) | fields)

    return make


def new_codes(store: Store, count: int, survey: str = "staff") -> list[bytes]:
    return [access_codes.read(code) for code in invitations.make(store, survey, count)]


def send(client: FlaskClient, submission: Submission, survey: str = "staff", **headers: str) -> TestResponse:
    url = f"/api/v1/surveys/{survey}/submissions"
    return client.post(url, data=submission.to_json(), content_type="application/json", headers=headers)


def rule(reply: TestResponse) -> str:
    return str(reply.get_json()["rule"])


def test_a_code_lets_one_submission_in(client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    first, second = new_codes(store, 2)
    assert store.invitations.count("staff") == (2, 0)
    assert send(client, submissions(to=staff, invitation=first)).status_code == 200
    assert rule(send(client, submissions(to=staff, invitation=first))) == "invitation"
    assert send(client, submissions(to=staff, invitation=second)).status_code == 200
    assert (tally_of(store, "staff", by_hand=True).n, store.invitations.count("staff")) == (0, (2, 0))  # both records wait
    store.surveys.set_open("staff", False)
    assert (tally_of(store, "staff", by_hand=True).n, store.invitations.count("staff")) == (2, (2, 2))


def test_a_spent_code_one_whose_record_waits_and_one_that_never_was_get_the_same_reply(
    client: FlaskClient, store: Store, submissions: Make
) -> None:
    daily = published(store, invited_daily())
    store.surveys.publish(invited("other"))
    codes, (elsewhere,) = new_codes(store, 20, "daily"), new_codes(store, 1, "other")
    for code in codes[:15]:
        assert send(client, submissions(to=daily, invitation=code), "daily").status_code == 200
    assert release_people(store) == ["daily"]
    assert store.invitations.count("daily") == (20, 15)
    for code in codes[15:]:
        assert send(client, submissions(to=daily, invitation=code), "daily").status_code == 200
    replies = [send(client, submissions(to=daily, invitation=code), "daily") for code in (*codes, bytes(15), elsewhere)]
    assert len({(reply.status, tuple(reply.headers), reply.data) for reply in replies}) == 1
    assert (replies[0].status_code, rule(replies[0])) == (403, "invitation")
    release_people(store)
    assert tally_of(store, "daily", by_hand=True).n == 20
    assert store.invitations.count("other") == (1, 0)


def test_a_retry_is_acknowledged_and_spends_nothing_more(client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    code, other = new_codes(store, 2)
    submission = submissions(to=staff, invitation=code)
    again = submissions(to=staff, id_=submission.id, invitation=other)
    assert [send(client, submission).status_code for _ in range(5)] == [200] * 5
    while again.reports != submission.reports:
        again = submissions(to=staff, id_=submission.id, invitation=other)
    assert send(client, again).status_code == 200  # the same record under another code is the same submission
    store.surveys.set_open("staff", False)
    assert send(client, submission).status_code == 200
    assert (tally_of(store, "staff", by_hand=True).n, store.invitations.count("staff")) == (1, (2, 1))


def test_what_is_refused_spends_nothing(client: FlaskClient, store: Store, staff: Survey, submissions: Make, key: dict[str, str]) -> None:
    kept, code, fresh = new_codes(store, 3)
    taken, withdrawn = submissions(to=staff, invitation=kept), os_words(4).tobytes()
    send(client, taken)
    store.submissions.withdraw("staff", withdrawn)
    fields: dict[str, Any] = {"to": staff, "invitation": code}
    refused = {
        "count": submissions(2, **fields),
        "group": submissions(**fields, group="North"),
        "padding": Submission(os_words(4).tobytes(), staff.digest, 1, b"\x01", invitation=code, mode="by_hand"),
        "digest": Submission(os_words(4).tobytes(), "0" * 64, 1, b"\x00", invitation=code, mode="by_hand"),
        "conflict": Submission(taken.id, staff.digest, 1, bytes([taken.reports[0] ^ 0x80]), invitation=code, mode="by_hand"),
        "conflict, withdrawn": submissions(id_=withdrawn, **fields),
    }
    assert [rule(send(client, submission, **key)) for submission in refused.values()] == [name.split(",")[0] for name in refused]
    assert send(client, submissions(**fields)).status_code == 200
    store.surveys.set_open("staff", False)
    assert [rule(send(client, submissions(to=staff, invitation=any_code))) for any_code in (fresh, kept, bytes(15))] == ["closed"] * 3
    assert (tally_of(store, "staff", by_hand=True).n, store.invitations.count("staff")) == (2, (3, 2))


def test_a_survey_takes_codes_if_and_only_if_its_access_says_so(
    client: FlaskClient, survey: Survey, staff: Survey, submissions: Make
) -> None:
    replies = [send(client, submissions(to=staff)), send(client, submissions(invitation=bytes(15), mode="device"), "study")]
    assert [rule(reply) for reply in replies] == ["token", "invitation"]


def test_a_withdrawal_does_not_give_the_invitation_back(client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    code, other = new_codes(store, 2)
    submission = submissions(to=staff, invitation=code)
    send(client, submission)
    store.submissions.withdraw("staff", submission.id)
    assert rule(send(client, submissions(to=staff, invitation=code))) == "invitation"
    send(client, submissions(to=staff, invitation=other))
    store.surveys.set_open("staff", False)
    assert (tally_of(store, "staff", by_hand=True).n, store.invitations.count("staff")) == (1, (2, 2))


def test_invitations_of_an_unknown_survey_are_an_error(store: Store) -> None:
    for call in (
        lambda: store.invitations.add("nope", [bytes(32)]),
        lambda: store.invitations.count("nope"),
        lambda: invitations.make(store, "nope", 1),
    ):
        with pytest.raises(UnknownSurveyError):
            call()


def test_no_fetch_of_a_link_spends_its_invitation(client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    (code,) = new_codes(store, 1)
    written, raw = access_codes.format_code(code), base64.urlsafe_b64encode(code).decode()
    for path in ("/s/staff", "/api/v1/surveys/staff", "/api/v1/surveys/staff/submissions", "/api/v1/surveys/staff/withdrawals"):
        for query in ("", f"?code={written}", f"?invitation={raw}"):
            for fetch in (client.get, client.head, client.options):
                assert fetch(path + query, headers={"Purpose": "prefetch"}).status_code < 500
    assert store.invitations.count("staff") == (1, 0)
    assert send(client, submissions(to=staff, invitation=code)).status_code == 200


def race(server: Any, submissions: Make) -> tuple[list[int], int, int, tuple[int, int]]:
    """The statuses of many requests at once, each with a submission of its own and all with one code; n, n recounted, invitations."""
    survey = server.publish(invited())
    code = access_codes.read(server.run("invite", "staff", "--count", "1").strip())
    server.start()
    bodies = [submissions(to=survey, invitation=code).to_json() for _ in range(REQUESTS)]
    together, statuses = threading.Barrier(REQUESTS), []

    def request(body: bytes) -> None:
        with httpx.Client(timeout=60, headers={"Content-Type": "application/json"}) as http:
            http.get(f"{server.url}/healthz")  # the connection is made before the race
            together.wait()
            statuses.append(http.post(f"{server.url}/api/v1/surveys/staff/submissions", content=body).status_code)

    threads = [threading.Thread(target=request, args=[body]) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.stop()
    store = open_store(server.db)
    store.surveys.set_open("staff", False)
    found = (
        sorted(statuses),
        tally_of(store, "staff", by_hand=True).n,
        recount_of(store, "staff", by_hand=True).n,
        store.invitations.count("staff"),
    )
    store.close()
    return found


@pytest.mark.slow
def test_of_two_hundred_requests_at_once_with_one_code_exactly_one_is_let_in(make_server: Callable[..., Any], submissions: Make) -> None:
    statuses, n, recounted, made_and_spent = race(make_server(), submissions)
    assert statuses == [200] + [403] * (REQUESTS - 1)
    assert n == recounted == 1
    assert made_and_spent == (1, 1)


@pytest.mark.slow
def test_a_server_that_checks_a_code_first_and_spends_it_later_would_be_found_out(
    make_server: Callable[[str], Any], submissions: Make
) -> None:
    statuses, n, _, _ = race(make_server("spend-in-two-steps"), submissions)
    assert n == statuses.count(200) > 1


def test_no_file_holds_a_code_or_its_bytes(tmp_path: Path, store: Store, staff: Survey, client: FlaskClient, submissions: Make) -> None:
    made = new_codes(store, 50)
    sent = [submissions(to=staff, invitation=code) for code in made[:25]]
    for submission in sent:
        send(client, submission)
    forms = [form for code in made for form in (code, base64.urlsafe_b64encode(code), access_codes.format_code(code).encode())]

    def ids_in_files() -> int:
        content = b"".join(path.read_bytes() for path in tmp_path.glob("deniable.db*"))
        assert not any(form in content for form in forms)
        assert all(access_codes.invitation_hash("staff", code) in content for code in made)
        return sum(submission.id in content for submission in sent)

    assert ids_in_files() == 0  # they wait, encrypted
    store.surveys.set_open("staff", False)
    assert ids_in_files() == 25


def test_the_file_does_not_show_the_order_in_which_codes_were_printed(tmp_path: Path, staff: Survey) -> None:
    hashes = [os_words(8).tobytes() for _ in range(300)]
    found = []
    for name, printed in (("one.db", hashes), ("other.db", hashes[::-1])):
        store = open_store(tmp_path / name)
        store.surveys.publish(staff)
        store.invitations.add("staff", printed)
        store.close()
        found.append(sorted(hashes, key=(tmp_path / name).read_bytes().find))
    assert found[0] == found[1]


def test_spending_changes_a_mark_where_it_stands(tmp_path: Path, store: Store, submissions: Make) -> None:
    daily = published(store, invited_daily())
    made = new_codes(store, 300, "daily")
    hashes = [access_codes.invitation_hash("daily", code) for code in made]
    store.close()

    def places() -> list[int]:
        content = (tmp_path / "deniable.db").read_bytes()
        assert all(content.count(hash_) == 1 for hash_ in hashes)
        return [content.find(hash_) for hash_ in hashes]

    before = places()
    assert [hash_ for _, hash_ in sorted(zip(before, hashes, strict=True))] != sorted(hashes)  # pages are not in the order of keys
    again = open_store(tmp_path / "deniable.db")
    again.database.rewriting.stop()  # else a slow machine writes the file anew meanwhile
    for code in made[::3]:
        again.submissions.add("daily", submissions(to=daily, invitation=code))
    assert release_people(again) == ["daily"]
    assert again.invitations.count("daily") == (300, 100)
    again.close()
    assert places() == before


def command(db: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [words[0], "--db", str(db), *words[1:]])


@pytest.fixture
def db(tmp_path: Path, store: Store, staff: Survey) -> Path:
    make_key(tmp_path / "deniable.db.key")
    return tmp_path / "deniable.db"


def test_the_command_prints_codes_that_work(db: Path, store: Store, staff: Survey, client: FlaskClient, submissions: Make) -> None:
    result = command(db, "invite", "staff", "--count", "3")
    assert result.exit_code == 0
    written = result.stdout.splitlines()
    assert len(set(written)) == 3
    assert "nobody can print a code again" in result.stderr
    for code in written:
        assert send(client, submissions(to=staff, invitation=access_codes.read(code))).status_code == 200
    store.surveys.set_open("staff", False)
    assert store.invitations.count("staff") == (3, 3)


@pytest.mark.parametrize(("url", "begin"), [(None, "/s/staff"), ("https://example.org/", "https://example.org/s/staff")])
def test_the_command_writes_a_table_with_personal_links(url: str | None, begin: str, db: Path, staff: Survey) -> None:
    result = command(db, "invite", "staff", "--count", "40", "--format", "csv", *(["--public-url", url] if url else []))
    header, *rows = csv.reader(io.StringIO(result.stdout))
    assert header == ["code", "link"]
    assert len(rows) == 40
    for code, link in rows:
        assert access_codes.format_code(access_codes.read(code)) == code
        assert link == f"{begin}#digest={staff.digest}&code={code}"
        assert re.match(r"[0-9A-Z]{4}-", code)  # no formula, and no number, to a spreadsheet
        assert link[0] in "h/"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("study", "--count", "1"), "access of survey study must be invited, got open"),
        (("nope", "--count", "1"), "no survey with this id"),
        (("staff", "--count", "0"), "count must be a whole number from 1 to 100,000, got 0"),
        (("staff", "--count", "1", "--public-url", "=cmd"), "public_url must begin with https:// or http://"),
    ],
)
def test_the_command_says_why_it_makes_none(words: tuple[str, ...], said: str, db: Path, store: Store) -> None:
    result = command(db, "invite", *words)
    assert (result.exit_code != 0, result.stdout) == (True, "")
    assert said in result.stderr
    assert store.invitations.count("staff") == (0, 0)


def test_no_code_is_printed_that_is_not_on_the_disk(db: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise UnavailableError("the server's database cannot be used now")

    monkeypatch.setattr(SqlInvitations, "add", fail)
    result = command(db, "invite", "staff", "--count", "3")
    assert (result.exit_code, result.stdout) == (1, "")


def test_the_list_says_how_many_invitations_are_spent_once_their_records_are_released(
    db: Path, store: Store, staff: Survey, submissions: Make
) -> None:
    codes, listed = new_codes(store, 13), list[str]()
    for code in codes[:12]:
        store.submissions.add("staff", submissions(to=staff, invitation=code, mode="device"))
        listed.append(command(db, "list").stdout.splitlines()[0])
    waiting = "staff\topen\t0 records{}, 0 of 13 invitations spent\tT"
    assert listed == 9 * [waiting.format("")] + 3 * [waiting.format(", 10 or more wait for their release")]
    store.surveys.set_open("staff", False)
    assert command(db, "list").stdout.splitlines() == [
        "staff\tclosed\t12 records, 12 of 13 invitations spent\tT",
        "study\topen\t0 records\tA study",
    ]


def test_the_same_hash_again_does_not_make_a_spent_invitation_whole(store: Store, staff: Survey, submissions: Make) -> None:
    (code,) = new_codes(store, 1)
    store.submissions.add("staff", submissions(to=staff, invitation=code))
    store.invitations.add("staff", [access_codes.invitation_hash("staff", code)])
    with pytest.raises(InvitationError):
        store.submissions.add("staff", submissions(to=staff, invitation=code))


# The check of a code, before the first question.

CHECK = "/api/v1/surveys/staff/invitations/check"


def check(client: FlaskClient, code: bytes, **headers: str) -> TestResponse:
    return client.post(CHECK, json={"code": base64.urlsafe_b64encode(code).rstrip(b"=").decode()}, headers=headers)


def test_a_check_says_whether_a_code_is_one_of_the_surveys_and_nothing_else(
    client: FlaskClient, store: Store, staff: Survey, submissions: Make
) -> None:
    store.surveys.publish(invited("other"))
    (spent, fresh), (elsewhere,) = new_codes(store, 2), new_codes(store, 1, "other")
    send(client, submissions(to=staff, invitation=spent))
    good, used, *bad = (check(client, code) for code in (fresh, spent, elsewhere, bytes(15)))
    assert (good.status_code, good.data) == (200, b'{"valid":true}\n')
    assert (used.status, tuple(used.headers), used.data) == (good.status, tuple(good.headers), good.data)
    assert {(reply.status, tuple(reply.headers), reply.data) for reply in bad} == {("200 OK", tuple(bad[0].headers), b'{"valid":false}\n')}
    assert "Set-Cookie" not in good.headers


def test_a_check_spends_nothing_however_often_and_however_it_is_asked(
    tmp_path: Path, client: FlaskClient, store: Store, staff: Survey, submissions: Make
) -> None:
    def kept() -> list[str]:
        with closing(sqlite3.connect(tmp_path / "deniable.db")) as connection:
            return list(connection.iterdump())

    (code,) = new_codes(store, 1)
    before = kept()
    assert [check(client, code).get_json()["valid"] for _ in range(20)] == [True] * 20
    assert client.get(CHECK).status_code == client.get(CHECK, json={"code": "x"}).status_code == 405
    assert store.invitations.count("staff") == (1, 0)
    assert kept() == before
    assert send(client, submissions(to=staff, invitation=code)).status_code == 200


def test_a_check_that_spends_would_be_noticed(
    client: FlaskClient, store: Store, staff: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = new_codes(store, 1)
    has = store.invitations.has

    def spend(survey_id: str, code_hash: bytes) -> bool:
        is_valid = has(survey_id, code_hash)
        store.submissions.add(survey_id, submissions(to=staff, invitation=code))
        return is_valid

    monkeypatch.setattr(store.invitations, "has", spend)
    check(client, code)
    assert rule(send(client, submissions(to=staff, invitation=code))) == "invitation"


def check_while_people_answer(client: FlaskClient, store: Store, submissions: Make) -> list[list[bool]]:
    """Sends records with ten of twelve codes, releases them, sends one more and closes the survey. Returns all checks after each step."""
    daily = published(store, invited_daily())
    codes, checks = new_codes(store, 12, "daily"), list[list[bool]]()

    def check_all() -> None:
        url = CHECK.replace("staff", "daily")
        replies = [client.post(url, json={"code": base64.urlsafe_b64encode(code).decode()}) for code in codes]
        checks.append([reply.get_json()["valid"] for reply in replies])

    for code in codes[:10]:
        assert send(client, submissions(to=daily, invitation=code), "daily").status_code == 200
        check_all()
        assert rule(send(client, submissions(to=daily, invitation=code), "daily")) == "invitation"
    assert release_people(store) == ["daily"]
    check_all()
    assert send(client, submissions(to=daily, invitation=codes[10]), "daily").status_code == 200
    store.surveys.set_open("daily", False)
    check_all()
    return checks


def test_no_check_ever_shows_that_a_code_was_used(client: FlaskClient, store: Store, submissions: Make) -> None:
    """Otherwise a person with the list of codes could see who has answered, and when."""
    assert check_while_people_answer(client, store, submissions) == 12 * [12 * [True]]
    assert store.invitations.count("daily")[1] > 0


def test_the_control_a_check_of_the_marks_of_spent_codes_shows_them(
    client: FlaskClient, store: Store, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_unspent(survey_id: str, code_hash: bytes) -> bool:
        with store.database.reading() as connection:
            return _unspent(connection, survey_id, code_hash)

    monkeypatch.setattr(store.invitations, "has", is_unspent)
    *before, released, closed = check_while_people_answer(client, store, submissions)
    assert before == 10 * [12 * [True]]
    assert sum(closed) < sum(released) < 12


def test_a_check_waits_for_nobody_who_writes(client: FlaskClient, store: Store, staff: Survey) -> None:
    (code,) = new_codes(store, 1)
    with closing(sqlite3.connect(store.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert check(client, code).get_json() == {"valid": True}


def test_a_check_of_something_else_is_refused_by_the_name_of_the_rule(client: FlaskClient, staff: Survey) -> None:
    assert rule(check(client, bytes(14))) == "code"
    assert rule(client.post(CHECK, json={"code": "x", "id": "y"})) == "keys"
    assert rule(client.post(CHECK.replace("staff", "none"), json={"code": "A" * 20})) == "survey"
    assert check(client, bytes(15), **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.post(CHECK, data=b"{}", content_type="text/plain").status_code == 415


def test_checks_have_a_limit_of_their_own(app: Flask, client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    (code,) = new_codes(store, 1)
    services_of(app).get(Rates).invitation_checks = Rate(1, 2, lambda: 0.0)
    assert [check(client, code).status_code for _ in range(3)] == [200, 200, 429]
    assert send(client, submissions(to=staff, invitation=code)).status_code == 200
