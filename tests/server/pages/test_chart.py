"""Where the marks of a chart stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable.estimate import Row, estimate
from deniable.plan.progress import Progress
from deniable.survey import Survey
from deniable.wire.tally import Tally
from deniable_server.pages.chart import EDGE, HEIGHT, SHARE_TICKS, ChartAxis, growth, histogram, mark, share_mark
from deniable_server.pages.figures import Figure, Unit

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "s",
        "title": "t",
        "about": "a",
        "epsilon": "ln 3",
        "questions": [{"id": "q", "text": "?", "type": "choice", "options": ["one", "other"]}],
    }
)
WIDTH = 100 - 2 * EDGE
AXIS = ChartAxis(0, 1)


def rows(bits: list[bool]) -> tuple[Row, ...]:
    return estimate(SURVEY, Tally.from_bits(np.array(bits)[:, None])).rows


def figure(value: float, low: float, high: float) -> Figure:
    return Figure(value, low, high, Unit.SHARE)


def at(share: float) -> float:
    return EDGE + WIDTH * share


# One estimate.


def test_a_share_stands_at_its_percentage_of_the_scale_as_do_what_was_recorded_and_what_chance_records() -> None:
    one, other = (share_mark(row) for row in rows([True] * 60 + [False] * 40))
    assert one is not None
    assert other is not None
    assert (one.estimate, other.estimate) == pytest.approx((at(0.7), at(0.3)))
    assert (one.recorded, other.recorded) == pytest.approx((at(0.6), at(0.4)))
    assert one.chance == other.chance == pytest.approx(at(0.25))
    assert (one.beyond, one.anchor) == ("", "middle")


def test_the_ticks_of_shares_are_quarters() -> None:
    assert [share for _, share in SHARE_TICKS] == [0, 25, 50, 75, 100]
    assert [place for place, _ in SHARE_TICKS] == pytest.approx([at(share / 100) for share in (0, 25, 50, 75, 100)])


@pytest.mark.parametrize(
    ("share", "beyond", "place"),
    [(-0.5, "below", 0), (-1e-9, "below", 0), (0.0, "", at(0)), (1.0, "", at(1)), (1.000001, "above", 100), (3.0, "above", 100)],
)
def test_an_estimate_that_is_no_possible_share_stands_at_the_edge_as_what_it_is(share: float, beyond: str, place: float) -> None:
    drawn = mark(AXIS, figure(share, 0.1, 0.2))
    assert drawn is not None
    assert (drawn.beyond, drawn.estimate) == (beyond, pytest.approx(place))


def test_the_scale_stays_as_it_is_however_far_outside_an_estimate_lies() -> None:
    near, far = (mark(AXIS, figure(share, 0.25, 0.5)) for share in (-0.1, -40.0))
    assert near == far
    assert near is not None
    assert (near.low, near.high) == pytest.approx((at(0.25), at(0.5)))


def test_an_interval_that_goes_on_beyond_the_scale_has_no_end_there() -> None:
    drawn = mark(AXIS, figure(0.2, -0.3, 0.7))  # as those of the method wald may
    assert drawn is not None
    assert (drawn.low, drawn.is_low_cut, drawn.is_high_cut) == (at(0), True, False)


def test_a_figure_never_sticks_out_of_its_chart() -> None:
    """Half of one is 18% of the chart's width at most, so that none stands about a mark that is nearer to a side."""
    drawn = [one for place in range(-20, 121) if (one := mark(AXIS, figure(place / 100, 0.0, 1.0)))]
    assert {one.anchor for one in drawn if one.estimate < 18} == {"start"}
    assert {one.anchor for one in drawn if one.estimate > 82} == {"end"}
    assert {one.anchor for one in drawn if 18 <= one.estimate <= 82} == {"middle"}


def test_without_reports_there_is_no_mark() -> None:
    assert [share_mark(row) for row in estimate(SURVEY, Tally.empty(1)).rows] == [None, None]


# The scale of a mean.


