"""Tables, tests and strengths of association among those who answered both of two questions that need not be answered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deniable.errors import EstimateError
from deniable.estimate import Analysis, Sample, analyse
from deniable.estimate.tables import conditional_share, cramers_v, independence, odds_ratio, phi_coefficient
from deniable.survey import Survey
from deniable.survey.types.base import NO_ANSWER
from deniable.wire.tally import Tally


def survey_of(k: int, epsilon: float, required: bool = False, groups: tuple[str, ...] = ()) -> Survey:
    options = [f"o{number}" for number in range(k)]
    questions: list[dict[str, Any]] = [
        {"id": "a", "text": "?", "type": "choice", "options": options, "required": required},
        {"id": "b", "text": "?", "type": "yes_no", "required": required},
    ]
    source = {"deniable": 1, "id": "valid", "title": "T", "about": "A test.", "epsilon": epsilon, "questions": questions}
    return Survey.from_dict({**source, **({"groups": list(groups)} if groups else {})})


def reports(survey: Survey, answers: NDArray[np.int64], rng: np.random.Generator) -> Tally:
    named = []
    for item, column in zip(survey.items, answers.T, strict=True):
        assert item.channel.d == 1
        kept = rng.random(len(column)) < float(item.channel.theta)
        other = (column + rng.integers(1, item.k, len(column))) % item.k
        named.append(np.eye(item.k, dtype=bool)[np.where(kept, column, other)][:, :-1])
    return Tally.from_bits(np.hstack(named))


def people(joint: NDArray[np.float64], n: int, skip: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Answers with these joint shares, of which so many are left out, each by itself."""
    cells = rng.choice(joint.size, n, p=joint.ravel())
    answers = np.stack([cells // joint.shape[1], cells % joint.shape[1]], axis=1)
    return np.where(rng.random((n, 2)) < skip, np.array(joint.shape), answers)


def asked(joint: NDArray[np.float64], n: int, skip: float, rng: np.random.Generator, epsilon: float = 4) -> Analysis:
    survey = survey_of(len(joint), epsilon)
    return analyse(survey, reports(survey, people(joint, n, skip, rng), rng))


def joint_of(k: int, together: float) -> NDArray[np.float64]:
    """Shares of k options by two, even ones; together: how far the first option and yes go together."""
    apart = np.where(np.arange(k) == 0, 1.0, -1 / (k - 1)) * together / 4
    return np.asarray(np.stack([1 / (2 * k) + apart / k, 1 / (2 * k) - apart / k], axis=1))


def v_of(joint: NDArray[np.float64]) -> float:
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    return float(np.sqrt(((joint - expected) ** 2 / expected).sum() / (min(joint.shape) - 1)))


@pytest.mark.slow
@pytest.mark.parametrize(("k", "n", "skip"), [(3, 2000, 0.005), (3, 500, 0.2)])
@pytest.mark.parametrize("together", [0.0, 1.0])
def test_v_the_test_and_the_cells_hold_where_some_do_not_answer(k: int, n: int, skip: float, together: float) -> None:
    rng, joint, surveys = np.random.default_rng(7), joint_of(k, together), 80
    rejected, covered, cells = 0, 0, []
    for _ in range(surveys):
        analysis = asked(joint, n, skip, rng)
        whole, valid = analysis.crosstab("a", "b"), analysis.crosstab("a", "b", answered=True)
        rejected += independence(whole).p_value < 0.05
        found = cramers_v(whole)
        covered += found.low <= v_of(joint) <= found.high
        cells.append(np.mean((valid.low <= joint) & (joint <= valid.high)))
    assert covered / surveys > 0.89
    assert np.mean(cells) > 0.92
    assert rejected / surveys > 0.7 if together and n > 1000 else together or rejected / surveys < 0.125


@pytest.mark.slow
def test_a_sparse_table_has_a_resampled_p_value_that_rejects_as_often_as_it_says() -> None:
    rng, surveys, rejected = np.random.default_rng(8), 60, 0
    joint = np.outer([0.93, 0.05, 0.02], [0.95, 0.05])
    for _ in range(surveys):
        found = independence(asked(joint, 60, 0.1, rng, epsilon=8).crosstab("a", "b"))
        assert found.reference == "999 resamples"
        rejected += found.p_value < 0.05
    assert rejected / surveys < 0.15


def test_phi_of_two_optional_yes_no_questions_is_that_of_those_who_answered_both() -> None:
    rng = np.random.default_rng(9)
    whole = asked(joint_of(2, 1.0), 20_000, 0.2, rng, epsilon=8).crosstab("a", "b")
    found = phi_coefficient(whole)
    assert found.low <= v_of(joint_of(2, 1.0)) <= found.high
    assert found.high - found.low < 0.1
    assert cramers_v(whole).estimate == pytest.approx(abs(found.estimate), abs=0.01)


def test_without_skips_it_is_nearly_the_figure_of_questions_that_must_be_answered() -> None:
    rng, joint = np.random.default_rng(10), joint_of(3, 0.8)
    answers = people(joint, 30_000, 0.0, rng)
    found = []
    for required in (True, False):
        survey = survey_of(3, 8, required)
        found.append(analyse(survey, reports(survey, answers, np.random.default_rng(11))).crosstab("a", "b"))
    assert cramers_v(found[1]).estimate == pytest.approx(cramers_v(found[0]).estimate, abs=0.03)
    assert (independence(found[0]).df, independence(found[1]).df) == (2, 2)
    assert independence(found[1]).what == "a and b are independent among those who answered both"


def test_nearly_without_coins_the_test_is_pearsons_of_the_answered_cells() -> None:
    rng = np.random.default_rng(12)
    source = survey_of(3, 4).to_dict()
    source["questions"] = [{**question, "epsilon": 10} for question in source["questions"]]
    survey = Survey.from_dict({**source, "accept_high_epsilon": True})
    answers = people(joint_of(3, 0.3), 800, 0.3, rng)
    found = independence(analyse(survey, reports(survey, answers, rng)).crosstab("a", "b"))
    both = answers[(answers[:, 0] < 3) & (answers[:, 1] < 2)]
    counts = np.bincount(both[:, 0] * 2 + both[:, 1], minlength=6).reshape(3, 2)
    assert found.statistic == pytest.approx(stats.chi2_contingency(counts, correction=False).statistic, rel=0.05)


def test_its_cells_are_shares_among_those_who_answered_and_its_figures_those_of_the_whole_table() -> None:
    analysis = asked(joint_of(3, 0.5), 3000, 0.2, np.random.default_rng(13))
    whole, valid = analysis.crosstab("a", "b"), analysis.crosstab("a", "b", answered=True)
    answered = {"a": ["o0", "o1", "o2"], "b": ["yes", "no"]}
    one = conditional_share(whole, {"a": "o1", "b": "no"}, answered)
    assert valid.share({"a": "o1", "b": "no"}).low == pytest.approx(one.low) == pytest.approx(valid.low[1, 1])
    assert valid.std_error[1, 1] == pytest.approx(one.std_error)
    assert valid.variance_of(valid.cells({"a": "o1", "b": "no"})) == pytest.approx(one.std_error**2)
    assert valid.shares.sum() == pytest.approx(1)
    assert NO_ANSWER not in {option for options in valid.options for option in options}
    assert "those who answered, of 3,000 reports" in valid.summary()
    assert conditional_share(valid, {"b": "yes"}, {"a": "o0"}).estimate == pytest.approx(
        conditional_share(whole, {"b": "yes"}, {"a": "o0", "b": ["yes", "no"]}).estimate
    )
    assert odds_ratio(valid, ["o0", "o1"]).estimate == pytest.approx(odds_ratio(whole, ["o0", "o1"], ["yes", "no"]).estimate)
    assert cramers_v(valid).estimate == cramers_v(whole).estimate
    assert valid.margin("a").shares == pytest.approx(valid.shares.sum(axis=1))


def test_in_a_sample_the_test_is_of_those_who_answered_and_v_is_refused() -> None:
    rng, groups = np.random.default_rng(14), tuple(f"C{number}" for number in range(10))
    survey = survey_of(2, 6, groups=groups)
    tallies = {group: reports(survey, people(joint_of(2, 0.0), 80, 0.1, rng), rng) for group in groups}
    whole = analyse(survey, tallies, sample=Sample(clusters="group")).crosstab("a", "b", answered=True)
    found = independence(whole)
    assert (found.df, found.reference[:2]) == (1, "F ")
    with pytest.raises(EstimateError, match="no Cramér's V of a sample"):
        cramers_v(whole)


def test_a_table_of_hardly_anybody_who_answered_is_refused() -> None:
    survey = survey_of(2, 8)
    nobody = analyse(survey, reports(survey, np.full((40, 2), 2), np.random.default_rng(3)))
    assert nobody.crosstab("a", "b").shares[:2, :2].sum() <= 0
    with pytest.raises(EstimateError, match="too few are estimated to have answered a and b"):
        nobody.crosstab("a", "b", answered=True)
