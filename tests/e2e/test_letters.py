"""The page of letters in a browser: whom a researcher writes to leaves it in files alone, and in no request and no storage."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Callable
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from tests.kit.issuer import issued
from tests.kit.pages import axe, layout
from tests.kit.pages.researcher import Researcher
from tests.kit.pages.traces import LOGS, requests_of, traces
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, USER

from deniable.survey import Survey
from deniable.wire.access_codes import invitation_hash, read
from deniable.wire.link import Link

pytestmark = pytest.mark.browser
SECRETS = ("kanary", "robin", "example.org", "Zaunkönig", "زينب")
LIST = "mail;name;town\nkanary@example.org;Zaunkönig;Ulm\nno address;;\nrobin@example.org;زينب;=1\nKANARY@example.org;x;\n"
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "letters",
        "title": "Letters",
        "about": "Who asks, and why.",
        "epsilon": 1,
        "access": "invited",
        "questions": [{"id": "q", "text": "Q?", "type": "yes_no"}],
    }
)
HELP = "These words are replaced for each person: {"  # the one line whose braces are meant
LEAK = """
  addEventListener("input", ({ target }) => {
    if (target.id !== "list") return;
    fetch(`/healthz?list=${encodeURIComponent(target.value)}`);
    fetch("/healthz", { method: "POST", body: target.value });
    localStorage.list = target.value;
  }, true);
