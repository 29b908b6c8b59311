"""Rating blocks of survey files: each item becomes a scale question, and the definition gives back the same survey."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import jsonschema
import pytest

from deniable.errors import RefusedError, SurveyError
from deniable.plan.proposals import proposals
from deniable.survey import Survey
from deniable.survey.dump import to_yaml
from deniable.survey.schema import survey_schema

OPTIONS = ["Not at all", "Several days", "Nearly every day"]
BLOCK: dict[str, Any] = {
    "id": "mood",
    "type": "rating",
    "text": "How often?",
    "options": OPTIONS,
    "items": [{"id": "mood_1", "text": "Little interest"}, {"id": "mood_2", "text": "Feeling down"}, {"id": "mood_3", "text": "Bad sleep"}],
}
FIRST = {"id": "first", "text": "Do you smoke?", "type": "yes_no"}


def document(*questions: Any, **top: Any) -> dict[str, Any]:
    given = {"deniable": 1, "id": "moods", "title": "Moods", "about": "Who asks, and why.", "epsilon": "ln 9", **top}
    return {key: value for key, value in given.items() if value is not None} | {"questions": list(questions)}


def read(*questions: Any, **top: Any) -> Survey:
    return Survey.from_dict(document(*questions, **top))


def problems(*questions: Any, **top: Any) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        read(*questions, **top)
    return [str(problem) for problem in caught.value.problems]


def scales(*names: str, **more: Any) -> list[dict[str, Any]]:
    """The items of the block as somebody would write them one by one."""
    texts = {item["id"]: item["text"] for item in BLOCK["items"]}
    return [{"id": name, "text": texts[name], "type": "scale", "options": OPTIONS, **more} for name in names]


def item(name: str, **more: str) -> dict[str, str]:
    return {"id": name, "text": "Little energy", **more}


def test_a_block_has_the_same_coins_and_bits_as_its_items_written_one_by_one() -> None:
    survey, plain = read(FIRST, BLOCK), read(FIRST, *scales("mood_1", "mood_2", "mood_3"))
    assert [question.id for question in survey.questions] == ["first", "mood_1", "mood_2", "mood_3"]
    assert [question.channel for question in survey.questions] == [question.channel for question in plain.questions]
    assert survey.record.bits == plain.record.bits
    assert {question.grid.text for question in survey.questions[1:] if question.grid} == {"How often?"}


def test_a_blocks_epsilon_and_weight_are_shared_equally() -> None:
    own = read({**FIRST, "epsilon": 1}, {**BLOCK, "epsilon": 1.5}, epsilon=None)
    assert [question.declared_epsilon for question in own.questions] == [1, 0.5, 0.5, 0.5]
    heavy = read(FIRST, {**BLOCK, "weight": 1}, epsilon=4)
    assert [question.declared_epsilon for question in heavy.questions] == pytest.approx([2, 2 / 3, 2 / 3, 2 / 3])
    assert sum(Fraction(question.declared_epsilon) for question in heavy.questions) <= 4


def test_a_survey_goes_round_through_its_definition_and_its_file() -> None:
    words = {"mood": {"text": "Wie oft?", "help": "Alle Tage.", "options": ["Nie", "Manchmal", "Immer"]}, "mood_2": {"text": "Traurig"}}
    block = {**BLOCK, "help": "All days.", "section": {"title": "Moods"}, "required": False}
    survey = read(FIRST, block, translations={"de": {"questions": words}})
    assert Survey.from_definition(survey.definition) == survey
    assert Survey.from_dict(survey.to_dict()) == survey
    assert Survey.from_text(to_yaml(survey.to_dict())) == survey
    second = survey.questions[2]
    assert survey.question_in("de", second) == ("Traurig", "de")
    assert survey.options_in("de", second) == (["Nie", "Manchmal", "Immer"], "de")
    assert second.grid is not None
    assert survey.grid_in("de", second.grid) == ("Wie oft?", "de")
    assert survey.grid_in("fr", second.grid, "help") == ("All days.", "en")
    missing = [key for _, key in survey.untranslated if key.startswith("questions.mood")]
    assert missing == ["questions.mood_1.text", "questions.mood_1.section.title", "questions.mood_3.text"]


def test_a_definition_with_a_block_as_in_a_file_is_refused() -> None:
    survey = read(BLOCK)
    served = survey.definition.replace(b'"type":"scale"', b'"type":"rating","items":[{"id":"a","text":"A"},{"id":"b","text":"B"}]')
    with pytest.raises(RefusedError):
        Survey.from_definition(served)


def test_required_and_show_if_are_those_of_every_item_and_only_the_first_begins_a_section() -> None:
    survey = read(FIRST, {**BLOCK, "show_if": {"question": "first", "is": ["yes"]}, "section": {"title": "Moods"}})
    items = survey.questions[1:]
    assert {(item.required, item.show_if) for item in items} == {(False, items[0].show_if)}
    assert [item.section is not None for item in items] == [True, False, False]


def test_a_sample_keeps_the_items_of_a_block_together_and_a_later_question_may_depend_on_one() -> None:
    later = {"id": "later", "text": "Did it pass?", "type": "yes_no", "show_if": {"question": "mood_2", "is": ["Nearly every day"]}}
    survey = read(FIRST, BLOCK, later, {**FIRST, "id": "last"}, ask=1)
    assert survey.blocks == ((0,), (1, 2, 3, 4), (5,))
    assert survey.epsilon <= 2.1972245773362196
    assert Survey.from_definition(survey.definition) == survey


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"items": []}, "questions[1].items: must be 2 to 100 items, got 0"),
        ({"items": "two"}, "questions[1].items: must be a list of items, got str"),
        ({"items": ["a", "b"]}, "questions[1].items[0]: must be a mapping with the keys id and text, got str"),
        ({"items": [{"id": "a"}, {"id": "b", "text": "B"}]}, "questions[1].items[0].text: is missing"),
        ({"items": [item("a"), item("a")]}, "questions[1].items[1].id: must be unique, got the id of questions[1].items[0]"),
        ({"items": [item("mood"), item("b")]}, "questions[1].items[0].id: must be unique, got the id of questions[1]"),
        ({"items": [item("first"), item("b")]}, "questions[1].items[0].id: must be unique, got the id of questions[0]"),
        ({"items": [item("a", help="H"), item("b")]}, "questions[1].items[0].help: is not a known key"),
        ({"options": ["one"]}, "questions[1].options: must be 2 to 1,024 options, got 1"),
        ({"scores": [1, 2]}, "questions[1].scores: must be one number for each of the 3 options, got 2"),
        ({"weight": 1000}, "questions[1].weight: must be a number from 0.01 to 100, got 1000"),
        ({"epsilon": 1}, "questions[1].epsilon: must be left out beside an epsilon for the whole survey"),
        ({"text": ""}, "questions[1].text: must not be empty"),
        ({"grid": {"id": "mood", "text": "T"}}, "questions[1].grid"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_reported_once_at_its_place(change: dict[str, Any], problem: str) -> None:
    reported = problems(FIRST, {**BLOCK, **change})
    assert reported[0].startswith(problem)
    assert len(reported) == len(set(reported)) <= 2


@pytest.mark.parametrize(
    ("show_if", "where", "kind"),
    [
        ({"question": "mood", "is": ["Not at all"]}, "question", "question with options"),
        ({"score": ["mood"], "at_least": 1}, "score[0]", "scale with whole scores"),
        ({"count": ["mood_1", "mood"], "is": ["Not at all"], "below": 1}, "count[1]", "question with options"),
    ],
)
def test_a_condition_on_a_block_names_its_items_instead(show_if: dict[str, Any], where: str, kind: str) -> None:
    rule = f"must be the id of an earlier {kind}, got 'mood', a rating block: name one of its items, such as mood_1"
    assert problems(BLOCK, {**FIRST, "show_if": show_if}) == [f"questions[1].show_if.{where}: {rule}"]


def test_translations_have_texts_of_blocks_and_items_under_their_ids() -> None:
    def wrong(**words: Any) -> list[str]:
        return [line.partition("questions.")[2] for line in problems(BLOCK, translations={"de": {"questions": words}})]

    assert wrong(mood_1={"options": OPTIONS}) == ["mood_1.options: is not a known key; the keys here are text"]
    assert wrong(mood={"options": OPTIONS[:2]}) == ["mood.options: must be 3 texts, one for each option of question mood_1, got 2"]
    assert wrong(mood={"help": "Alle Tage."}) == ["mood.help: must be left out: mood has no help"]
    assert wrong(mood={"text": ""}) == ["mood.text: must not be empty"]


def test_the_schema_accepts_blocks_and_their_expanded_form() -> None:
    validator = jsonschema.Draft202012Validator(survey_schema())
    assert validator.is_valid(document(FIRST, {**BLOCK, "help": "All days.", "required": False, "scores": [0, 1, 2], "weight": 2}))
    assert validator.is_valid(Survey.from_dict(document(FIRST, BLOCK)).to_dict())
    assert not validator.is_valid(document(FIRST, {**BLOCK, "items": BLOCK["items"][:1]}))
    assert not validator.is_valid(document(FIRST, {**BLOCK, "grid": {"id": "g"}}))


def test_proposals_leave_no_item_out_and_weight_a_whole_block() -> None:
    block = {**BLOCK, "options": [f"option {number}" for number in range(9)]}
    others = [{**FIRST, "id": f"more_{number}"} for number in range(3)]
    changes = proposals(document(FIRST, *others, block), 2000)
    assert {change.words.split(" “")[0] for change in changes} == {"Give", "Leave out"}
    for change in changes:
        assert Survey.from_dict(change.document)
        assert not any(f"Leave out “{item['text']}" in change.words for item in block["items"])


def test_texts_of_a_block_and_its_items_show_earlier_answers() -> None:
    town = {"id": "town", "text": "Which town?", "type": "choice", "options": ["Ulm", "Bern"]}
    items = [{"id": "a", "text": "Noise"}, {"id": "b", "text": "Rain in ${town}"}]
    block = {"id": "g", "text": "How is ${town|it}?", "type": "rating", "options": ["bad", "good"], "items": items}
    words = {"g": {"text": "Wie ist ${town}?"}, "b": {"text": "Regen in ${town}"}}
    keys = {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 2, "questions": [town, block]}
    survey = Survey.from_dict({**keys, "translations": {"de": {"questions": words}}})
    first = survey.questions[1]
    assert [question.piped for question in survey.questions] == [(), ("town",), ("town",)]
    assert survey.blocks == ((0, 1, 2),)
    assert first.grid
    assert survey.grid_in("en", first.grid) == ("How is it?", "en")
    assert survey.grid_in("de", first.grid) == ("Wie ist …?", "de")
    for broken in ({**block, "text": "${x}"}, {**block, "items": [items[0], {"id": "b", "text": "${a}"}]}):
        with pytest.raises(SurveyError, match="must refer to earlier questions only"):
            Survey.from_dict({**keys, "questions": [town, broken]})
    with pytest.raises(SurveyError, match="must refer to the answers that the question refers to"):
        Survey.from_dict({**keys, "translations": {"de": {"questions": {"a": {"text": "${town|x} ${b}"}}}}})
