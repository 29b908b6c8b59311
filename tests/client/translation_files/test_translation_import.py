"""Each row that cannot be imported is told with its reason, all at once; the others are imported, and nothing is lost."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.translation_files.translation_import import TranslationImport, import_translations
from deniable.translation_files.translation_tables import TranslationRow, TranslationTable

FILE = """\
deniable: 1
id: s
title: Habits
about: We ask.
epsilon: 4
questions:
  - {id: town, text: Where?, type: choice, options: [north, south]}
  - {id: used, text: "In ${town|your town}?", help: "As in ${town}.", type: choice, options: [tea, coffee, milk]}
translations:
  de:
    title: Gewohnheiten
    questions: {town: {text: Wo?, options: [Nord, Süd]}}
"""
USED = "In ${town|your town}?"


def imported(*rows: tuple[str, str, str], text: str = FILE, language: str = "de") -> TranslationImport:
    table = TranslationTable(language, tuple(TranslationRow(number, *row) for number, row in enumerate(rows, 2)))
    return import_translations(parse(text).value, table)


def told(result: TranslationImport) -> dict[str, str]:
    """The problems of rows of the file, by key."""
    return {problem.key: problem.message for problem in result.problems if problem.number}


def test_all_problems_are_told_at_once_and_the_rest_is_imported() -> None:
    result = imported(
        ("title", "Customs", "Bräuche"),
        ("about", "We ask.", "Wir fragen."),
        ("questions.gone.text", "?", "?"),
        ("", "", "verloren"),
        ("questions.town.text", "Where?", "Wo denn?"),
        ("questions.used.text", USED, "In der Stadt?"),
        ("questions.used.options.1", "tea", "Tee"),
        ("questions.used.options.2", "coffee", ""),
        ("questions.used.options.3", "milk", "Milch"),
    )
    assert told(result) == {
        "title": "its original text has changed since the download: translate the new text",
        "questions.gone.text": "is unknown: the survey has no such text, or it has another name now",
        "a row without a key": "has lost its key: copy it from the downloaded file",
        "questions.used.text": "has lost ${town}: keep it as in the original",
        "questions.used.options": "lack a translation of 2: a question's options are translated all together",
    }
    assert [problem.number for problem in result.problems if problem.number] == [2, 4, 5, 7, 8]
    absent = [problem.key for problem in result.problems if not problem.number]
    assert absent == ["questions.town.options.1", "questions.town.options.2", "questions.used.help"]
    assert str(result.problems[0]).startswith("row 2, title: its original")
    german = result.document["translations"]["de"]
    assert german == {
        "title": "Gewohnheiten",
        "about": "Wir fragen.",
        "questions": {"town": {"text": "Wo denn?", "options": ["Nord", "Süd"]}},
    }
    assert (result.imported, result.unchanged, result.lacking) == (2, 0, 5)


def test_empty_cells_and_absent_rows_leave_what_the_survey_has() -> None:
    result = imported(("title", "Habits", ""), ("questions.town.options.2", "south", ""))
    assert (result.imported, result.document) == (0, parse(FILE).value)


def test_one_option_is_corrected_without_the_others() -> None:
    result = imported(("questions.town.options.2", "south", "Süden"))
    assert result.document["translations"]["de"]["questions"]["town"] == {"text": "Wo?", "options": ["Nord", "Süden"]}


@pytest.mark.parametrize(
    ("translation", "message"),
    [
        ("In ${town|deiner Stadt}?", None),
        ("${town|Bei dir}: gibt es das in ${town|deiner Stadt}?", None),
        ("In ${Town|deiner Stadt}?", "has lost ${town}"),
        ("In ${town}?", "has lost the text in ${town|…}"),
        ("In ${town|}?", "must have 1 to 100 characters after |"),
        ("In ${town|x} ${used|y}?", "has ${used}, which the original has not"),
        ("In ${town|x} ${?", "must write a reference as"),
        ("In $ {town|deiner Stadt}?", "has lost ${town}"),
        ("In ${town|x} für $${ Geld?", None),
    ],
)
def test_references_are_kept(translation: str, message: str | None) -> None:
    result = imported(("questions.used.text", USED, translation))
    if message:
        assert message in told(result)["questions.used.text"]
        assert "used" not in result.document["translations"]["de"]["questions"]
    else:
        assert told(result) == {}
        assert Survey.from_dict(result.document).translations["de"]["questions"]["used"]["text"] == translation


def test_a_reference_gets_no_text_that_the_original_has_not() -> None:
    result = imported(("questions.used.help", "As in ${town}.", "Wie in ${town|Stadt}."))
    assert told(result)["questions.used.help"] == "must write ${town} without |, as the original"


def test_translations_that_break_a_rule_of_surveys_are_refused_alone() -> None:
    result = imported(
        ("title", "Habits", "x" * 201),
        ("questions.used.options.1", "tea", "Tee"),
        ("questions.used.options.2", "coffee", "Tee"),
        ("questions.used.options.3", "milk", "Milch"),
        ("about", "We ask.", "Wir fragen."),
    )
    assert told(result) == {
        "title": "must be at most 200 characters, got 201",
        "questions.used.options": "no. 2 must differ from the other options, got options[0] again",
    }
    assert result.document["translations"]["de"]["title"] == "Gewohnheiten"
    assert result.document["translations"]["de"]["about"] == "Wir fragen."
    Survey.from_dict(result.document)


def test_a_draft_with_mistakes_elsewhere_takes_translations() -> None:
    result = imported(("about", "We ask.", "Wir fragen."), text=FILE.replace("epsilon: 4\n", "epsilon: much\n"))
    assert (result.imported, result.document["translations"]["de"]["about"]) == (1, "Wir fragen.")


def test_a_new_language_is_added_before_the_questions() -> None:
    text = FILE.partition("translations:")[0]
    result = imported(("title", "Habits", "عادات"), text=text, language="ar")
    assert list(result.document)[-2:] == ["translations", "questions"]
    assert result.document["translations"] == {"ar": {"title": "عادات"}}


def test_a_language_is_found_in_any_case() -> None:
    text = FILE.replace("  de:\n", "  pt-BR:\n")
    result = imported(("about", "We ask.", "Perguntamos."), text=text, language="pt-br")
    assert set(result.document["translations"]) == {"pt-BR"}
    assert set(result.document["translations"]["pt-BR"]) == {"title", "about", "questions"}


def test_options_in_another_order_are_not_mixed_up() -> None:
    text = FILE.replace("[north, south]", "[south, north]")
    result = imported(("questions.town.options.1", "north", "Norden"), ("questions.town.options.2", "south", "Süden"), text=text)
    assert set(told(result)) == {"questions.town.options.1", "questions.town.options.2"}
    assert result.document == parse(text).value


def test_rows_that_contradict_each_other_are_refused() -> None:
    rows = (("title", "Habits", "Bräuche"), ("title", "Habits", "Sitten"), ("about", "We ask.", "Ja."), ("about", "We ask.", "Ja."))
    result = imported(*rows)
    assert told(result) == {"title": "is in the file 2 times, with different texts: keep one of them"}
    assert result.document["translations"]["de"]["about"] == "Ja."


@pytest.mark.parametrize("value", ["translations: [a]", "translations: {de: [a]}", "translations: {de: {questions: {town: a}}}"])
def test_a_value_that_an_import_would_replace_is_refused(value: str) -> None:
    text = FILE.partition("translations:")[0] + value + "\n"
    with pytest.raises(SurveyError, match="must have the structure of a survey file"):
        imported(("title", "Habits", "Bräuche"), text=text)


def test_no_row_of_a_survey_is_lost_by_stale_options() -> None:
    """The survey has one option more than its translation."""
    text = FILE.replace("[north, south]", "[north, south, east]")
    value: Any = parse(text).value
    assert imported(("questions.town.options.1", "north", "Norden"), text=text).document == value
    rows = [(f"questions.town.options.{number}", word, word.upper()) for number, word in enumerate(("north", "south", "east"), 1)]
    assert imported(*rows, text=text).document["translations"]["de"]["questions"]["town"]["options"] == ["NORTH", "SOUTH", "EAST"]
