"""Each row is randomized and counted once, whatever file it comes in; what is kept of it tells nothing without the key beside it."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.kit.killing import kill_again_and_again

from deniable.delivery.outbox import Outbox
from deniable.delivery.row_keys import RowKeys
from deniable.errors import AnswerError, RefusedError
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey
from deniable.wire.submission import Submission

ROWS = [{"id": f"staff-{n:04}", "smokes": "yes" if n % 2 else "no", "party": "Red"} for n in range(20)]


@pytest.fixture
def client(server, outbox, no_waiting):
    with SurveyClient(server.url, outbox=outbox, retries=0, key=server.key) as client:
        yield client


def csv(path: Path, rows=ROWS) -> Path:
    path.write_text("\n".join([",".join(rows[0]), *(",".join(row.values()) for row in rows)]) + "\n")
    return path


def test_a_copy_a_new_name_and_another_order_are_counted_once(client, server, tmp_path):
    first = csv(tmp_path / "a.csv", ROWS[:12])
    assert client.submit_many("study", first, row_key="id", batch=5).accepted == 12
    copy = shutil.copy(first, tmp_path / "copy.csv")
    csv(first, ROWS[::-1])  # it has changed, which a file by its path must not
    for rows, known in ((copy, 12), (first, 12), (ROWS, 20), (iter(ROWS), 20), (csv(tmp_path / "b.csv"), 20)):
        report = client.submit_many("study", rows, row_key="id", batch=7)
        assert (report.accepted, report.resumed) == (12 if rows == copy else 20, known)
    assert server.counted == 20


def test_the_control_without_it_a_copy_is_counted_twice(client, server, tmp_path):
    first = csv(tmp_path / "a.csv")
    for path in (first, first, shutil.copy(first, tmp_path / "copy.csv")):
        client.submit_many("study", path)
    assert server.counted == 40


@pytest.mark.parametrize("row_key", ["id", None])
def test_a_server_is_one_server_however_its_address_is_written(server, outbox, tmp_path, row_key):
    """Rows that are randomized once for each way to write it are as little private as their sum."""
    first, link, port = csv(tmp_path / "a.csv"), tmp_path / "link.csv", server.url.rpartition(":")[2]
    link.symlink_to(first)

    def sent(url: str, path: Path) -> int:
        with SurveyClient(url, outbox=outbox, retries=0, key=server.key) as client:
            return client.submit_many("study", path, row_key=row_key).resumed

    addresses = (server.url, f"HTTP://127.0.0.1:{port}", f"http://127.0.0.1:0{port}/", f"{server.url}//")
    assert [sent(url, path) for url in addresses for path in (first, link)] == [0] + [20] * 7
    for url in (f"http://localhost:{port}", f"http://LocalHost:{port}"):
        with pytest.raises(RefusedError, match=f"20 rows of it were randomized for this survey at {server.url}, and would be"):
            sent(url, first)
    assert server.counted == 20


def test_rows_that_were_left_out_come_in_once_they_are_right(client, server, tmp_path):
    wrong = [{**row, "smokes": "perhaps"} if n < 3 else row for n, row in enumerate(ROWS)]
    report = client.submit_many("study", csv(tmp_path / "a.csv", wrong), row_key="id", on_invalid="skip")
    assert (report.accepted, len(report.rejected)) == (17, 3)
    assert client.submit_many("study", csv(tmp_path / "a.csv"), row_key="id").resumed == 17
    assert server.counted == 20


def test_one_key_in_two_rows_of_a_file_is_a_wrong_row_across_batches_too(client, server, tmp_path):
    rows = [*ROWS[:7], {**ROWS[2], "smokes": "yes"}, {**ROWS[3], "id": f" {ROWS[3]['id']} "}]
    path = csv(tmp_path / "a.csv", rows)
    with pytest.raises(AnswerError, match=r"row 8, id: must differ in each row; row 3 has the same\nrow 9, id: .* row 4 has the same"):
        client.submit_many("study", path, row_key="id", batch=3)
    assert server.counted == 0
    report = client.submit_many("study", path, row_key="id", batch=3, on_invalid="skip")
    assert (report.accepted, [found.row for found in report.rejected], server.counted) == (7, [8, 9], 7)
    again = client.submit_many("study", path, row_key="id", batch=3, on_invalid="skip")
    assert (again.accepted, again.resumed, [found.row for found in again.rejected]) == (7, 7, [8, 9])


@pytest.mark.parametrize("key", ["", " ", None, 4.5, float("nan"), True, [1]])
def test_a_row_without_a_key_is_a_wrong_row(client, key):
    with pytest.raises(AnswerError, match="row 2, id: must name the row, by text or a whole number"):
        client.submit_many("study", [ROWS[0], {**ROWS[1], "id": key}], row_key="id")


def test_another_survey_is_another_matter(client, server, study, tmp_path):
    server.publish(Survey.from_dict({**study.to_dict(), "id": "second"}))
    path = csv(tmp_path / "a.csv")
    assert [client.submit_many(survey, path, row_key="id").resumed for survey in ("study", "second", "study", "second")] == [0, 0, 20, 20]
    assert server.counted == 40


def test_the_two_ways_are_not_mixed(client, server, tmp_path):
    """Rows that went one way are not recognised the other way: they would be counted twice."""
    path, other = csv(tmp_path / "a.csv"), csv(tmp_path / "b.csv")
    client.submit_many("study", path)
    with pytest.raises(RefusedError, match="20 of its rows were processed by their position"):
        client.submit_many("study", path, row_key="id")
    client.submit_many("study", csv(tmp_path / "c.csv", [{**row, "id": f"{row['id']}c"} for row in ROWS]), row_key="id")
    with pytest.raises(RefusedError, match=r"row_key must be named: 20 rows of survey study were sent by their keys"):
        client.submit_many("study", other)
    with pytest.raises(RefusedError, match="it began with rows by the column id, and now has rows by the column other"):
        client.submit_many("study", [{**row, "other": row["id"]} for row in ROWS], row_key="other")
    assert server.counted == 40


def test_the_column_is_none_of_a_question_or_of_the_group(client):
    with pytest.raises(AnswerError, match="row_key must be a column of its own, got the column of question smokes"):
        client.submit_many("study", ROWS, row_key="smokes")
    for other in ({"job": "j"}, {"invitation": "x"}):
        with pytest.raises(ValueError, match="row_key must not be combined with job"):
            client.submit_many("study", ROWS, row_key="id", **other)


def test_only_the_key_tells_who_was_there(client, outbox, server, tmp_path):
    """Without it, no hash of an identifier, of a row or of what others know of it is in the file."""
    client.submit_many("study", csv(tmp_path / "a.csv"), row_key="id")
    client.close()
    files = b"".join(path.read_bytes() for path in tmp_path.glob("outbox*") if not path.name.endswith(".key"))
    known = [text for row in ROWS for text in (row["id"], ",".join(row.values()), f"{server.url}\0study\0{row['id']}")]
    hashes = [make(text.encode()).digest()[:16] for text in known for make in (hashlib.md5, hashlib.sha1, hashlib.sha256, hashlib.blake2b)]
    hashes += [hashlib.blake2b(text.encode(), digest_size=16, person=b"row").digest() for text in known]
    assert not any(found in files for found in [*hashes, *(row["id"].encode() for row in ROWS)])
    key = tmp_path / f"{outbox.name}.key"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert len(key.read_bytes()) == 32
    assert key.read_bytes() not in files
    with closing(Outbox(outbox)) as box:  # the control: with the key, whoever has a list finds them all
        keys = RowKeys(box, server.url, "study", "id")
        assert len(box.sent([keys.hashed(row["id"]) for row in ROWS])) == 20
        assert box.sent([keys.hashed("staff-9999")]) == set()


def test_a_key_that_is_gone_or_open_to_others_is_refused_and_nothing_is_sent(client, outbox, server, tmp_path):
    path, key = csv(tmp_path / "a.csv"), Path(f"{outbox}.key")
    client.submit_many("study", path, row_key="id")
    before = key.read_bytes()
    key.unlink()
    with pytest.raises(RefusedError, match="must contain the key by which earlier rows are recognised"):
        client.submit_many("study", path, row_key="id")
    key.write_bytes(before)
    key.chmod(0o644)
    with pytest.raises(RefusedError, match="must be readable by its owner only"):
        client.submit_many("study", path, row_key="id")
    key.chmod(0o600)
    assert client.submit_many("study", path, row_key="id").resumed == 20
    assert server.counted == 20


def test_what_is_kept_in_memory_recognises_nothing(server):
    with SurveyClient(server.url, outbox=":memory:", key=server.key) as client, pytest.raises(RefusedError, match="outbox must be a file"):
        client.submit_many("study", ROWS, row_key="id")


def test_a_person_is_charged_once_for_a_row_that_comes_twice(server, outbox, no_waiting, tmp_path, study):
    with SurveyClient(server.url, outbox=outbox, ledger=tmp_path / "ledger", key=server.key) as client:
        for name in ("a.csv", "b.csv"):
            client.submit_many("study", csv(tmp_path / name), row_key="id", person_column="id", batch=6)
        ledger = client._ledger
        assert ledger is not None
        assert {ledger.spent(ledger.hashed(row["id"])).submissions for row in ROWS} == {1}


BUCKETS = 32
KILLED = """
import json, os, sys
from deniable.device import perturb as module
from deniable.sdk.client import SurveyClient
from deniable.delivery.outbox import Outbox

