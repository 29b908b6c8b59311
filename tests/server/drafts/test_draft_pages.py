"""A survey is written as a draft, field by field or as a file: all mistakes are told at once, and nothing is lost."""

from __future__ import annotations

import base64
import html
import io
import json
import re
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from tests.client.forms.test_hostile import ROWS, SHEET, entities, with_part
from tests.client.forms.test_limesurvey import TABLES as LIMESURVEY
from tests.client.forms.test_limesurvey import lss
from tests.client.forms.test_mapper import workbook
from tests.client.forms.test_qualtrics import qsf
from tests.kit.documents import documents
from tests.kit.drafts import EXAMPLE
from tests.kit.forms import filled
from tests.kit.patience import wait_for
from werkzeug.test import EnvironBuilder, TestResponse

from deniable import extras
from deniable.forms import Decisions, read_form
from deniable.forms.decisions import NumberEnds
from deniable.plan import outlook, plan, proposals
from deniable.survey import Survey
from deniable.survey.comprehension import STATEMENTS
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml
from deniable.topics import TOPICS
from deniable_server.drafts.draft_pages import EMPTY
from deniable_server.drafts.editor.draft_text import title_in
from deniable_server.drafts.editor.naming import id_of_title
from deniable_server.drafts.editor.notes import notes_in
from deniable_server.identity import sessions
from deniable_server.store.drafts import MOST, Draft
from deniable_server.store.protocol import Store
from deniable_server.web import limits

NEW = "/manage/new"
WRONG = EXAMPLE.replace("ln 9", "99").replace("yes_no", "yess")
EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    app.config["WTF_CSRF_ENABLED"] = False
    return logged_in(app)


class Editor:
    """A draft in a browser without JavaScript."""

    def __init__(self, ada: FlaskClient, store: Store, text: str = EXAMPLE) -> None:
        self.ada, self.store = ada, store
        self.id = store.drafts.begin("ada", text).id
        self.path = f"/manage/drafts/{self.id}"
        self.page = ada.get(self.path)

    @property
    def draft(self) -> Draft:
        return self.store.drafts.draft(self.id)

    @property
    def value(self) -> Any:
        return parse(self.draft.text).value

    def press(self, do: str, **typed: str) -> TestResponse:
        """Types into the fields as they stand on the page, and presses a button."""
        sent = filled(self.page.text, "editor")
        assert [key for key in typed if f'name="{key}"' not in self.page.text] == []
        self.page = self.ada.post(self.path, data={**sent, **typed, "do": do})
        return self.page

    def publish(self) -> TestResponse:
        """Presses the button, and then the one on the page that asks."""
        asked = self.ada.get(self.press("publish").headers["Location"])
        return self.ada.post(asked.request.path, data=filled(asked.text, "publishing"))

    def source(self, do: str, text: str, revision: str | None = None, file: bytes | None = None) -> TestResponse:
        fields: dict[str, Any] = {"source": text, "revision": revision or self.draft.revision, do: "1"}
        if file is not None:
            fields["file"] = (io.BytesIO(file), "survey.yaml")
        return self.ada.post(f"{self.path}/source", data=fields, content_type="multipart/form-data")


Open = Callable[..., Editor]


@pytest.fixture
def editor(ada: FlaskClient, store: Store) -> Open:
    return lambda text=EXAMPLE: Editor(ada, store, text)


def mistakes(page: TestResponse) -> dict[str, str]:
    """What is said beside each field."""
    found = re.findall(r'id="([^"]*)-mistake" data-live>([^<]+)<', page.text)
    return dict(found)


# --- without loss ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_a_form_that_nobody_touches_leaves_the_file_as_it_is(editor: Open, path: Path) -> None:
    one = editor(path.read_text())
    assert one.press("save").status_code == 200
    assert one.draft.text == path.read_text()  # to the comment


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_a_change_of_one_field_changes_nothing_else(editor: Open, path: Path) -> None:
    one = editor(path.read_text())
    before = one.value
    one.press("save", title="Another title")
    assert one.value == {**before, "title": "Another title"}
    assert Survey.from_text(one.draft.text).title == "Another title"


@pytest.mark.slow
@given(documents())
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_survey_comes_back_from_a_browser_as_it_was(ada: FlaskClient, store: Store, value: dict[str, Any]) -> None:
    one = Editor(ada, store, to_yaml(value))
    one.press("save", contact="Ada")
    assert one.value == {**value, "contact": "Ada"}
    store.drafts.remove(one.id)


def test_a_button_adds_the_comprehension_check_once(editor: Open) -> None:
    one = editor()
    before = one.value
    assert one.press("comprehension").status_code == 200
    assert [question["id"] for question in one.value["questions"]][:3] == ["check_1", "check_2", "check_3"]
    assert one.value["questions"][4:] == before["questions"][1:]
    assert STATEMENTS[1].texts["en"] in one.page.text
    after = one.value
    one.press("comprehension")
    assert one.value == after


@pytest.mark.parametrize("topic", TOPICS[:3], ids=lambda topic: topic.name)
def test_the_advice_of_a_topic_is_a_note_that_no_change_loses(editor: Open, topic: Any) -> None:
    one = editor(topic.text)
    advice = topic.text.partition("\n")[0].removeprefix("# ")
    assert filled(one.page.text, "editor")["note"] == advice
    one.press("save", title="Another title")
    assert one.draft.text.startswith(f"# {advice}\n")
    one.press("save", note=advice + "\r\n\r\ndeniable: mine")
    assert notes_in(one.draft.text) == advice + "\n\ndeniable: mine"
    assert one.value["title"] == "Another title"


def test_comments_anywhere_in_a_file_become_notes_when_a_field_changes(editor: Open) -> None:
    one = editor(EXAMPLE.replace("epsilon: ln 9", "epsilon: ln 9  # as agreed").replace("questions:", "# ask the board\nquestions:"))
    one.press("save", title="T")
    assert notes_in(one.draft.text) == "as agreed\nask the board"
    assert title_in(one.draft.text) == "T"


def test_a_form_without_notes_keeps_those_of_the_file(editor: Open) -> None:
    one = editor("# mine\n" + EXAMPLE)
    sent = {key: value for key, value in filled(one.page.text, "editor").items() if key != "note"}
    one.ada.post(one.path, data={**sent, "title": "T", "do": "save"})
    assert (notes_in(one.draft.text), one.value["title"]) == ("mine", "T")


# --- undo -----------------------------------------------------------------------------------------------------------------


def test_undo_and_redo_go_through_the_last_versions_and_survive_a_reload(editor: Open, ada: FlaskClient) -> None:
    one = editor()
    before = one.draft.text
    one.press("save", title="Two")
    one.press("remove 1")
    assert "Question 2, “How many children do you have?”, is deleted. Undo restores it." in html.unescape(one.page.text)
    one.page = ada.get(one.path)
    page = one.press("undo")
    assert (page.status_code, "Undone." in page.text, len(one.value["questions"]), one.value["title"]) == (200, True, 2, "Two")
    one.press("undo")
    assert one.draft.text == before
    assert "There is nothing to undo." in one.press("undo").text
    one.press("redo")
    assert one.value["title"] == "Two"
    one.press("redo")
    assert len(one.value["questions"]) == 1
    one.press("undo")
    one.press("save", title="Three")  # ends redo
    assert "There is nothing to redo." in one.press("redo").text


