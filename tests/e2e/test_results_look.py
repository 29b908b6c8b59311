"""How the researchers' pages look: on a phone and on a desk, light and dark, on paper; what axe finds, and where marks and words stand."""

from __future__ import annotations

import base64
import itertools
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.axe import drawn, findings
from tests.kit.pages.layout import screen, sticking_out, style, too_small
from tests.kit.patience import patient

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server import create_app
from deniable_server.config import Config
from deniable_server.store.teams import Team
from deniable_server.store.webhooks import EVENTS, ReceiverState, Webhook

pytestmark = pytest.mark.browser

LONG = "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz"
GROUPS = ("North", f"South {LONG}", "مستشفى")
QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "town", "text": f"Where do you live: {LONG}?", "type": "choice", "options": [LONG, "a town", "مدينة"], "required": False},
    {"id": "used", "text": "Which?", "type": "multi_choice", "options": ["tea", LONG], "required": False},
    {"id": "sleep", "text": "How did you sleep?", "type": "scale", "options": ["badly", "so so", "well"]},
    {"id": "income", "text": "What do you earn?", "type": "number", "low": -20000, "high": 1000000, "levels": 40},
    {"id": "hours", "text": "How many hours?", "type": "number", "low": 0, "high": 14, "levels": 2},
    {"id": "walk", "text": f"How far do you walk, {LONG}?", "type": "number", "low": -1, "high": 99},
    {"id": "rent", "text": "What is your rent?", "type": "number", "low": 0, "high": 3000, "required": False},
]
HABITS = (Path(__file__).parents[2] / "examples" / "habits.yaml").read_text()
LOOKS = tuple(itertools.product((360, 1280), ("light", "dark")))
ALL = "ACCESSIBILITY" in os.environ
"""Whether every page is looked at in all looks; else each in one of them. `make long NAME=accessibility` does."""


def answered(site: Any, survey: Survey, submission: Submission) -> None:
    """As if devices had sent these records one by one: what comes with a key is an organisation's, and the pages say so."""
    with site.server.store() as store:
        store.submissions.add(survey.id, submission)


@pytest.fixture(scope="module")
def surveys(site: Any) -> list[Survey]:
    """One with all types and groups, of which one has few people, so that estimates lie far outside; and one nobody has answered."""
    full = site.publish(id="look", title=f"All types {LONG}", questions=QUESTIONS, groups=list(GROUPS), epsilon=6, results="public")
    for group, n in zip(GROUPS, (2000, 500, 5), strict=True):
        bits = [randomize(q.channel, np.arange(n) % q.k, os_words) for q in full.items]
        answered(site, full, Submission(os.urandom(16), full.digest, n, pack(full, bits), group))
    failing = Webhook("wh_0", "look", f"https://example.org/{'x' * 200}", tuple(EVENTS), "2026-01-01", "2026-01-02")
    with site.server.store() as store:
        store.webhooks.add(failing, bytes(32), ReceiverState(True, False, 0))
    again = site.publish(id="again", title=f"Again {LONG}", questions=[*QUESTIONS[:2], *QUESTIONS[3:]], epsilon=5)
    bits = [randomize(q.channel, np.arange(900) % q.k, os_words) for q in again.items]
    answered(site, again, Submission(os.urandom(16), again.digest, 900, pack(again, bits)))
    return [full, site.publish(id="look0", title="Nobody yet", questions=QUESTIONS, epsilon=6)]


@pytest.fixture
def ada(browser: Chrome, site: Any, surveys: list[Survey]) -> Iterator[Chrome]:
    """A browser of a researcher who is logged in."""
    browser.get(f"{site.url}/login")
    browser.find_element(By.ID, "user").send_keys("ada")
    browser.find_element(By.ID, "password").send_keys("correct horse battery")
    browser.find_element(By.CSS_SELECTOR, "[type=submit]").click()
    patient(browser).until(lambda driver: driver.title == "Surveys")
    yield browser
    browser.delete_all_cookies()


