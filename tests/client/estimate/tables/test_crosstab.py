"""Cross tables of perturbed questions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.device.entropy import os_words
from deniable.device.randomize import Words, randomize
from deniable.errors import EstimateError
from deniable.estimate import Crosstab, crosstab, estimate, joint
from deniable.survey import Survey
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

Floats = np.ndarray[Any, np.dtype[np.float64]]


def survey_of(**questions: tuple[int, float]) -> Survey:
    """Questions of that many options (two: yes/no) and that epsilon."""

    def question(name: str, k: int, epsilon: float) -> dict[str, Any]:
        kind: dict[str, Any] = {"type": "yes_no"} if k == 2 else {"type": "choice", "options": [f"{name}{i}" for i in range(k)]}
        return {"id": name, "text": "?", "epsilon": epsilon, **kind}

    listed = [question(name, k, epsilon) for name, (k, epsilon) in questions.items()]
    return Survey.from_dict({"deniable": 1, "id": "tables", "title": "T", "about": "A test.", "questions": listed})


TWO_COINS = Survey.from_dict(
    {
        "deniable": 1,
        "id": "coins",
        "title": "T",
        "about": "A test.",
        "epsilon": "ln 9",
        "questions": [{"id": name, "text": "?", "type": "yes_no"} for name in ("a", "b")],
    }
)
WORKED = Tally(2000, np.array([[796, 363], [363, 796]]))


def counts(zero_zero: int, zero_one: int, one_zero: int, one_one: int) -> Tally:
    """The tally of reports by the yes bits of a and b."""
    n = zero_zero + zero_one + one_zero + one_one
    return Tally(n, np.array([[one_zero + one_one, one_one], [one_one, zero_one + one_one]]))


def seeded(seed: int) -> Words:
    """Repeatable words, for tests only."""
    rng = np.random.default_rng(seed)
    return lambda count: rng.integers(0, 1 << 32, count, dtype=np.uint32)


def answers_of(truth: Floats, n: int) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    """n respondents whose joint shares are `truth`, to the nearest respondent."""
    sizes = np.diff(np.round(np.concatenate([[0.0], truth.ravel().cumsum()]) * n).astype(int))
    return [np.repeat(axis, sizes) for axis in np.indices(truth.shape).reshape(truth.ndim, -1)]


def reports_of(survey: Survey, truth: Floats, n: int, words: Words = os_words) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Really randomized reports, through the wire's bytes."""
    bits = [randomize(question.channel, column, words) for question, column in zip(survey.questions, answers_of(truth, n), strict=True)]
    return unpack(survey, pack(survey, bits), n)


def naive(tally: Tally) -> Floats:
    """Control: the cross table of the perturbed yes bits."""
    both, a, b = tally.pairs[0, 1], *tally.ones
    return np.array([[both, a - both], [b - both, tally.n - a - b + both]]) / tally.n


def test_the_worked_case_of_two_coins_each() -> None:
    table = crosstab(TWO_COINS, counts(771, 433, 433, 363), "a", "b")
    assert table.n == 2000
    assert table.shares == pytest.approx(np.array([[0.18, 0.116], [0.116, 0.588]]), abs=1e-12)
    assert table.shares.sum() == pytest.approx(1)
    assert not np.allclose(naive(counts(771, 433, 433, 363)), table.shares, atol=0.05)


def test_the_standard_error_of_a_yes_no_cell_is_that_of_its_products_in_the_reports() -> None:
    """With two options the four counts say all, so the formula must give the plain variance of u v over the reports."""
    cells = {(0, 0): 771, (0, 1): 433, (1, 0): 433, (1, 1): 363}
    table = crosstab(TWO_COINS, counts(*cells.values()), "a", "b")
    products = np.repeat([(a - 0.25) / 0.5 * (b - 0.25) / 0.5 for a, b in cells], list(cells.values()))
    assert table.std_error[0, 0] == pytest.approx(products.std() / np.sqrt(2000), rel=1e-12)
    assert table.covariance[0, 0] == pytest.approx(products.var() / 2000, rel=1e-12)


