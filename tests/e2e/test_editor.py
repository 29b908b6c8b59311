"""Somebody new writes a survey in the browser: fields, mistakes as they are made, the plan, the respondents' page, and publishes it."""

from __future__ import annotations

import base64
import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select
from tests.kit.pages import axe, layout
from tests.kit.pages.page import Page
from tests.kit.pages.writer import Writer
from tests.kit.patience import patient, wait_for
from tests.kit.servers.process import PASSWORD, USER

from deniable.survey import Survey

pytestmark = pytest.mark.browser

HABITS = Path(__file__).parents[2] / "examples" / "habits.yaml"
WANTED = Survey.from_file(HABITS)


@pytest.fixture
def ada(browser: Chrome, site: Any) -> Iterator[Chrome]:
    browser.get(f"{site.url}/login?next=/manage/new")
    log_in(browser)
    assert browser.title == "New survey"
    yield browser
    browser.delete_all_cookies()


def log_in(driver: Chrome) -> None:
    driver.find_element(By.ID, "user").send_keys(USER)
    driver.find_element(By.ID, "password").send_keys(PASSWORD)
    driver.find_element(By.ID, "submit").click()
    patient(driver).until(lambda d: d.title != "Log in")


@pytest.fixture
def writer(ada: Chrome, site: Any) -> Writer:
    return Writer(ada, site.server)


def test_a_mistake_is_told_beside_its_field_as_it_is_made_and_taken_back_as_it_is_mended(writer: Writer) -> None:
    path = writer.open(HABITS.read_text())
    writer.driver.execute_script("window.same = true")
    field = writer.driver.find_element(By.ID, "epsilon")
    other = writer.unfolded("title")
    writer.write("title", "Still being typ")
    other.send_keys("ed")  # and not yet left
    writer.write("ask", "9")
    writer.told("ask-mistake", "Must be a whole number from 1 to 4")
    assert writer.unfolded("ask").get_attribute("aria-invalid") == "true"
    writer.told("problems", "Fix 1 problem before you publish")
    writer.told("by-level", "")
    writer.write("ask", "4")
    writer.told("ask-mistake", "")
    writer.told("problems", "")
    writer.told("by-level", "Choose protection in words")
    assert "6 questions" in writer.shows("#outlook .warning").text
    assert (other.get_attribute("value"), field.get_attribute("value")) == ("Still being typed", "ln 9")
    assert writer.driver.execute_script("return window.same")
    assert Survey.from_text(writer.draft(path).text).ask == 4


def test_questions_move_by_buttons_and_by_dragging_and_the_focus_goes_with_them(writer: Writer) -> None:
    path = writer.open(HABITS.read_text())

    writer.press("down 2")
    assert writer.order() == ["smokes", "daily", "mood", "used", "age", "hours"]
    assert writer.driver.switch_to.active_element.get_attribute("id") == "down-3"
    form = writer.driver.find_element(By.ID, "editor")
    handles = writer.driver.find_elements(By.CSS_SELECTOR, ".handle")
    writer.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", handles[4])
    over = writer.driver.find_element(By.CSS_SELECTOR, "#questions-3 .more > summary")
    ActionChains(writer.driver).click_and_hold(handles[4]).move_by_offset(0, -20).move_to_element(over).move_by_offset(
        0, 6
    ).release().perform()
    patient(writer.driver).until(lambda d: d.find_element(By.ID, "editor") != form)
    assert writer.order() == ["smokes", "daily", "mood", "age", "used", "hours"]
    assert [question.id for question in Survey.from_text(writer.draft(path).text).questions] == writer.order()


def test_alt_and_an_arrow_move_the_line_with_the_focus_and_undo_brings_a_deleted_question_back(writer: Writer) -> None:
    driver = writer.driver
    path = writer.open(HABITS.read_text())
    driver.execute_script("document.querySelector('#questions-2 > summary').focus()")
    ActionChains(driver).key_down(Keys.ALT).send_keys(Keys.ARROW_UP).key_up(Keys.ALT).perform()
    patient(driver).until(lambda _: writer.order()[:3] == ["smokes", "used", "daily"])
    patient(driver).until(lambda d: "is now question 2 of 6" in d.execute_script("return document.getElementById('announcer').textContent"))
    assert driver.execute_script("return document.activeElement === document.querySelector('#questions-1 > summary')")
    writer.press("remove 4")
    assert "is deleted. Undo restores it." in writer.shows("#message .done").text
    driver.refresh()
    writer.press("undo")
    assert len(writer.order()) == 6
    writer.press("undo")
    assert writer.order()[:3] == ["smokes", "daily", "used"]
    patient(driver).until(lambda d: d.find_element(By.ID, "saved").text.startswith("Saved "))
    assert writer.draft(path).text == HABITS.read_text()


