"""The respondent's page in each of the three engines, and the editor: what the tests beside this one do in Chromium."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome, Keys
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from tests.kit.pages.ages import NEEDS, NEWER, without
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.page import address_of
from tests.kit.pages.visits import EVERYTHING, HASTE, ONE, Visit
from tests.kit.pages.writer import Writer
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, USER

from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.submission import Submission

pytestmark = pytest.mark.browser
names = (f"engine{i}" for i in itertools.count())


def questions_of(visit: Visit) -> list[str]:
    return [question.find_element(By.CSS_SELECTOR, "[data-slot=text]").text for question in visit.questions()]


def walk(visit: Visit, layout: str) -> None:
    """From consent to the last look at the answers, by way of a branch, a missing answer, and a change of mind."""
    visit.agree()
    visit.page.press("next")
    assert visit.questions()[0].find_element(By.CSS_SELECTOR, ".problem").is_displayed()
    if layout == "list":
        visit.answer_all()
        visit.page.press("next")
    while visit.driver.find_element(By.ID, "questions").is_displayed():
        visit.answer(visit.questions()[0])
        visit.go_on()


def test_a_page_asks_for_five_files_and_runs_its_script_only_as_it_was_released(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING)
    proxy.alter["/browser/respond.mjs"] = (b"// form.mjs", b"0;// form.mjs")
    assert visit.page.open(proxy.link(survey)) == "broken"
    proxy.unsealed.add(f"/s/{survey.id}")  # the control
    visit.go("about:blank")
    proxy.heads.clear()
    assert visit.page.open(proxy.link(survey)) == "consent"
    asked = [head.split()[1] for head in proxy.heads]
    assert len(set(asked)) == 6  # the page, two scripts, two style sheets, the definition
    twice = {path for path in asked if asked.count(path) > 1}
    forgets = isinstance(visit.driver, ENGINES["webkit"])  # it asks again for what forbids caches, though it has just been given it
    assert twice == ({f"/api/v1/surveys/{survey.id}"} if forgets else set())


@pytest.mark.parametrize("layout", ["list", "steps"])
def test_a_whole_visit_ends_with_one_record_a_code_and_a_device_that_forgets(visit: Visit, proxy: Any, layout: str) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING, layout=layout, groups=["North", "South"], access="invited")
    assert visit.page.open(f"{proxy.link(survey)}&group=South&code={proxy.site.invite(survey)}") == "consent"
    assert visit.driver.current_url == address_of(proxy.link(survey)), "the group and the code are gone from the address"
    walk(visit, layout)
    answers = visit.driver.find_elements(By.CSS_SELECTOR, "#review [data-slot=answer]")
    assert [answer.text for answer in answers][:5] == ["Yes", "daily", "Town 1", "badly", "44"]
    visit.driver.find_elements(By.CSS_SELECTOR, "#review dd button")[0].click()
    assert visit.page.step("review") == "questions"
    visit.questions()[0].find_elements(By.CSS_SELECTOR, "label.option")[1].click()
    while visit.driver.find_element(By.ID, "questions").is_displayed():
        assert "How often?" not in questions_of(visit), "no longer called for"
        visit.go_on()
    visit.page.press("send")
    assert visit.page.step("review") == "thanks"
    (sent,) = map(Submission.from_json, proxy.bodies)
    assert sent.group == "South"
    assert access_codes.submission_id(access_codes.read(visit.find("#thanks [data-slot=code]").text)) == sent.id
    assert visit.page.open(proxy.link(survey)) == "answered"
    visit.driver.find_element(By.CSS_SELECTOR, "#answered summary").click()
    visit.page.press("forget")
    assert visit.page.step("answered") == "forgotten"
    assert visit.driver.execute_script("return localStorage.length") == 0
    assert proxy.site.count(survey) == 1


def test_a_record_whose_replies_are_lost_waits_and_is_sent_again_as_it_was(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING)
    proxy.insert(survey, HASTE)
    assert visit.page.open(proxy.link(survey)) == "consent"
    walk(visit, "list")
    proxy.lose = 10_000
    visit.page.press("send")
    assert visit.page.step("review") == "waiting"
    assert visit.find("#waiting [data-slot=code]").text
    visit.driver.refresh()
    assert visit.page.step("loading") == "waiting"
    proxy.lose = 0
    visit.page.press("retry")
    assert visit.page.step("waiting") == "thanks"
    assert "Only the page that made the record had it" in visit.find("#thanks").text
    assert len(set(proxy.bodies)) == 1
    assert proxy.site.count(survey) == 1
    visit.driver.execute_script("localStorage.clear()")


def test_who_goes_away_and_comes_back_finds_no_answers(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING)
    assert visit.page.open(proxy.link(survey)) == "consent"
    walk(visit, "list")
    visit.driver.get(f"{proxy.url}/static/base.css")
    visit.driver.back()
    patient(visit.driver).until(lambda d: d.find_element(By.ID, "consent").is_displayed())
    visit.agree()
    assert visit.driver.execute_script("return document.querySelectorAll('input:checked, #review dd').length") == 0
    assert visit.driver.execute_script("return [...document.querySelectorAll('#questions select')].map((s) => s.selectedIndex)") == [0]


LONG = "DENIABLE_CANARY_SESSIONS" in os.environ
LACKS = "return document.querySelector('#unsupported [data-slot=detail]').textContent"


def test_a_browser_of_any_age_sends_or_says_before_the_first_question_what_it_lacks(visit: Visit, proxy: Any) -> None:
    """Each of the page's needs is taken away alone, then all at once, then all that came after the oldest browsers that can answer."""
    survey = proxy.site.publish(id=next(names), **ONE)
    each = NEEDS if LONG else NEEDS[:: 3 if isinstance(visit.driver, Chrome) else 10]
    for lacking in (*([name] for name in each), NEEDS):
        proxy.insert(survey, without(*lacking))
        assert visit.page.open(proxy.link(survey)) == "unsupported"
        assert visit.driver.execute_script(LACKS) == ", ".join(lacking)
    assert proxy.bodies == []
    proxy.insert(survey, without(*NEWER))
    assert visit.page.answer(proxy.link(survey), 0) == "thanks"
    assert visit.driver.execute_script("return window.taken") > 200
    assert len(proxy.bodies) == 1
    visit.driver.execute_script("localStorage.clear()")


