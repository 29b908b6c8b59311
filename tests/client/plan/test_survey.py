"""A whole survey's plan: it agrees with its parts, with simulated surveys, and reads well."""

from __future__ import annotations

import json
import math
import re
import sys
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from deniable.errors import EstimateError
from deniable.estimate import share
from deniable.mechanism import Channel
from deniable.plan import (
    NO_PRIVACY,
    Clusters,
    Mechanism,
    SlopeOf,
    cell_half_width,
    curator,
    logit_slope,
    mean_half_width,
    outlook,
    plan,
    private,
    sample_size,
    smallest_effect,
)
from deniable.plan.half_widths import difference_half_width
from deniable.plan.power import power_of_interval
from deniable.plan.precision import expected_half_width, normal_half_width, share_half_width
from deniable.plan.result import QuestionPlan, points
from deniable.plan.survey import people_needed
from deniable.survey import Survey

FILE = """
deniable: 1
id: study
title: A study
about: Who asks, and why.
epsilon: ln 27
questions:
  - {id: smokes, text: Do you smoke?, type: yes_no}
  - {id: party, text: Which party?, type: choice, options: [Red, Green, Blue, White, Black, Grey, None]}
  - {id: drinks, text: Do you drink?, type: yes_no}
"""


COINS = private(Channel.for_epsilon(math.log(3), 2))
SEVEN = Channel.for_epsilon(1.0, 7)


@pytest.fixture(scope="module")
def survey() -> Survey:
    return Survey.from_text(FILE)


@pytest.mark.slow
def test_a_number_of_respondents_gives_every_questions_precision(survey: Survey) -> None:
    made = plan(survey, n=2_000)
    assert [row.question for row in made.rows] == ["smokes", "party", "drinks"]
    assert (made.n, made.half_width, made.epsilon) == (2_000, None, survey.epsilon)
    assert made.belief == 0.97  # 27 / 28, rounded up
    smokes, party, _ = made.rows
    assert smokes.half_width == pytest.approx(0.0438, abs=5e-5)
    assert smokes.half_width == pytest.approx(expected_half_width(COINS, 2_000), rel=0.02)
    assert smokes.half_width_no_privacy == normal_half_width(NO_PRIVACY, 2_000)
    assert smokes.half_width_curator == normal_half_width(curator(smokes.epsilon), 2_000)
    assert smokes.half_width_no_privacy < smokes.half_width_curator < smokes.half_width < party.half_width
    assert smokes.respondents_no_privacy == 500
    assert made.least_precise == party


def test_a_half_width_gives_the_respondents_and_the_hardest_question_decides(survey: Survey) -> None:
    made = plan(survey, half_width=0.03)
    smokes, party, drinks = made.rows
    assert smokes.respondents == drinks.respondents == 4_269
    assert made.n == party.respondents == sample_size(Mechanism(party.phi, party.theta), 0.03)
    assert all(row.half_width <= 0.03 for row in made.rows)
    assert smokes.respondents_no_privacy == 1_068


def test_what_will_show_is_what_the_power_says(survey: Survey) -> None:
    row = plan(survey, n=900).rows[0]
    coins = Mechanism(row.phi, row.theta)
    assert row.smallest_share is not None
    assert power_of_interval(coins, 900, row.smallest_share) == pytest.approx(0.8)
    assert normal_half_width(coins, row.smallest_group) <= 0.10 < normal_half_width(coins, row.smallest_group - 1)


def test_a_share_and_a_confidence_are_planned_for(survey: Survey) -> None:
    hardest, rare = plan(survey, n=2_000).rows[1], plan(survey, n=2_000, share=0.05, confidence=0.8).rows[1]
    assert rare.half_width < hardest.half_width
    assert rare.share == 0.05


@pytest.mark.slow
def test_simulated_surveys_are_as_precise_as_planned(survey: Survey) -> None:
    n, true, repeats = 400, 0.05, 4_000
    row = plan(survey, n=n, share=true).rows[0]
    counts = np.random.default_rng(14).binomial(n, row.phi + (row.theta - row.phi) * true, repeats)
    shares = {y: share(y, n, q0=row.phi, q1=row.theta) for y in set(counts.tolist())}
    found = [shares[y] for y in counts.tolist()]
    assert np.mean([(one.high - one.low) / 2 for one in found]) == pytest.approx(row.half_width, rel=0.01)
    assert np.std([one.estimate for one in found]) == pytest.approx(row.std_error, rel=0.06)
    assert np.mean([one.estimate < 0 for one in found]) == pytest.approx(row.chance_negative, abs=0.035)
    assert row.half_width < 0.8 * normal_half_width(COINS, n, share=true)  # near an end the formula alone would be too pessimistic