def test_undo_keeps_what_was_typed_since_as_a_step_of_its_own(editor: Open) -> None:
    one = editor()
    one.press("save", title="Two")
    one.press("undo", title="Three")
    assert one.value["title"] == "Two"
    one.press("redo")
    assert one.value["title"] == "Three"


def test_undo_in_a_second_window_changes_nothing(editor: Open, ada: FlaskClient, store: Store) -> None:
    one = editor()
    other = Editor(ada, store)
    other.id, other.path, other.page = one.id, one.path, one.page
    one.press("save", title="Mine")
    assert other.press("undo").status_code == 409
    assert one.value["title"] == "Mine"


def test_undo_to_a_version_that_has_no_fields_shows_its_source(editor: Open) -> None:
    one = editor()
    one.source("save", "deniable: [")
    one.source("save", EXAMPLE)
    one.page = one.ada.get(one.path)
    reply = one.press("undo")
    assert (reply.status_code, reply.headers["Location"], one.draft.text) == (302, f"{one.path}/source", "deniable: [")


# --- an empty survey --------------------------------------------------------------------------------------------------------


def test_an_empty_survey_has_the_cursor_in_its_title_and_no_alarm(editor: Open) -> None:
    one = editor(EMPTY)
    assert re.search(r'<textarea[^>]*autofocus[^>]*id="title"', one.page.text)
    assert "Write 4 texts before you publish" in one.page.text
    assert 'role="alert"' not in one.page.text
    assert "4 to write" in one.page.text
    one.press("save", title="Schlaf & Arbeit: größer", about="Who asks")
    assert one.value["id"] == "schlaf-arbeit-groer"
    one.press("save", epsilon="99")
    assert ("Fix 1 problem" in one.page.text, 'role="alert"' in one.page.text) == (True, True)


@pytest.mark.parametrize(("title", "name"), [("Über die Ehe", "uber-die-ehe"), ("مسح", ""), ("2026", ""), ("x" * 99, "x" * 40), ("", "")])
def test_a_title_gives_a_short_name_where_it_has_latin_letters(title: str, name: str) -> None:
    assert id_of_title(title) == name


# --- one line for each question ---------------------------------------------------------------------------------------------


def test_one_question_is_open_and_the_others_are_a_line_each(editor: Open) -> None:
    one = editor(BRANCHED.replace("text: Why?, type: yes_no", "text: Why?, type: yes_no, show_if: {question: affair, is: [yes]}"))
    opened = re.findall(r'<details class="card asked" name="question" id="questions-(\d)"[^>]*?( open)?>', one.page.text)
    assert opened == [("0", " open"), ("1", ""), ("2", ""), ("3", "")]
    lines = re.findall(r'id="questions-\d-line" data-live>(.*?)</summary>', one.page.text, re.DOTALL)
    assert ["condition" in line for line in lines] == [False, False, False, True]
    one.press("save", **{"questions-1-options": "one\r\none"})
    assert re.findall(r'id="questions-(\d)" data-question="\d" open', one.page.text) == ["1"]
    assert re.search(r'id="questions-1-line" data-live>.*?1 to fix', one.page.text, re.DOTALL)
    one.press("down 1")
    assert "“How many children do you have?” is now question 3 of 4." in html.unescape(one.page.text)
    assert re.findall(r'id="questions-(\d)" data-question="\d" open', one.page.text) == ["2"]


# --- fields ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_survey_is_written_field_by_field_and_is_the_one_from_the_file(editor: Open, store: Store) -> None:
    one = editor()
    for _ in range(2):
        one.press("remove 0")
    assert "questions" not in one.value
    one.press("save", id="habits", title="Habits", about="Who asks,\r\nand why.", epsilon="3")
    one.press("add", new_language="")
    one.press("add", **{"questions-0-text": "Do you smoke?", "questions-0-id": "smokes"})
    one.press("save", **{"questions-1-text": "How often?", "questions-1-id": "often", "questions-1-type": "choice"})
    one.press(
        "save",
        **{
            "questions-1-options": "daily\r\nat times",
            "questions-1-conditions-0-question": "smokes",
            "questions-1-conditions-0-answers": "yes",
        },
    )
    one.press("add")
    one.press("save", **{"questions-2-text": "Age?", "questions-2-id": "age", "questions-2-type": "number"})
    one.press(
        "language", new_language="de", **{"questions-2-low": "16", "questions-2-high": "99", "questions-2-bins": "16: young\r\n30: old"}
    )
    one.press("up 2", **{"languages-0-title": "Gewohnheiten", "questions-1-words-0-options": "täglich\r\nab und zu"})
    one.press("up 1")
    expected = (
        "deniable: 1\nid: habits\ntitle: Habits\nabout: |-\n  Who asks,\n  and why.\nepsilon: 3\nquestions:\n"
        "- {id: age, text: Age?, type: number, low: 16, high: 99,\n"
        "   bins: [{name: young, from: 16}, {name: old, from: 30}]}\n"
        "- {id: smokes, text: Do you smoke?, type: yes_no}\n"
        "- {id: often, text: How often?, type: choice, options: [daily, at times],\n"
        "   show_if: {question: smokes, is: [yes]}}\n"
        "translations: {de: {title: Gewohnheiten, questions: {often: {options: [täglich, ab und zu]}}}}\n"
    )
    assert mistakes(one.page) == {}
    assert Survey.from_text(one.draft.text).digest == Survey.from_text(expected).digest
    reply = one.publish()
    assert (reply.status_code, reply.headers["Location"]) == (302, "/manage/surveys/habits/invite")
    assert store.surveys.published("habits").survey.digest == Survey.from_text(expected).digest
    assert store.drafts.listed("ada") == []


def test_exclusive_options_have_fields_and_are_asked_for_where_an_option_looks_like_one(editor: Open) -> None:
    one = editor()
    one.press("save", **{"questions-1-type": "multi_choice", "questions-1-options": "tea\r\ncoffee\r\nneither\r\nI do not know"})
    warned = [html.unescape(text) for text in re.findall(r'<p class="warning">(The option .*?)</p>', one.page.text)]
    assert [text.split("”")[0] for text in warned] == ["The option “neither", "The option “I do not know"]
    one.press("save", **{"questions-1-none": "neither", "questions-1-exclusive": "I do not know\r\nmilk"})
    assert mistakes(one.page) == {"questions-1-exclusive": "No. 2 must be one of the options, got &#39;milk&#39;."}
    assert one.page.text.count("among the options, too.") == 4  # two fields of two questions
    one.press("save", **{"questions-1-exclusive": "I do not know", "questions-1-none": "nothing"})
    assert mistakes(one.page)["questions-1-none"] == "Must be one of the options, got &#39;nothing&#39;."
    one.press("save", **{"questions-1-none": "neither"})
    assert (mistakes(one.page), "looks as if it goes with no other one" in one.page.text) == ({}, False)
    question = Survey.from_text(one.draft.text).questions[1]
    assert (question.none, question.exclusive) == ("neither", ("I do not know", "neither"))
    one.press("save", **{"questions-1-type": "choice"})  # which has neither key
    assert Survey.from_text(one.draft.text).questions[1].exclusive == ()


