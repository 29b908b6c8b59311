"""`deniable translate`: a survey's texts go to a translator's file and come back."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.survey import Survey

FILE = """\
deniable: 1
id: s
title: Habits
about: We ask.
epsilon: 1
questions: [{id: smokes, text: "Do you smoke?", type: yes_no}]
"""


def run(*words: object) -> Result:
    return CliRunner().invoke(main, ["translate", *map(str, words)])


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.yaml"
    path.write_text(FILE)
    return path


def test_a_translated_file_comes_back(survey: Path, tmp_path: Path) -> None:
    table, translated = tmp_path / "de.csv", tmp_path / "translated.csv"
    assert run(survey, "--language", "de", "-o", table).output == f"{table} is written\n"
    raw = table.read_bytes()
    assert raw.startswith("\ufeffkey,where,text (en),translation (de),note\r\n".encode())
    translated.write_bytes(raw.replace(b"Do you smoke?,,", b"Do you smoke?,Rauchen Sie?,"))
    done = run(survey, "--from", translated, "-o", tmp_path / "new.yaml")
    assert done.exit_code == 0, done.output
    assert done.output.endswith("new.yaml is written: 1 imported, 0 the same already, 2 lacking\n")
    assert Survey.from_file(tmp_path / "new.yaml").translations == {"de": {"questions": {"smokes": {"text": "Rauchen Sie?"}}}}
    assert survey.read_text() == FILE


def test_a_workbook_comes_back_and_refused_rows_are_printed(survey: Path, tmp_path: Path) -> None:
    assert run(survey, "--language", "ar", "-o", tmp_path / "ar.xlsx").exit_code == 0
    survey.write_text(FILE.replace("Habits", "Customs"))
    done = run(survey, "--from", tmp_path / "ar.xlsx", "-o", tmp_path / "new.yaml")
    assert done.exit_code == 1
    assert "row 2, title: its original text has changed since the download" in done.stderr
    assert (tmp_path / "new.yaml").exists()


def test_no_file_is_overwritten(survey: Path, tmp_path: Path) -> None:
    table = tmp_path / "de.csv"
    assert run(survey, "--language", "de", "-o", table).exit_code == 0
    before = table.read_bytes()
    for words in ((survey, "--language", "fr", "-o", table), (survey, "--from", table, "-o", survey)):
        done = run(*words)
        assert done.exit_code == 1
        assert "must be a new file, but it exists" in done.stderr
    assert (table.read_bytes(), survey.read_text()) == (before, FILE)


@pytest.mark.parametrize(("language", "rule"), [("German", "must be a language tag"), ("en", "must be another language")])
def test_a_wrong_language_is_refused(survey: Path, tmp_path: Path, language: str, rule: str) -> None:
    done = run(survey, "--language", language, "-o", tmp_path / "x.csv")
    assert done.exit_code == 2
    assert rule in done.stderr


@pytest.mark.parametrize("text", ["[1, 2]", "a: [", "a: 1\na: 2"])
def test_a_file_that_is_no_survey_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.yaml").write_text(text)
    done = run(tmp_path / "s.yaml", "--language", "de", "-o", tmp_path / "de.csv")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")


def test_either_a_language_or_a_file_is_named(survey: Path, tmp_path: Path) -> None:
    for words in ((), ("--language", "de", "--from", survey)):
        done = run(survey, *words, "-o", tmp_path / "x.csv")
        assert done.exit_code == 2
        assert "name either --language or --from" in done.stderr
