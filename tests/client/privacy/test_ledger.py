"""The ledger: sums over surveys keep below a cap, are charged before anything is sent, and once; and the file says no more than it must."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import stat
import subprocess
import sys
from collections import Counter
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from deniable.cli import main
from deniable.errors import AnswerError, DeliveryError, RefusedError, RejectedError
from deniable.privacy.ledger import JobRows, Ledger, Use
from deniable.sdk import session as session_module
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey

ANSWERS = {"smokes": True, "party": "Red"}
LN9 = math.log(9)
FIRST, SECOND = Use("01" * 32, LN9), Use("02" * 32, math.log(3))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    with closing(Ledger(path)) as made:
        yield made


@pytest.fixture
def client(server, outbox, path, no_waiting):
    with SurveyClient(server.url, outbox=outbox, ledger=path, person_cap="ln 81", retries=1, key=server.key) as made:
        yield made


def spent(path, person):
    with closing(Ledger(path)) as book:
        return book.spent(book.hashed(person))


# --- sums and caps ---------------------------------------------------------------------------------------------------


def test_epsilons_add_over_surveys_and_over_submissions_to_one(ledger):
    ada, bob = ledger.hashed("ada"), ledger.hashed("bob")
    for use in (FIRST, SECOND, FIRST):
        assert ledger.charge([ada], use, 99) == [True]
    assert ledger.spent(ada) == (2, 3, pytest.approx(2 * LN9 + math.log(3)))
    assert ledger.spent(bob) == (0, 0, 0)


def test_a_cap_admits_exactly_what_adds_up_to_it(ledger):
    ada = ledger.hashed("ada")
    admitted = [ledger.charge([ada], SECOND, math.log(81))[0] for _ in range(6)]
    assert admitted == [True] * 4 + [False] * 2
    assert ledger.spent(ada).submissions == 4


def test_one_person_in_many_rows_is_one_person(ledger):
    ada, bob = ledger.hashed("ada"), ledger.hashed("bob")
    assert ledger.charge([ada, bob, ada, ada], FIRST, 2 * LN9) == [True, True, True, False]
    assert (ledger.spent(ada).submissions, ledger.spent(bob).submissions) == (2, 1)


def test_all_or_none_charges_none_where_one_is_above(ledger):
    ada, bob = ledger.hashed("ada"), ledger.hashed("bob")
    assert ledger.charge([bob, ada, ada], FIRST, LN9, all_or_none=True) == [True, True, False]
    assert ledger.spent(bob).submissions == ledger.spent(ada).submissions == 0


def test_the_same_person_is_known_however_the_key_is_written(ledger):
    composed, apart = "Z\u00e9", "Ze\u0301"
    assert len({ledger.hashed(key) for key in (composed, apart, f" {composed}\n")}) == 1
    assert len({ledger.hashed(key) for key in (17, "17", " 17 ", np.int64(17), "17.0", 17.0, "017")}) == 1
    assert len({ledger.hashed(key) for key in ("a", "A", "a b", "ab", "17", "\ud800")}) == 6


@pytest.mark.parametrize("key", ["", " \n", None, 1.5, float("nan"), True, ["CANARY"], b"CANARY"])
def test_what_is_no_key_is_refused_and_not_repeated(ledger, key):
    with pytest.raises(ValueError, match="person must be text or a whole number") as caught:
        ledger.hashed(key)
    assert "CANARY" not in str(caught.value)


TEN_TRIES = """
import sys
from deniable.privacy.ledger import Ledger, Use
ledger = Ledger(sys.argv[1])
print(sum(ledger.charge([ledger.hashed("ada")], Use("01" * 32, 1.0), 20)[0] for _ in range(10)))
ledger.close()
"""


@pytest.mark.slow
def test_processes_that_charge_at_once_never_exceed_the_cap_together(path):
    """The file is new to all of them, too: they find the same key."""
    running = [subprocess.Popen([sys.executable, "-c", TEN_TRIES, path], stdout=subprocess.PIPE, text=True) for _ in range(5)]
    assert sum(int(process.communicate()[0]) for process in running) == 20
    assert spent(path, "ada") == (1, 20, 20)


# --- the file --------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="modes are those of POSIX")
def test_only_its_owner_may_read_the_file(path):
    Ledger(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with pytest.raises(RefusedError, match="must be readable by its owner only: chmod 600"):
        Ledger(path)


def test_the_file_holds_no_key_no_answer_and_no_address(server, client, path):
    client.submit("study", {"smokes": "yes", "party": "Green"}, person="CANARY-person")
    client.submit_many("study", [{**ANSWERS, "who": f"CANARY-{i}"} for i in range(50)], person_column="who", job="CANARY-job")
    for when in ("open", "closed"):
        held = path.read_bytes()
        for word in ("CANARY", "Green", "Red", "smokes", "study", server.url):
            for spelling in (word.encode(), word.encode("utf-16-le")):
                assert spelling not in held, (when, word)
        client.close()
    with closing(sqlite3.connect(path)) as db:
        tables = [table for (table,) in db.execute("SELECT name FROM sqlite_master")]
        columns = {table: [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")] for table in tables}
        own = {"key": ["secret"], "spent": ["person", "survey", "epsilon", "times"], "begun": ["job", "row", "charge"]}
        assert columns == own
        assert db.execute("SELECT count(*) FROM begun").fetchone() == (0,)


def arrival_shows(path, close):
    """Rank correlation between the order of forty charges and their places in the file."""
    book = Ledger(path)
    people = [book.hashed(i) for i in range(40)]
    for person in people:
        book.charge([person], FIRST, 99)
    close(book)
    held = path.read_bytes()
    places = [held.index(person) for person in people]
    return np.corrcoef(np.argsort(np.argsort(places)), np.arange(40))[0, 1]


def test_a_closed_file_does_not_say_who_came_when(tmp_path):
    found = [abs(arrival_shows(tmp_path / str(i), Ledger.close)) for i in range(8)]
    assert np.mean(found) < 0.35  # by chance 0.13 on average
    for i in range(2):  # the control: a file that is not written anew
        assert abs(arrival_shows(tmp_path / f"control{i}", lambda book: book._file.close())) > 0.99


def test_other_ledgers_know_a_person_by_other_hashes(tmp_path):
    hashes = set()
    for name in "ab":
        with closing(Ledger(tmp_path / name)) as book:
            hashes.add(book.hashed("ada"))
    assert len(hashes) == 2


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"\0" * 100])
def test_a_file_that_is_no_ledger_is_told_before_anything_is_sent(server, path, content):
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(RefusedError, match="cannot be used, so nothing is sent"):
        SurveyClient(server.url, ledger=path)
    assert server.seen == []


# --- one respondent --------------------------------------------------------------------------------------------------


def test_a_person_above_the_cap_is_refused_and_nothing_is_sent(server, client, path):
    for _ in range(2):
        client.submit("study", ANSWERS, person="CANARY")
    with pytest.raises(RefusedError, match=r"exceed person_cap, 4\.394") as caught:
        client.submit("study", ANSWERS, person=" CANARY ")
    assert "CANARY" not in str(caught.value)
    assert len(server.posts) == 2
    assert client.outbox.waiting(server.url) == 0
    client.submit("study", ANSWERS, person="another")
    assert spent(path, "CANARY").submissions == 2


def watched(server, path, monkeypatch):
    """For each submission that arrives, what the ledger says of ada at that moment, in submissions."""
    seen = []
    answer = server.answer

    def look(request):
        if request.method == "POST":
            seen.append(spent(path, "ada").submissions)
        return answer(request)

    monkeypatch.setattr(server, "answer", look)
    return seen


def test_a_person_is_charged_before_anything_is_sent(server, client, path, monkeypatch):
    seen = watched(server, path, monkeypatch)
    client.submit("study", ANSWERS, person="ada")
    client.submit_many("study", [{**ANSWERS, "who": "ada"}], person_column="who")
    assert seen == [1, 2]


def test_the_control_a_client_that_charges_afterwards_is_seen(server, client, path, monkeypatch):
    seen = watched(server, path, monkeypatch)
    late = []
    monkeypatch.setattr(session_module, "charge_one", lambda *given: late.append(given))
    client.submit("study", ANSWERS, person="ada")
    assert (seen, len(late)) == ([0], 1)


def test_what_is_sent_again_costs_nothing(server, client, path, fault):
    server.faults.extend([fault(status=503)] * 2)
    with pytest.raises(DeliveryError):
        client.submit("study", ANSWERS, person="ada")
    assert client.resend().delivered == 1
    assert spent(path, "ada").submissions == 1
    server.faults.append(fault(status=403))
    with pytest.raises(RejectedError):
        client.submit("study", ANSWERS, person="ada")
    assert spent(path, "ada").submissions == 2  # the server has seen it
    assert client.resend(refused=True).delivered == 1
    assert spent(path, "ada").submissions == 2


def test_wrong_answers_cost_nothing(server, client, path):
    with pytest.raises(AnswerError):
        client.submit("study", {"smokes": "perhaps"}, person="ada")
    with pytest.raises(AnswerError):
        client.submit_many("study", [{"smokes": "perhaps", "who": "ada"}], person_column="who")
    assert spent(path, "ada").submissions == 0


def test_a_ledger_and_a_person_come_together(server, client, outbox):
    for call in (lambda: client.submit("study", ANSWERS), lambda: client.submit_many("study", [ANSWERS])):
        with pytest.raises(ValueError, match="must be named: this client keeps a ledger"):
            call()
    with SurveyClient(server.url, outbox=outbox) as without:
        with pytest.raises(ValueError, match="person needs a ledger: SurveyClient"):
            without.submit("study", ANSWERS, person="CANARY")
        with pytest.raises(ValueError, match="person_column needs a ledger"):
            without.submit_many("study", [ANSWERS], person_column="who")
    assert server.posts == []


def test_a_client_that_another_thread_closes_sends_nothing_that_is_not_charged(server, client, monkeypatch):
    asked, definition = [], client._definition

    def closed_meanwhile(survey):
        asked.append(survey)
        client.close()
        return definition(survey)

    monkeypatch.setattr(client, "_definition", closed_meanwhile)
    for batch in people("ada"), iter(people("ada")):
        with pytest.raises(RefusedError, match="the client is closed"):
            client.submit_many("study", batch, person_column="who")
    with pytest.raises(ValueError, match="person must be named"):
        client.submit("study", ANSWERS)
    assert (len(asked), server.posts) == (2, [])


def test_the_ledger_of_the_users_data_folder_is_the_default(server, outbox, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    with SurveyClient(server.url, outbox=outbox, ledger=True) as client:
        client.submit("study", ANSWERS, person="ada")
    assert spent(tmp_path / "deniable" / "ledger.sqlite", "ada").submissions == 1


# --- many respondents ------------------------------------------------------------------------------------------------


def people(*keys):
    return [{**ANSWERS, "who": key} for key in keys]


def test_every_input_names_its_persons_alike(server, client, path, tmp_path):
    rows = people(1, 2, 3)
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    client.person_cap = 99
    for source in (rows, iter(rows), frame, frame.astype(object), tmp_path / "a.csv", tmp_path / "a.jsonl"):
        assert client.submit_many("study", source, person_column="who").accepted == 3
    assert [spent(path, key).submissions for key in ("1", 2, 3)] == [6, 6, 6]


def test_one_row_above_the_cap_stops_all_of_them_by_its_number(server, client, path):
    rows = people("a", "b", "CANARY", "c", "CANARY", "CANARY", "d")
    with pytest.raises(RefusedError) as caught:
        client.submit_many("study", rows, person_column="who", batch=2)
    assert (
        str(caught.value) == "row 6: with this survey these persons' total epsilon would exceed person_cap, 4.39444915467; nothing was sent"
    )
    assert server.posts == []
    assert spent(path, "a").submissions == spent(path, "CANARY").submissions == 0


def test_a_stream_is_stopped_at_the_batch_and_says_so(server, client, path):
    with pytest.raises(RefusedError, match=r"row 5: .* nothing of theirs was sent; 3 rows before them are processed"):
        client.submit_many("study", iter(people("a", "b", "a", "c", "a", "d")), person_column="who", batch=3)
    assert server.counted == 3
    assert [spent(path, key).submissions for key in "abcd"] == [2, 1, 0, 0]


def test_rows_above_the_cap_are_left_out_and_listed_without_their_keys(server, client, path):
    rows = people("a", "CANARY", "CANARY", "CANARY", "b", "", None, 1.5)
    report = client.submit_many("study", rows, person_column="who", batch=2, on_invalid="skip")
    assert report.accepted == server.counted == 4
    assert [(found.row, found.question, found.reason.split(",")[0]) for found in report.rejected] == [
        (4, "who", "would raise this person's total epsilon above 4.39444915467"),
        (6, "who", "must name the person"),
        (7, "who", "must name the person"),
        (8, "who", "must name the person"),
    ]
    assert "CANARY" not in repr(report)
    assert spent(path, "CANARY").submissions == 2


def test_rows_that_name_nobody_are_wrong_rows(server, client):
    with pytest.raises(AnswerError, match=r"row 2, who: must name the person, by text or a whole number"):
        client.submit_many("study", [*people("a"), ANSWERS], person_column="who")
    with pytest.raises(AnswerError, match="missing: who"):
        client.submit_many("study", pd.DataFrame([ANSWERS]), person_column="who")
    assert server.posts == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"person_column": "party"}, "got the column of question party"),
        ({"person_column": "Q1", "columns": {"smokes": "Q1"}}, "got the column of question Q1"),
        ({"person_column": "smokes", "columns": {"smokes": "Q1"}}, "got the column of question smokes"),
        ({"person_column": "who", "group_column": "who"}, "must be another column than group_column"),
    ],
)
def test_the_column_of_a_question_or_a_group_is_no_persons(server, client, study, options, told):
    server.publish(Survey.from_dict({**study.to_dict(), "id": "clinics", "groups": ["North", "South"]}))
    survey = "clinics" if "group_column" in options else "study"
    with pytest.raises(AnswerError, match=told):
        client.submit_many(survey, [{**ANSWERS, "who": "North", "Q1": "yes"}], **options)
    assert server.posts == []


def test_groups_and_persons_stand_side_by_side(server, client, path, study):
    server.publish(Survey.from_dict({**study.to_dict(), "id": "clinics", "groups": ["North", "South"]}))
    rows = [{**ANSWERS, "who": str(i), "clinic": "North" if i % 3 else "South"} for i in range(9)]
    report = client.submit_many("clinics", rows, person_column="who", group_column="clinic", batch=4)
    assert (report.accepted, report.submissions) == (9, 5)
    assert all(spent(path, i).submissions == 1 for i in range(9))


# --- a job that is killed --------------------------------------------------------------------------------------------

ROWS = 40
JOB = """
import os, sys
from deniable.sdk import client
from deniable.delivery import jobs
from deniable.privacy import ledger
from deniable.delivery import outbox
from deniable.delivery import transport
url, key, box, book, file, stop, batch, broken = sys.argv[1:]
left = int(stop)

