"""What docs/guide/writing.md prints is what its commands print, and its tables have what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.client.test_cli_new import NUMBERS, START, yes_no

from deniable.cli import main
from deniable.survey import Survey
from deniable.topics import TOPICS

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "writing.md").read_text(encoding="utf-8")
BLOCKS = [block.split("\n", 1) for block in re.findall(r"^```console\n\$ deniable (.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)]


def test_a_survey_of_twelve_questions_is_told_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    asked = [answer for place in range(12) for answer in yes_no(f"Question {place}?")]
    done = CliRunner().invoke(main, BLOCKS[0][0].split(), input="\n".join([*START[:4], "4", *asked, "", "0", ""]))
    assert NUMBERS["yes_no"] == "1"
    assert BLOCKS[0][1] in done.output


def test_the_file_on_the_page_is_a_survey_and_its_mistake_is_told_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ((text),) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    survey = Survey.from_text(text)
    assert [bool(question.help) for question in survey.questions] == [True, False, True, False]
    assert len([question for question in survey.questions if question.section]) == 2
    (tmp_path / "sleep.yaml").write_text(text.replace("at_least: 48", "at_least: 40"))
    done = CliRunner().invoke(main, BLOCKS[4][0].split())
    assert (done.exit_code, done.output) == (1, BLOCKS[4][1])


def test_a_topic_is_begun_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, BLOCKS[1][0].split())
    assert done.output == BLOCKS[1][1]
    assert Survey.from_file(tmp_path / "drugs.yaml").id == "drugs"


def test_a_file_is_copied_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    CliRunner().invoke(main, BLOCKS[1][0].split())
    assert CliRunner().invoke(main, BLOCKS[3][0].split()).output == BLOCKS[3][1]
    assert Survey.from_file(tmp_path / "drugs-2.yaml").id == "drugs-2"


def test_the_page_lists_all_topics() -> None:
    assert re.findall(r"^\| `(\w+)`: (.*) \| ([\d,]+) \|$", PAGE, re.MULTILINE) == [
        (one.name, one.title, f"{one.people:,}") for one in TOPICS
    ]
