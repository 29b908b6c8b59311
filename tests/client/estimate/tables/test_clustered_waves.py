"""Two waves in the same clusters: the change within each cluster, whose error what clusters have in common does not widen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate import Analysis, Sample, analyse
from deniable.survey import Survey
from deniable.wire.tally import Tally

CLINICS = tuple(f"C{number}" for number in range(12))
QUESTIONS: list[dict[str, Any]] = [
    {"id": "y", "text": "?", "type": "yes_no"},
    {"id": "s", "text": "?", "type": "scale", "options": ["low", "high"], "required": False},
]


def wave(name: str, shares: NDArray[np.float64], rng: np.random.Generator, clinics: tuple[str, ...] = CLINICS, **sample: Any) -> Analysis:
    """100 people in each clinic, of whom these shares say yes, and "high"; one in ten says nothing to the scale."""
    source = {"deniable": 1, "id": name, "title": "T", "about": "A test.", "epsilon": 5, "groups": list(clinics), "questions": QUESTIONS}
    survey = Survey.from_dict(source)
    tallies = {}
    for clinic, share in zip(clinics, shares, strict=True):
        yes = rng.random(100) < share
        columns = [np.where(yes, 0, 1), np.where(rng.random(100) < 0.1, 2, yes)]
        bits = []
        for item, answers in zip(survey.items, columns, strict=True):
            kept = rng.random(100) < float(item.channel.theta)
            named = np.where(kept, answers, (answers + rng.integers(1, item.k, 100)) % item.k)
            bits.append(np.eye(item.k, dtype=bool)[named][:, :-1])
        tallies[clinic] = Tally.from_bits(np.hstack(bits))
    return analyse(survey, tallies, sample=Sample(clusters="group", **sample))


@pytest.mark.slow
def test_changes_within_clusters_cover_and_are_much_narrower_than_those_of_other_clusters() -> None:
    rng, surveys = np.random.default_rng(1), 150
    hit, width, apart = {"yes": 0, "": 0}, [], []
    for _ in range(surveys):
        there = rng.uniform(0.1, 0.7, 12)
        first, second = wave("one", there, rng), wave("two", there + 0.1, rng)
        found: dict[str, Any] = {one.option: one for one in first.compare_waves(second).changes if one.question == "y" or not one.option}
        for option in hit:
            change = found[option].difference
            hit[option] += change.low <= 0.1 <= change.high
        sides = [found["yes"].first, found["yes"].second]
        width.append(float(np.ptp([found["yes"].difference.low, found["yes"].difference.high])))
        apart.append(float(np.hypot(*((side.high or 0.0) - (side.low or 0.0) for side in sides))))
    assert all(0.91 < count / surveys < 0.99 for count in hit.values())
    assert np.mean(width) < 0.5 * np.mean(apart)


def test_a_change_is_the_second_share_less_the_first_and_the_summary_says_how_it_was_taken() -> None:
    rng = np.random.default_rng(2)
    first, second = wave("one", np.full(12, 0.3), rng), wave("two", np.full(12, 0.4), rng)
    found = first.compare_waves(second)
    assert found.paired == 12
    assert "within clusters; 12 clusters were asked in both waves" in found.summary()
    for change in found.changes:
        one, other = (row.mean if hasattr(row, "mean") else row.estimate for row in (change.first, change.second))
        assert change.difference is not None
        assert change.difference.estimate == pytest.approx((other or 0) - (one or 0), abs=1e-12)


def test_by_hand_it_is_the_spread_of_the_differences() -> None:
    rng = np.random.default_rng(3)
    first, second = (wave(name, np.full(12, 0.3), rng) for name in ("one", "two"))
    shares = [
        np.array([analyse(one.survey, tally).results["y", "yes"].estimate for tally in one.groups.values()])
        for one in (first, second)
        if one.groups
    ]
    apart = shares[1] - shares[0]
    change = next(change for change in first.compare_waves(second).changes if change.option == "yes").difference
    assert change is not None
    assert change.std_error == pytest.approx(apart.std(ddof=1) / np.sqrt(12), rel=1e-9)


def test_clusters_that_only_one_wave_has_count_alone_and_none_in_common_are_two_samples() -> None:
    rng, others = np.random.default_rng(4), tuple(f"D{number}" for number in range(12))
    first = wave("one", np.full(12, 0.3), rng)
    half = wave("two", np.full(12, 0.3), rng, CLINICS[:6] + others[:6])
    assert first.compare_waves(half).paired == 6
    assert first.compare_waves(wave("three", np.full(12, 0.3), rng, others)).paired == 0


def test_a_cluster_in_another_stratum_is_refused_and_so_is_a_trend() -> None:
    rng = np.random.default_rng(5)
    regions = [
        {"region": {clinic: "north" if (number < 6) is side else "south" for number, clinic in enumerate(CLINICS)}}
        for side in (True, False)
    ]
    first, second = (
        wave(name, np.full(12, 0.3), rng, strata="region", attributes=attributes)
        for name, attributes in zip(("one", "two"), regions, strict=True)
    )
    with pytest.raises(EstimateError, match="must be in one stratum in both waves"):
        first.compare_waves(second)
    with pytest.raises(EstimateError, match=r"Analysis\.compare_waves takes the difference within each"):
        first.trend(second, wave("three", np.full(12, 0.3), rng))
