"""What the device does beside its coins: orders, earlier answers in later texts, and sums. Nothing of it leaves the page."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.kit.pages import axe, layout
from tests.kit.pages.dice import coins, record

from deniable.survey import Survey

pytestmark = pytest.mark.browser

names = (f"device{i}" for i in itertools.count())
FRUIT = ["apple", "banana", "cherry"]
PIPED: list[dict[str, Any]] = [
    {"id": "fruit", "text": "Which fruit?", "type": "choice", "options": FRUIT, "other": "true", "required": False},
    {
        "id": "used",
        "text": "Which of these?",
        "type": "multi_choice",
        "options": ["tea", "coffee", "none"],
        "none": "none",
        "other": "true",
    },
    {"id": "age", "text": "How old?", "type": "number", "low": 0, "high": 3000, "required": False},
    {
        "id": "group",
        "text": "How far?",
        "type": "number",
        "low": 0,
        "high": 9,
        "bins": [{"name": "near", "from": 0}, {"name": "far", "from": 5}],
    },
    {"id": "happy", "text": "Are you happy?", "type": "yes_no", "show_if": {"question": "fruit", "is": ["apple"]}},
    {
        "id": "why",
        "section": {"title": "On ${fruit|your fruit}", "note": "Far: ${group}. Happy: ${happy}."},
        "text": "You chose ${fruit}, ${used|nothing} and ${age|no age}; $${this} is literal. Why?",
        "help": "As someone who uses ${used}.",
        "type": "choice",
        "options": ["${fruit}", "b"],
    },
]
GERMAN = {
    "fruit": {"options": ["Apfel", "Banane", "Kirsche"]},
    "used": {"options": ["Tee", "Kaffee", "nichts"]},
    "why": {"text": "Sie wählten ${fruit} und ${used}. Warum?"},
}


def asked(page: Any, index: int) -> Any:
    return page.driver.find_elements(By.CSS_SELECTOR, "#questions .question")[index]


def tap(page: Any, question: int, label: str) -> None:
    options = asked(page, question).find_elements(By.CSS_SELECTOR, "label.option")
    next(option for option in options if option.text.startswith(label)).click()


def type_in(page: Any, question: int, text: str) -> None:
    field = asked(page, question).find_element(By.TAG_NAME, "input")
    field.clear()
    field.send_keys(text)


def told(page: Any) -> dict[str, str]:
    """The texts with earlier answers, as they are shown."""
    question = asked(page, 5)
    section = page.driver.find_elements(By.CSS_SELECTOR, "#questions [data-slot=list] > :not(.question)")[0]
    slots = {name: question.find_element(By.CSS_SELECTOR, f"[data-slot={name}]").text for name in ("text", "help")}
    return {**slots, **{name: section.find_element(By.CSS_SELECTOR, f"[data-slot={name}]").text for name in ("sectionTitle", "note")}}


def test_later_texts_show_earlier_answers_as_they_change_and_markup_stays_text(page: Any, site: Any) -> None:
    questions = [
        {**PIPED[0], "options": ["<b>apple</b>", "banana"]},
        *PIPED[1:4],
        {**PIPED[4], "show_if": {"question": "fruit", "is": ["banana"]}},
        PIPED[5],
    ]
    survey = site.publish(id=next(names), questions=questions, epsilon=6)
    assert page.open(site.link(survey)) == "consent"
    page.press("agree")
    assert page.step("consent") == "questions"
    nothing = {
        "text": "You chose …, nothing and no age; ${this} is literal. Why?",
        "help": "As someone who uses ….",
        "sectionTitle": "On your fruit",
        "note": "Far: …. Happy: ….",
    }
    assert told(page) == nothing
    tap(page, 0, "<b>apple</b>")
    tap(page, 1, "coffee")
    tap(page, 1, "tea")
    type_in(page, 2, "1984")
    type_in(page, 3, "7")
    assert told(page) == {
        "text": "You chose <b>apple</b>, tea and coffee and 1984; ${this} is literal. Why?",
        "help": "As someone who uses tea and coffee.",
        "sectionTitle": "On <b>apple</b>",
        "note": "Far: far. Happy: ….",
    }
    assert page.driver.find_elements(By.CSS_SELECTOR, "#questions b") == []
    tap(page, 0, "banana")
    tap(page, 4, "Yes")
    assert told(page)["note"] == "Far: far. Happy: Yes."
    tap(page, 0, "Prefer not to say")  # hides whether somebody is happy, too
    type_in(page, 2, "9999999")  # is not allowed
    assert told(page)["note"] == "Far: far. Happy: …."
    assert told(page)["text"] == "You chose …, tea and coffee and no age; ${this} is literal. Why?"
    type_in(page, 2, "12")
    tap(page, 0, "Other")
    tap(page, 5, "${fruit}")
    page.press("next")
    assert page.step("questions") == "review"
    assert "You chose Other, tea and coffee and 12; ${this} is literal. Why?" in page.text()
    page.press("send")
    assert page.step("review") == "thanks"
    page.unfold()
    assert "You chose …, nothing and no age; ${this} is literal. Why?" in page.driver.find_element(By.ID, "thanks").get_attribute(
        "textContent"
    )
    whole = page.driver.execute_script("return document.documentElement.outerHTML + document.title + location.href")
    assert "tea and coffee" not in whole


def test_answers_are_shown_in_the_language_of_the_reader_and_other_has_its_word(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=PIPED, epsilon=6, translations={"de": {"questions": GERMAN}})
    page.open(site.link(survey).replace("#", "?lang=de#"))
    page.press("agree")
    assert page.step("consent") == "questions"
    tap(page, 0, "Sonstiges")
    for label in ("Tee", "Kaffee", "Sonstiges"):
        tap(page, 1, label)
    assert told(page)["text"] == "Sie wählten Sonstiges und Tee, Kaffee und Sonstiges. Warum?"
    tap(page, 1, "nichts")
    assert told(page)["text"] == "Sie wählten Sonstiges und nichts. Warum?"


ORDERED: list[dict[str, Any]] = [
    {
        "id": "q0",
        "text": "Q0",
        "type": "choice",
        "options": [f"o{n}" for n in range(9)],
        "order": "random",
        "other": "true",
        "required": False,
    },
    {"id": "q1", "text": "Q1", "type": "multi_choice", "options": [*"abcdef", "none"], "none": "none", "order": "rotate"},
    {"id": "q2", "text": "Q2", "type": "choice", "options": [f"p{n}" for n in range(15)], "order": "random"},
    {"id": "q3", "text": "Q3", "type": "yes_no"},
]


def labels(page: Any) -> dict[str, list[str]]:
    """The options of each question that is on the page, in the order of the page."""
    script = """return [...document.querySelectorAll("#questions .question")].map((one) => [
      one.querySelector("[data-slot=text]").textContent,
      [...one.querySelectorAll("label.option span, option:not([disabled])")].map((option) => option.textContent)])"""
    return dict(page.driver.execute_script(script))


def start(page: Any, link: str) -> None:
    page.open(link)
    page.press("agree")
    assert page.step("consent") == "questions"


def test_orders_are_drawn_once_a_visit_and_leave_some_options_last(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=ORDERED, epsilon=6, order="random")
    seen = []
    for _ in range(2):
        start(page, site.link(survey))
        first = labels(page)
        page.driver.back()  # to the consent, and on again
        assert page.step("questions") == "consent"
        page.press("agree")
        assert page.step("consent") == "questions"
        assert list(labels(page).items()) == list(first.items())
        seen.append(first)
    assert seen[0] != seen[1]  # equal by chance once in 300,000,000,000 visits
    for drawn in seen:
        assert drawn["Q0"][-2:] == ["Other", "Prefer not to say"]
        assert sorted(drawn["Q0"][:-2]) == ORDERED[0]["options"]
        assert drawn["Q1"][-1] == "none"
        assert "".join(drawn["Q1"][:-1]) in "abcdefabcdef"
        assert sorted(drawn["Q2"]) == sorted(ORDERED[2]["options"])


@pytest.mark.parametrize("layout", ["list", "steps"])
def test_what_is_sent_is_the_answer_wherever_it_was_on_the_page(
    layout: str, page: Any, site: Any, injected: Callable[[Chrome, str], None]
) -> None:
    survey = site.publish(id=next(names), questions=ORDERED, epsilon=6, order="random", layout=layout)
    honest = [0] * 200  # every coin keeps the own category
    injected(page.driver, coins(survey, honest, late=True))
    start(page, site.link(survey))
    answers = {"Q0": "o3", "Q1": "c", "Q2": "p11", "Q3": "No"}
    for _ in range(5):
        for question in [one for one in page.driver.find_elements(By.CSS_SELECTOR, "#questions .question") if one.is_displayed()]:
            text = question.find_element(By.CSS_SELECTOR, "[data-slot=text]").text
            options = question.find_elements(By.CSS_SELECTOR, "label.option, option:not([disabled])")
            next(option for option in options if option.text.startswith(answers[text])).click()
        page.press("next")
        if page.driver.find_element(By.ID, "review").is_displayed():
            break
    page.press("send")
    assert page.step("review") == "thanks"
    (stored,) = site.reports(survey)
    chosen = [3, *(int(option != "c") for option in [*"abcdef", "none"]), 11, 1]
    assert stored == record(survey, chosen, honest)


ROWS = [f"R{n}" for n in range(8)]
MIXED: list[dict[str, Any]] = [
    {"id": "z", "text": "Z", "type": "yes_no"},
    *({"id": f"a{n}", "text": f"A{n}", "type": "yes_no", "section": {"title": f"S{n}", "note": f"N{n}"}} for n in range(5)),
    {
        "id": "grid",
        "section": {"title": "S5"},
        "text": "How often?",
        "type": "rating",
        "options": ["no", "some", "much"],
        "items": [{"id": f"r{n}", "text": text} for n, text in enumerate(ROWS)],
        "order": "random",
    },
    {"id": "end", "text": "E", "type": "yes_no", "section": {"title": "S6", "fixed": True}},
]
MIXED_ANSWERS = {"Z": "no", **{f"A{n}": ["yes", "no"][n % 2] for n in range(5)}, **dict.fromkeys(ROWS, "much"), "R1": "some", "E": "yes"}
TEXTS = """return [...document.querySelectorAll(arguments[0])].map((one) => one.querySelector("[data-slot=text]").textContent)"""
HEADINGS = """return [...document.querySelectorAll("#questions .section, #questions .question")].map((one) =>
  (one.querySelector("h2") ?? one.querySelector("[data-slot=text]")).textContent)"""
PLACES = """return [...document.querySelectorAll("#questions .question")].map((one) => one.getBoundingClientRect().top)"""


@pytest.mark.parametrize("width", [1280, 360])
def test_items_and_sections_have_one_order_for_the_eye_the_keyboard_and_the_review(
    width: int, page: Any, site: Any, injected: Callable[[Chrome, str], None]
) -> None:
    survey = site.publish(id=next(names), questions=MIXED, epsilon=6, section_order="random")
    honest = [0] * 200
    injected(page.driver, coins(survey, honest, late=True))
    with layout.screen(page.driver, width):
        start(page, site.link(survey))
        order = page.driver.execute_script(TEXTS, "#questions .question")
        headings = page.driver.execute_script(HEADINGS)
        assert (order[0], order[-1], headings[-2]) == ("Z", "E", "S6")
        assert sorted(order) == sorted(MIXED_ANSWERS)
        rows = [text for text in order if text in ROWS]
        assert order.index(rows[-1]) - order.index(rows[0]) == 7  # they stay together
        assert (rows, order) != (ROWS, [*MIXED_ANSWERS])  # by chance once in 29,000,000
        for n in range(5):
            assert headings[headings.index(f"S{n}") + 1] == f"A{n}"
        tops = page.driver.execute_script(PLACES)
        assert tops == sorted(tops)
        assert (layout.faults(page.driver), axe.findings(page.driver)) == ([], [])
        page.driver.execute_script("document.querySelector('#questions input').focus()")
        by_keyboard = []
        for text in order:
            now = page.driver.execute_script(
                "return document.activeElement.closest('.question').querySelector('[data-slot=text]').textContent"
            )
            by_keyboard.append(now)
            answer = MIXED_ANSWERS[text]
            steps = {"yes": 0, "no": 1 if text not in ROWS else 0, "some": 1, "much": 2}[answer]
            page.keys(Keys.SPACE, *[Keys.ARROW_DOWN] * steps, Keys.TAB)
        assert by_keyboard == order
        page.press("next")
        reviewed = page.driver.execute_script(TEXTS, "#review [data-slot=answers] > *")
        assert reviewed == order
        page.press("send")
        assert page.step("review") == "thanks"
    (stored,) = site.reports(survey)
    categories = [1, *(n % 2 for n in range(5)), 2, 1, *[2] * 6, 0]
    assert stored == record(survey, categories, honest)


def test_items_and_sections_keep_their_order_one_by_one(page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=MIXED, epsilon=6, section_order="random", layout="steps")
    start(page, site.link(survey))
    order = page.driver.execute_script(TEXTS, "#questions .question")
    shown: list[str] = []
    while not page.driver.find_element(By.ID, "review").is_displayed():
        here = [one for one in page.driver.find_elements(By.CSS_SELECTOR, "#questions .question") if one.is_displayed()]
        for question in here:
            shown.append(question.find_element(By.CSS_SELECTOR, "[data-slot=text]").text)
            question.find_element(By.CSS_SELECTOR, "label.option").click()
        page.press("next")
    assert shown == order == page.driver.execute_script(TEXTS, "#review [data-slot=answers] > *")


SCORED: list[dict[str, Any]] = [
    *({"id": f"s{n}", "text": f"S{n}", "type": "scale", "options": ["never", "some", "often"], "scores": [0, 1, 2]} for n in (1, 2)),
    {"id": "skip", "text": "S3", "type": "scale", "options": ["never", "some", "often"], "scores": [0, 1, 2], "required": False},
    {"id": "doctor", "text": "Doctor?", "type": "yes_no", "show_if": {"score": ["s1", "s2", "skip"], "at_least": 3}},
    {"id": "twice", "text": "Twice?", "type": "yes_no", "show_if": {"count": ["s1", "s2"], "is": ["often"], "at_least": 2}},
]


@pytest.mark.parametrize(
    ("taps", "shown"),
    [((1, 1, 1), "Doctor?"), ((1, 1, -1), ""), ((1, 1, 3), ""), ((2, 2, 0), "Doctor? Twice?"), ((2, 1, -1), "Doctor?"), ((2, 0, 0), "")],
)
def test_a_question_is_shown_after_a_sum_or_a_count_and_sent_as_in_python(
    taps: tuple[int, ...], shown: str, page: Any, site: Any, injected: Callable[[Chrome, str], None]
) -> None:
    survey: Survey = site.publish(id=next(names), questions=SCORED, epsilon=5)
    honest = [0] * 200
    injected(page.driver, coins(survey, honest))
    start(page, site.link(survey))
    for place, option in enumerate(taps):
        if option >= 0:
            asked(page, place).find_elements(By.CSS_SELECTOR, "label.option")[option].click()
    visible = [one for one in page.driver.find_elements(By.CSS_SELECTOR, "#questions .question") if one.is_displayed()][3:]
    assert " ".join(one.find_element(By.CSS_SELECTOR, "[data-slot=text]").text for one in visible) == shown
    for one in visible:
        one.find_elements(By.CSS_SELECTOR, "label.option")[0].click()
    assert page.send() == "thanks"
    (stored,) = site.reports(survey)
    last = [3 if option < 0 else option for option in taps]
    assert stored == record(survey, [*last, *(0 if name in shown else 2 for name in ("Doctor?", "Twice?"))], honest)
