"""The survey's page where no script runs: what it tells and where it leads."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient


@pytest.mark.parametrize(
    ("language", "told"), [("en", "carries extra data"), ("de", "enthält er zusätzliche Daten"), ("ar", "بيانات زائدة")]
)
def test_without_javascript_too_people_are_told_of_links_that_say_too_much_in_a_page_that_repeats_nothing(
    client: FlaskClient, language: str, told: str
) -> None:
    """The same bytes whatever the link says: nobody gets a page of their own, which whoever checks the server would find."""
    page = client.get(f"/s/study?lang={language}").text
    unscripted = page.split("<noscript>")[1].split("</noscript>")[0]
    assert told in unscripted
    assert re.findall('href="([^"]*)"', unscripted) == [], "and a survey that coins cannot answer leads nowhere"
    assert client.get(f"/s/study?lang={language}&PROLIFIC_PID=5f3").text == page
