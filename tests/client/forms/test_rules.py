"""What real forms have beside plain questions: codes, ends, “Other”, calculations, tables, dates; each is imported or reported."""

from __future__ import annotations

import datetime
import io
from typing import Any

import pytest
from openpyxl import load_workbook
from tests.client.forms.test_losses import LIST, imported
from tests.client.forms.test_mapper import Rows, verdicts, workbook

from deniable.errors import SurveyError
from deniable.forms import read_form
from deniable.forms.ratings import fold_ratings
from deniable.forms.xlsform.constraints import ends_of, proposed_ends
from deniable.survey import Survey

YES = {"type": "select_one yn", "name": "a", "label": "A?", "required": "yes"}


@pytest.mark.parametrize(
    ("constraint", "is_whole", "low", "high", "codes"),
    [
        (". >= 18 and . <= 99", True, "18", "99", ()),
        ("(. >= 18 and . <= 99) or . = -99", True, "18", "99", ("-99",)),
        (".>=18 and .<=99 or .=-99 or .=-98", True, "18", "99", ("-99", "-98")),
        (". > 17 and . < 100", True, "18", "99", ()),
        (". > 0 and . < 300", False, "0", "300", ()),
        (".&gt;=18 and .&lt;=99", True, "18", "99", ()),
        ("not(. < 18) and not(. > 99)", True, "18", "99", ()),
        ("99 >= . and 18 <= .", True, "18", "99", ()),
        (". >= 18 AND . <= 99", True, "18", "99", ()),
        ("(. >= 0 and . <= 30) or (. >= 60 and . <= 99)", True, "0", "99", ()),
        ("(. >= 0 and . <= 30) or . >= 31 and . <= 99", True, "0", "99", ()),
        (". >= 0 and . <= 9 and . <= ${other}", True, "0", "9", ()),
        (". >= 0.5 and . <= 9.5", True, "1", "9", ()),
    ],
)
def test_a_constraint_with_two_ends_is_read(constraint: str, is_whole: bool, low: str, high: str, codes: tuple[str, ...]) -> None:
    ends = ends_of(constraint, is_whole)
    assert (ends.low, ends.high, tuple(sorted(ends.codes)), ends.missing) == (low, high, tuple(sorted(codes)), "")


@pytest.mark.parametrize(
    ("constraint", "missing"),
    [
        ("", "it has no constraint, such as . >= 0 and . <= 120"),
        (". <= 99", "its constraint has no least number: . <= 99"),
        (". >= 0 or . = 4", "its constraint has no greatest number: . >= 0 or . = 4"),
        (". != 3", "its constraint has no end at all: . != 3"),
        (". >= 0 and . <= 0", "its constraint allows only 0"),
        (". > 3 and . < 2", "its constraint allows only no number at all"),
        (". >= ${a} or . < 3", "its constraint is not about the number alone: . >= ${a} or . < 3"),
        (". >= 1,000 and . <= 5,000", "its constraint is not about the number alone: . >= 1,000 and . <= 5,000"),
    ],
)
def test_the_reason_for_missing_ends_is_the_real_one(constraint: str, missing: str) -> None:
    assert ends_of(constraint, True).missing == missing


def test_ends_are_proposed_from_digits_and_hints() -> None:
    assert proposed_ends("regex(., '^[0-9]{1,2}$')", []) == ("0", "99")
    assert proposed_ends("string-length(.) <= 3", []) == ("0", "999")
    assert proposed_ends("", ["How many? (0 - 24)"]) == ("0", "24")
    assert proposed_ends("", ["In 2024-2025?", "on 1/2-3/4"]) == ("2024", "2025")
    assert proposed_ends("", ["How many?"]) == ("", "")


def test_a_code_beside_the_range_makes_a_number_optional() -> None:
    row = {"type": "integer", "name": "q", "label": "Q?", "required": "yes", "constraint": ". >= 0 and . <= 9 or . = -99"}
    found = imported(row)
    assert found.document["questions"][0]["required"] == "false"
    assert verdicts(found)["q"] == ("changed", "-99 cannot be answered: people may skip it instead")


