"""Six words at the foot of the first page: what two people, or two devices, can compare without knowing what a hash is."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable.verify.released import FILE
from deniable.wire.six_words import six_words
from deniable_server.web.files import SCRIPTS

pytestmark = pytest.mark.browser
names = (f"words{i}" for i in itertools.count())
QUESTIONS = [{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}]


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), questions=QUESTIONS)
    return published


def shown(page: Any, link: str) -> tuple[str, str | None]:
    """The words of the survey and those of the program, as somebody finds who opens where they stand."""
    assert page.open(link) == "consent"
    survey, program = (page.driver.find_element(By.CSS_SELECTOR, f"#consent [data-slot={slot}]") for slot in ("surveyWords", "scriptWords"))
    assert (survey.text, program.text) == ("", "")
    page.driver.find_element(By.CSS_SELECTOR, "#consent details.six-words summary").click()
    patient(page.driver).until(lambda _: "…" not in survey.text + program.text)
    return survey.text, program.text or None


def test_the_page_shows_the_words_that_everybody_gets_for_this_survey_and_this_program(page: Any, proxy: Any, survey: Survey) -> None:
    assert shown(page, proxy.link(survey)) == (six_words(survey.digest), six_words(SCRIPTS[FILE.rpartition("/")[2]]))
    asked = [head.split()[1] for head in proxy.heads]
    assert [path for path in asked if "words" in path.replace(survey.id, "")] == []  # nobody learns that they were looked at


def test_who_is_asked_something_else_sees_other_words(page: Any, proxy: Any, site: Any, survey: Survey) -> None:
    """Where the link names no digest, a server can ask one person what it asks nobody else; the pages themselves are as released."""
    keys = {**survey.to_dict(), "questions": [{**survey.to_dict()["questions"][0], "text": "Do you steal?"}]}
    other = Survey.from_dict(keys)
    own, program = shown(page, f"{site.url}/s/{survey.id}")
    proxy.alter[f"/api/v1/surveys/{survey.id}"] = (survey.definition, other.definition)
    assert shown(page, f"{proxy.url}/s/{survey.id}") == (six_words(other.digest), program)
    assert own != six_words(other.digest)


def test_a_program_that_the_browser_has_not_checked_has_no_words(page: Any, proxy: Any, survey: Survey) -> None:
    proxy.unsealed.add(f"/s/{survey.id}")
    assert shown(page, proxy.link(survey)) == (six_words(survey.digest), None)
