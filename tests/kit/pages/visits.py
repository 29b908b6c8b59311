"""Every page that a respondent can see, in every state, and how to get there.

A journey is a generator: it brings the browser to one state after another and yields the name of each, for a test to look at.
The survey it answers has all types of questions, and speaks three of the languages of the pages.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlencode

from selenium.webdriver.common.by import By
from tests.kit.patience import patient

from deniable.survey import Survey
from deniable.wire.submission import Submission

LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
TOWNS = [f"Town {number}" for number in range(1, 15)]
QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {
        "id": "often",
        "text": "How often?",
        "type": "choice",
        "options": ["daily", "weekly"],
        "required": False,
        "show_if": {"question": "smokes", "is": ["yes"]},
    },
    {"id": "town", "text": "Where do you live?", "help": "The nearest town.", "type": "choice", "options": TOWNS},
    {"id": "sleep", "text": "How did you sleep?", "type": "scale", "options": ["badly", "so so", "well"]},
    {
        "id": "hours",
        "section": {"title": "Your work", "note": f"And what comes with it: {LONG}"},
        "text": "How many hours did you work?",
        "type": "number",
        "low": 0,
        "high": 10000,
        "levels": 5,
        "required": False,
    },
    {
        "id": "age",
        "text": "How old are you?",
        "type": "number",
        "low": 18,
        "high": 120,
        "bins": [{"name": "under 40", "from": 18}, {"name": "40 or more", "from": 40}],
    },
    {
        "id": "law",
        "text": f"Which of these do you know: {LONG}?",
        "type": "multi_choice",
        "options": [LONG, "none other"],
        "required": False,
    },
]
TRANSLATIONS: dict[str, Any] = {
    "de": {
        "title": "Eine Untersuchung",
        "about": "Wer fragt, und warum.",
        "thanks": "Danke.",
        "closed": "Genug Menschen haben geantwortet.",
        "questions": {
            "smokes": {"text": "Rauchen Sie?"},
            "often": {"text": "Wie oft?", "options": ["täglich", "wöchentlich"]},
            "town": {"text": "Wo wohnen Sie?", "options": [f"Stadt {number}" for number in range(1, 15)]},
            "sleep": {"text": "Wie haben Sie geschlafen?", "options": ["schlecht", "mittel", "gut"]},
            "hours": {"text": "Wie viele Stunden haben Sie gearbeitet?", "section": {"title": "Ihre Arbeit"}},
            "age": {"text": "Wie alt sind Sie?", "options": ["unter 40", "40 oder mehr"]},
            "law": {"text": f"Welche davon kennen Sie: {LONG}?"},  # its options stay untranslated: a page in two languages
        },
    },
    "ar": {
        "title": "دراسة",
        "about": "من يسأل، ولماذا.",
        "thanks": "شكرا.",
        "closed": "أجاب ما يكفي من الناس.",
        "questions": {
            "smokes": {"text": "هل تدخن؟"},
            "often": {"text": "كم مرة؟", "options": ["يوميا", "أسبوعيا"]},
            "town": {"text": "أين تسكن؟", "help": "أقرب مدينة.", "options": [f"مدينة {number}" for number in range(1, 15)]},
            "sleep": {"text": "كيف نمت؟", "options": ["سيئ", "متوسط", "جيد"]},
            "hours": {"text": "كم ساعة عملت؟", "section": {"title": "عملك", "note": "وما يتعلق به."}},
            "age": {"text": "كم عمرك؟", "options": ["أقل من 40", "40 أو أكثر"]},
        },
    },
}
EVERYTHING: dict[str, Any] = {
    "title": "A study",
    "about": f"Who asks, and why.\n\nA long word: {LONG}",
    "contact": "Ada Lovelace, ada.lovelace.of.the.analytical.engine@a-department-with-a-long-name.example.org",
    "ethics": "Board of ethics, no. 7",
    "thanks": f"Thank you.\n\nYour code: {LONG}",
    "closed": f"Enough people have answered, says the {LONG}.",
    "return_link": "https://a-panel-with-a-long-name.example.org/complete?code=C1AB2C3D",
    "questions": QUESTIONS,
    "translations": TRANSLATIONS,
    "epsilon": 10,
    "accept_high_epsilon": True,
}
ONE: dict[str, Any] = {"title": "One question", "questions": QUESTIONS[:1], "epsilon": "ln 3"}
COINS: dict[str, Any] = {
    "title": "Cheating",
    "questions": [
        {"id": "cheated", "text": "Did you cheat?", "type": "yes_no"},
        {"id": "again", "text": "Would you again?", "type": "yes_no"},
    ],
    "groups": ["North", "South"],
    "access": "invited",
}

HASTE = "const wait = setTimeout; window.setTimeout = (f, ms) => wait(f, ms < 10_000 ? ms / 50 : ms);"
AS_WITHOUT_SCRIPT = """
  const silent = document.querySelector("noscript"), shown = document.createElement("div");
  shown.append(...silent.childNodes);
  silent.replaceWith(shown);
  document.querySelector(".needs-script").hidden = true;