@pytest.mark.parametrize(
    ("required", "is_optional", "why"),
    [
        ("yes", False, "as yes or no"),
        ("true()", False, "as yes or no"),
        ("1 = 1", False, "as yes or no"),
        ("no", True, "as yes or no"),
        ("false()", True, "as yes or no"),
        ("${b} = 'y'", True, "people may always skip it: the form requires an answer only if ${b} = 'y'"),
    ],
)
def test_a_required_expression_is_reported(required: str, is_optional: bool, why: str) -> None:
    found = imported({**YES, "required": required})
    assert (found.document["questions"][0].get("required") == "false", verdicts(found)["a"][1]) == (is_optional, why)


def test_a_question_that_the_form_asks_nobody_is_left_out() -> None:
    found = imported(YES, {**YES, "name": "b", "relevant": "false()"}, {**YES, "name": "c", "relevant": "${a} = 'y' and 1 = 2"})
    assert list(verdicts(found).values())[1:3] == [
        ("refused", "its condition is false(): the form asks no one"),
        ("refused", "its condition is false(): the form asks no one"),
    ]


def test_unequal_asks_people_who_were_not_asked_the_earlier_question() -> None:
    """Control: without them, people without a car would not be asked about public transport."""
    choices = [*LIST, ("fuel", "p", "Petrol"), ("fuel", "e", "Electric")]
    car = {"type": "select_one fuel", "name": "f", "label": "F?", "required": "yes", "relevant": "${a} = 'y'"}
    found = imported(YES, car, {**YES, "name": "b", "relevant": "${f} != 'e'"}, choices=choices)
    assert found.document["questions"][2]["show_if"] == {"any": [{"question": "f", "is": ["Petrol"]}, {"question": "a", "is": ["no"]}]}
    assert verdicts(found)["b"] == ("changed", "people who skip the earlier question are not asked this one")


def test_numeric_names_of_options_are_compared_as_numbers() -> None:
    choices: Rows = [LIST[0], *LIST[1:3], *(("s", str(score), f"Step {score}") for score in range(4))]
    first = {"type": "select_one s", "name": "s", "label": "S?", "required": "yes"}
    found = imported(first, {**YES, "relevant": "${s} >= 2"}, {**YES, "name": "b", "relevant": "${s} != ''"}, choices=choices)
    assert found.document["questions"][1]["show_if"] == {"question": "s", "is": ["Step 2", "Step 3"]}
    assert found.document["questions"][2]["show_if"]["is"] == [f"Step {score}" for score in range(4)]


def test_other_is_an_option_in_the_languages_of_the_form() -> None:
    choices: Rows = [
        ("list_name", "name", "label::en", "label::fr"),
        ("l", "a", "Bus", "Bus"),
        ("l", "b", "Train", "Train "),
        ("yn", "y", "Yes"),
    ]
    row = {"type": "select_one l or_other", "name": "q", "label::en": "Q?", "label::fr": "Q ?"}
    found = imported(row, {"type": "select_one l", "name": "r", "label::en": "R?", "relevant": "${q} = 'other'"}, choices=choices)
    assert verdicts(found)["q"] == ("changed", "its option “Other” has no text")
    assert found.document["questions"][0]["options"] == ["Bus", "Train", "Other"]
    assert found.document["translations"]["fr"]["questions"]["q"]["options"] == ["Bus", "Train", "Autre"]
    assert found.document["questions"][1]["show_if"] == {"question": "q", "is": ["Other"]}


def test_one_name_with_several_labels_is_all_of_them() -> None:
    choices: Rows = [*LIST[:3], ("d", "1", "North"), ("d", "1", "South"), ("d", "2", "East"), ("d", "2", "East")]
    found = imported({**YES, "type": "select_one d"}, {**YES, "name": "b", "relevant": "${a} = '1'"}, choices=choices)
    assert found.document["questions"][0]["options"] == ["North", "South", "East"]
    assert found.document["questions"][1]["show_if"]["is"] == ["North", "South"]


