"""An XLSForm becomes a survey with a report: what was mapped, changed and refused, and why; and no form breaks anything."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from deniable.cli import main
from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml
from deniable.xlsform import Imported, read_xlsform

Rows = Sequence[Sequence[str | None]]
HEAD = (
    "type",
    "name",
    "label::English (en)",
    "label::Deutsch (de)",
    "required",
    "relevant",
    "constraint",
    "hint",
    "parameters",
    "appearance",
)
SURVEY: Rows = [
    HEAD,
    ("start", "start"),
    ("note", "hello", "Welcome"),
    ("select_one yn", "smokes", "Do you <b>smoke</b>?", "Rauchen Sie?", "yes"),
    ("begin_group", "more", "More", None, None, "${smokes} = 'yes'"),
    ("select_one often", "how-often", "How often?", "Wie oft?", "yes"),
    ("end_group", None),
    ("select_multiple often", "days", "When?", None, "true()", "selected(${how-often}, 'd') or ${how-often} = 'w'", None, "All of them"),
    ("integer", "age", "How old are you?", "Wie alt sind Sie?", None, "${smokes}='yes' and ${age} > 3", ". > 15 and . < 120"),
    ("range", "mood", "Mood", None, "yes", None, None, None, "start=0 end=10 step=1"),
    ("decimal", "income", "Income"),
    ("text", "why", "Why?"),
    ("begin_repeat", "children", "Children"),
    ("select_one yn", "school", "At school?"),
    ("end_repeat", None),
]
CHOICES: Rows = [
    ("list_name", "name", "label::English (en)", "label::Deutsch (de)"),
    ("yn", "yes", "Yes", "Ja"),
    ("yn", "no", "No", "Nein"),
    ("often", "d", "daily", "täglich"),
    ("often", "w", "weekly", "jede Woche"),
    ("often", "x", "weekly", "selten"),
]
SETTINGS: Rows = [("form_title", "form_id", "default_language"), ("Habits & health", "Habits 2026", "English (en)")]
EXPECTED = """
deniable: 1
id: habits_2026
title: Habits & health
about: Who asks, why, and whom to contact.
epsilon: 3
questions:
- {id: smokes, text: Do you smoke ?, type: yes_no}
- {id: how_often, text: How often?, type: choice, options: [daily, weekly, weekly (x)], show_if: {question: smokes, is: [yes]}}
- id: days
  text: When? (All of them)
  type: multi_choice
  options: [daily, weekly, weekly (x)]
  show_if: {question: how_often, is: [daily, weekly]}
- {id: age, text: How old are you?, type: number, low: 16, high: 119, required: false}
- {id: mood, text: Mood, type: number, low: 0, high: 10}
translations:
  de:
    questions:
      smokes: {text: Rauchen Sie?}
      how_often: {text: Wie oft?, options: [täglich, jede Woche, selten]}
      days: {options: [täglich, jede Woche, selten]}
      age: {text: Wie alt sind Sie?}
"""


def workbook(survey: Rows = SURVEY, choices: Rows = CHOICES, settings: Rows = SETTINGS) -> bytes:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in (("survey", survey), ("choices", choices), ("settings", settings)):
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def verdicts(found: Imported) -> dict[str, tuple[str, str]]:
    return {line.name: (line.verdict, line.why) for line in found.report}


def test_a_form_becomes_the_survey_that_asks_the_same_as_far_as_that_can_be_asked() -> None:
    found = read_xlsform(workbook())
    assert Survey.from_text(to_yaml(found.document)) == Survey.from_text(EXPECTED)


def test_each_row_has_a_verdict_and_a_reason() -> None:
    told = verdicts(read_xlsform(workbook()))
    rows = {str(row[1]) for row in SURVEY[1:] if row[1]}
    assert rows <= set(told)
    assert {name: told[name][0] for name in rows} == {
        **dict.fromkeys(("start", "hello", "why", "income", "children", "school"), "refused"),
        **dict.fromkeys(("more", "how-often", "days", "age"), "changed"),
        **dict.fromkeys(("smokes", "mood"), "mapped"),
    }
    assert told["why"][1] == "there is no free text: an answer that nobody else gives cannot be hidden"
    assert "condition is more than an answer to one question" in told["age"][1]
    assert {told[name][0] for name in ("about", "epsilon")} == {"changed"}
    assert told["appearance"][0] == "refused"


def test_a_form_without_languages_settings_or_a_title_is_called_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "My form (2).xlsx"
    path.write_bytes(
        workbook([("type", "name", "label"), ("select_one yn", "a", "A?")], [("list_name", "name", "label"), *CHOICES[1:]], [])
    )
    document = read_xlsform(path).document
    assert (document["id"], document["title"], "language" in document, "translations" in document) == (
        "my_form_2",
        "My form (2)",
        False,
        False,
    )


@pytest.mark.parametrize(
    "raw",
    [b"", b"deniable: 1", b"PK\x03\x04 nothing", b"\xd0\xcf\x11\xe0" + b"x" * 600, workbook([("type", "name")], [], []), workbook([])],
)
def test_what_is_no_form_is_told_in_one_line(raw: bytes) -> None:
    with pytest.raises(SurveyError, match="must be a"):
        read_xlsform(raw)


def test_a_workbook_that_unpacks_to_very_much_is_not_unpacked() -> None:
    out = io.BytesIO(workbook())
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/bomb.xml", b" " * (33 << 20))
    with pytest.raises(SurveyError, match="32 MiB"):
        read_xlsform(out.getvalue())


TYPES = ["select_one yn", "select_multiple often or_other", "select_one", "integer", "text", "begin group", "end group", "begin_repeat"]
OTHERS = [
    "a",
    "b",
    "${a} = 'yes'",
    "selected(${b}, 'd')",
    ". >= 0 and . <= 5",
    ". < .",
    "yes",
    "yn",
    "often",
    "",
    "\u0645",
    "x" * 1100,
    "9" * 400,
]
CELLS = st.sampled_from([*TYPES, *OTHERS])


@pytest.mark.slow
@given(st.lists(st.lists(CELLS, max_size=len(HEAD)), max_size=8), st.lists(st.lists(CELLS, max_size=4), max_size=6))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_no_form_breaks_the_reader_and_what_it_makes_can_be_written(rows: list[list[str]], choices: list[list[str]]) -> None:
    try:
        found = read_xlsform(workbook([HEAD, *rows], [CHOICES[0], *choices]))
    except SurveyError:
        return
    assert parse(to_yaml(found.document)).value == found.document
    if found.document["questions"]:
        with suppress(SurveyError):  # too many bits, an option called `no answer`: the parser tells
            Survey.from_dict(found.document)


def test_the_command_writes_a_file_and_a_report(tmp_path: Path) -> None:
    form, out = tmp_path / "form.xlsx", tmp_path / "survey.yaml"
    form.write_bytes(workbook())
    done = CliRunner().invoke(main, ["import", str(form), "-o", str(out)])
    assert (done.exit_code, "refused  why: there is no free text" in done.output) == (0, True)
    assert Survey.from_file(out) == Survey.from_text(EXPECTED)
    assert "must be a new file" in CliRunner().invoke(main, ["import", str(form), "-o", str(out)]).output


def test_a_form_of_which_nothing_can_be_asked_writes_nothing(tmp_path: Path) -> None:
    form, out = tmp_path / "form.xlsx", tmp_path / "survey.yaml"
    form.write_bytes(workbook([HEAD, ("text", "a", "A?")]))
    done = CliRunner().invoke(main, ["import", str(form), "-o", str(out)])
    assert (done.exit_code, out.exists()) == (1, False)
    assert "nothing was written" in done.output