"""
"""A page that was read with scripts off shows, once they are on again, what its style sheet shows without them."""
NO_REPLY = "window.fetch = () => new Promise(() => {});"
names = (f"page{i}" for i in itertools.count())


class Visit:
    """One respondent with a browser and a language. `page` is the fixture of that name, `site` a running server."""

    def __init__(self, page: Any, site: Any, language: str = "en") -> None:
        self.page, self.site, self.language, self.driver = page, site, language, page.driver

    def publish(self, **keys: Any) -> Survey:
        survey: Survey = self.site.publish(id=next(names), **keys)
        return survey

    def address(self, survey: Survey, path: str = "", **fragment: str) -> str:
        """The link to a survey's page in this language."""
        more = urlencode({"digest": survey.digest, **fragment})
        return f"{self.site.url}/s/{survey.id}{path}?lang={self.language}#{more}"

    def open(self, survey: Survey, **fragment: str) -> str:
        """Opens the survey afresh; gives the step that comes up."""
        return str(self.page.open(self.address(survey, **fragment)))

    def go(self, address: str) -> None:
        """Opens any other page afresh."""
        self.driver.get("about:blank")
        self.driver.get(address)

    def unfold(self) -> None:
        """Opens all that can be opened on the page."""
        for summary in self.driver.find_elements(By.CSS_SELECTOR, "details:not([open]) > summary"):
            if summary.is_displayed():
                summary.click()

    def find(self, selector: str) -> Any:
        """The one element that matches and is shown."""
        (found,) = (element for element in self.driver.find_elements(By.CSS_SELECTOR, selector) if element.is_displayed())
        return found

    def shows(self, selector: str) -> None:
        """Waits until an element is shown."""
        patient(self.driver).until(lambda d: any(e.is_displayed() for e in d.find_elements(By.CSS_SELECTOR, selector)))

    def agree(self) -> None:
        self.page.press("agree")
        self.page.step("consent")

    def answer(self, question: Any) -> None:
        """Gives a question its first answer, or 44."""
        if question.find_elements(By.CSS_SELECTOR, "input[type=text]"):
            question.find_element(By.TAG_NAME, "input").send_keys("44")
        else:
            question.find_elements(By.CSS_SELECTOR, "label.option, option:not([disabled])")[0].click()

    def questions(self) -> list[Any]:
        """The questions that are shown."""
        found = self.driver.find_elements(By.CSS_SELECTOR, "#questions .question")
        return [question for question in found if question.is_displayed()]

    def go_on(self) -> None:
        """Presses Next until the page obeys: at a driver's speed a press is the second one of a double click."""
        here = self.questions()

        def obeyed(_: Any) -> bool:
            self.page.press("next")
            return not self.driver.find_element(By.ID, "questions").is_displayed() or self.questions() != here

        patient(self.driver).until(obeyed)

    def answer_all(self) -> None:
        """Answers every question, those too that come up on the way."""
        done = 0
        while done < len(self.questions()):
            self.answer(self.questions()[done])
            done += 1

    def withdraw(self, survey: Survey) -> None:
        """Has the record that waits on the device withdrawn, as by its code."""
        waiting = self.driver.execute_script(f"return JSON.parse(localStorage['deniable:{survey.digest}']).envelope")
        with self.site.server.store() as store:
            store.submissions.withdraw(survey.id, Submission.from_json(waiting.encode()).id)

    @contextlib.contextmanager
    def beforehand(self, script: str) -> Iterator[None]:
        """Runs a script in each document that is opened in the meantime, before its own."""
        made = self.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        try:
            yield
        finally:
            self.driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": made["identifier"]})

    @contextlib.contextmanager
    def offline(self) -> Iterator[None]:
        """Cuts the browser off in the meantime."""
        self._network(offline=True)
        try:
            yield
        finally:
            self._network(offline=False)

    def _network(self, *, offline: bool) -> None:
        self.driver.execute_cdp_cmd("Network.enable", {})
        conditions = {"offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


def all_at_once(visit: Visit) -> Iterator[str]:
    """From consent to the end and beyond, all questions on one page."""
    survey = visit.publish(**EVERYTHING)
    assert visit.open(survey) == "consent"
    yield "consent"
    visit.unfold()
    visit.page.press("toss-yes")
    visit.page.press("toss-many-no")
    yield "consent, opened and practised"
    visit.agree()
    yield "questions"
    visit.page.press("next")
    yield "questions, answers missing"
    visit.answer_all()
    yield "questions, answered"
    visit.page.press("next")
    assert visit.page.step("questions") == "review"
    yield "review"
    visit.driver.execute_script(NO_REPLY)
    visit.page.press("send")
    visit.shows("#sending")
    yield "sending"
    assert visit.open(survey) == "thanks"
    yield "thanks"
    visit.unfold()
    yield "thanks, opened"
    assert visit.open(survey) == "answered"
    yield "answered"
    visit.unfold()
    yield "answered, opened"
    visit.page.press("mine")
    visit.unfold()
    yield "answered by the same person, opened"
    visit.page.press("forget")
    assert visit.page.step("mine") == "forgotten"
    yield "forgotten"


IN_AN_APP = """Object.defineProperty(Navigator.prototype, "userAgent", {
  get: () => "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Instagram" });"""


def one_by_one(visit: Visit) -> Iterator[str]:
    """With a group and an invitation to give, and one question a page; and the group of a link, opened inside of an app."""
    survey = visit.publish(**EVERYTHING, layout="steps", groups=["North", f"South {LONG}"], access="invited")
    code = visit.site.invite(survey)
    assert visit.open(survey) == "consent"
    visit.page.press("agree")
    visit.shows("#problem-code")
    yield "consent, group and invitation missing"
    visit.driver.find_elements(By.CSS_SELECTOR, "[data-field=group] option")[1].click()
    visit.find("[data-field=code]").send_keys(code)
    visit.agree()
    place = 1
    while visit.driver.find_element(By.ID, "questions").is_displayed():
        (question,) = visit.questions()
        yield f"step {place}"
        if place not in (2, 5, 7):  # these may be skipped
            visit.page.press("next")
            visit.shows("#questions .problem")
            yield f"step {place}, answer missing"
            visit.answer(question)
        visit.go_on()
        place += 1
    yield "review after steps"
    visit.page.press("send")
    assert visit.page.step("review") == "thanks"
    yield "thanks with the code"
    visit.driver.execute_script("localStorage.clear()")
    with visit.beforehand(IN_AN_APP):
        assert visit.open(survey, group="North") == "consent"
    yield "consent inside of an app, group of the link"


def in_vain(visit: Visit) -> Iterator[str]:
    """What stands in the way of a record, of a survey, and of taking part."""
    survey = visit.publish(**ONE, access="invited")
    code = visit.site.invite(survey)
    assert visit.open(survey, code=code) == "consent"
    with visit.offline():  # else the code is exchanged now
        visit.page.choose(0)
    visit.site.spend(survey, code)
    assert visit.page.send() == "waiting"
    yield "waiting, invitation spent"
    visit.page.press("retry")
    visit.shows("#problem-other-code")
    yield "waiting, code mistyped"
    visit.driver.execute_script("localStorage.clear()")
    assert visit.open(survey, code=code) == "consent"
    visit.page.press("agree")
    visit.shows("#used-code")
    visit.find("#consent [data-field=code]").clear()  # 28 characters scroll in a field of 320 px with wide letters
    yield "consent, invitation spent"

    survey = visit.publish(**ONE)
    with visit.beforehand(HASTE):
        visit.open(survey)
    visit.page.press("decline")
    yield "declined"
    visit.page.press("back")
    visit.page.choose(0)
    with visit.offline():
        visit.page.press("next")
        visit.page.press("send")
        visit.shows("#waiting")
        visit.unfold()
        yield "waiting, offline, opened"
        visit.withdraw(survey)
    assert visit.page.step("waiting") == "withdrawn"
    yield "withdrawn"
    visit.driver.execute_script("localStorage.clear()")
    visit.open(survey)
    visit.page.choose(0)
    visit.site.close_survey(survey)
    assert visit.page.send() == "uncounted"
    yield "not counted, survey closed"
    with visit.site.server.store() as store:
        store.surveys.set_open(survey.id, True)
    assert visit.open(survey) == "uncounted"
    yield "not counted, survey open again"
    visit.driver.execute_script("localStorage.clear()")

    survey = visit.publish(**ONE)
    assert visit.open(survey, digest="0" * 64) == "refused"
    yield "refused"
    visit.go(visit.address(survey).replace("#", "&ref=newsletter#"))
    visit.shows("#misled")
    yield "the link says too much"
    with visit.beforehand("window.fetch = () => Promise.reject(new TypeError());"):
        assert visit.open(survey) == "refused"
    yield "could not be loaded"
    with visit.beforehand("Storage.prototype.setItem = () => {};"):
        assert visit.open(survey) == "unkept"
        yield "nothing can be kept"
    with visit.beforehand("delete window.AbortController;"):
        assert visit.open(survey) == "unsupported"
    yield "browser too old"
    with visit.beforehand(
        "document.addEventListener('DOMContentLoaded', () => dispatchEvent(new ErrorEvent('error', { filename: '/browser/a.mjs' })));"
        + NO_REPLY
    ):
        assert visit.open(survey) == "broken"
    yield "page not whole"
    with visit.beforehand("const f = fetch; window.fetch = (u, o) => { if (o.method) null.fetch; return f(u, o); };"):
        visit.open(survey)
        visit.page.choose(0)
        assert visit.page.send() == "fault"
    yield "fault"
    visit.driver.execute_script("localStorage.clear()")
    with visit.beforehand(NO_REPLY):
        visit.go(visit.address(survey))
    visit.driver.execute_script("for (const animation of document.getAnimations()) animation.finish()")
    yield "loading, late"


def without_script(visit: Visit) -> Iterator[str]:
    """The form for coins, and what else is served as it stands."""
    survey = visit.publish(**COINS)
    switch = "Emulation.setScriptExecutionDisabled"
    visit.driver.execute_cdp_cmd(switch, {"value": True})
    try:
        visit.go(visit.address(survey))
    finally:
        visit.driver.execute_cdp_cmd(switch, {"value": False})  # the tests' own scripts have to run again
    visit.driver.execute_script(AS_WITHOUT_SCRIPT)
    yield "no script"
    visit.go(visit.address(survey, "/by-hand"))
    visit.unfold()
    yield "by hand"
    secret = visit.driver.find_element(By.NAME, "secret").get_attribute("value")
    visit.find("form button").click()
    visit.shows(".problem")
    yield "by hand, incomplete"
    _fill_in(visit, visit.site.invite(survey))
    visit.shows(".code")
    yield "by hand, thanks"
    visit.go(visit.address(survey, "/by-hand"))
    visit.driver.execute_script("document.getElementsByName('secret')[0].value = arguments[0]", secret)
    _fill_in(visit, visit.site.invite(survey), mark=1)
    visit.shows(".code")
    yield "by hand, sent before"
    visit.go(visit.address(visit.publish(**EVERYTHING), "/by-hand"))
    yield "by hand, impossible"


def _fill_in(visit: Visit, invitation: str, mark: int = 0) -> None:
    """Fills in the form for coins, and sends it."""
    field = visit.find("#invitation")
    field.clear()
    field.send_keys(invitation)
    visit.driver.find_elements(By.CSS_SELECTOR, "#group option")[1].click()
    for number in (1, 2):
        visit.find(f"#mark-{number}-{mark}").click()
    visit.find("form button").click()


def around(visit: Visit) -> Iterator[str]:
    """What stands around a survey."""
    survey = visit.publish(**EVERYTHING)
    visit.go(visit.address(survey, "/withdraw"))
    yield "withdraw"
    visit.find("form button").click()
    visit.shows(".problem")
    yield "withdraw, code missing"
    visit.find("#code").send_keys(visit.site.invite(survey))  # any code will do: the reply is the same for all
    visit.find("form button").click()
    visit.shows("h1:not(:has(~ form))")
    yield "withdraw, done"
    for name, path in PAGES.items():
        visit.go(f"{visit.site.url}{path.format(survey=survey.id)}?lang={visit.language}")
        yield name
    visit.site.close_survey(survey)
    visit.go(visit.address(survey))
    visit.shows("#closed dl")
    yield "closed"


PAGES = {"definition": "/s/{survey}/definition", "privacy": "/privacy", "accessibility": "/accessibility", "not found": "/s/none"}
JOURNEYS: tuple[Callable[[Visit], Iterator[str]], ...] = (all_at_once, one_by_one, in_vain, without_script, around)
