"""The results page, read as a screen reader reads it: what each question's chart says, and that it says the same as the downloads."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from tests.kit.pages.tables import Table, tables
from tests.kit.servers.release import release_people

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.estimate import MeanRow
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.pages import figures
from deniable_server.results.results import results_of
from deniable_server.store import open_store
from deniable_server.store.protocol import Store

KINDS = Survey.from_text("""
deniable: 1
batch: 1
accept_small_batches: true
id: kinds
title: All kinds
about: Who asks, and why.
epsilon: 8
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no, required: false}
  - {id: party, text: Which party?, type: choice, options: [Red, "=Green", <b>Blue</b>]}
  - {id: used, text: Which have you used?, type: multi_choice, options: [cannabis, cocaine], required: false}
  - {id: took, text: Which did you take?, type: multi_choice, options: [tea, coffee]}
  - {id: mood, text: How do you feel?, type: scale, options: [bad, so so, good], scores: [-1, 0, 4]}
  - {id: hours, text: How many hours?, type: number, low: 0, high: 14, levels: 3, required: false}
  - {id: age, text: How old?, type: number, low: 16, high: 120, bins: [{name: young, from: 16}, {name: old, from: 60}]}
""")
TRUTH = {
    "smokes": (0.3, 0.6, 0.1),
    "party": (0.5, 0.3, 0.2),
    "used[cannabis]": (0.2, 0.7, 0.1),
    "used[cocaine]": (0.02, 0.88, 0.1),
    "took[tea]": (0.9, 0.1),
    "took[coffee]": (0.4, 0.6),
    "mood": (0.2, 0.3, 0.5),
    "hours": (0.1, 0.6, 0.2, 0.1),
    "age": (0.7, 0.3),
}
PAGE = "/manage/surveys/kinds"


def send(store: Store, survey: Survey, n: int, truth: dict[str, tuple[float, ...]], group: str | None = None) -> None:
    """n people whose answers have these shares, exactly, perturbed as they are on devices."""
    bits = [
        randomize(item.channel, np.repeat(np.arange(item.k), np.round(n * np.array(truth[item.id])).astype(int)), os_words)
        for item in survey.items
    ]
    store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, n, pack(survey, bits), group))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = open_store(tmp_path / "deniable.db")
    made.surveys.publish(KINDS)
    return made


@pytest.fixture
def ada(store: Store, tmp_path: Path, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    """Of a researcher who is logged in."""
    return logged_in(create_app(Config(tmp_path / "deniable.db", "x" * 40), store))


@pytest.fixture
def answered(store: Store, ada: FlaskClient) -> FlaskClient:
    send(store, KINDS, 2000, TRUTH)
    return ada


def rows_of(client: FlaskClient, query: str = "") -> dict[tuple[str, str], dict[str, Any]]:
    rows = client.get(f"{PAGE}/results.json{query}").get_json()["rows"]
    return {(row["question"], row["option"]): row for row in rows}


def line(row: dict[str, Any]) -> dict[str, str]:
    """What a chart says of a row of the JSON."""
    beyond = ", below the scale" if row["estimate"] < 0 else ", above the scale" if row["estimate"] > 1 else ""
    return {
        "Estimate": figures.percent(row["estimate"]) + beyond,
        "95% interval": f"{figures.number(row['low'])} to {figures.percent(row['high'])}",
        "Adjusted": figures.percent(row["adjusted"]),
        "Recorded": figures.percent(row["ones"] / row["n"]),
    }


def charts(client: FlaskClient, query: str = "") -> dict[str, Table]:
    found = tables(client.get(PAGE + query).text)
    found.pop("summary")
    return found


# Every question is one chart, and says the figures of the JSON.


@pytest.mark.slow
def test_each_question_is_one_chart_of_the_figures_that_the_json_has(answered: FlaskClient) -> None:
    rows, found = rows_of(answered), charts(answered)
    for name in ("smokes", "party", "mood", "age"):
        item = next(item for item in KINDS.items if item.id == name)
        assert found[f"Estimates: {item.text}"] == {option: line(rows[name, option]) for option in item.categories}
    assert re.findall(r'<h2 id="q-(\w+)"', answered.get(PAGE).text) == [question.id for question in KINDS.questions]


@pytest.mark.slow
def test_a_multiple_choice_is_one_chart_with_a_row_for_each_option(answered: FlaskClient) -> None:
    rows, found = rows_of(answered), charts(answered)
    assert found["Estimates: Which did you take?"] == {option: line(rows[f"took[{option}]", "yes"]) for option in ("tea", "coffee")}
    assert "The rest: Which did you take?" not in found, "where nobody may skip it, those who did not choose are the others"
    options = ("cannabis", "cocaine")
    assert found["Estimates: Which have you used?"] == {option: line(rows[f"used[{option}]", "yes"]) for option in options}
    assert found["The rest: Which have you used?"] == {
        f"{option}: {rest}": line(rows[f"used[{option}]", rest]) for option in options for rest in ("no", "no answer")
    }


@pytest.mark.slow
def test_a_number_is_its_mean_with_interval_and_scale_first_and_levels_that_are_said_to_be_rounded(answered: FlaskClient) -> None:
    page, rows = answered.get(PAGE).text, rows_of(answered)
    (mean,) = (row for row in answered.get(f"{PAGE}/results.json").get_json()["means"] if row["question"] == "hours")
    found = charts(answered)
    text = figures.text(figures.of_mean(MeanRow(**mean)))
    assert found["Mean: How many hours?"] == {"Mean": {"Estimate": text.value, "95% interval": text.interval, "n": "2,000"}}
    assert found["Levels: How many hours?"] == {level: line(rows["hours", level]) for level in ("0", "7", "14")}
    assert found["Estimates: How many hours?"] == {"no answer": line(rows["hours", "no answer"])}
    card = page.split('id="q-hours"')[1].split("</section>")[0]
    assert card.index("Mean") < card.index("rounded at random") < card.index("Show all 3 levels")
    assert re.search(r"a bar is not the\s+share of people with that number", card)
    bars = re.search(r'class="histogram" role="img" aria-label="Estimated shares of the levels: ([^"]*)"', card)
    assert bars is not None
    assert bars.group(1) == ", ".join(f"{level}: {figures.percent(rows['hours', level]['estimate'])}" for level in ("0", "7", "14"))
    assert re.findall(r'class="tick"[^>]*>([^<]*)<', card)[:4] == ["0", "5", "10", "14"]


def test_a_scale_has_its_mean_and_its_options(answered: FlaskClient) -> None:
    found = charts(answered)
    assert list(found["Mean: How do you feel?"]) == ["Mean"]
    assert list(found["Estimates: How do you feel?"]) == ["bad", "so so", "good"]
    assert "Levels: How do you feel?" not in found


# The summary.


def test_the_summary_has_a_line_and_a_link_for_each_question(answered: FlaskClient) -> None:
    page, rows = answered.get(PAGE).text, rows_of(answered)
    summary = tables(page)["summary"]
    assert list(summary) == [question.text for question in KINDS.questions]
    assert re.findall(r'href="#(q-\w+)"', page) == re.findall(r'<h2 id="(q-\w+)"', page)
    smokes, mean = rows["smokes", "yes"], charts(answered)["Mean: How many hours?"]["Mean"]
    assert summary["Do you smoke?"] == {
        "Figure": "yes",
        "Estimate": figures.percent(smokes["estimate"]),
        "95% interval": line(smokes)["95% interval"],
        "n": "2,000",
        "ε": f"{KINDS.questions[0].epsilon:.4g}",
    }
    assert summary["How many hours?"]["Figure"] == "mean, from 0 to 14"
    assert (summary["How many hours?"]["Estimate"], summary["How many hours?"]["95% interval"]) == (mean["Estimate"], mean["95% interval"])
    assert summary["How do you feel?"]["Figure"] == "mean, from −1 to 4"
    assert summary["Which have you used?"]["ε"] == f"{KINDS.questions[2].epsilon:.4g}"


def test_the_summary_names_no_winner_among_several_options(answered: FlaskClient) -> None:
    party = tables(answered.get(PAGE).text)["summary"]["Which party?"]
    halves = [(row["high"] - row["low"]) / 2 for (name, _), row in rows_of(answered).items() if name == "party"]
    assert party["Estimate"] == "3 options"
    assert party["95% interval"] == f"±{figures.number(max(halves))} points or less"


# Said once.


def test_what_chance_records_is_said_once_with_the_range_over_the_questions(answered: FlaskClient) -> None:
    page = html.unescape(answered.get(PAGE).text)
    assert page.count("are recorded as if they did. The estimate corrects for that.") == 1
    rates = {row["chance_rate"] for row in rows_of(answered).values()}
    least, most = (figures.of_people(rate) for rate in (min(rates), max(rates)))
    assert f"<strong>Between {least.removesuffix(' people')} and {most}</strong> who do not choose an option" in page
    assert page.count("the share expected by chance alone") == 1


def test_the_explanation_is_folded_once_and_stands_before_the_first_answer(answered: FlaskClient) -> None:
    page = answered.get(PAGE).text
    assert page.count("How to read this") == page.count('<details class="reading">') == 1
    assert page.index("How to read this") < page.index('class="said"')


@pytest.mark.slow
def test_english_pages_write_percent_without_a_space(answered: FlaskClient, store: Store) -> None:
    for page in (PAGE, f"{PAGE}?confidence=0.99", "/manage"):
        assert not re.search(r"\d\s%", answered.get(page).text)


# Few people, and far outside.


def alone(n: int) -> Survey:
    """A survey of one yes/no question for n people."""
    return Survey.from_dict(
        {
            "deniable": 1,
            "batch": 1,
            "accept_small_batches": True,
            "id": f"alone{n}",
            "title": "T",
            "about": "A",
            "epsilon": "ln 3",
            "questions": [{"id": "q", "text": "Q?", "type": "yes_no"}],
        }
    )


@pytest.mark.parametrize("n", [1, 6, 383, 384, 385, 2000])
def test_below_the_number_for_ten_points_the_page_says_how_many_are_needed(store: Store, ada: FlaskClient, n: int) -> None:
    survey = alone(n)
    store.surveys.publish(survey)
    send(store, survey, n, {"q": (1.0, 0.0)})
    release_people(store)
    page = ada.get(f"/manage/surveys/{survey.id}").text
    needed = figures.needed(survey, 0.95)
    assert 100 < needed < 2000
    told = f"{'1 record' if n == 1 else f'{n} records'} so far. At this level of privacy, you need about {needed} for ± 10 points."
    assert (told in page) == (n < needed)
    assert ("so far" in page) == (n < needed)


def bits(store: Store, survey: Survey, *records: list[bool]) -> None:
    """Records whose bits are as given, whatever coins would say."""
    shaped = [
        np.array([[bit] + [not bit] * (item.k == 2) for bit in column])
        for item, column in zip(survey.items, zip(*records, strict=True), strict=True)
    ]
    store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, len(records), pack(survey, shaped)))


def test_an_estimate_far_outside_is_an_arrow_with_its_number_and_is_not_cut_off(store: Store, ada: FlaskClient) -> None:
    survey = alone(40)
    store.surveys.publish(survey)
    bits(store, survey, *[[True]] * 40)
    page = ada.get(f"/manage/surveys/{survey.id}").text
    found = tables(page)["Estimates: Q?"]
    assert [found[option]["Estimate"] for option in ("yes", "no")] == ["150.0%, above the scale", "−50.0%, below the scale"]
    assert [found[option]["Adjusted"] for option in ("yes", "no")] == ["100.0%", "0.0%"]
    section = page.split('class="card question"')[1]
    assert section.count('<path class="arrow"') == 2
    assert '<circle class="estimate"' not in section, "there is nothing inside the scale to point at"
    assert section.count('class="interval"') == 2
    assert "all records name it. Honest coins give at most 75% on average" in section


def test_what_chance_alone_took_outside_is_told_by_its_arrow_and_explained_once(store: Store, ada: FlaskClient) -> None:
    survey = alone(41)
    store.surveys.publish(survey)
    bits(store, survey, *[[False]] * 40, *[[True]] * 9)  # 18%, where chance alone gives 25%
    page = ada.get(f"/manage/surveys/{survey.id}").text
    assert tables(page)["Estimates: Q?"]["yes"]["Estimate"] == "−13.3%, below the scale"
    assert "That is chance, not a mistake" in page
    assert 'class="warning"' not in page.split('class="card question"')[1]
    assert "below 0% by chance" in ada.get(f"/manage/surveys/{survey.id}/results.csv").text


def test_limits_that_are_no_shares_are_no_sentence_and_name_the_method_to_take(store: Store, ada: FlaskClient) -> None:
    """Nobody of five is told of in 100 people by limits from below 0 to above 100%."""
    send(store, KINDS, 5, {name: (1.0, *[0.0] * (len(shares) - 1)) for name, shares in TRUTH.items()})
    default, wald = (ada.get(PAGE + query).text for query in ("", "?method=wald"))
    first = [re.findall(r'id="said-smokes">(.*?)</span>', page, re.DOTALL)[0] for page in (default, wald)]
    assert "of 100 people answer" in first[0]
    assert first[1] == "The interval reaches beyond 0 to 100%, so it has no meaning as a number of people."
    assert ["Use feldman-cousins" in page for page in (default, wald)] == [False, True]
    assert re.findall(r'<a href="([^"]*)">show this page with it</a>', wald) == [f"{PAGE}?target=population&amp;confidence=0.95"]


def test_a_mean_far_outside_its_scale_is_an_arrow_with_its_number(store: Store, ada: FlaskClient) -> None:
    survey = Survey.from_text(
        "deniable: 1\nbatch: 1\naccept_small_batches: true\nid: cold\ntitle: T\nabout: A\nepsilon: ln 3\n"
        "questions: [{id: q, text: Q?, type: number, low: -20, high: -10, levels: 2}]"
    )
    store.surveys.publish(survey)
    bits(store, survey, *[[True]] * 30, *[[False]] * 2)
    page = ada.get("/manage/surveys/cold").text
    mean = tables(page)["Mean: Q?"]["Mean"]
    assert mean["Estimate"].endswith(", below the scale")
    assert float(mean["Estimate"].split(",")[0].replace("−", "-")) < -20
    assert page.split('id="q-q"')[1].count('<path class="arrow"') == 1 + 2, "the mean, and both levels in their table"


# Nobody yet, and too few to be counted.


@pytest.mark.slow
def test_without_responses_a_closed_survey_has_its_questions_and_no_figure(store: Store, ada: FlaskClient) -> None:
    store.surveys.set_open("kinds", False)
    page = ada.get(PAGE).text
    assert tables(page) == {}
    assert "<svg" not in page
    assert "so far" not in page
    assert "How to read" not in page
    assert [question.text in html.unescape(page) for question in KINDS.questions] == [True] * len(KINDS.questions)
    assert "No records are counted yet." in page


def test_below_the_batch_the_page_is_that_of_nobody(store: Store, ada: FlaskClient) -> None:
    waiting = Survey.from_dict({**KINDS.to_dict(), "id": "waiting", "batch": 10})
    store.surveys.publish(waiting)

    def seen() -> str:
        return re.sub(r'(name="csrf_token"[^>]*value=")[^"]*', r"\1", ada.get("/manage/surveys/waiting").text)

    before, everybody = seen(), {name: (1.0, *(0.0 for _ in shares[1:])) for name, shares in TRUTH.items()}
    send(store, waiting, 9, everybody)
    for _ in range(9):
        send(store, waiting, 1, everybody)
        assert seen() == before
    send(store, waiting, 1, everybody)
    assert seen() != before


# Downloads.


def test_the_csv_has_the_means_too_and_says_which_line_is_what(answered: FlaskClient) -> None:
    found = list(csv.DictReader(io.StringIO(answered.get(f"{PAGE}/results.csv").text)))
    json = answered.get(f"{PAGE}/results.json").get_json()
    means = [line for line in found if line["figure"] == "mean"]
    shares = [line for line in found if line["figure"] == "share"]
    assert len(means) + len(shares) == len(found)
    assert [
        (line["question"], line["option"], float(line["estimate"]), float(line["low"]), float(line["high"]), line["n"]) for line in means
    ] == [(row["question"], "", row["mean"], row["low"], row["high"], str(row["n"])) for row in json["means"]]
    assert [(line["question"], float(line["estimate"]), float(line["adjusted"])) for line in shares] == [
        (row["question"], row["estimate"], row["adjusted"]) for row in json["rows"]
    ]


def test_no_cell_of_the_csv_is_a_formula(answered: FlaskClient) -> None:
    cells = [cell for line in csv.reader(io.StringIO(answered.get(f"{PAGE}/results.csv").text)) for cell in line]
    assert "'=Green" in cells
    assert not [cell for cell in cells if cell[:1] in "=+-@\t\r" and cell and not re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)]


def test_each_question_begins_with_its_answer_in_words_that_are_no_surer_than_its_interval(answered: FlaskClient, store: Store) -> None:
    page, found = answered.get(PAGE).text, results_of(store, "kinds", {})
    rows = {(row.question, row.option): row for row in found.rows}
    texts = dict(re.findall(r'id="said-(\w+)">(.*?)</span>', page, re.DOTALL))
    said = {name: " ".join(html.unescape(re.sub(r"<[^>]+>", "", text)).split()) for name, text in texts.items()}

    def between(question: str, option: str) -> str:
        return figures.in_words(figures.of_share(rows[question, option]))

    assert list(said) == [question.id for question in KINDS.questions]
    assert said["smokes"] == f"{between('smokes', 'yes').capitalize()} people answer yes."
    assert said["age"] == f"{between('age', 'young').capitalize()} people answer young."
    assert said["party"] == "; ".join(f"{option}: {between('party', option)}" for option in KINDS.questions[1].categories) + "."
    assert said["took"] == f"tea: {between('took[tea]', 'yes')}; coffee: {between('took[coffee]', 'yes')}."
    (mean,) = [mean for mean in found.means if mean.question == "hours"]
    assert said["hours"] == "The mean is between {} and {}, on a scale from 0 to 14.".format(*figures.text(figures.of_mean(mean))[1:])
    for card in page.split('<section class="card question"')[1:]:
        assert 0 < card.index('class="said"') < card.index("<svg")


@pytest.mark.slow
def test_the_chart_of_each_question_is_a_picture_by_itself_with_its_figures(answered: FlaskClient, store: Store) -> None:
    found = results_of(store, "kinds", {"confidence": "0.9"})
    for question in KINDS.questions:
        reply = answered.get(f"{PAGE}/chart/{question.id}.svg?confidence=0.9")
        assert (reply.status_code, reply.mimetype) == (200, "image/svg+xml")
        drawn = ElementTree.fromstring(reply.data)
        words = " ".join(drawn.itertext())
        assert "script" not in {element.tag.rpartition("}")[2] for element in drawn.iter()}
        rows = [row for row in found[question.id].rows if row.option == "yes" or not question.labels]
        figured = [] if question.rounds else [f"{100 * row.estimate:.1f}% ({100 * row.low:.1f}% to {100 * row.high:.1f}%)" for row in rows]
        assert [figure for figure in figured if figure not in words.replace("−", "-")] == []
    page = answered.get(f"{PAGE}?confidence=0.9").text
    assert all(f"/chart/{question.id}.svg?" in page for question in KINDS.questions)
    assert answered.get(f"{PAGE}/chart/nothing.svg").status_code == 404