@pytest.mark.slow
def test_every_button_keeps_what_was_typed_right_or_wrong(editor: Open) -> None:
    one = editor()
    typed = {"epsilon": "99", "questions-0-text": "Töpfe & <b>Pfannen</b>?", "questions-1-options": "one\r\none"}
    for button in (
        "save",
        "add",
        "copy 0",
        "down 0",
        "up 1",
        "remove 3",
        "language",
        "unlanguage 0",
        "publish",
        "move 9 9",
        "nonsense",
        "add 1 2",
        "",
    ):
        page = one.press(button, **typed)
        sent = filled(page.text, "editor")
        found = [next((key for key, value in sent.items() if value == text), "") for text in typed.values()]
        assert all(found), (button, found)
        typed = dict(zip(found, typed.values(), strict=True))
    assert page.status_code == 422


def test_each_mistake_stands_beside_its_field_and_in_the_list_above(editor: Open) -> None:
    one = editor(EXAMPLE.replace("none, one or two", "none, none").replace("ln 9", "99") + "groups: [North]\nlater: {}\nlanguage: e\n")
    page = one.press(
        "publish", **{"questions-0-id": "two words", "questions-0-conditions-0-question": "", "questions-0-conditions-0-answers": "yes"}
    )
    assert page.status_code == 422
    found = mistakes(page)
    assert set(found) == {"epsilon", "groups", "language", "questions-0-id", "questions-0-conditions-0-question", "questions-1-options"}
    assert found["questions-1-options"] == "No. 2 must differ from the other options, got options[0] again."
    for place in found:
        assert f'href="#{place}"' in page.text
        assert re.search(rf'<(input|textarea|select)[^>]*aria-invalid="true"[^>]*id="{place}"', page.text), place
    assert "later is not a known key" in page.text
    assert re.search(r"Question 2: Options:</a> no\. 2 must differ", page.text)


BRANCHED = (
    EXAMPLE
    + "  - {id: age, text: Age?, type: number, low: 0, high: 99, bins: [{name: young, from: 0}, {name: old, from: 65}]}\n"
    + "  - {id: why, text: Why?, type: yes_no}\n"
)


@pytest.mark.slow
def test_conditions_are_joined_row_by_row_and_ends_are_there_for_bins(editor: Open) -> None:
    one = editor(BRANCHED)
    one.press("save", **{"questions-3-conditions-0-question": "affair", "questions-3-conditions-0-answers": "yes"})
    assert "Possible answers: yes, no." in one.page.text
    one.press("condition 3")
    one.press("save", **{"questions-3-conditions-1-question": "age"})
    assert mistakes(one.page).keys() == {"questions-3-conditions-1-answers"}
    ends = re.findall(r'<p class="field"( hidden)?>\s*<label for="questions-3-conditions-(\d)-below"', one.page.text)
    assert ends == [(" hidden", "0"), ("", "1")]
    one.press("save", **{"questions-3-conditions-1-at_least": "65"})
    all_of = {"all": [{"question": "affair", "is": ["yes"]}, {"question": "age", "at_least": "65"}]}
    assert (mistakes(one.page), one.value["questions"][3]["show_if"]) == ({}, all_of)
    one.press("condition 3")
    children = {"questions-3-conditions-2-question": "children", "questions-3-conditions-2-answers": "none"}
    one.press("save", **children, **{"questions-3-conditions-2-tied": "y"})
    either = {"any": [all_of["all"][1], {"question": "children", "is": ["none"]}]}
    assert one.value["questions"][3]["show_if"] == {"all": [all_of["all"][0], either]}
    assert "Either this or the previous condition is enough" in one.page.text
    one.press("save", **{"questions-3-joined": "any"})
    assert one.value["questions"][3]["show_if"] == {"any": [all_of["all"][0], {"all": either["any"]}]}
    one.press("uncondition 3 0")
    assert one.value["questions"][3]["show_if"] == {"all": either["any"]}  # the two that are left are tied
    assert mistakes(one.page) == {}
    for row in (1, 0):
        one.press(f"uncondition 3 {row}")
    assert "show_if" not in one.value["questions"][3]
    assert one.press("uncondition 3 7").status_code == 200


def offered(page: TestResponse, index: int) -> dict[str, str]:
    """The questions that the first condition of a question can be on, with their labels."""
    (select,) = re.findall(rf'<select[^>]*id="questions-{index}-conditions-0-question".*?</select>', page.text, re.DOTALL)
    return dict(re.findall(r'<option(?: selected)? value="([^"]*)">([^<]*)<', select))


def test_a_condition_is_offered_the_items_of_a_rating_with_their_texts(editor: Open) -> None:
    one = editor(RATED + "  - {id: why, text: Why?, type: yes_no}\n")
    assert offered(one.page, 3) == {
        "": "no condition",
        "affair": "affair: Have you ever had an affair?",
        "children": "children: How many children do you have?",
        "mood_a": "mood_a: I was tired",
        "mood_b": "mood_b: I was calm",
    }
    one.press("save", **{"questions-3-conditions-0-question": "mood_b"})
    assert "Possible answers: never, often." in one.page.text
    one.press("save", **{"questions-3-conditions-0-answers": "often"})
    assert (mistakes(one.page), one.value["questions"][3]["show_if"]) == ({}, {"question": "mood_b", "is": ["often"]})


def test_a_sum_of_scores_names_the_scales_before_it_and_takes_a_whole_rating(editor: Open) -> None:
    one = editor(RATED + "  - {id: why, text: Why?, type: yes_no}\n")
    row = "questions-3-conditions-0-"
    assert "Names with commas: mood_a, mood_b;" in one.page.text
    assert re.search(r'<p class="field" hidden>\s*<label for="questions-1-conditions-0-score"', one.page.text)
    one.press("save", **{f"{row}score": "mood", f"{row}at_least": "3"})
    assert (mistakes(one.page), one.value["questions"][3]["show_if"]) == ({}, {"score": ["mood_a", "mood_b"], "at_least": "3"})


def test_a_sum_without_ends_is_asked_for_them_beside_their_fields_in_words_for_people(editor: Open) -> None:
    one = editor(RATED + "  - {id: why, text: Why?, type: yes_no}\n")
    row = "questions-3-conditions-0-"
    one.press("save", **{f"{row}score": "mood_a"})
    assert mistakes(one.page) == {f"{row}at_least": "Must have a number here, in “Below”, or in both."}
    labels = re.findall(rf'<label for="{row}(?:at_least|below)">([^<]*)</label>\s*<span[^>]*>([^<]*)<', one.page.text)
    assert labels == [("At least", "A whole number: the least sum."), ("Below", "A whole number above all sums that count.")]
    one.press("save", **{f"{row}at_least": "3", f"{row}below": "2"})
    assert mistakes(one.page) == {f"{row}below": "Must be above “At least”."}


