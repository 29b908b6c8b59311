"""A person logs in at a provider on another site: browsers keep this server's cookie from that site, and send it again afterwards."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait
from tests.kit.patience import PATIENCE
from tests.kit.servers.login_provider import real_provider, settings_file
from tests.kit.servers.process import PASSWORD, ServerProcess

pytestmark = pytest.mark.browser


def test_a_browser_logs_in_and_connects_an_account(tmp_path: Path, new_browser: Callable[..., Chrome]) -> None:
    driver = new_browser()
    server = ServerProcess(tmp_path)
    here = f"http://localhost:{server.port}"  # another site than the provider's 127.0.0.1

    def at(path: str) -> None:
        WebDriverWait(driver, PATIENCE).until(lambda _: driver.current_url.partition("?")[0] == f"{here}{path}")

    def approve(subject: str) -> None:
        WebDriverWait(driver, PATIENCE).until(lambda _: driver.find_elements(By.NAME, "sub"))
        driver.find_element(By.NAME, "sub").send_keys(subject)
        driver.find_element(By.CSS_SELECTOR, "form button").click()

    with real_provider(tmp_path) as provider:
        settings = settings_file(tmp_path, provider.url, 'create_accounts = true\nlabel = "Log in with the university"\n')
        server.start("--public-url", here, "--sso", str(settings))
        try:
            provider.person("s-1", preferred_username="eve")
            driver.get(f"{here}/manage/teams")
            driver.find_element(By.LINK_TEXT, "Log in with the university").click()
            approve("s-1")
            at("/manage/teams")
            assert driver.find_element(By.CSS_SELECTOR, "details.account summary").text == "eve"

            driver.delete_all_cookies()
            driver.get(f"{here}/login")
            driver.find_element(By.NAME, "user").send_keys("ada")
            driver.find_element(By.NAME, "password").send_keys(PASSWORD)
            driver.find_element(By.NAME, "submit").click()
            at("/manage")
            driver.get(f"{here}/manage/account")
            driver.find_element(By.ID, "sso-password").send_keys(PASSWORD)
            driver.find_element(By.XPATH, "//button[text()='Connect']").click()
            approve("s-2")
            at("/manage/account")
            assert "Your account is connected" in driver.find_element(By.TAG_NAME, "main").text
        finally:
            server.close()
    assert "s-1" not in server.log.read_text()