def unfold(driver: Chrome) -> None:
    driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")


PAGES = (
    "/manage",
    "/manage/surveys/look",
    "/manage/surveys/look?group=مستشفى&method=wald",
    "/manage/surveys/look/groups",
    "/manage/surveys/look/among",
    "/manage/surveys/look/among?among=smokes&answer=yes",
    "/manage/surveys/look/among?among=town&confidence=0.8",
    "/manage/surveys/look0",
    "/manage/new",
    "/manage/surveys/look/questions",
    "/manage/surveys/look/plan?n=300",
    "/manage/surveys/look/invite",
    "/manage/surveys/look/settings",
    "/manage/surveys/look/watch",
    "/manage/surveys/look0/watch",
    "/manage/surveys/look/crosstab?rows=town&columns=sleep",
    "/manage/surveys/look/crosstab?rows=smokes&columns=sleep&layer=town&percent=all",
    "/manage/surveys/look/crosstab?confidence=7",
    "/manage/surveys/look/model?outcome=smokes&predictor=sleep",
    "/manage/surveys/look/model",
    "/manage/surveys/look/waves",
    "/manage/surveys/look/waves?with=look0",
    "/manage/surveys/look/waves?with=again",
    "/manage/surveys/look/data",
    "/manage/surveys/look/members",
    "/manage/surveys/look/keys",
    "/manage/surveys/look/webhooks",
    "/manage/people",
    "/manage/audit",
    "/manage/account",
    "/manage/help",
    "/manage/keys",
    "/manage/account/second-factor",
    "/manage/drafts/{draft}",
    "/manage/drafts/{wrong}",
    "/manage/drafts/{wrong}/source",
    "/manage/drafts/{draft}/publish",
    "/manage/drafts/{draft}/preview",
    "/manage/drafts/{draft}/plan",
    "/manage/drafts/{draft}/protection",
    "/manage/drafts/{draft}/library",
    "/manage/drafts/{draft}/sharing",
    "/manage/drafts/{draft}/translations",
    "/manage/drafts/{draft}/tags",
    "/manage/drafts/{draft}/test",
    "/manage/drafts/{draft}/ethics",
    "/manage/drafts/{draft}/read",
    "/manage/surveys/look/ethics",
    "/manage/surveys/look/tags",
    "/manage/tags",
    "/manage/teams",
    "/manage/teams/{team}",
    "/manage/sample",
    "/manage/guide",
    "/manage/guide/guide/writing",
    "/manage/guide/reference/privacy",
)
PUBLIC = ("/s/look/results", "/api/v1/")
"""Pages for everybody, which have headers of their own."""
FILES = {
    "among.chart",
    "among.download",
    "building.download",
    "building.download_model",
    "building.download_trends",
    "building.download_waves",
    "building.waves_chart",
    "copies.source",
    "data.download",
    "drafting.download",
    "ethics.document",
    "ethics.draft_document",
    "inviting.reminder",  # of surveys by invitation: test_letters.py
    "preview.definition",
    "preview.page",  # respondents' own
    "researchers.chart",
    "researchers.download",
    "researchers.group_file",
    "translations.download",
}


def test_every_page_of_researchers_is_in_the_list(tmp_path: Path) -> None:
    """So a new page is looked at, too."""
    routes = create_app(Config(tmp_path / "deniable.db", "x" * 40)).url_map
    matched = {routes.bind("localhost").match(path.partition("?")[0].format(draft="d", wrong="d", team="t"))[0] for path in PAGES}
    pages = {rule.endpoint for rule in routes.iter_rules() if rule.rule.startswith("/manage") and "GET" in (rule.methods or ())}
    assert pages - matched - FILES == set()


