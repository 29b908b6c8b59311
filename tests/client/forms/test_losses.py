"""What real forms have and a survey has not is told, row by row: nothing of a form gets lost, or gets another meaning, without a word.

Each case is from a form that people use; docs/reference/xlsforms.md has the collections.
"""

from __future__ import annotations

import pytest
from tests.client.forms.test_mapper import Rows, verdicts, workbook

from deniable.errors import SurveyError
from deniable.forms import ImportedForm, read_form
from deniable.survey import Survey
from deniable.survey.dump import to_yaml

YES_NO: Rows = [("yn", "y", "Yes"), ("yn", "n", "No")]
LIST: Rows = [("list_name", "name", "label"), *YES_NO, ("l", "a", "Apple"), ("l", "b", "Pear"), ("l", "c", "Fig")]


def imported(*rows: dict[str, str], choices: Rows = LIST, settings: Rows = ()) -> ImportedForm:
    """A form with these rows; its columns are those that they have, in their order."""
    head = list(dict.fromkeys(column for row in rows for column in row))
    found = read_form(workbook([head, *([row.get(column) for column in head] for row in rows)], choices, settings))
    if found.document["questions"]:
        assert Survey.from_text(to_yaml(found.document)) == Survey.from_dict(found.document)
    return found


def one(kind: str, **more: str) -> tuple[str, str]:
    """The verdict of a form's only question, and why."""
    return verdicts(imported({"type": kind, "name": "q", "label": "Q?", **more}))["q"]


@pytest.mark.parametrize(
    ("kind", "more", "why"),
    [
        ("select_multiple l", {"constraint": "count-selected(.) != 2"}, "its constraint is left out"),
        ("select_one l", {"constraint": ". != 'a'"}, "its constraint is left out"),
        ("integer", {"constraint": ". >= 0 and . <= 9 and . != 5"}, "only the two ends of its constraint are kept"),
        ("select_one l", {"label": "Does ${name} eat it?"}, "its text shows ${name}, which a survey cannot: rewrite it"),
        ("select_one l", {"hint": "As ${who} and ${who} said"}, "its text shows ${who}, which a survey cannot: rewrite it"),
        ("select_one l", {"label": "x" * 1001}, "its text is cut to 1,000 characters"),
        ("select_one l", {"hint": "x" * 1001}, "its help is cut to 1,000 characters"),
        ("select_one l", {"label": "<br/>"}, "it has no label: its name is shown"),
    ],
)
def test_what_is_left_out_of_a_question_is_told(kind: str, more: dict[str, str], why: str) -> None:
    assert one(kind, **more) == ("changed", why)


@pytest.mark.parametrize(
    ("kind", "more", "why"),
    [
        ("select_one l", {"disabled": "yes"}, "the form has disabled it"),
        ("select_one l", {"read_only": "true()"}, "it is read-only: it asks nothing"),
        ("select_one l", {"readonly": "TRUE"}, "it is read-only: it asks nothing"),
        ("select_one l", {"appearance": "w4 label"}, "it is the header of a table: it asks nothing"),
        ("select_one_external l", {}, "its options are in another sheet or file: put them into the sheet `choices`"),
        ("select_multiple_from_file l.csv", {}, "its options are in another sheet or file: put them into the sheet `choices`"),
        ("tel", {}, "free text is not possible: a unique answer cannot be hidden"),
        ("phone number", {}, "free text is not possible: a unique answer cannot be hidden"),
        ("uri:imei", {}, "data from the device reveal who answered, and when"),
        ("imei", {}, "data from the device reveal who answered, and when"),
        ("dateTime", {}, "a date or a time can identify a person: ask for time spans as options"),
    ],
)
def test_a_row_that_asks_nothing_or_cannot_be_asked_is_refused_with_its_reason(kind: str, more: dict[str, str], why: str) -> None:
    assert one(kind, **more) == ("refused", why)


