"""One invitation, one submission; no fetch of a link spends one, and nothing leads from a code to a record."""

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
from deniable_server.store.sql.invitations import SqlInvitations
from deniable_server.web.rate_limiter import Rate, Rates

Make = Callable[..., Submission]
REQUESTS = 200


QUESTIONS = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(3)]
BASE = {"deniable": 1, "batch": 1, "title": "T", "about": "A.", "epsilon": "ln 3", "access": "invited", "questions": QUESTIONS}


def invited(id_: str = "staff") -> Survey:
    return Survey.from_dict({**BASE, "id": id_})


@pytest.fixture
def staff(store: Store) -> Survey:
    survey = invited()
    store.surveys.publish(survey)
    return survey


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
    assert store.invitations.count("staff") == (2, 1)
    assert send(client, submissions(to=staff, invitation=second)).status_code == 200
    assert (tally_of(store, "staff").n, store.invitations.count("staff")) == (2, (2, 2))


def test_a_spent_code_and_one_that_never_was_get_the_same_reply(
    client: FlaskClient, store: Store, staff: Survey, submissions: Make
) -> None:
    store.surveys.publish(invited("other"))
    (code,), (elsewhere,) = new_codes(store, 1), new_codes(store, 1, "other")
    send(client, submissions(to=staff, invitation=code))
    replies = [send(client, submissions(to=staff, invitation=sent)) for sent in (code, bytes(15), elsewhere)]
    assert len({(reply.status, tuple(reply.headers), reply.data) for reply in replies}) == 1
    assert (replies[0].status_code, rule(replies[0])) == (403, "invitation")
    assert tally_of(store, "staff").n == 1
    assert store.invitations.count("other") == (1, 0)


