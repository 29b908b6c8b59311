"""What an adversary knows who saw when each record first showed, and knows when each person answered.

A record that shows belongs to somebody who had answered by then. All ways to give the records to the people that agree with this are
equally likely: nothing else that is known tells them apart, which the game tests by itself (`game.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

Seat = TypeVar("Seat")
Card = TypeVar("Card")


def chances(answered: Mapping[Seat, int], shown: Mapping[Card, int]) -> dict[tuple[Seat, Card], Fraction]:
    """The chance that a record is a person's, of each pair that is possible.

    Args:
        answered: When each person answered.
        shown: When each record was first seen. There are as many as people, and each can be somebody's.
    """
    total = _ways(list(answered.values()), list(shown.values()))
    assert total, "each record must be somebody's"
    pairs = {}
    for seat, sent in answered.items():
        for card, at in shown.items():
            if sent < at:
                others = [when for other, when in answered.items() if other != seat]
                pairs[seat, card] = Fraction(_ways(others, [when for other, when in shown.items() if other != card]), total)
    return pairs


def _ways(answered: list[int], shown: list[int]) -> int:
    """How many ways there are to give each record to somebody who had answered when it showed."""
    ways = 1
    for given, at in enumerate(sorted(shown)):
        ways *= max(0, sum(sent < at for sent in answered) - given)
    return ways
