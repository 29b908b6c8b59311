"""How the report of a bundle looks: a page of its own, on a phone and on a desk; what axe finds, and whether anything sticks out."""

from __future__ import annotations

import pytest
from selenium.webdriver import Chrome
from tests.client.bundle.conftest import EVERY, SURVEYS, counted_of
from tests.kit.pages.axe import findings
from tests.kit.pages.layout import screen, sticking_out, style

from deniable.bundle import Bundle

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "report.html"
    with open(path, "wb") as file:
        Bundle(counted_of(EVERY, SURVEYS["every"][1])).write("report.html", file)
    return path.as_uri()


def faults(driver: Chrome) -> list[str]:
    """Without what axe is not sure of in a drawing, whose white is a part of it."""
    return [*(one for one in findings(driver) if not one.startswith("unsure color-contrast")), *sticking_out(driver)]


@pytest.mark.parametrize("width", [320, 360, 1280])
def test_the_report_has_no_fault(browser: Chrome, report: str, width: int) -> None:
    browser.get(report)
    with screen(browser, width, "light"):
        assert faults(browser) == []


@pytest.mark.parametrize(("css", "fault"), [("p { color: #ccc }", "wrong color-contrast"), ("table { min-width: 90rem }", "table")])
def test_a_fault_in_the_report_is_found(browser: Chrome, report: str, css: str, fault: str) -> None:
    browser.get(report)
    with screen(browser, 1280, "light"), style(browser, css):
        assert any(one.startswith(fault) for one in faults(browser))


def test_the_report_loads_nothing(browser: Chrome, report: str) -> None:
    browser.get(report)
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
