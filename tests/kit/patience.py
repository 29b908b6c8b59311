"""How long a test waits for a state: so long that only what never comes is missed, also on a machine that has much else to do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException, WebDriverException
from selenium.webdriver.support.ui import WebDriverWait

PATIENCE = float(os.environ.get("DENIABLE_PATIENCE", "120"))  # seconds
SOON, LATER, SELDOM = 0.02, 1.5, 0.3  # seconds to the second look, how much longer to each after it, and the longest: looks cost time, too


def wait_for(holds: Callable[[], object], what: str) -> None:
    """Until it holds; `what` is said where it does not."""
    deadline, pause = time.monotonic() + PATIENCE, SOON
    while not holds():
        assert time.monotonic() < deadline, f"not within {PATIENCE:.0f} seconds: {what}"
        time.sleep(pause)
        pause = min(pause * LATER, SELDOM)


def patient(driver: Any) -> WebDriverWait[Any]:
    """`patient(driver).until(...)` looks again, too, where a page has gone between two looks at it."""
    return _Patient(driver, PATIENCE, SOON, ignored_exceptions=[StaleElementReferenceException])


class _Patient(WebDriverWait[Any]):
    """Says at the end of its patience where the browser is instead, in one line: the last of a log may be all there is to read."""

    def until(self, method: Callable[[Any], Any], message: str = "") -> Any:
        def look(driver: Any) -> Any:
            self._poll = min(self._poll * LATER, SELDOM)
            return method(driver)

        try:
            return super().until(look, message)
        except TimeoutException as error:
            raise TimeoutException(f"{message} not within {PATIENCE:.0f} seconds; {_where(self._driver)}".strip()) from error


_HERE = """
const here = document.activeElement, told = [...document.querySelectorAll("[role=alert], [role=status], .problem, .error")];
return [location.href, document.title, document.readyState, document.hasFocus(),
  here ? `${here.tagName.toLowerCase()}#${here.id}` : "none", told.map((e) => e.textContent.trim()).join(" ").slice(0, 300)];
"""


def _where(driver: Any) -> str:
    try:
        url, title, state, focused, element, told = driver.execute_script(_HERE)
    except WebDriverException as error:
        return f"the page cannot be asked: {error.msg}"
    return f"at {url}, {title!r}, {state}, focused {focused}, in {element}, told {told!r}"