@pytest.mark.parametrize("kind", ["select_one l", "Select one from l", "select1 l", "add select one prompt using l"])
@pytest.mark.parametrize("more", [{"read_only": "false"}, {"disabled": "no"}, {"appearance": "list-nolabel"}])
def test_older_words_for_a_type_and_columns_that_say_no_change_nothing(kind: str, more: dict[str, str]) -> None:
    assert one(kind, **more) == ("mapped", "as one of several options")


@pytest.mark.parametrize(("column", "required"), [("relevant", "required"), ("bind::relevant", "bind:required"), ("relevance", "Required")])
def test_a_condition_counts_under_its_older_names_too(column: str, required: str) -> None:
    first = {"type": "select_one l", "name": "fruit", "caption": "Which?", required: "yes"}
    found = imported(first, {"type": "select_one yn", "name": "q", "caption": "And?", column: "${fruit} = 'a'"})
    fruit, q = found.document["questions"]
    assert (fruit["text"], "required" in fruit, q["show_if"]) == ("Which?", False, {"question": "fruit", "is": ["Apple"]})
    assert not {"bind", "relevance", "relevant"} & set(verdicts(found))


def test_several_options_that_must_be_just_one_are_told() -> None:
    first = {"type": "select_multiple l", "name": "fruit", "label": "Which?"}
    said = {
        sign: verdicts(imported(first, {"type": "select_one yn", "name": "q", "label": "And?", "relevant": sign}))["q"]
        for sign in ("${fruit} = 'a'", "selected(${fruit}, 'a')")
    }
    assert list(said.values()) == [("changed", "people who also chose other options are asked, too"), ("mapped", "as yes or no")]


@pytest.mark.parametrize("kind", ["begin loop over l", "begin_repeat", "begin lgroup"])
def test_a_loop_asks_again_and_again_as_a_repeat_does(kind: str) -> None:
    end = kind.replace("begin", "end").split(" over")[0]
    found = imported(
        {"type": kind, "name": "g", "label": "G"}, {"type": "select_one yn", "name": "q", "label": "Q?"}, {"type": end, "name": "g"}
    )
    assert [verdicts(found)[name][0] for name in ("g", "q")] == ["refused", "refused"]


NOTE = {"type": "note", "name": "hint", "label": "Bravo!", "relevant": "${q} = 'y'"}
YES = {"type": "select_one yn", "name": "q", "label": "Q?", "required": "yes"}


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [("", "refused"), ("${q} = 'n'", "refused"), ("${q} = 'y'", "changed"), ("${q} = 'y' and today() > 3", "changed")],
)
def test_a_note_with_a_condition_is_read_by_nobody_it_is_not_for(condition: str, verdict: str) -> None:
    found = imported(YES, NOTE, {**YES, "name": "r", "relevant": condition})
    assert verdicts(found)["hint"][0] == verdict
    assert found.document["questions"][1].get("help") == ("Bravo!" if verdict == "changed" else None)


def test_a_note_whose_condition_is_only_in_part_that_of_the_question_is_left_out() -> None:
    note = {**NOTE, "relevant": "${q} = 'y' and today() > 3"}
    found = imported(YES, note, {**YES, "name": "r", "relevant": "${q} = 'y' and today() > 3"})
    assert verdicts(found)["hint"][0] == "refused"  # the question is asked of more people


def test_a_note_with_a_condition_is_no_text_of_the_section() -> None:
    """People who skip the section's first question read its note before the next one."""
    group = {"type": "begin_group", "name": "g", "label": "G"}
    found = imported(YES, group, NOTE, {**YES, "name": "r", "relevant": "${q} = 'y'"}, {**YES, "name": "s"}, {"type": "end_group"})
    assert found.document["questions"][1]["section"] == {"title": "G"}
    assert found.document["questions"][1]["help"] == "Bravo!"


