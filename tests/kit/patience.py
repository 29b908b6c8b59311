"""How long a test waits for a state: so long that only what never comes is missed, also on a machine that has much else to do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = 120.0  # seconds


def wait_for(holds: Callable[[], object], what: str) -> None:
    """Until it holds; `what` is said where it does not."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} seconds: {what}"
        time.sleep(0.02)


def patient(driver: Any) -> WebDriverWait[Any]:
    """`patient(driver).until(...)` looks 20 times a second, again where a page has gone between two looks at it."""
    return WebDriverWait(driver, PATIENCE, 0.05, ignored_exceptions=[StaleElementReferenceException])