def dying(owner, name, early):
    real = getattr(owner, name)
    def call(*given, **options):
        global left
        left -= 1
        if early and left == 0:
            os._exit(9)
        result = real(*given, **options)
        if not early and left == 0:
            os._exit(9)
        return result
    setattr(owner, name, call)

if int(stop):
    dying(ledger.Ledger, "charge", False)
    dying(outbox.Outbox, "advance", False)
    dying(transport.Transport, "post", False)
if broken:
    ledger.Ledger._begun = lambda self, db, people, place: [False] * len(people)
with client.SurveyClient(url, outbox=box, ledger=book, person_cap=99 if broken else 3, retries=0, key=key) as sender:
    sender.submit_many("study", file, person_column="who", batch=int(batch))
"""


def run_until_done(server, tmp_path, broken=""):
    """Kills a job after each of its durable steps in turn, goes on with other batches, and gives what each person paid at the end."""
    book, file = tmp_path / "book.sqlite", tmp_path / "rows.csv"
    file.write_text("smokes,party,who\n" + "".join(f"yes,Red,p{i}\n" for i in range(ROWS)))
    codes = []
    for stop, batch in [(1, 8), (1, 5), (2, 8), (3, 3), (4, 4), (5, 7), (0, 9)]:
        words = [server.url, server.key, tmp_path / "box.sqlite", book, file, str(stop), str(batch), broken]
        done = subprocess.run([sys.executable, "-c", JOB, *words], capture_output=True, text=True)
        codes.append(done.returncode)
        with closing(Ledger(book)) as ledger:
            paid = [ledger.spent(ledger.hashed(f"p{i}")).submissions for i in range(ROWS)]
        assert sum(paid) >= server.counted, "sent and not charged"
    assert codes == [9] * 6 + [0], done.stderr
    return Counter(paid)


@pytest.mark.slow
def test_a_job_that_is_killed_anywhere_charges_each_person_once(server, tmp_path):
    assert run_until_done(server, tmp_path) == {1: ROWS}
    assert server.counted == ROWS


@pytest.mark.slow
def test_the_control_a_ledger_that_forgets_what_a_killed_job_charged_is_seen(server, tmp_path):
    assert run_until_done(server, tmp_path, "broken") != {1: ROWS}


def test_rows_that_now_name_other_persons_are_charged_to_them(ledger):
    """A job that was killed in its first batch may come back with another file."""
    a, b, job = ledger.hashed("a"), ledger.hashed("b"), ledger.job("study", "file")
    assert ledger.charge([a], FIRST, LN9, job_rows=JobRows(job, [1])) == [True]
    assert ledger.charge([b], FIRST, LN9, job_rows=JobRows(job, [1])) == [True]
    assert (ledger.spent(a).submissions, ledger.spent(b).submissions) == (1, 1)
    assert ledger.charge([b], FIRST, LN9, job_rows=JobRows(job, [1])) == [True]
    assert ledger.spent(b).submissions == 1
    assert ledger.charge([b], FIRST, LN9, job_rows=JobRows(ledger.job("study", "other"), [1])) == [False]


def test_rows_left_out_before_a_kill_are_left_out_after_it(ledger):
    a, job = ledger.hashed("a"), ledger.job("study", "file")
    for _ in range(2):
        assert ledger.charge([a, a], FIRST, LN9, job_rows=JobRows(job, [1, 2])) == [True, False]
    assert ledger.spent(a).submissions == 1


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def run(outbox, path, monkeypatch):
    monkeypatch.setenv("DENIABLE_OUTBOX", str(outbox))
    monkeypatch.setenv("DENIABLE_LEDGER", str(path))
    return lambda *words, stdin=None: CliRunner().invoke(main, list(words), input=stdin)


def test_the_command_line_keeps_a_ledger_and_shows_a_persons_sum(run, server, tmp_path):
    assert "there is no ledger at" in run("ledger", "ada").stderr
    submit = ["submit", f"{server.url}/s/study", "--person-column", "who"]
    for number in range(3):
        file = tmp_path / f"{number}.csv"
        file.write_text("smokes,party,who\nyes,Red,ada\n")
        result = run(*submit, "--person-cap", "ln 81", str(file))
        assert (result.exit_code, "row 1: with this survey" in result.stderr, "ada" in result.stderr) == (number // 2, number == 2, False)
    assert run("ledger", "ada").stdout == "2 submissions to 1 survey, epsilon 4.394449 in total.\n"
    assert run("ledger", "-", stdin="ada\n").stdout == run("ledger", "ada").stdout
    assert json.loads(run("ledger", "--json", "ada").stdout) == {"surveys": 1, "submissions": 2, "epsilon": pytest.approx(2 * LN9)}
    assert run("ledger", "bob").stdout == "The ledger has no person with this key.\n"
    assert run("ledger", " ").exit_code == 2


def test_without_a_person_column_the_command_line_keeps_no_ledger(run, server, path, tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("smokes,party,who\nyes,Red,ada\n")
    assert run("submit", f"{server.url}/s/study", str(file)).exit_code == 0
    assert not path.exists()


@pytest.mark.parametrize("cap", ["0", "much", "ln(3"])
def test_a_wrong_cap_on_the_command_line_is_wrong_usage(run, cap):
    result = run("submit", "http://127.0.0.1:9/s/study", "--person-column", "who", "--person-cap", cap, __file__)
    assert result.exit_code == 2
    assert "--person-cap must be a number above 0 or `ln x`" in result.stderr


def test_a_file_that_pandas_wrote_again_charges_the_same_person(server, client, tmp_path, path):
    names = list(ANSWERS)
    first, again = tmp_path / "first.csv", tmp_path / "again.csv"
    for file, keys in ((first, ["17"]), (again, ["17.0"])):
        pd.DataFrame([{**ANSWERS, "who": key} for key in keys])[[*names, "who"]].to_csv(file, index=False)
    client.submit_many("study", str(first), person_column="who")
    client.submit_many("study", str(again), person_column="who")
    assert spent(path, "17").submissions == 2