@pytest.fixture(scope="module")
def drafts(site: Any) -> Iterator[dict[str, str]]:
    """A draft of all types in several languages, one with mistakes, and a team; gone afterwards, for other tests list what they began."""
    team = Team(f"Analysts of {LONG}", {})
    with site.server.store() as store:
        begun = {
            "draft": store.drafts.begin("ada", HABITS).id,
            "wrong": store.drafts.begin("ada", HABITS.replace("type: scale", "type: scales")).id,
        }
        store.teams.create(team.name)
        store.teams.join(team.name, "ada", manager=True)
    yield {**begun, "team": team.id}
    with site.server.store() as store:
        store.teams.remove(team.name)
        for draft_id in begun.values():
            store.drafts.remove(draft_id)


@pytest.mark.parametrize(("place", "path"), list(enumerate(PAGES + PUBLIC)))
def test_no_page_of_researchers_has_a_fault(ada: Chrome, site: Any, drafts: dict[str, str], place: int, path: str) -> None:
    ada.get(f"{site.url}{path.format(**drafts)}")
    unfold(ada)
    found = []
    for width, scheme in LOOKS if ALL else LOOKS[place % len(LOOKS) :][:1]:
        with screen(ada, width, scheme):
            found += [f"{width} px, {scheme}: {finding}" for finding in findings(ada) if not drawn(ada, finding)]
    with screen(ada, 320):
        found += [*sticking_out(ada), *too_small(ada), *scrolled(ada), *misplaced(ada)]
    with screen(ada, 1280):
        found += [*sticking_out(ada), *scrolled(ada), *misplaced(ada)]
        found += [] if path in PUBLIC else wide_header(ada)
    assert found == []


def scrolled(driver: Chrome) -> list[str]:
    """Boxes whose content is wider than they are, so that a part of it can only be scrolled to."""
    found: list[str] = driver.execute_script(
        """return [...document.querySelectorAll("table, .scroll, details, section")]
             .filter((e) => e.scrollWidth > e.clientWidth + 1 && !e.matches(".guide .scroll"))
             .map((e) => `hidden to the side: ${e.tagName} ${e.className} ${e.getAttribute("aria-label")}`);"""
    )
    return found


def misplaced(driver: Chrome) -> list[str]:
    """Figures that are not at their mark or run out of their chart, labels that are not at theirs, and words that run into each other."""
    found: list[str] = driver.execute_script(
        """
        const out = [], box = (e) => e.getBoundingClientRect();
        for (const row of document.querySelectorAll("table.marks tbody tr:not(.axis)")) {
          const plot = row.querySelector(".plot svg"), figure = row.querySelector("text.figure"), label = row.querySelector("th");
          if (!plot || box(plot).width === 0) continue;
          const mark = box(row.querySelector(".estimate") ?? row.querySelector(".arrow")), area = box(plot), text = box(figure);
          const name = `${label.textContent.trim().slice(0, 20)} ${figure.textContent}`;
          const gap = Math.max(0, mark.left - text.right, text.left - mark.right);
          if (gap > 1 || text.bottom > mark.top + 4 || text.bottom < mark.top - 12) out.push(`figure away from its mark: ${name}`);
          if (text.left < area.left - 1 || text.right > area.right + 1) out.push(`figure runs out of its chart: ${name}`);
          if (text.top < area.top - 1) out.push(`figure in the row above: ${name}`);
          const side = label.getBoundingClientRect();
          const beside = side.right <= area.left + 1 && side.top < mark.bottom && side.bottom > mark.top;
          const above = side.bottom <= area.top + 1 && area.top - side.bottom < 4;
          if (!beside && !above) out.push(`label away from its chart: ${name}`);
        }
        const lines = [...document.querySelectorAll("tr.axis svg, svg.histogram")];
        for (const [line, kind] of lines.flatMap((e) => [[e, ".tick"], [e, ".figure"]])) {
          const texts = [...line.querySelectorAll(`text${kind}`)].map(box).filter(({ width }) => width).sort((a, b) => a.left - b.left);
          const close = texts.slice(1).some((text, i) => text.left < texts[i].right + 2);
          if (close) out.push(`words run into each other: ${line.textContent.trim()}`);
        }
        return out;"""
    )
    return found


