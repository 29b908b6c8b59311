"""The three engines that people's browsers are made of, each a Selenium driver with a profile on the disk.

Whoever opens one closes it with `quit`, or ends it with `kill` as a power cut would; to kill what has ended does nothing.
`flushed(site)` waits until what the browser keeps about its windows is on the disk; `site` has a style sheet to look at meanwhile.
`opens_beside` says whether a link can open a window of its own. What a page saves goes into the profile's folder `saved`.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from selenium.common.exceptions import TimeoutException, WebDriverException
from selenium.webdriver import Chrome, ChromeOptions, ChromeService, Remote
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.webkitgtk.options import Options as WebKitOptions
from selenium.webdriver.webkitgtk.service import Service as WebKitService
from tests.kit.pages import firefox
from tests.kit.pages.chromium import QUIET
from tests.kit.pages.profiles import unpacked
from tests.kit.patience import PATIENCE, wait_for

WINDOW = Path(__file__).with_name("webkit_window.py")
LOOKS = {Command.FIND_ELEMENT, Command.FIND_ELEMENTS, Command.FIND_CHILD_ELEMENT, Command.FIND_CHILD_ELEMENTS}
SYSTEM_PYTHON = "/usr/bin/python3"  # it has the bindings that Debian installs


def end(driver: Any, process: int) -> None:
    """Kills a browser, and has its driver find that out."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    with contextlib.suppress(WebDriverException):
        driver.quit()


_marks: dict[Path, Iterator[int]] = {}


def flushed_by_a_tab(driver: Any, site: str, files: Callable[[], list[Path]]) -> str:
    """Goes to two pages in another tab, and waits for each in the browser's session: what came before is there by then.

    Gives what the address of the last one ends with.
    """
    own = driver.current_window_handle
    driver.switch_to.new_window("tab")
    marks = _marks.setdefault(driver.profile, itertools.count())  # new ones each time, and the same in all profiles
    for mark in (f"mark-{next(marks)}." for _ in range(2)):
        driver.get(f"{site}/static/base.css?{mark}")
        wait_for(partial(_stands_in, mark, files), "the session on the disk")
    driver.close()
    driver.switch_to.window(own)
    return mark


def _stands_in(mark: str, files: Callable[[], list[Path]]) -> bool:
    parts = [part for file in files() for part in unpacked(file)]
    return any(mark.encode(code) in part for part in parts for code in ("utf-8", "utf-16-le"))


# Once it was killed, Chromium writes no session until somebody has closed its offer to restore the pages: nobody can, where none is seen.
NO_OFFER = "--hide-crash-restore-bubble"


class Chromium(Chrome):
    """Chromium, headless, which opens again what was open."""

    opens_beside = True

    def __init__(self, profile: Path) -> None:
        self.profile = profile
        options = ChromeOptions()
        for argument in (*QUIET, f"--user-data-dir={profile}", "--restore-last-session", NO_OFFER, "--no-sandbox"):
            options.add_argument(argument)
        options.add_experimental_option("prefs", {"download.default_directory": str(profile / "saved")})
        options.binary_location = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
        super().__init__(options, ChromeService(shutil.which("chromedriver")))

    def flushed(self, site: str) -> None:
        mark = flushed_by_a_tab(self, site, lambda: sorted((self.profile / "Default/Sessions").glob("*")))
        wait_for(partial(_stands_in, mark, lambda: [self.profile / "Default/History"]), "the history, which has the titles, on the disk")

    def kill(self) -> None:
        if self.service.process and self.service.process.poll() is None:
            end(self, self.capabilities["goog:processID"])


class Firefox(firefox.Firefox):
    """Firefox, headless, which opens again what was open."""

    opens_beside = True

    def flushed(self, site: str) -> None:
        flushed_by_a_tab(self, site, lambda: sorted((self.profile / "sessionstore-backups").glob("recovery.jsonlz4")))


class WebKit(Remote):
    """A window around WebKit, on a screen that nobody sees, which opens again what was open."""

    opens_beside = False  # a link that asks for a window of its own opens none

    def __init__(self, profile: Path) -> None:
        self.profile = profile
        profile.mkdir(exist_ok=True)
        start = profile.with_name(f"{profile.name}.sh")
        start.write_text(f'#!/bin/sh\nexec {SYSTEM_PYTHON} {WINDOW} "$@"\n', encoding="utf-8")
        start.chmod(0o755)
        options = WebKitOptions()
        options.binary_location = str(start)
        options.set_capability("browserName", "webkit_window")
        for argument in ("--automation", str(profile)):
            options.add_argument(argument)
        (profile / "pid").unlink(missing_ok=True)
        self.service = WebKitService(shutil.which("WebKitWebDriver"), env={**os.environ, "DISPLAY": screen()})
        self.service.start()
        super().__init__(RemoteConnection(client_config=ClientConfig(self.service.service_url)), options=options)

    def execute(self, driver_command: str, params: Any = None) -> Any:
        """Looks again where a look at the page took longer than the second that WebKitWebDriver allows, as it may on a busy machine."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return super().execute(driver_command, params)
            except TimeoutException:
                if driver_command not in LOOKS or time.monotonic() > deadline:
                    raise

    def quit(self) -> None:
        try:
            super().quit()
        finally:
            self.service.stop()

    def flushed(self, site: str) -> None:
        for _ in range(2):
            before = self._written()
            wait_for(partial(self._written_since, before), "the session on the disk")

    def _written(self) -> int:
        with contextlib.suppress(FileNotFoundError):
            return (self.profile / "session-0").stat().st_mtime_ns
        return 0

    def _written_since(self, moment: int) -> bool:
        return self._written() > moment

    def kill(self) -> None:
        if self.service.process and self.service.process.poll() is None:
            end(self, int((self.profile / "pid").read_text(encoding="ascii")))


_screens: list[str] = []


def screen() -> str:
    """The name of an X screen that nobody sees, started at first use and ended with this process."""
    if not _screens:
        reading, writing = os.pipe()
        command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
        process = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        atexit.register(process.terminate)
        with os.fdopen(reading) as answer:
            _screens.append(f":{answer.readline().strip()}")
    return _screens[0]


ENGINES: dict[str, Any] = {"chromium": Chromium, "firefox": Firefox, "webkit": WebKit}
