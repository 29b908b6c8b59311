"""The surveys of the examples and of docs/guide/respondents.md are surveys, whole in every language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable import Survey
from deniable.privacy.claims import facts_of
from deniable.survey.types import TYPES

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda file: str(file.name))
def test_an_example_lacks_no_text_in_any_language(file: Path) -> None:
    assert Survey.from_file(file).untranslated == ()


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.yaml")), ids=lambda file: str(file.name))
def test_an_example_protects_people_at_least_medium_well(file: Path) -> None:
    assert facts_of(Survey.from_file(file))["weaker"] in ("strong", "medium")


def test_the_example_of_habits_has_every_question_type() -> None:
    survey = Survey.from_file(ROOT / "examples" / "habits.yaml")
    assert {question.type for question in survey.questions} == set(TYPES)
    assert set(survey.translations) == {"de", "ar"}


def test_the_survey_on_the_page_for_respondents_says_what_the_page_says() -> None:
    (example,) = re.findall(
        r"^```yaml\n(.*?)^```$", (ROOT / "docs" / "guide" / "respondents.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    survey = Survey.from_text(example)
    assert (survey.access, survey.layout, survey.groups) == ("invited", "steps", ("North", "South"))
    assert survey.text_in("de", "title") == ("Alkohol und Medikamente", "de")
    assert survey.text_in("de", "about") == (survey.about, "en")
    assert ("de", "about") in survey.untranslated