def test_a_retry_is_acknowledged_and_spends_nothing_more(client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    code, other = new_codes(store, 2)
    submission = submissions(to=staff, invitation=code)
    again = submissions(to=staff, id_=submission.id, invitation=other)
    assert [send(client, submission).status_code for _ in range(5)] == [200] * 5
    assert (tally_of(store, "staff").n, store.invitations.count("staff")) == (1, (2, 1))
    while again.reports != submission.reports:
        again = submissions(to=staff, id_=submission.id, invitation=other)
    assert send(client, again).status_code == 200  # the same record under another code is the same submission
    assert (tally_of(store, "staff").n, store.invitations.count("staff")) == (1, (2, 1))


def test_what_is_refused_spends_nothing(client: FlaskClient, store: Store, staff: Survey, submissions: Make, key: dict[str, str]) -> None:
    kept, code = new_codes(store, 2)
    taken, withdrawn = submissions(to=staff, invitation=kept), os_words(4).tobytes()
    send(client, taken)
    store.submissions.withdraw("staff", withdrawn)
    fields: dict[str, Any] = {"to": staff, "invitation": code}
    refused = {
        "count": submissions(2, **fields),
        "group": submissions(**fields, group="North"),
        "padding": Submission(os_words(4).tobytes(), staff.digest, 1, b"\x01", invitation=code),
        "digest": Submission(os_words(4).tobytes(), "0" * 64, 1, b"\x00", invitation=code),
        "conflict": Submission(taken.id, staff.digest, 1, bytes([taken.reports[0] ^ 0x80]), invitation=code),
        "conflict, withdrawn": submissions(id_=withdrawn, **fields),
    }
    assert [rule(send(client, submission, **key)) for submission in refused.values()] == [name.split(",")[0] for name in refused]
    store.surveys.set_open("staff", False)
    assert [rule(send(client, submissions(to=staff, invitation=any_code))) for any_code in (code, kept, bytes(15))] == ["closed"] * 3
    store.surveys.set_open("staff", True)
    assert (tally_of(store, "staff").n, store.invitations.count("staff")) == (1, (2, 1))
    assert send(client, submissions(**fields)).status_code == 200


def test_a_survey_takes_codes_if_and_only_if_its_access_says_so(
    client: FlaskClient, survey: Survey, staff: Survey, submissions: Make
) -> None:
    assert (rule(send(client, submissions(to=staff))), rule(send(client, submissions(invitation=bytes(15)), "study"))) == (
        "invitation",
    ) * 2


def test_a_withdrawal_does_not_give_the_invitation_back(client: FlaskClient, store: Store, staff: Survey, submissions: Make) -> None:
    (code,) = new_codes(store, 1)
    submission = submissions(to=staff, invitation=code)
    send(client, submission)
    store.submissions.withdraw("staff", submission.id)
    assert rule(send(client, submissions(to=staff, invitation=code))) == "invitation"
    assert (tally_of(store, "staff").n, store.invitations.count("staff")) == (0, (1, 1))


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
    survey = invited()
    server.publish(survey)
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
    found = sorted(statuses), tally_of(store, "staff").n, recount_of(store, "staff").n, store.invitations.count("staff")
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
    content = b"".join(path.read_bytes() for path in tmp_path.glob("deniable.db*"))
    forms = [form for code in made for form in (code, base64.urlsafe_b64encode(code), access_codes.format_code(code).encode())]
    assert not any(form in content for form in forms)
    assert all(submission.id in content for submission in sent)
    assert all(access_codes.invitation_hash("staff", code) in content for code in made)


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


def test_spending_changes_a_mark_where_it_stands(tmp_path: Path, store: Store, staff: Survey, submissions: Make) -> None:
    made = new_codes(store, 300)
    hashes = [access_codes.invitation_hash("staff", code) for code in made]
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
        again.submissions.add("staff", submissions(to=staff, invitation=code))
    assert again.invitations.count("staff") == (300, 100)
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


def test_the_list_says_how_many_invitations_are_spent(db: Path, store: Store, staff: Survey, submissions: Make) -> None:
    code, _, _ = new_codes(store, 3)
    store.submissions.add("staff", submissions(to=staff, invitation=code))
    assert command(db, "list").stdout.splitlines() == [
        "staff\topen\t1 record, 1 of 3 invitations spent\tT",
        "study\topen\t0 records\tA study",
    ]


def test_the_same_hash_again_does_not_make_a_spent_invitation_whole(store: Store, staff: Survey, submissions: Make) -> None:
    (code,) = new_codes(store, 1)
    store.submissions.add("staff", submissions(to=staff, invitation=code))
    store.invitations.add("staff", [access_codes.invitation_hash("staff", code)])
    with pytest.raises(InvitationError):
        store.submissions.add("staff", submissions(to=staff, invitation=code))


# Asking whether a code can be used, before the first question.

CHECK = "/api/v1/surveys/staff/invitations/check"


def check(client: FlaskClient, code: bytes, **headers: str) -> TestResponse:
    return client.post(CHECK, json={"code": base64.urlsafe_b64encode(code).rstrip(b"=").decode()}, headers=headers)


def test_a_check_says_whether_a_code_can_be_used_and_nothing_else(
    client: FlaskClient, store: Store, staff: Survey, submissions: Make
) -> None:
    store.surveys.publish(invited("other"))
    (spent, fresh), (elsewhere,) = new_codes(store, 2), new_codes(store, 1, "other")
    send(client, submissions(to=staff, invitation=spent))
    good, *bad = (check(client, code) for code in (fresh, spent, elsewhere, bytes(15)))
    assert (good.status_code, good.data) == (200, b'{"usable":true}\n')
    assert {(reply.status, tuple(reply.headers), reply.data) for reply in bad} == {("200 OK", tuple(bad[0].headers), b'{"usable":false}\n')}
    assert "Set-Cookie" not in good.headers


def test_a_check_spends_nothing_however_often_and_however_it_is_asked(
    tmp_path: Path, client: FlaskClient, store: Store, staff: Survey, submissions: Make
) -> None:
    def kept() -> list[str]:
        with closing(sqlite3.connect(tmp_path / "deniable.db")) as connection:
            return list(connection.iterdump())

    (code,) = new_codes(store, 1)
    before = kept()
    assert [check(client, code).get_json()["usable"] for _ in range(20)] == [True] * 20
    assert client.get(CHECK).status_code == client.get(CHECK, json={"code": "x"}).status_code == 405
    assert store.invitations.count("staff") == (1, 0)
    assert kept() == before
    assert send(client, submissions(to=staff, invitation=code)).status_code == 200


def test_a_check_that_spends_would_be_noticed(
    client: FlaskClient, store: Store, staff: Survey, submissions: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    (code,) = new_codes(store, 1)
    usable = store.invitations.is_usable

    def spend(survey_id: str, code_hash: bytes) -> bool:
        found = usable(survey_id, code_hash)
        store.submissions.add(survey_id, submissions(to=staff, invitation=code))
        return found

    monkeypatch.setattr(store.invitations, "is_usable", spend)
    check(client, code)
    assert store.invitations.count("staff") == (1, 1)


def test_a_check_changes_with_a_whole_batch_and_a_code_that_came_with_what_waits_is_refused_when_it_is_sent_again(
    client: FlaskClient, store: Store, submissions: Make
) -> None:
    waiting = Survey.from_dict({**BASE, "id": "waiting", "batch": 5})
    store.surveys.publish(waiting)
    codes = new_codes(store, 12, "waiting")

    def told() -> list[bool]:
        url = CHECK.replace("staff", "waiting")
        replies = [client.post(url, json={"code": base64.urlsafe_b64encode(code).decode()}) for code in codes]
        return [reply.get_json()["usable"] for reply in replies]

    for code in codes[:9]:
        assert send(client, submissions(to=waiting, invitation=code), "waiting").status_code == 200
        assert told() == [True] * 12
        assert rule(send(client, submissions(to=waiting, invitation=code), "waiting")) == "invitation"
    send(client, submissions(to=waiting, invitation=codes[9]), "waiting")
    assert sum(told()) == 12 - 5, "five of the ten, and five stay behind"
    assert all(told()[10:])


def test_a_check_waits_for_nobody_who_writes(client: FlaskClient, store: Store, staff: Survey) -> None:
    (code,) = new_codes(store, 1)
    with closing(sqlite3.connect(store.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert check(client, code).get_json() == {"usable": True}


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
