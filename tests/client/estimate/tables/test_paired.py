"""Differences between questions of the same people, and the refusal to take such figures for those of different people."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate import Analysis, Results, Sample, analyse, difference, estimate
from deniable.estimate.tables import contrast
from deniable.survey import Survey
from deniable.wire.tally import Tally

TWO = [{"id": "a", "text": "?", "type": "yes_no"}, {"id": "b", "text": "?", "type": "yes_no"}]
SCALES = [{"id": name, "text": "?", "type": "scale", "options": ["low", "middle", "high"]} for name in ("before", "after")]
OPTIONAL = [{**question, "required": False} for question in SCALES]


def survey_of(questions: list[dict[str, Any]], epsilon: float = 4, name: str = "pairs") -> Survey:
    source = {"deniable": 1, "id": name, "title": "T", "about": "A test.", "epsilon": epsilon, "groups": ["North", "South"]}
    return Survey.from_dict({**source, "questions": questions})


def reports(survey: Survey, answers: NDArray[np.int64], rng: np.random.Generator) -> Tally:
    """The tally of people with these answers, shape (n, questions); each report names one category of each question."""
    named = []
    for item, column in zip(survey.items, answers.T, strict=True):
        assert item.channel.d == 1
        kept = rng.random(len(column)) < float(item.channel.theta)
        other = (column + rng.integers(1, item.k, len(column))) % item.k
        named.append(np.eye(item.k, dtype=bool)[np.where(kept, column, other)][:, :-1])
    return Tally.from_bits(np.hstack(named))


def two(shares: tuple[float, ...], n: int, rng: np.random.Generator, epsilon: float = 4) -> Analysis:
    """People whose answers are yes/yes, yes/no, no/yes and no/no with these chances."""
    survey = survey_of(TWO, epsilon)
    kinds = rng.choice(4, n, p=shares)
    return analyse(survey, reports(survey, np.stack([kinds // 2, kinds % 2], axis=1), rng))


@pytest.mark.slow
@pytest.mark.parametrize("shares", [(0.0, 0.3, 0.3, 0.4), (0.3, 0.02, 0.02, 0.66)], ids=["opposite", "like"])
def test_the_difference_of_two_questions_has_the_error_that_it_has(shares: tuple[float, ...]) -> None:
    rng = np.random.default_rng(1)
    found = [two(shares, 400, rng).between("a", "yes", "b", "yes") for _ in range(250)]
    covered = np.mean([one.low <= shares[1] - shares[2] <= one.high for one in found])
    spread = np.std([one.estimate for one in found])
    assert 0.92 < covered < 0.985
    assert np.mean([one.std_error for one in found]) == pytest.approx(spread, rel=0.15)


def test_it_is_the_share_of_one_less_that_of_the_other() -> None:
    people = two((0.1, 0.3, 0.2, 0.4), 500, np.random.default_rng(12))
    one = people.between("a", "yes", "b", "no")
    assert one.estimate == pytest.approx((people.results["a", "yes"].estimate or 0) - (people.results["b", "no"].estimate or 0), abs=1e-12)
    assert people.between("b", "no", "a", "yes").low == pytest.approx(-one.high, abs=1e-9)


def test_two_options_of_one_question_are_taken_from_its_reports() -> None:
    people = two((0.1, 0.3, 0.2, 0.4), 500, np.random.default_rng(13))
    assert people.between("a", "yes", "a", "no").estimate == pytest.approx(2 * (people.results["a", "yes"].estimate or 0) - 1, abs=1e-12)
    with pytest.raises(EstimateError, match="must differ"):
        people.between("a", "yes", "a", "yes")


@pytest.mark.slow
@pytest.mark.parametrize("questions", [SCALES, OPTIONAL], ids=["everybody", "those who answered both"])
def test_the_difference_of_two_means_of_the_same_people_covers(questions: list[dict[str, Any]]) -> None:
    survey, rng, hit, surveys = survey_of(questions, epsilon=6), np.random.default_rng(14), 0, 200
    for _ in range(surveys):
        before = rng.choice(3, 300, p=[0.5, 0.3, 0.2])
        answers = np.stack([before, np.minimum(2, before + (rng.random(300) < 0.2))], axis=1)
        if questions is OPTIONAL:
            answers[rng.random((300, 2)) < 0.1] = 3
        one = analyse(survey, reports(survey, answers, rng)).between_means("after", "before")
        hit += one.low <= 0.2 * 0.8 <= one.high
    assert 0.91 < hit / surveys < 0.99


def test_means_of_questions_without_scores_are_refused() -> None:
    with pytest.raises(EstimateError, match="question a must have scores"):
        two((0.1, 0.3, 0.2, 0.4), 100, np.random.default_rng(15)).between_means("a", "b")


def stored(results: Results) -> Results:
    return Results.from_dict(results.to_dict())


def pickled(results: Results) -> Results:
    found: Results = pickle.loads(pickle.dumps(results))
    return found


@pytest.mark.parametrize("passed", [lambda results: results, stored, pickled])
def test_figures_of_the_same_reports_are_not_taken_for_independent(passed: Callable[[Results], Results]) -> None:
    results = passed(two((0.1, 0.3, 0.2, 0.4), 300, np.random.default_rng(16)).results)
    with pytest.raises(EstimateError, match=r"Analysis\.between\('a', 'yes', 'b', 'yes'\)"):
        difference(results["a", "yes"], results["b", "yes"])
    with pytest.raises(EstimateError, match=r"Analysis\.between\('a', 'yes', 'a', 'no'\)"):
        difference(results["a", "yes"], results["a", "no"])
    with pytest.raises(EstimateError, match="twice"):
        difference(results["a", "yes"], results["a"]["a", "yes"])


def test_what_a_refusal_names_can_be_called() -> None:
    people = analyse(
        survey_of(SCALES), reports(survey_of(SCALES), np.random.default_rng(17).integers(3, size=(300, 2)), np.random.default_rng(18))
    )
    for one, other in (
        (people.mean("before"), people.mean("after")),
        (people.crosstab("before", "after").share({"before": "low"}), people.mean("after")),
    ):
        with pytest.raises(EstimateError, match="of the same reports") as refused:
            contrast([one, other], [1, -1])
        names = [word.split("(")[0].strip(",;") for word in str(refused.value).split() if word.startswith("Analysis.")]
        assert names
        assert all(hasattr(Analysis, name.removeprefix("Analysis.")) for name in names)


def test_origins_change_no_equality_no_record_and_no_text() -> None:
    results = two((0.1, 0.3, 0.2, 0.4), 300, np.random.default_rng(19)).results
    assert stored(results) == results == pickled(results)
    assert hash(results.rows[0]) == hash(stored(results).rows[0])
    assert "origin" not in f"{results.to_dict()}{results.to_csv()}{results.rows[0]!r}{list(results.to_frame().columns)}"
    with pytest.raises(EstimateError, match="origin"):
        Results.from_dict({**results.to_dict(), "rows": [{**row, "origin": None} for row in results.to_dict()["rows"]]})


def test_a_group_and_the_whole_it_is_part_of_are_no_two_samples() -> None:
    survey, rng = survey_of(TWO), np.random.default_rng(20)
    north, south = (reports(survey, rng.integers(2, size=(200, 2)), rng) for _ in range(2))
    whole = analyse(survey, {"North": north, "South": south})
    group, other = analyse(survey, north), analyse(survey, south)
    for one in (group.results, estimate(survey, north)):
        with pytest.raises(EstimateError, match="of the same reports"):
            difference(one["a", "yes"], whole.results["a", "yes"])
    with pytest.raises(EstimateError, match="of the same reports"):
        group.compare(whole, "a")
    with pytest.raises(EstimateError, match="of the same reports"):
        group.compare_groups({"all": whole}, "a")
    named, everybody = (Analysis(survey, tally, described=told) for tally, told in ((north, {"group": "North"}), (north + south, {})))
    with pytest.raises(EstimateError, match="group North and all groups"):
        difference(named.results["a", "yes"], everybody.results["a", "yes"])
    assert difference(group.results["a", "yes"], other.results["a", "yes"]).std_error > 0
    assert group.compare(other, "a").differences[0].estimate == pytest.approx(
        group.compare(whole.tally - group.tally, "a").differences[0].estimate
    )


def test_waves_in_the_same_clusters_are_not_taken_for_independent_by_difference() -> None:
    rng = np.random.default_rng(21)
    rows = []
    for name in ("first", "second"):
        survey = survey_of(TWO, name=name)
        tallies = {group: reports(survey, rng.integers(2, size=(100, 2)), rng) for group in survey.groups}
        rows.append(analyse(survey, tallies, sample=Sample(clusters="group")).results["a", "yes"])
    with pytest.raises(EstimateError, match=r"got group North in both; Analysis\.compare_waves"):
        difference(*rows)