def test_options_that_are_answers_are_reported_or_refused() -> None:
    choices: Rows = [*LIST[:3], ("k", "1", "${n1}"), ("k", "2", "${n2}"), ("m", "1", "${n1}"), ("m", "2", "Nobody else")]
    found = imported({**YES, "type": "select_one k"}, {**YES, "type": "select_one m", "name": "b"}, choices=choices)
    assert verdicts(found)["a"] == ("refused", "its options are answers to other questions, such as ${n1}: write options")
    assert verdicts(found)["b"] == ("changed", "its options show ${n1}, which a survey cannot: rewrite them")


def test_calculated_values_are_replaced_by_what_they_compare() -> None:
    number = {"type": "integer", "name": "age", "label": "Age?", "constraint": ". >= 0 and . <= 99", "required": "yes"}
    child = {"type": "calculate", "name": "child", "calculation": "if(${age} < 18, 'yes', 'no')"}
    alias = {"type": "calculate", "name": "alias", "calculation": "${child}"}
    found = imported(number, child, alias, {**YES, "relevant": "${alias} = 'yes'"}, {**YES, "name": "b", "relevant": "${child} != 'yes'"})
    assert [question.get("show_if") for question in found.document["questions"]] == [
        None,
        {"question": "age", "below": "18"},
        {"question": "age", "at_least": "18"},
    ]


def test_a_calculation_of_itself_ends() -> None:
    loop = {"type": "calculate", "name": "x", "calculation": "if(${x} = 'a', ${x}, 'b')"}
    assert verdicts(imported(YES, loop, {**YES, "name": "b", "relevant": "${x} = 'a'"}))["b"][0] == "changed"


def test_sums_of_scores_are_conditions() -> None:
    choices: Rows = [LIST[0], *LIST[1:3], *(("s", str(score), f"Step {score}") for score in range(4))]
    steps = [{"type": "select_one s", "name": name, "label": name, "required": "yes"} for name in ("p", "q")]
    score = {"type": "calculate", "name": "score", "calculation": "${p} + coalesce(${q}, 0)"}
    rows = (*steps, score, {**YES, "relevant": "${score} >= 3"})
    found = read_form(workbook([list(dict.fromkeys(key for row in rows for key in row)), *_cells(rows)], choices, []))
    assert found.document["questions"][2]["show_if"] == {"score": ["p", "q"], "at_least": "3"}
    assert [question["type"] for question in found.document["questions"][:2]] == ["scale", "scale"]
    assert found.document["questions"][0]["scores"] == ["0", "1", "2", "3"]


def _cells(rows: Any) -> list[list[str | None]]:
    head = list(dict.fromkeys(key for row in rows for key in row))
    return [[row.get(key) for key in head] for row in rows]


def test_a_rating_matrix_is_one_scale_for_each_row() -> None:
    choices: Rows = [*LIST[:3], ("r", "1", "Bad"), ("r", "2", "So so"), ("r", "3", "Good")]
    rows = (
        {"type": "begin_score", "name": "sat", "label": "How satisfied?", "kobo--score-choices": "r"},
        {"type": "score__row", "name": "pay", "label": "Pay", "required": "yes"},
        {"type": "score__row", "name": "boss", "label": "Boss"},
        {"type": "end_score"},
        YES,
    )
    found = imported(*rows, choices=choices)
    assert [question["type"] for question in found.document["questions"]] == ["scale", "scale", "yes_no"]
    assert found.document["questions"][0]["section"] == {"title": "How satisfied?"}
    assert "kobo--score-choices" not in verdicts(found)