"""


@pytest.fixture(scope="module")
def survey(site: Any) -> Survey:
    published: Survey = site.server.publish(issued(SURVEY))
    return published


@pytest.fixture
def ada(new_browser: Callable[..., Chrome], site: Any, tmp_path: Path) -> Researcher:
    """Logged in, in a browser that notes every request."""
    driver = new_browser(capabilities=LOGS)
    driver.get(f"{site.url}/login?next=/manage")
    driver.find_element(By.ID, "user").send_keys(USER)
    driver.find_element(By.ID, "password").send_keys(PASSWORD)
    driver.find_element(By.ID, "submit").click()
    patient(driver).until(lambda each: each.title == "Surveys")
    return Researcher(driver, site.server, tmp_path)


def begin(ada: Researcher, survey: Survey, count: int) -> None:
    """From the invite page to the page of letters."""
    ada.driver.get(f"{ada.server.url}/manage/surveys/{survey.id}/invite")
    field = ada.driver.find_element(By.NAME, "count")
    field.clear()
    field.send_keys(str(count))
    ada.click("Write to people", "Letters: write to people")
    patient(ada.driver).until(lambda each: each.find_element(By.ID, "letters").is_displayed())


def enter(ada: Researcher, **fields: str) -> None:
    """Writes into fields by their ids, as a paste does."""
    for key, text in fields.items():
        script = "const [field, text] = arguments; field.value = text; field.dispatchEvent(new InputEvent('input', { bubbles: true }))"
        ada.driver.execute_script(script, ada.driver.find_element(By.ID, key), text)


def press(ada: Researcher, id_: str) -> str:
    """Presses a button; gives the problem that the page shows, empty if there is none."""
    ada.driver.execute_script("arguments[0].click()", ada.driver.find_element(By.ID, id_))
    return str(ada.driver.find_element(By.ID, "problem").text)


def rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


def leaks(ada: Researcher) -> list[str]:
    """Where a name or an address is, of all that left the page or stayed in the browser."""
    requests = requests_of(ada.driver)
    everything = {f"request {each['url']}": json.dumps(each, ensure_ascii=False) for each in requests}
    everything |= traces(ada.driver, requests)
    return [where for where, text in everything.items() if any(secret.casefold() in text.casefold() for secret in SECRETS)]


def test_the_list_leaves_the_browser_in_files_alone(ada: Researcher, site: Any, survey: Survey) -> None:
    begin(ada, survey, 4)
    requests_of(ada.driver)  # those that led here
    enter(ada, list=LIST, sender="Lab <lab@example.org>", subject="For {name}", text="Dear {name},\n{link}\n{town}")
    assert ada.text.count("Line 3 has no @: no address") == 1
    assert "Line 5 repeats the address of line 2: KANARY@example.org" in ada.text
    assert "2 people, 4 codes." in ada.text
    assert press(ada, "save-messages") == ""
    with zipfile.ZipFile(io.BytesIO(ada.file("letters-invitations.zip"))) as archive:
        mails = [message_from_bytes(archive.read(name), policy=policy.default) for name in archive.namelist()]
    assert press(ada, "save-table") == ""
    people = rows(ada.file("letters-invitations.csv"))
    assert press(ada, "save-spare") == ""
    spare = rows(ada.file("letters-invitations-spare.csv"))
    assert [(row["address"], row["name"], row["town"]) for row in people] == [
        ("kanary@example.org", "Zaunkönig", "Ulm"),
        ("robin@example.org", "زينب", "'=1"),
    ]
    assert [mail["To"].addresses[0].addr_spec for mail in mails] == [row["address"] for row in people]
    assert [mail.get_content().split() for mail in mails] == [
        ["Dear", f"{row['name']},", row["link"], row["town"].removeprefix("'")] for row in people
    ]
    links = [Link.parse(row["link"]) for row in (*people, *spare)]
    assert len({link.code for link in links}) == 4
    with site.server.store() as store:
        assert all(store.invitations.has("letters", invitation_hash("letters", read(str(link.code)))) for link in links)
    assert requests_of(ada.driver) == []
    ada.driver.find_element(By.LINK_TEXT, "Back to the survey").click()
    ada.arrives("Letters: invite")
    assert leaks(ada) == []


def test_a_page_that_sends_or_keeps_the_list_is_noticed(ada: Researcher, survey: Survey) -> None:
    begin(ada, survey, 4)
    ada.driver.execute_cdp_cmd("Runtime.evaluate", {"expression": LEAK})
    requests_of(ada.driver)
    enter(ada, list=LIST)
    patient(ada.driver).until(lambda each: each.execute_script("return localStorage.list"))
    found = leaks(ada)
    assert any(where.startswith("request") for where in found)
    assert any(not where.startswith("request") for where in found)


def test_each_problem_is_said_beside_the_field_to_change_and_saves_nothing(ada: Researcher, survey: Survey, tmp_path: Path) -> None:
    begin(ada, survey, 2)
    three = "ada@example.org, Ada\nbob@example.org, Bob\neve@example.org, Eve"
    assert press(ada, "save-table") == "Choose a list with at least one address."
    enter(ada, list=three)
    needed = "3 codes are needed, and this page has 2: shorten the list by 1, or make more codes."
    assert f"3 people, 2 codes. {needed}" in ada.text
    for button in ("save-table", "save-messages"):
        assert press(ada, button) == needed
    enter(ada, list="ada@example.org, Ada\nbob@example.org", text="Dear {name}, {town}")
    for fields, problem, field in (
        ({}, "Your list has no column {town}.", "text"),
        ({"text": "Dear {name}"}, "The text must have {link} where each person's link goes.", "text"),
        ({"text": "Dear {name}: {link}"}, "Line 2 of your list has nothing for {name}. Fill it in, or leave {name} out.", "text"),
        ({"text": "Hello: {link}"}, "Enter your e-mail address.", "sender"),
        ({"subject": " ", "sender": "lab@example.org"}, "Write a subject.", "subject"),
    ):
        enter(ada, **fields)
        assert press(ada, "save-messages") == problem
        assert ada.driver.switch_to.active_element.get_attribute("id") == field
        assert len(ada.driver.find_elements(By.CSS_SELECTOR, "[aria-invalid]")) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_reminder_goes_to_the_same_list_with_or_without_links(ada: Researcher, survey: Survey, tmp_path: Path) -> None:
    ada.driver.get(f"{ada.server.url}/manage/surveys/{survey.id}/invite")
    ada.click("write a reminder", "Letters: write a reminder")
    file = tmp_path / "list.csv"
    file.write_text("address,name,link\nada@example.org,Ada,https://x.example/s/letters#code=A\n", encoding="utf-8-sig")
    ada.driver.find_element(By.ID, "file").send_keys(str(file))
    patient(ada.driver).until(lambda each: "1 person." in each.find_element(By.ID, "summary").text)
    enter(ada, sender="lab@example.org")
    assert press(ada, "save-messages") == ""
    enter(ada, text="{link}")
    assert ada.driver.execute_script("return document.getElementById('preview').textContent").endswith("#code=A")
    with zipfile.ZipFile(io.BytesIO(ada.file("letters-reminders.zip"))) as archive:
        (mail,) = [message_from_bytes(archive.read(name), policy=policy.default) for name in archive.namelist()]
    assert "If you have answered already" in mail.get_content()
    assert "code=" not in mail.get_content()


def test_the_pages_fit_a_phone_have_no_fault_and_need_no_mouse(ada: Researcher, survey: Survey) -> None:
    driver = ada.driver

    def look() -> None:
        driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = !one.closest('header')")
        for width in (360, 1280):
            with layout.screen(driver, width):
                faults = [fault for fault in layout.faults(driver) if HELP not in fault]
                assert (width, faults, axe.findings(driver)) == (width, [], [])

    driver.get(f"{ada.server.url}/manage/surveys/{survey.id}/invite/reminder")
    patient(driver).until(lambda each: each.find_element(By.ID, "letters").is_displayed())
    look()
    begin(ada, survey, 3)
    look()
    field = driver.find_element(By.ID, "list")
    field.send_keys("ada@example.org, Ada", Keys.ENTER, "x" * 60)
    order = []
    for _ in range(9):
        driver.switch_to.active_element.send_keys(Keys.TAB)
        order.append(driver.switch_to.active_element.get_attribute("id") or driver.switch_to.active_element.tag_name)
    assert order == ["subject", "text", "summary", "sender", "save-messages", "save-table", "save-spare", "summary", "codes"]
    press(ada, "save-messages")
    look()