AS_BEGUN = """return [...document.querySelectorAll('input')]
  .every((i) => i.checked === i.defaultChecked && (i.type !== "text" || i.value === i.defaultValue)) &&
  [...document.querySelectorAll('option')].every((o) => o.selected === o.defaultSelected)"""
CLEARED = "document.querySelectorAll('#questions input')[0].checked = true; return " + AS_BEGUN.removeprefix("return ")


def test_no_control_looks_changed_whatever_is_done_to_it(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING)
    assert visit.page.open(proxy.link(survey)) == "consent"
    visit.agree()
    done = 0
    while done < len(visit.questions()):
        visit.answer(visit.questions()[done])
        assert visit.driver.execute_script(AS_BEGUN)
        done += 1
    visit.driver.find_element(By.CSS_SELECTOR, "#questions label.option input").send_keys(Keys.ARROW_DOWN)  # hides a question
    assert visit.driver.execute_script(AS_BEGUN)
    assert not visit.driver.execute_script(CLEARED), "the control: a change that nobody hears of is seen by this test"
    visit.driver.execute_script("dispatchEvent(new PageTransitionEvent('pagehide'))")
    assert visit.driver.execute_script(AS_BEGUN)
    assert visit.driver.execute_script("return document.querySelectorAll('#questions input').length") == 0


def test_no_form_can_be_sent(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING)
    assert visit.page.open(proxy.link(survey)) == "consent"
    visit.agree()
    visit.driver.execute_script("window.still = true; document.querySelectorAll('form').forEach((form) => form.requestSubmit())")
    visit.driver.execute_script("try { document.querySelector('#questions form').submit(); } catch { /* Firefox throws, instead */ }")
    visit.driver.find_element(By.CSS_SELECTOR, "#questions input[type=text]").send_keys("44", Keys.ENTER)
    assert visit.driver.execute_script("return window.still")
    assert visit.driver.current_url == address_of(proxy.link(survey))


HIDDEN = """Object.defineProperty(document, "visibilityState", { configurable: true, get: () => arguments[0] });
  document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));"""


def test_a_picture_of_a_hidden_page_is_the_same_for_all_answers_and_they_are_back_afterwards(visit: Visit, proxy: Any) -> None:
    survey = proxy.site.publish(id=next(names), **EVERYTHING)
    assert visit.page.open(proxy.link(survey)) == "consent"
    visit.agree()
    pictures: dict[str, list[str]] = {"visible": [], "hidden": []}
    for option in (0, 1):
        visit.driver.find_elements(By.CSS_SELECTOR, "#questions .question:first-child label.option")[option].click()
        for state, seen in pictures.items():
            visit.driver.execute_script(HIDDEN, state)
            visit.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")
            seen.append(visit.driver.get_screenshot_as_base64())
        assert visit.driver.execute_script("return document.activeElement.type") == "radio", "the focus stays"
        visit.driver.execute_script(HIDDEN, "visible")
        assert visit.driver.find_elements(By.CSS_SELECTOR, "#questions input")[option].is_selected()
    assert len(set(pictures["hidden"])) == 1
    assert len(set(pictures["visible"])) == 2, "the control"


FRAME = """const inside = document.querySelector("iframe.phone")?.contentDocument;
  return [...(inside?.querySelectorAll("main > section") ?? [])].filter((step) => !step.hidden).map(({ id }) => id)[0] ?? "";"""


BESIDE = 1280  # CSS pixels of a window in which there is room for the page of respondents beside the fields
ASKED = """const inside = document.querySelector(".trying iframe")?.contentDocument;
  return inside?.getElementById("questions")?.hidden === false ? inside.body.textContent : "";"""


