"""`estimate`: from a survey's tally to its results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.errors import EstimateError
from deniable.estimate import Results, crosstab, estimate, mean, share
from deniable.estimate.checks import plausibility
from deniable.estimate.moments import counts as bit_counts
from deniable.survey import Survey
from deniable.survey.layout import Field
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "colours",
        "title": "Two questions",
        "about": "A test.",
        "epsilon": "ln 9",
        "questions": [
            {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
            {"id": "colour", "text": "Which?", "type": "choice", "options": ["red", "green", "blue", "grey", "pink"]},
        ],
    }
)
TRUTH = (np.array([0.3, 0.7]), np.array([0.5, 0.2, 0.15, 0.1, 0.05]))


def tally_of(answers: list[np.ndarray[Any, np.dtype[np.int64]]], survey: Survey = SURVEY) -> Tally:
    """The tally of respondents who answer with these categories, question by question, through the wire's bytes."""
    bits = [randomize(question.channel, column, os_words) for question, column in zip(survey.questions, answers, strict=True)]
    return Tally.from_bits(unpack(survey, pack(survey, bits), len(answers[0])))


def tally_with(ones: list[int], n: int) -> Tally:
    """Reports can have such bits: whoever has a rarer one has all that are less rare."""
    return Tally(n, np.minimum.outer(ones, ones))


def one_question(options: list[str] | None = None, epsilon: str | float = "ln 3") -> Survey:
    kind: dict[str, Any] = {"type": "choice", "options": options} if options else {"type": "yes_no"}
    question = {"id": "q", "text": "?", **kind}
    return Survey.from_dict({"deniable": 1, "id": "one", "title": "One", "about": "A test.", "epsilon": epsilon, "questions": [question]})


def test_estimates_of_really_randomized_answers_are_near_the_truth() -> None:
    n = 40_000
    answers = [np.repeat(np.arange(len(shares)), np.round(shares * n).astype(int)) for shares in TRUTH]
    results = estimate(SURVEY, tally_of(answers), target="respondents")
    assert [(row.question, row.option) for row in results.rows] == [(q.id, option) for q in SURVEY.questions for option in q.categories]
    for row, truth in zip(results.rows, np.concatenate(TRUTH), strict=True):
        assert row.estimate == pytest.approx(truth, abs=5.5 * (row.std_error or 0))  # 7 rows: a false alarm in 4e6 runs
        assert row.n == n


def test_a_wrong_channel_would_fail_the_test_above() -> None:
    """Control: the error of an estimator that forgets the bias is far more than its standard errors."""
    row = estimate(SURVEY, tally_with([16_000, 0, 0, 0, 0], 40_000)).rows[0]  # 30% yes, as expected of the coins
    naive = row.ones / row.n
    assert abs(naive - 0.3) > 5.5 * (row.std_error or 0)


def test_each_row_is_the_share_of_its_bit_and_the_last_bit_is_implied() -> None:
    n, ones = 1000, [400, 250, 200, 180, 150]
    d = SURVEY.questions[1].d
    for row, count in zip(estimate(SURVEY, tally_with(ones, n)).rows[2:], [*ones[1:], n * d - sum(ones[1:])], strict=True):
        channel = SURVEY.questions[1].channel
        one = share(count, n, q0=channel.phi, q1=channel.theta)
        assert (row.ones, row.estimate, row.std_error, row.low, row.high) == (count, one.estimate, one.std_error, one.low, one.high)
        assert row.chance_rate == float(channel.phi)
        assert (row.method, row.target, row.confidence) == ("feldman-cousins", "population", 0.95)


def test_yes_and_no_mirror_each_other() -> None:
    yes, no = estimate(one_question(), tally_with([300], 1000)).rows
    assert (yes.option, no.option) == ("yes", "no")
    assert yes.estimate == pytest.approx(0.1)
    assert (no.estimate, no.low, no.high) == pytest.approx((1 - 0.1, 1 - (yes.high or 0), 1 - (yes.low or 0)))
    assert yes.std_error == no.std_error
    assert (yes.adjusted or 0) + (no.adjusted or 0) == pytest.approx(1)