def wide_header(driver: Chrome) -> list[str]:
    """Where what stands in the header is not above what stands in the page."""
    ends: list[float] = driver.execute_script(
        """const box = (s) => document.querySelector(s).getBoundingClientRect();
           const card = document.querySelector("main :is(.card, .draft)") ? "main :is(.card, .draft)" : "header .account";
           return [box("header .home").left, box("main h1").left, box("header .account").right, box(card).right];"""
    )
    if abs(ends[0] - ends[1]) < 2 and abs(ends[2] - ends[3]) < 2:
        return []
    return [f"header from {ends[0]} to {ends[2]}, page from {ends[1]} to {ends[3]}"]


@pytest.mark.parametrize(
    ("css", "fault"),
    [
        (".marks .figure { translate: 60px 0 }", "figure away from its mark"),
        (".marks .figure { translate: 0 -24px }", "figure away from its mark"),
        (".marks .figure { font-size: 6rem }", "figure runs out of its chart"),
        (".marks th { position: relative; top: -70px }", "label away from its chart"),
        ("text.tick { font-size: 2.5rem }", "words run into each other"),
        (".bar { max-width: none }", "header from"),
        ("table.marks { min-width: 70rem }", "hidden to the side"),
    ],
)
def test_a_chart_or_header_out_of_place_is_found(ada: Chrome, site: Any, css: str, fault: str) -> None:
    ada.get(f"{site.url}/manage/surveys/look")
    unfold(ada)
    with screen(ada, 1280), style(ada, css):
        found = [*misplaced(ada), *wide_header(ada), *scrolled(ada)]
    assert any(one.startswith(fault) for one in found), found


def test_the_summary_leads_to_each_question(ada: Chrome, site: Any, surveys: list[Survey]) -> None:
    ada.get(f"{site.url}/manage/surveys/look")
    ada.find_element(By.ID, "summary").click()
    links = ada.find_elements(By.CSS_SELECTOR, ".summary tbody a")
    assert [link.text for link in links] == [question.text for question in surveys[0].questions]
    with screen(ada, 360):
        links[-1].click()
        place = "return document.getElementById('q-rent').getBoundingClientRect().top"
        patient(ada).until(lambda driver: -1 < driver.execute_script(place) < 700)