def test_a_count_names_questions_and_their_answers_and_comes_back_into_its_fields(editor: Open) -> None:
    one = editor(RATED + "  - {id: why, text: Why?, type: yes_no}\n")
    row = "questions-3-conditions-0-"
    assert re.search(r'<p class="field" hidden>\s*<label for="questions-0-conditions-0-count"', one.page.text)  # nothing stands before it
    one.press("save", **{f"{row}count": "mood", f"{row}answers": "often"})
    assert mistakes(one.page) == {f"{row}at_least": "Must have a number here, in “Below”, or in both."}
    one.press("save", **{f"{row}at_least": "2"})
    condition = {"count": ["mood_a", "mood_b"], "is": ["often"], "at_least": "2"}
    assert (mistakes(one.page), one.value["questions"][3]["show_if"]) == ({}, condition)
    assert re.search(rf'id="{row}count"[^>]*value="mood_a, mood_b"', one.ada.get(one.path).text)


@pytest.mark.parametrize(
    ("typed", "place"),
    [
        ({"question": "affair", "answers": "yes", "score": "mood"}, "question"),
        ({"score": "mood", "count": "mood", "at_least": "1"}, "count"),
    ],
)
def test_a_condition_of_two_kinds_is_refused_and_nothing_of_it_is_lost(editor: Open, typed: dict[str, str], place: str) -> None:
    one = editor(RATED + "  - {id: why, text: Why?, type: yes_no}\n")
    row = "questions-3-conditions-0-"
    one.press("save", **{f"{row}{key}": value for key, value in typed.items()})
    assert f"{row}{place}" in mistakes(one.page)
    kept = one.value["questions"][3]["show_if"]
    assert set(kept) >= {key for key in typed if key != "answers"}


def test_a_condition_on_a_rating_says_that_it_must_be_on_an_item(editor: Open) -> None:
    one = editor(RATED + "  - {id: why, text: Why?, type: yes_no, show_if: {question: mood, is: [never]}}\n")
    rule = "Must be the id of an earlier question with options, got &#39;mood&#39;, a rating block: name one of its items, such as mood_a."
    assert mistakes(one.page) == {"questions-3-conditions-0-question": rule}


def test_lists_of_earlier_questions_stay_short_in_a_form_with_very_many_rows(editor: Open) -> None:
    items = "".join(f"{{id: i%d_{place}, text: I}}, " for place in range(100))
    blocks = "".join(
        f"  - {{id: b{n}, text: B, type: rating, options: [a, b], items: [{items.replace('%d', str(n))}]}}\n" for n in range(99)
    )
    one = editor(EXAMPLE.partition("  - ")[0] + blocks + "  - {id: why, text: Why?, type: yes_no}\n")
    assert one.page.text.count("<option") < 30_000
    assert "i98_99" in offered(one.page, 99)


def test_each_mistake_of_a_condition_stands_beside_its_row(editor: Open) -> None:
    show_if = "{any: [{question: affair, is: [perhaps]}, {all: [{question: age, below: 3}, {question: nobody, is: [x]}]}]}"
    found = mistakes(editor(BRANCHED.replace("text: Why?, type: yes_no", f"text: Why?, type: yes_no, show_if: {show_if}")).page)
    rows = "questions-3-conditions-"
    assert found == {
        f"{rows}0-answers": "No. 1 must be one of yes, no, got &#39;perhaps&#39;.",
        f"{rows}1-below": "Must be where a bin of age begins, one of 65, got &#39;3&#39;.",
        f"{rows}2-question": "Must be the id of an earlier question with options, got &#39;nobody&#39;.",
    }


def test_help_and_sections_are_written_in_each_language(editor: Open) -> None:
    one = editor()
    one.press("language", new_language="de")
    german = "questions-1-words-0-"
    assert re.search(rf'<p class="field" hidden>\s*<label for="{german}help"', one.page.text)
    one.press("save", **{"questions-1-help": "Your own.", "questions-1-section_title": "Family", "questions-1-section_note": "And home."})
    assert re.search(rf'<p class="field">\s*<label for="{german}help"', one.page.text)
    one.press("save", **{f"{german}help": "Ihre eigenen.", f"{german}section_title": "Familie", f"{german}section_note": ""})
    assert mistakes(one.page) == {}
    survey = Survey.from_text(one.draft.text)
    assert survey.section_in("de", survey.questions[1], "title") == ("Familie", "de")
    assert survey.section_in("de", survey.questions[1], "note") == ("And home.", "en")
    assert set(mistakes(one.press("save", **{f"{german}help": "x" * 1001}))) == {f"{german}help"}
    assert set(mistakes(one.press("save", **{"questions-1-section_title": ""}))) == {"questions-1-section_title"}


RATED = EXAMPLE + (
    "  - {id: mood, text: How often?, type: rating, options: [never, often],\n"
    "     items: [{id: mood_a, text: I was tired}, {id: mood_b, text: I was calm}]}\n"
)


def test_the_items_of_a_rating_are_translated_in_fields_and_the_first_that_lacks_is_linked(editor: Open) -> None:
    one = editor(
        RATED + "translations: {de: {title: T, about: A, questions: {affair: {text: A}, children: {text: C, options: [a, b, c]}}}}\n"
    )
    german = "questions-2-words-0-"
    assert f'German lacks 4 texts; people will read these in English. <a href="#{german}items">' in one.page.text
    one.press("save", **{f"{german}text": "Wie oft?", f"{german}options": "nie\r\noft", f"{german}items": "Ich war müde"})
    assert "German lacks 1 text;" in one.page.text
    one.press("save", **{f"{german}items": "mood_b: Ich war ruhig\r\nmood_a: Ich war müde"})
    assert ("German lacks" in one.page.text, mistakes(one.page)) == (False, {})
    texts = one.value["translations"]["de"]["questions"]
    assert (texts["mood_a"], texts["mood_b"]) == ({"text": "Ich war müde"}, {"text": "Ich war ruhig"})
    one.press("save", **{f"{german}items": f"mood_a: {'x' * 2_000}\r\nmood_b: B"})
    assert set(mistakes(one.page)) == {f"{german}items"}
    assert mistakes(one.page)[f"{german}items"].startswith("Item mood_a must")


LOGO = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_logo_is_shown_as_a_picture_with_a_button_that_removes_it(editor: Open) -> None:
    one = editor()
    assert ("logo-remove" in one.page.text, 'data-most="20232"' in one.page.text) == (False, True)
    one.press("save", logo=LOGO, institution="University")
    assert f'<img src="{LOGO}" alt="The chosen logo">' in html.unescape(one.page.text)
    assert ("logo-remove" in one.page.text, mistakes(one.page)) == (True, {})
    one.press("save", logo="javascript:alert(1)")
    assert ("logo-remove" in one.page.text, "<img" in one.page.text, set(mistakes(one.page))) == (True, False, {"logo"})


def items_of(editor: Editor, index: int = 2) -> dict[str, str]:
    return {item["id"]: item["text"] for item in editor.value["questions"][index]["items"]}


