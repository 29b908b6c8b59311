"""Chromium, without a window."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions, ChromeService

QUIET = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

DEBIANS = "/usr/lib/chromium"
"""Where Debian's shell is. Its wrapper among the programs would be ended in its place, and leave it running."""


@contextmanager
def open_browser(
    *, arguments: tuple[str, ...] = (), capabilities: dict[str, Any] | None = None, profile: Path | None = None
) -> Iterator[Chrome]:
    """Chromium, from the system where it is installed, else one that Selenium finds; closed, its own profile removed, on the way out.

    `profile` keeps the profile in a folder of the caller's, to be looked at afterwards; then it is the whole browser. Otherwise Debian's
    shell of it does, where there is one: the same engine and pages, without history, downloads and windows, in a quarter of the time.
    """
    with ExitStack() as stack:
        shell = None if profile else shutil.which("chromium-headless-shell", path=DEBIANS)
        options = ChromeOptions()
        for argument in (*QUIET, *arguments):
            options.add_argument(argument)
        if not shell:  # which opens no page beside a profile that it is told of
            folder = profile or stack.enter_context(tempfile.TemporaryDirectory(prefix="profile-", ignore_cleanup_errors=True))
            options.add_argument(f"--user-data-dir={folder}")
        if os.geteuid() == 0:
            options.add_argument("--no-sandbox")  # Chromium's sandbox does not run as root
        for name, value in (capabilities or {}).items():
            options.set_capability(name, value)
        program = shell or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
        driver_program = shutil.which("chromedriver")
        if program and driver_program:
            options.binary_location = program
        driver = Chrome(options, ChromeService(driver_program if program else None))
        stack.callback(driver.quit)
        # a window without a screen now and then has no focus after a change of page, as no person's window would
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        yield driver
