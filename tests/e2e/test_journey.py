"""Somebody new does a whole study in one browser: from an invitation to an account, by a survey of all types, to data in every format.

Nothing of it is done beside the pages, but for what other people do: three answer in the browser, and an engineer sends the rest.
"""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import docx
import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.page import Page
from tests.kit.pages.researcher import Researcher
from tests.kit.pages.visits import Visit
from tests.kit.servers.process import ServerProcess

from deniable import SurveyClient
from deniable.bundle import FILES
from deniable.estimate import Analysis, analyse
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable.wire.link import Link
from deniable_server.identity import account_links
from deniable_server.pages import figures

pytestmark = pytest.mark.browser

FILE = """\
deniable: 1
id: campus
title: Life on campus
about: |
  The council of students asks.
  It cannot see what you answer.
contact: Eve Example, eve@example.org
ethics: Board of ethics, no. 7
thanks: Thank you. We tell you in May.
closed: We have heard enough people.
return_link: https://campus.example/back?code=C1
epsilon: 8
access: invited
groups: [North, South]
questions:
  - {id: cheated, text: Did you ever cheat in an exam?, type: yes_no, weight: 3}
  - {id: how, text: "How?", type: choice, options: [by notes, by phone, some other way], show_if: {question: cheated, is: ["yes"]}}
  - {id: used, text: What have you used this year?, type: multi_choice, options: [cannabis, sleeping pills], required: false}
  - {id: stress, text: How stressed are you?, type: scale, options: [not at all, somewhat, very]}
  - id: age
    text: How old are you?
    type: number
    weight: 3
    low: 16
    high: 99
    bins: [{name: under 25, from: 16}, {name: 25 or more, from: 25}]
  - {id: hours, text: How many hours do you sleep?, type: number, low: 0, high: 14, required: false}
translations:
  ar:
    title: الحياة في الحرم الجامعي
    about: |
      يسأل مجلس الطلاب.
      لا يرى المجلس إجاباتكم.
    contact: إيف، eve@example.org
    ethics: لجنة الأخلاقيات، رقم 7
    thanks: شكرا.
    closed: اكتفينا.
    questions:
      cheated: {text: هل غششتم في امتحان؟}
      how: {text: كيف؟, options: [بملاحظات, بالهاتف, بطريقة أخرى]}
      used: {text: ماذا استعملتم هذه السنة؟, options: [القنب, الحبوب المنومة]}
      stress: {text: ما مدى توتركم؟, options: [أبدا, قليلا, كثيرا]}
      age: {text: كم عمركم؟, options: [أقل من 25, 25 أو أكثر]}
      hours: {text: كم ساعة تنامون؟}
"""
WANTED = Survey.from_text(FILE)
PEOPLE = {
    "who cheated": {"cheated": 0, "how": 1, "used": (0,), "stress": 2, "age": "22", "hours": "6"},
    "who did not": {"cheated": 1, "used": (0, 1), "stress": 1, "age": "30", "hours": "7.5"},
    "who says little": {"cheated": 1, "stress": 0, "age": "41"},
}
"""What three people answer: the number of an option, several of them, or what they type."""

SENT = [
    {"cheated": cheated, "how": how, "used": ["cannabis"], "stress": "very", "age": age, "hours": 5}
    for cheated, how in (("yes", "by phone"), ("no", None))
    for age in (20, 50)
] * 15
"""What the engineer sends: mixed, so that a model has something to say."""
N = len(PEOPLE) + len(SENT)
ARRIVED = N // 10 * 10
"""What is shown while the survey is open: the number of records that wait, in steps of ten."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """At an address with a name: browsers make no passkeys for one of numbers."""
    server = ServerProcess(tmp_path)
    server.url = f"http://localhost:{server.port}"
    server.start("--public-url", server.url)
    yield server
    server.stop()
    server.close()
    assert "Traceback" not in server.log.read_text()


def answer(page: Page, link: str, answers: Mapping[str, Any]) -> None:
    """One person, with the own link, from the first page to the last."""
    assert page.open(link) == "consent"
    assert WANTED.about.split("\n")[0] in page.text()
    page.press("agree")
    assert page.step("consent") == "questions"
    texts = {question.text: question.id for question in WANTED.questions}
    seen: list[str] = []
    while open_ones := [one for one in Visit(page, None).questions() if texts[said(one)] not in seen]:
        seen.append(texts[said(open_ones[0])])
        given = answers.get(seen[-1], ())
        if isinstance(given, str):
            open_ones[0].find_element(By.CSS_SELECTOR, "input[type=text]").send_keys(given)
        else:
            for option in (given,) if isinstance(given, int) else given:
                open_ones[0].find_elements(By.CSS_SELECTOR, "label.option")[option].click()
    assert set(answers) <= set(seen)
    assert page.send() == "thanks"
    assert WANTED.thanks in page.text()
    assert page.driver.find_element(By.LINK_TEXT, "Go back to campus.example").get_attribute("href") == WANTED.return_link


def said(question: Any) -> str:
    return str(question.find_element(By.CSS_SELECTOR, "[data-slot=text]").text)


def published(server: ServerProcess) -> Survey:
    """The definition, with the key for tokens that the server has added to it."""
    with server.store() as store:
        return store.surveys.published(WANTED.id).survey


def analysed(server: ServerProcess) -> Analysis:
    """The records that the server counts, in the library's hands."""
    with server.store() as store:
        parts = store.submissions.counts(WANTED.id)
        return analyse(published(server), b"".join(raw for part in parts for raw in store.submissions.reports(WANTED.id, part)))