def test_a_handful_of_people_still_get_a_plan_and_it_says_that_nothing_will_show(survey: Survey) -> None:
    made = plan(survey, n=1)
    assert made.rows[0].smallest_share is None
    assert made.rows[0].half_width <= 0.5
    assert "none" in made.to_table()


def test_the_forms_of_a_plan_carry_the_same_figures(survey: Survey) -> None:
    made = plan(survey, n=2_000)
    assert json.loads(made.to_json()) == json.loads(json.dumps(made.to_dict()))
    frame = made.to_frame()
    assert list(frame.columns) == [field.name for field in fields(QuestionPlan)]
    assert frame["half_width"].tolist() == [row.half_width for row in made.rows]


def test_the_table_explains_every_column_to_a_stranger(survey: Survey) -> None:
    table = plan(survey, n=2_000).to_table()
    assert "A study (study)\n2,000 respondents · 95% confidence · epsilon 3.296 for the whole survey\n" in table
    assert "can become at most 97% sure" in table
    rows = [" ".join(line.split()) for line in table.splitlines() if line.startswith("smokes")]
    assert rows == [
        "smokes 33.3% 75 of 100 25 of 100",
        "smokes 2 1.099 2,000 ± 4.4 ± 2.2 ± 2.2 500 507",
        "smokes ± 8.8 points ± 6.3 points",
        "smokes 4.9% 12.5 points 385 0.5%",
    ]
    for column in (
        "part ",
        "recorded, if given ",
        "recorded, if not ",
        "private ",
        "no privacy ",
        "curator ",
        "same … ",
        "smallest share ",
        "smallest difference ",
        "smallest group ",
        "5% shown below 0 ",
    ):
        assert f"\n{column}" in table, column
    assert all(len(line) <= 140 for line in table.splitlines())


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.99])
def test_every_figure_of_a_plan_is_of_the_confidence_that_was_asked_for(survey: Survey, confidence: float) -> None:
    """What will show kept 95% and 5%, whatever the confidence."""
    usual, made = plan(survey, n=2_000), plan(survey, n=2_000, confidence=confidence)
    less = (confidence > 0.95) - (confidence < 0.95)
    for one, other in zip(made.rows, usual.rows, strict=True):
        for name in ("half_width", "difference_half_width", "cell_half_width", "smallest_share", "smallest_difference"):
            assert np.sign(getattr(one, name) - getattr(other, name)) == less, name
        coins = private(Channel.for_epsilon(one.epsilon, one.options))
        assert one.smallest_share == smallest_effect(coins, 2_000, alpha=1 - confidence)
        assert power_of_interval(coins, 2_000, one.smallest_share, confidence=confidence) == pytest.approx(0.8)
    table = made.to_table()
    assert f"the {100 * confidence:g}% interval of its estimate lies above 0" in table
    assert f"(two-sided test, {100 * (1 - confidence):.3g}%)" in table
    assert "95%" not in table.split("column ")[1]


@pytest.mark.parametrize("n", [1, 3, 200])
def test_so_little_confidence_that_anything_shows_is_a_plan_all_the_same(survey: Survey, n: int) -> None:
    assert all(0 <= (row.smallest_share or 0) <= 1 for row in plan(survey, n=n, confidence=0.01).rows)


def test_a_number_without_shares_has_no_chance_of_a_negative_one() -> None:
    made = plan(Survey.from_text(FILE + "  - {id: hours, text: Hours?, type: number, low: 0, high: 14}\n"), n=500)
    number = next(row for row in made.rows if row.question == "hours")
    assert number.chance_negative is None
    assert all(row.chance_negative is not None for row in made.rows if row is not number)
    assert "none" not in next(line for line in made.to_table().split("What will show")[1].splitlines() if line.startswith("hours"))
    assert json.loads(made.to_json())


def test_the_table_of_a_wanted_precision_says_how_many_to_ask(survey: Survey) -> None:
    made = plan(survey, half_width=0.03)
    assert f"ask {made.n:,} people for ± 3.0 points in every question" in made.to_table()


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "n"), [("ln 27", 2_000), ("3", 100), ("1.5", 40), ("3", 7)])
def test_table_chart_and_wanted_precision_tell_one_width(epsilon: str, n: int) -> None:
    made = plan(Survey.from_text(FILE.replace("ln 27", epsilon)), n=n)
    row = made.least_precise
    spec = made.plot().to_dict()
    drawn = {point["n"]: point["points"] for point in spec["datasets"][spec["layer"][0]["data"]["name"]] if point["design"] == "private"}
    words = next(one for data in spec["datasets"].values() for one in data if "text" in one)["text"]
    assert drawn[n] == pytest.approx(100 * row.half_width)
    assert words == f"{n:,} respondents: ± {100 * row.half_width:.2g} points"
    assert re.search(rf"^{row.question} .* {n:,} +± {re.escape(points(row.half_width))} ", made.to_table(), re.MULTILINE)
    if row.half_width < 0.4:  # beyond, hardly any number of people is too few
        again = plan(Survey.from_text(FILE.replace("ln 27", epsilon)), half_width=row.half_width)
        assert again.n == pytest.approx(n, rel=0.03, abs=1)


