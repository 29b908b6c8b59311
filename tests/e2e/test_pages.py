"""The researchers' pages: over HTTP where that suffices, in real Chromium where it does not."""

from __future__ import annotations

import csv
import html
import io
import itertools
import os
import re
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.forms import filled
from tests.kit.pages.tables import tables
from tests.kit.patience import PATIENCE, patient

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.pages import figures

names = (f"study{i}" for i in itertools.count())
QUESTIONS = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "party", "text": "Which party?", "type": "choice", "options": ["Red", "Green", "Blue"]},
]


@pytest.fixture
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), title="A <b>bold</b> study", questions=QUESTIONS)
    return published


def submit(site: Any, survey: Survey, bits: list[np.ndarray[Any, Any]]) -> None:
    submission = Submission(os.urandom(16), survey.digest, len(bits[0]), pack(survey, bits))
    site.send(submission, survey)


def answer(site: Any, survey: Survey, people: int = 500) -> None:
    """Everybody smokes and is for Red."""
    submit(site, survey, [randomize(q.channel, np.zeros(people, dtype=np.int64), os_words) for q in survey.items])


def token(page: httpx.Response) -> str:
    return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)[0])


def log_in(client: httpx.Client, password: str = "correct horse battery", path: str = "/login") -> httpx.Response:
    return client.post(path, data={"user": "ada", "password": password, "csrf_token": token(client.get(path))})


@pytest.fixture
def stranger(site: Any) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=PATIENCE) as client:
        yield client


@pytest.fixture
def ada(stranger: httpx.Client) -> httpx.Client:
    assert log_in(stranger).status_code == 302
    return stranger


# Logging in and out.


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/manage", "/manage/surveys/any", "/manage/surveys/any/results.csv"])
def test_a_stranger_is_sent_to_the_login_page_and_from_there_back(stranger: httpx.Client, path: str) -> None:
    reply = stranger.get(path)
    assert (reply.status_code, reply.headers["location"]) == (302, f"/login?next={path}")
    assert log_in(stranger, path=f"/login?next={path}").headers["location"] == path


@pytest.mark.parametrize("elsewhere", ["https://evil.test/", "//evil.test/manage", "/\\evil.test"])
def test_login_leads_to_no_other_site(stranger: httpx.Client, elsewhere: str) -> None:
    assert log_in(stranger, path=f"/login?next={elsewhere}").headers["location"] == "/manage"


def test_a_wrong_password_is_announced_and_logs_nobody_in(stranger: httpx.Client) -> None:
    reply = log_in(stranger, "wrong")
    assert reply.status_code == 401
    assert re.search(r'role="alert">\s*<p>Name or password is wrong', reply.text)
    assert 'aria-invalid="true"' in reply.text
    assert "wrong" not in re.findall(r'<input[^>]*id="password"[^>]*>', reply.text)[0]
    assert stranger.get("/manage").status_code == 302


def test_a_post_without_the_token_is_refused(stranger: httpx.Client, ada: httpx.Client) -> None:
    assert stranger.post("/login", data={"user": "ada", "password": "correct horse battery"}).status_code == 400
    assert ada.post("/logout").status_code == 400
    assert ada.get("/manage").status_code == 200


def test_a_message_is_shown_once_although_another_process_makes_the_page(ada: httpx.Client, survey: Survey) -> None:
    page = f"/manage/surveys/{survey.id}/settings"
    for _ in range(2):
        saved = ada.post(page, data=filled(ada.get(page).text, "wanted-form"))
        assert (saved.status_code, saved.headers["Location"]) == (302, page)
        assert ada.get(page).text.count('class="done" role="status">Saved') == 1
    assert 'class="done"' not in ada.get(page).text


def test_logging_out_takes_a_post(ada: httpx.Client) -> None:
    assert ada.get("/logout").status_code == 405
    assert ada.post("/logout", data={"csrf_token": token(ada.get("/manage"))}).status_code == 302
    assert ada.get("/manage").status_code == 302


@pytest.mark.parametrize("path", ["/manage", "/manage/surveys/{}"])
def test_every_page_names_who_is_logged_in_and_has_a_way_out(ada: httpx.Client, survey: Survey, path: str) -> None:
    header = ada.get(path.format(survey.id)).text.split("<header>")[1].split("</header>")[0]
    assert "<bdi>ada</bdi>" in header
    assert '<form method="post" action="/logout">' in header


