"""`deniable estimate`: every design from CSV, three forms, and one clear message for what is wrong."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable import cli
from deniable.estimate import collected, designs

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    rows = ["id,answer,sex,q0,q1,color"]
    for i in range(100):
        p = "3/4" if i % 4 < 2 else "0.9"
        rows.append(
            f"{i},{'yes' if i % 10 < 3 else 'no'},{'woman' if i % 2 else 'man'},{'1/4' if p == '3/4' else '0.1'},{p},{'rgb'[i % 3]}"
        )
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(tmp_path)

    def run(*words: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(cli.main, ["estimate", *words], input=stdin)

    return run


ANSWER = ("data.csv", "--column", "answer")


def test_a_design_from_csv_gives_the_table_of_the_library(run: Run) -> None:
    result = run(*ANSWER, "--design", "warner", "--p", "3/4")
    assert result.exit_code == 0
    assert result.stdout == collected([1] * 30 + [0] * 70, designs.warner(0.75), variable="answer").to_table()
    assert "yes       100     10.0%" in result.stdout


@pytest.mark.parametrize(
    ("words", "estimate"),
    [
        (["--design", "warner", "--p", "0.75"], 0.1),
        (["--design", "forced-response", "--forced-yes", "1/6", "--forced-no", "1/6"], 0.2),
        (["--design", "unrelated-question", "--p", "0.6", "--prevalence", "0.25"], 1 / 3),
        (["--design", "crosswise", "--prevalence", "0.25"], 0.9),
        (["--design", "triangular", "--prevalence", "0.2"], 0.125),
        (["--design", "kuk", "--p-yes", "0.8", "--p-no", "0.2"], 1 / 6),
        (["--design", "mangat", "--p", "0.8"], 0.125),
    ],
)
def test_each_design_is_described_by_its_own_options(run: Run, words: list[str], estimate: float) -> None:
    result = run(*ANSWER, *words, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["rows"][0]["estimate"] == pytest.approx(estimate)


def test_designs_by_row_come_from_columns_and_groups_from_another(run: Run) -> None:
    result = run(*ANSWER, "--q0", "q0", "--q1", "q1", "--by", "sex", "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["group"], row["category"], row["n"]) for row in rows] == [
        ("man", "yes", "50"), ("man", "no", "50"), ("woman", "yes", "50"), ("woman", "no", "50"),
    ]  # fmt: skip
    assert {row["method"] for row in rows} == {"likelihood-ratio"}


def test_categories_come_with_forced_chances_or_a_matrix(run: Run, tmp_path: Path) -> None:
    color = ("data.csv", "--column", "color", "--json")
    forced = run(*color, "--design", "forced-categories", "--categories", "r, g, b", "--forced", "1/8,1/8,1/8")
    assert [row["category"] for row in json.loads(forced.stdout)["rows"]] == ["r", "g", "b"]
    (tmp_path / "m.csv").write_text("r,g,b\n3/4,1/8,1/8\n1/8,3/4,1/8\n1/8,1/8,3/4\n")
    matrix = run(*color, "--design", "matrix", "--matrix", "m.csv")
    assert json.loads(matrix.stdout)["rows"] == json.loads(forced.stdout)["rows"]


def test_standard_input_is_read(run: Run) -> None:
    result = run("-", "--column", "a", "--design", "warner", "--p", "0.9", "--target", "respondents", stdin="\ufeffa\n1\n0\n")
    assert result.exit_code == 0
    assert "target: respondents" in result.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ([*ANSWER], 2, "--design is missing (or --q0 and --q1"),
        ([*ANSWER, "--q0", "q0"], 2, "--design by-row needs --q0 and --q1; missing: --q1"),
        ([*ANSWER, "--design", "warner"], 2, "--design warner needs --p; missing: --p"),
        ([*ANSWER, "--design", "warner", "--p", "0.7", "--prevalence", "0.1"], 2, "not for this design: --prevalence"),
        ([*ANSWER, "--design", "warner", "--p", "much"], 2, "must be a number such as 0.25 or 1/6, got 'much'"),
        ([*ANSWER, "--design", "forced-categories", "--categories", "a,b", "--forced", "1/8,x"], 2, "such as 0.25 or 1/6, got 'x'"),
        (["--design", "warner", "--p", "0.7", "data.csv"], 2, "--column"),
        ([*ANSWER, "--design", "warner", "--p", "0.5"], 1, "q0 must differ from q1, got 0.5 for both"),
        ([*ANSWER, "--design", "warner", "--p", "7"], 1, "p must be a probability from 0 to 1, got 7"),
        ([*ANSWER, "--design", "warner", "--p", "0.7", "--method", "magic"], 1, "method must be one of"),
        ([*ANSWER, "--design", "warner", "--p", "0.7", "--by", "town"], 1, "missing: town"),
        (
            ["data.csv", "--column", "sex", "--design", "warner", "--p", "0.7"],
            1,
            "row 1: the report must be one of yes, no (100 rows are not)",
        ),
        ([*ANSWER, "--q0", "sex", "--q1", "q1"], 1, "row 1, sex: must be a probability such as 0.25 or 1/6"),
        ([*ANSWER, "--q0", "q0", "--q1", "id"], 1, "row 3: q1 must be a probability from 0 to 1, and is not; it is not quoted"),
        (["broken.csv", "--column", "a", "--design", "warner", "--p", "0.7"], 1, "row 2: must have 1 cells, as the header has, got 2"),
        (
            ["data.csv", "--column", "color", "--design", "matrix", "--matrix", "data.csv"],
            1,
            "data.csv must have the categories in its first",
        ),
        (["empty.csv", "--column", "a", "--design", "warner", "--p", "0.7"], 1, "there must be at least 1 report, got 0"),
    ],
)
def test_what_is_wrong_gets_one_message_and_an_exit_code(run: Run, tmp_path: Path, words: list[str], code: int, message: str) -> None:
    (tmp_path / "broken.csv").write_text("a\nyes\nno,secret\n")
    (tmp_path / "empty.csv").write_text("a\n")
    result = run(*words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output
    assert "secret" not in result.output
    assert "woman" not in result.output