def test_the_adjusted_shares_of_every_question_add_to_1() -> None:
    results = estimate(SURVEY, tally_with([900, 500, 300, 10, 0], 1000))
    for question in SURVEY.questions:
        shares = [row.adjusted for row in results.rows if row.question == question.id and row.adjusted is not None]
        assert len(shares) == question.k
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(1, abs=1e-12)


def test_the_head_says_which_survey_and_how_much_privacy() -> None:
    results = estimate(SURVEY, tally_with([400, 300, 200, 200, 100], 1000))
    assert (results.survey, results.title, results.digest) == ("colours", "Two questions", SURVEY.digest)
    assert (results.n, results.epsilon) == (1000, SURVEY.epsilon)
    assert {row.question: row.epsilon for row in results.rows} == {q.id: q.epsilon for q in SURVEY.questions}


def test_without_reports_there_are_rows_without_estimates() -> None:
    results = estimate(SURVEY, Tally.empty(5))
    assert results.n == 0
    assert len(results.rows) == 7
    for row in results.rows:
        assert (row.estimate, row.std_error, row.low, row.high, row.adjusted) == (None,) * 5
        assert row.warning == "no reports yet"


def test_simultaneous_intervals_are_each_of_a_higher_confidence() -> None:
    tally = tally_with([400, 300, 250, 200, 150], 1000)
    alone, together = estimate(SURVEY, tally), estimate(SURVEY, tally, simultaneous=True)
    assert together.simultaneous
    channel = SURVEY.questions[1].channel
    for one, both in zip(alone.rows[2:], together.rows[2:], strict=True):
        expected = share(both.ones, 1000, q0=channel.phi, q1=channel.theta, confidence=1 - 0.05 / 5)
        assert (both.low, both.high) == (expected.low, expected.high)
        assert (one.estimate, one.confidence) == (both.estimate, both.confidence)
    assert alone.rows[:2] == together.rows[:2], "the two intervals of yes and no are one statement"


@pytest.mark.parametrize("options", [{"method": "wilson"}, {"target": "respondents"}, {"confidence": 0.8}])
def test_the_interval_is_the_one_asked_for(options: dict[str, Any]) -> None:
    row = estimate(one_question(), tally_with([300], 1000), **options).rows[0]
    one = share(300, 1000, q0=0.25, q1=0.75, **options)
    assert (row.low, row.high, row.std_error) == (one.low, one.high, one.std_error)
    assert (row.method, row.target, row.confidence) == (one.method, one.target, one.confidence)