def test_the_heading_and_the_tab_have_the_title_as_soon_as_it_is_saved(writer: Writer) -> None:
    writer.begin()
    assert writer.driver.find_element(By.TAG_NAME, "h1").text == "Untitled"
    for title in ("Sleep & work", "Sleep"):
        writer.put("title", title)
        writer.put("about", f"About {title}")
        patient(writer.driver).until(lambda d, title=title: (d.find_element(By.TAG_NAME, "h1").text, d.title) == (title, title))


def png(size: int) -> bytes:
    """A picture of one pixel, in a file of some bytes."""
    pixel = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
    return pixel + bytes(size - len(pixel))


def test_a_logo_is_chosen_as_a_file_and_removed_and_nothing_typed_is_lost(writer: Writer, tmp_path: Path) -> None:
    driver = writer.driver
    path = writer.open(HABITS.read_text())
    files = {"small": png(20_232), "large": png(20_233), "other": b"GIF89a" + bytes(20)}
    for name, raw in files.items():
        (tmp_path / f"{name}.png").write_bytes(raw)
    writer.write("institution", "University")
    about = writer.unfolded("about")
    chooser = driver.find_element(By.ID, "logo-file")
    assert not driver.find_element(By.ID, "logo").is_displayed()
    for name, got in (("large", "got 21 kB."), ("other", "got “other.png”.")):
        chooser.send_keys(str(tmp_path / f"{name}.png"))
        writer.told("logo-mistake", f"The logo must be a PNG or WebP picture of at most 20 kB, {got}")
    about.send_keys(" And typed.")
    chooser.send_keys(str(tmp_path / "small.png"))
    picture = writer.shows("#logo-chosen img")
    patient(driver).until(lambda d: d.execute_script("return arguments[0].naturalWidth", picture) == 1)
    assert about.get_attribute("value").endswith(" And typed.")
    survey = Survey.from_text(writer.draft(path).text)
    assert base64.b64decode(survey.logo.partition(",")[2]) == files["small"]
    assert survey.about.endswith(" And typed.")
    writer.shows("#logo-remove").click()
    patient(driver).until(lambda d: not d.find_elements(By.ID, "logo-remove"))
    assert Survey.from_text(writer.draft(path).text).logo == ""


OBSCURED = """
const e = document.activeElement, bar = document.querySelector(".editor-bar");
const { bottom } = bar.getBoundingClientRect();
return bar.contains(e) || e.getBoundingClientRect().bottom > bottom + 8 ? "" : e.id || e.textContent.trim();
"""


