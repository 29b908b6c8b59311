"""A document becomes fields and the fields the document: whatever a survey file may hold, nothing of it is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from tests.kit.documents import documents, wrong_documents

from deniable.survey import Survey
from deniable.survey.document import parse, read
from deniable.survey.dump import to_yaml
from deniable_server.drafts.editor import conditions, fields
from deniable_server.drafts.editor.fields import fields_of, is_editable, value_of

EXAMPLES = sorted((Path(__file__).parents[4] / "examples").glob("*.yaml"))


@pytest.mark.slow
@given(documents())
@settings(deadline=None)
def test_every_valid_survey_comes_back_as_it_was(value: dict[str, Any]) -> None:
    survey = Survey.from_dict(value)
    assert is_editable(value)
    assert value_of(fields_of(value)) == value
    assert Survey.from_text(to_yaml(value_of(fields_of(value)))).digest == survey.digest


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_comes_back_as_it_was(path: Path) -> None:
    value = read(path).value
    assert value_of(fields_of(value)) == value


@pytest.mark.slow
@given(wrong_documents())
@settings(deadline=None)
def test_a_wrong_survey_keeps_its_mistakes_and_breaks_nothing(value: dict[str, Any]) -> None:
    assert is_editable(value)
    again = value_of(fields_of(value))
    assert again | {"deniable": "1"} == value_of(fields_of(again)) | {"deniable": "1"}  # from then on nothing changes


@pytest.mark.parametrize("text", ["", "[]", "text", "questions: 3", "questions: [q]", "questions: {a: b}"])
def test_what_has_not_the_shape_of_a_survey_has_no_fields(text: str) -> None:
    assert not is_editable(parse(text).value)


def test_what_no_field_can_hold_is_kept_beside_what_was_changed() -> None:
    value = parse(
        "deniable: 1\nid: s\ntitle: T\nabout: A\nepsilon: 1\nlater: {a: [b]}\nquestions:\n"
        '- {id: q, text: Q, type: choice, options: ["a\\nb", c], hint: {x: y}}\n'
    ).value
    made = fields_of(value)
    made["questions"][0]["text"] = made["title"] = "Other"
    question = {**value["questions"][0], "text": "Other"}
    assert value_of(made) == {**value, "title": "Other", "questions": [question]}


def test_the_order_of_items_and_sections_and_a_fixed_section_have_fields() -> None:
    items = [{"id": "a", "text": "A"}, {"id": "b", "text": "B"}]
    block = {"id": "m", "text": "M", "type": "rating", "options": ["x", "y"], "items": items, "order": "rotate"}
    fixed = {"id": "q", "text": "Q", "type": "yes_no", "section": {"title": "S", "fixed": "true"}}
    value = {"deniable": "1", "id": "s", "title": "T", "about": "A", "epsilon": "1", "section_order": "random", "questions": [block, fixed]}
    made = fields_of(value)
    assert (made["section_order"], made["rest"]) == ("random", "")
    assert [(one["order"], one["section_fixed"], one["rest"]) for one in made["questions"]] == [("rotate", False, ""), ("", True, "")]
    assert value_of(made) == value
    made["section_order"], made["questions"][1]["section_fixed"] = "", False
    assert value_of(made)["questions"][1]["section"] == {"title": "S"}
    assert "section_order" not in value_of(made)
    made["questions"][1] |= {"section_title": "", "section_fixed": True}
    assert value_of(made)["questions"][1]["section"] == {"fixed": "true"}  # its missing title is reported at its field


def test_what_is_asked_after_a_question_is_asked_after_it_under_its_new_name() -> None:
    value = parse(
        "id: s\nquestions: [{id: a, text: A, type: yes_no}, {id: b, text: B, type: yes_no, show_if: {question: a, is: [yes]}}]\n"
        "translations: {de: {questions: {a: {text: Ä}}}}\n"
    ).value
    made = fields_of(value)
    made["questions"][0]["id"] = "c"
    assert value_of(made)["questions"][1]["show_if"] == {"question": "c", "is": ["yes"]}
    assert value_of(made)["translations"] == {"de": {"questions": {"c": {"text": "Ä"}}}}


def test_every_condition_of_a_list_follows_a_new_name() -> None:
    one = "{question: a, is: [yes]}"
    value = parse(
        "id: s\nquestions: [{id: a, text: A, type: yes_no}, {id: b, text: B, type: yes_no}, "
        f"{{id: c, text: C, type: yes_no, show_if: {{any: [{one}, {{all: [{{question: b, is: [no]}}, {one}]}}]}}}}]\n"
    ).value
    made = fields_of(value)
    made["questions"][0]["id"] = "new"
    renamed = {"question": "new", "is": ["yes"]}
    assert value_of(made)["questions"][2]["show_if"] == {"any": [renamed, {"all": [{"question": "b", "is": ["no"]}, renamed]}]}


RATED = """\
deniable: 1
id: s
questions:
  - {id: mood, text: How often?, type: rating, options: [never, often], items: [{id: mood_a, text: A}, {id: mood_b, text: B}]}
  - {id: c, text: C, type: yes_no, show_if: {question: mood_a, is: [often]}}
