"""`deniable new`: a survey by questions and answers in the terminal, which says what it will tell before it is too late."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.survey import Survey
from deniable.survey.types import TYPES
from deniable.topics import TOPICS

START = ["about-me", "About me", "Who asks", "", ""]
NUMBERS = {name: str(number) for number, name in enumerate(TYPES, 1)}


def new(path: Path, *answers: str, n: int = 800) -> Result:
    return CliRunner().invoke(main, ["new", str(path), "--n", str(n)], input="\n".join([*answers, ""]))


def yes_no(text: str) -> list[str]:
    return [text, NUMBERS["yes_no"], "", "", "n"]


def test_answers_become_a_survey_of_all_types(tmp_path: Path) -> None:
    asked = [
        *yes_no("Do you smoke?"),
        *("How often?", NUMBERS["choice"], "often", "A cigarette counts.", "daily", "weekly", "", ""),
        *("Mood?", NUMBERS["scale"], "mood", "", "bad", "good", "", "n"),
        *("Hours?", NUMBERS["number"], "hours", "", "0", "24", "n"),
        *("Which?", NUMBERS["multi_choice"], "which", "", "tea", "coffee", "", "n"),
    ]
    done = new(tmp_path / "s.yaml", *START, *asked, "", "0", n=1_000_000)
    assert done.exit_code == 0, done.output
    survey = Survey.from_file(tmp_path / "s.yaml")
    assert [(q.id, q.type, q.required) for q in survey.questions] == [
        ("q1", "yes_no", True),
        ("often", "choice", False),
        ("mood", "scale", True),
        ("hours", "number", True),
        ("which", "multi_choice", True),
    ]
    assert [q.help for q in survey.questions] == ["", "A cigarette counts.", "", "", ""]
    assert "5 questions, 1,000,000 people" in done.output
    assert "warning" not in done.output


def test_too_many_questions_are_warned_of_and_asking_some_is_offered_with_its_figure(tmp_path: Path) -> None:
    asked = [answer for place in range(12) for answer in yes_no(f"Question {place}?")]
    start = [*START[:4], "4"]
    done = new(tmp_path / "s.yaml", *start, *asked, "", "1", "0")
    assert done.exit_code == 0, done.output
    assert "warning: 12 questions, 800 people: 21.0 points" in done.output
    assert "1  Ask each person 2 of the 12 questions, drawn at random: 11.2 points" in done.output
    assert Survey.from_file(tmp_path / "s.yaml").ask == 2


def test_what_is_wrong_is_told_at_once_and_asked_again(tmp_path: Path) -> None:
    wrong = ["Not An Id", "about-me", "About me", "Who asks", "", "much", "ln 9", "One option?", NUMBERS["choice"], "", "", "only", "", "n"]
    done = new(tmp_path / "s.yaml", *wrong, *yes_no("Do you smoke?"), "")
    assert done.exit_code == 0, done.output
    assert "id must be 1 to 64 of a-z" in done.output
    assert "epsilon must be a number or `ln x`" in done.output
    assert "must be 2 to 1,024 options, got 1" in done.output
    assert [question.text for question in Survey.from_file(tmp_path / "s.yaml").questions] == ["Do you smoke?"]


@pytest.mark.parametrize("topic", [topic.name for topic in TOPICS])
def test_a_topic_is_written_as_it_is(tmp_path: Path, topic: str) -> None:
    done = CliRunner().invoke(main, ["new", str(tmp_path / "s.yaml"), "--topic", topic])
    assert done.exit_code == 0
    assert (tmp_path / "s.yaml").read_text() == next(one.text for one in TOPICS if one.name == topic)


def test_a_topic_and_a_dialog_can_begin_with_the_comprehension_check(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["new", str(tmp_path / "s.yaml"), "--topic", "drugs", "--comprehension"])
    assert done.exit_code == 0, done.output
    assert [question.id for question in Survey.from_file(tmp_path / "s.yaml").questions][:4] == [
        "check_1",
        "check_2",
        "check_3",
        "cannabis",
    ]
    asked = "\n".join([*START, *yes_no("Do you smoke?"), "", "0", ""])
    done = CliRunner().invoke(main, ["new", str(tmp_path / "own.yaml"), "--comprehension"], input=asked)
    assert done.exit_code == 0, done.output
    assert "4 questions, 1,000 people" in done.output, "its cost is part of the verdict"
    assert [question.id for question in Survey.from_file(tmp_path / "own.yaml").questions] == ["check_1", "check_2", "check_3", "q1"]


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("mine")
    done = CliRunner().invoke(main, ["new", str(tmp_path / "s.yaml"), "--topic", "drugs"])
    assert (done.exit_code, (tmp_path / "s.yaml").read_text()) == (1, "mine")