def test_items_get_names_which_stay_while_lines_are_written_and_moved(editor: Open) -> None:
    one = editor()
    one.press("add")
    first = one.page
    typed = {"questions-2-type": "rating", "questions-2-text": "How?", "questions-2-options": "never\r\noften"}
    one.press("save", **typed, **{"questions-2-items": "I was tired\r\nIn general: calm"})
    assert (mistakes(one.page), items_of(one)) == ({}, {"q3_1": "I was tired", "q3_2": "In general: calm"})
    assert filled(one.page.text, "editor")["questions-2-items"] == "q3_1: I was tired\r\nq3_2: In general: calm"

    def still_writing(lines: str) -> dict[str, str]:
        """The page replaces no field in which somebody writes."""
        sent = {**filled(first.text, "editor"), **typed, "questions-2-items": lines, "revision": one.draft.revision}
        one.page = one.ada.post(one.path, data={**sent, "do": "save"})
        return items_of(one)

    assert still_writing("I was very tired\r\nIn general: calm") == {"q3_1": "I was very tired", "q3_2": "In general: calm"}
    assert still_writing("new\r\nIn general: calm\r\nI was very tired") == {
        "q3_3": "new",
        "q3_2": "In general: calm",
        "q3_1": "I was very tired",
    }
    assert still_writing("mine: new\r\nIn general: calm") == {"mine": "new", "q3_2": "In general: calm"}


def test_a_copy_of_a_rating_has_items_of_its_own(editor: Open) -> None:
    one = editor(RATED + "translations: {de: {questions: {mood_b: {text: ruhig}}}}\n")
    one.press("copy 2")
    assert (mistakes(one.page), list(items_of(one, 3))) == ({}, ["q4_1", "q4_2"])
    assert one.value["translations"]["de"]["questions"] == {"mood_b": {"text": "ruhig"}, "q4_2": {"text": "ruhig"}}


@pytest.mark.parametrize("options", ["one\r\none\r\none", "none\r\n"])
def test_the_head_counts_the_lines_of_the_list(editor: Open, options: str) -> None:
    one = editor()
    page = one.press("save", **{"questions-1-options": options, "epsilon": "99", "about": ""}).text
    listed = re.search(r'<div class="problems".*?</ul>', page, re.DOTALL)
    assert listed is not None
    numbers = [int(number) for number in re.findall(r"(\d+) (?:problem|text)", listed[0])]
    assert sum(numbers) == listed[0].count("<li>")
    assert f"{numbers[0]} to fix" in page


def test_a_mistake_in_a_translation_stands_beside_the_words_that_are_wrong(editor: Open) -> None:
    one = editor(EXAMPLE + "translations: {de: {title: T, questions: {children: {options: [a, b, c]}}}}\n")
    one.press("language", new_language="ar")
    found = mistakes(one.press("save", **{"questions-1-words-0-options": "a\r\nb", "languages-0-title": "x" * 201}))
    assert set(found) == {"questions-1-words-0-options", "languages-0-title", "languages-1-title"}


@pytest.mark.slow
def test_what_is_said_of_the_plan_is_what_the_planner_says_and_a_proposal_is_done_at_one_press(editor: Open) -> None:
    questions = "".join(f"- {{id: q{place}, text: Q, type: yes_no}}\n" for place in range(12))
    one = editor(EXAMPLE.partition("questions:")[0].replace("ln 9", "4") + "questions:\n" + questions)
    page = one.press("save", n="800")
    assert "12 questions, 800 people: 21.0 points" in page.text
    for row in outlook(Survey.from_text(one.draft.text), 800):
        assert f'<span dir="auto">Q</span> ±&nbsp;{100 * row.half_width:.1f} points' in page.text
    (offered,) = proposals(one.value, 800)
    assert f'value="propose {offered.words}"' in page.text
    assert f"{100 * offered.half_width:.1f} points" in page.text
    one.press(f"propose {offered.words}", title="Typed meanwhile")
    assert one.value == {**offered.document, "title": "Typed meanwhile"}
    assert "12 questions, 800 people: 11.2 points" in one.page.text
    one.press("propose Ask nobody anything")
    assert one.value == {**offered.document, "title": "Typed meanwhile"}


@pytest.mark.parametrize("n", ["0", "many", "", "99999999999999"])
def test_a_number_of_people_that_is_none_is_told_and_nothing_typed_is_lost(editor: Open, n: str) -> None:
    one = editor()
    page = one.press("save", n=n, title="Typed")
    assert "n" in mistakes(page)
    assert one.value["title"] == "Typed"


# --- two windows ----------------------------------------------------------------------------------------------------------


def test_the_second_of_two_windows_is_told_and_loses_nothing(editor: Open, ada: FlaskClient, store: Store) -> None:
    one = editor()
    other = Editor(ada, store)
    other.id, other.path, other.page = one.id, one.path, one.page
    one.press("save", title="Mine")
    page = other.press("save", title="Yours", about="Much that was typed")
    assert (page.status_code, "The draft has changed" in page.text) == (409, True)
    assert filled(page.text, "editor")["about"] == "Much that was typed"
    assert other.press("publish").status_code == 409
    assert one.value["title"] == "Mine"
    reply = other.press("keep")
    (kept,) = [draft for draft in store.drafts.listed("ada") if reply.headers["Location"] == f"/manage/drafts/{draft.id}"]
    assert (parse(kept.beginning).value["title"], one.value["title"]) == ("Yours", "Mine")


def test_the_second_window_may_put_its_own_in_the_place(editor: Open, ada: FlaskClient, store: Store) -> None:
    one = editor()
    other = Editor(ada, store)
    other.id, other.path, other.page = one.id, one.path, one.page
    one.press("save", title="Mine")
    other.press("save", title="Yours")
    assert other.press("over").status_code == 200
    assert one.value["title"] == "Yours"
    assert other.press("save", title="Yours again").status_code == 200
    assert one.press("save").status_code == 409


def test_the_same_holds_for_the_source(editor: Open, store: Store) -> None:
    one = editor()
    before = one.draft.revision
    assert one.source("save", EXAMPLE + "# mine\n").status_code == 200
    page = one.source("publish", EXAMPLE + "# yours\n", before)
    assert (page.status_code, "# yours" in page.text, "# mine" in one.draft.text) == (409, True, True)
    assert one.source("keep", EXAMPLE + "# yours\n", before).status_code == 302
    assert sorted("# yours" in draft.beginning for draft in store.drafts.listed("ada")) == [False, True]
    assert one.source("over", EXAMPLE + "# yours\n", before).status_code == 200
    assert "# yours" in one.draft.text


def test_nobody_gets_fields_for_more_questions_than_there_may_be(editor: Open) -> None:
    """Each takes time and room, and more of it the more there are."""
    one = editor()
    before = one.draft
    reply = one.ada.post(one.path, data={**{f"questions-{number}-id": "q" for number in range(5_000)}, "do": "save"})
    assert (reply.status_code, "at most 100 questions" in reply.text, one.draft) == (400, True, before)