@pytest.mark.parametrize("n", [0, 1000])
@pytest.mark.parametrize("options", [{"method": "bayes"}, {"target": "all"}, {"confidence": 1}])
def test_a_wrong_option_is_refused_with_or_without_reports(options: dict[str, Any], n: int) -> None:
    with pytest.raises(EstimateError, match=f"{next(iter(options))} must be"):
        estimate(one_question(), tally_with([n // 3], n), **options)


def test_the_tally_of_another_survey_is_refused() -> None:
    with pytest.raises(EstimateError, match="the tally must have 5 bits, as survey colours has, got 4"):
        estimate(SURVEY, Tally.empty(4))


def test_counts_that_no_reports_can_have_are_refused() -> None:
    with pytest.raises(EstimateError, match="the tally must hold counts from 0 to n = 10, got 11 to 11"):
        estimate(one_question(), tally_with([11], 10))
    with pytest.raises(EstimateError, match=r"counts of .* that 10 reports can have, got -[0-9]+ to 10"):
        estimate(SURVEY, tally_with([10] * 5, 10))  # more options in a report than it can name


@pytest.mark.parametrize(
    ("n", "pairs", "message"),
    [
        (10, [[float("nan")]], "whole numbers of reports, got numbers of the type float64"),
        (10, [[3.5]], "whole numbers of reports"),
        (10, [["3"]], "whole numbers of reports"),
        (10, [[-1]], "counts from 0 to n = 10, got -1"),
        (float("nan"), [[3]], "n must be a whole number of reports, got nan"),
        (-1, [[0]], "n must be a whole number of reports, got -1"),
    ],
)
def test_a_tally_of_no_counts_is_refused_wherever_it_comes_in(n: Any, pairs: Any, message: str) -> None:
    survey, tally = one_question(), Tally(n, np.array(pairs))
    for door in (estimate, lambda *given: mean(*given, survey.items[0].id, [1, 0])):
        with pytest.raises(EstimateError, match=f"the tally.*{message}"):
            door(survey, tally)


def warnings(results: Results) -> list[str]:
    return [row.warning for row in results.rows]


def test_an_estimate_within_0_and_1_has_no_warning() -> None:
    assert warnings(estimate(one_question(), tally_with([300], 1000))) == ["", ""]


def test_an_estimate_below_0_by_chance_is_explained_plainly() -> None:
    below, above = warnings(estimate(one_question(), tally_with([10], 50)))
    assert below == "below 0% by chance: fewer records name it than if no one had chosen it; plausible values are in the interval"
    assert above == "above 100% by chance: more records name it than if everybody had chosen it; plausible values are in the interval"


@pytest.mark.parametrize("ones", [250, 750])
def test_an_estimate_of_exactly_0_or_1_has_no_warning(ones: int) -> None:
    assert warnings(estimate(one_question(), tally_with([ones], 1000))) == ["", ""]


def test_the_level_of_the_flag_falls_with_the_bits_of_the_survey_where_yes_and_no_are_one() -> None:
    assert plausibility.level([2] * 10) == 0.001
    assert plausibility.level([2, 2, 20]) == pytest.approx(0.01 / 22)


def test_counts_that_the_declared_coins_hardly_give_are_flagged() -> None:
    above, below = warnings(estimate(one_question(), tally_with([800], 1000)))
    assert above.startswith("800 of 1,000 records name it. Honest coins give at most 75% on average, whatever people answer, ")
    assert below.startswith("200 of 1,000 records name it. Honest coins give at least 25% on average, whatever people answer, ")
    for warning, far in ((above, "above"), (below, "below")):
        ends = f"and by chance come this far {far} in fewer than 1 of 1,000 surveys: some records are made up, or a client is faulty"
        assert warning.endswith(ends)


@pytest.mark.parametrize(
    ("ones", "named"), [(1000, "all records name it"), (999, "999 of 1,000 records name it"), (0, "no record names it")]
)
def test_all_and_none_are_said_only_where_that_is_so(ones: int, named: str) -> None:
    assert warnings(estimate(one_question(), tally_with([ones], 1000)))[0].startswith(f"{named}. Honest coins")


@pytest.mark.slow
def test_the_flag_goes_up_where_the_exact_test_says_so() -> None:
    flagged = [any("made up" in w for w in warnings(estimate(one_question(), tally_with([y], 200)))) for y in range(201)]
    expected = [bool(stats.binom.cdf(y, 200, 0.25) < 0.001 or stats.binom.sf(y - 1, 200, 0.75) < 0.001) for y in range(201)]
    assert flagged == expected


def test_submissions_that_all_say_yes_are_flagged() -> None:
    """The naive attack: 1,000 honest respondents of whom 60% mean yes, and twice as many fakes with the bit set."""
    fakes = 2000
    for _ in range(100):
        honest = tally_of([(np.arange(1000) >= 600).astype(np.int64)], one_question())
        results = estimate(one_question(), honest + tally_with([fakes], fakes))
        assert "some records are made up" in results.rows[0].warning


@pytest.mark.parametrize("options", [None, [f"option {i}" for i in range(20)]])
def test_honest_coins_are_flagged_in_at_most_1_of_100_surveys(options: list[str] | None) -> None:
    """At the worst truth, where everybody gives one answer and so every bit is at an end of its range."""
    survey, n, rng = one_question(options), 500, np.random.default_rng(11)
    channel = survey.questions[0].channel
    alarms = 0
    for _ in range(60):
        bits = randomize(channel, np.zeros(n, dtype=np.int64), lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32))
        alarms += any("made up" in warning for warning in warnings(estimate(survey, Tally.from_bits(bits[:, :-1]))))
    assert alarms <= 1  # fixed seed


class _Counted(tuple[Field, ...]):
    """Fields that know how often somebody walks through all of them."""

    walks = 0

    def __iter__(self) -> Iterator[Field]:
        _Counted.walks += 1
        return super().__iter__()


def walks(questions: int) -> int:
    """How often all fields are walked through to estimate a survey of so many scales."""
    asked = [{"id": f"q{i}", "text": "Q", "type": "scale", "options": ["a", "b"]} for i in range(questions)]
    survey = Survey.from_dict({**SURVEY.to_dict(), "questions": asked, "epsilon": 2})
    survey.__dict__["record"] = replace(survey.record, fields=_Counted(survey.record.fields))
    _Counted.walks = 0
    estimate(survey, Tally.from_bits(np.random.default_rng(4).random((50, questions)) < 0.5))
    return _Counted.walks


def test_the_places_of_questions_are_not_searched_anew_for_each() -> None:
    assert 0 < walks(60) == walks(3) < 10


def test_a_search_for_each_question_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def searched(survey: Survey, name: str) -> Field:
        return next(field for field in survey.record.fields if field.item.id == name)

    monkeypatch.setattr(bit_counts, "place_of", searched)
    assert walks(60) > walks(3) + 50


PAIR = Survey.from_dict(
    {
        "deniable": 1, "id": "pair", "title": "T", "about": "A", "epsilon": 4,
        "questions": [{"id": name, "text": "?", "type": "yes_no"} for name in ("q", "r")],
    }
)  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([[40, 60], [60, 45]], "got 60 with bits 0 and 1 both set, 60 with 1 and 0, where 40 have the one and 45 the other"),
        ([[60, 0], [0, 60]], "got 0 with bits 0 and 1 both set, 0 with 1 and 0, where 60 have the one and 60 the other"),
        ([[40, 5], [20, 45]], "got 5 with bits 0 and 1 both set, 20 with 1 and 0, where 40 have the one and 45 the other"),
    ],
)
def test_pairs_of_bits_that_no_reports_can_have_are_refused_wherever_they_come_in(pairs: list[list[int]], message: str) -> None:
    for door in (estimate, lambda *given: mean(*given, "q", [1, 0]), lambda *given: crosstab(*given, "q", "r")):
        with pytest.raises(EstimateError, match=f"the tally must hold counts that n = 100 reports can have, {message}"):
            door(PAIR, Tally(100, np.array(pairs)))