def test_the_whole_link_is_copied_though_only_a_few_digits_of_it_are_shown(ada: Chrome, site: Any, surveys: list[Survey]) -> None:
    ada.get(f"{site.url}/manage/surveys/look/invite")
    digest = surveys[0].digest
    shown = ada.find_element(By.CSS_SELECTOR, ".share").text
    assert digest[:8] in shown
    assert digest[:9] not in shown
    field = ada.find_element(By.ID, "link-look")
    assert not field.is_displayed()
    link = field.get_attribute("value")
    assert link.startswith(f"{site.url}/s/look#digest={digest}")
    ada.execute_script("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    ada.find_element(By.CSS_SELECTOR, "[data-copies=link-look]").click()
    patient(ada).until(lambda driver: driver.execute_script("return window.copied"))
    assert ada.execute_script("return window.copied") == link
    field.find_element(By.XPATH, "..").find_element(By.TAG_NAME, "summary").click()
    assert field.is_displayed()


PHONE = 640
"""CSS pixels that a small phone shows of a page at first."""


def ends_of_first_screen(driver: Chrome) -> dict[str, float]:
    """Where the summary of all results and the sentence of the first answer end, in pixels from the top of the page."""
    found: dict[str, float] = driver.execute_script(
        """scrollTo(0, 0);
           const end = (s) => document.querySelector(s)?.getBoundingClientRect().bottom ?? Infinity;
           return { strip: end(".strip"), said: end(".said") };"""
    )
    return found


def test_the_first_screen_of_a_phone_holds_the_summary_and_the_first_answer(ada: Chrome, site: Any) -> None:
    """And does not where the explanation is unfolded, or the tabs take several lines."""
    with screen(ada, 360):
        ada.get(f"{site.url}/manage/surveys/look")
        ada.execute_script("document.documentElement.style.scrollbarWidth = 'none'")  # a phone's lies over the page
        first = ends_of_first_screen(ada)
        assert 0 < first["strip"] < first["said"] <= PHONE
        with style(ada, ".trail { flex-wrap: wrap } .trail a { padding: 1.5rem }"):
            assert ends_of_first_screen(ada)["said"] > PHONE
        ada.execute_script("document.querySelector('.reading').open = true")
        assert ends_of_first_screen(ada)["said"] > PHONE


def test_the_tab_of_the_page_is_in_sight_on_a_phone(ada: Chrome, site: Any) -> None:
    with screen(ada, 360):
        ada.get(f"{site.url}/manage/surveys/look/settings")
        here = "const here = document.querySelector('.trail [aria-current]').getBoundingClientRect();"
        place = f"{here} return here.left >= 0 && here.right <= innerWidth"
        patient(ada).until(lambda driver: driver.execute_script(place))


FOLDED = "return [...document.querySelectorAll('.question > details')].map((card) => !card.open)"
HOURS = "return document.getElementById('q-hours').closest('details').open"


def test_the_first_five_cards_are_open_and_the_others_have_their_answer_in_a_sentence(ada: Chrome, site: Any) -> None:
    ada.get(f"{site.url}/manage/surveys/look")
    assert ada.execute_script(FOLDED) == [False] * 5 + [True] * 3
    hours = ada.find_element(By.ID, "said-hours")
    assert hours.is_displayed()
    assert hours.text.startswith("The mean is between")


@pytest.mark.parametrize("way", ["#q-hours", "#:~:text=Show%20all%202%20levels"])
def test_a_folded_card_opens_for_whoever_is_led_to_it_or_looks_for_words_in_it(ada: Chrome, site: Any, way: str) -> None:
    ada.get("about:blank")
    ada.get(f"{site.url}/manage/surveys/look{way}")
    patient(ada).until(lambda driver: driver.execute_script(HOURS))


def test_all_cards_open_and_fold_at_once(ada: Chrome, site: Any) -> None:
    ada.get(f"{site.url}/manage/surveys/look")
    ada.find_element(By.ID, "summary").click()
    button = ada.find_element(By.CSS_SELECTOR, "[data-unfolds]")
    for name, folded in (("Open all cards", False), ("Fold all cards", True)):
        patient(ada).until(lambda driver, name=name: button.text == name)
        button.click()
        assert ada.execute_script(FOLDED) == [folded] * 8


SHOWN = "return [document.querySelector('main h1').textContent, document.querySelector('.facts')?.textContent.trim(), location.search]"


def test_what_is_chosen_is_shown_at_once_and_who_chose_stays_where_they_are(ada: Chrome, site: Any) -> None:
    """Also where the choice is refused; the page is the same as the one that the address leads to, and its buttons work."""
    ada.get(f"{site.url}/manage/surveys/look")
    ada.execute_script("window.same = true")
    ada.find_element(By.CSS_SELECTOR, ".choice summary").click()
    field = ada.find_element(By.NAME, "group")
    assert not ada.find_element(By.XPATH, "//button[.='Show']").is_displayed()
    field.send_keys("N")
    patient(ada).until(lambda driver: "group=North" in driver.current_url)
    patient(ada).until(lambda driver: driver.execute_script(SHOWN)[1] == "North")
    assert ada.execute_script("return [document.activeElement.name, window.same]") == ["group", True]
    assert ada.find_element(By.CSS_SELECTOR, ".choice form").is_displayed()
    ada.find_element(By.CSS_SELECTOR, ".save > summary").click()
    assert ada.find_element(By.CSS_SELECTOR, "[data-png]").is_displayed()
    text = "return document.querySelector('main').textContent"
    here = ada.execute_script(text)
    ada.refresh()
    ada.execute_script("document.querySelectorAll('main [data-unfolds]').forEach((one) => one.remove())")
    assert ada.execute_script("return window.same") is None
    assert _words(ada.execute_script(text)) == _words(here.replace("Open all cards", ""))
    ada.get(f"{site.url}/manage/surveys/look/crosstab?rows=smokes&columns=sleep")
    ada.execute_script("window.same = true")
    assert not ada.find_element(By.NAME, "percent").is_displayed()
    ada.find_element(By.CSS_SELECTOR, ".choice summary").click()
    ada.find_element(By.CSS_SELECTOR, "[name=percent] option[value=all]").click()
    patient(ada).until(lambda driver: "percent=all" in driver.current_url)
    assert ada.find_element(By.NAME, "percent").is_displayed()
    ada.find_element(By.CSS_SELECTOR, "[name=columns] option[value=smokes]").click()
    patient(ada).until(lambda driver: driver.find_elements(By.CSS_SELECTOR, ".problem"))
    assert ada.execute_script("return window.same")


def test_each_row_of_a_chart_has_one_mark_until_more_are_asked_for(ada: Chrome, site: Any) -> None:
    marks = "return [...document.getElementById('q-smokes').closest('section').querySelectorAll('.recorded, .chance')]"
    visible = f"{marks}.map((mark) => getComputedStyle(mark).display !== 'none')"
    ada.get(f"{site.url}/manage/surveys/look")
    assert ada.execute_script(visible) == [False] * 4
    ada.find_element(By.CSS_SELECTOR, ".reading > summary").click()
    ada.find_element(By.ID, "raw-marks").click()
    assert ada.execute_script(visible) == [True] * 4


def printed_pages(driver: Chrome) -> int:
    """How many pages the PDF has that the browser's print makes, on A4."""
    pdf = driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "paperWidth": 8.27, "paperHeight": 11.69})
    return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(pdf["data"])))


