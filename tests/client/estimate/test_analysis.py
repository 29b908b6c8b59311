"""One survey's reports at hand: each question to an `Analysis` is the question to the function behind it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from deniable import Survey, Tally
from deniable.errors import EstimateError, SubmissionError
from deniable.estimate import Analysis, Results, analyse, compare, crosstab, estimate, joint, mean, quantile
from deniable.estimate.tables import mean_rows
from deniable.simulate import simulate

SURVEY = Survey.from_text("""
deniable: 1
id: s
title: T
about: A
epsilon: 10
accept_high_epsilon: true
questions:
  - {id: smokes, text: Q, type: yes_no}
  - {id: mood, text: Q, type: scale, options: [bad, fair, good], required: false}
  - {id: hours, text: Q, type: number, low: -10, high: 10, levels: 3}
  - {id: pain, text: Q, type: scale, options: [none, some], scores: [0, 5]}
""")
MADE = simulate(SURVEY, {"smokes": [0.3, 0.7], "mood": [0.2, 0.3, 0.4, 0.1], "hours": [0.5, 0.2, 0.3], "pain": [0.8, 0.2]}, 2000)
MOOD = [1.0, 2.0, 3.0, None]


@pytest.fixture
def found() -> Analysis:
    return analyse(SURVEY, MADE.reports, confidence=0.9, target="respondents")


def test_reports_can_be_bytes_bits_or_a_tally() -> None:
    shares = estimate(SURVEY, MADE.tally).rows
    assert analyse(SURVEY, MADE.reports).results.rows == analyse(SURVEY, MADE.bits).results.rows == analyse(SURVEY, MADE.tally).results.rows
    assert analyse(SURVEY, MADE.tally).results.rows == shares


def test_every_question_with_scores_has_a_mean_among_those_who_answered(found: Analysis) -> None:
    assert [row.question for row in found.results.means] == ["mood", "hours", "pain"]
    asked = mean(SURVEY, MADE.tally, "mood", MOOD, confidence=0.9, target="respondents")
    row = found.results.means[0]
    assert (row.n, row.mean, row.std_error, row.low, row.high) == (2000, asked.estimate, asked.std_error, asked.low, asked.high)
    assert (row.confidence, row.target) == (0.9, "respondents")
    hours = found.results.means[1]
    assert (hours.n, hours.target, hours.warning) == (2000, "respondents", "")


def test_a_mean_that_counted_no_answer_as_a_score_would_be_another_one(found: Analysis) -> None:
    """The control of the test above."""
    wrong = mean(SURVEY, MADE.tally, "mood", [1, 2, 3, 0], confidence=0.9, target="respondents")
    assert wrong.estimate != pytest.approx(found.results.means[0].mean, abs=0.05)


def test_means_without_reports_or_without_answers_have_no_figures() -> None:
    assert [row.mean for row in mean_rows(SURVEY, Tally.empty(7))] == [None] * 3
    nobody = simulate(SURVEY, {"smokes": [0.3, 0.7], "mood": [0, 0, 0, 1], "hours": [0.5, 0.2, 0.3], "pain": [0.8, 0.2]}, 50)
    mood, hours, _ = analyse(SURVEY, nobody.reports, confidence=1 - 1e-9).results.means
    assert (mood.n, mood.mean, mood.low) == (50, None, None)
    assert hours.mean is not None


def test_an_analysis_asks_the_functions_with_its_own_confidence_and_target(found: Analysis) -> None:
    options = {"confidence": 0.9, "target": "respondents"}
    tally = MADE.tally
    assert found.mean("mood") == mean(SURVEY, tally, "mood", MOOD, **options)
    assert found.mean("smokes", [1, 0]) == mean(SURVEY, tally, "smokes", [1, 0], **options)
    assert found.quantile("mood", 0.3) == quantile(SURVEY, tally, "mood", 0.3, leave_out=["no answer"], **options)
    assert found.quantile("mood", 0.99).option == "good"
    assert found.quantile("pain") == quantile(SURVEY, tally, "pain", **options)
    expected = crosstab(SURVEY, tally, "smokes", "mood", **options)
    assert found.crosstab("smokes", "mood").to_frame().equals(expected.to_frame())
    names = ["smokes", "mood", "pain"]
    assert found.crosstab(*names).to_frame().equals(joint(SURVEY, MADE.bits, names, **options).to_frame())


def test_two_analyses_are_compared_as_their_tallies_are(found: Analysis) -> None:
    other = simulate(SURVEY, {"smokes": [0.9, 0.1], "mood": [0.2, 0.3, 0.4, 0.1], "hours": [0.5, 0.2, 0.3], "pain": [0.8, 0.2]}, 2000)
    expected = compare(SURVEY, MADE.tally, other.tally, "smokes", confidence=0.9, target="respondents")
    assert found.compare(analyse(SURVEY, other.reports), "smokes") == expected == found.compare(other.tally, "smokes")
    assert expected.differences[0].estimate > 0.3


def test_another_surveys_reports_are_not_compared(found: Analysis) -> None:
    other = Survey.from_dict({**SURVEY.to_dict(), "title": "Another"})
    with pytest.raises(EstimateError, match="reports to one survey"):
        found.compare(analyse(other, MADE.reports), "smokes")


def test_scales_enter_a_regression_as_categories_and_on_request_as_numbers(found: Analysis) -> None:
    assert list(found.regress("smokes ~ pain").params.index) == ["Intercept", "pain[T.some]"]
    assert list(found.regress("smokes ~ pain", scored=["pain"]).params.index) == ["Intercept", "pain"]
    one, two = found.regress("smokes ~ pain"), found.regress("smokes ~ pain", scored=["pain"])
    assert one.params.iloc[1] == pytest.approx(5 * two.params.iloc[1])
    assert found.regress("pain ~ smokes", model="linear", scored=["pain"]).nobs == 2000


def test_a_question_without_scores_cannot_be_a_number(found: Analysis) -> None:
    with pytest.raises(EstimateError, match="scored must name questions that have scores, got 'smokes'"):
        found.regress("smokes ~ pain", scored=["smokes"])
    assert list(found.regress("smokes ~ mood", scored=["mood"]).params.index) == ["Intercept", "mood"], "of those who answered"
    with pytest.raises(EstimateError, match="is a yes_no and has no scores"):
        found.mean("smokes")


def test_what_needs_the_reports_says_so_where_there_is_only_a_tally() -> None:
    counted = analyse(SURVEY, MADE.tally)
    with pytest.raises(EstimateError, match="must be individual records for a regression"):
        counted.regress("smokes ~ mood")
    with pytest.raises(EstimateError, match="must be individual records for a table of more than two questions"):
        counted.crosstab("smokes", "mood", "pain")


def test_what_is_wrong_shows_at_once() -> None:
    with pytest.raises(EstimateError, match="confidence"):
        analyse(SURVEY, MADE.tally, confidence=95)
    with pytest.raises(SubmissionError):
        analyse(SURVEY, MADE.reports + b"\xff")
    with pytest.raises(EstimateError, match="the tally must have"):
        analyse(SURVEY, np.zeros((5, 2), dtype=np.bool_))


def test_the_results_forms_are_those_of_the_results(found: Analysis) -> None:
    assert found.to_frame().equals(found.results.to_frame())
    assert found.conf_int().equals(found.results.conf_int())
    assert found.summary() == found.results.summary()
    assert found._repr_html_() == found.results._repr_html_()
    assert found.plot("mood").to_dict()["vconcat"][0]["title"]["text"] == "mood"


def test_means_travel_through_json(found: Analysis) -> None:
    assert Results.from_dict(json.loads(found.results.to_json())) == found.results
    assert replace(found.results, means=()) != found.results
