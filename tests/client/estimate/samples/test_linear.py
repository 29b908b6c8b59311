"""Shares of a sample, and their errors: those of R's package survey on true answers, and unbiased with coins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.samples.design import SampleDesign
from deniable.estimate.samples.linear import Linear, linear
from deniable.estimate.samples.sample import Sample
from deniable.mechanism import WORD, Channel
from deniable.survey import Survey
from deniable.wire.tally import Tally

R: dict[str, Any] = json.loads((Path(__file__).parents[3] / "vectors" / "samples.json").read_text(encoding="utf-8"))
"""People, and what R makes of them: tests/vectors/make_samples.R."""
CLINICS = [f"Clinic {number}" for number in range(1, 13)]
REGIONS = ["north"] * 4 + ["south"] * 3 + ["west"] * 5
KINDS = ["large", "small", "large", "small", "small", "large", "small", "small", "large", "large", "small", "large"]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "clinics",
        "title": "Clinics",
        "about": "Who asks, and why.",
        "groups": CLINICS,
        "epsilon": "ln 27",
        "questions": [
            {"id": "smokes", "text": "?", "type": "choice", "options": ["no", "yes"]},
            {"id": "moods", "text": "?", "type": "scale", "options": ["bad", "fair", "good", "fine"]},
            {"id": "sex", "text": "?", "type": "choice", "options": ["woman", "man"]},
        ],
    }
)
PLAIN = replace(SURVEY, questions=tuple(replace(one, channel=Channel(one.k, 1, WORD)) for one in SURVEY.questions))
"""The same without coins: the reports are the answers."""
ATTRIBUTES = {"region": dict(zip(CLINICS, REGIONS, strict=True)), "kind": dict(zip(CLINICS, KINDS, strict=True))}
BY_REGION, BY_KIND = {"north": 300, "south": 450, "west": 250}, {"large": 0.55, "small": 0.45}
BY_SEX = {"woman": 480, "man": 520}
LEFT_OUT = [{one: 0.0 if one == out else 12 / 11 for one in CLINICS} for out in CLINICS]
DRAWN_AGAIN = [{one: (c * c + c * draw + 2 * draw) % 4 / 2 for c, one in enumerate(CLINICS, start=1)} for draw in range(1, 21)]
SAMPLES: Mapping[str, dict[str, Any]] = {
    "jackknife": {"replicates": LEFT_OUT, "scale": 11 / 12},
    "bootstrap": {"replicates": DRAWN_AGAIN, "scale": 1 / 20},
    "alone": {},
    "clusters": {"clusters": "group"},
    "strata": {"strata": "region"},
    "strata_of_known_size": {"strata": "region", "population": {"north": 400, "south": 90, "west": 1000}},
    "clusters_in_strata": {"clusters": "group", "strata": "region"},
    "clusters_of_known_number": {"clusters": "group", "strata": "region", "population": {"north": 9, "south": 20, "west": 7}},
    "post_stratified": {"margins": {"region": BY_REGION}},
    "raked": {"margins": {"region": BY_REGION, "kind": BY_KIND}},
    "raked_clusters": {"clusters": "group", "margins": {"region": BY_REGION, "kind": BY_KIND}},
    "raked_to_a_question": {"clusters": "group", "margins": {"region": BY_REGION, "sex": BY_SEX}},
    "raked_to_a_question_alone": {"margins": {"sex": BY_SEX}},
}
FIGURES = {"moods": ["moods"], "smokes_by_sex": ["smokes", "sex"], "smokes_by_mood": ["smokes", "moods"]}


def answers() -> dict[str, Tally]:
    """The people's answers, by clinic: the stored bits of each question are all but its last option's."""
    tallies = {}
    for number, clinic in enumerate(CLINICS, start=1):
        rows = np.array([row[1:] for row in R["people"] if row[0] == number])
        smokes, moods, sex = (np.eye(k, dtype=bool)[rows[:, place] - least] for place, k, least in ((0, 2, 0), (1, 4, 1), (2, 2, 0)))
        tallies[clinic] = Tally.from_bits(np.column_stack([smokes[:, :1], moods[:, :3], sex[:, :1]]))
    return tallies


def found(sample: Sample, names: list[str], survey: Survey = PLAIN, tallies: Mapping[str, Tally] | None = None) -> Linear:
    counted = answers() if tallies is None else tallies
    design = SampleDesign(survey, {group: tally.n for group, tally in counted.items()}, sample)
    return linear(design, [counted[group] for group in design.groups], names)


def assert_as_in_r(expected: dict[str, Any], got: Linear, line: NDArray[np.float64]) -> None:
    """line: which sums of the shares R has, shape (m, cells)."""
    assert line @ got.shares == pytest.approx(expected["estimates"], rel=1e-6, abs=1e-8)
    assert np.sqrt(np.diagonal(line @ got.covariance @ line.T)) == pytest.approx(expected["std_errors"], rel=1e-6)


def test_every_kind_of_sample_is_there() -> None:
    assert set(SAMPLES) == set(R["designs"])


@pytest.mark.parametrize("name", SAMPLES)
def test_shares_and_errors_of_true_answers_are_those_of_r(name: str) -> None:
    sample, expected = Sample(**SAMPLES[name], attributes=ATTRIBUTES), R["designs"][name]
    for figure, questions in FIGURES.items():
        if figure in expected:
            got = found(sample, questions)
            assert_as_in_r(expected[figure], got, np.eye(len(got.shares)))
    assert_as_in_r(expected["smokes"], found(sample, ["smokes"]), np.array([[0.0, 1.0]]))
    assert_as_in_r(expected["mood"], found(sample, ["moods"]), np.array([[1.0, 2.0, 3.0, 4.0]]))


@pytest.mark.parametrize("name", [name for name in SAMPLES if "clusters" in name or name == "raked_to_a_question"])
def test_the_degrees_of_freedom_are_those_of_r_where_clusters_are_alike_and_fewer_else(name: str) -> None:
    sizes = {clinic: tally.n for clinic, tally in answers().items()}
    samples = [Sample(**SAMPLES[name], attributes=ATTRIBUTES)] * 2
    alike, unlike = (SampleDesign(SURVEY, each, sample) for each, sample in zip((dict.fromkeys(sizes, 30), sizes), samples, strict=True))
    assert (alike.df, alike.wider) == pytest.approx((R["designs"][name]["df"], 1.0))
    assert R["designs"][name]["df"] > unlike.df > R["designs"][name]["df"] - 3
    assert 1.0 < unlike.wider < 1.2


@pytest.mark.parametrize("name", ["jackknife", "bootstrap"])
def test_replicates_have_the_degrees_of_freedom_of_r(name: str) -> None:
    sizes = {clinic: tally.n for clinic, tally in answers().items()}
    assert SampleDesign(SURVEY, sizes, Sample(**SAMPLES[name])).df == R["designs"][name]["df"]


def test_each_replicate_counts_by_its_own_scale_and_coins_are_in_the_spread() -> None:
    """Control: half the scale gives half the variance, so the figures of R are no accident."""
    one, half = (found(Sample(replicates=LEFT_OUT, scale=scale), ["smokes"]) for scale in ([11 / 12] * 12, 11 / 24))
    assert np.diagonal(one.covariance) == pytest.approx(2 * np.diagonal(half.covariance))
    clusters = found(Sample(clusters="group"), ["smokes"], SURVEY)
    again = found(Sample(replicates=LEFT_OUT, scale=11 / 12), ["smokes"], SURVEY)
    assert again.variances == pytest.approx(clusters.variances, rel=0.1), "a jackknife of clinics is about what clusters are"


@pytest.mark.parametrize("small", [20, 50, 80])
def test_two_clusters_have_one_difference_whatever_their_sizes(small: int) -> None:
    """By hand, with d = |y1 - y2|: the error of p y1 + q y2 is taken for 2 p q d; where both vary alike it is d ((p^2 + q^2) / 2)^0.5."""
    p, q = small / 100, 1 - small / 100
    one, other = list(answers())[:2]
    found = SampleDesign(SURVEY, {one: small, other: 100 - small}, Sample(clusters="group"))
    assert (found.df, found.wider) == pytest.approx((1.0, max(1.0, ((p * p + q * q) / 2) ** 0.5 / (2 * p * q))))


def test_a_cluster_that_is_half_of_a_sample_counts_as_many_as_it_weighs() -> None:
    """By hand: parts 1/2, 1/4, 1/4 count as 1 / (3/8) = 8/3 clusters; errors are too small by 3/2 (1 + 3/8 - 2 (5/32) / (3/8)) = 13/16."""
    found = SampleDesign(SURVEY, {"Clinic 1": 40, "Clinic 2": 20, "Clinic 3": 20}, Sample(clusters="group"))
    assert (found.df, found.wider) == pytest.approx((5 / 3, (16 / 13) ** 0.5))
    with pytest.raises(EstimateError, match="one cluster is most of it"):
        SampleDesign(SURVEY, {"Clinic 1": 100, "Clinic 2": 20, "Clinic 3": 20}, Sample(clusters="group"))


def test_the_order_of_two_questions_is_kept_where_the_first_ones_shares_are_known() -> None:
    sample = Sample(**SAMPLES["raked_to_a_question"], attributes=ATTRIBUTES)
    one, other = found(sample, ["smokes", "sex"]), found(sample, ["sex", "smokes"])
    assert other.shares == pytest.approx(one.shares.reshape(2, 2).T.ravel())
    assert other.shares.reshape(2, 2).sum(axis=1) == pytest.approx([0.48, 0.52])


def test_a_third_question_beside_one_whose_shares_are_known_is_refused() -> None:
    with pytest.raises(EstimateError, match="the shares of sex are known"):
        found(Sample(margins={"sex": BY_SEX}), ["smokes", "moods"])