METHODS = "return [...document.querySelectorAll('.report .question .method')].filter((e) => e.checkVisibility()).map((e) => e.textContent)"


def test_a_printed_report_has_at_most_one_question_a_page_each_with_its_method(ada: Chrome, site: Any, surveys: list[Survey]) -> None:
    ada.get(f"{site.url}/manage/surveys/look")
    questions = len(surveys[0].questions)
    assert ada.execute_script(METHODS) == []  # on a screen
    pages = printed_pages(ada)
    assert questions < pages <= 3 * questions
    with style(ada, ".report .question { break-before: auto !important }"):  # the control
        assert printed_pages(ada) < pages
    ada.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        methods = ada.execute_script(METHODS)
        breaks = ada.execute_script(
            "return [...document.querySelectorAll('.report .question')].map((e) => getComputedStyle(e).breakBefore)"
        )
    finally:
        ada.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(methods) == questions
    assert set(breaks) == {"page"}
    assert all("ε = " in method and "; n = " in method and "95% intervals" in method for method in methods)


def _words(text: str) -> list[str]:
    return text.split()


def test_on_paper_there_is_nothing_to_press_and_every_figure(ada: Chrome, site: Any) -> None:
    """Folded cards are printed, too; without the rule that opens them they would not be."""
    ada.get(f"{site.url}/manage/surveys/look")
    shown = "return [...document.querySelectorAll('.question > details > :not(summary) text.figure')].map((e) => e.checkVisibility())"
    assert ada.execute_script(shown).count(False) >= 1
    ada.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        pressed = "header, form, .downloads, .share, button, select"
        assert [element.tag_name for element in ada.find_elements(By.CSS_SELECTOR, pressed) if element.is_displayed()] == []
        printed = ada.execute_script(shown)
        assert len(printed) > 10
        assert all(printed)
        with style(ada, "::details-content { content-visibility: hidden !important }"):
            assert not all(ada.execute_script(shown))
    finally:
        ada.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
