"""No estimate depends on how its data are written: order of people, questions, options and groups, units, splits into parts; and twice the
people are the same shares with an error smaller by the square root of two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable.estimate import Analysis, Estimate, Sample, analyse
from deniable.estimate.present.tabular import Tabular
from deniable.simulate import simulate
from deniable.survey import Survey
from deniable.wire.tally import Tally

N = 1600
GROUPS = ("a", "b", "c", "d")
OPTIONS = {"party": ["red", "blue", "green"], "mood": ["bad", "fair", "good", "best"], "drugs": ["tea", "coffee", "wine"]}
QUESTIONS: dict[str, dict[str, Any]] = {
    "smokes": {"type": "yes_no"},
    "party": {"type": "choice", "options": OPTIONS["party"], "required": False},
    "mood": {"type": "scale", "options": OPTIONS["mood"], "scores": [1, 2, 3, 4], "required": False},
    "calm": {"type": "scale", "options": ["no", "half", "yes"], "scores": [0, 1, 2]},
    "drugs": {"type": "multi_choice", "options": OPTIONS["drugs"]},
    "age": {"type": "number", "low": 0, "high": 100},
}
TRUTH = {
    "smokes": [0.3, 0.7],
    "party": [0.4, 0.3, 0.2, 0.1],
    "mood": [0.1, 0.3, 0.35, 0.2, 0.05],
    "calm": [0.5, 0.3, 0.2],
    **{f"drugs[{option}]": [share, 1 - share] for option, share in zip(OPTIONS["drugs"], (0.7, 0.5, 0.3), strict=True)},
    "age": [0.1, 0.2, 0.2, 0.2, 0.1, 0.1, 0.1],
}
SAMPLE = Sample(
    clusters="group",
    margins={"kind": {"x": 0.4, "y": 0.6}},
    attributes={"kind": {"a": "x", "b": "x", "c": "y", "d": "y"}},
)


def survey_of(questions: Mapping[str, dict[str, Any]], **more: Any) -> Survey:
    listed = [{"id": name, "text": "?", **question} for name, question in questions.items()]
    document = {"deniable": 1, "id": "s", "title": "T", "about": "A test.", "epsilon": 10, "questions": listed, "groups": list(GROUPS)}
    return Survey.from_dict({**document, "accept_high_epsilon": True, **more})


Blocks = dict[str, NDArray[np.bool_]]
"""The outputs of each item's channel, all of them, shape (n, outputs)."""


def blocks_of(survey: Survey, bits: NDArray[np.bool_]) -> Blocks:
    """The outputs of each item; the last one, which no record stores, follows from the number that are set."""
    blocks = {}
    for field in survey.record.fields:
        stored = bits[:, field.bits]
        blocks[field.item.id] = np.column_stack([stored, stored.sum(axis=1) < field.item.channel.d])
    return blocks


def bits_of(survey: Survey, blocks: Blocks) -> NDArray[np.bool_]:
    return np.hstack([blocks[field.item.id][:, :-1] for field in survey.record.fields])


SURVEY = survey_of(QUESTIONS)
BITS = simulate(SURVEY, TRUTH, N).bits

Figures = dict[frozenset[str], list[float]]
"""Estimate, standard error and limits by the texts that say what they are of."""

KINDS = (
    {f"{people} {kind}" for people in ("all", "first", "sample") for kind in ("results", "table", "answered", "among")}
    | {
        f"{people} {kind}"
        for people in ("all", "first", "sample")
        for kind in ("correlation", "between", "between options", "between means")
    }
    | {"three questions", "comparison", "groups", "waves"}
)
CHECKED = ("estimate", "std_error", "low", "high")


def analysed(survey: Survey, bits: NDArray[np.bool_], people: float = 1.0) -> dict[str, Analysis]:
    """All people, the first and the second half, and all as a sample of clusters whose margins count so many people."""
    parts = np.split(bits, len(GROUPS))
    sample = replace(SAMPLE, margins={"kind": {"x": 0.4 * people, "y": 0.6 * people}})
    return {
        "all": analyse(survey, bits),
        "first": analyse(survey, np.vstack(parts[:2])),
        "second": analyse(survey, np.vstack(parts[2:])),
        "sample": analyse(survey, {name: Tally.from_bits(part) for name, part in zip(GROUPS, parts, strict=True)}, sample=sample),
    }


def figures(analyses: Mapping[str, Analysis]) -> Figures:
    """Every kind of figure, once."""
    first, second = analyses["first"], analyses["second"]
    tables: dict[str, Tabular] = {
        "three questions": analyses["all"].crosstab("smokes", "party", "calm"),
        "comparison": first.compare(second, "party"),
        "groups": first.compare_groups({"second": second}, "mood", name="first"),
        "waves": first.compare_waves(second),
    }
    single: dict[str, Estimate] = {}
    for name in ("all", "first", "sample"):
        analysis = analyses[name]
        tables |= {f"{name} results": analysis.results, f"{name} table": analysis.crosstab("smokes", "party")}
        tables |= {f"{name} answered": analysis.answered("party")}
        questions = ["smokes", "party", "calm", "age"] if analysis.sample is None else ["smokes", "party", "calm"]
        tables |= {f"{name} among": analysis.among("mood", "good", questions=questions)}
        single |= {
            f"{name} correlation": analysis.correlation("mood", "calm"),
            f"{name} between": analysis.between("smokes", "yes", "party", "red"),
            f"{name} between options": analysis.between("party", "red", "party", "blue"),
            f"{name} between means": analysis.between_means("mood", "calm"),
        }
    result = {frozenset([name]): [getattr(one, key) for key in CHECKED] for name, one in single.items()}
    for name, table in tables.items():
        for part in table.records():
            for row in part.rows:
                cells = dict(zip(part.columns, row, strict=True))
                texts = [f"{key} {cell}" for key, cell in cells.items() if isinstance(cell, str)]
                result[frozenset([name, part.title, *texts])] = [float(cells[key]) for key in CHECKED]
    return result


