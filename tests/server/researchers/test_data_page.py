"""The page with the downloads of a survey: it names every file, how long it is about, and why the rows may be published."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.release import release_people

from deniable import extras
from deniable.bundle import FILES, LICENCES, approximate_sizes, publishable
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server.pages.figures import file_size
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

PAGE = "/manage/surveys/study/data"


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


@pytest.fixture
def sent(store: Store, survey: Survey) -> int:
    truth = {item.id: [1 / item.k] * item.k for item in survey.items}
    store.submissions.add("study", Submission(bytes(16), survey.digest, 4000, simulate(survey, truth, n=4000).reports, mode="organisation"))
    return 4000


def buttons(page: str) -> dict[str, str]:
    """The downloads of the page by what they are called."""
    return {unescape(name): unescape(address) for address, name in re.findall(r'formaction="([^"]+)"[^>]*>([^<]+)</button>', page)}


@pytest.mark.slow
def test_the_page_has_every_file_of_the_bundle_and_each_can_be_had(ada: FlaskClient, sent: int, survey: Survey) -> None:
    page = ada.get(PAGE).text
    found = buttons(page)
    assert set(found) == {*FILES, *(name for name in found if name.startswith("Download all, under"))}
    assert len(found) == len(FILES) + 1
    for name, address in found.items():
        reply = ada.get(address, query_string={"licence": "cc0-1.0"})
        assert (reply.status_code, len(reply.data) > 0) == (200, True), name
    assert publishable(survey) in unescape(page)
    assert "4,000 records" in page
    assert set(re.findall(r'<option value="([^"]+)"', page)) == set(LICENCES)


@pytest.mark.slow
def test_files_are_as_long_as_the_page_says_within_a_tenth_and_packed_ones_at_most(ada: FlaskClient, sent: int, survey: Survey) -> None:
    page = ada.get(PAGE).text
    for name, said in approximate_sizes(survey, sent).items():
        real = len(ada.get(f"{PAGE}/{name}").data)
        assert real <= said.size if said.at_most else abs(real - said.size) <= real / 10, (name, said, real)
        assert file_size(*said) in page
    assert {name for name, said in approximate_sizes(survey, sent).items() if not said.at_most} == {"rows.csv", "rows.sav", "rows.dta"}


def test_what_cannot_be_made_is_no_link_and_says_why(ada: FlaskClient, sent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.bundle.workbook.MOST_ROWS", 3999)
    page = ada.get(PAGE).text
    assert "rows.xlsx" not in buttons(page)
    assert "Not included: a sheet holds at most 3,999 rows below its header, and there are 4,000 records." in page
    assert "ows.xlsx is left out" in ada.get(f"{PAGE}/rows.xlsx").text


@pytest.mark.parametrize(
    ("need", "file", "extra"), [("parquet", "rows.parquet", "tables"), ("docx", "report.docx", "bundle"), ("pdf", "report.pdf", "pdf")]
)
def test_what_the_server_has_no_package_for_is_no_link_and_no_command(
    ada: FlaskClient, sent: int, monkeypatch: pytest.MonkeyPatch, need: str, file: str, extra: str
) -> None:
    assert file in buttons(ada.get(PAGE).text)
    monkeypatch.setitem(extras._PACKAGES, need, ("no_such_package",))
    page = ada.get(PAGE).text
    assert file not in buttons(page)
    assert f"Not included: the server lacks the extra {extra}." in page
    assert "pip" not in page


def test_the_page_counts_records_made_by_hand_apart(ada: FlaskClient, store: Store) -> None:
    question = {"id": "stole", "text": "?", "type": "yes_no", "epsilon": "ln 3"}
    coins = Survey.from_dict(
        {"deniable": 1, "batch": 1, "accept_small_batches": True, "id": "coins", "title": "T", "about": "A.", "questions": [question]}
    )
    store.surveys.publish(coins)
    for i, (mode, n) in enumerate({"device": 30, "by_hand": 4}.items()):
        raw = simulate(coins, {"stole": [0.5, 0.5]}, n=n).reports
        part = Part(mode=mode)  # type: ignore[arg-type]
        store.submissions.add("coins", Submission(bytes([i] * 16), coins.digest, n, raw, part.group, part.mode))
    assert "30 records, and 4 by coin toss" in ada.get("/manage/surveys/coins/data").text


def test_a_survey_without_records_has_the_page_and_the_files(ada: FlaskClient) -> None:
    assert "0 records" in ada.get(PAGE).text
    assert ada.get(f"{PAGE}/bundle.zip").status_code == 200


@pytest.mark.parametrize(
    ("size", "words"),
    [
        (0, "under 1 kB"),
        (999, "under 1 kB"),
        (1000, "1.0 kB"),
        (43_210, "43 kB"),
        (2_650_000, "2.6 MB"),
        (10**10, "10 GB"),
        (10**13, "10,000 GB"),
    ],
)
def test_a_length_is_told_in_two_digits(size: int, words: Any) -> None:
    assert file_size(size) == words


def test_below_the_least_records_nothing_can_be_pressed_and_the_page_says_what_there_will_be_and_when(
    ada: FlaskClient, store: Store, submissions: Callable[..., Submission]
) -> None:
    store.submissions.add("study", submissions(12))
    store.life.keep("study", Settings(least=13))
    page = unescape(ada.get(PAGE).text)
    main = page.split("<main")[1]
    assert not re.findall(r"formaction|<select|<button", main)
    assert "No file can be downloaded yet: estimates are shown from 13 records on; 12 are counted." in page
    assert all(f">{name}</th>" in page for name in FILES)
    assert "bundle.zip" in main
    assert ada.get(f"{PAGE}/bundle.zip").status_code == 403
    store.submissions.add("study", submissions(1))
    release_people(store)
    assert len(buttons(ada.get(PAGE).text)) == len(FILES) + 1