@pytest.mark.parametrize(
    ("low", "high", "values"),
    [
        (0, 14, [0, 5, 10, 14]),
        (1, 5, [1, 2, 3, 4, 5]),
        (0, 40, [0, 10, 20, 30, 40]),
        (-20, -10, [-20, -18, -16, -14, -12, -10]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (-20000, 1000000, [-20000, 1000000]),  # more would run into each other
        (-1e9, 1e9, [-1e9, 1e9]),
        (0, 1e-3, [0, 0.001]),
    ],
)
def test_a_scale_has_round_values_and_both_ends(low: float, high: float, values: list[float]) -> None:
    assert [value for _, value in ChartAxis(low, high).ticks] == pytest.approx(values)
    assert [place for place, _ in ChartAxis(low, high).ticks] == pytest.approx([at((v - low) / (high - low)) for v in values], abs=0.01)


# Levels.


def levels(*figures: tuple[float, float, float]) -> tuple[Row, ...]:
    template = rows([True, False])[0]
    return tuple(replace(template, option=str(i), estimate=e, low=low, high=high) for i, (e, low, high) in enumerate(figures))


def test_the_bars_of_levels_stand_on_zero_and_those_below_it_hang_from_it() -> None:
    drawn = histogram(levels((0.5, 0.4, 0.8), (-0.2, 0.0, 0.1), (0.7, 0.6, 0.75)))
    assert drawn is not None
    assert drawn.zero == pytest.approx(HEIGHT * 0.8 / 1.0)
    up, down, _ = drawn.bars
    assert (up.top + up.height, up.height) == pytest.approx((drawn.zero, HEIGHT * 0.5))
    assert (down.top, down.height) == pytest.approx((drawn.zero, HEIGHT * 0.2))
    assert (up.high, up.low) == pytest.approx((0, HEIGHT * 0.4))
    assert all(0 <= y <= HEIGHT for bar in drawn.bars for y in (bar.top, bar.top + bar.height, bar.low, bar.high))


@pytest.mark.parametrize("count", [2, 3, 40, 1024])
def test_bars_are_evenly_spaced_and_few_of_many_are_named(count: int) -> None:
    drawn = histogram(levels(*[(1 / count, 0.0, 2 / count)] * count))
    assert drawn is not None
    assert np.diff([bar.middle for bar in drawn.bars]) == pytest.approx(WIDTH / count, abs=0.02)
    assert all(bar.left >= EDGE - 0.01 and bar.left + bar.width <= 100 - EDGE + 0.01 for bar in drawn.bars)
    assert sum(len(bar.row.option) + 2 for bar in drawn.bars[:: drawn.label_every]) <= 44


def test_where_a_level_has_no_estimate_there_is_no_histogram() -> None:
    known = levels((0.5, 0.4, 0.6), (0.5, 0.4, 0.6))
    assert histogram(()) is None
    assert histogram((known[0], replace(known[1], estimate=None))) is None


# The number of records over time.


def progress_of(n: int, needed: int | None, reached_on: str | None, *growth: tuple[str, str, int]) -> Progress:
    return Progress("2026-11-10", n, None, 0.1, needed, 1.0, reached_on, None, growth)


def points(line: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in (point.split(",") for point in line.split())]


def test_the_line_of_records_never_falls_and_ends_at_the_records_of_today() -> None:
    chart = growth(progress_of(100, 400, None, ("2026-11-01", "2026-11-02", 40), ("2026-11-05", "2026-11-05", 50)))
    assert chart
    line = points(chart.line)
    assert line[0] == (0, HEIGHT)
    assert line[-1] == (100, HEIGHT * (1 - 100 / 400))
    assert line == sorted(line)
    assert [y for _, y in line] == sorted((y for _, y in line), reverse=True)
    assert (chart.target, chart.forecast, chart.most, chart.first, chart.last) == (0, "", 400, "2026-11-01", "2026-11-10")


def test_it_shows_no_day_more_finely_than_the_spans_do() -> None:
    """Inside a span the line is straight, whatever happened on its days."""
    spans = (("2026-11-01", "2026-11-04", 40), ("2026-11-05", "2026-11-10", 60))
    chart = growth(progress_of(100, None, None, *spans))
    assert chart
    assert {x for x, _ in points(chart.line)} == {0, 40, 100}


def test_a_forecast_leads_to_the_target_unless_it_is_far_away() -> None:
    spans = (("2026-11-01", "2026-11-10", 100),)
    chart = growth(progress_of(100, 200, "2026-11-21", *spans))
    assert chart
    assert points(chart.forecast) == [(50, HEIGHT / 2), (100, 0)]
    assert chart.last == "2026-11-21"
    far = growth(progress_of(100, 200, "2027-11-21", *spans))
    assert far
    assert far.forecast == ""
    tall = growth(progress_of(100, 10_000, None, *spans))
    assert tall
    assert tall.target is None
    assert growth(progress_of(0, 10, None)) is None
