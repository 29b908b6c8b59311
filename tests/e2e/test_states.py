"""Two people answer differently, their coins fall so that the same record comes out, and nothing that a browser keeps tells who is who.

The profiles are compared as they are, whatever is in them: it is a trace of the answer, what all profiles of one answer have and
none of those of the other. What differs from run to run anyway is no trace: while there is anything, more people answer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable

import pytest
from selenium.webdriver.common.by import By
from tests.kit.pages import profiles
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.study import Session, Study
from tests.kit.pages.traces import count_in
from tests.kit.pages.ways import LOSES_ALL, answering
from tests.kit.patience import wait_for

from deniable.wire import access_codes

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]  # up to twenty people in turn, each in a browser of their own

LONG = "DENIABLE_CANARY_SESSIONS" in os.environ


def on_a_plain_form(session: Session) -> None:
    """Somebody who answers on a page without any care, and loads it anew."""
    driver, answers = session.person.driver, session.person.answers
    driver.get(f"{session.proxy.url}/plain")
    place = 1 + session.which
    driver.find_element(By.CSS_SELECTOR, f"label:nth-of-type({place}) input").click()
    driver.find_element(By.CSS_SELECTOR, f"option:nth-of-type({place + 1})").click()
    driver.find_element(By.CSS_SELECTOR, "input[type=text]").send_keys(str(answers["age"]))
    session.see("answered")
    driver.refresh()
    session.see("loaded anew", last=True)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=ENGINES if LONG else ["webkit"])
def controlled(request: pytest.FixtureRequest) -> str:
    """The engines that the controls run in: all of them with `make long NAME=canaries`."""
    return str(request.param)


@pytest.mark.parametrize("keys", [{}, {"order": "random"}, {"order": "random", "layout": "steps"}] if LONG else [{}])
def test_a_browser_keeps_nothing_that_follows_the_answer(study: Callable[..., Study], engine: str, keys: dict[str, str]) -> None:
    assert study(engine, **keys).traces(answering) == {}


@pytest.mark.parametrize("writes", ENGINES if LONG else ["firefox"])
def test_a_record_that_waits_leaves_no_withdrawal_code_on_the_disk(study: Callable[..., Study], writes: str) -> None:
    session = study(writes).session(0)
    person = session.person
    person.start(session.link)
    person.answer_all()
    session.proxy.lose = LOSES_ALL
    person.press("send")
    person.goes("review", "waiting")
    envelope = json.loads(session.proxy.bodies[0])
    kept = session.profile
    wait_for(lambda: count_in(kept, [envelope["reports"]])[envelope["reports"]] > 0, "the record that waits, on the disk")
    shown = person.driver.find_element(By.CSS_SELECTOR, "#waiting [data-slot=code]").text
    assert access_codes.read(shown) == session.secret
    person.driver.kill()
    assert count_in(kept, [shown]) == {shown: 0}


# Controls: the same search, where there is something to find.

PLAIN = """<!doctype html><title>Plain</title><form><p>Do you smoke?<label><input type="radio" name="smokes" value="yes">Yes</label>
<label><input type="radio" name="smokes" value="no">No</label>
<p><select name="town"><option>Choose one<option>Town 3<option>Town 9</select><p><input type="text" name="age"></form>"""


def without_the_mend(study: Study) -> None:
    """A page whose controls look changed, and may be remembered."""
    study.proxy.alter["/browser/respond.mjs"] = (b"input.defaultChecked = input.checked", b"continue")
    study.proxy.alter[f"/s/{study.survey.id}"] = (b'autocomplete="off"', b'autocomplete="on"')
    study.proxy.unsealed.add(f"/s/{study.survey.id}")


def with_a_telling_title(study: Study) -> None:
    """The page with a title that counts the questions answered."""
    study.proxy.alter["/browser/respond.mjs"] = (
        b"const last =",
        b"document.title = `${answered} of ${visible.length}`;\nconst last =",
    )
    study.proxy.unsealed.add(f"/s/{study.survey.id}")


def with_an_answer_in_its_title(study: Study) -> None:
    """The page with a title that has an earlier answer in it, as the heading below it."""
    study.proxy.alter["/browser/respond.mjs"] = (
        b"fill(heading, this.#words.section(under, answerOf));",
        b"fill(heading, this.#words.section(under, answerOf)), document.title = heading.textContent;",
    )
    study.proxy.unsealed.add(f"/s/{study.survey.id}")


def with_an_answer_in_its_storage(study: Study) -> None:
    """The page that keeps a text with an earlier answer in it."""
    study.proxy.alter["/browser/respond.mjs"] = (
        b"const { text, lang } = say(translation, otherwise);",
        b"const { text, lang } = say(translation, otherwise);\nif (answerOf) localStorage.setItem(otherwise, piped(text, answerOf));",
    )
    study.proxy.unsealed.add(f"/s/{study.survey.id}")


CONTROL = 2 if LONG else 1
"""People for each answer, where there is something to find."""

TELLING: dict[Callable[[Study], None], str] = {
    with_a_telling_title: "8 of 8",
    with_an_answer_in_its_title: "After Town 9",
    with_an_answer_in_its_storage: "Town 9",
    **({without_the_mend: "Town 9"} if LONG else {}),
}
"""What each broken page leaves."""


@pytest.mark.parametrize("break_", TELLING)
def test_the_search_finds_a_page_that_tells(study: Callable[..., Study], controlled: str, break_: Callable[[Study], None]) -> None:
    made, left = study(controlled), TELLING[break_]
    break_(made)
    if (break_, controlled) == (without_the_mend, "firefox"):
        left = "formdata.xpath"
    assert profiles.says(made.traces(answering, most=CONTROL, each=CONTROL), left)


def test_the_search_finds_the_answers_on_a_plain_form(study: Callable[..., Study], controlled: str) -> None:
    made = study(controlled)
    made.proxy.pages["/plain"] = PLAIN
    assert profiles.says(made.traces(on_a_plain_form, most=CONTROL, each=CONTROL), "Town 9")
