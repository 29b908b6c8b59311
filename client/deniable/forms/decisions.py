"""Decisions of an author about an import."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from deniable.forms.conditions import digits


@dataclass(frozen=True)
class NumberEnds:
    """The ends of a number, and where its bins begin, if it is asked in bins."""

    low: float
    high: float
    bins: tuple[float, ...] = ()

    def keys(self) -> dict[str, Any]:
        """Returns the keys of a question in a survey file."""
        ends: dict[str, Any] = {"low": digits(self.low), "high": digits(self.high)}
        if self.bins:
            starts = [self.low, *self.bins]
            names = [f"{digits(start)} to below {digits(end)}" for start, end in pairwise(starts)]
            names.append(f"{digits(starts[-1])} to {digits(self.high)}")
            ends["bins"] = [{"name": name, "from": digits(start)} for name, start in zip(names, starts, strict=True)]
        return ends

    def to_dict(self) -> dict[str, str]:
        """Returns the ends as a mending file writes them."""
        return {"low": digits(self.low), "high": digits(self.high), "bins": ", ".join(map(digits, self.bins))}


@dataclass(frozen=True)
class Decisions:
    """Decisions by the names of rows.

    Attributes:
        numbers: The ends of numbers.
        conditions: Whether a condition is kept as far as possible, everybody is asked, or the question is left out.
        texts: Texts in place of those that show an answer, by `text` and `help`.
        notes: Whether a note is put before the next question or left out.
        others: Whether “Other” is an option.
    """

    numbers: dict[str, NumberEnds] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    others: dict[str, str] = field(default_factory=dict)
