"""An XLSForm becomes a survey with a report: what was mapped, changed and refused, and why; and no form breaks anything."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from deniable.cli import main
from deniable.errors import SurveyError
from deniable.forms import ImportedForm, read_form
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml

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
about: Who asks, why, and who to contact.
epsilon: 2
questions:
- {id: smokes, text: Do you smoke ?, type: yes_no}
- id: how_often
  text: How often?
  section: {title: More}
  type: choice
  options: [daily, weekly, weekly (x)]
  show_if: {question: smokes, is: [yes]}
- id: days
  text: When?
  help: All of them
  type: multi_choice
  options: [daily, weekly, weekly (x)]
  show_if: {question: how_often, is: [daily, weekly]}
- {id: age, text: How old are you?, type: number, low: 16, high: 119, show_if: {question: smokes, is: [yes]}}
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


def verdicts(found: ImportedForm) -> dict[str, tuple[str, str]]:
    return {line.name: (line.verdict, line.why) for line in found.report}


def test_a_form_becomes_the_survey_that_asks_the_same_as_far_as_that_can_be_asked() -> None:
    found = read_form(workbook())
    assert Survey.from_text(to_yaml(found.document)) == Survey.from_text(EXPECTED)


def test_each_row_has_a_verdict_and_a_reason() -> None:
    told = verdicts(read_form(workbook()))
    rows = {str(row[1]) for row in SURVEY[1:] if row[1]}
    assert rows <= set(told)
    assert {name: told[name][0] for name in rows} == {
        **dict.fromkeys(("start", "hello", "why", "income", "children", "school"), "refused"),
        **dict.fromkeys(("more", "how-often", "days", "age"), "changed"),
        **dict.fromkeys(("smokes", "mood"), "mapped"),
    }
    assert told["why"][1] == "free text is not possible: a unique answer cannot be hidden"
    assert told["age"][1] == "more people are asked than in the form: its condition leaves out ${age} > 3"
    assert {told[name][0] for name in ("about", "epsilon")} == {"changed"}
    assert told["appearance"][0] == "refused"


def relevant(*conditions: str, constraint: str = ". >= 0 and . <= 120", kind: str = "integer") -> tuple[list[Any], ImportedForm]:
    """The conditions that questions get, after one of yes or no, one of several options, one of a list, and a number."""
    rows: list[Sequence[str | None]] = [
        HEAD,
        ("select_one yn", "smokes", "Smokes?"),
        ("select_one often", "often", "How often?"),
        ("select_multiple often", "days", "When?"),
        (kind, "age", "Age?", None, None, None, constraint),
        *(("select_one yn", f"q{place}", "And?", None, None, condition) for place, condition in enumerate(conditions)),
    ]
    found = read_form(workbook(rows))
    Survey.from_dict(found.document)
    return [one.get("show_if") for one in found.document["questions"][4:]], found


def test_conditions_with_and_or_not_and_parentheses_are_said_as_lists() -> None:
    yes, no = {"question": "smokes", "is": ["yes"]}, {"question": "smokes", "is": ["no"]}
    daily, both = {"question": "often", "is": ["daily"]}, {"question": "often", "is": ["daily", "weekly"]}
    tuesday = {"question": "days", "is": ["daily"]}
    said, _ = relevant(
        "${smokes} = 'yes' and ${often} = 'd'",
        "${smokes}='yes' or selected(${days}, 'd')",
        "${smokes} = 'yes' and (${often} = 'd' or selected(${days},'d'))",
        "(${often}='d' or ${often} = \"w\") and not(${smokes} = 'yes')",
        "${smokes} = 'yes' and ${smokes} = 'yes'",
        "not(${smokes} = 'yes' or ${often} != 'd')",
        "${often} != 'x'",
    )
    assert said == [
        {"all": [yes, daily]},
        {"any": [yes, tuesday]},
        {"all": [yes, {"any": [daily, tuesday]}]},
        {"all": [both, no]},
        yes,
        {"all": [no, daily]},
        both,
    ]


def test_a_number_that_is_compared_is_asked_as_ranges_and_the_report_says_so() -> None:
    said, found = relevant("${age} >= 18 and ${age} < 65", "${age} > 64", "${age} = 18 or ${age} <= 3", "${age} >= 0", "${age} = 120")
    age = found.document["questions"][3]
    starts = [("0 to 3", "0"), ("4 to 17", "4"), ("18", "18"), ("19 to 64", "19"), ("65 to 119", "65"), ("120", "120")]
    assert age["bins"] == [{"name": name, "from": start} for name, start in starts]
    assert said[:2] == [
        {"all": [{"question": "age", "at_least": "18"}, {"question": "age", "below": "65"}]},
        {"question": "age", "at_least": "65"},
    ]
    assert said[2] == {"any": [{"question": "age", "at_least": "18", "below": "19"}, {"question": "age", "below": "4"}]}
    assert said[3:] == [None, {"question": "age", "at_least": "120"}]  # everybody's age is at least 0
    assert "ranges have no mean" in verdicts(found)["age"][1]
    said, found = relevant("${age} >= 17.5", "${age} > 3", constraint=". >= 0.5 and . <= 99.5", kind="decimal")
    assert [one["name"] for one in found.document["questions"][3]["bins"]] == ["0.5 to below 3", "3 to below 17.5", "17.5 to 99.5"]
    assert said == [{"question": "age", "at_least": "17.5"}, {"question": "age", "at_least": "3"}]
    assert verdicts(found)["q1"] == ("changed", "people with exactly 3 are asked, too")


@pytest.mark.parametrize(
    "condition",
    [
        "${nobody} = 'yes'",
        "${smokes} = ${often}",
        "not(selected(${days}, 'd'))",
        "count-selected(${days}) > 1",
        "${smokes} = 'yes' and",
        "(${smokes} = 'yes'",
        "${smokes}",
        "(" * 300,
        "today() > 3",
        "${smokes} = 'yes' or today() > 3",
        "${often} = ''",
    ],
)
def test_a_condition_that_cannot_be_expressed_asks_everybody_and_only_the_rest_of_an_and_is_kept(condition: str) -> None:
    conditions, found = relevant(condition, f"${{age}} > 5 and ({condition})")
    assert conditions[0] is None
    assert conditions[1] == ({"question": "age", "at_least": "6"} if condition.count("(") == condition.count(")") else None)
    assert found.document["questions"][4]["required"] == "false"
    whys = verdicts(found)
    assert whys["q0"][1].startswith(f"all are asked and may skip it: a survey cannot express its condition {condition[:150]}")
    assert condition.count("(") != condition.count(")") or whys["q1"][1].startswith(
        "more people are asked than in the form: its condition leaves out "
    )
    assert found.conditions == (2, 0, 1 if conditions[1] else 0)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("${age} != 3", {"any": [{"question": "age", "below": "3"}, {"question": "age", "at_least": "4"}]}),
        ("not(${age} >= 18)", {"question": "age", "below": "18"}),
        ("string-length(${often}) > 0", {"question": "often", "is": ["daily", "weekly", "weekly (x)"]}),
        ("count-selected(${days}) >= 1", {"question": "days", "is": ["daily", "weekly", "weekly (x)"]}),
        ("'d' = ${often}", {"question": "often", "is": ["daily"]}),
        (
            "if(${smokes} = 'yes', ${often} = 'd', false())",
            {"all": [{"question": "smokes", "is": ["yes"]}, {"question": "often", "is": ["daily"]}]},
        ),
        ("selected(${days}, 'd') = true() and true()", {"question": "days", "is": ["daily"]}),
        ("${smokes} = 'yes' or ${smokes} = 'maybe'", {"question": "smokes", "is": ["yes"]}),
        (
            "${smokes} = 'yes' and (${often} = 'd' or (${smokes} = 'no' and ${often} = 'x'))",
            {"all": [{"question": "smokes", "is": ["yes"]}, {"question": "often", "is": ["daily"]}]},
        ),
    ],
)
def test_more_spellings_are_expressed(condition: str, expected: dict[str, Any]) -> None:
    conditions, _ = relevant(condition)
    assert conditions == [expected] or (len(condition) > 70 and _same(conditions[0], expected))


def _same(condition: Any, expected: Any) -> bool:
    """Whether two conditions hold for the same answers to the questions of yes or no and of several options."""
    return all(
        _holds(condition, {"smokes": smokes, "often": often}) == _holds(expected, {"smokes": smokes, "often": often})
        for smokes in ("yes", "no", None)
        for often in ("daily", "weekly", "weekly (x)", None)
    )


def _holds(condition: Any, answers: dict[str, str | None]) -> bool:
    for word, join in (("all", all), ("any", any)):
        if word in condition:
            return join(_holds(part, answers) for part in condition[word])
    return answers[condition["question"]] in condition["is"]


@pytest.mark.parametrize("condition", ["${smokes} = 'maybe'", "${age} > 200"])
def test_a_condition_that_never_holds_is_named(condition: str) -> None:
    conditions, found = relevant(condition)
    assert conditions == [None]
    assert verdicts(found)["q0"][1].startswith(f"all are asked and may skip it: {condition} never holds: ")


def test_groups_notes_and_hints_stand_around_the_questions_in_every_language() -> None:
    head = ("type", "name", "label::English (en)", "label::Deutsch (de)", "hint::English (en)", "hint::Deutsch (de)")
    rows: Rows = [
        head,
        ("note", "welcome", "Welcome"),
        ("begin_group", "health", "Your health", "Ihre Gesundheit"),
        ("note", "year", "Of the last year.", "Im letzten Jahr."),
        ("begin_group", "lungs", "Lungs"),
        ("select_one yn", "smokes", "Smokes?", "Raucht?", "Pipes, too.", "Auch Pfeifen."),
        ("end_group", None),
        ("note", "again", "And now:", "Und nun:"),
        ("select_one yn", "coughs", "Coughs?", "Hustet?", "Often.", "Oft."),
        ("end_group", None),
        ("note", "bye", "Thank you"),
    ]
    found = read_form(workbook(rows))
    smokes, coughs = found.document["questions"]
    assert (smokes["section"], smokes["help"]) == ({"title": "Your health – Lungs", "note": "Of the last year."}, "Pipes, too.")
    assert (coughs.get("section"), coughs["help"]) == (None, "And now:\nOften.")
    german = found.document["translations"]["de"]["questions"]
    assert german == {
        "smokes": {"text": "Raucht?", "help": "Auch Pfeifen.", "section": {"note": "Im letzten Jahr."}},  # one title is not translated
        "coughs": {"text": "Hustet?", "help": "Und nun:\nOft."},
    }
    Survey.from_dict(found.document)
    told = verdicts(found)
    assert [told[name][0] for name in ("welcome", "health", "year", "lungs", "again", "bye")] == [
        *("refused", "changed", "changed", "changed", "changed", "refused")
    ]


def test_a_form_without_languages_settings_or_a_title_is_called_after_its_file(tmp_path: Path) -> None:
    path = tmp_path / "My form (2).xlsx"
    path.write_bytes(
        workbook([("type", "name", "label"), ("select_one yn", "a", "A?")], [("list_name", "name", "label"), *CHOICES[1:]], [])
    )
    document = read_form(path).document
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
        read_form(raw)


TYPES = ["select_one yn", "select_multiple often or_other", "select_one", "integer", "text", "begin group", "end group", "begin_repeat"]
OTHERS = [
    "not(${a} = 'yes' and ${b} >= 3)",
    "${b} < 4 or ${a} = 'yn'",
    "note",
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
        found = read_form(workbook([HEAD, *rows], [CHOICES[0], *choices]))
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
    assert (done.exit_code, "refused  why: free text is not possible" in done.output) == (0, True)
    assert Survey.from_file(out) == Survey.from_text(EXPECTED)
    assert "must be a new file" in CliRunner().invoke(main, ["import", str(form), "-o", str(out)]).output


def test_a_form_of_which_nothing_can_be_asked_writes_nothing(tmp_path: Path) -> None:
    form, out = tmp_path / "form.xlsx", tmp_path / "survey.yaml"
    form.write_bytes(workbook([HEAD, ("text", "a", "A?")]))
    done = CliRunner().invoke(main, ["import", str(form), "-o", str(out)])
    assert (done.exit_code, out.exists()) == (1, False)
    assert "nothing was written" in done.output