def test_who_has_as_many_drafts_as_may_be_is_told_and_loses_nothing(editor: Open, ada: FlaskClient, store: Store) -> None:
    one = editor()
    while len(store.drafts.listed("ada")) < MOST:
        store.drafts.begin("ada", "")
    begun = ada.post("/manage/new", data={"blank": "1"})
    assert (begun.status_code, f"you have {MOST} drafts, the most allowed" in begun.text) == (422, True)
    page = one.press("keep", about="Much that was typed")
    assert (page.status_code, f"at most {MOST} a person" in page.text) == (409, True)
    assert filled(page.text, "editor")["about"] == "Much that was typed"
    page = one.source("keep", EXAMPLE + "# yours\n")
    assert (page.status_code, f"at most {MOST} a person" in page.text, "# yours" in page.text) == (409, True, True)


# --- source -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("do", ["save", "publish"])
def test_all_that_is_wrong_in_a_file_is_told_with_its_line_and_nothing_is_lost(editor: Open, store: Store, do: str) -> None:
    one = editor()
    page = one.source(do, WRONG.replace("\n", "\r\n"))
    assert page.status_code == 422
    assert "Fix 2 problems" in page.text
    assert "Line 5, <code>epsilon</code>: must be above 0 and at most 10" in page.text
    assert "did you mean yes_no?" in page.text
    assert one.draft.text == WRONG
    assert [published.survey.id for published in store.surveys.all()] == ["study"]


@pytest.mark.parametrize("text", ["", "[", "title: T\ntitle: U\n", "- a\n", "questions: [3]", "x" * 200_000])
def test_what_has_no_fields_is_kept_and_shown_as_source(editor: Open, ada: FlaskClient, text: str) -> None:
    one = editor(text)
    assert one.page.headers["Location"] == f"{one.path}/source"
    page = ada.get(f"{one.path}/source")
    assert (page.status_code, "The form editor opens when" in page.text) == (200, True)
    assert one.draft.text == text


def test_a_survey_of_very_many_questions_is_written_as_a_file(editor: Open, ada: FlaskClient) -> None:
    questions = "".join(f"- {{id: q{place}, text: Q, type: yes_no}}\n" for place in range(101))
    one = editor(EXAMPLE.partition("questions:")[0] + "questions:\n" + questions)
    assert one.page.status_code == 302
    assert "No errors." in ada.get(f"{one.path}/source").text


def test_a_file_counts_before_what_is_written(editor: Open) -> None:
    one = editor()
    text = EXAMPLE.replace("marriage", "Ehe, größer")
    assert one.source("save", "nothing", file="\ufeff".encode() + text.encode()).status_code == 200
    assert one.draft.text == text
    page = one.source("save", "typed", file=b"\xff\xfe\x00")
    assert (page.status_code, "UTF-8" in page.text, "typed" in page.text) == (422, True, True)
    assert one.draft.text == text


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_a_draft_is_downloaded_as_the_same_survey(editor: Open, ada: FlaskClient, path: Path) -> None:
    one = editor(path.read_text())
    replies = {kind: ada.get(f"{one.path}/survey.{kind}") for kind in ("yaml", "json")}
    assert replies["yaml"].text == path.read_text()
    assert json.loads(replies["json"].text) == one.value
    assert Survey.from_text(replies["json"].text).digest == Survey.from_file(path).digest
    assert {reply.headers["Content-Disposition"] for reply in replies.values()} == {
        f'attachment; filename="{one.value["id"]}.{kind}"' for kind in replies
    }


def test_what_is_no_yaml_is_downloaded_as_it_is_and_not_as_json(editor: Open, ada: FlaskClient) -> None:
    one = editor("[")
    assert ada.get(f"{one.path}/survey.yaml").text == "["
    assert ada.get(f"{one.path}/survey.json").status_code == 409


# --- begin, plan, publish, delete -----------------------------------------------------------------------------------------


def begin(ada: FlaskClient, file: bytes | None = None, name: str = "survey.yaml", **fields: str) -> TestResponse:
    sent: dict[str, Any] = {**fields, **({} if file is None else {"file": (io.BytesIO(file), name)})}
    return ada.post(NEW, data=sent, content_type="multipart/form-data")


def test_a_draft_begins_empty_or_with_a_file_or_a_topic(ada: FlaskClient, store: Store) -> None:
    assert ada.get(NEW).text.count('name="topic"') == len(TOPICS)
    drugs = next(topic for topic in TOPICS if topic.name == "drugs")
    begun = {EMPTY: begin(ada, blank="1"), WRONG: begin(ada, WRONG.encode()), drugs.text: begin(ada, b"", topic="drugs")}
    for text, reply in begun.items():
        assert reply.status_code == 302
        assert store.drafts.draft(reply.headers["Location"].rpartition("/")[2]).text == text
    reply = begin(ada, b"", upload="1")
    assert (reply.status_code, "Choose a file" in reply.text, len(store.drafts.listed("ada"))) == (422, True, 3)
    reply = begin(ada, b"\xff")
    assert (reply.status_code, "UTF-8" in reply.text, len(store.drafts.listed("ada"))) == (422, True, 3)


@pytest.mark.slow
def test_a_form_becomes_a_draft_with_a_report_once_its_author_has_decided(ada: FlaskClient, store: Store) -> None:
    page = begin(ada, workbook(), "form.xlsx")
    assert (page.status_code, "Import the form</button>" in page.text, store.drafts.listed("ada")) == (200, True, [])
    fields = form_fields(page.text)
    numbers = [name for name in fields if name.endswith((".low", ".high", ".bins"))]
    assert len(numbers) == 3  # of the income
    page = ada.post(NEW, data={**fields, numbers[0]: "9", numbers[1]: "3"})
    assert (page.status_code, "numbers.income.high: must be above low, got &#39;3&#39;" in page.text) == (422, True)
    assert form_fields(page.text)[numbers[0]] == "9"
    assert not store.drafts.listed("ada")
    page = ada.post(NEW, data={**fields, numbers[0]: "0", numbers[1]: "5000"})
    assert page.status_code == 200
    (draft,) = store.drafts.listed("ada")
    decisions = Decisions({"income": NumberEnds(0, 5000)})
    assert draft.beginning == to_yaml(read_form(workbook(), "form", decisions).document)
    assert f'href="/manage/drafts/{draft.id}"' in page.text
    assert re.search(r"<code[^>]*>why</code></dt><dd>free text is not possible", page.text)


@pytest.mark.slow
def test_a_form_that_is_none_or_was_changed_on_its_way_is_refused(ada: FlaskClient, store: Store) -> None:
    bombs = with_part("xl/bomb.xml", " " * (9 << 20)), with_part(SHEET, entities(first='"aaaaaaaaaa"') + ROWS % "&e8;")
    for wrong in (workbook()[:3000], workbook([]), *bombs):
        reply = begin(ada, wrong, "form.xlsx")
        assert (reply.status_code, "must be a" in reply.text) == (422, True)
    fields = form_fields(begin(ada, workbook(), "form.xlsx").text)
    packed = base64.b64encode(zlib.compress(b" " * (9 << 20))).decode()
    for carried, why in (
        ("?", "must be uploaded again"),
        ("aGVsbG8=", "must be uploaded again"),
        (packed, "at most 8 MiB when it is unpacked"),
    ):
        reply = ada.post(NEW, data={**fields, "form_file": carried})
        assert (reply.status_code, why in reply.text) == (422, True)
    assert not store.drafts.listed("ada")


