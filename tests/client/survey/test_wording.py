"""What stands around questions: help, and sections with a title and a note; in every language of a survey."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deniable.errors import SurveyError
from deniable.survey import Survey

FIRST = {"id": "first", "text": "A?", "type": "yes_no", "help": "Count all.", "section": {"title": "Health", "note": "The last year."}}
SECOND = {"id": "second", "text": "B?", "type": "choice", "options": ["x", "y"]}
GERMAN = {"first": {"text": "A auf Deutsch?", "help": "Alles zählt.", "section": {"title": "Gesundheit"}}}


def survey_of(*questions: dict[str, Any], **keys: Any) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 5, "questions": list(questions), **keys})


def wrong(*questions: dict[str, Any], **keys: Any) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        survey_of(*questions, **keys)
    return [str(problem) for problem in caught.value.problems]


def test_help_and_sections_are_the_same_after_publishing() -> None:
    survey = survey_of(FIRST, SECOND, translations={"de": {"questions": GERMAN}})
    assert Survey.from_definition(survey.definition) == Survey.from_dict(survey.to_dict()) == survey
    own = json.loads(survey.definition)["questions"]
    assert (own[0]["help"], own[0]["section"]) == (FIRST["help"], FIRST["section"])
    assert not {"help", "section"} & set(own[1])


def test_they_cost_no_privacy() -> None:
    bare = {key: value for key, value in FIRST.items() if key not in ("help", "section")}
    with_them, without = survey_of(FIRST, SECOND), survey_of(bare, SECOND)
    assert [q.channel for q in with_them.questions] == [q.channel for q in without.questions]
    assert with_them.odds == without.odds


def test_each_text_is_in_the_readers_language_or_the_surveys_own() -> None:
    survey = survey_of(FIRST, SECOND, translations={"de": {"questions": GERMAN}})
    first = survey.questions[0]
    assert survey.question_in("de-AT", first) == ("A auf Deutsch?", "de")
    assert survey.question_in("de", first, "help") == ("Alles zählt.", "de")
    assert survey.section_in("de", first, "title") == ("Gesundheit", "de")
    assert survey.section_in("de", first, "note") == ("The last year.", "en")
    assert survey.question_in("fr", first, "help") == ("Count all.", "en")
    assert survey.options_in("de", first) == (first.options, "en")
    assert ("de", "questions.first.section.note") in survey.untranslated
    assert ("de", "questions.first.help") not in survey.untranslated
    untold = survey_of(FIRST, SECOND, translations={"de": {"title": "T"}}).untranslated
    assert {place for _, place in untold if "first" in place} == {
        *("questions.first.text", "questions.first.help", "questions.first.section.title", "questions.first.section.note")
    }


def test_every_mistake_has_its_place_and_its_rule() -> None:
    assert wrong({**FIRST, "help": ""}) == ["questions[0].help: must not be empty"]
    assert wrong({**FIRST, "help": "x" * 1001}) == ["questions[0].help: must be at most 1,000 characters, got 1,001"]
    assert wrong({**FIRST, "section": "Health"}) == [
        "questions[0].section: must be a mapping with the keys title and, if needed, note, got str"
    ]
    assert wrong({**FIRST, "section": {"note": 5, "text": "x"}}) == [
        "questions[0].section.text: is not a known key; did you mean note?",
        "questions[0].section.title: is missing",
        "questions[0].section.note: must be text, got int",
    ]
    assert wrong({**FIRST, "section": {"title": "x" * 201}}) == ["questions[0].section.title: must be at most 200 characters, got 201"]


def test_a_translation_says_nothing_that_the_survey_does_not() -> None:
    here = "translations.de.questions.second"
    told = {"second": {"help": "H", "section": {"title": "T"}}}
    assert wrong(FIRST, SECOND, translations={"de": {"questions": told}}) == [
        f"{here}.help: must be left out: question second has no help",
        f"{here}.section: must be left out: no section begins with question second",
    ]
    bare = {**FIRST, "section": {"title": "Health"}}
    assert wrong(bare, translations={"de": {"questions": {"first": {"section": {"note": "N"}}}}}) == [
        "translations.de.questions.first.section.note: is not a known key; the keys here are title"
    ]
    assert wrong(bare, translations={"de": {"questions": {"first": {"section": {}}}}}) == [
        "translations.de.questions.first.section: must be a mapping with some of title"
    ]
