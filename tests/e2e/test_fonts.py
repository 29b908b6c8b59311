"""The pages with other fonts than this machine's: those of most desktops (Noto), of phones (Roboto), and DejaVu alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from tests.e2e import test_first_screen as first_screen
from tests.kit.pages.chromium import open_browser
from tests.kit.pages.fonts import SETS, only_fonts
from tests.kit.pages.layout import enlarged, faults, unfilled
from tests.kit.pages.page import Page
from tests.kit.pages.visits import Visit, all_at_once, one_by_one

from deniable.survey import Survey

pytestmark = pytest.mark.browser
names = (f"fonts{i}" for i in itertools.count())
WIDTH = """
const span = document.createElement("span");
span.textContent = "Of 100 people who answer Yes";
document.body.append(span);
const { width } = span.getBoundingClientRect();
span.remove();
return width;
"""


@pytest.fixture(scope="module", params=SETS)
def typeset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """A browser that has the fonts of one set only."""
    with only_fonts(request.param, tmp_path_factory.mktemp(request.param)), open_browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def survey(site: Any) -> Survey:
    published: Survey = site.publish(id=next(names), **first_screen.KEYS)
    return published


@pytest.mark.parametrize(("journey", "language"), [(all_at_once, "de"), (one_by_one, "ar")])
def test_no_state_is_cut_off_or_collides_in_any_font(typeset: Chrome, site: Any, journey: Any, language: str) -> None:
    visit = Visit(Page(typeset), site, language)
    found = []
    for state in journey(visit):
        found += [f"{state}, {fault}" for fault in (*faults(typeset), *enlarged(typeset))]
    typeset.execute_script("localStorage.clear()")
    assert found == []


def test_the_name_of_a_value_in_the_place_of_the_value_is_noticed(typeset: Chrome, site: Any, survey: Survey) -> None:
    typeset.get(site.link(survey))
    assert unfilled(typeset) == []
    typeset.execute_script("document.body.append('Your record names place {place} of 12.')")
    assert unfilled(typeset) == ["Your record names place {place} of 12."]


def test_both_buttons_are_on_the_first_screen_in_any_font(typeset: Chrome, site: Any, survey: Survey) -> None:
    first_screen.test_who_why_how_protected_and_both_buttons_are_on_the_first_screen_in_every_language(Page(typeset), site, survey)


def test_each_set_has_letters_of_another_width(site: Any, tmp_path: Path) -> None:
    """The control: a browser that took the machine's own fonts would show all sets alike."""
    widths = []
    for fonts in SETS:
        with only_fonts(fonts, tmp_path), open_browser() as driver:
            driver.get(f"{site.url}/privacy")
            widths.append(round(driver.execute_script(WIDTH)))
    assert len(set(widths)) == len(SETS), widths
