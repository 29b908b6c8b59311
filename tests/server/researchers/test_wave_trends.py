"""Trends on the page of waves: the library's slopes over 3 and 12 waves, and what is not there in one of them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.servers.tallies import tally_of

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import Analysis, analyse
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.pages import figures
from deniable_server.pages.chart import SHARE_TICKS, SHARES
from deniable_server.pages.figures import Figure, Unit
from deniable_server.pages.trend_chart import PLOT, trend_chart
from deniable_server.researchers import wave_trends
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role

SMOKES = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
MOOD = {"id": "mood", "text": "Mood?", "type": "scale", "options": ["bad", "so so", "good"]}
TOOK = {"id": "took", "text": "Took?", "type": "multi_choice", "options": ["tea", "coffee"], "required": False}
PARTY = {"id": "party", "text": "Party?", "type": "choice", "options": ["Red", "Green", "Blue"]}
ALL = (SMOKES, MOOD, TOOK, PARTY)
CARD = '<section class="card trend"'


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


def wave(store: Store, number: int, share: float, questions: tuple[dict[str, Any], ...] = ALL, n: int = 1500) -> None:
    """Publishes a wave; this share of n people gives the first answer, the others the second."""
    head = {"deniable": 1, "batch": 1, "accept_small_batches": True, "about": "A.", "epsilon": 8}
    survey = Survey.from_dict({**head, "id": f"w{number}", "title": f"Wave number {number}", "questions": list(questions)})
    store.surveys.publish(survey, "ada")
    if n:
        answers = (np.arange(n) >= n * share).astype(int)
        bits = [randomize(item.channel, answers, os_words) for item in survey.items]
        store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, n, pack(survey, bits)))
    if number > 1:
        store.studies.join(survey.id, "w1")


def analysis(store: Store, number: int) -> Analysis:
    survey = store.surveys.published(f"w{number}").survey
    return analyse(survey, tally_of(store, survey.id))


def cards(page: str) -> dict[str, str]:
    return {one.partition('id="t-')[2].partition('"')[0]: one.partition("</section>")[0] for one in html.unescape(page).split(CARD)[1:]}


def test_three_waves_show_the_librarys_slope_of_each_question_as_words_chart_and_table(store: Store, ada: FlaskClient) -> None:
    for number, share in ((1, 0.2), (2, 0.4), (3, 0.6)):
        wave(store, number, share)
    one, *others = (analysis(store, number) for number in (1, 2, 3))
    slopes = {(row.question, row.option): row for row in one.trend(*others, times=[1, 2, 3]).rows}
    reply = ada.get("/manage/surveys/w2/waves")
    shown = cards(reply.text)
    assert (reply.status_code, list(shown)) == (200, ["smokes", "mood", "took", "party"])
    charted = {
        "smokes": [("yes", "smokes", "yes")],
        "mood": [("Mean", "mood", "")],
        "took": [("tea", "took[tea]", "yes"), ("coffee", "took[coffee]", "yes")],
        "party": [(name, "party", name) for name in ("Red", "Green", "Blue")],
    }
    for question, blocks in charted.items():
        captions = re.findall(r"<strong><bdi>(.*?)</bdi></strong>: (.*?)\.</figcaption>", shown[question])
        descriptions = re.findall(r'<svg class="trend-plot" role="img" aria-label="([^"]+)"', shown[question])
        assert [name for name, _ in captions] == [name for name, *_ in blocks]
        assert len(descriptions) == len(blocks)
        for (name, *key), (_, words), description in zip(blocks, captions, descriptions, strict=True):
            row = slopes[key[0], key[1]]
            assert row.slope is not None
            figure = figures.of_difference(row.slope, Unit.POINTS if key[1] else Unit.SCORE_DIFFERENCE)
            unit = " points" if key[1] else ""
            assert words.startswith(f"{figures.text(figure).value}{unit} a wave ({figures.text(figure).interval}), ")
            assert ("no trend is shown" in words) == (not figure.excludes_zero)
            for place, side in enumerate(row.waves):
                assert side is not None
                value = figures.text(Figure(side.estimate or 0.0, side.low or 0.0, side.high or 0.0, Unit.SHARE if key[1] else Unit.SCORE))
                assert f"wave {place + 1}: {value.value} ({value.interval})" in description
                assert f'data-name="Estimate">{value.value}<' in shown[question]
            assert description.startswith(f"{name}: wave 1: ")
    assert "a rise" in shown["smokes"]
    assert "--second w2 --second w3 --times 1,2,3" in reply.text


def test_the_downloads_are_the_librarys_table(store: Store, ada: FlaskClient) -> None:
    for number, share in ((1, 0.2), (2, 0.4), (3, 0.6)):
        wave(store, number, share)
    one, *others = (analysis(store, number) for number in (1, 2, 3))
    trends = one.trend(*others, times=[1, 2, 3])
    assert ada.get("/manage/surveys/w3/trends.csv").text == trends.to_csv()
    assert ada.get("/manage/surveys/w1/trends.json").text == trends.to_json()


def test_two_waves_have_no_trend_and_a_third_without_records_makes_none(store: Store, ada: FlaskClient) -> None:
    wave(store, 1, 0.2)
    wave(store, 2, 0.4)
    assert 'id="trends"' not in ada.get("/manage/surveys/w1/waves").text
    wave(store, 3, 0.5, n=0)
    page = ada.get("/manage/surveys/w1/waves").text
    assert ('id="trends"' in page, page.count('<section class="card question"')) == (False, 4), "the two are compared as before"
    assert ada.get("/manage/surveys/w1/trends.csv").status_code == 400


def test_a_question_that_one_wave_lacks_has_a_gap_there_and_the_slope_of_the_others(store: Store, ada: FlaskClient) -> None:
    other = {**PARTY, "options": ["Green", "Red", "Blue"]}
    for number, questions in ((1, ALL), (2, (MOOD, TOOK, PARTY)), (3, ALL), (4, (SMOKES, MOOD, TOOK, other)), (5, (SMOKES, MOOD, other))):
        wave(store, number, 0.1 * number, questions)
    page = ada.get("/manage/surveys/w1/waves").text
    shown = cards(page)
    assert list(shown) == ["smokes", "mood", "took", "party"]
    smokes = shown["smokes"]
    one, *others = (analysis(store, number) for number in (1, 3, 4, 5))
    slope = next(row.slope for row in one.trend(*others, times=[1, 3, 4, 5]).rows if (row.question, row.option) == ("smokes", "yes"))
    assert slope is not None
    assert figures.text(figures.of_difference(slope, Unit.POINTS)).value + " points a wave" in smokes
    assert "wave 2: no estimate" in smokes
    assert (smokes.count('class="course"'), smokes.count("<circle")) == (2, 4), "no line over the gap"
    assert shown["mood"].count('class="course"') == 4
    assert "<code>party</code>" not in page, "three waves have it"
    later = html.unescape(ada.get("/manage/surveys/w5/waves").text)
    assert list(cards(later)) == ["smokes", "mood"]
    assert "<code>party</code>: fewer than three waves have it." in later
    lines = ada.get("/manage/surveys/w1/trends.csv").text
    assert "smokes,yes" in lines


def test_twelve_waves_have_a_label_each_and_no_figures_that_overlap(store: Store, ada: FlaskClient) -> None:
    for number in range(1, 13):
        wave(store, number, 0.04 * number, (SMOKES,), n=300)
    smokes = cards(ada.get("/manage/surveys/w7/waves").text)["smokes"]
    plot = smokes.partition("<svg class")[2].partition("</figure>")[0]
    assert [*re.findall(r'text-anchor="middle">(\d+)<', plot)] == [str(number) for number in range(1, 13)]
    assert (plot.count("<circle"), plot.count('class="course"'), plot.count('class="figure"')) == (12, 11, 0)
    assert smokes.count('<th scope="row"') == 12


def test_a_wave_with_too_few_records_is_left_out_without_a_figure(store: Store, ada: FlaskClient) -> None:
    for number in range(1, 5):
        wave(store, number, 0.2, (SMOKES,))
    store.life.keep("w2", replace(store.life.settings("w2"), least=3000))
    page = html.unescape(ada.get("/manage/surveys/w4/waves").text)
    assert "Trends over 3 waves" in page
    assert re.search(r"<li>Wave 2: .*shown from 3,000 records on", page)
    assert "wave 2: no estimate" in cards(page)["smokes"]
    store.life.keep("w3", replace(store.life.settings("w3"), least=3000))
    assert 'id="trends"' not in ada.get("/manage/surveys/w4/waves").text
    assert ada.get("/manage/surveys/w4/trends.json").status_code == 400


def test_a_wave_that_the_researcher_may_not_see_is_in_no_trend(store: Store, app: Flask, logged_in: Callable[..., FlaskClient]) -> None:
    for number in range(1, 5):
        wave(store, number, 0.2, (SMOKES,))
    eve = logged_in(app, "eve")
    for number in (1, 2, 3):
        store.roles.grant(f"w{number}", "eve", Role.VIEWER)
    page = eve.get("/manage/surveys/w1/waves").text
    assert "Trends over 3 waves" in page
    assert ("w4" in page, "wave 4" in page) == (False, False)
    store.roles.revoke("w3", "eve")
    assert eve.get("/manage/surveys/w1/trends.csv").status_code == 400


def test_an_invalid_option_is_refused_and_the_target_is_that_of_the_page(store: Store, ada: FlaskClient) -> None:
    for number in (1, 2, 3):
        wave(store, number, 0.2, (SMOKES,))
    assert ada.get("/manage/surveys/w1/waves?confidence=7").status_code == 400
    assert ada.get("/manage/surveys/w1/trends.csv?confidence=7").status_code == 400
    page = ada.get("/manage/surveys/w1/waves?target=respondents&confidence=0.8").text
    assert "trends.csv?target=respondents&amp;confidence=0.8" in page
    assert "80% interval" in cards(page)["smokes"]


def test_a_page_that_takes_any_wave_for_comparable_would_be_noticed(
    store: Store, ada: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control of the gap: the library itself refuses to mix them, so the page cannot show a wrong line either."""
    for number in (1, 2, 3):
        wave(store, number, 0.2, (SMOKES, PARTY if number < 3 else {**PARTY, "options": ["Green", "Red", "Blue"]}))
    assert list(cards(ada.get("/manage/surveys/w1/waves").text)) == ["smokes"]
    monkeypatch.setattr(wave_trends, "mismatch", lambda one, other: None)
    assert list(cards(ada.get("/manage/surveys/w1/waves").text)) == ["smokes"]