def test_no_focus_is_below_the_bar_of_a_phone_and_the_page_is_short(writer: Writer) -> None:
    driver = writer.driver
    with layout.screen(driver, 360):
        writer.open(HABITS.read_text())
        height = driver.execute_script("return document.documentElement.scrollHeight")
        assert height < 3_500
        driver.execute_script("document.getElementById('new_language').closest('details').open = true; window.scrollTo(0, 1e6)")
        driver.execute_script("document.getElementById('new_language').focus()")
        for _ in range(40):
            ActionChains(driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
            assert driver.execute_script(OBSCURED) == ""
        with layout.style(driver, "html { scroll-padding-block: 0 !important }"):  # control: without room for the bar
            found = []
            driver.execute_script("document.getElementById('new_language').focus()")
            for _ in range(40):
                ActionChains(driver).key_down(Keys.SHIFT).send_keys(Keys.TAB).key_up(Keys.SHIFT).perform()
                found.append(driver.execute_script(OBSCURED))
        assert any(found)


def test_the_outline_and_the_list_of_problems_lead_to_a_question_and_open_it_alone(writer: Writer) -> None:
    driver = writer.driver
    with layout.screen(driver, 1280):
        writer.open(HABITS.read_text().replace("options: [", "options: [twice, twice, ", 1))
        opened = "return [...document.querySelectorAll('.asked')].flatMap((e, index) => e.open ? [index] : [])"
        (faulty,) = driver.execute_script(opened)
        driver.find_element(By.CSS_SELECTOR, "#outline-list a[href='#questions-3']").click()
        assert driver.execute_script(opened) == [3]
        assert driver.execute_script("return document.activeElement === document.querySelector('#questions-3 > summary')")
        driver.execute_script("window.scrollTo(0, 0)")
        driver.find_element(By.CSS_SELECTOR, "#problems li a").click()
        assert driver.execute_script(opened) == [faulty]
        assert driver.switch_to.active_element.get_attribute("id") == f"questions-{faulty}-options"


def test_what_is_typed_and_not_left_is_saved_after_a_pause(writer: Writer) -> None:
    path = writer.open(HABITS.read_text())
    before = writer.revision()
    writer.unfolded("contact").send_keys("Ada Byron")
    assert writer.driver.find_element(By.ID, "saved").text == "Not saved yet"
    writer.kept(before)
    assert "Ada Byron" in writer.draft(path).text


@pytest.mark.parametrize("page", ["protection?n=800", "library"])
def test_the_pages_beside_the_editor_can_be_read_by_everybody(writer: Writer, page: str) -> None:
    driver = writer.driver
    path = writer.open(HABITS.read_text())
    driver.get(f"{writer.server.url}{path}/{page}")
    for width, scheme in ((360, "dark"), (1280, "light")):
        with layout.screen(driver, width, scheme):
            unsure = [finding for finding in axe.findings(driver) if not axe.drawn(driver, finding)]
            assert (page, width, layout.faults(driver), unsure) == (page, width, [], [])


def test_what_the_plan_proposes_is_done_at_one_press(writer: Writer) -> None:
    writer.open(HABITS.read_text().replace("epsilon: ln 9", "epsilon: ln 27"))
    writer.unfolded("outlook")
    button = writer.shows(".proposals button[value^='propose Ask']")
    figure = button.find_element(By.XPATH, "../span").text.removeprefix("± ").removeprefix("±\xa0")
    writer.press(button.get_attribute("value"))
    assert figure in writer.driver.find_element(By.CSS_SELECTOR, "#outlook strong").text
    assert writer.unfolded("ask").get_attribute("value") != ""


def test_the_second_of_two_tabs_is_told_and_loses_nothing(writer: Writer) -> None:
    path = writer.open(HABITS.read_text())
    first = writer.driver.current_window_handle
    writer.driver.switch_to.new_window("tab")
    try:
        writer.driver.get(writer.server.url + path)
        writer.write("title", "Of the second tab")
    finally:
        writer.driver.close()
        writer.driver.switch_to.window(first)
    writer.type(writer.unfolded("title"), "Of the first tab")
    assert "The draft has changed" in writer.shows("#problems .problem").text
    assert writer.driver.find_element(By.ID, "title").get_attribute("value") == "Of the first tab"
    writer.press("over")
    assert Survey.from_text(writer.draft(path).text).title == "Of the first tab"


def test_who_is_logged_out_in_the_middle_loses_nothing_and_goes_on_after_a_login_elsewhere(writer: Writer) -> None:
    driver = writer.driver
    path = writer.open(HABITS.read_text())
    driver.delete_all_cookies()
    writer.type(writer.unfolded("title"), "Typed after the end")
    writer.told("problems", "You are logged out")
    assert driver.current_url == writer.server.url + path
    first = driver.current_window_handle
    driver.find_element(By.LINK_TEXT, "See why").click()
    driver.find_element(By.CSS_SELECTOR, "#problems a[target=_blank]").click()
    patient(driver).until(lambda d: len(d.window_handles) == 2)
    driver.switch_to.window(next(handle for handle in driver.window_handles if handle != first))
    try:
        patient(driver).until(lambda d: d.title == "Log in")
        log_in(driver)
    finally:
        driver.close()
        driver.switch_to.window(first)
    assert driver.find_element(By.ID, "title").get_attribute("value") == "Typed after the end"
    writer.write("contact", "Ada")
    writer.told("problems", "")
    kept = Survey.from_text(writer.draft(path).text)
    assert (kept.title, kept.contact) == ("Typed after the end", "Ada")


def test_a_file_that_was_sent_after_the_end_of_a_session_is_there_again_after_the_login(writer: Writer) -> None:
    driver = writer.driver
    path = writer.open(HABITS.read_text())
    driver.get(f"{writer.server.url}{path}/source")
    driver.find_element(By.ID, "source").send_keys("# typed after the end\n")
    driver.delete_all_cookies()
    driver.find_element(By.ID, "save").click()
    patient(driver).until(lambda d: d.title == "Log in")
    log_in(driver)
    writer.shows("#kept:not([hidden])")
    assert "typed after the end" not in writer.draft(path).text
    writer.shows("#save").click()
    wait_for(lambda: "# typed after the end" in writer.draft(path).text, "the file that was typed, in the draft")
    patient(driver).until(lambda d: not d.find_element(By.ID, "kept").is_displayed())
    assert driver.execute_script("return sessionStorage.length") == 0


def test_a_preview_is_the_page_of_respondents_and_nothing_of_it_leaves_the_frame(writer: Writer, site: Any) -> None:
    driver = writer.driver
    path = writer.open(
        HABITS.read_text()
        .replace("epsilon: ln 9", "epsilon: ln 9\naccess: invited\ngroups: [North, South]")
        .replace("layout: steps", "ask: 2")
    )
    before = _kept(site)
    driver.get(f"{site.url}{path}/preview")
    driver.execute_script("window.asked = performance.getEntriesByType('resource').length; localStorage.clear()")
    driver.switch_to.frame(driver.find_element(By.CSS_SELECTOR, "iframe.phone"))
    page = Page(driver)
    assert page.step("loading") == "consent"
    assert driver.execute_script("return innerWidth") < 400
    Select(driver.find_element(By.CSS_SELECTOR, "[data-field=group]")).select_by_visible_text("North")
    page.press("agree")
    assert page.step("consent") == "questions"
    for question in driver.find_elements(By.CSS_SELECTOR, ".question"):
        options = question.find_elements(By.CSS_SELECTOR, "label.option")
        if options:
            options[0].click()
        elif question.find_elements(By.CSS_SELECTOR, "input"):
            question.find_element(By.CSS_SELECTOR, "input").send_keys("5" if "hours" in question.text else "40")
    assert page.send() == "thanks"
    sent = driver.execute_script("return performance.getEntriesByType('resource').map(({name}) => name).filter((n) => n.includes('/api/'))")
    assert sent == []
    assert driver.execute_script("return Object.keys(localStorage).length") == 1  # of the frame's own, gone with it
    driver.switch_to.default_content()
    assert driver.execute_script("return Object.keys(localStorage)") == []
    assert _kept(site) == before
    driver.refresh()
    driver.switch_to.frame(driver.find_element(By.CSS_SELECTOR, "iframe.phone"))
    assert page.step("loading") == "consent"
    driver.switch_to.default_content()


def _kept(site: Any) -> list[Any]:
    """All that a server keeps of what people send."""
    with contextlib.closing(sqlite3.connect(site.server.db)) as db:
        return [
            db.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
            for table in ("submissions", "intake", "withdrawn", "invitations", "surveys")
        ]


def test_the_page_of_a_preview_asks_nobody_anything_outside_of_its_frame(writer: Writer, site: Any) -> None:
    path = writer.open(HABITS.read_text())
    writer.driver.get(f"{site.url}{path}/preview/page")
    patient(writer.driver).until(lambda d: "shown in the page of its draft" in d.find_element(By.TAG_NAME, "main").text)


def in_frame(driver: Chrome, text: str) -> None:
    """Waits until the preview beside the fields shows this among its questions."""

    def shown(d: Chrome) -> bool:
        d.switch_to.default_content()
        d.switch_to.frame(d.find_element(By.CSS_SELECTOR, ".trying iframe"))
        return text in d.find_element(By.ID, "questions").text

    try:
        patient(driver).until(shown)
    finally:
        driver.switch_to.default_content()


HELPED = HABITS.read_text().replace("layout: steps", "access: invited\ngroups: [North, South]")


def test_the_preview_beside_the_fields_follows_them_and_never_takes_the_focus(writer: Writer) -> None:
    driver = writer.driver
    with layout.screen(driver, 1280):
        writer.open(HELPED)
        writer.unfolded("title").click()
        in_frame(driver, "Do you smoke?")
        assert driver.switch_to.active_element.get_attribute("id") == "title"
        before = writer.revision()
        writer.type(driver.find_element(By.ID, "questions-0-help"), "Pipes, too.")
        writer.unfolded("contact").click()
        writer.kept(before)
        in_frame(driver, "Pipes, too.")
        assert driver.switch_to.active_element.get_attribute("id") == "contact"
        writer.write("questions-0-section_title", "Habits of yours")
        in_frame(driver, "Habits of yours")
        writer.write("questions-0-id", "two words")
        assert "Fix the problems above" in writer.shows("#tried p").text
        writer.write("questions-0-id", "smokes")
        in_frame(driver, "Habits of yours")


CONDITIONS = """\
  - id: last
    text: Why?
    type: yes_no
    show_if: {any: [{question: smokes, is: ["yes"]}, {all: [{question: age, at_least: 30}, {question: mood, is: [good]}]}]}
translations:
"""


def test_the_editor_can_be_read_and_used_by_everybody_at_every_width(writer: Writer) -> None:
    driver = writer.driver
    path = writer.open(HELPED.replace("translations:\n", CONDITIONS))
    for width, scheme in ((320, "dark"), (360, "light"), (1280, "light"), (1440, "dark")):
        with layout.screen(driver, width, scheme):
            driver.execute_script("for (const details of document.querySelectorAll('details')) details.open = true")
            frame = driver.find_element(By.CSS_SELECTOR, ".trying iframe")
            if width > 1000:
                in_frame(driver, "Do you smoke?")
            else:  # what is not shown is not loaded
                assert driver.execute_script("return arguments[0].contentDocument.URL", frame) == "about:blank"
            assert (path, width, layout.faults(driver), axe.findings(driver)) == (path, width, [], [])