def test_the_session_is_a_new_one_after_login_and_its_cookie_is_closed(stranger: httpx.Client) -> None:
    before = stranger.get("/login").headers["set-cookie"]
    after = log_in(stranger).headers["set-cookie"]
    assert before.split(";")[0] != after.split(";")[0]
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in after.split(";")}


# What researchers see.


@pytest.mark.slow
def test_the_list_shows_state_and_records_and_leads_to_the_pinned_link(ada: httpx.Client, site: Any, survey: Survey) -> None:
    def row() -> str:
        return next(part for part in ada.get(f"/manage?search={survey.id}").text.split("<tr") if f'id="survey-{survey.id}"' in part)

    answer(site, survey, 1)
    assert "A &lt;b&gt;bold&lt;/b&gt; study" in row()
    assert 'class="state open"' in row()
    assert 'data-name="Records">1' in row()
    invite = f"/manage/surveys/{survey.id}/invite"
    assert f'href="{invite}"' in row()
    assert f'value="{site.url}/s/{survey.id}#digest={survey.digest}"' in ada.get(invite).text
    site.close_survey(survey)
    assert 'class="state closed"' in row()
    assert invite not in row()


def test_a_survey_without_responses_shows_a_preview_until_it_is_closed(ada: httpx.Client, site: Any, survey: Survey) -> None:
    page = ada.get(f"/manage/surveys/{survey.id}").text
    assert "Preview with simulated answers" in page
    assert "Link for respondents" in page
    site.close_survey(survey)
    page = ada.get(f"/manage/surveys/{survey.id}").text
    assert "No records are counted yet." in page
    assert "<table" not in page
    assert "<svg" not in page


def test_results_show_the_estimates_of_the_api(ada: httpx.Client, site: Any, survey: Survey) -> None:
    answer(site, survey)
    page = ada.get(f"/manage/surveys/{survey.id}").text
    results = site.results(survey)
    found = tables(page)
    shown = {**found["Estimates: Do you smoke?"], **found["Estimates: Which party?"]}
    assert list(shown) == ["yes", "no", "Red", "Green", "Blue"]
    for row in results["rows"]:
        cells = shown[row["option"]]
        assert cells["Estimate"].split(",")[0] == figures.percent(row["estimate"])
        assert cells["95% interval"] == f"{figures.number(row['low'])} to {figures.percent(row['high'])}"
        assert cells["Adjusted"] == figures.percent(row["adjusted"])
    assert {line["n"] for line in found["summary"].values()} == {"500"}
    assert page.count('class="figure"') == 5
    assert "<dt>ε in all</dt><dd>2.197</dd>" in page
    assert survey.digest in page


def test_an_estimate_below_zero_is_shown_as_it_is_and_explained(ada: httpx.Client, site: Any, survey: Survey) -> None:
    no, red = np.tile([False, True], (400, 1)), np.tile([True, False, False], (400, 1))
    submit(site, survey, [no, red])
    page = ada.get(f"/manage/surveys/{survey.id}").text
    assert tables(page)["Estimates: Do you smoke?"]["yes"]["Estimate"] == "−50.0%, below the scale"
    assert 'class="warning"' in page
    warning = next(row["warning"] for row in site.results(survey)["rows"] if row["option"] == "yes")
    assert html.escape(warning, quote=False) in page.replace("&#39;", "'").replace("&#34;", '"')


def test_target_and_confidence_are_chosen_in_the_address_and_kept_in_the_downloads(ada: httpx.Client, site: Any, survey: Survey) -> None:
    answer(site, survey)
    chosen = {"target": "respondents", "confidence": "0.8"}
    page = ada.get(f"/manage/surveys/{survey.id}", params=chosen).text
    assert "80% interval" in page
    assert '<option value="respondents" selected>' in page
    link = html.unescape(re.findall(r'href="([^"]*results\.json[^"]*)"', page)[0])
    rows = ada.get(link).json()["rows"]
    assert {(row["target"], row["confidence"]) for row in rows} == {("respondents", 0.8)}


