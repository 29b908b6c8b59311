"""Number question type: through a window over levels, as a level of a grid, or as one of named bins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import rfc8785

from deniable.mechanism import Channel, Window
from deniable.survey.types.base import (
    MAX_NUMBER,
    MAX_OPTIONS,
    Answer,
    QuestionType,
    label_problems,
    number,
    spread_problem,
    whole_number,
)
from deniable.survey.types.window import best_window

_DECIMAL = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?")
_SPACE = " \t\r\n"
_NUMBER_SCHEMA = {"type": ["number", "string"]}


class Bin(NamedTuple):
    """A named bin, from its start up to the next bin's."""

    name: str
    start: float


@dataclass(frozen=True)
class Number(QuestionType):
    """A number in [low, high]. Answers: a number, or its text.

    Levels go through a window, unless the author names levels and no window: then they are categories, as the options of a choice.

    Attributes:
        low: The least number.
        high: The greatest number.
        levels: The number of levels of a grid that includes both ends; None with bins.
        window: The width of the window, if there is one.
        bins: Named bins, instead of a grid.
    """

    low: float
    high: float
    levels: int | None = None
    window: int | None = None
    bins: tuple[Bin, ...] = ()

    name = "number"
    title = "a number"
    is_number = True
    required_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "low": {**_NUMBER_SCHEMA, "description": "The least number that can be answered."},
        "high": {**_NUMBER_SCHEMA, "description": "The greatest number that can be answered."},
    }
    optional_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "levels": {
            "type": ["integer", "string"],
            "description": f"The levels of a grid, 2 to {MAX_OPTIONS:,}, each with its share; a window, for the mean alone, if left out.",
        },
        "window": {
            "type": ["integer", "string"],
            "description": "Beside levels: how many outputs the window of each has, fewer than there are levels. Both follow from epsilon.",
        },
        "bins": {
            "type": "array",
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "items": {
                "type": "object",
                "properties": {"name": {"type": ["string", "number", "boolean"]}, "from": _NUMBER_SCHEMA},
                "required": ["name", "from"],
                "additionalProperties": False,
            },
            "description": "Instead of a grid: named bins, each from its number up to the next one's, the first from low.",
        },
    }

    @classmethod
    def problems(cls, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields the rules that the ends, and the levels, window or bins, break."""
        ends = [number(source[key]) for key in ("low", "high")]
        for key, end in zip(("low", "high"), ends, strict=True):
            if end is None:
                yield key, f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        if ends[0] is not None and ends[1] is not None and not ends[0] < ends[1]:
            yield "high", "must be above low"
            return
        if "bins" in source:
            yield from _bin_problems(source["bins"], *ends)
            for key in ("levels", "window"):
                if key in source:
                    yield key, "must be left out beside bins"
            return
        if ends[0] is not None and ends[1] is not None and (broken := spread_problem(ends[0], ends[1], "both")):
            yield "high", f"must be further from low: {broken}"
        levels = whole_number(source.get("levels", 2))
        if levels is None or not 2 <= levels <= MAX_OPTIONS:
            yield "levels", f"must be a whole number from 2 to {MAX_OPTIONS:,}"
        if "window" in source:
            yield from _window_problems(source, levels)

    @classmethod
    def parse(cls, source: Mapping[str, Any], epsilon: float) -> Self:
        """Returns the type with the range of a survey file. By default, levels and a window follow from epsilon."""
        low, high = float(source["low"]) + 0.0, float(source["high"]) + 0.0  # -0.0 becomes 0.0
        if "bins" in source:
            return cls(low, high, bins=tuple(Bin(entry["name"], float(entry["from"]) + 0.0) for entry in source["bins"]))
        if "levels" in source:
            return cls(low, high, whole_number(source["levels"]), whole_number(source["window"]) if "window" in source else None)
        return cls(low, high, *best_window(epsilon))

    def to_dict(self) -> dict[str, Any]:
        """Returns the range, and its bins or levels."""
        ends = {"low": self.low, "high": self.high}
        if self.bins:
            return {**ends, "bins": [{"name": name, "from": start} for name, start in self.bins]}
        return {**ends, "levels": self.levels, **({} if self.window is None else {"window": self.window})}

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The names of the bins, or the levels as text."""
        return self.choices or tuple(rfc8785.dumps(level).decode() for level in self.category_scores or ())

    @property
    def choices(self) -> tuple[str, ...]:
        """The names of the bins."""
        return tuple(name for name, _ in self.bins)

    @property
    def wording(self) -> str | None:
        """The range in words."""
        low, high = (rfc8785.dumps(end).decode() for end in self.range)
        return f"a number from {low} to {high}"

    @property
    def category_scores(self) -> tuple[float, ...] | None:
        """The levels."""
        return None if self.levels is None else _grid(self.low, self.high, self.levels)

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number."""
        return self.low, self.high

    @property
    def bin_edges(self) -> tuple[tuple[float, float], ...]:
        """The start and the end of each bin."""
        starts = [start for _, start in self.bins]
        return tuple(zip(starts, [*starts[1:], self.high], strict=True)) if starts else ()

    @property
    def rounds(self) -> bool:
        """Whether numbers are rounded to levels."""
        return self.levels is not None

    def channel(self, epsilon: Fraction, k: int) -> Channel:
        """Returns a window over the levels, or the coins for one of k categories."""
        if self.levels is None or self.window is None:
            return super().channel(epsilon, k)
        return Window.over_levels(epsilon, self.levels, self.window, apart=k > self.levels)

    def position(self, answer: Answer) -> float | None:
        """Returns the index of a number's bin, or its distance from `low` in steps of the grid."""
        value = _number_in(answer)
        if value is None or not self.low <= value <= self.high:
            return None
        if self.levels is None:
            return float(sum(start <= value for _, start in self.bins)) - 1
        return (value - self.low) / (self.high - self.low) * (self.levels - 1)


def _bin_problems(bins: Any, low: float | None, high: float | None) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for a list of bins."""
    if not isinstance(bins, list | tuple) or not all(isinstance(entry, Mapping) and set(entry) == {"name", "from"} for entry in bins):
        yield "bins", "must be a list of mappings with exactly the keys name and from"
        return
    for where, broken in label_problems([entry["name"] for entry in bins], "bins"):
        yield (f"{where}.name" if where != "bins" else where), broken
    edges = [number(entry["from"]) for entry in bins]
    for index, edge in enumerate(edges):
        if edge is None:
            yield f"bins[{index}].from", f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        elif index == 0 and low is not None and edge != low:
            yield "bins[0].from", "must be low: the bins begin there"
        elif index and (before := edges[index - 1]) is not None and edge <= before:
            yield f"bins[{index}].from", "must be above the start of the bin before it"
        elif high is not None and edge > high:
            yield f"bins[{index}].from", "must not be above high"


def _window_problems(source: Mapping[str, Any], levels: int | None) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for the width of a window."""
    window = whole_number(source["window"])
    if "levels" not in source:
        yield "window", "must be left out without levels"
    elif window is None or (levels is not None and not 1 <= window < levels):
        yield "window", "must be a whole number from 1 to one less than levels"
    elif levels is not None and levels + window - 1 > MAX_OPTIONS:
        yield "window", f"must be smaller: levels and window less one must be at most {MAX_OPTIONS:,} together"


def _grid(low: float, high: float, levels: int) -> tuple[float, ...]:
    """Returns equally spaced levels with the exact ends. Languages that compute in this order get the same doubles."""
    return (*(low + (high - low) * level / (levels - 1) for level in range(levels - 1)), high)


def _number_in(answer: Answer) -> float | None:
    """Returns the number of an answer: a value of a number type, or a decimal as people write it."""
    if isinstance(answer, str):
        return float(answer) if _DECIMAL.fullmatch(answer := answer.strip(_SPACE)) else None
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, int | float | np.integer | np.floating):
        return None
    return float(answer) if -MAX_NUMBER <= answer <= MAX_NUMBER else None
