"""Every question type in real Chromium: how it is asked, and what of it is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.dice import coins, kept_of, record

from deniable.wire.record import unpack

pytestmark = pytest.mark.browser

MORE_TYPES = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no", "required": False},
    {"id": "often", "text": "How often?", "type": "scale", "options": ["never", "sometimes", "often"], "scores": [0, 1, 5]},
    {"id": "town", "text": "Which town?", "type": "choice", "options": [f"town {n}" for n in range(20)], "required": False},
]


def test_a_scale_is_answered_and_what_is_not_required_may_be_skipped_or_declined(page: Any, site: Any) -> None:
    survey = site.publish(id="more", questions=MORE_TYPES)
    assert page.open(site.link(survey)) == "consent"
    page.choose(-1, -1, -1)
    labels = [label.text for label in page.driver.find_elements(By.CSS_SELECTOR, "#questions .option")]
    assert labels == ["Yes", "No", "Prefer not to say", "never", "sometimes", "often"]
    assert [option.text for option in page.driver.find_elements(By.CSS_SELECTOR, "#questions select option")][-1] == "Prefer not to say"
    page.press("next")  # the scale is required, the others are not
    missing = page.driver.find_element(By.CSS_SELECTOR, "#questions .missing")
    assert [button.text for button in missing.find_elements(By.TAG_NAME, "button")] == [MORE_TYPES[1]["text"]]
    page.driver.find_elements(By.CSS_SELECTOR, "#questions input")[4].click()
    assert page.send() == "thanks"
    (stored,) = site.reports(survey)
    assert len(unpack(survey, stored, 1)) == 1


def test_a_skipped_question_is_sent_as_no_answer(page: Any, site: Any, injected: Callable[[Chrome, str], None]) -> None:
    survey = site.publish(id="skipped", questions=MORE_TYPES)
    honest = [0] * 200  # every coin keeps the own bit
    injected(page.driver, coins(survey, honest))
    assert page.answer(site.link(survey), -1, 1, -1) == "thanks"
    (stored,) = site.reports(survey)
    assert stored == record(survey, [2, 1, 20], honest)


AGES = [
    {"id": "age", "text": "How old are you?", "type": "number", "low": 18, "high": 98, "levels": 5},
    {"id": "income", "text": "What do you earn?", "type": "number", "low": 0, "high": 1000, "levels": 3, "required": False},
    {"id": "walk", "text": "How many minutes do you walk?", "type": "number", "low": 0, "high": 60},
    {"id": "pay", "text": "What do you pay?", "type": "number", "low": 5, "high": 10, "required": False},
]


def test_a_number_is_asked_in_its_range_and_sent_as_a_level_of_its_grid_or_a_place_near_it(
    page: Any, site: Any, injected: Callable[[Chrome, str], None]
) -> None:
    survey = site.publish(id="ages", questions=AGES)
    injected(page.driver, coins(survey, [0] * 200))  # rounds up whatever is between two levels, and keeps every own bit
    assert page.open(site.link(survey)) == "consent"
    page.choose(-1, -1, -1, -1)
    age, income, walk, pay = page.driver.find_elements(By.CSS_SELECTOR, "#questions input")
    age.send_keys("17")
    income.send_keys("much")
    walk.send_keys("60")
    pay.send_keys("7.5")
    page.press("next")
    problems = [problem.text for problem in page.driver.find_elements(By.CSS_SELECTOR, ".question .problem") if problem.is_displayed()]
    assert problems == ["Enter a number from 18 to 98.", "Enter a number from 0 to 1,000."]
    age.clear()
    age.send_keys("38,5")
    income.clear()
    pay.clear()
    assert page.send() == "thanks"
    (stored,) = site.reports(survey)
    levels = [len(survey.questions[place].scores or ()) for place in (2, 3)]
    assert stored == record(survey, [2, 3, levels[0] - 1, levels[1]], [0] * 200)
    told = page.driver.execute_script(
        "return document.querySelector('.receipt, [data-slot=records]')?.textContent ?? document.body.textContent"
    )
    channel = survey.questions[2].channel
    assert f"names place {channel.levels} of {channel.outputs}, which is near the numbers from" in " ".join(told.split())


USED = {"text": "Which have you used?", "type": "multi_choice", "options": ["tea", "coffee", "tobacco"]}


def test_boxes_are_ticked_and_none_of_these_is_an_answer_too(page: Any, site: Any, injected: Callable[[Chrome, str], None]) -> None:
    survey = site.publish(id="boxes", questions=[{"id": "used", **USED}, {"id": "tried", **USED, "required": False}])
    injected(page.driver, coins(survey, [0] * 200))
    assert page.open(site.link(survey)) == "consent"
    page.choose(-1, -1)
    used, tried = page.driver.find_elements(By.CSS_SELECTOR, "#questions fieldset")
    assert [label.text for label in tried.find_elements(By.CSS_SELECTOR, ".option")][-2:] == ["None of these", "Prefer not to say"]
    page.press("next")
    assert used.find_element(By.CSS_SELECTOR, ".problem").is_displayed()
    tea, coffee, tobacco, none = used.find_elements(By.TAG_NAME, "input")
    tea.click()
    none.click()
    assert [box.is_selected() for box in (tea, coffee, tobacco, none)] == [False, False, False, True]
    coffee.click()
    tobacco.click()
    assert [box.is_selected() for box in (tea, coffee, tobacco, none)] == [False, True, True, False]
    assert page.send() == "thanks"
    (stored,) = site.reports(survey)
    assert stored == record(survey, [1, 0, 0, 2, 2, 2], [0] * 200)


def test_none_of_these_means_no_to_every_item(page: Any, site: Any, injected: Callable[[Chrome, str], None]) -> None:
    survey = site.publish(id="noboxes", questions=[{"id": "used", **USED}])
    injected(page.driver, coins(survey, [0] * 200))
    assert page.answer(site.link(survey), 3) == "thanks"
    (stored,) = site.reports(survey)
    assert stored == record(survey, [1, 1, 1], [0] * 200)


BRANCHES = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "what", **USED, "show_if": {"question": "smokes", "is": ["yes"]}},
    {
        "id": "cups",
        "text": "How many cups?",
        "type": "number",
        "low": 0,
        "high": 10,
        "levels": 3,
        "show_if": {"question": "what", "is": ["tea"]},
    },
]


def test_branches_show_and_hide_on_the_device_and_every_record_has_one_length(
    page: Any, site: Any, injected: Callable[[Chrome, str], None]
) -> None:
    survey = site.publish(id="branches", questions=BRANCHES)
    injected(page.driver, coins(survey, [0] * 200))
    assert page.open(site.link(survey)) == "consent"
    page.choose(0, -1, -1)
    smokes, what, cups = page.driver.find_elements(By.CSS_SELECTOR, "#questions .question")
    assert [q.is_displayed() for q in (smokes, what, cups)] == [True, True, False]
    what.find_element(By.CSS_SELECTOR, ".option").click()
    assert cups.is_displayed()
    cups.find_element(By.TAG_NAME, "input").send_keys("10")
    smokes.find_elements(By.CSS_SELECTOR, ".option")[1].click()
    assert [q.is_displayed() for q in (smokes, what, cups)] == [True, False, False]
    assert "1 of 1 answered" in page.text()
    assert page.send() == "thanks"
    (stored,) = site.reports(survey)
    assert stored == record(survey, [1, 2, 2, 2, 3], [0] * 200)
    assert len(stored) == len(record(survey, [0, 0, 1, 0, 1], [0] * 200))


def test_a_sample_is_drawn_by_the_device_and_a_reload_asks_no_other_questions(page: Any, site: Any) -> None:
    questions = [{"id": f"q{n}", "text": f"Question {n}?", "type": "yes_no"} for n in range(20)]
    survey = site.publish(id="sample", questions=questions, ask=2)
    assert page.open(site.link(survey)) == "consent"
    assert "2 questions of 20, drawn by your device" in page.text()
    page.choose(-1, -1)
    drawn = [legend.text for legend in page.driver.find_elements(By.TAG_NAME, "legend")]
    page.driver.refresh()
    assert page.step("loading") == "consent"
    page.choose(0, 1)
    assert [legend.text for legend in page.driver.find_elements(By.TAG_NAME, "legend")] == drawn
    assert page.send() == "thanks"
    (stored,) = site.reports(survey)
    mask = unpack(survey, stored, 1)[0, :20]
    asked = [question["text"] for question, bit in zip(questions, mask, strict=True) if bit]
    assert len(asked) == 2
    assert [any(text in legend for legend in drawn) for text in asked] == [True, True]
    assert kept_of(page.driver, survey) == {"epsilon": survey.epsilon}
