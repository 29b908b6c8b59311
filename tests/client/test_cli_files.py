"""`deniable submit` with files as people have them, and with copies of them."""

from __future__ import annotations

import shutil

import openpyxl
import pytest
from click.testing import CliRunner

from deniable.cli import main

ROWS = [("yes", "Red", "4711"), ("no", "1", "4712"), ("no", "Blue", "4713")]
TABLE = "smokes;party;staff\n" + "".join(f"{';'.join(row)}\n" for row in ROWS)
NOTE = "Note: progress is saved by the file's path"


def test_a_file_is_read_as_it_is_or_as_it_is_told_to_be(server, submit, tmp_path):
    semicolons, marked, old, tabs, book = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv", "d.txt", "e.xlsx"))
    semicolons.write_text(TABLE)
    marked.write_bytes(TABLE.encode("utf-16"))
    old.write_bytes(TABLE.replace("staff", "Straße").encode("cp1252"))
    tabs.write_text(TABLE.replace(";", "\t"))
    workbook = openpyxl.Workbook()
    for row in [("smokes", "party"), *(row[:2] for row in ROWS)]:
        workbook.active.append(row)
    workbook.create_sheet("notes").append(["CANARY"])
    workbook.save(book)
    told = (
        [semicolons],
        [marked],
        ["--encoding", "cp1252", old],
        ["--delimiter", "tab", tabs],
        ["--sheet", "Sheet", book],
        [tabs, "--job", "x"],
    )
    for number, words in enumerate(told, start=1):
        assert (submit(*words).exit_code, server.counted) == (0, 3 * number), words
    piped = submit("-", stdin=TABLE.encode("utf-16"))
    assert (piped.exit_code, server.counted) == (0, 3 * len(told) + 3)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--delimiter", ";;"], "delimiter must be one character, got ';;'"),
        (["--encoding", "klingon"], "encoding must be one that Python knows"),
        (["--sheet", "x"], "sheet must be left out for a csv file"),
        (["--row-key", "staff", "--job", "x"], "--row-key must not be combined with --job or --invitation"),
    ],
)
def test_a_wrong_option_is_wrong_usage(submit, tmp_path, server, words, told):
    (tmp_path / "a.csv").write_text(TABLE)
    result = submit(*words, tmp_path / "a.csv")
    assert (result.exit_code, server.posts) == (2, [])
    assert told in result.stderr


def test_what_cannot_be_read_with_certainty_is_one_line_without_a_cell(submit, tmp_path, server):
    for name, raw in {"a.csv": "smokes,party\nCANARY\xe9,Red\n".encode("cp1252"), "b.xlsx": b"smokes,party\nCANARY,Red\n"}.items():
        (tmp_path / name).write_bytes(raw)
        result = submit(tmp_path / name)
        assert (result.exit_code, server.posts) == (1, [])
        assert "CANARY" not in result.stderr
    assert "must be a workbook (.xlsx), but cannot be read as one" in result.stderr


def test_the_first_run_says_what_a_copy_does_and_with_row_keys_a_copy_counts_once(submit, tmp_path, server):
    path = tmp_path / "a.csv"
    path.write_text(TABLE)
    assert NOTE in submit(path).stderr
    assert NOTE not in submit(path).stderr  # the second run sends nothing
    assert NOTE not in submit(path, "--job", "mine").stderr
    assert server.counted == 6
    server.accepted.clear()
    (tmp_path / "outbox.sqlite").unlink()
    for name, told in {"b.csv": "3 respondents accepted in 1 submission", "c.csv": "3 rows were processed by earlier runs."}.items():
        result = submit(shutil.copy(path, tmp_path / name), "--row-key", "staff")
        assert told in result.stdout
        assert NOTE not in result.stderr
    assert server.counted == 3


def test_a_digest_that_the_server_would_see_is_refused(submit, server, tmp_path):
    """Taken as a link without one, it would pin nothing."""
    result = CliRunner().invoke(main, ["submit", f"{server.url}/s/study?digest={'0' * 64}", __file__])
    assert (result.exit_code, server.seen) == (2, [])
    assert "the link's digest must come after #, which no server sees, and not after ?" in result.stderr
