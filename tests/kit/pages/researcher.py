"""A researcher's steps in Chromium: an account, from page to page, and files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.virtual_authenticator import VirtualAuthenticatorOptions
from selenium.webdriver.support.ui import Select
from tests.kit.pages.page import Page
from tests.kit.pages.profile_windows import own_window
from tests.kit.pages.writer import Writer
from tests.kit.patience import patient
from tests.kit.servers.process import PASSWORD, ServerProcess


class Researcher(Writer):
    """Eve, who is new here, with a device that makes passkeys. `folder`: where the browser puts files."""

    def __init__(self, driver: Chrome, server: ServerProcess, folder: Path) -> None:
        super().__init__(driver, server)
        self.folder = folder
        self._keep_files()
        driver.add_virtual_authenticator(VirtualAuthenticatorOptions(is_user_verified=True, has_user_verification=True))

    def _keep_files(self) -> None:
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(self.folder)})

    @contextlib.contextmanager
    def somebody_else(self) -> Iterator[Page]:
        """A page on a device of their own; Chromium's shell forgets meanwhile where to put files."""
        with own_window(self.driver):
            yield Page(self.driver)
        self._keep_files()

    def fill(self, **fields: str) -> None:
        for key, text in fields.items():
            self.driver.find_element(By.ID, key.replace("_", "-")).send_keys(text)

    def click(self, words: str, title: str) -> None:
        """Presses a button or a link of the page, and arrives."""
        at = f"//main//*[self::button or self::a][normalize-space()='{words}'] | //main//input[@type='submit' and @value='{words}']"
        self.driver.execute_script("arguments[0].click()", self.driver.find_element(By.XPATH, at))
        self.arrives(title)

    def choose(self, **values: str) -> None:
        """In each list of this name, the entry with this value."""
        for name, value in values.items():
            field = self.driver.find_element(By.NAME, name)
            if not field.is_displayed():
                field.find_element(By.XPATH, "ancestor::details/summary").click()
            Select(field).select_by_value(value)

    def chooses(self, **values: str) -> None:
        """The same where it is shown at once: each when the page of the one before is there."""
        for name, value in values.items():
            if self.driver.find_element(By.NAME, name).get_attribute("value") == value:
                continue
            self.choose(**{name: value})
            patient(self.driver).until(lambda d, told=f"{name}={value}": told in d.current_url)

    def arrives(self, title: str) -> None:
        patient(self.driver).until(lambda d: d.title == title)

    def go(self, tab: str, title: str) -> None:
        """By a tab of the survey or the draft."""
        self.driver.find_element(By.XPATH, f"//nav[contains(@class, 'trail')]/a[normalize-space()='{tab}']").click()
        self.arrives(title)

    @property
    def text(self) -> str:
        return str(self.driver.find_element(By.TAG_NAME, "main").text)

    def accepts(self, link: str) -> None:
        self.driver.get(link)
        self.fill(user="eve", password=PASSWORD, again=PASSWORD)
        self.click("Create account", "Surveys")

    def makes_a_passkey(self) -> list[str]:
        """Gives the recovery codes."""
        self.driver.get(f"{self.server.url}/manage/account/second-factor")
        patient(self.driver).until(lambda d: d.find_element(By.ID, "name").is_displayed())
        self.fill(name="This computer", passkey_current=PASSWORD)
        self.click("Add passkey", "Recovery codes")
        return [code.text for code in self.driver.find_elements(By.CSS_SELECTOR, ".card code")]

    def says_the_password(self) -> None:
        self.driver.delete_all_cookies()
        self.driver.get(f"{self.server.url}/login")
        self.fill(user="eve", password=PASSWORD)
        self.click("Log in", "Log in: code")

    def uses_the_passkey(self, title: str) -> None:
        patient(self.driver).until(lambda d: d.find_element(By.XPATH, "//button[.='Use your passkey']").is_displayed())
        self.click("Use your passkey", title)

    def reads(self, selector: str, words: str) -> str:
        """What stands there, once these words do."""
        read = "return document.querySelector(arguments[0])?.innerText ?? ''"
        patient(self.driver).until(lambda d: words in d.execute_script(read, selector))
        return str(self.driver.execute_script(read, selector))

    def file(self, name: str) -> bytes:
        """A file that was downloaded, once it is there in whole."""
        patient(self.driver).until(lambda _: (self.folder / name).exists() and not list(self.folder.glob("*.crdownload")))
        return (self.folder / name).read_bytes()
