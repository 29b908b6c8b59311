"""The results page before the first release: a preview with simulated answers, marked as such, which nobody can take for results."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, render_template
from flask.testing import FlaskClient
from tests.kit.pages.tables import tables
from tests.kit.servers.release import release_people
from tests.kit.surveys import submission

from deniable.survey import Survey
from deniable_server.researchers import results_body
from deniable_server.researchers import surveys as pages
from deniable_server.results import result_cache, simulated
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

KEYS = {
    "deniable": 1,
    "id": "clinics",
    "title": "Clinics",
    "about": "Who asks, and why.",
    "groups": ["North", "South"],
    "questions": [
        {"id": "smokes", "text": "Do you smoke?", "type": "yes_no", "epsilon": "ln 3"},
        {"id": "drinks", "text": "Do you drink?", "type": "yes_no", "epsilon": "ln 3"},
    ],
}
CLINICS = Survey.from_dict(KEYS)
PAGE = "/manage/surveys/clinics"
EVERY_KIND = Survey.from_text("""
deniable: 1
id: kinds
title: All kinds
about: Who asks, and why.
epsilon: 8
questions:
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue]}
  - {id: used, text: Used?, type: multi_choice, options: [tea, coffee, nothing], exclusive: [nothing], required: false}
  - {id: best, text: Best?, type: multi_choice, options: [a, b, c, d, e, f, g, h], at_most: 1}
  - {id: most, text: Most?, type: multi_choice, options: [a, b, c, d], none: d, at_least: 2}
  - {id: mood, text: How do you feel?, type: scale, options: [bad, so so, good]}
  - {id: hours, text: Hours?, type: number, low: 0, high: 14, levels: 3, required: false}
""")


@pytest.fixture
def ada(app: Flask, store: Store, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """The browser of a researcher of both surveys, of which no record has arrived."""
    for survey in (CLINICS, EVERY_KIND):
        store.surveys.publish(survey)
    return logged_in(app)


def text_of(page: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page.split("<main")[1])).split())


def get(client: FlaskClient, address: str = PAGE) -> str:
    """Returns a page without what is different for each request."""
    reply = client.get(address)
    assert reply.status_code == 200
    return re.sub(r'(name="csrf_token"[^>]*value=")[^"]*', r"\1", reply.text)


def arrive(store: Store, n: int, group: str = "North", mode: str = "device") -> None:
    for _ in range(n):
        store.submissions.add("clinics", submission(CLINICS, group=group, mode=mode))


def people_in(page: str) -> int:
    """Returns the number of simulated people of a preview, which it must state at each place."""
    note, *others = re.findall(r"([\d,]+) pe(?:rson|ople)s? with invented answers|<dt>simulated records</dt><dd>([\d,]+)</dd>", page)
    numbers = {int("".join(each).replace(",", "")) for each in (note, *others)}
    (n,) = numbers
    assert set(re.findall(r"<span>n = ([\d,]+)</span>", page)) == {f"{n:,}"}
    return n


def is_preview(page: str) -> bool:
    """Returns whether a page is marked as a preview in all places, or in none."""
    marks = [
        ": simulated results</title>" in page,
        re.search(r'role="note"><h2[^>]*>Preview with simulated answers</h2>', page) is not None,
        "No answer of a real person is in the figures below" in page,
        "<dt>simulated record" in page,
        "Simulated answers." in page,
    ]
    assert len(set(marks)) == 1, marks
    return marks[0]


def test_the_preview_is_marked_at_the_title_at_the_top_and_at_each_question(ada: FlaskClient) -> None:
    for survey in (CLINICS, EVERY_KIND):
        page = get(ada, f"/manage/surveys/{survey.id}")
        assert is_preview(page)
        assert page.count("Simulated answers.") == len(survey.questions)
        assert page.index("Preview with simulated answers") < page.index("<dt>simulated records")
        assert "Fewer than 10 records have arrived." in text_of(page)
        assert people_in(page) == pages.SIMULATED
        assert tables(page)


def test_the_control_a_page_of_results_is_marked_nowhere(ada: FlaskClient, store: Store) -> None:
    store.submissions.add("clinics", submission(CLINICS, 40, group="North", mode="organisation"))
    assert not is_preview(get(ada))


def test_a_preview_without_its_mark_would_be_found(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: simulated figures under the title of results."""

    def render_unmarked(name: str, **context: Any) -> str:
        return render_template(name, **{**context, "simulated": None})

    for module in (pages, results_body):
        monkeypatch.setattr(module, "render_template", render_unmarked)
    page = get(ada)
    assert tables(page)
    assert not is_preview(page)