READERS: Mapping[str, Callable[[Path], int]] = {
    "rows.csv": lambda path: len(pd.read_csv(path)),
    "rows.parquet": lambda path: int(pq.read_table(path).num_rows),
    "rows.sav": lambda path: len(pyreadstat.read_sav(path)[0]),
    "rows.dta": lambda path: len(pyreadstat.read_dta(path)[0]),
    "rows.xlsx": lambda path: openpyxl.load_workbook(path).worksheets[0].max_row - 1,
}
"""How many rows another program than ours finds in each format."""


def test_from_an_invitation_to_data_in_every_format(new_browser: Callable[..., Chrome], server: ServerProcess, tmp_path: Path) -> None:
    eve = Researcher(new_browser(), server, tmp_path)
    makes_an_account(eve)
    writes_a_survey(eve)
    asks_people(eve)
    watches_and_sees_a_preview(eve)
    closes(eve)
    reads_what_came(eve)
    takes_the_data_away(eve)
    archives(eve)


def makes_an_account(eve: Researcher) -> None:
    """With a passkey; when the device is lost, a recovery code does."""
    with eve.server.store() as store:
        invitation = account_links.make(store, eve.server.url, operator=False)
    eve.accepts(invitation)
    recovery = eve.makes_a_passkey()
    assert len(recovery) == 10
    eve.says_the_password()
    eve.driver.get(f"{eve.server.url}/manage")
    assert eve.driver.title == "Log in"  # the password alone opens nothing
    eve.says_the_password()
    eve.uses_the_passkey("Surveys")
    eve.driver.remove_all_credentials()
    eve.says_the_password()
    eve.driver.execute_script("navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError') }")
    eve.driver.find_element(By.XPATH, "//button[.='Use your passkey']").click()
    eve.reads("form [role=alert]", "gave no passkey")
    eve.fill(code=recovery[0])
    eve.click("Log in", "Surveys")


def writes_a_survey(eve: Researcher) -> None:
    """Field by field: what is published is what somebody else wrote as a file. Planned and tried before."""
    eve.click("Write a survey", "New survey")
    eve.begin()
    eve.write_survey(parse(FILE).value)
    eve.keeps(WANTED)
    eve.go("Plan", "Life on campus: plan")
    assert "How precise a share will be" in eve.text
    eve.go("Preview", "Life on campus: preview")
    eve.driver.switch_to.frame(eve.driver.find_element(By.CSS_SELECTOR, "iframe.phone"))
    assert Page(eve.driver).step("loading") == "consent"
    assert WANTED.title in Page(eve.driver).text()
    eve.driver.switch_to.default_content()
    eve.go("Fields", "Life on campus")
    eve.click("Publish", "Life on campus: publish")
    assert "Sample text" not in eve.text
    eve.click("Publish for good", "Life on campus: invite")
    assert published(eve.server).with_issuer("").digest == WANTED.digest
    with eve.server.store() as store:
        assert store.drafts.listed("eve") == []


def asks_people(eve: Researcher) -> None:
    """Three with codes from a sheet, each on a device of their own; and those whose answers an engineer sends, with codes from a file."""
    eve.choose(group="North")
    eve.driver.find_element(By.ID, "count").clear()
    eve.fill(count="3")
    eve.click("Show a sheet to print", "Life on campus: codes to print")
    codes = [code.text for code in eve.driver.find_elements(By.CSS_SELECTOR, ".sheet code")]
    address = eve.driver.find_element(By.CSS_SELECTOR, ".sheet .address").text
    eve.click("Back to the survey", "Life on campus: invite")
    for code, answers in zip(codes, PEOPLE.values(), strict=True):
        with eve.somebody_else() as page:
            answer(page, f"{address}#digest={published(eve.server).digest}&group=North&code={code}", answers)
    eve.choose(group="North")
    eve.driver.find_element(By.ID, "count").clear()
    eve.fill(count=str(len(SENT)))
    eve.driver.find_element(By.CSS_SELECTOR, "input[value='Download as CSV']").click()
    links = [row["link"] for row in csv.DictReader(io.StringIO(eve.file("campus-codes.csv").decode()))]
    with SurveyClient(eve.server.url) as client:
        for link, answers in zip(links, SENT, strict=True):
            client.survey(link).submit(answers)