def test_expected_counts_give_back_the_truth_exactly() -> None:
    """Unbiased, without a simulation: the tally is linear in the counts, so put in what is expected."""
    survey = survey_of(a=(3, 1.0), b=(5, 0.7))
    a, b = (question.channel for question in survey.questions)
    truth = np.random.default_rng(5).dirichlet(np.ones(15)).reshape(3, 5)
    kernels = [np.where(np.eye(c.k), float(c.theta), float(c.phi)) for c in (a, b)]
    n = 10**12
    pairs = np.zeros((6, 6))
    pairs[:2, 2:] = (kernels[0].T @ truth @ kernels[1])[:-1, :-1] * n
    pairs += pairs.T
    np.fill_diagonal(pairs, np.concatenate([(truth.sum(axis=1) @ kernels[0])[:-1], (truth.sum(axis=0) @ kernels[1])[:-1]]) * n)
    table = crosstab(survey, Tally(n, np.round(pairs).astype(np.int64)), "a", "b")
    assert table.shares == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 8), (5, 4)])
def test_tables_of_really_randomized_answers_are_near_the_truth(sizes: tuple[int, int]) -> None:
    survey, n = survey_of(a=(sizes[0], 1.2), b=(sizes[1], 2.0)), 20_000
    truth = np.random.default_rng(7).dirichlet(np.ones(sizes[0] * sizes[1])).reshape(sizes)
    table = crosstab(survey, Tally.from_bits(reports_of(survey, truth, n)), "a", "b", target="respondents")
    distance = np.abs(table.shares - truth) / table.std_error
    assert distance.max() < 6  # 24 cells at most and three designs: a false alarm in 1e7 runs


def test_a_table_that_forgets_the_coins_would_fail_the_test_above() -> None:
    truth, n = np.array([[0.3, 0.1], [0.05, 0.55]]), 20_000
    tally = Tally.from_bits(reports_of(TWO_COINS, truth, n))
    table = crosstab(TWO_COINS, tally, "a", "b")
    assert (np.abs(naive(tally) - truth) / table.std_error).max() > 6


@pytest.mark.slow
@pytest.mark.parametrize(("target", "k"), [("population", 2), ("population", 5), ("respondents", 3)])
def test_intervals_cover_the_truth_as_often_as_they_say(target: str, k: int) -> None:
    """The coverage atlas has more cells; fixed seed. 800 surveys of 1,000: 95% is known to 0.7% for each cell, better for their mean."""
    survey, n, words, rng = survey_of(a=(k, 2.0), b=(2, 1.5)), 1000, seeded(21), np.random.default_rng(22)
    truth = np.random.default_rng(3).dirichlet(np.ones(2 * k)).reshape(k, 2)
    covered, ratios = [], []
    for _ in range(800):
        own = rng.multinomial(n, truth.ravel()).reshape(truth.shape) / n if target == "population" else np.round(truth * n) / n
        own[0, 0] += 1 - own.sum()
        table = crosstab(survey, Tally.from_bits(reports_of(survey, own, n, words)), "a", "b", target=target)
        goal = truth if target == "population" else own
        covered.append((table.low <= goal) & (goal <= table.high))
        ratios.append((table.shares - goal) / table.std_error)
    assert np.mean(covered) == pytest.approx(0.95, abs=0.01)
    assert np.std(ratios, axis=0) == pytest.approx(1, abs=0.12)
    assert np.abs(np.mean(ratios, axis=0)).max() < 5 / np.sqrt(800)


def test_the_margins_are_the_shares_that_estimate_gives() -> None:
    survey = survey_of(a=(3, 1.0), b=(4, 2.0))
    tally = Tally.from_bits(reports_of(survey, np.full((3, 4), 1 / 12), 1200))
    table, rows = crosstab(survey, tally, "a", "b"), estimate(survey, tally).rows
    for name, start in (("a", 0), ("b", 3)):
        margin = table.margin(name)
        for i, row in enumerate(rows[start : start + margin.shares.size]):
            assert margin.shares[i] == pytest.approx(row.estimate, abs=1e-12)
            assert margin.std_error[i] == pytest.approx(row.std_error, rel=1e-9)
            one = table.share({name: row.option})
            assert (one.estimate, one.std_error) == pytest.approx((row.estimate, row.std_error), rel=1e-6)