def test_nothing_of_a_preview_can_be_downloaded(ada: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    page = get(ada).split("<main")[1]
    assert not re.findall(r"results\.(?:csv|json)|chart/|\.svg|Download", page)
    assert not re.findall(r"<a [^>]*\bdownload\b", page)
    monkeypatch.setattr(simulated, "simulated_results", lambda *_: pytest.fail("a download asked for simulated answers"))
    assert ada.get(f"{PAGE}/results.json").get_json()["n"] == 0
    assert {row["n"] for row in ada.get(f"{PAGE}/results.json").get_json()["rows"]} == {0}
    reply = ada.get("/api/v1/surveys/clinics/results", auth=("ada", "correct horse battery"))
    assert (reply.get_json()["n"], reply.get_json()["waiting"]) == (0, 0)
    store.submissions.add("clinics", submission(CLINICS, 40, group="North", mode="organisation"))
    assert "results.csv" in get(ada)  # the control


def test_a_preview_says_neither_which_groups_have_records_nor_how_many(ada: FlaskClient, store: Store) -> None:
    empty = get(ada)
    arrive(store, 9, "South")
    assert get(ada) == empty
    arrive(store, 1, "South")
    after_ten = get(ada)
    assert "10 or more records have arrived and wait for their release" in text_of(after_ten)
    assert people_in(after_ten) == 10
    assert "Records of each group" not in after_ten
    assert not re.findall(r"South|North", text_of(after_ten))


@pytest.mark.parametrize("query", ["?group=North", "?by_hand=1", "?group=South&by_hand=1"])
def test_there_is_no_preview_of_a_group_or_of_records_made_by_hand(ada: FlaskClient, store: Store, query: str) -> None:
    arrive(store, 30)
    arrive(store, 30, mode="by_hand")
    page = get(ada, PAGE + query)
    assert not is_preview(page)
    assert "counted yet" in text_of(page)
    assert tables(page) == {}


def test_the_preview_has_as_many_people_as_have_arrived_or_are_expected(ada: FlaskClient, store: Store) -> None:
    assert people_in(get(ada)) == 1_000
    store.life.keep("clinics", Settings(expected=250))
    assert people_in(get(ada)) == 250
    store.life.keep("clinics", Settings(expected=10**6))
    assert people_in(get(ada)) == simulated.MOST
    arrive(store, 25)
    assert people_in(get(ada)) == 20


def test_reloading_the_page_shows_the_same_figures(ada: FlaskClient, store: Store) -> None:
    arrive(store, 30)
    first, *again = (get(ada) for _ in range(5))
    assert again == [first] * 4
    store.life.keep("clinics", Settings(half_width=0.05))
    assert tables(get(ada)) == tables(first)


def test_the_control_other_simulated_people_show_other_figures(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tables(get(ada))
    simulated._tally.cache_clear()
    monkeypatch.setattr(result_cache, "_values", ByteCache(result_cache.CACHE_BYTES))
    assert tables(get(ada)) != first


def test_the_preview_is_gone_after_the_first_release(ada: FlaskClient, store: Store) -> None:
    arrive(store, 40)
    assert is_preview(get(ada))
    assert release_people(store) == ["clinics"]
    page = get(ada)
    assert not is_preview(page)
    assert "<dt>records</dt><dd>30</dd>" in page
    arrive(store, 40)
    assert "<dt>records</dt><dd>30</dd>" in get(ada)


def test_the_preview_is_gone_after_the_close_also_if_too_few_records_came(ada: FlaskClient, store: Store) -> None:
    arrive(store, 9)
    store.surveys.set_open("clinics", False)
    page = get(ada)
    assert not is_preview(page)
    assert "No records are counted yet." in text_of(page)
    assert tables(page) == {}


def test_the_control_a_preview_that_stays_is_noticed(ada: FlaskClient, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "_simulated", lambda *given: simulated.simulated_results(CLINICS, 30, given[-1]))
    arrive(store, 40)
    release_people(store)
    assert is_preview(get(ada))


def test_a_survey_that_is_too_wide_has_no_preview(ada: FlaskClient, store: Store) -> None:
    question = {"type": "yes_no", "text": "?"}
    questions = [{**question, "id": f"q{i}"} for i in range(simulated.WIDEST + 1)]
    keys = {key: value for key, value in KEYS.items() if key != "groups"}
    store.surveys.publish(Survey.from_dict({**keys, "id": "wide", "epsilon": 8, "questions": questions}))
    page = get(ada, "/manage/surveys/wide")
    assert not is_preview(page)
    assert "No records are counted yet." in text_of(page)


def test_a_question_with_several_options_says_how_many_may_be_selected(ada: FlaskClient) -> None:
    rules = re.findall(r"People may choose ([^<.]*)\.", ada.get("/manage/surveys/kinds").text)
    exclusive = ", or one that excludes all others"
    assert rules == [f"up to 2 options{exclusive}", "up to 1 option", f"2 to 3 options{exclusive}"]
