"""Where the marks of a chart stand."""

from __future__ import annotations

import numpy as np
import pytest

from deniable.estimate import Row, estimate
from deniable.survey import Survey
from deniable.wire.tally import Tally
from deniable_server.researchers.chart import MAX_LABEL, chart

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "s",
        "title": "t",
        "about": "a",
        "epsilon": "ln 3",
        "questions": [{"id": "q", "text": "?", "type": "choice", "options": ["x" * 100, "short"]}],
    }
)


def rows(bits: list[bool]) -> tuple[Row, ...]:
    return estimate(SURVEY, Tally.from_bits(np.array(bits)[:, None])).rows


def test_a_share_stands_at_its_percentage_of_the_width() -> None:
    drawn = chart(rows([True, False] * 50))
    assert drawn is not None
    assert [bar.estimate for bar in drawn.bars] == pytest.approx([50, 50])
    assert drawn.ticks == ((0, 0), (25, 25), (50, 50), (75, 75), (100, 100))


def test_the_scale_widens_for_estimates_outside_0_and_100_percent() -> None:
    drawn = chart(rows([False] * 50))
    assert drawn is not None
    assert [bar.estimate for bar in drawn.bars] == pytest.approx([0, 100])
    assert [position for position, _ in drawn.ticks] == [25, 37.5, 50, 62.5, 75]
    assert all(0 <= mark <= 100 for bar in drawn.bars for mark in (bar.low, bar.high))


def test_without_reports_there_is_no_chart() -> None:
    assert chart(estimate(SURVEY, Tally.empty(1)).rows) is None


def test_long_labels_are_shortened() -> None:
    drawn = chart(rows([True, False]))
    assert drawn is not None
    assert [len(bar.label) for bar in drawn.bars] == [MAX_LABEL, 5]
