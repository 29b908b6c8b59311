"""The survey's page where no script runs: what it tells and where it leads."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("", ""),
        ("?lang=de", ""),
        ("?PROLIFIC_PID=5f3", "Your link says too much"),
        ("?lang=de&fbclid=1", "Ihr Link verrät zu viel"),
        ("?lang=en&lang=de", "Your link says too much"),
        ("?lang=nobody", "Your link says too much"),
        ("?=", "Your link says too much"),
    ],
)
def test_without_javascript_too_a_link_that_says_too_much_is_told(client: FlaskClient, query: str, told: str) -> None:
    page = client.get(f"/s/study{query}").text
    unscripted = page.split("<noscript>")[1].split("</noscript>")[0]
    assert re.findall("<h2>(.*?)</h2>", unscripted) == ([told] if told else [])
    assert "5f3" not in page
    tag = "de" if query.startswith("?lang=de") else "en"
    assert re.findall('href="([^"]*)"', unscripted) == [f"/s/study/by-hand?lang={tag}"], "and leads on without it"
