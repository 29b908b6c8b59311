"""A whole study in one browser, from single sign-on to the comparison of two waves: no step needs a terminal, the API or the database.

Only what an operator does at the installation is done beside the pages: a server that knows a login provider.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from email import message_from_bytes, policy
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select
from tests.kit.pages.page import Page
from tests.kit.pages.researcher import Researcher
from tests.kit.pages.traces import LOGS, requests_of
from tests.kit.pages.visits import Visit
from tests.kit.patience import patient
from tests.kit.servers.login_provider import RealProvider, real_provider, settings_file
from tests.kit.servers.process import ServerProcess

from deniable.wire.link import Link

pytestmark = pytest.mark.browser

PEOPLE = ("kanary@example.org", "robin@example.org", "wren@example.org")
TITLE = "Sleep and shifts"
PILLS, MOOD = "Did you take something to fall asleep?", "How often were you"
SETTINGS = """\
create_accounts = true
label = "Log in with the university"
[roles]
claim = "groups"
operators = ["survey-admins"]
"""


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[RealProvider]:
    with real_provider(tmp_path) as provider:
        yield provider


@pytest.fixture
def eve(tmp_path: Path, provider: RealProvider, new_browser: Callable[..., Chrome]) -> Iterator[Researcher]:
    """A researcher whom the provider knows and the server does not; the server is on another site than the provider."""
    provider.person("s-1", preferred_username="eve", groups=["survey-admins"])
    server = ServerProcess(tmp_path)
    server.url = f"http://localhost:{server.port}"
    server.start("--public-url", server.url, "--sso", str(settings_file(tmp_path, provider.url, SETTINGS)))
    try:
        yield Researcher(new_browser(capabilities=LOGS), server, tmp_path)
    finally:
        server.close()
    assert "Traceback" not in server.log.read_text()


def test_from_an_idea_to_the_second_wave_without_a_terminal(eve: Researcher) -> None:
    logs_in_for_the_first_time(eve)
    sees_the_finished_sample(eve)
    writes_a_survey(eve)
    chooses_protection_in_words(eve)
    looks_at_the_preview(eve)
    answers_a_test_run(eve)
    simulates_people(eve)
    publishes(eve)
    answer_all(eve, invites_by_mail(eve), in_a_kiosk=True)
    nobody_sees_results_yet(eve)
    closes(eve)
    reads_results_and_a_cross_table(eve)
    downloads_everything(eve)
    reads_the_documents_for_an_ethics_board(eve)
    everybody_reads_the_results(eve)
    begins_the_second_wave(eve)
    answer_all(eve, invites_by_mail(eve))
    closes(eve)
    compares_both_waves(eve)


def logs_in_for_the_first_time(eve: Researcher) -> None:
    """The first login makes the account, and the provider's claims make it an operator's."""
    eve.driver.get(f"{eve.server.url}/manage")
    eve.driver.find_element(By.LINK_TEXT, "Log in with the university").click()
    patient(eve.driver).until(lambda driver: driver.find_elements(By.NAME, "sub"))
    eve.driver.find_element(By.NAME, "sub").send_keys("s-1")
    eve.driver.find_element(By.CSS_SELECTOR, "form button").click()
    eve.arrives("Surveys")
    assert eve.driver.find_element(By.CSS_SELECTOR, "details.account summary").text == "eve"
    assert "People" in eve.driver.find_element(By.CSS_SELECTOR, "header nav").text


def sees_the_finished_sample(eve: Researcher) -> None:
    assert "First steps" in eve.text
    eve.click("a sample study with 1,000 simulated people", "SIMULATED: About your studies: results")
    eve.reads("aside.trial", "Simulated data: no person has given these answers.")
    assert "Have you handed in work after its deadline this term?" in eve.text
    go_home(eve)


def writes_a_survey(eve: Researcher) -> None:
    eve.click("Write", "New survey")
    eve.begin()
    for field, text in {"title": TITLE, "about": "The works council asks how you sleep.", "contact": "Eve, eve@example.org"}.items():
        eve.put(field, text)
    eve.press("add")
    for field, text in {"type": "yes_no", "id": "pills", "text": PILLS}.items():
        eve.put(f"questions-0-{field}", text)
    eve.press("add")
    block = {"type": "rating", "id": "mood", "text": MOOD, "options": "rarely\noften", "items": "tired: tired\ncalm: calm"}
    for field, text in block.items():
        eve.put(f"questions-1-{field}", text)
    settings = {"epsilon": "4", "groups": "Day shift\nNight shift", "access": "invited", "release": "close", "results": "public"}
    for field, text in {**settings, "batch": "3", "accept_small_batches": "on", "id": "sleep"}.items():
        eve.put(field, text)
    patient(eve.driver).until(lambda driver: "points" in driver.find_element(By.ID, "to-do").text)
    eve.reads("#saved", "Saved ")
    assert eve.driver.find_element(By.NAME, "results").get_attribute("value") == "public"


def chooses_protection_in_words(eve: Researcher) -> None:
    """A level and a number of people; the page plans epsilon, questions for each person and precision."""
    eve.unfolded("n")
    eve.click("Choose protection in words", f"{TITLE}: protection")
    eve.driver.find_element(By.CSS_SELECTOR, "[name=level][value=medium]").click()
    eve.reads("#proposal", "Medium protection")
    number = eve.driver.find_element(By.NAME, "n")
    eve.type(number, "800")
    eve.reads("#proposal", "for 800 people")
    eve.driver.find_element(By.NAME, "together").click()
    patient(eve.driver).until(lambda driver: "together=" in driver.current_url)
    assert "points for the least precise question" in eve.reads("section[aria-labelledby=proposal]", "±")
    eve.click("Apply to the draft", TITLE)
    eve.reads("main", "Protection is medium now.")
    eve.go("Plan", f"{TITLE}: plan")
    assert "How precise a share will be" in eve.text


def looks_at_the_preview(eve: Researcher) -> None:
    eve.go("Preview", f"{TITLE}: preview")
    eve.driver.switch_to.frame(eve.driver.find_element(By.CSS_SELECTOR, "iframe.phone"))
    assert Page(eve.driver).step("loading") == "consent"
    assert TITLE in Page(eve.driver).text()
    eve.driver.switch_to.default_content()


def answers_a_test_run(eve: Researcher) -> None:
    eve.go("Test", f"{TITLE}: test")
    eve.click("Start a test run", f"{TITLE}: test")
    link = str(eve.shows("a[target=_blank][href*='/s/test-']").get_attribute("href"))
    with eve.somebody_else() as page:
        answers(page, link)
        assert "nothing here counts" in page.driver.find_element(By.CSS_SELECTOR, ".trial").text
    eve.driver.refresh()
    assert eve.reads("[data-name=Records]", "1") == "1"


def simulates_people(eve: Researcher) -> None:
    number = eve.driver.find_element(By.ID, "n")
    number.clear()
    number.send_keys("200")
    eve.click("Simulate", f"SIMULATED: {TITLE}: results")
    assert "200 records" in eve.text
    eve.reads("aside.trial", "Simulated data: no person has given these answers.")
    eve.driver.find_element(By.LINK_TEXT, "Back to the test run").click()
    eve.arrives(f"{TITLE}: test")
    eve.go("Fields", TITLE)


def publishes(eve: Researcher) -> None:
    eve.click("Publish", f"{TITLE}: publish")
    assert "public: everyone can read them" in eve.text
    eve.click("Publish for good", f"{TITLE}: invite")


def invites_by_mail(eve: Researcher) -> list[str]:
    """Merges codes with addresses in the browser; returns the link in each message. The server gets no address."""
    eve.choose(group="Night shift")
    count = eve.driver.find_element(By.ID, "count")
    count.clear()
    count.send_keys(str(len(PEOPLE)))
    eve.click("Write to people", f"{TITLE}: write to people")
    patient(eve.driver).until(lambda driver: driver.find_element(By.ID, "letters").is_displayed())
    eve.driver.find_element(By.ID, "list").send_keys("\n".join(PEOPLE))
    eve.reads("#summary", f"{len(PEOPLE)} people, {len(PEOPLE)} codes.")
    eve.driver.find_element(By.ID, "sender").send_keys("eve@example.org")
    eve.driver.execute_script("arguments[0].click()", eve.driver.find_element(By.ID, "save-messages"))
    with zipfile.ZipFile(io.BytesIO(eve.file(f"{survey_of(eve)}-invitations.zip"))) as files:
        mails = [message_from_bytes(files.read(name), policy=policy.default) for name in files.namelist()]
    assert [mail["To"].addresses[0].addr_spec for mail in mails] == list(PEOPLE)
    sent = json.dumps(requests_of(eve.driver))
    assert survey_of(eve) in sent  # the control: these are the requests
    assert [address for address in PEOPLE if address.partition("@")[0] in sent] == []
    eve.click("Back to the survey", f"{TITLE}: invite")
    return [next(word for word in mail.get_content().split() if word.startswith(eve.server.url)) for mail in mails]


def answer_all(eve: Researcher, links: list[str], *, in_a_kiosk: bool = False) -> None:
    """Everybody answers on a device of their own; the last one types the code into a shared device instead, if there is one."""
    kiosk = str(eve.driver.find_element(By.CSS_SELECTOR, f"#kiosk-{survey_of(eve)}-1").get_attribute("value"))
    for link in links[: -1 if in_a_kiosk else None]:
        with eve.somebody_else() as page:
            answers(page, link)
    if in_a_kiosk:
        with eve.somebody_else() as page:
            answers(page, kiosk, code=str(Link.parse(links[-1]).code))


def answers(page: Page, link: str, *, code: str = "") -> None:
    """One person, from the link to the thanks."""
    assert page.open(link) == "consent"
    if code:
        page.driver.find_element(By.CSS_SELECTOR, "#consent [data-field=code]").send_keys(code)
    for group in page.driver.find_elements(By.CSS_SELECTOR, "#consent select"):  # a link of a test run names no group
        if group.is_displayed():
            Select(group).select_by_visible_text("Night shift")
    page.press_until("agree", "consent")
    assert page.step("consent") == "questions"
    assert MOOD in page.text()
    Visit(page, None).answer_all()
    page.press_until("next", "questions")
    assert page.step("questions") == "review"
    page.press_until("send", "review")
    assert page.step("review") == "thanks"


def nobody_sees_results_yet(eve: Researcher) -> None:
    """Before the release the researcher gets a preview with simulated answers and no row, and everybody an empty page."""
    eve.go("Results", f"{TITLE}: simulated results")
    assert "Preview with simulated answers" in eve.text
    eve.go("Data", f"{TITLE}: data")
    assert "0 records" in eve.text
    with eve.somebody_else() as page:
        page.driver.get(f"{eve.server.url}/s/sleep/results")
        assert "No results are shown yet." in page.text()


def closes(eve: Researcher) -> None:
    eve.go("Settings", f"{TITLE}: settings")
    eve.driver.find_element(By.XPATH, "//summary[.='Close the survey']").click()
    eve.driver.find_element(By.XPATH, "//button[.='Close for good']").click()
    eve.reads("[aria-labelledby=closing]", "This survey is closed")


def reads_results_and_a_cross_table(eve: Researcher) -> None:
    eve.go("Results", f"{TITLE}: results")
    assert "simulated" not in eve.text
    assert f"{len(PEOPLE)} records" in eve.text
    assert PILLS in eve.text
    eve.go("Cross table", f"{TITLE}: cross table")
    eve.chooses(rows="pills", columns="tired")
    assert "often" in eve.reads("table.crossed", "often")


def downloads_everything(eve: Researcher) -> None:
    eve.go("Data", f"{TITLE}: data")
    assert f"{len(PEOPLE)} records" in eve.text
    eve.driver.find_element(By.CSS_SELECTOR, "[formaction$='bundle.zip']").click()
    with zipfile.ZipFile(io.BytesIO(eve.file("sleep-bundle.zip"))) as files:
        assert len(files.read("rows.csv").splitlines()) == 1 + len(PEOPLE)


def reads_the_documents_for_an_ethics_board(eve: Researcher) -> None:
    eve.go("Questions", f"{TITLE}: questions")
    eve.click("Ethics documents", f"{TITLE}: ethics")
    assert PILLS in eve.text


def everybody_reads_the_results(eve: Researcher) -> None:
    """The server keeps the page that it showed before the close for a minute."""

    def shown(driver: Chrome) -> bool:
        driver.get(f"{eve.server.url}/s/sleep/results")
        return f"Records: {len(PEOPLE)}." in page.text()

    with eve.somebody_else() as page:
        patient(page.driver).until(shown)
        assert PILLS in page.text()


def begins_the_second_wave(eve: Researcher) -> None:
    eve.go("Settings", f"{TITLE}: settings")
    eve.click("New wave", TITLE)
    assert f"This draft will be wave 2 of {TITLE}." in eve.reads("#wave", "wave 2")
    publishes(eve)
    assert survey_of(eve) == "sleep-2"


def compares_both_waves(eve: Researcher) -> None:
    eve.go("Results", f"{TITLE}: results")
    eve.go("Waves", f"{TITLE}: waves")
    waves = [row.text.partition(":")[0] for row in eve.driver.find_elements(By.CSS_SELECTOR, "[aria-labelledby=study] li")]
    assert waves == ["Wave 1", "Wave 2"]
    compared = Select(eve.driver.find_element(By.NAME, "with")).first_selected_option
    assert compared.get_attribute("value") == "sleep"
    assert len(eve.driver.find_elements(By.CSS_SELECTOR, "section.card.question")) == 3


def go_home(eve: Researcher) -> None:
    eve.driver.find_element(By.CSS_SELECTOR, "header .home").click()
    eve.arrives("Surveys")


def survey_of(eve: Researcher) -> str:
    """The survey whose page is open."""
    return urlsplit(eve.driver.current_url).path.split("/")[3]
