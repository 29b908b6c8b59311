"""How the pages look that come before and with a login: an invitation, the login, the second factor and its recovery codes."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from tests.kit.pages.axe import findings
from tests.kit.pages.layout import screen, sticking_out, too_small
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, ServerProcess

from deniable_server.identity import account_links, totp
from deniable_server.store.factors import Passkey

pytestmark = pytest.mark.browser
LOOKS = tuple(itertools.product((360, 1280), ("light", "dark")))
ALL = "ACCESSIBILITY" in os.environ
looks = itertools.cycle(LOOKS)
SECRET = b"12345678901234567890"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """At an address with a name, so that it offers passkeys. ada has one, and an app."""
    server = ServerProcess(tmp_path)
    server.url = f"http://localhost:{server.port}"
    with server.store() as store:
        store.factors.add_passkey("ada", Passkey(os.urandom(32), "A phone with a rather long name", b"", 0, "2026-01-01"), [])
        store.factors.set_secret("ada", SECRET, 0, [])
    server.start("--public-url", server.url)
    yield server
    server.stop()
    server.close()


def faults(driver: Chrome, place: str) -> list[str]:
    """In one of the looks, each time the next; `make long NAME=accessibility` looks at all."""
    found = []
    driver.execute_script("for (const one of document.querySelectorAll('details')) one.open = true")
    for width, scheme in LOOKS if ALL else [next(looks)]:
        with screen(driver, width, scheme):
            found += [f"{place}, {width} px, {scheme}: {finding}" for finding in findings(driver)]
    with screen(driver, 320):
        found += [f"{place}: {finding}" for finding in (*sticking_out(driver), *too_small(driver))]
    return found


def test_no_page_at_the_door_has_a_fault(new_browser: Callable[..., Chrome], server: ServerProcess) -> None:
    driver = new_browser()
    with server.store() as store:
        link = account_links.make(store, server.url, operator=True)
    driver.get(link)
    found = faults(driver, "invitation")
    driver.find_element(By.CSS_SELECTOR, "[type=submit]").submit()
    driver.get(f"{server.url}/api/v1/")
    found += faults(driver, "the API")
    driver.get(f"{server.url}/login")
    found += faults(driver, "login")
    driver.find_element(By.ID, "user").send_keys("ada")
    driver.find_element(By.ID, "password").send_keys(PASSWORD)
    driver.find_element(By.CSS_SELECTOR, "[type=submit]").click()
    patient(driver).until(lambda d: d.title == "Log in: code" and d.find_element(By.CSS_SELECTOR, "[data-passkey]").is_displayed())
    found += faults(driver, "code")
    driver.find_element(By.ID, "code").send_keys(totp.code_at(SECRET, int(time.time()) // totp.STEP))
    driver.find_element(By.ID, "submit").click()
    patient(driver).until(lambda d: d.title == "Surveys")
    driver.get(f"{server.url}/manage/account/second-factor")
    patient(driver).until(lambda d: d.find_element(By.CSS_SELECTOR, "[data-passkey]").is_displayed())
    found += faults(driver, "second factor")
    secret = totp.decode_secret(driver.find_element(By.NAME, "secret").get_attribute("value") or "")
    assert secret is not None
    driver.find_element(By.ID, "code").send_keys(totp.code_at(secret, int(time.time()) // totp.STEP))
    driver.find_element(By.ID, "current").send_keys(PASSWORD)
    driver.find_element(By.XPATH, "//button[normalize-space()='Set up app']").click()
    patient(driver).until(lambda d: d.title == "Recovery codes")
    found += faults(driver, "recovery codes")
    assert found == []


@pytest.mark.parametrize(("css", "fault"), [("p { color: #bbb; background: #fff }", "color-contrast"), ("button { width: 90rem }", "")])
def test_a_page_at_the_door_that_has_one_is_found(new_browser: Callable[..., Chrome], server: ServerProcess, css: str, fault: str) -> None:
    driver = new_browser()
    driver.get(f"{server.url}/login")
    driver.execute_script("document.querySelector('main').append(Object.assign(document.createElement('button'), {textContent: 'x'}))")
    driver.execute_script("const s = new CSSStyleSheet(); s.replaceSync(arguments[0]); document.adoptedStyleSheets = [s];", css)
    assert any(fault in one for one in faults(driver, "login"))
