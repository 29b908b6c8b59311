"""`deniable submit`: options that would be of no use are refused, and a list of rows left out costs no file."""

from __future__ import annotations

import csv
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

TABLE = "smokes,party,who\n" + "yes,Red,ada\n" * 3
WRONG = TABLE + "perhaps,Red,bob\n"
LIST = 'row,question,reason\n4,smokes,"must be one of yes, no"\n'
EARLIER = "row,question,reason\n9,party,an earlier list\n"


@pytest.fixture
def answers(tmp_path) -> Path:
    path = tmp_path / "answers.csv"
    path.write_text(WRONG)
    return path


@pytest.fixture
def earlier(tmp_path) -> Path:
    path = tmp_path / "rejects.csv"
    path.write_text(EARLIER)
    return path


# --- a cap without persons -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["--person-cap", "0.1"], "--person-cap needs"),
        (["--person-cap", "8"], "--person-cap needs"),
        (["--ledger", "{}"], "--ledger needs"),
        (["--ledger", "{}", "--person-cap", "0.1"], "--person-cap and --ledger need"),
    ],
)
def test_a_cap_or_a_ledger_without_a_column_of_persons_is_wrong_usage(submit, server, answers, tmp_path, words, named):
    answers.write_text(TABLE)
    ledger = tmp_path / "ledger.sqlite"
    result = submit(*(word.format(ledger) for word in words), answers)
    assert (result.exit_code, server.posts, ledger.exists()) == (2, [], False)
    assert f"{named} --person-column" in result.stderr


def test_a_ledger_in_the_environment_asks_for_nothing(submit, server, answers, tmp_path, monkeypatch):
    answers.write_text(TABLE)
    monkeypatch.setenv("DENIABLE_LEDGER", str(tmp_path / "ledger.sqlite"))
    assert (submit(answers).exit_code, server.counted) == (0, 3)


def test_a_cap_and_a_ledger_with_a_column_of_persons_hold(submit, server, answers, tmp_path):
    answers.write_text(TABLE)
    result = submit("--person-column", "who", "--person-cap", "0.1", "--ledger", tmp_path / "ledger.sqlite", answers)
    assert (result.exit_code, server.posts) == (1, [])
    assert "exceed person_cap" in result.stderr


# --- the list of the rows left out -----------------------------------------------------------------------------------


def same_path(answers: Path) -> Path:
    return answers


def symbolic_link(answers: Path) -> Path:
    link = answers.with_name("link.csv")
    link.symlink_to(answers)
    return link


def hard_link(answers: Path) -> Path:
    link = answers.with_name("hard.csv")
    link.hardlink_to(answers)
    return link


def other_way(answers: Path) -> Path:
    return answers.parent / "." / ".." / answers.parent.name / answers.name


@pytest.mark.parametrize("named", [same_path, symbolic_link, hard_link, other_way])
def test_the_list_is_never_the_file_of_answers(submit, server, answers, named):
    for words in (["--skip-invalid"], []):
        result = submit(*words, "--rejects", named(answers) if words else answers, answers)
        assert (result.exit_code, server.posts) == (2, [])
        assert "must be another file than FILE" in result.stderr
        assert answers.read_text() == WRONG


@pytest.mark.slow
def test_the_list_is_never_the_file_of_answers_on_standard_input(server, outbox, answers):
    with answers.open() as stdin:
        result = subprocess.run(
            [sys.executable, "-m", "deniable", "submit", f"{server.url}/s/study", "--skip-invalid", "--rejects", str(answers), "-"],
            stdin=stdin,
            capture_output=True,
            text=True,
            env={**os.environ, "DENIABLE_OUTBOX": str(outbox), "DENIABLE_KEY": server.key},
        )
    assert (result.returncode, server.posts, answers.read_text()) == (2, [], WRONG)
    assert "must be another file than FILE" in result.stderr


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),  # --skip-invalid is missing
        (["--skip-invalid", "--group", "a", "--group-column", "b"], 2),
        (["--skip-invalid", "--batch", "0"], 2),
        (["--skip-invalid", "--sheet", "x"], 2),
        (["--skip-invalid", "--survey", "other"], 2),
        (["--skip-invalid", "--pin", "0" * 64], 1),
    ],
)
def test_a_run_that_fails_leaves_an_earlier_list_as_it_was_and_makes_none(submit, server, answers, earlier, words, code):
    for rejects, kept in ((earlier, EARLIER), (earlier.with_name("none.csv"), None)):
        result = submit(*words, "--rejects", rejects, answers)
        assert (result.exit_code, server.posts) == (code, [])
        assert (rejects.read_text() if rejects.exists() else None) == kept


def test_what_cannot_be_delivered_leaves_an_earlier_list_as_it_was(submit, server, answers, earlier, fault):
    server.always = fault(status=503)
    assert submit("--skip-invalid", "--rejects", earlier, answers).exit_code == 3
    assert earlier.read_text() == EARLIER


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("none/rejects.csv", "there is no folder"),
        ("answers.csv/rejects.csv", "Not a directory"),
        ("", "is a directory"),
        ("x" * 300, "File name too long"),
        ("new/", "must name a file"),
        ("dangling", "there is no folder"),
    ],
)
def test_a_list_that_cannot_be_written_is_told_before_anything_is_sent(submit, server, answers, outbox, tmp_path, name, told):
    (tmp_path / "dangling").symlink_to("none/rejects.csv")
    before = sorted(tmp_path.iterdir())
    result = submit("--skip-invalid", "--rejects", f"{tmp_path}/{name}", answers)
    assert (result.exit_code, server.posts, outbox.exists(), sorted(tmp_path.iterdir())) == (2, [], False, before)
    assert told in " ".join(result.stderr.split())