@pytest.mark.parametrize("n", [20, 100, 400])
def test_no_share_has_wider_intervals_than_the_one_planned_for(n: int) -> None:
    rare = Mechanism(float(SEVEN.phi), float(SEVEN.theta))  # whose largest standard error is at a share of 92%
    widths = [expected_half_width(rare, n, share=share) for share in np.linspace(0, 1, 21)]
    assert share_half_width(rare, n) == pytest.approx(max(widths), rel=0.02)
    assert share_half_width(rare, n) > 1.15 * expected_half_width(rare, n, share=rare.hardest_share)


@pytest.mark.slow
@pytest.mark.parametrize("text", [FILE, FILE.replace("ln 27", "1"), FILE.replace("questions:", "ask: 2\nquestions:")])
def test_the_people_needed_for_ten_points_follow_from_the_privacy_of_the_hardest_question(text: str) -> None:
    survey = Survey.from_text(text)
    assert people_needed(survey) == plan(survey, half_width=0.10).n
    more_private = Survey.from_text(text.replace("epsilon: ", "epsilon: 0.5  # not "))
    assert people_needed(more_private) > 3 * people_needed(survey)
    assert people_needed(survey, 0.05) > 3 * people_needed(survey)


@pytest.mark.slow
def test_means_differences_and_cells_are_planned_in_their_own_units() -> None:
    survey = Survey.from_text(FILE + "  - {id: hours, text: How many?, type: number, low: 0, high: 40, required: false}\n")
    smokes, *_, hours = plan(survey, n=2_000).rows
    assert (smokes.mean_half_width, smokes.scale_low) == (None, None)
    assert (hours.scale_low, hours.scale_high) == (0, 40)
    scores = hours_scores(survey)
    assert hours.mean_half_width == mean_half_width(survey.questions[3].channel, scores, 2_000)
    assert smokes.difference_half_width == difference_half_width(Mechanism(smokes.phi, smokes.theta), 1_000)
    assert smokes.cell_half_width == cell_half_width(survey.questions[0].channel, survey.questions[0].channel, 2_000)
    table = plan(survey, n=2_000).to_table()
    assert re.search(r"^hours +± \d\.\d +0 – 40 +± \d+\.\d points +none$", table, re.MULTILINE)


def hours_scores(survey: Survey) -> tuple[float, ...]:
    scores = survey.questions[3].scores
    assert scores is not None
    return scores


@pytest.mark.slow
def test_a_survey_that_asks_one_question_of_each_has_no_cross_table() -> None:
    sampled = Survey.from_text(FILE.replace("questions:", "ask: 1\nquestions:"))
    assert {row.cell_half_width for row in plan(sampled, n=300).rows} == {None}
    assert "none" in plan(sampled, n=300).to_table()
    two = plan(Survey.from_text(FILE.replace("questions:", "ask: 2\nquestions:")), n=3_000)
    assert two.rows[0].respondents == 2_000
    channel = Survey.from_text(FILE.replace("questions:", "ask: 2\nquestions:")).questions[0].channel
    assert two.rows[0].cell_half_width == cell_half_width(channel, channel, 1_000)


def test_near_certainty_is_never_rounded_up_to_certainty() -> None:
    lavish = Survey.from_text(FILE.replace("epsilon: ln 27", "epsilon: 10\naccept_high_epsilon: true"))
    assert "at most 99.996% sure" in plan(lavish, n=100).to_table()