def medians(analyses: Mapping[str, Analysis]) -> list[tuple[str, str, str]]:
    return [(one.option, one.low, one.high) for one in (analyses[name].quantile("mood") for name in ("all", "first", "sample"))]


PLAIN = analysed(SURVEY, BITS)
EXPECTED = figures(PLAIN)


def assert_same(actual: Figures, expected: Figures = EXPECTED) -> None:
    assert set(actual) == set(expected)
    for name, values in expected.items():
        assert actual[name] == pytest.approx(values, rel=1e-7, abs=1e-9), sorted(name)


def test_every_kind_of_figure_is_compared() -> None:
    names = {next(iter(name & KINDS)) for name in EXPECTED}
    assert names == KINDS
    assert len(EXPECTED) > 150


def test_order_of_people_changes_nothing() -> None:
    order = np.concatenate([np.random.default_rng(1).permutation(part) for part in np.split(np.arange(N), len(GROUPS))])
    analyses = analysed(SURVEY, BITS[order])
    assert_same(figures(analyses))
    assert medians(analyses) == medians(PLAIN)


def test_order_of_questions_changes_nothing() -> None:
    survey = survey_of(dict(reversed(QUESTIONS.items())))
    analyses = analysed(survey, bits_of(survey, blocks_of(SURVEY, BITS)))
    assert_same(figures(analyses))
    assert medians(analyses) == medians(PLAIN)


def test_order_of_options_changes_nothing() -> None:
    """Columns of outputs move as options do; "no answer" stays the last one. The scale's order means something and stays."""
    party, drugs = [2, 0, 1], [1, 2, 0]
    questions = {
        **QUESTIONS,
        "party": {**QUESTIONS["party"], "options": [OPTIONS["party"][index] for index in party]},
        "drugs": {**QUESTIONS["drugs"], "options": [OPTIONS["drugs"][index] for index in drugs]},
    }
    survey, blocks = survey_of(questions), blocks_of(SURVEY, BITS)
    blocks["party"] = blocks["party"][:, [*party, 3]]
    assert_same(figures(analysed(survey, bits_of(survey, blocks))))


def test_order_of_groups_changes_nothing() -> None:
    survey = survey_of(QUESTIONS, groups=list(reversed(GROUPS)))
    sample = analyse(survey, dict(reversed((PLAIN["sample"].groups or {}).items())), sample=SAMPLE)
    assert_same(figures({**analysed(survey, BITS), "sample": sample}))


def test_margins_as_shares_or_as_numbers_of_people_are_the_same() -> None:
    assert_same(figures(analysed(SURVEY, BITS, people=4000.0)))


def test_reports_counted_in_parts_are_the_reports_counted_at_once() -> None:
    parts = Tally.total((Tally.from_bits(part) for part in np.array_split(BITS, 7)), SURVEY.record.bits)
    expected = {name: values for name, values in EXPECTED.items() if "all results" in name}
    actual = figures({**PLAIN, "all": replace(analyse(SURVEY, parts), bits=BITS)})
    assert_same({name: actual[name] for name in expected}, expected)


def test_scores_in_another_unit_and_from_another_zero_change_a_mean_as_they_do_and_no_correlation() -> None:
    scores = {name: QUESTIONS[name]["scores"] for name in ("mood", "calm")}
    rescaled = {name: {**QUESTIONS[name], "scores": [5 + 1000 * score for score in scores[name]]} for name in scores}
    actual, expected = figures(analysed(survey_of({**QUESTIONS, **rescaled}), BITS)), dict(EXPECTED)
    for name, values in EXPECTED.items():
        about_means = name & {f"question {question}" for question in scores} and not any(
            len(text) > 7 for text in name if "option " in text
        )
        if about_means or any("between means" in text for text in name):
            zero = 0 if name & {"waves", "groups"} or any("between means" in text for text in name) else 5
            expected[name] = [zero + 1000 * values[0], 1000 * values[1], zero + 1000 * values[2], zero + 1000 * values[3]]
    assert len([name for name in EXPECTED if expected[name] != EXPECTED[name]]) > 8
    assert_same(actual, expected)


def test_twice_the_people_are_the_same_figures_with_an_error_smaller_by_the_root_of_two() -> None:
    """Each group twice: not so the sample, whose clusters stay four; and errors of n - 1 people differ a little."""
    twice = np.vstack([np.vstack([part, part]) for part in np.split(BITS, len(GROUPS))])
    actual = figures(analysed(SURVEY, twice))
    assert set(actual) == set(EXPECTED)
    for name, (estimate, error, low, high) in EXPECTED.items():
        assert actual[name][0] == pytest.approx(estimate, abs=1e-6), sorted(name)
        if not any(text.startswith("sample") for text in name):
            assert actual[name][1] == pytest.approx(error / 2**0.5, rel=5e-3), sorted(name)
            assert actual[name][3] - actual[name][2] < high - low, sorted(name)


@pytest.mark.parametrize("damage", [lambda bits: bits[1:], lambda bits: np.vstack([bits[:-1], ~bits[-1:]])], ids=["one lost", "one wrong"])
def test_one_record_lost_or_wrong_is_seen(damage: Callable[[NDArray[np.bool_]], NDArray[np.bool_]]) -> None:
    changed = analyse(SURVEY, damage(BITS))
    with pytest.raises(AssertionError):
        assert_same(figures({**PLAIN, "all": changed}))