@pytest.mark.parametrize("there", [True, False])
def test_a_list_without_the_right_to_write_it_is_told_before_anything_is_sent(submit, server, answers, earlier, monkeypatch, there):
    rejects = earlier if there else earlier.with_name("none.csv")
    refused = {str(rejects) if there else str(rejects.parent)}
    may = os.access
    monkeypatch.setattr("os.access", lambda path, mode, **how: os.fspath(path) not in refused and may(path, mode, **how))
    result = submit("--skip-invalid", "--rejects", rejects, answers)
    assert (result.exit_code, server.posts, earlier.read_text()) == (2, [], EARLIER)
    assert "is not writable" in result.stderr or "no file can be made in" in result.stderr


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_list_is_a_file_like_any_other_and_nothing_lies_beside_it(submit, answers, tmp_path, umask):
    rejects, usual, before = tmp_path / "new.csv", tmp_path / "usual", os.umask(umask)
    try:
        assert submit("--skip-invalid", "--rejects", rejects, answers).exit_code == 0
        usual.touch()
    finally:
        os.umask(before)
    assert rejects.read_text() == LIST
    assert stat.S_IMODE(rejects.stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)
    assert {path.name for path in tmp_path.iterdir() if "outbox" not in path.name} == {"answers.csv", "new.csv", "usual"}


def test_an_earlier_list_is_replaced_and_stays_as_private_as_it_was(submit, answers, earlier):
    earlier.chmod(0o600)
    assert submit("--skip-invalid", "--rejects", earlier, answers).exit_code == 0
    assert (earlier.read_text(), stat.S_IMODE(earlier.stat().st_mode)) == (LIST, 0o600)


def test_a_link_to_an_earlier_list_stays_a_link(submit, answers, earlier):
    link = symbolic_link(earlier)
    assert submit("--skip-invalid", "--rejects", link, answers).exit_code == 0
    assert (link.is_symlink(), earlier.read_text()) == (True, LIST)


def test_without_a_wrong_row_the_list_is_its_header(submit, answers, earlier):
    answers.write_text(TABLE)
    assert submit("--skip-invalid", "--rejects", earlier, answers).exit_code == 0
    assert earlier.read_text() == "row,question,reason\n"


def test_where_no_file_can_be_put_beside_it_an_earlier_list_is_written_in_its_place(submit, answers, earlier, monkeypatch):
    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.replace", refused)
    before = earlier.stat().st_ino
    assert submit("--skip-invalid", "--rejects", earlier, answers).exit_code == 0
    assert (earlier.read_text(), earlier.stat().st_ino) == (LIST, before)
    assert not list(earlier.parent.glob(".deniable-*"))


def test_a_dash_is_standard_output(submit, answers):
    result = submit("--skip-invalid", "--rejects", "-", answers)
    assert (result.exit_code, result.stdout.startswith(LIST)) == (0, True)
    assert "row was left out" in result.stdout.removeprefix(LIST)


@pytest.mark.slow
@pytest.mark.parametrize("to_a_file", [False, True])
def test_standard_output_by_its_path_has_the_list_and_then_the_summary(server, outbox, answers, tmp_path, to_a_file):
    words = ["submit", f"{server.url}/s/study", "--skip-invalid", "--rejects", "/dev/stdout", str(answers)]
    env = {**os.environ, "DENIABLE_OUTBOX": str(outbox), "DENIABLE_KEY": server.key}
    found = tmp_path / "found"
    with found.open("w") as file:
        stdout = file if to_a_file else subprocess.PIPE
        result = subprocess.run([sys.executable, "-m", "deniable", *words], stdout=stdout, stderr=subprocess.PIPE, text=True, env=env)
    told = found.read_text() if to_a_file else result.stdout
    assert (result.returncode, told.startswith(LIST)) == (0, True), result.stderr
    assert "3 respondents accepted" in told


def test_what_is_no_regular_file_is_written_as_it_is(submit, answers, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE, text=True) as reader:
        assert submit("--skip-invalid", "--rejects", pipe, answers).exit_code == 0
        assert reader.communicate(timeout=60)[0] == LIST
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_list_that_fails_at_the_end_costs_no_summary(submit, server, answers):
    result = submit("--skip-invalid", "--rejects", "/dev/full", answers)
    assert (result.exit_code, server.counted) == (1, 3)
    assert "3 respondents accepted" in result.stdout
    assert "No space left" in result.stderr


def test_a_list_that_fails_at_the_end_leaves_the_earlier_one(submit, server, answers, earlier, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    result = submit("--skip-invalid", "--rejects", earlier, answers)
    assert (result.exit_code, server.counted, earlier.read_text()) == (1, 3, EARLIER)
    assert not list(earlier.parent.glob(".deniable-*"))


def test_the_list_reads_as_csv(submit, answers, tmp_path):
    submit("--skip-invalid", "--rejects", tmp_path / "new.csv", answers)
    with (tmp_path / "new.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{"row": "4", "question": "smokes", "reason": "must be one of yes, no"}]