@pytest.mark.slow
def test_a_chart_is_drawn_without_a_browser_and_shows_three_designs(survey: Survey, tmp_path) -> None:
    made = plan(survey, n=2_000)
    chart = made.plot()
    spec = chart.to_dict()
    points = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert {point["design"] for point in points} == {"private", "trusted curator", "no privacy"}
    party = made.rows[1]
    for point in points:
        if point["design"] == "private":
            assert point["points"] == pytest.approx(100 * share_half_width(Mechanism(party.phi, party.theta), point["n"]))
    chart.save(str(tmp_path / "plan.svg"))
    chart.save(str(tmp_path / "plan.png"))
    drawn = (tmp_path / "plan.svg").read_text()
    assert "How precise party will be" in drawn
    assert "2,000 respondents" in drawn
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_without_the_extra_for_charts_the_message_names_it(survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "deniable.plan.chart", raising=False)
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(EstimateError, match="needs the extra plot"):
        plan(survey, n=100).plot()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "n or half_width must be given, and not both"),
        ({"n": 10, "half_width": 0.1}, "n or half_width must be given, and not both"),
        ({"n": 0}, "n must be a whole number of at least 1, got 0"),
        ({"half_width": 3}, "half_width must be above 0 and below 1, got 3"),
        ({"half_width": 0.0}, "half_width must be above 0 and below 1, got 0.0"),
        ({"n": 10, "confidence": 95}, "confidence must be"),
        ({"n": 10, "share": -0.1}, "share must be from 0 to 1"),
        ({"n": 10, "groups": (8, 3)}, "groups must have at most the 10 respondents together, got 11"),
        ({"n": 10, "groups": (8, 0)}, "the second group must be a whole number of at least 1, got 0"),
        ({"half_width": 0.1, "clusters": Clusters(5, 0.1)}, "clusters must be used with n, not with half_width"),
        ({"n": 10, "clusters": Clusters(11, 0.1)}, "clusters must be at least 2 and at most the 10 people, got 11"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_name(survey: Survey, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        plan(survey, **arguments)


LEAST = "2e-9"  # about the least epsilon that two options can have
KINDS = [
    {"type": "yes_no"},
    {"type": "choice", "options": [f"option {i}" for i in range(512)]},
    {"type": "number", "low": -1e9, "high": 1e9},
]


@pytest.mark.parametrize("epsilon", [LEAST, "0.000002", "10"])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["type"])
def test_whatever_epsilon_and_however_many_people_a_plan_has_figures_that_are_possible(kind: dict[str, object], epsilon: str) -> None:
    asked = {"id": "a", "text": "?", "epsilon": "1e-6" if epsilon == LEAST and kind["type"] == "choice" else epsilon, **kind}
    head = {"deniable": 1, "id": "s", "title": "T", "about": "A", "accept_high_epsilon": True}
    survey = Survey.from_dict({**head, "questions": [asked]})
    for n in (1, 10**9, 10**12):
        found = plan(survey, n=n, share=1.0)
        assert "nan" not in str(found)
        assert "inf" not in str(found)
        for row in (*found.rows, *outlook(survey, n)):
            assert 0 <= row.half_width <= 0.5
            assert row.smallest_group is None or 1 <= row.smallest_group <= 10**12
        assert 0 <= found.rows[0].half_width_curator <= 0.5
        negative = found.rows[0].chance_negative
        assert negative is None if kind["type"] == "number" else 0 <= negative <= 1
    if epsilon != "10":
        assert outlook(survey, 1)[0].smallest_group is None
        assert people_needed(survey, 0.5) == 1  # half of what is possible is known before anybody is asked


@pytest.mark.parametrize(
    ("of", "message"),
    [
        (("smokes", "party"), r"the slope's predictor must be a question with two answers \(smokes, drinks\), got 'party'"),
        (("group", "smokes"), "the slope's outcome must be a question with two answers"),
        (("smokes", "smokes"), "must be another question than its outcome, got 'smokes' twice"),
    ],
)
def test_a_slope_of_what_is_no_pair_of_questions_with_two_answers_is_refused_by_name(of: tuple[str, str], message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        plan(slopes_survey(), n=500, slope=SlopeOf(*of, (0.3, 0.45), 0.4))


def test_a_slope_on_public_groups_has_coins_for_the_outcome_alone_and_one_of_a_sample_counts_who_is_asked_both() -> None:
    wanted = SlopeOf("smokes", "group", (0.3, 0.45), 0.4)
    by_group = plan(slopes_survey(groups=["north", "south"]), n=2_000, slope=wanted).slope
    assert by_group is not None
    assert by_group.half_width == logit_slope(2_000, (0.3, 0.45), 0.4, outcome=Channel.for_epsilon(2, 2)).half_width
    drawn = plan(slopes_survey(ask=2), n=3_000, slope=replace(wanted, predictor="drinks")).slope
    assert drawn is not None
    assert drawn.respondents == 1_000
    with pytest.raises(EstimateError, match="n is too small for the slope: no one of 3,000 people, asked 1 of the questions each"):
        plan(slopes_survey(ask=1), n=3_000, slope=replace(wanted, predictor="drinks"))


def slopes_survey(**keys: object) -> Survey:
    kinds = {"smokes": {"type": "yes_no"}, "drinks": {"type": "yes_no"}, "party": {"type": "choice", "options": ["a", "b", "c"]}}
    questions = [{"id": name, "text": "Q", "epsilon": 2, **kind} for name, kind in kinds.items()]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": questions, **keys})
