"""The respondents' pages with the keyboard alone: what Tab reaches, in which order, and how that is seen and heard."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Keys
from selenium.webdriver.common.by import By
from tests.kit.pages.layout import style
from tests.kit.pages.spoken import focused, spoken
from tests.kit.pages.visits import EVERYTHING, LONG, ONE, Visit

from deniable_server.web.languages import LANGUAGES as OFFERED

pytestmark = pytest.mark.browser
NUMBER = next(question for question in EVERYTHING["questions"] if question["id"] == "age")
FOOTER = ["link “Privacy”", "link “Accessibility”"]
LANGUAGES = [f"link “{language.name}”" for language in OFFERED.values()]


@pytest.fixture
def visit(page: Any, site: Any) -> Any:
    """A respondent; what the device keeps of them goes when the test ends."""
    yield Visit(page, site)
    page.driver.execute_script("localStorage.clear()")


def tab(visit: Visit, *, back: bool = False) -> str:
    """What has the focus after one Tab, as it is announced; empty where that is no control of the page. It must be seen to have it."""
    keys = ActionChains(visit.driver)
    (keys.key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT) if back else keys.send_keys(Keys.TAB)).perform()
    heard = focused(visit.driver)
    outline = "const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement); return [outlineStyle, outlineWidth]"
    assert heard == "" or visit.driver.execute_script(outline) == ["solid", "3px"], heard
    return heard


def reached(visit: Visit) -> list[str]:
    """What Tab reaches from where the focus is to the end of the page. Shift and Tab lead back the same way: nothing holds the focus."""
    there = list(itertools.takewhile(bool, (tab(visit) for _ in range(60))))
    assert [tab(visit, back=True) for _ in there] == there[::-1]
    return there


def announced(visit: Visit) -> str:
    """The first question that is shown, as its group is announced."""
    return spoken(visit.driver, "#questions .question:not([hidden])")[0]


def summary(visit: Visit) -> list[str]:
    return list(visit.driver.find_element(By.CSS_SELECTOR, ".missing").text.splitlines())


PROTECTED = "Strong protection. Of 100 people, a guess is right for at most: knowing nothing 50 from one answer 75"


def test_consent_is_walked_through_in_the_order_in_which_it_is_read(visit: Visit) -> None:
    visit.open(visit.publish(**ONE, groups=["North", "South"], access="invited"))
    assert visit.page.focused("#consent h1")
    assert reached(visit) == [
        "combobox “Where are you taking part?” (This is sent openly with your record. It is one of 2 groups.) = Choose one…",
        "textbox “Your invitation code” (“Start” sends your invitation code, and no answer. Your device gets a token for it that "
        "the server cannot recognise later, and your record carries the token, not the code. From then on the code works only in this "
        "browser.)",
        f"button “Start” ({PROTECTED})",
        "button “No thanks”",
        "DisclosureTriangle “Try the coins”",
        "DisclosureTriangle “Who can see what”",
        "DisclosureTriangle “If you change your mind”",
        "DisclosureTriangle “What this cannot protect against”",
        "DisclosureTriangle “How can I check this?”",
        *FOOTER,
    ]
    visit.page.press("decline")
    assert visit.page.step("consent") == "declined"
    visit.page.press("back")
    for language in reversed(LANGUAGES):
        assert tab(visit, back=True) == language


def test_a_group_of_choices_is_one_stop_and_each_box_to_tick_another(visit: Visit) -> None:
    visit.open(visit.publish(**EVERYTHING))
    visit.agree()
    assert visit.page.focused("#questions h1")
    assert reached(visit) == [
        "radio “Yes”",
        "combobox “Question 2 Where do you live?” (The nearest town.) = Choose one…",
        "radio “badly”",
        "textbox “Question 4 · may be skipped How many hours did you work?” "
        "(A number from 0 to 10,000. Leave it empty if you prefer not to say.)",
        "textbox “Question 5 How old are you?” (A number from 18 to 120) required",
        f"checkbox “{LONG}”",
        "checkbox “none other”",
        "checkbox “None of these”",
        "checkbox “Prefer not to say”",
        "button “Check answers”",
        *FOOTER,
    ]


def test_what_is_missing_gets_the_focus_in_a_list_that_follows_the_answers(visit: Visit) -> None:
    visit.open(visit.publish(**EVERYTHING))
    visit.agree()
    visit.page.press("next")
    assert focused(visit.driver) == "group “4 questions to complete”"
    assert tab(visit) == "button “Do you smoke?”"
    visit.page.keys(Keys.ENTER)
    assert focused(visit.driver) == "radio “Yes”"
    assert announced(visit) == "radiogroup “Question 1 Do you smoke?” (Choose an answer.) invalid required"
    visit.page.keys(Keys.SPACE)
    assert announced(visit) == "radiogroup “Question 1 Do you smoke?” required"
    assert summary(visit) == ["3 questions to complete", "Where do you live?", "How did you sleep?", "How old are you?"]
    for question in visit.questions()[2:]:
        visit.answer(question)
    assert not visit.driver.find_element(By.CSS_SELECTOR, ".missing").is_displayed()


def test_one_by_one_the_question_gets_the_focus_and_after_a_mistake_its_control(visit: Visit) -> None:
    visit.open(visit.publish(**EVERYTHING, layout="steps"))
    visit.agree()
    assert focused(visit.driver) == "radiogroup “Step 1 Do you smoke?” required"
    assert reached(visit) == ["radio “Yes”", "button “Next”", *FOOTER]
    visit.page.press("next")
    assert focused(visit.driver) == "radio “Yes”"
    assert announced(visit) == "radiogroup “Step 1 Do you smoke?” (Choose an answer.) invalid required"
    visit.page.keys(Keys.ARROW_DOWN)  # no
    visit.page.press("next")
    assert visit.page.focused(".question")
    assert reached(visit) == [
        "combobox “Step 2 Where do you live?” (The nearest town.) = Choose one…",
        "button “Next”",
        "button “Back”",
        *FOOTER,
    ]
    visit.page.press("next")
    assert focused(visit.driver) == "combobox “Step 2 Where do you live?” (The nearest town. Choose an answer.) = Choose one… invalid"


def test_a_number_that_was_marked_is_corrected_and_sent_on_with_one_press(visit: Visit) -> None:
    visit.open(visit.publish(questions=[NUMBER], layout="steps"))
    visit.agree()
    visit.page.press("next")
    marked = "textbox “Question 1 of 1 How old are you?” (A number from 18 to 120 Enter a number from 18 to 120.) invalid required"
    assert focused(visit.driver) == marked
    visit.page.keys("44")
    assert focused(visit.driver) == "textbox “Question 1 of 1 How old are you?” (A number from 18 to 120) = 44 required"
    visit.page.press("next")  # the button must not have moved when the field is left
    assert visit.page.step("questions") == "review"


def test_the_last_look_offers_each_change_by_its_number_and_afterwards_the_code_can_be_reached(visit: Visit) -> None:
    visit.open(visit.publish(**ONE))
    visit.page.choose(0)
    visit.page.press("next")
    assert visit.page.focused("#review h1")
    assert reached(visit) == ["button “Change the answer to question 1”", "button “Send”", "button “Back”", *FOOTER]
    visit.page.press("send")
    assert visit.page.step("review") == "thanks"
    assert visit.page.focused("#thanks h1")
    assert reached(visit) == [
        "group “Withdrawal code”",
        "button “Copy”",
        "button “Save”",
        "link “The page where a record is withdrawn”",
        "DisclosureTriangle “Show what was sent”",
        "DisclosureTriangle “What this device has given away, and how to make it forget”",
        *FOOTER,
    ]


def test_a_control_that_does_not_show_its_focus_is_noticed(visit: Visit) -> None:
    visit.open(visit.publish(**ONE))
    with style(visit.driver, ":focus-visible { outline: none }"), pytest.raises(AssertionError, match="Start"):
        reached(visit)


def test_a_page_that_holds_the_focus_is_noticed(visit: Visit) -> None:
    visit.open(visit.publish(**ONE))
    visit.driver.execute_script(
        "const a = document.querySelector('[data-action=decline]'); a.onkeydown = (e) => { if (e.shiftKey) e.preventDefault(); };"
    )
    with pytest.raises(AssertionError):
        reached(visit)