def form_fields(page: str) -> dict[str, str]:
    """The fields of the page that asks for decisions, with their values."""
    fields = re.findall(r'<input[^>]* name="([^"]+)"[^>]*? value="([^"]*)"', page)
    selects = re.findall(r'<select[^>]* name="([^"]+)">.*?<option selected>([^<]*)<', page)
    return {name: html.unescape(value) for name, value in (*fields, *selects)}


def test_surveys_of_limesurvey_and_qualtrics_become_drafts(ada: FlaskClient, store: Store) -> None:
    for raw, name in ((lss(**LIMESURVEY), "habits.lss"), (qsf(), "habits.qsf")):
        page = begin(ada, raw, name)
        if "Import the form</button>" in page.text:
            page = ada.post(NEW, data=form_fields(page.text))
        assert (page.status_code, "The form is now a draft" in page.text) == (200, True)
    assert len(store.drafts.listed("ada")) == 2


@pytest.mark.parametrize("installed", [True, False])
def test_an_xlsform_is_offered_where_the_server_can_read_one(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch, installed: bool) -> None:
    if not installed:
        monkeypatch.setitem(extras._PACKAGES, "xlsform", ("no_such_pyxform",))
    offers = [ada.get(NEW).text, ada.get("/manage/help").text]
    assert [("XLSForm" in page, ".xlsx" in page) for page in offers] == [(installed, installed), (installed, False)]
    assert ".yaml,.yml,.json" in offers[0]


def test_an_xlsform_that_the_server_cannot_read_is_refused_in_words_for_researchers(
    ada: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(extras._PACKAGES, "xlsform", ("no_such_pyxform",))
    reply = begin(ada, workbook(), "form.xlsx")
    assert reply.status_code == 422
    assert "This server cannot read XLSForms. Choose a YAML or JSON file, or ask the server’s operator." in reply.text
    assert "pip" not in reply.text
    assert not store.drafts.listed("ada")


@pytest.mark.slow
def test_the_plan_of_a_draft_is_what_the_planner_says(editor: Open, ada: FlaskClient) -> None:
    page = ada.get(f"{editor().path}/plan?n=800").text
    for table in plan(Survey.from_text(EXAMPLE), n=800).tables()[1:4]:
        assert f">{table.title}</h2>" in page
        cells = [cell for row in table.rows for cell in row]
        assert [f">{cell}</" in page for cell in cells] == [True] * len(cells)
    assert ada.get(f"{editor(WRONG).path}/plan").status_code == 302


@pytest.mark.slow
def test_another_survey_under_a_published_id_is_refused_and_stays_a_draft(editor: Open, store: Store) -> None:
    first, other = editor(), editor(EXAMPLE.replace("marriage", "work"))
    assert first.publish().status_code == 302
    assert editor().publish().status_code == 302  # the same once more
    for page in (other.press("publish"), other.source("publish", EXAMPLE.replace("marriage", "work"))):
        assert (page.status_code, "must be new" in page.text) == (422, True)
    assert store.surveys.published("affairs").survey.title == "About marriage"
    assert [draft.id for draft in store.drafts.listed("ada")] == [other.id]


@pytest.mark.slow
def test_a_draft_is_its_authors_who_may_delete_it(editor: Open, ada: FlaskClient, store: Store) -> None:
    own = editor(EXAMPLE.replace("title: About marriage", 'title: "A <b>bold</b> one"'))
    store.accounts.set_password("ben", "hash")
    bens = store.drafts.begin("ben", EXAMPLE.replace("About marriage", "Ben's own"))
    assert "A &lt;b&gt;bold&lt;/b&gt; one" in ada.get("/manage").text
    assert "Ben&#39;s own" not in ada.get("/manage").text
    for path in ("", "/source", "/plan", "/publish", "/preview", "/preview/page", "/preview/definition", "/survey.yaml"):
        assert ada.get(f"/manage/drafts/{bens.id}{path}").status_code == 404, path
    for path in ("", "/source", "/publish", "/delete"):
        assert ada.post(f"/manage/drafts/{bens.id}{path}", data={"revision": bens.revision}).status_code == 404, path
    assert store.drafts.draft(bens.id) == bens
    assert ada.post(f"{own.path}/delete").status_code == 302
    assert ada.get(own.path).status_code == 404


def test_the_drafts_of_somebody_who_has_left_are_the_operators(ada: FlaskClient, store: Store) -> None:
    store.accounts.set_password("ben", "hash")
    bens = store.drafts.begin("ben", EXAMPLE)
    store.accounts.remove_user("ben")
    store.accounts.set_password("eve", "hash")
    store.people.set_operator("eve", True)  # somebody has to be one
    for operator, status in ((False, 404), (True, 200)):
        store.people.set_operator("ada", operator)
        assert ada.get(f"/manage/drafts/{bens.id}").status_code == status
    assert ada.post(f"/manage/drafts/{bens.id}/delete").status_code == 302
    assert store.drafts.listed("ada") == []


@pytest.mark.slow
def test_markup_in_a_survey_is_text_on_its_pages(editor: Open, ada: FlaskClient) -> None:
    source = EXAMPLE.replace("About marriage", "<script>x</script>").replace("none,", "<b>none</b>,").replace("Have you", "<i>Have</i> you")
    source += "  - {id: more, text: How?, type: yes_no, show_if: {question: children, is: ['<b>none</b>']}}\n"
    one = editor(source)
    pages = [one.page.text, one.press("save", **{"questions-0-id": '"><b>none'}).text, ada.get(f"{one.path}/source").text]
    one = editor(source)
    pages += [ada.get(f"{one.path}/{tab}").text for tab in ("plan", "preview", "preview/page")]
    pages.append(ada.get(f"{one.path}/publish").text)
    one.publish()
    pages += [ada.get(f"/manage/surveys/affairs/{tab}").text for tab in ("questions", "plan", "invite", "settings")]
    assert "&lt;b&gt;none&lt;/b&gt;</q>" in pages[7]
    assert not [page for page in pages if re.search("<script>x|<b>none|<i>Have", page)]


def test_more_than_any_survey_needs_is_refused_before_it_is_read(editor: Open) -> None:
    one = editor()
    assert one.source("save", "x" * (450 << 10)).status_code == 413
    assert one.source("save", "x" * (300 << 10)).status_code == 422


def test_nothing_of_a_draft_that_is_gone_is_on_the_disk(editor: Open, ada: FlaskClient, store: Store, tmp_path: Path) -> None:
    def traces(word: str) -> list[Path]:
        return [file for file in tmp_path.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]

    one = editor(EXAMPLE.replace("marriage", "Qwertzuiop"))
    assert traces("Qwertzuiop")  # the control: what is kept is there
    one.press("save", title="Asdfghjkl")
    ada.post(f"{one.path}/delete")
    wait_for(lambda: not traces("Qwertzuiop") and not traces("Asdfghjkl"), "no word of a draft that was deleted")


def test_who_goes_back_after_publishing_is_told_that_the_draft_is_gone_and_led_on(ada: FlaskClient, store: Store) -> None:
    editor = Editor(ada, store, EXAMPLE)
    store.drafts.remove(editor.id)
    gone = ada.get(editor.path)
    assert gone.status_code == 404
    assert "No draft has this id; a published draft is listed among the surveys." in gone.text
    assert "Check the link that you were given" not in gone.text
    assert 'href="/manage"' in gone.text


def from_known_device(logged_in: Callable[[Flask], FlaskClient], app: Flask) -> FlaskClient:
    """Ada's browser, with what says that she logged in from it before."""
    client = logged_in(app)
    with app.test_request_context():
        reply = app.make_response("")
        sessions.remember_device(reply, "ada")
    name, _, value = reply.headers["Set-Cookie"].partition(";")[0].partition("=")
    client.set_cookie(name, value)
    return client


BY_HAND = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Site": "same-origin"}


@pytest.mark.parametrize("page", ["", "/source"])
def test_who_was_logged_out_sends_the_same_again_without_javascript_once_logged_in_anew(
    app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient], page: str
) -> None:
    path = f"/manage/drafts/{store.drafts.begin('ada', EXAMPLE).id}"
    text = f'\nTyped <b>after</b>\n the end & "quoted"{" and long" * 2000}'
    client = from_known_device(logged_in, app)
    sent = filled(client.get(f"{path}{page}").text, "source-file" if page else "editor")
    sent |= {"title": text.strip(), "do": "save"} if not page else {"source": EXAMPLE + f"# {text}", "save": "1"}
    client.delete_cookie("deniable", path="/manage")
    client.delete_cookie("deniable")
    out = client.post(f"{path}{page}", data=sent, headers=BY_HAND)
    assert (out.status_code, "You are logged out" in out.text, "another window" in out.text) == (401, True, True)
    again = logged_in(app)
    anew = again.post(f"{path}{page}", data=filled(out.text, "again"), headers=BY_HAND)
    assert (anew.status_code, "You have logged in again" in anew.text) == (400, True)
    assert store.drafts.draft(path.rpartition("/")[2]).text == EXAMPLE
    assert again.post(f"{path}{page}", data=filled(anew.text, "again"), headers=BY_HAND).status_code in (200, 422)
    kept = store.drafts.draft(path.rpartition("/")[2]).text
    assert parse(kept).value["title"] == text.strip() if not page else kept == EXAMPLE + f"# {text}"


