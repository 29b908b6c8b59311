"""A researcher downloads a survey's data in a browser: by buttons, without a script, each file as the API has it."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from tests.kit.patience import patient

from deniable.bundle import FILES
from deniable.simulate import simulate
from deniable.wire.submission import Submission

pytestmark = pytest.mark.browser
AUTH = ("ada", "correct horse battery")


@pytest.fixture
def folder(browser: Chrome, site: Any, tmp_path: Path) -> Iterator[Path]:
    """Where the browser puts what a researcher downloads who is logged in."""
    survey = site.publish(id="files", questions=[{"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}], epsilon=2)
    raw = simulate(survey, {"smokes": [0.3, 0.7]}, n=300).reports
    site.send(Submission(os.urandom(16), survey.digest, 300, raw), survey)
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    browser.get(f"{site.url}/login")
    for name, words in zip(("user", "password"), AUTH, strict=True):
        browser.find_element(By.ID, name).send_keys(words)
    browser.find_element(By.CSS_SELECTOR, "[type=submit]").click()
    patient(browser).until(lambda driver: driver.title == "Surveys")
    yield tmp_path
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "default"})
    browser.delete_all_cookies()


def downloaded(browser: Chrome, folder: Path, name: str) -> bytes:
    """The file of that name, once it is there in whole."""
    patient(browser).until(lambda _: (folder / name).exists() and not list(folder.glob("*.crdownload")))
    return (folder / name).read_bytes()


def test_every_button_gives_its_file_with_the_licence_that_was_chosen(browser: Chrome, site: Any, folder: Path) -> None:
    def by_api(what: str) -> bytes:
        return httpx.get(f"{site.url}/api/v1/surveys/files/{what}?licence=cc0-1.0", auth=AUTH, timeout=60).content

    browser.get(f"{site.url}/manage/surveys/files")
    browser.find_element(By.LINK_TEXT, "Data").click()
    patient(browser).until(lambda driver: driver.current_url.endswith("/manage/surveys/files/data"))
    Select(browser.find_element(By.NAME, "licence")).select_by_value("cc0-1.0")
    browser.find_element(By.CSS_SELECTOR, "[formaction$='bundle.zip']").click()
    whole = downloaded(browser, folder, "files-bundle.zip")
    assert whole == by_api("bundle")
    with zipfile.ZipFile(io.BytesIO(whole)) as files:
        assert b"CC0 1.0" in files.read("LICENCE.txt")
        for name in ("rows.sav", "report.docx", "LICENCE.txt"):
            browser.find_element(By.CSS_SELECTOR, f"[aria-label='Download {name}']").click()
            assert downloaded(browser, folder, f"files-{name}") == files.read(name)
    assert len(browser.find_elements(By.CSS_SELECTOR, "table.files button")) == len(FILES)
