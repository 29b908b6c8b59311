"""A new researcher in a real browser: accepts an invitation, makes a passkey, and logs in with it. Chromium is the authenticator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, ServerProcess

from deniable_server.researchers import account_links

pytestmark = pytest.mark.browser


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


def write(driver: Chrome, **fields: str) -> None:
    for key, text in fields.items():
        driver.find_element(By.ID, key.replace("_", "-")).send_keys(text)


def press(driver: Chrome, text: str, title: str) -> None:
    driver.find_element(By.XPATH, f"//button[normalize-space()='{text}'] | //input[@type='submit' and @value='{text}']").click()
    patient(driver).until(lambda d: d.title == title)


def log_in(driver: Chrome, server: ServerProcess) -> None:
    driver.get(f"{server.url}/login")
    write(driver, user="eve", password=PASSWORD)
    press(driver, "Log in", "Log in: code")


def test_from_an_invitation_to_a_login_with_a_passkey(new_browser: Callable[..., Chrome], server: ServerProcess) -> None:
    driver = new_browser()
    driver.add_virtual_authenticator(VirtualAuthenticatorOptions(is_user_verified=True, has_user_verification=True))
    with server.store() as store:
        link = account_links.make(store, server.url, operator=False)
    driver.get(link)
    write(driver, user="eve", password=PASSWORD, again=PASSWORD)
    press(driver, "Make the account", "Surveys")

    driver.get(f"{server.url}/manage/account/second-factor")
    patient(driver).until(lambda d: d.find_element(By.ID, "name").is_displayed())
    write(driver, name="This computer", passkey_current=PASSWORD)
    press(driver, "Make a passkey", "Recovery codes")
    codes = [code.text for code in driver.find_elements(By.CSS_SELECTOR, ".card code")]
    assert len(codes) == 10

    driver.delete_all_cookies()
    log_in(driver, server)
    driver.get(f"{server.url}/manage")
    assert driver.title == "Log in"  # the password alone opens nothing
    log_in(driver, server)
    patient(driver).until(lambda d: d.find_element(By.XPATH, "//button[normalize-space()='Use your passkey']").is_displayed())
    press(driver, "Use your passkey", "Surveys")

    driver.remove_all_credentials()  # the device is lost
    driver.delete_all_cookies()
    log_in(driver, server)
    driver.execute_script("navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError') }")
    driver.find_element(By.XPATH, "//button[normalize-space()='Use your passkey']").click()
    patient(driver).until(lambda d: "gave no passkey" in d.find_element(By.CSS_SELECTOR, "form [role=alert]").text)
    write(driver, code=codes[0])
    press(driver, "Log in", "Surveys")
