"""Numbers through a window: how wide it is, what a definition says of it, and that its worst-case variance is below all the others."""

from __future__ import annotations

import json
import math
from decimal import Decimal, localcontext
from typing import Any

import pytest
from tests.kit.benchmarks import benchmark

from deniable.errors import RefusedError, SurveyError
from deniable.mechanism import Channel, Window
from deniable.survey import Survey
from deniable.survey.types.window import best_window

MEANS = benchmark("number_means")


def asked(epsilon: float = 1, **keys: Any) -> Survey:
    question = {"id": "hours", "text": "Hours?", "type": "number", "low": 0, "high": 60, **keys}
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": epsilon, "questions": [question]})


@pytest.mark.parametrize(
    ("epsilon", "grid", "piecewise", "hybrid", "window"),
    [
        (0.5, 4.168, 5.306, 4.168, 4.006),
        (1, 1.171, 1.306, 1.072, 1.009),
        (math.log(3), 1.000, 1.077, 0.888, 0.838),
        (1.5, 0.484, 0.566, 0.473, 0.459),
        (2, 0.250, 0.307, 0.261, 0.238),
        (3, 0.0970, 0.123, 0.108, 0.0848),
        (4, 0.0442, 0.0603, 0.0547, 0.0378),
        (6, 0.01075, 0.0184, 0.0176, 0.0099),
    ],
)
def test_the_worst_variance_is_the_known_figure_or_less_and_that_of_the_other_mechanisms_more(
    epsilon: float, grid: float, piecewise: float, hybrid: float, window: float
) -> None:
    assert MEANS.grid(epsilon) == pytest.approx(grid, rel=2e-3)
    assert MEANS.piecewise(epsilon) == pytest.approx(piecewise, rel=2e-3)
    assert MEANS.hybrid(epsilon) == pytest.approx(hybrid, rel=2e-3)
    named = MEANS.window(epsilon, (12, {2: 4, 3: 4, 4: 3, 6: 2}.get(epsilon, 6)))
    assert named == pytest.approx(window, rel=0.01)
    assert MEANS.window(epsilon) <= named * (1 + 1e-9)
    assert MEANS.window(epsilon) < min(grid, piecewise, hybrid)


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.25, 1.69, 1.71, 2.5, 3.4, 4.5, 5, 7, 8, 9.5, 10])
def test_between_the_lines_of_the_table_too_a_window_is_not_worse_than_a_grid_or_hybrid(epsilon: float) -> None:
    levels, _ = best_window(epsilon)
    near_grids = min(MEANS.grid(epsilon, k) for k in {2, 3, 4, *range(max(2, levels - 8), levels + 4)})
    assert MEANS.window(epsilon) < min(near_grids, MEANS.hybrid(epsilon)) * (1 + 1e-4)


@pytest.mark.parametrize("epsilon", [1, 2.5, 4, 6])
def test_no_other_window_of_up_to_32_outputs_is_better_by_more_than_six_percent(epsilon: float) -> None:
    levels, width = best_window(epsilon)
    others = [(m, w) for m in (12, 16, 20, 25, 32) for w in {max(1, round(width * m / (levels + width - 1)) + d) for d in (-1, 0, 1)}]
    assert min(MEANS.window(epsilon, (m, w)) for m, w in others if 2 * w <= m) > MEANS.window(epsilon) / 1.06


def test_a_window_that_does_not_follow_epsilon_would_not_be_better() -> None:
    assert MEANS.window(4, (12, 6)) > MEANS.grid(4)
    assert MEANS.window(0.5, (12, 1)) > MEANS.hybrid(0.5)


def test_a_number_goes_through_a_window_and_one_with_levels_or_bins_does_not() -> None:
    assert isinstance(asked().questions[0].channel, Window)
    bins = [{"name": "a", "from": 0}, {"name": "b", "from": 30}]
    for keys in ({"levels": 5}, {"bins": bins}):
        assert type(asked(**keys).questions[0].channel) is Channel


@pytest.mark.parametrize(
    ("keys", "outputs", "levels"), [({}, 12, 7), ({"required": False}, 13, 7), ({"levels": 5, "window": 3, "required": False}, 8, 5)]
)
def test_a_record_has_a_bit_less_than_outputs_and_its_definition_is_read_as_it_was_written(
    keys: dict[str, Any], outputs: int, levels: int
) -> None:
    survey = asked(**keys)
    (question,) = survey.questions
    assert (question.channel.outputs, survey.record.bits, len(question.scores or ())) == (outputs, outputs - 1, levels)
    (published,) = json.loads(survey.definition)["questions"]
    assert {key: published[key] for key in ("k", "outputs", "levels", "window")} == {
        "k": question.k,
        "outputs": outputs,
        "levels": levels,
        "window": keys.get("window", 6),
    }
    assert "d" not in published
    assert Survey.from_definition(survey.definition).definition == survey.definition
    assert Survey.from_dict(survey.to_dict()).digest == survey.digest


@pytest.mark.parametrize(("key", "step"), [("outputs", 1), ("keep_threshold", 1), ("keep_threshold", -1), ("k", 1)])
def test_another_mechanism_than_epsilon_implies_is_refused(key: str, step: int) -> None:
    definition = json.loads(asked().definition)
    definition["questions"][0][key] += step
    changed = json.dumps(definition, sort_keys=True, separators=(",", ":")).encode()
    with pytest.raises(RefusedError, match=f"question hours: {key} must be"):
        Survey.from_definition(changed)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"window": 2}, "window: must be left out without levels"),
        ({"levels": 3, "window": 3}, "window: must be a whole number from 1 to one less than levels"),
        ({"levels": 3, "window": 0}, "window: must be a whole number from 1 to one less than levels"),
        ({"levels": 3, "window": "wide"}, "window: must be a whole number from 1 to one less than levels"),
        ({"levels": 1000, "window": 100}, "window: must be smaller: levels and window less one must be at most 1,024 together"),
        ({"bins": [{"name": "a", "from": 0}, {"name": "b", "from": 9}], "window": 1}, "window: must be left out beside bins"),
        ({"low": 1, "high": 1.0000000000000002}, "high: must be further from low"),
    ],
)
def test_a_window_that_breaks_a_rule_is_refused_with_the_rule(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(SurveyError, match=message):
        asked(**keys)


def keeps_its_word(channel: Window, epsilon: float) -> bool:
    """Whether the loss is at most `epsilon` and one step of the coin more would exceed it, and is that of all outputs and answers."""
    own, other = channel.likelihoods
    more = (channel.keep_threshold + 1) * channel.outside, (channel.coin - channel.keep_threshold - 1) * channel.inside
    largest = max(max(column) / min(column) for column in zip(*channel.chances, strict=True))
    with localcontext() as context:
        context.prec = 60
        tight = own <= other * Decimal(epsilon).exp().next_minus() and more[0] > more[1] * Decimal(epsilon).exp().next_plus()
    return tight and largest == channel.odds and all(sum(row) == 1 for row in channel.chances)


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1, math.log(3), 2, 5.5, 10])
def test_the_loss_is_at_most_the_declared_one_and_nothing_is_given_away(epsilon: float, apart: bool) -> None:
    levels, width = best_window(epsilon)
    made = Window.over_levels(epsilon, levels, width, apart=apart)
    assert keeps_its_word(made, epsilon)
    for step in (-1, 1):  # the control: a threshold that is off by one
        assert not keeps_its_word(Window(made.k, 1, made.keep_threshold + step, width=width, apart=apart), epsilon)