def test_options_without_labels_alike_too_long_or_empty_are_told() -> None:
    choices: Rows = [
        LIST[0],
        ("l", "a", "Apple"),
        ("l", "b", None),
        ("l", "c", "Apple"),
        ("l", "d", "x" * 201),
        ("l", "e", "x" * 201),
        ("l",),
    ]
    found = imported({"type": "select_one l", "name": "q", "label": "Q?"}, choices=choices)
    assert found.document["questions"][0]["options"] == ["Apple", "b", "Apple (c)", "x" * 199 + "…", "x" * 195 + "… (e)"]
    assert verdicts(found)["q"][1].split("; ") == [
        "options without a label show their names",
        "options with the same label end with their names",
        "options are cut to 200 characters",
    ]


def test_pictures_of_options_are_told_as_a_column_that_is_left_out() -> None:
    found = imported(
        {"type": "select_one l", "name": "q", "label": "Q?"}, choices=[(*LIST[0], "media::image"), ("l", "a", "A", "a.png"), *LIST[4:]]
    )
    assert verdicts(found)["media"] == ("refused", "a survey has no such column: it is left out")


def test_a_language_is_the_same_by_any_of_its_names_in_either_sheet() -> None:
    choices: Rows = [("list_name", "name", "label:(EN)", "label::Arabic"), ("l", "a", "Apple", "تفاح"), ("l", "b", "Pear", "كمثرى")]
    row = {"type": "select_one l", "name": "q", "label::English": "Which?", "label::العربية": "أي؟"}
    found = imported(row, choices=choices, settings=[("default_language",), ("Arabic (ar)",)])
    (question,) = found.document["questions"]
    assert (found.document["language"], question["text"], question["options"]) == ("ar", "أي؟", ["تفاح", "كمثرى"])
    assert found.document["translations"] == {"en": {"questions": {"q": {"text": "Which?", "options": ["Apple", "Pear"]}}}}
    assert verdicts(found)["q"] == ("mapped", "as one of several options")


@pytest.mark.parametrize(
    ("column", "setting", "language", "told"),
    [
        ("label", "", None, True),
        ("label", "Portuguese", "pt", False),
        ("label::Português (pt_BR)", "", "pt-br", False),
        ("label::Klingon", "", None, True),
        ("label::EN", "", None, False),
        ("label::Oromiffa", "", "om", False),
    ],
)
def test_a_form_that_names_no_language_is_not_silently_taken_for_english(
    column: str, setting: str, language: str | None, told: bool
) -> None:
    settings: Rows = [("default_language",), (setting,)] if setting else ()
    found = imported({"type": "integer", "name": "q", column: "Quantos?", "constraint": ". > 0 and . < 9"}, settings=settings)
    assert (found.document.get("language"), "language" in verdicts(found)) == (language, told)


def test_translations_that_are_not_whole_are_told() -> None:
    choices: Rows = [("list_name", "name", "label::en", "label::de"), ("l", "a", "Apple", "Apfel"), ("l", "b", "Pear", None)]
    found = imported({"type": "select_one l", "name": "q", "label::en": "Q?", "label::de": "F" * 1001}, choices=choices)
    told = ["its text is cut to 1,000 characters in de", "its options in de are left out: each needs a text of its own"]
    assert verdicts(found)["q"] == ("changed", "; ".join(told))


def test_markup_is_taken_off_and_what_stands_for_a_letter_is_that_letter() -> None:
    label = "# **Fish** &amp; <span style='color:red'>chips</span>&nbsp;for\n## 2 < 3 * 4?"
    assert imported({"type": "select_one l", "name": "q", "label": label}).document["questions"][0]["text"] == "Fish & chips for 2 < 3 * 4?"


def test_a_question_without_a_name_is_refused() -> None:
    assert verdicts(imported({"type": "select_one l", "label": "Q?"}))["select_one l"] == ("refused", "it has no name")


def test_what_an_author_can_mend_in_the_workbook_is_named() -> None:
    with pytest.raises(SurveyError, match="no column `type`"):
        read_form(workbook([("_id", "name"), ("1", "x")], [], []))
    with pytest.raises(SurveyError, match="Duplicate column header: label"):
        read_form(workbook([("type", "name", "label", "label"), ("text", "a", "A", "A")], [], []))
