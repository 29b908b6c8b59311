"""How many trips to the server a respondent waits for: the page, then all that it needs at once."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from typing import Any

import pytest
from selenium.webdriver import Chrome
from tests.kit.pages.traces import LOGS

pytestmark = pytest.mark.browser
QUESTIONS = [{"id": f"q{i}", "text": f"Question {i}, of which there are twenty?", "type": "yes_no"} for i in range(20)]
PRELOAD = b'<link rel="preload" as="fetch"'
names = (f"loading{i}" for i in itertools.count())


def events(driver: Chrome) -> list[dict[str, Any]]:
    """What the network did since the last call."""
    return [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]


def requests(happened: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Path and initiator of each request after the page's own: `parser` where the page's markup asked for it, `script` where code did."""
    sent = [event["params"] for event in to_the_site(happened) if event["method"] == "Network.requestWillBeSent"]
    return [(one["request"]["url"].split("/", 3)[3], one["initiator"]["type"]) for one in sent if one["type"] != "Document"]


def to_the_site(happened: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The events of requests to a server of the tests; a browser that starts loads pages of its own."""
    network = [event for event in happened if event["method"].startswith("Network.")]
    begun = [event["params"] for event in network if event["method"] == "Network.requestWillBeSent"]
    ids = {one["requestId"] for one in begun if one["request"]["url"].startswith("http://127.0.0.1")}
    return [event for event in network if event["params"].get("requestId") in ids]


def test_consent_waits_for_two_trips_and_less_than_100_kilobytes(new_browser: Callable[..., Chrome], make_page: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS, epsilon=5)
    driver = new_browser(capabilities=LOGS)
    assert make_page(driver).open(site.link(survey)) == "consent"
    happened = events(driver)
    asked = requests(happened)
    assert {initiator for _, initiator in asked} == {"parser"}  # code asks for nothing that is not on its way
    assert len(asked) == len(dict(asked))  # and nothing comes twice
    assert f"api/v1/surveys/{survey.id}" in dict(asked)
    finished = [event["params"] for event in to_the_site(happened) if event["method"] == "Network.loadingFinished"]
    assert 10_000 < sum(one["encodedDataLength"] for one in finished) < 100_000


def test_a_trip_that_code_asks_for_is_noticed(new_browser: Callable[..., Chrome], make_page: Any, proxy: Any, site: Any) -> None:
    survey = site.publish(id=next(names), questions=QUESTIONS, epsilon=5)
    proxy.alter[f"/s/{survey.id}"] = (PRELOAD, b'<link rel="nothing" as="fetch"')
    driver = new_browser(capabilities=LOGS)
    assert make_page(driver).open(proxy.link(survey)) == "consent"
    assert (f"api/v1/surveys/{survey.id}", "script") in requests(events(driver))
