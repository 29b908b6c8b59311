"""The comprehension check: ordinary questions whose right answers follow from the method, in each language of a survey."""

from __future__ import annotations

from typing import Any

import pytest

from deniable.survey import Survey
from deniable.survey.comprehension import STATEMENTS, right_answer, with_check
from deniable.survey.document import parse
from deniable.survey.dump import to_yaml
from deniable.topics import TOPICS

LANGUAGES = {"en", "de", "es", "fr", "ar"}
PLAIN: dict[str, Any] = {
    "deniable": "1",
    "id": "study",
    "title": "A study",
    "about": "Who asks, and why.",
    "epsilon": "ln 9",
    "language": "de",
    "questions": [{"id": "smokes", "text": "Rauchen Sie?", "type": "yes_no"}],
    "translations": {
        "es-MX": {"title": "Un estudio", "questions": {"smokes": {"text": "¿Fuma?"}}},
        "sw": {"title": "Utafiti", "questions": {"smokes": {"text": "Unavuta sigara?"}}},
    },
}


def test_each_statement_is_in_five_languages_and_not_all_are_right() -> None:
    assert [set(statement.texts) for statement in STATEMENTS] == [LANGUAGES] * 3
    assert {statement.answer for statement in STATEMENTS} == {"yes", "no"}


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_survey_with_the_check_is_a_survey_of_the_same_epsilon(topic: Any) -> None:
    before = Survey.from_text(topic.text)
    survey = Survey.from_text(to_yaml(with_check(parse(topic.text).value)))
    assert [question.id for question in survey.questions[:3]] == ["check_1", "check_2", "check_3"]
    assert [question.id for question in survey.questions[3:]] == [question.id for question in before.questions]
    assert survey.epsilon <= before.epsilon * 1.0001
    ratio = survey.questions[0].epsilon / min(question.epsilon for question in survey.questions[3:])
    assert ratio == pytest.approx(0.5, abs=1e-6), "its cost is half that of another question"
    assert [right_answer(question) for question in survey.questions] == ["yes", "no", "yes", *[None] * len(before.questions)]


def test_it_is_a_section_of_its_own_in_each_language_that_it_has() -> None:
    survey = Survey.from_dict(with_check(PLAIN))
    first, _, _, smokes = survey.questions
    assert survey.question_in("de", first) == (STATEMENTS[0].texts["de"], "de")
    assert survey.question_in("es-MX", first) == (STATEMENTS[0].texts["es"], "es-MX")
    assert survey.question_in("sw", first)[0] == STATEMENTS[0].texts["en"]
    assert survey.question_in("es-MX", smokes) == ("¿Fuma?", "es-MX")
    assert [survey.section_in("es-MX", question, "title")[0] for question in (first, smokes)] == [
        "Cómo funciona esta encuesta",
        "Las preguntas",
    ]


def test_it_stays_first_where_devices_draw_the_order_of_sections() -> None:
    survey = Survey.from_dict(with_check({**PLAIN, "section_order": "random"}))
    assert [question.section.is_fixed for question in survey.questions if question.section] == [True, True]
    assert not Survey.from_dict(with_check(PLAIN)).questions[0].section.is_fixed  # type: ignore[union-attr]


def test_a_check_is_added_once_and_a_survey_of_epsilons_gets_no_weights() -> None:
    once = with_check(PLAIN)
    assert with_check(once) == once
    own = {key: value for key, value in PLAIN.items() if key != "epsilon"}
    each = with_check({**own, "questions": [{**PLAIN["questions"][0], "section": {"title": "Tabak"}}]})
    assert "weight" not in each["questions"][0]
    assert each["questions"][3]["section"] == {"title": "Tabak"}


def test_a_statement_that_its_author_has_changed_has_no_right_answer() -> None:
    document = with_check(PLAIN)
    document["questions"][1] = {**document["questions"][1], "text": "Wenn in meinem Eintrag Ja steht, kann ich Nein geantwortet haben."}
    assert [right_answer(question) for question in Survey.from_dict(document).questions] == ["yes", None, "yes", None]


@pytest.mark.parametrize(
    "damage",
    [{"translations": "none"}, {"translations": {"de": "none"}}, {"language": ["de"]}, {"questions": [{"id": ["q"]}]}, {"questions": []}],
)
def test_a_draft_with_problems_keeps_them(damage: dict[str, Any]) -> None:
    document = with_check({**PLAIN, **damage})
    assert {key: document[key] for key in damage if key != "questions"} == {key: damage[key] for key in damage if key != "questions"}
    assert len(document["questions"]) == 3 + len(damage.get("questions", PLAIN["questions"]))