@pytest.mark.parametrize("wrong", ["confidence=1.5", "confidence=much", "target=nobody", "method=guess"])
def test_a_wrong_option_is_told_on_a_page(ada: httpx.Client, site: Any, survey: Survey, wrong: str) -> None:
    answer(site, survey, 1)
    reply = ada.get(f"/manage/surveys/{survey.id}?{wrong}")
    assert reply.status_code == 400
    assert f">{wrong.split('=')[0].capitalize()} must be" in reply.text


def test_odd_keys_in_the_address_do_no_harm(ada: httpx.Client, survey: Survey) -> None:
    assert ada.get(f"/manage/surveys/{survey.id}?kind=x&survey_id=y&filename=z").status_code == 200


def test_downloads_parse(ada: httpx.Client, site: Any, survey: Survey) -> None:
    answer(site, survey)
    expected = site.results(survey)
    assert ada.get(f"/manage/surveys/{survey.id}/results.json").json() == expected
    reply = ada.get(f"/manage/surveys/{survey.id}/results.csv")
    assert reply.headers["content-type"].startswith("text/csv")
    assert f'filename="{survey.id}-results.csv"' in reply.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(reply.text)))
    assert [(row["question"], row["option"], float(row["estimate"])) for row in rows] == [
        (row["question"], row["option"], row["estimate"]) for row in expected["rows"]
    ]


def test_an_unknown_survey_is_a_plain_404(ada: httpx.Client) -> None:
    reply = ada.get("/manage/surveys/none")
    assert reply.status_code == 404
    assert "<h1>Not found</h1>" in reply.text


# In the browser.


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 1280])
def test_the_pages_fit_their_screen_and_break_no_rule_of_their_policy(browser: Chrome, site: Any, survey: Survey, width: int) -> None:
    answer(site, survey)

    def fits() -> None:
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width

    browser.get_log("browser")
    size = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(f"{site.url}/login")
        fits()
        browser.find_element(By.ID, "user").send_keys("ada")
        browser.find_element(By.ID, "password").send_keys("correct horse battery")
        browser.find_element(By.CSS_SELECTOR, "[type=submit]").click()
        patient(browser).until(lambda driver: driver.title == "Surveys")
        fits()
        browser.get(f"{site.url}/manage/surveys/{survey.id}")
        fits()
        assert browser.find_element(By.CSS_SELECTOR, ".plot .estimate, .plot .arrow").is_displayed()
        browser.find_element(By.CSS_SELECTOR, ".save > summary").click()
        assert browser.find_element(By.CSS_SELECTOR, "[data-copies]").is_displayed()
        fits()
        assert browser.get_log("browser") == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.delete_all_cookies()


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 1280])
def test_the_comparison_of_groups_fits_the_screen_with_its_differences_in_sight(browser: Chrome, site: Any, width: int) -> None:
    groups = ["North", "A very long name of a clinic in the south", "مستشفى"]
    survey = site.publish(id=next(names), questions=QUESTIONS, groups=groups)
    for group in groups:
        bits = [randomize(q.channel, np.zeros(300, dtype=np.int64), os_words) for q in survey.items]
        submission = Submission(os.urandom(16), survey.digest, 300, pack(survey, bits), group)
        site.send(submission, survey)
    browser.get_log("browser")
    size = {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.get(f"{site.url}/login?next=/manage/surveys/{survey.id}/groups")
        browser.find_element(By.ID, "user").send_keys("ada")
        browser.find_element(By.ID, "password").send_keys("correct horse battery")
        browser.find_element(By.CSS_SELECTOR, "[type=submit]").click()
        patient(browser).until(lambda driver: driver.title.endswith(": groups"))
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        browser.execute_script("for (const one of document.querySelectorAll('.tested')) one.open = true")
        cells = "[...document.querySelectorAll('.differences td, .marks td')]"
        right = f"return Math.max(...{cells}.map((cell) => cell.getBoundingClientRect().right))"
        assert browser.execute_script(right) <= width
        assert len(browser.find_elements(By.CSS_SELECTOR, ".plot .estimate, .plot .arrow")) == 3 + 3 * 3
        assert len({table.get_attribute("aria-label") for table in browser.find_elements(By.CSS_SELECTOR, "table.marks")}) == 2, (
            "one a question"
        )
        browser.get(f"{site.url}/manage/surveys/{survey.id}?group=North")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert browser.get_log("browser") == []
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.delete_all_cookies()