def test_turning_the_table_round_turns_the_numbers_round() -> None:
    survey = survey_of(a=(3, 1.0), b=(4, 2.0))
    tally = Tally.from_bits(reports_of(survey, np.full((3, 4), 1 / 12), 1200))
    one, other = crosstab(survey, tally, "a", "b"), crosstab(survey, tally, "b", "a")
    assert one.shares == pytest.approx(other.shares.T)
    assert one.std_error == pytest.approx(other.std_error.T)


def three() -> tuple[Survey, Floats, np.ndarray[Any, np.dtype[np.bool_]]]:
    survey = survey_of(a=(2, 2.0), b=(3, 2.5), c=(5, 2.5))
    truth = np.random.default_rng(9).dirichlet(np.ones(30)).reshape(2, 3, 5)
    return survey, truth, reports_of(survey, truth, 30_000, seeded(9))


def test_three_questions_from_reports_are_near_the_truth() -> None:
    survey, truth, bits = three()
    table = joint(survey, bits, ["a", "b", "c"], target="respondents")
    assert (np.abs(table.shares - truth) / table.std_error).max() < 6
    turned = joint(survey, bits, ["c", "a", "b"], target="respondents")
    assert turned.questions == ("c", "a", "b")
    assert turned.shares.transpose(1, 2, 0) == pytest.approx(table.shares, abs=1e-12)


def test_the_errors_of_three_questions_are_those_of_the_products_in_the_reports() -> None:
    survey, _, bits = three()
    table = joint(survey, bits, ["a", "b", "c"])
    pseudo, start = [], 0
    for question in survey.questions:
        stored = bits[:, start : start + question.k - 1]
        start += question.k - 1
        all_bits = np.column_stack([stored, question.d - stored.sum(axis=1)])
        phi, theta = float(question.channel.phi), float(question.channel.theta)
        pseudo.append((all_bits - phi) / (theta - phi))
    products = np.einsum("ni,nj,nl->nijl", *pseudo)
    assert table.shares == pytest.approx(products.mean(axis=0), abs=1e-12)
    variance = products.var(axis=0) / len(bits)
    assert np.diagonal(table.covariance) == pytest.approx(variance.ravel(), rel=1e-9)
    # never below what the coins alone give, which chance may take the reports to
    assert (table.std_error**2 >= variance * (1 - 1e-9)).all()
    assert table.std_error**2 == pytest.approx(variance, rel=0.1)


def test_two_questions_from_reports_are_the_table_from_the_tally() -> None:
    survey, _, bits = three()
    one, other = joint(survey, bits, ["c", "b"]), crosstab(survey, Tally.from_bits(bits), "c", "b")
    for name in ("shares", "std_error", "low", "high"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), abs=1e-12)
    assert (one.n, one.questions, one.options) == (other.n, other.questions, other.options)


def test_many_reports_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    survey, _, bits = three()
    whole = joint(survey, bits[:1000], ["a", "b", "c"])
    monkeypatch.setattr("deniable.estimate.moments.counts._CHUNK", 100)
    assert (joint(survey, bits[:1000], ["a", "b", "c"]).shares == whole.shares).all()


def test_a_share_may_be_a_sum_of_cells() -> None:
    survey, _, bits = three()
    table = joint(survey, bits, ["a", "b", "c"])
    one = table.share({"a": "yes", "c": ["c0", "c3"]})
    assert one.estimate == pytest.approx(table.shares[0][:, [0, 3]].sum())
    weights = np.zeros(table.shares.shape)
    weights[0][:, [0, 3]] = 1
    assert one.std_error**2 == pytest.approx(weights.ravel() @ table.covariance @ weights.ravel())
    assert one.what == "a = yes, c = c0 or c3"


