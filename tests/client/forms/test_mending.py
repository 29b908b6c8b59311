"""A mending file lists what an import cannot decide; with its decisions the form imports, and wrong ones are all named at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.client.forms.test_mapper import Rows, workbook

from deniable.cli import main
from deniable.errors import SurveyError
from deniable.forms import read_form
from deniable.forms.mending import read_decisions, to_text
from deniable.survey import Survey

FORM: Rows = [
    ("type", "name", "label", "relevant", "required", "constraint", "hint"),
    ("select_one yn", "a", "Do you agree?", None, "yes"),
    ("text", "name", "Your name?"),
    ("integer", "age", "How old are you?", None, "yes", ". >= 0", "From 18 to 99"),
    ("integer", "shoes", "How many shoes?"),
    ("select_one yn", "adult", "Adult?", "${age} >= 18", "yes"),
    ("select_one yn", "b", "Does ${name} smoke?", "${a} = 'y' and today() > 3", "yes"),
    ("note", "bye", "Thank you: goodbye.", "${a} = 'n'"),
    ("select_one l or_other", "c", "Which?", "${a} = 'y'", "yes"),
]
CHOICES: Rows = [("list_name", "name", "label"), ("yn", "y", "Yes"), ("yn", "n", "No"), ("l", "1", "Bus"), ("l", "2", "Train")]
RAW = workbook(FORM, CHOICES, [])
PLAIN = read_form(RAW, "form")


def decided(text: str) -> Survey:
    return Survey.from_dict(read_form(RAW, "form", read_decisions(text, PLAIN.mendings)).document)


def test_the_file_has_one_place_for_each_decision_and_changes_nothing_by_itself_but_its_proposals() -> None:
    text = to_text("form.xlsx", PLAIN.mendings)
    assert [(mending.decision, mending.name) for mending in PLAIN.mendings] == [
        ("numbers", "age"),
        ("numbers", "shoes"),
        ("conditions", "adult"),
        ("conditions", "b"),
        ("texts", "b"),
        ("others", "c"),
        ("notes", "bye"),
    ]
    lines = text.splitlines()
    assert lines[lines.index('  "age":') + 1 :][:3] == ["    low: 0", "    high: 99", "    bins: []"]
    assert '  "b": kept' in lines
    assert '  "bye": leave out' in lines
    assert '  "c": option' in lines
    assert [question.id for question in decided(text).questions] == ["a", "age", "adult", "b", "c"]


def test_decisions_are_followed_and_conditions_about_a_mended_number_are_kept() -> None:
    survey = decided(
        """
numbers: {age: {low: 0, high: 120, bins: []}, shoes: {low: 0, high: 50, bins: [2, 10]}}
conditions: {b: leave out}
notes: {bye: before the next question}
others: {c: leave out}
"""
    )
    by_id = {question.id: question for question in survey.questions}
    assert list(by_id) == ["a", "age", "shoes", "adult", "c"]
    assert by_id["adult"].show_if.to_dict() == {"question": "age", "is": ["18 to 120"]}  # type: ignore[union-attr]
    assert by_id["shoes"].kind.categories == ("0 to below 2", "2 to below 10", "10 to 50")
    assert (by_id["c"].help, by_id["c"].kind.categories) == ("Thank you: goodbye.", ("Bus", "Train"))


def test_everybody_and_other_texts_can_be_decided() -> None:
    survey = decided('{conditions: {b: everybody, adult: leave out}, texts: {b: {text: "Does your  friend smoke?"}}}')
    question = next(question for question in survey.questions if question.id == "b")
    assert (question.text, question.show_if, question.required) == ("Does your friend smoke?", None, False)


def test_wrong_entries_are_all_named_with_their_lines() -> None:
    wrong = """numbers:
  age: {low: 9, high: 3}
  shoes: {low: x, high: 3, bins: [1]}
  c: {low: 1, high: 2}
conditions:
  b: maybe
texts: {b: {text: ""}}
notes: [bye]
other: {}
"""
    with pytest.raises(SurveyError) as refused:
        read_decisions(wrong, PLAIN.mendings)
    problems = {problem.where: (problem.message, problem.line) for problem in refused.value.problems}
    assert problems == {
        "other": ("is not a known key; the keys here are numbers, conditions, texts, notes, others", 9),
        "numbers.age.high": ("must be above low, got '3'", 2),
        "numbers.shoes.low": ("must be a number, got 'x'", 3),
        "numbers.c": ("must be the name of a row of the form that needs this decision", 4),
        "conditions.b": ("must be kept or everybody or leave out, got 'maybe'", 6),
        "texts.b.text": ("must be a text of 1 to 1,000 characters", 7),
        "notes": ("must be a mapping, got list", 8),
    }


@pytest.mark.parametrize("bins", ["[0, 3]", "[5, 5]", "[99]", "[a]", "{}"])
def test_bins_must_rise_between_the_ends(bins: str) -> None:
    with pytest.raises(SurveyError, match="rising numbers between low and high"):
        read_decisions(f"numbers: {{age: {{low: 0, high: 50, bins: {bins}}}}}", PLAIN.mendings)


def test_the_command_writes_the_file_and_imports_with_it(tmp_path: Path) -> None:
    form, mend, out = tmp_path / "form.xlsx", tmp_path / "mend.yaml", tmp_path / "survey.yaml"
    form.write_bytes(RAW)
    run = CliRunner().invoke
    asked = run(main, ["import", str(form), "--questions-to", str(mend)])
    assert (asked.exit_code, "with 7 questions" in asked.output, out.exists()) == (0, True, False)
    done = run(main, ["import", str(form), "--answers", str(mend), "-o", str(out)])
    assert (done.exit_code, "changed  age: its ends are yours" in done.output) == (0, True)
    assert "age" in [question.id for question in Survey.from_file(out).questions]
    mend.write_text("numbers: {age: {low: 9, high: 3}}\nnotes: {x: y}")
    wrong = run(main, ["import", str(form), "--answers", str(mend), "-o", str(tmp_path / "other.yaml")])
    assert wrong.exit_code != 0
    assert "numbers.age.high" in str(wrong.output)
    assert "notes.x" in str(wrong.output)
    assert run(main, ["import", str(form)]).exit_code == 2
    assert "must be a new file" in run(main, ["import", str(form), "--questions-to", str(mend)]).output