url, outbox, rows, log, broken = sys.argv[1:]
perturb = module.perturb

def noted(survey, categories, *public):
    made, code = perturb(survey, categories, *public)
    line = json.dumps([made.id.hex(), (categories[0].astype(int) * 32 + categories[1]).tolist()]) + "\\n"
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)
    return made, code

module.perturb = noted
if broken:
    advance = Outbox.advance
    Outbox.advance = lambda self, url, survey, job, rows, made, rejected, marks: advance(self, url, survey, job, rows, made, rejected)
with SurveyClient(url, outbox=outbox, key=os.environ["DENIABLE_KEY"]) as client:
    client.submit_many("buckets", rows, batch=30, row_key="id")
"""


def killed_runs(server, tmp_path, fault, kills: int, broken: str = "") -> Counter:
    """Kills runs over copies of a file, each in another order and with another name, lets the last one end, and counts each row."""
    options = [str(i) for i in range(BUCKETS)]
    questions = [{"id": name, "text": name, "type": "choice", "options": options, "epsilon": 1} for name in "ab"]
    server.publish(Survey.from_dict({"deniable": 1, "id": "buckets", "title": "T", "about": "A", "questions": questions}))
    rng, environment = random.Random(3), {**os.environ, "DENIABLE_KEY": server.key}
    rows = [{"id": str(1_000_000 + i), "a": str(i // BUCKETS), "b": str(i % BUCKETS)} for i in range(BUCKETS**2)]

    def command(name: str) -> list[str]:
        rng.shuffle(rows)
        path = csv(tmp_path / f"{name}.csv", rows)
        return [sys.executable, "-c", KILLED, server.url, str(tmp_path / "outbox"), str(path), str(tmp_path / "log"), broken]

    names = (f"copy {number}" for number in itertools.count())
    faults = [fault(worked=True), fault(status=200, worked=True, body=b"?")]
    kill_again_and_again(server, faults, lambda: command(next(names)), kills, environment)
    for name in ("last", "copy of the last"):
        subprocess.run(command(name), check=True, timeout=120, env=environment)
    of = dict(map(json.loads, (tmp_path / "log").read_text().splitlines()))
    assert len({Submission.from_json(body).id for body in server.accepted.values()}) == len(server.accepted)
    return Counter(row for submission in server.accepted for row in of[submission])


@pytest.mark.slow
def test_runs_over_copies_that_are_killed_again_and_again_count_every_row_once(server, tmp_path, fault):
    counted = killed_runs(server, tmp_path, fault, kills=5)
    assert counted == dict.fromkeys(range(BUCKETS**2), 1)
    assert server.counted == BUCKETS**2
    assert len(server.posts) > len(server.accepted)  # some were sent more than once, or this proves little


@pytest.mark.slow
def test_the_control_an_outbox_that_forgets_the_hashes_counts_rows_again(server, tmp_path, fault):
    assert min(killed_runs(server, tmp_path, fault, kills=1, broken="forgets").values()) > 1


@pytest.mark.parametrize("key", ["17.0", "017", "1.7e1", 17.0, "１７"])
def test_a_row_whose_key_is_written_in_another_way_is_not_sent_again(client, server, key):
    client.submit_many("study", [{**ROWS[0], "id": 17}], row_key="id")
    report = client.submit_many("study", [{**ROWS[0], "id": key}], row_key="id")
    assert (report.resumed, server.counted) == (1, 1)