def test_a_frame_has_a_line_for_each_cell() -> None:
    frame = crosstab(TWO_COINS, counts(771, 433, 433, 363), "a", "b").to_frame()
    assert list(frame.columns) == ["a", "b", "n", "estimate", "std_error", "low", "high"]
    assert [*zip(frame["a"], frame["b"], strict=True)] == [("yes", "yes"), ("yes", "no"), ("no", "yes"), ("no", "no")]
    assert frame["estimate"].tolist() == pytest.approx([0.18, 0.116, 0.116, 0.588])


def test_the_summary_is_a_table() -> None:
    assert crosstab(TWO_COINS, counts(771, 433, 433, 363), "a", "b").summary() == (
        "a by b: % of all 2,000 reports (95% intervals) · target: population\n"
        "\n"
        "                    yes                  no\n"
        "yes  18.0 (13.3 – 22.7)   11.6 (6.4 – 16.8)\n"
        "no    11.6 (6.4 – 16.8)  58.8 (52.8 – 64.8)\n"
    )
    survey, _, bits = three()
    assert "yes · b2" in joint(survey, bits, ["a", "b", "c"]).summary()


def worked() -> Crosstab:
    return crosstab(TWO_COINS, counts(771, 433, 433, 363), "a", "b")


def test_what_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(EstimateError, match=r"the question must be one of survey coins \(a, b\), got 'c'"):
        crosstab(TWO_COINS, WORKED, "a", "c")
    with pytest.raises(EstimateError, match="the two questions must differ, got a twice"):
        crosstab(TWO_COINS, WORKED, "a", "a")
    with pytest.raises(EstimateError, match=r"the question must be one of the table's \(a, b\), got 'c'"):
        worked().margin("c")
    with pytest.raises(EstimateError, match=r"the option must be one of question a \(yes, no\), got 'maybe'"):
        worked().share({"a": ["yes", "maybe"]})


def test_without_reports_there_is_no_table() -> None:
    with pytest.raises(EstimateError, match="at least 1 report to a and b, got 0"):
        crosstab(TWO_COINS, Tally.empty(2), "a", "b")
    with pytest.raises(EstimateError, match="at least 1 report, got 0"):
        joint(TWO_COINS, np.zeros((0, 2), dtype=np.bool_), ["a", "b"])


def test_the_tally_or_the_reports_of_another_survey_are_refused() -> None:
    with pytest.raises(EstimateError, match="the tally must have 2 bits, as survey coins has, got 3"):
        crosstab(TWO_COINS, Tally.empty(3), "a", "b")
    with pytest.raises(EstimateError, match=r"bits must have 2 columns, as survey coins has, got the shape \(5, 3\)"):
        joint(TWO_COINS, np.zeros((5, 3), dtype=np.bool_), ["a", "b"])


@pytest.mark.parametrize("questions", [["a"], [], ["a", "a"]])
def test_a_joint_table_needs_different_questions(questions: list[str]) -> None:
    with pytest.raises(EstimateError, match="questions must be two or more different ones"):
        joint(TWO_COINS, np.zeros((5, 2), dtype=np.bool_), questions)


@pytest.mark.parametrize("options", [{"confidence": 1.0}, {"target": "all"}])
def test_a_wrong_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(EstimateError, match=f"{next(iter(options))} must be"):
        crosstab(TWO_COINS, WORKED, "a", "b", **options)


def test_tables_of_too_many_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.estimate.tables.crosstab.MAX_CELLS", 3)
    monkeypatch.setattr("deniable.estimate.tables.crosstab.MAX_COVARIANCE", 3)
    with pytest.raises(EstimateError, match="the table must have at most 3 cells, got 4"):
        joint(TWO_COINS, np.zeros((5, 2), dtype=np.bool_), ["a", "b"])
    with pytest.raises(EstimateError, match="a covariance needs a table of at most 3 cells, got 4"):
        _ = worked().covariance


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({}, "name options of at least one of the table's questions"),
        ({"a": []}, r"the options of question a must be one or several, as text, got \[\]"),
        ({"a": None}, "the options of question a must be one or several, as text, got None"),
    ],
)
def test_a_share_of_no_options_is_refused(chosen: Any, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        worked().share(chosen)