def test_a_table_of_steps_is_scales_and_its_header_is_read_before_it() -> None:
    choices: Rows = [
        *LIST[:3],
        ("r", "1", "Bad"),
        ("r", "2", "So so"),
        ("r", "3", "Good"),
        ("k", "1", "Yes"),
        ("k", "2", "No"),
        ("k", "9", "Don't know"),
    ]
    group = {"type": "begin_group", "name": "g", "label": "G", "appearance": "field-list"}
    header = {"type": "select_one r", "name": "head", "label": "How do you find", "appearance": "label"}
    row = {"type": "select_one r", "name": "pay", "label": "your pay", "appearance": "list-nolabel"}
    found = imported(group, header, row, {**row, "name": "k", "type": "select_one k"}, {"type": "end_group"}, choices=choices)
    assert [question["type"] for question in found.document["questions"]] == ["scale", "choice"]
    assert found.document["questions"][0]["section"] == {"title": "G", "note": "How do you find"}


def test_ratings_become_blocks() -> None:
    shared = {"type": "scale", "options": ["Bad", "Good"], "required": "false"}
    questions = [
        {"id": "a", "text": "A", **shared, "section": {"title": "T"}},
        {"id": "b", "text": "B", **shared},
        {"id": "c", "text": "C", **shared},
    ]
    grids = {"a": "g", "b": "g"}
    block, alone = fold_ratings(questions, grids, {}, {})
    assert (block["text"], block["items"], block["options"]) == ("T", [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}], ["Bad", "Good"])
    assert alone == questions[2]
    assert fold_ratings(questions, grids, {"de": {"b": {"text": "B"}}}, {}) == questions
    shows = [questions[0], {**questions[1], "text": "More than ${a}?"}, questions[2]]
    assert fold_ratings(shows, grids, {}, {}) == shows


def test_dates_that_a_spreadsheet_made_of_options_are_restored_and_reported() -> None:
    book = load_workbook(
        io.BytesIO(workbook([("type", "name", "label"), ("select_one l", "q", "Q?")], [*LIST, ("l", "d", "x"), ("l", "e", "y")], []))
    )
    sheet = book["choices"]
    for row, (date, number_format) in {7: (datetime.datetime(2026, 1, 2), "d-mmm"), 8: (datetime.datetime(2020, 3, 1), "mmm-yy")}.items():
        sheet.cell(row, 3).value = date
        sheet.cell(row, 3).number_format = number_format
    out = io.BytesIO()
    book.save(out)
    found = read_form(out.getvalue())
    assert found.document["questions"][0]["options"][3:] == ["1-2", "3-20"]
    assert verdicts(found)["1-2"] == ("refused", "it was a date in the workbook, 2026-01-02: check it, and format cells as text")


def test_a_password_is_named() -> None:
    encrypted = b"\xd0\xcf\x11\xe0" + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(100)
    with pytest.raises(SurveyError, match="must be a workbook without a password"):
        read_form(encrypted)


def test_invisible_characters_of_other_programs_are_left_out() -> None:
    found = imported({**YES, "type": "select_one z"}, choices=[*LIST, ("z", "1", "Ki\u200bn"), ("z", "2", "\ufeffFriend")])
    assert Survey.from_dict(found.document).questions[0].kind.categories == ("Kin", "Friend")


def test_texts_show_earlier_answers_with_the_ids_of_their_questions() -> None:
    town = {**YES, "name": "home.town", "label": "A town?"}
    asked = {**YES, "name": "b", "label": "In ${home.town}, for $${home.town}, with ${nothing} or ${?"}
    found = imported(town, asked)
    assert found.document["questions"][1]["text"] == "In ${home_town}, for $ ${home_town}, with [nothing] or $${?"
    assert "${nothing}" in verdicts(found)["b"][1]
    assert Survey.from_dict(found.document).questions[1].piped == ("home_town",)


def test_an_answer_is_not_cut_in_two() -> None:
    found = imported({**YES, "name": "town"}, {**YES, "name": "b", "label": f"{'x' * 995} ${{town}}"})
    assert Survey.from_dict(found.document).questions[1].text == f"{'x' * 995} …"
