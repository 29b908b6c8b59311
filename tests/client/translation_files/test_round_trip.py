"""A translator's file goes out and comes back: every kind of text, through CSV and workbooks, as spreadsheets leave them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from openpyxl import Workbook, load_workbook

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.translation_files import translation_tables
from deniable.translation_files.translatable_texts import translatable_texts
from deniable.translation_files.translation_import import TranslationImport, import_translations
from deniable.translation_files.translation_tables import read_table, to_csv, to_workbook

FILE = """\
deniable: 1
id: all
title: Habits
about: |-
  We ask, "quietly"; it takes
  two minutes.
institution: University
contact: ada@example.org
ethics: Board 7
thanks: '=Thanks, that was it'
closed: It is over
epsilon: 4
questions:
  - {id: smokes, text: Do you smoke?, help: '-10 is no answer', type: yes_no, section: {title: Body, note: "@home"}}
  - {id: town, text: Where do you live?, type: choice, options: [a village, 1-2, "5", May 5], required: false}
  - {id: used, text: "Used in ${town|your town}?", type: multi_choice, options: [tea, "+coffee", nothing], none: nothing, other: true}
  - {id: mood, text: Mood?, type: scale, options: [bad, "1.10", good]}
  - {id: age, text: "Age, ${smokes}?", type: number, low: 0, high: 99, bins: [{name: young, from: 0}, {name: old, from: 60}]}
  - {id: rent, text: Rent?, type: number, low: 0, high: 3000}
  - id: nights
    type: rating
    text: How often?
    help: In a week.
    options: [never, "'=often"]
    items: [{id: sleep, text: I slept}, {id: dream, text: I dreamt}]
translations:
  de: {title: Gewohnheiten, questions: {smokes: {text: Rauchen Sie?}}}
