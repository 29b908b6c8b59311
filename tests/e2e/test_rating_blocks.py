"""A rating block in real Chromium: a table on a wide screen, one item after the other on a narrow one, and one step of several."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.kit.pages import axe, layout
from tests.kit.pages.dice import coins, record

pytestmark = pytest.mark.browser

OPTIONS = ["Not at all", "Several days", "More than half the days", "Nearly every day"]
ITEMS = ["Little interest or pleasure in doing things", "Feeling down, depressed or hopeless", "Trouble falling or staying asleep"]
MOOD: dict[str, Any] = {
    "id": "mood",
    "type": "rating",
    "text": "How often, in the last two weeks, have you been bothered by these?",
    "help": "Think of all fourteen days.",
    "options": OPTIONS,
    "items": [{"id": f"mood_{number}", "text": text} for number, text in enumerate(ITEMS, start=1)],
}
SMOKES = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
AFTER = {"id": "after", "text": "Did it pass?", "type": "yes_no"}
ARABIC = {
    "mood": {
        "text": "كم مرة أزعجك ما يلي خلال الأسبوعين الماضيين؟",
        "options": ["لم يزعجني أبدًا", "عدة أيام", "أكثر من نصف الأيام", "كل يوم تقريبًا"],
    },
    "mood_1": {"text": "قلة الاهتمام أو المتعة عند القيام بالأشياء"},
    "mood_2": {"text": "الشعور بالإحباط أو الاكتئاب"},
    "mood_3": {"text": "صعوبة في النوم"},
}
numbers = itertools.count()


@pytest.fixture
def ask(page: Any, site: Any) -> Iterator[Callable[..., Any]]:
    """`ask(questions, language, **keys)` publishes a survey and opens its questions; it returns the survey."""

    def begin(questions: list[dict[str, Any]], language: str = "en", **keys: Any) -> Any:
        survey = site.publish(id=f"rated{next(numbers)}", questions=questions, **keys)
        link = site.link(survey) if language == "en" else f"{site.link(survey).partition('#')[0]}?lang={language}"
        assert page.open(link) == "consent"
        page.press("agree")
        assert page.step("consent") == "questions"
        return survey

    yield begin
    page.driver.execute_script("localStorage.clear()")


def seen(page: Any, selector: str) -> list[str]:
    return [each.text for each in page.driver.find_elements(By.CSS_SELECTOR, f"#questions {selector}") if each.is_displayed()]


def pick(page: Any, item: int, option: int) -> None:
    row = page.driver.find_elements(By.CSS_SELECTOR, "#questions .grid .question")[item]
    row.find_elements(By.CSS_SELECTOR, "label.option")[option].click()


def tops(page: Any, selector: str) -> list[float]:
    script = "return [...document.querySelectorAll(arguments[0])].map((e) => Math.round(e.getBoundingClientRect().top))"
    return list(page.driver.execute_script(script, f"#questions {selector}"))


def test_a_block_is_a_table_on_a_wide_screen_and_a_list_on_a_phone_without_faults(page: Any, ask: Callable[..., Any]) -> None:
    ask([SMOKES, {**MOOD, "required": False}, AFTER], language="en")
    for width, scheme, columns in (
        (1280, "light", True),
        (1280, "dark", True),
        (720, "light", True),
        (360, "dark", False),
        (320, "light", False),
    ):
        with layout.screen(page.driver, width, scheme):
            assert bool(seen(page, ".grid .columns")) is columns
            row = tops(page, ".grid .question:nth-of-type(2) input")
            assert (len(set(row)) == 1) is columns
            assert (layout.faults(page.driver), axe.findings(page.driver)) == ([], [])
    assert layout.enlarged(page.driver) == []


def test_a_column_is_below_its_header_in_either_direction(page: Any, ask: Callable[..., Any]) -> None:
    centres = """const centre = ({ left, right }) => (left + right) / 2;
      return [".columns span", ".question:nth-of-type(2) input"].map((one) =>
        [...document.querySelectorAll(`.grid ${one}`)].map((e) => centre(e.getBoundingClientRect())))"""
    for language, translations in (("en", None), ("ar", {"ar": {"questions": ARABIC}}), ("ar", None)):
        ask([MOOD, AFTER], language, translations=translations)
        with layout.screen(page.driver, 1280):
            headers, radios = page.driver.execute_script(centres)
            assert len(headers) == len(OPTIONS)
            assert all(abs(header - radio) < 3 for header, radio in zip(headers, radios, strict=True))
            assert (headers == sorted(headers)) is (translations is None)
            assert (layout.faults(page.driver), axe.findings(page.driver)) == ([], [])


def test_each_item_has_a_name_and_each_button_the_label_of_its_option(page: Any, ask: Callable[..., Any]) -> None:
    ask([MOOD, AFTER])
    for width in (360, 1280):
        with layout.screen(page.driver, width):
            block = page.driver.find_element(By.CSS_SELECTOR, "#questions .grid")
            assert (block.aria_role, block.accessible_name) == ("group", MOOD["text"])
            rows = block.find_elements(By.CSS_SELECTOR, ".question")
            assert [(row.aria_role, row.accessible_name) for row in rows] == [("radiogroup", text) for text in ITEMS]
            names = [button.accessible_name for button in rows[0].find_elements(By.TAG_NAME, "input")]
            assert names == OPTIONS


def test_every_item_is_answered_by_keyboard_and_sent_as_a_question_of_its_own(
    page: Any, site: Any, ask: Callable[..., Any], injected: Callable[[Chrome, str], None]
) -> None:
    honest = [0] * 200  # every coin keeps the own bits
    expected = site.publish(id="rated", questions=[MOOD, AFTER])
    injected(page.driver, coins(expected, honest))
    assert page.open(site.link(expected)) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    page.driver.execute_script("document.querySelector('#questions .grid').focus()")
    page.keys(Keys.TAB, Keys.SPACE, Keys.TAB, Keys.SPACE, Keys.ARROW_RIGHT, Keys.TAB, Keys.SPACE, Keys.ARROW_LEFT)
    page.keys(Keys.TAB, Keys.SPACE)
    changed = "return [...document.querySelectorAll('.grid input')].filter((i) => i.checked !== i.defaultChecked).length"
    assert page.driver.execute_script(changed) == 0, "a browser writes changed controls to the disk"
    assert page.send() == "thanks"
    assert page.driver.find_elements(By.CSS_SELECTOR, "#questions .grid, #review dd") == []
    (stored,) = site.reports(expected)
    assert stored == record(expected, [0, 1, 3, 0], honest)


def test_an_item_without_an_answer_is_named_and_marked_alone(page: Any, ask: Callable[..., Any]) -> None:
    ask([MOOD, AFTER])
    for width in (1280, 360):
        with layout.screen(page.driver, width):
            pick(page, 0, 1)
            page.press("next")
            assert seen(page, ".missing button") == [*ITEMS[1:], AFTER["text"]]
            assert seen(page, ".grid .problem") == ["Choose an answer."] * 2
            assert axe.findings(page.driver) == []
            page.driver.find_element(By.CSS_SELECTOR, "#questions .missing button").click()
            assert page.focused(".grid .question:nth-of-type(3) input")  # the columns are the first div


def test_a_block_is_one_step_and_the_review_leads_back_to_it(page: Any, ask: Callable[..., Any]) -> None:
    ask([SMOKES, MOOD, AFTER], layout="steps")
    page.driver.find_element(By.CSS_SELECTOR, "#questions label.option").click()
    page.press("next")
    assert seen(page, "h1") == [MOOD["text"]]
    assert seen(page, ".grid > .number") == ["Questions 2 to 4 of 5"]
    assert page.focused(".grid")
    assert axe.findings(page.driver) == []
    page.press("next")
    assert page.focused(".grid .question input")  # the first that has no answer
    for item in range(len(ITEMS)):
        pick(page, item, item)
    page.press("next")
    assert seen(page, ".question [data-slot=text]") == [AFTER["text"]]
    page.driver.find_elements(By.CSS_SELECTOR, "#questions .question:not([hidden]) label.option")[-1].click()
    page.press("next")
    assert page.step("questions") == "review"
    assert [each.text for each in page.driver.find_elements(By.CSS_SELECTOR, "#review dd span")] == ["Yes", *OPTIONS[:3], "No"]
    page.driver.find_elements(By.CSS_SELECTOR, "#review dd button")[2].click()
    assert page.step("review") == "questions"
    assert seen(page, "h1") == [MOOD["text"]]


def test_a_block_with_a_condition_appears_as_a_whole(page: Any, ask: Callable[..., Any]) -> None:
    ask([SMOKES, {**MOOD, "show_if": {"question": "smokes", "is": ["yes"]}}, AFTER])
    assert seen(page, ".grid") == []
    yes, no = page.driver.find_elements(By.CSS_SELECTOR, "#questions .question label.option")[:2]
    yes.click()
    assert seen(page, ".grid .item [data-slot=text]") == ITEMS
    assert seen(page, ".grid > .number") == ["Questions 2 to 4 · may be skipped"]
    pick(page, 0, 0)
    no.click()
    assert seen(page, ".grid") == []
    yes.click()
    assert page.driver.find_elements(By.CSS_SELECTOR, "#questions .grid input:checked") == []