def log_in(driver: Any, address: str, title: str) -> None:
    """Types name and password, each until it stands there, and waits for the page with this title."""
    driver.get(address)
    for name, words in (("user", USER), ("password", PASSWORD)):
        driver.find_element(By.ID, name).send_keys(words)
        stands = f"return document.getElementById({name!r}).value === {words!r}"
        patient(driver).until(lambda _, stands=stands: driver.execute_script(stands))
    driver.find_element(By.ID, "submit").click()
    patient(driver).until(lambda _: driver.title == title)


def test_the_editor_keeps_moves_tells_of_mistakes_and_shows_the_page_of_respondents(driver: Any, site: Any) -> None:
    log_in(driver, f"{site.url}/login", "Surveys")
    writer = Writer(driver, site.server)
    path = writer.open((Path(__file__).parents[2] / "examples" / "habits.yaml").read_text(encoding="utf-8"))
    writer.write("ask", "9")
    writer.told("ask-mistake", "Must be a whole number from 1 to 4")
    assert writer.unfolded("ask").get_attribute("aria-invalid") == "true"
    writer.write("ask", "4")
    writer.told("problems", "")
    writer.press("add")
    writer.write_question("questions-6", {"type": "choice", "id": "town", "text": "Where do you live?", "options": ["here", "there"]})
    writer.press("up 6")
    assert writer.order() == ["smokes", "daily", "used", "mood", "age", "town", "hours"]
    assert driver.execute_script("return document.activeElement.id") == "up-5"
    kept = Survey.from_text(writer.draft(path).text)
    assert ([question.id for question in kept.questions], kept.ask, kept.questions[5].options) == (writer.order(), 4, ("here", "there"))
    if driver.execute_script("return innerWidth") < BESIDE:
        driver.set_window_size(BESIDE + 100, 900)
    for title in ("Habits of yours", "Habits of theirs"):
        writer.write("title", title)
        driver.execute_script("document.getElementById('contact').focus()")
        patient(driver).until(lambda d, title=title: title in d.execute_script(ASKED))
        assert driver.execute_script("return document.activeElement.id") == "contact", "whoever types goes on typing"
    driver.get(f"{site.url}{path}/preview")
    patient(driver).until(lambda d: d.execute_script(FRAME) == "consent")


# A researcher's picture of a chart.

TAKEN = """
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[download]");
  if (link?.href.startsWith("data:")) { event.preventDefault(); window.taken = [link.download, link.href]; }
});
"""
DRAWN = """
const [address, done] = arguments;
const picture = new Image();
picture.onload = () => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.naturalWidth, picture.naturalHeight];
  const pen = canvas.getContext("2d");
  pen.drawImage(picture, 0, 0);
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  const count = { white: 0, ink: 0, mark: 0 };
  for (let i = 0; i < data.length; i += 4) {
    const [red, green, blue, alpha] = data.slice(i, i + 4);
    if (alpha < 255) continue;
    if (red > 250 && green > 250 && blue > 250) count.white += 1;
    if (Math.max(red, green, blue) - Math.min(red, green, blue) < 20) count.ink += 1 - red / 255; // thin letters are grey, in most fonts
    if (red < 20 && Math.abs(green - 114) < 20 && Math.abs(blue - 178) < 20) count.mark += 1;
  }
  done([canvas.width, canvas.height, count]);
};
picture.src = address;
"""


def test_a_chart_is_taken_as_a_picture_of_twice_its_size_with_its_marks_and_words(driver: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=[{"id": "tea", "text": "Tea?", "type": "yes_no"}])
    site.send(Submission(os.urandom(16), survey.digest, 400, simulate(survey, {"tea": [0.4, 0.6]}, n=400).reports), survey)
    log_in(driver, f"{site.url}/login?next=/manage/surveys/{survey.id}", "A study: results")
    patient(driver).until(lambda _: driver.find_element(By.CSS_SELECTOR, ".save > summary")).click()
    patient(driver).until(lambda _: driver.find_element(By.CSS_SELECTOR, "[data-png]").is_displayed())
    driver.execute_script(TAKEN)
    driver.find_element(By.CSS_SELECTOR, "[data-png]").click()
    patient(driver).until(lambda _: driver.execute_script("return window.taken"))
    name, address = driver.execute_script("return window.taken")
    assert name == f"{survey.id}-tea.png"
    assert address.startswith("data:image/png;base64,iVBOR")
    width, height, count = driver.execute_async_script(DRAWN, address)
    assert (width, height > 200) == (1620, True)
    assert count["white"] > width * height / 2
    assert count["mark"] > 500, "intervals and points"
    assert count["ink"] > 500, "words"
    driver.find_element(By.CSS_SELECTOR, ".choice summary").click()
    Select(driver.find_element(By.NAME, "confidence")).select_by_value("0.8")
    patient(driver).until(lambda _: "80%" in driver.find_element(By.CSS_SELECTOR, ".choice summary").text)
    assert "confidence=0.8" in driver.current_url
    driver.find_element(By.CSS_SELECTOR, ".save > summary").click()
    assert driver.find_element(By.CSS_SELECTOR, "[data-png]").is_displayed(), "what was put in place works"