def watches_and_sees_a_preview(eve: Researcher) -> None:
    """Before the close there is the number of records that have arrived, and results with simulated answers; nothing of a group."""
    eve.go("Watch", "Life on campus: watch")
    assert f"{ARRIVED} records arrived" in eve.text
    assert f"0 of them are shown in the results. {ARRIVED} wait for their release" in eve.text
    assert f"Codes made\n{N}; used ones are counted at the close" in eve.text
    assert not re.search("North|South", eve.text)
    eve.go("Results", "Life on campus: simulated results")
    assert "Preview with simulated answers" in eve.text
    assert f"{ARRIVED} or more records have arrived" in eve.text
    assert not eve.driver.find_elements(By.CSS_SELECTOR, "main a[download], main [href*='results.csv']")
    eve.go("Data", "Life on campus: data")
    assert "0 records" in eve.text


def closes(eve: Researcher) -> None:
    eve.go("Settings", "Life on campus: settings")
    eve.driver.find_element(By.XPATH, "//summary[.='Close the survey']").click()
    eve.driver.find_element(By.XPATH, "//button[.='Close for good']").click()
    eve.reads("[aria-labelledby=closing]", "This survey is closed")
    with eve.somebody_else() as page:
        assert page.open(str(Link(eve.server.url, WANTED.id, published(eve.server).digest))) == "closed"
        assert WANTED.closed in page.text()


def reads_what_came(eve: Researcher) -> None:
    """All records are there, and every figure is the library's."""
    found = analysed(eve.server)
    eve.go("Watch", "Life on campus: watch")
    assert f"{N} records arrived" in eve.text
    assert f"Codes used\n{N} of {N}" in eve.text
    assert "wait for their release" not in eve.text
    eve.go("Results", "Life on campus: results")
    assert found.results.n == N
    assert "simulated" not in eve.text
    assert [row for row in found.results.rows if figures.percent(row.estimate) not in eve.driver.page_source] == []
    eve.go("Cross table", "Life on campus: cross table")
    eve.chooses(rows="cheated", columns="age", percent="all")
    crossed = eve.reads("table.crossed", "25 or more")
    assert [share for share in found.crosstab("cheated", "age").shares.flat if figures.percent(share) not in crossed] == []
    eve.go("Model", "Life on campus: model")
    eve.choose(outcome="cheated")
    eve.driver.find_element(By.CSS_SELECTOR, "[name=predictor][value=age]").click()
    eve.driver.find_element(By.XPATH, "//button[.='Fit model']").click()
    modelled = eve.reads("table.estimates", "age")
    ratios = np.exp(found.regress("cheated ~ age").params.drop("Intercept"))
    assert [ratio for ratio in ratios if f"{ratio:.2f}" not in modelled] == []


PDF = "report.pdf"
"""A file of its own, which is not in the one file of all."""


def takes_the_data_away(eve: Researcher) -> None:
    """Each file by its own button, as it is in the one file of all, and as other programs than ours read it."""
    eve.go("Data", "Life on campus: data")
    eve.choose(licence="cc0-1.0")
    eve.driver.find_element(By.CSS_SELECTOR, "[formaction$='bundle.zip']").click()
    with zipfile.ZipFile(io.BytesIO(eve.file("campus-bundle.zip"))) as files:
        assert set(FILES) - {PDF} < set(files.namelist())
        assert b"CC0 1.0" in files.read("LICENCE.txt")
        files.extractall(bundle := eve.folder / "bundle")
    for name in FILES:
        eve.driver.find_element(By.CSS_SELECTOR, f"[aria-label='Download {name}']").click()
        content = eve.file(f"campus-{name}")
        assert content.startswith(b"%PDF-") if name == PDF else content == (bundle / name).read_bytes(), name
    assert {name: read(bundle / name) for name, read in READERS.items()} == dict.fromkeys(READERS, N)
    assert WANTED.title in docx.Document(str(bundle / "report.docx")).paragraphs[0].text
    assert {one["digest"] for one in json.loads((bundle / "estimates.json").read_bytes())} == {published(eve.server).digest}
    run = subprocess.run([sys.executable, "reproduce.py"], cwd=bundle, check=True, capture_output=True, text=True)
    assert re.search(r"All \d+ lines agree with estimates.csv", run.stdout)


def archives(eve: Researcher) -> None:
    eve.go("Settings", "Life on campus: settings")
    eve.driver.find_element(By.XPATH, "//button[.='Archive']").click()
    eve.reads("[aria-labelledby=closing]", "It is archived")
    eve.driver.find_element(By.CSS_SELECTOR, "header .home").click()
    eve.arrives("Surveys")
    assert "1 archived" in eve.text