translations: {de: {questions: {mood: {text: Wie oft?}, mood_a: {text: "Ä: eins"}, mood_b: {text: Be}}}}
"""


def test_the_items_of_a_rating_have_a_field_in_each_language() -> None:
    value = parse(RATED).value
    made = fields_of(value)
    assert (made["rest"], made["questions"][0]["words"][0]["items"]) == ("", "mood_a: Ä: eins\nmood_b: Be")
    assert value_of(made) == value


def test_the_texts_and_conditions_of_an_item_follow_its_new_name() -> None:
    made = fields_of(parse(RATED).value)
    made["questions"][0]["items"] = "calm: A\nmood_b: B"
    value = value_of(made)
    assert value["translations"]["de"]["questions"]["calm"] == {"text": "Ä: eins"}
    assert "mood_a" not in value["translations"]["de"]["questions"]
    assert value["questions"][1]["show_if"]["question"] == "calm"


def test_texts_of_items_without_names_belong_to_the_item_in_their_place() -> None:
    made = fields_of(parse(RATED).value)
    made["questions"][0]["words"][0]["items"] = "Achtung: eins\nBe\nund mehr"
    texts = value_of(made)["translations"]["de"]["questions"]
    assert (texts["mood_a"], texts["mood_b"]) == ({"text": "Achtung: eins"}, {"text": "Be und mehr"})


def test_texts_of_an_item_that_no_line_can_hold_are_kept() -> None:
    value = parse(RATED.replace("{text: Be}", '{text: "B\\ne"}')).value
    assert value_of(fields_of(value)) == value


@pytest.mark.parametrize("rest", ["[", "[]", "3", "{'a': 1}", "[" * 100_000])
def test_a_rest_that_nobody_wrote_is_refused(rest: str) -> None:
    with pytest.raises(ValueError, match="rest must be"):
        value_of({**fields_of({}), "rest": rest})


# Controls: what the property must notice, in any survey: which is the smallest is not looked for.


def comes_back_as_it_was() -> None:
    @settings(deadline=None, phases=[Phase.generate], report_multiple_bugs=False)
    @given(documents())
    def every(value: dict[str, Any]) -> None:
        assert value_of(fields_of(value)) == value

    every()


@pytest.mark.parametrize("lost", ["weight", "ethics", "ask", "help"])
def test_a_form_that_forgets_a_key_would_be_noticed(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = fields._set
    monkeypatch.setattr(fields, "_set", lambda given, keys: kept(given, [key for key in keys if key != lost]))
    with pytest.raises(AssertionError):
        comes_back_as_it_was()


def test_lists_that_are_cut_at_lines_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "format_lines", lambda value: "\n".join(value) if isinstance(value, list) else None)
    with pytest.raises(AssertionError):
        comes_back_as_it_was()


def test_rows_that_forget_which_go_together_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conditions, "_groups", lambda rows: [[place] for place in range(len(rows))])
    with pytest.raises(AssertionError):
        comes_back_as_it_was()
