"""The keys for what a device does beside its coins: orders, earlier answers in texts, sums and counts, and the option for other answers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable.survey.condition import Combination, Condition, SumCondition
from deniable.survey.dump import to_yaml
from deniable.survey.fallbacks import missing_fallbacks
from deniable.survey.other_option import WORDS
from deniable.survey.piping import without_answers
from deniable.survey.schema import survey_schema

SCHEMA = Draft202012Validator(survey_schema())
FRUIT: dict[str, Any] = {"id": "fruit", "text": "Which fruit?", "type": "choice", "options": ["apple", "pear"]}
USED: dict[str, Any] = {"id": "used", "text": "Which?", "type": "multi_choice", "options": ["tea", "coffee", "none", "unsure"]}
PHQ: list[dict[str, Any]] = [
    {"id": f"p{n}", "text": "?", "type": "scale", "options": ["no", "some", "much"], "scores": ["0", "1", "2"]} for n in (1, 2)
]
MOOD: dict[str, Any] = {
    "id": "mood",
    "text": "?",
    "type": "rating",
    "options": ["no", "some", "much"],
    "items": [{"id": "m1", "text": "?"}, {"id": "m2", "text": "?"}],
}
WHY: dict[str, Any] = {"id": "why", "text": "Why?", "type": "yes_no"}


def source(*questions: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"deniable": "1", "id": "s", "title": "T", "about": "A", "epsilon": "4", **keys, "questions": list(questions)}


def survey_of(*questions: dict[str, Any], **keys: Any) -> Survey:
    """The survey, which is the same after publishing, and as a file that its schema accepts."""
    document = source(*questions, **keys)
    survey = Survey.from_dict(document)
    assert Survey.from_definition(survey.definition) == Survey.from_dict(survey.to_dict()) == Survey.from_text(to_yaml(document)) == survey
    assert SCHEMA.is_valid(document)
    return survey


def wrong(*questions: dict[str, Any], **keys: Any) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        Survey.from_dict(source(*questions, **keys))
    return [f"{problem.where}: {problem.message}" for problem in caught.value.problems]


# Orders


def test_an_order_is_part_of_the_definition_and_changes_nothing_else() -> None:
    plain, drawn = survey_of(FRUIT, USED), survey_of({**FRUIT, "order": "random"}, {**USED, "order": "rotate"}, order="random")
    assert drawn.digest != plain.digest
    assert [field.bits for field in drawn.record.fields] == [field.bits for field in plain.record.fields]
    assert [(item.channel, item.categories) for item in drawn.items] == [(item.channel, item.categories) for item in plain.items]
    own = json.loads(drawn.definition)
    assert [own["order"], *(question["order"] for question in own["questions"])] == ["random", "random", "rotate"]
    assert drawn.draws_order
    assert not plain.draws_order


def test_an_order_of_items_and_of_sections_is_part_of_the_definition_and_changes_nothing_else() -> None:
    german = {"de": {"questions": {"mood": {"text": "Wie oft?"}, "fruit": {"section": {"title": "Obst"}}}}}
    fruit = {**FRUIT, "section": {"title": "Fruit", "fixed": "true"}}
    plain = survey_of(MOOD, {**fruit, "section": {"title": "Fruit"}}, USED, translations=german)
    drawn = survey_of({**MOOD, "order": "rotate"}, fruit, USED, section_order="random", translations=german)
    assert drawn.digest != plain.digest
    assert [field.bits for field in drawn.record.fields] == [field.bits for field in plain.record.fields]
    assert [(item.channel, item.categories) for item in drawn.items] == [(item.channel, item.categories) for item in plain.items]
    own = json.loads(drawn.definition)
    assert [question.get("grid") for question in own["questions"][:2]] == [{"id": "mood", "text": "?", "order": "rotate"}, {"id": "mood"}]
    assert (own["section_order"], own["questions"][2]["section"]) == ("random", {"title": "Fruit", "fixed": True})
    assert "fixed" not in json.dumps(json.loads(plain.definition))
    assert drawn.untranslated == plain.untranslated
    assert [survey.draws_order for survey in (drawn, plain)] == [True, False]
    assert survey_of({**MOOD, "order": "random"}).draws_order
    assert survey_of(fruit, section_order="rotate").draws_order
    assert survey_of({**fruit, "section": {"title": "Fruit", "fixed": "false"}}) == survey_of({**fruit, "section": {"title": "Fruit"}})


def test_every_mistake_in_an_order_of_items_or_sections_has_its_place_and_its_rule() -> None:
    assert wrong({**MOOD, "order": "shuffle"}) == ["questions[0].order: must be random or rotate, got 'shuffle'"]
    assert wrong(FRUIT, section_order="shuffle") == ["section_order: must be random or rotate, got 'shuffle'"]
    fixed = {**FRUIT, "section": {"title": "T", "fixed": "yes"}}
    assert wrong(fixed) == ["questions[0].section.fixed: must be true or false, got 'yes'"]
    grids = [{**PHQ[0], "grid": {"id": "g", "text": "?", "order": "any"}}, {**PHQ[1], "grid": {"id": "g", "order": "random"}}]
    (message,) = wrong(grids[0])
    assert message == "questions[0].grid.order: must be random or rotate, got 'any'"
    (message,) = wrong({**grids[0], "grid": {"id": "g", "text": "?"}}, grids[1])
    assert message.startswith("questions[1].grid.order: is not a known key")
    german = {"de": {"questions": {"fruit": {"section": {"title": "T", "fixed": "true"}}}}}
    (message,) = wrong({**FRUIT, "section": {"title": "T"}}, translations=german)
    assert message.startswith("translations.de.questions.fruit.section.fixed: is not a known key")


def test_an_order_is_random_or_rotate_and_of_options_that_have_none() -> None:
    assert wrong({**FRUIT, "order": "shuffle"}) == ["questions[0].order: must be random or rotate"]
    assert wrong(FRUIT, order="shuffle") == ["order: must be random or rotate, got 'shuffle'"]
    (message,) = wrong({**PHQ[0], "order": "random"})
    assert message.startswith("questions[0].order: is not a known key")
    (message,) = wrong({**WHY, "order": "random"})
    assert message.startswith("questions[0].order: is not a known key")


# The option for other answers


@pytest.mark.parametrize(("language", "word"), [*WORDS.items(), ("de-AT", "Sonstiges")])
def test_other_is_one_more_option_in_the_language_of_the_survey(language: str, word: str) -> None:
    survey = survey_of({**FRUIT, "other": "true"}, language=language)
    assert survey.questions[0].categories == ("apple", "pear", word)
    assert survey.questions[0].kind.other_option == word
    assert survey.questions[0].channel == survey_of({**FRUIT, "options": ["apple", "pear", word]}, language=language).questions[0].channel


def test_other_stands_before_exclusive_options_and_in_each_translation() -> None:
    german, swahili = ["Tee", "Kaffee", "nichts", "unsicher"], ["chai", "kahawa", "Nyingine", "hakuna", "sijui"]
    translations = {"de": {"questions": {"used": {"options": german}}}, "sw": {"questions": {"used": {"options": swahili}}}}
    survey = survey_of({**USED, "none": "none", "exclusive": ["unsure"], "other": "true"}, translations=translations)
    assert survey.questions[0].labels == ("tea", "coffee", "Other", "none", "unsure")
    assert survey.options_in("de", survey.questions[0])[0] == ["Tee", "Kaffee", "Sonstiges", "nichts", "unsicher"]
    assert survey.options_in("sw", survey.questions[0])[0] == swahili


def test_other_has_the_authors_text_or_is_one_of_the_options_or_is_left_out() -> None:
    assert survey_of({**FRUIT, "other": "Nyingine"}, language="sw").questions[0].categories == ("apple", "pear", "Nyingine")
    assert survey_of({**FRUIT, "other": "pear"}).questions[0].categories == ("apple", "pear")
    assert survey_of({**FRUIT, "other": "false"}) == survey_of(FRUIT)


def test_other_needs_a_word_and_is_no_exclusive_option() -> None:
    rule = "must be the text of the option for all other answers; true is enough in Arabic, English, French, German or Spanish"
    assert wrong({**FRUIT, "other": "true"}, language="sw") == [f"questions[0].other: {rule}"]
    assert wrong({**FRUIT, "other": "yes"}) == [f"questions[0].other: {rule}"]
    assert wrong({**FRUIT, "other": " x"}) == [f"questions[0].other: {rule}"]
    assert wrong({**USED, "none": "none", "other": "none"}) == ["questions[0].other: must not be an exclusive option"]
    (message,) = wrong({**FRUIT, "other": "true"}, translations={"sw": {"questions": {"fruit": {"options": ["tufaha", "peasi"]}}}})
    expected = "must be 3 texts, one for each option of question fruit, that for other answers among them, got 2"
    assert message == f"translations.sw.questions.fruit.options: {expected}"


# Earlier answers in texts


def test_texts_may_refer_to_earlier_answers_and_are_drawn_together_with_them() -> None:
    piped = {**WHY, "text": "You like ${fruit|that}. Why?", "help": "$${fruit} is literal.", "section": {"title": "T", "note": "${used}"}}
    german = {"de": {"questions": {"why": {"text": "Warum ${used|?}", "section": {"title": "${fruit}"}}}}}
    survey = survey_of(FRUIT, PHQ[0], USED, piped, ask="1", translations=german)
    assert survey.questions[3].piped == ("fruit", "used")
    assert survey.blocks == ((0, 2, 3), (1,))
    assert survey.question_in("en", survey.questions[3]) == ("You like that. Why?", "en")
    assert survey.question_in("en", survey.questions[3], "help") == ("${fruit} is literal.", "en")
    assert survey.section_in("de", survey.questions[3], "title") == ("…", "de")
    assert without_answers(survey.questions[3].text) == "You like that. Why?"


def test_an_answer_that_may_be_missing_should_have_a_text_in_its_place() -> None:
    piped = {**WHY, "text": "${fruit} ${used|those} ${p1}", "help": "${used}"}
    (sentence,) = missing_fallbacks(survey_of(FRUIT, USED, PHQ[0], piped).questions)
    assert sentence == (
        "the question why shows the answer to used, which may be missing: people then read “…”; write a text for them as ${used|…}"
    )
    assert len([*missing_fallbacks(survey_of({**FRUIT, "required": "false"}, USED, PHQ[0], piped).questions)]) == 2


def test_what_a_text_refers_to_is_an_earlier_question_and_well_formed() -> None:
    form = "must write a reference as ${id} or ${id|text without an answer}, and a literal ${ as $${"
    later = "must refer to earlier questions only, got ${fruit}; a literal ${ is written $${"
    assert wrong({**WHY, "text": "${fruit}"}, FRUIT) == [f"questions[0].text: {later}"]
    assert wrong({**FRUIT, "help": "${fruit}"}) == [f"questions[0].help: {later}"]
    assert wrong(FRUIT, {**WHY, "section": {"title": "T", "note": "${fruit"}}) == [f"questions[1].section.note: {form}"]
    assert wrong(FRUIT, {**WHY, "text": "${fruit|}"}) == ["questions[1].text: must have 1 to 100 characters after | in ${fruit|…}, got 0"]
    (message,) = wrong(FRUIT, USED, {**WHY, "text": "${fruit}"}, translations={"de": {"questions": {"why": {"text": "${used}"}}}})
    assert message.startswith(
        "translations.de.questions.why.text: must refer to the answers that the question refers to in the survey's own"
    )


def test_a_reference_to_a_question_with_a_mistake_is_no_second_mistake() -> None:
    assert wrong({**FRUIT, "options": ["one"]}, {**WHY, "text": "${fruit}"}) == ["questions[0].options: must be 2 to 1,024 options, got 1"]


# Sums and counts


def test_sums_and_counts_are_conditions_alone_and_in_lists() -> None:
    score = {"score": ["p1", "p2"], "at_least": "3"}
    count = {"count": ["p1", "p2"], "is": ["much"], "at_least": "1", "below": "2"}
    summed, counted = SumCondition("score", ("p1", "p2"), (), 3, None), SumCondition("count", ("p1", "p2"), ("much",), 1, 2)
    assert survey_of(*PHQ, {**WHY, "show_if": score}).questions[2].show_if == summed
    fruit = Condition("fruit", ("pear",))
    nested = {"all": [score, {"any": [count, {"question": "fruit", "is": ["pear"]}]}]}
    survey = survey_of(*PHQ, FRUIT, {**WHY, "show_if": nested})
    assert survey.questions[3].show_if == Combination("all", (summed, Combination("any", (counted, fruit))))
    assert survey.blocks == ((0, 1, 2, 3),)
    assert survey.questions[3].depends_on == ("p1", "p2", "fruit")
    assert json.loads(survey.definition)["questions"][3]["show_if"]["all"][0] == {"score": ["p1", "p2"], "at_least": 3}


@pytest.mark.parametrize(
    ("show_if", "problem"),
    [
        ({"score": ["p1"]}, "show_if: must have at_least, below or both: the range of the sum"),
        ({"score": ["p1"], "at_least": "1.5"}, "show_if.at_least: must be a whole number, got '1.5'"),
        ({"score": ["p1"], "at_least": "2", "below": "2"}, "show_if.below: must be above at_least"),
        ({"score": "p1", "at_least": "1"}, "show_if.score: must be a list of 1 to 100 ids of earlier questions, each once, got str"),
        ({"score": ["p1", "p1"], "at_least": "1"}, "show_if.score: must be a list of 1 to 100 ids of earlier questions, each once, got 2"),
        (
            {"score": ["p1", "fruit"], "at_least": "1"},
            "show_if.score[1]: must be the id of an earlier scale with whole scores, got 'fruit'",
        ),
        ({"score": ["half"], "at_least": "1"}, "show_if.score[0]: must be the id of an earlier scale with whole scores, got 'half'"),
        (
            {"count": ["why"], "is": ["yes"], "at_least": "1"},
            "show_if.count[0]: must be the id of an earlier question with options, got 'why'",
        ),
        ({"count": ["p1", "fruit"], "is": ["much"], "at_least": "1"}, "show_if.is[0]: must be one of apple, pear, got 'much'"),
    ],
)
def test_every_mistake_in_a_sum_has_its_place_and_its_rule(show_if: dict[str, Any], problem: str) -> None:
    half = {**PHQ[0], "id": "half", "scores": ["0", "0.5", "1"]}
    assert wrong(PHQ[0], FRUIT, half, {**WHY, "show_if": show_if}) == [f"questions[3].{problem}"]