def test_the_fewest_and_the_most_reports_that_can_have_both_bits_are_estimated() -> None:
    for both in (20, 60):
        assert estimate(PAIR, Tally(100, np.array([[60, both], [both, 60]]))).n == 100


def test_the_pairs_of_many_bits_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.wire.tally._CHUNK", 14)
    pairs = Tally.from_bits(np.random.default_rng(3).random((50, 7)) < 0.5).pairs
    assert Tally(50, pairs).contradiction is None
    for i, j in ((0, 6), (3, 2), (6, 5)):
        wrong = pairs.copy()
        wrong[i, j] += 1
        assert set(Tally(50, wrong).contradiction or ()) == {i, j}


def test_records_of_a_survey_that_asks_some_of_its_questions_contradict_nothing() -> None:
    """A bit that was not asked is 0, in as many reports as all others."""
    survey = Survey.from_dict({**SURVEY.to_dict(), "ask": "1"})
    columns = [randomize(item.channel, np.random.default_rng(1).integers(0, item.k, 400), os_words) for item in survey.items]
    asked = np.random.default_rng(2).integers(0, 2, 400)
    bits = unpack(SURVEY, pack(SURVEY, columns), 400)
    masks = np.column_stack([asked == 0, asked == 1])
    whole = np.column_stack([masks, bits[:, :1] & masks[:, :1], bits[:, 1:] & masks[:, 1:]])
    assert survey.record.bits == whole.shape[1]
    assert estimate(survey, Tally.from_bits(whole)).n == 400
