"""The address that the respondents' page gives itself, and what Firefox keeps of the keys that are pressed under it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.kit.pages.page import address_of
from tests.kit.pages.study import Study

pytestmark = pytest.mark.browser

OWN = b'query === "" ? "?" : `${query}&`'


def visited(profile: Path) -> set[str]:
    """All addresses in Firefox's history."""
    with closing(sqlite3.connect(profile / "places.sqlite")) as history:
        return {address for (address,) in history.execute("SELECT url FROM moz_places")}


@pytest.mark.parametrize("kept_apart", [True, False], ids=["the page", "the control"])
def test_firefox_has_no_place_for_the_number_of_keys(study: Callable[..., Study], kept_apart: bool) -> None:
    """It keeps that number beside the address without its fragment, where this was visited: how many keys make a number is a trace of it.

    Of keys that WebDriver presses it counts none, so this looks at the place. Every link leads to the survey once before, as people's do.
    """
    made = study("firefox", disk=False)
    if not kept_apart:
        made.proxy.alter["/browser/respond.mjs"] = (OWN, b"query")
        made.proxy.unsealed.add(f"/s/{made.survey.id}")
    session = made.session(0)
    driver, bare = session.person.driver, session.link.partition("#")[0]
    counted = set()
    for link in (bare, f"{bare}?lang=de", session.link, f"{bare}?lang=de#digest={made.survey.digest}"):
        session.person.open(link)
        assert (driver.current_url == address_of(link)) is kept_apart
        counted.add(driver.current_url.partition("#")[0])
        driver.refresh()
        session.person.goes("loading", "consent")
        counted.add(driver.current_url.partition("#")[0])
    driver.quit()
    there = visited(session.profile)
    assert session.link in there, "the history is on the disk"
    assert there.isdisjoint(counted) is kept_apart