def share(value: float, low: float, high: float) -> Figure:
    return Figure(value, low, high, Unit.SHARE)


def test_the_chart_is_drawn_upwards_and_estimates_beyond_it_are_at_its_edge() -> None:
    figured = [(1, share(0.2, 0.1, 0.3)), (2, share(0.8, 0.7, 0.9)), (3, None), (4, share(-0.2, -0.4, 0.1))]
    chart = trend_chart(figured, SHARES, SHARE_TICKS, "%")
    one, two, gap, below = chart.points
    assert chart.bottom - chart.top == PLOT
    assert one.high < one.y < one.low
    assert two.y < one.y
    assert gap.mark is None
    assert below.mark is not None
    assert (below.mark.beyond, below.y, below.mark.is_low_cut) == ("below", chart.bottom, True)
    assert chart.lines == ((one.x, one.y, two.x, two.y),)
    assert [label for _, label in chart.grid] == ["0%", "25%", "50%", "75%", "100%"]
    assert all(chart.left < point.x < chart.right for point in chart.points)


@pytest.mark.parametrize("count", [2, 12, 13, 40])
def test_labels_of_waves_are_at_most_twelve(count: int) -> None:
    chart = trend_chart([(number, share(0.5, 0.4, 0.6)) for number in range(1, count + 1)], SHARES, SHARE_TICKS, "%")
    labels = [point.label for point in chart.points if point.label]
    assert labels[0] == "1"
    assert len(labels) == min(count, 12) if count <= 12 else 6 <= len(labels) <= 12
