"""Every state of the respondents' pages: what axe finds, what a screen reader gets, and what people see who enlarge it.

The suite looks at every state once, in one language and one of the looks. `make long NAME=accessibility` looks at all of them in all
languages and looks, and keeps what a screen reader gets in the folder `accessibility`, to be read.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By
from tests.kit.pages.axe import PROGRAM, findings
from tests.kit.pages.layout import enlarged, faults, screen, style
from tests.kit.pages.spoken import spoken
from tests.kit.pages.visits import EVERYTHING, JOURNEYS, LONG, ONE, Visit, all_at_once

from deniable_server.web.languages import LANGUAGES

pytestmark = pytest.mark.browser

Journey = Callable[[Visit], Iterator[str]]
KEPT = os.environ.get("ACCESSIBILITY")
"""The folder for what a screen reader gets, where everything is to be looked at."""
LOOKS = tuple(itertools.product((360, 1280), ("light", "dark")))
ALL = tuple(itertools.product(JOURNEYS, LANGUAGES))
SOME = tuple(zip(JOURNEYS, ("ar", "en", "es", "de", "fr"), strict=True))  # Arabic has the tallest letters, German the longest words


@pytest.fixture
def visit(page: Any, site: Any) -> Iterator[Callable[[str], Visit]]:
    """`visit(language)` is a respondent; what the device keeps of it goes when the test ends."""
    yield lambda language="en": Visit(page, site, language)
    page.driver.execute_script("localStorage.clear()")


def named(what: object) -> str:
    return getattr(what, "__name__", str(what))


@pytest.mark.parametrize(("journey", "language"), ALL if KEPT else SOME, ids=named)
def test_no_state_of_a_page_has_a_fault(visit: Callable[[str], Visit], journey: Journey, language: str) -> None:
    respondent = visit(language)
    found = []
    for place, state in enumerate(journey(respondent)):
        for width, scheme in LOOKS if KEPT else LOOKS[place % len(LOOKS) :][:1]:
            with screen(respondent.driver, width, scheme):
                found += [f"{state}, {width} px, {scheme}: {finding}" for finding in findings(respondent.driver)]
        found += [f"{state}, {fault}" for fault in (*faults(respondent.driver), *enlarged(respondent.driver))]
        if KEPT:
            keep(respondent, Path(KEPT), f"{language} {named(journey)} {place:02} {state}")
    assert found == []


def keep(respondent: Visit, folder: Path, name: str) -> None:
    """Writes down what a screen reader gets."""
    folder.mkdir(parents=True, exist_ok=True)
    text = "\n".join([respondent.driver.title, *spoken(respondent.driver), ""])
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")


def test_the_program_that_looks_is_the_one_that_was_taken() -> None:
    note = (PROGRAM.parent / "README.md").read_text(encoding="utf-8")
    assert f"`{hashlib.sha256(PROGRAM.read_bytes()).hexdigest()}`" in note


# Controls: a page with one fault put in.


@pytest.fixture
def questions(visit: Callable[[str], Visit]) -> Visit:
    """At the questions, on one page, some of them marked."""
    respondent = visit("en")
    for state in all_at_once(respondent):
        if state == "questions, answers missing":
            break
    return respondent


FAULTS = (
    ("const f = find('input[type=text]'); f.removeAttribute('aria-labelledby'); f.closest('label').replaceWith(f);", "label"),
    ("const h = find('h1'), p = document.createElement('p'); p.append(...h.childNodes); h.replaceWith(p);", "page-has-heading-one"),
    ("find('fieldset').setAttribute('aria-invalid', 'perhaps');", "aria-valid-attr-value"),
    ("document.documentElement.removeAttribute('lang');", "html-has-lang"),
    ("document.body.append(find('fieldset'));", "region"),
)


def test_a_fault_in_the_markup_is_found(questions: Visit) -> None:
    run = questions.driver.execute_script
    run("window.whole = document.body.cloneNode(true)")  # the body alone: a head that is put back loads its styles again
    for fault, rule in FAULTS:
        assert findings(questions.driver) == []
        run("const find = (s) => document.querySelector(`#questions ${s}`);" + fault)
        assert any(f"wrong {rule}: " in finding for finding in findings(questions.driver)), rule
        run("document.documentElement.lang = 'en'; document.body.replaceWith(window.whole.cloneNode(true))")


STYLES = (
    (".quiet { color: #bbb !important }", 'wrong color-contrast: p[data-claims="lock"]'),
    (".quiet { color: #bbb !important }", "wrong color-contrast: #hint-6"),  # far below what the window shows
    ("button.link { min-height: 0 !important; font-size: 9px !important } .missing li { line-height: 1 }", "target-size"),
    (".question { min-width: 400px !important }", "sticks out: page: "),
    ("button.link { min-height: 0 !important; font-size: 9px !important }", "too small: button.link"),
    (".lock { white-space: nowrap; font-size: .6rem }", "text at 200%: sticks out"),
    (".lock { height: 1.5rem; overflow: hidden }", "cut off: p.quiet lock"),
    (".lock { height: 1.5rem }", "cut off: p.quiet lock"),
    (".lock { line-height: .7 !important }", "text at 200%: collides: p.quiet lock"),
)


def test_a_fault_in_the_style_is_found(questions: Visit) -> None:
    for css, finding in STYLES:
        with style(questions.driver, css):
            found = [*findings(questions.driver), *faults(questions.driver), *enlarged(questions.driver)]
        assert any(finding in one for one in found), (css, found)
    assert [*findings(questions.driver), *faults(questions.driver), *enlarged(questions.driver)] == []


# What a screen reader gets.


def test_questions_are_heard_with_their_number_and_hint_and_no_problem_before_there_is_one(visit: Callable[[str], Visit]) -> None:
    respondent = visit("en")
    respondent.open(respondent.publish(**EVERYTHING))
    respondent.agree()
    heard = [line for line in spoken(respondent.driver, "#questions") if not line.strip().startswith(("text “", "Legend", "paragraph"))]
    assert heard == [
        "heading “A study” level 1",
        "radiogroup “Question 1 Do you smoke?” required",
        "  radio “Yes”",
        "  radio “No”",
        "combobox “Question 2 Where do you live?” (The nearest town.) = Choose one…",
        "radiogroup “Question 3 How did you sleep?” required",
        "  radio “badly”",
        "  radio “so so”",
        "  radio “well”",
        "heading “Your work” level 2",
        "textbox “Question 4 · may be skipped How many hours did you work?” "
        "(A number from 0 to 10,000. Leave it empty if you prefer not to say.)",
        "textbox “Question 5 How old are you?” (A number from 18 to 120) required",
        f"group “Question 6 · may be skipped Which of these do you know: {LONG}?” (Tick all that apply.)",
        "  status live polite",  # empty, until a tick takes others off
        f"  checkbox “{LONG}”",
        "  checkbox “none other”",
        "  checkbox “None of these”",
        "  checkbox “Prefer not to say”",
        "button “Check answers”",
    ]


def test_a_problem_is_heard_once_with_the_control_that_it_is_about(questions: Visit) -> None:
    invalid = [line for line in spoken(questions.driver, "[data-slot=list]") if "invalid" in line]
    assert invalid == [
        "radiogroup “Question 1 Do you smoke?” (Choose an answer.) invalid required",
        "combobox “Question 2 Where do you live?” (The nearest town. Choose an answer.) = Choose one… invalid",
        "radiogroup “Question 3 How did you sleep?” (Choose an answer.) invalid required",
        "textbox “Question 5 How old are you?” (A number from 18 to 120 Enter a number from 18 to 120.) invalid required",
    ]


def test_the_last_look_is_heard_as_questions_and_answers(visit: Callable[[str], Visit]) -> None:
    respondent = visit("en")
    respondent.open(respondent.publish(questions=EVERYTHING["questions"][3:5], epsilon=2))
    respondent.agree()
    respondent.answer(respondent.questions()[0])
    respondent.page.press("next")
    assert spoken(respondent.driver, "#review dl") == [
        "DescriptionList",
        "  term “How did you sleep?”",
        "  definition",
        "    text “badly”",
        "    button “Change the answer to question 1”",
        "  term “How many hours did you work?”",
        "  definition",
        "    text “No answer. The coins are tossed for it, too.”",
        "    button “Change the answer to question 2”",
    ]


def test_pictures_are_silent_beside_the_sentence_that_says_the_same(visit: Callable[[str], Visit]) -> None:
    respondent = visit("en")
    respondent.open(respondent.publish(**ONE))
    assert spoken(respondent.driver, "#consent [data-slot=odds] figure") == [
        "figure",
        "  Figcaption",
        "    text “Of 100 who say Yes, 75 are recorded Yes, 25 No.”",
    ]


def test_each_text_says_which_language_it_is_in(visit: Callable[[str], Visit]) -> None:
    respondent = visit("de")
    respondent.open(respondent.publish(**EVERYTHING))
    respondent.agree()
    script = "return [...document.querySelectorAll('#questions label.option span')].map((e) => [e.textContent, e.closest('[lang]').lang])"
    spoken_in = dict(respondent.driver.execute_script(script))
    assert spoken_in["schlecht"] == "de"
    assert spoken_in["none other"] == "en"
    assert spoken_in[respondent.find("fieldset:last-child label:last-child span").text] == "de"


def test_links_that_load_the_page_anew_are_away_where_that_would_lose_answers_or_the_code(visit: Callable[[str], Visit]) -> None:
    respondent = visit("en")
    offered = {state: respondent.driver.find_element(By.CLASS_NAME, "languages").is_displayed() for state in all_at_once(respondent)}
    away = [state for state, shown in offered.items() if not shown]
    assert away == ["questions", "questions, answers missing", "questions, answered", "review", "thanks", "thanks, opened"]


# What other settings do.


def test_pictures_take_the_colours_that_a_reader_forces(visit: Callable[[str], Visit]) -> None:
    respondent = visit("en")
    respondent.open(respondent.publish(**ONE))
    colours = """const style = (s) => getComputedStyle(document.querySelector(s));
      return [style("#consent .counted").fill, style("#consent .rest").stroke, style("#consent h1").color]"""
    with screen(respondent.driver, 1280, "dark", forced_colors="active"):
        assert len(set(respondent.driver.execute_script(colours))) == 1
    with screen(respondent.driver, 1280, "dark"):
        assert len(set(respondent.driver.execute_script(colours))) == 3


def test_nothing_moves_by_itself(questions: Visit) -> None:
    moving = """return [...document.querySelectorAll("*")].filter((e) => {
      const { transitionDuration, animationDuration, scrollBehavior } = getComputedStyle(e);
      return transitionDuration !== "0s" || animationDuration !== "0s" || scrollBehavior === "smooth"; }).length"""
    assert questions.driver.execute_script(moving) == 0
    with style(questions.driver, ".option { transition: all 1s }"):
        assert questions.driver.execute_script(moving) > 0