"""
WORDS = {"ar": "نص، عربي", "de": "Wört; \"ein\" 'Satz',\nzwei", "sw": "=neno"}
Write = Callable[[Mapping[str, Any], str], bytes]


def document() -> dict[str, Any]:
    value: dict[str, Any] = parse(FILE).value
    return value


def translated(text: Any, language: str) -> str:
    """A translation that differs for each text, and keeps what it has to."""
    pipe = "".join(re.findall(r"\$\{[^}]*\}", text.original)).replace("your town", "بلدتك")
    words = WORDS[language].replace("\n", " ") if text.index is not None else WORDS[language]
    return f"{words} {text.key} {pipe}".strip()


def filled(raw: bytes, language: str) -> bytes:
    """The CSV of a translator who has translated everything, as it was written."""
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))
    by_key = {text.key: text for text in translatable_texts(document(), language)}
    for row in rows[1:]:
        row[3] = translated(by_key[row[0]], language)
    return saved(rows)


def saved(rows: list[list[str]], delimiter: str = ",", encoding: str = "utf-8-sig", head: str = "") -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return (head + out.getvalue()).encode(encoding)


def rows_of(raw: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(raw.decode("utf-8-sig"), newline="")))


def imported(raw: bytes, into: dict[str, Any] | None = None) -> TranslationImport:
    return import_translations(into or document(), read_table(raw))


def test_every_text_has_a_key_and_a_place() -> None:
    texts = {text.key: text for text in translatable_texts(document(), "sw")}
    assert list(texts)[:7] == ["title", "about", "institution", "contact", "ethics", "thanks", "closed"]
    assert list(texts)[7:11] == [f"questions.smokes.{key}" for key in ("section.title", "section.note", "text", "help")]
    assert texts["questions.town.options.2"].place == "Question 2, option 2"
    assert [key for key in texts if ".used.options" in key] == [f"questions.used.options.{key}" for key in ("1", "2", "other", "3")]
    assert [text.original for key, text in texts.items() if ".age.options" in key] == ["young", "old"]
    assert texts["questions.nights.options.1"].original == "never"
    assert texts["questions.dream.text"].place == "Question 7, item 2, text"
    assert texts["questions.used.text"].note == "Keep ${town|…}: translate only “your town” in it."
    assert texts["questions.age.text"].note == "Keep ${smokes} as it is."
    german = {text.key: text for text in translatable_texts(document(), "de")}
    assert german["questions.smokes.text"].translation == "Rauchen Sie?"
    assert "questions.used.options.other" not in german, "the page has a German word for it"


@pytest.mark.parametrize("language", ["ar", "de", "sw"])
def test_a_file_in_which_everything_is_translated_leaves_no_gap(language: str) -> None:
    result = imported(filled(to_csv(document(), language), language))
    assert result.problems == ()
    assert (result.lacking, result.language) == (0, language)
    survey = Survey.from_dict(result.document)
    assert [key for tag, key in survey.untranslated if tag == language] == []
    for text in translatable_texts(result.document, language):
        assert text.translation == translated(text, language)
    assert survey.translations.get("de", {}).get("title")


@pytest.mark.parametrize("write", [to_csv, to_workbook])
def test_a_file_that_nobody_has_changed_changes_nothing(write: Write) -> None:
    whole = imported(filled(to_csv(document(), "sw"), "sw")).document
    for language in ("de", "sw"):
        result = imported(write(whole, language), whole)
        assert (result.imported, result.problems, result.document) == (0, (), whole)


def test_a_workbook_has_texts_and_no_formulas_and_comes_back() -> None:
    whole = imported(filled(to_csv(document(), "sw"), "sw")).document
    raw = to_workbook(whole, "sw")
    cells = [cell for row in load_workbook(io.BytesIO(raw)).worksheets[0].iter_rows() for cell in row if cell.value is not None]
    assert {cell.data_type for cell in cells} == {"s"}
    assert "=Thanks, that was it" in [cell.value for cell in cells], "without an apostrophe: the cell is text"
    result = imported(raw)
    assert result.problems == ()
    assert result.document == whole


def test_no_cell_of_csv_is_a_formula_a_date_or_another_number() -> None:
    rows = rows_of(to_csv(document(), "sw"))
    cells = {row[0]: row[2] for row in rows[1:]}
    assert not [cell for row in rows for cell in row if cell[:1] in tuple("=+-@")]
    assert cells["thanks"] == "'=Thanks, that was it"
    assert [cells[f"questions.town.options.{number}"] for number in (1, 2, 3, 4)] == ["a village", "'1-2", "5", "'May 5"]
    assert cells["questions.mood.options.2"] == "'1.10"
    assert cells["questions.nights.options.2"] == "''=often", "an apostrophe of the text's own comes back"


@pytest.mark.parametrize(
    ("delimiter", "encoding", "head"),
    [
        (",", "utf-8", ""),
        (";", "utf-8-sig", ""),
        (";", "utf-8", "sep=;\r\n"),
        ("\t", "utf-16", ""),
        ("|", "utf-8-sig", ""),
    ],
)
def test_what_spreadsheets_do_to_csv_is_undone(delimiter: str, encoding: str, head: str) -> None:
    rows = rows_of(filled(to_csv(document(), "ar"), "ar"))
    rows = [[*row, ""] for row in rows] + [[""] * 6]  # one more column, and an empty row
    rows = [[cell.replace("\n", "\r\n") for cell in row] for row in rows]
    result = imported(saved(rows, delimiter, encoding, head))
    assert (result.problems, result.lacking) == ((), 0)
    plain = imported(filled(to_csv(document(), "ar"), "ar"))
    assert result.document == plain.document


def test_columns_may_move_and_cells_may_be_numbers_in_a_workbook() -> None:
    book = Workbook()
    sheet = book.worksheets[0]
    for row in (
        ["note", "translation (de)", "text (en)", "KEY"],
        ["", "ein Dorf", "a village", "questions.town.options.1"],
        ["", 12, "1-2", "questions.town.options.2"],
        ["", 6.0, 5, "questions.town.options.3"],
        ["", "=5. Mai", "May 5", "questions.town.options.4"],
    ):
        sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    result = imported(out.getvalue())
    assert result.document["translations"]["de"]["questions"]["town"] == {"options": ["ein Dorf", "12", "6", "=5. Mai"]}
    assert result.document["translations"]["de"]["title"] == "Gewohnheiten"


@pytest.mark.parametrize(
    ("raw", "rule"),
    [
        (b"", "must have the columns"),
        ("key,text (en),translation (de)\ntitle,x,für".encode("cp1252"), "must be UTF-8"),
        (b"key,text (en),translation\n", "must have the columns"),
        (b"key,text (en),translation (german!)\n", "must name the language"),
        (b"key,text (en),translation (en)\n", "must be in another language than the survey's own"),
        (b'key,text (en),translation (de)\ntitle,"x', "the quotes in line 2 do not match"),
        (b"PK\x03\x04 and nothing else", "it is damaged"),
        (b"\xd0\xcf\x11\xe0", "without a password"),
        (b"x" * (translation_tables.MOST_BYTES + 1), "must be at most 2 MiB"),
        (b"key,text (en),translation (de)\n" + b"a,b,c\n" * 20_001, "must have at most 20,000 rows"),
    ],
)
def test_other_files_are_refused(raw: bytes, rule: str) -> None:
    with pytest.raises(SurveyError, match=re.escape(rule)):
        imported(raw)


def test_a_workbook_that_unpacks_to_much_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = to_workbook(document(), "de")
    monkeypatch.setattr(translation_tables, "MOST_UNPACKED", 100)
    with pytest.raises(SurveyError, match="when it is unpacked"):
        read_table(raw)