@pytest.mark.parametrize("told", [{}, {**BY_HAND, "Sec-Fetch-Site": "cross-site"}, {**BY_HAND, "Sec-Fetch-Mode": "cors"}, None])
def test_nothing_is_given_back_to_a_script_a_stranger_or_for_a_page_of_another_site(
    app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient], told: dict[str, str] | None
) -> None:
    """None: a stranger who says all that a browser does; nor may any of them send more than anybody."""
    path = f"/manage/drafts/{store.drafts.begin('ada', EXAMPLE).id}"
    client = app.test_client() if told is None else from_known_device(logged_in, app)
    client.delete_cookie("deniable", path="/manage")
    client.delete_cookie("deniable")
    sent: dict[str, Any] = {"data": {"title": "typed" + "x" * 20_000}, "headers": BY_HAND if told is None else told}
    reply = client.post(path, **sent)
    assert (reply.status_code, "typed" in reply.text) == (302, False)
    assert limits.most_bytes_of(app, EnvironBuilder(path, method="POST", **sent).get_environ()) == limits.SMALL


@pytest.mark.parametrize(
    "name", ["questions-500-id", "questions--1-id", "languages-9-tag", "questions-0-conditions-7-question", "questions-x-id"]
)
def test_a_forged_form_with_parts_that_no_page_has_is_a_draft_like_any_other(ada: FlaskClient, store: Store, name: str) -> None:
    editor = Editor(ada, store)
    sent = {key: value for key, value in filled(editor.page.text, "editor").items() if "conditions" not in key}
    for do in ("save", "up 1", "condition 0", "uncondition 0 5", "copy 1"):
        assert ada.post(editor.path, data={**sent, name: "forged", "do": do}).status_code in (200, 409, 422)
    assert ada.get(editor.path).status_code == 200


def test_a_title_of_any_kind_is_read_in_no_time() -> None:
    """The list of surveys reads the titles of all drafts, while respondents wait for the same processor."""
    begun = time.process_time()
    for text in ("title: " + " " * 9990 + "x", "title: " + "' " * 4990 + "x", "title " * 1600 + "x", "title:\n" * 1400):
        assert title_in(text)
    assert time.process_time() - begun < 0.1
    for text, title in (
        ("title: 'Of two'", "Of two"),
        ('{"title": "In JSON",', "In JSON"),
        ("title: |\n  x", "x"),
        ("id: x", "Untitled"),
    ):
        assert title_in(text) == title


@pytest.mark.slow
def test_a_survey_of_more_questions_than_there_are_fields_for_is_planned_and_tried_from_its_source(ada: FlaskClient, store: Store) -> None:
    questions = "".join(f"  - {{id: q{number}, text: Q?, type: yes_no}}\n" for number in range(101))
    path = f"/manage/drafts/{store.drafts.begin('ada', EXAMPLE.split('  - ')[0] + questions).id}"
    page = ada.get(path, follow_redirects=True).text
    assert "has 100 questions or fewer" in page
    tabs = re.findall(r'href="([^"]*)"', page.split('aria-label="This draft"')[1].split("</nav>")[0])
    assert tabs == [f"{path}/source", f"{path}/plan", f"{path}/preview", f"{path}/test", f"{path}/sharing"]
    assert [ada.get(tab).status_code for tab in tabs] == [200] * 5


# --- files that are no surveys ------------------------------------------------------------------------------------------------

ANSWERS = (
    '[{"smokes": "yes"}, {"smokes": "no"}]',
    "smokes;age\nyes;17\n",
    "import os\nprint(1)\n",
    "smokes: yes",
    "",
    "the deniable answers: 1",
)


@pytest.mark.parametrize("text", ANSWERS)
def test_a_file_that_is_no_survey_is_refused_and_kept_nowhere(ada: FlaskClient, editor: Open, store: Store, text: str) -> None:
    one = editor()
    before = one.draft.text
    reply = ada.post("/manage/new", data={"file": (io.BytesIO(text.encode()), "truth.json"), "upload": "1"})
    assert reply.status_code == 422
    page = one.source("save", text)
    assert (page.status_code, "a survey file must have the line" in page.text) == (422, True)
    assert one.source("keep", text).status_code == 422
    assert [draft.beginning for draft in store.drafts.listed("ada")] == [before[: len(store.drafts.listed("ada")[0].beginning)]]


@pytest.mark.parametrize("text", ["deniable: 1\nid: [", '{"deniable": 1, "id": 7}', "{deniable: 1}", "# mine\n  'deniable' : 1\n"])
def test_a_survey_file_with_mistakes_is_kept(ada: FlaskClient, store: Store, text: str) -> None:
    reply = ada.post("/manage/new", data={"file": (io.BytesIO(text.encode()), "s.yaml"), "upload": "1"})
    assert reply.status_code == 302
    assert len(store.drafts.listed("ada")) == 1
