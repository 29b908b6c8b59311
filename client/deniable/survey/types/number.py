"""A number, through a window over levels, as a level of a grid, or as one of named bins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import rfc8785

from deniable.mechanism import Channel, Window
from deniable.survey.types.base import MAX_NUMBER, MAX_OPTIONS, Answer, QuestionType, label_problems, number, spread_problem
from deniable.survey.types.window import best_window

_DECIMAL = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,2})?")
_SPACE = " \t\r\n"
_NUMBER_SCHEMA = {"type": ["number", "string"]}


class Number(QuestionType):
    """A number in [low, high], as a level of a grid with both ends, or as one of named bins. Answers: a number, or its text.

    Levels go through a window, unless the author names levels and no window: then they are categories like a choice's.
    """

    title = "a number"
    is_number = True
    required_keys: Mapping[str, Mapping[str, Any]] = {
        "low": {**_NUMBER_SCHEMA, "description": "The least number that can be answered."},
        "high": {**_NUMBER_SCHEMA, "description": "The greatest number that can be answered."},
    }
    optional_keys: Mapping[str, Mapping[str, Any]] = {
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

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
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
                    yield key, "must not stand beside bins; keep one of the two"
            return
        if ends[0] is not None and ends[1] is not None and (broken := spread_problem(ends[0], ends[1], "both")):
            yield "high", f"must be further from low: {broken}"
        levels = _whole_number(source.get("levels", 2))
        if levels is None or not 2 <= levels <= MAX_OPTIONS:
            yield "levels", f"must be a whole number from 2 to {MAX_OPTIONS:,}"
        if "window" in source:
            yield from _window_problems(source, levels)

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        ends = {"low": number(source["low"]), "high": number(source["high"])}
        if "bins" in source:
            return {**ends, "bins": [{"name": one["name"], "from": number(one["from"])} for one in source["bins"]]}
        if "levels" in source:
            return {**ends, **{key: _whole_number(source[key]) for key in ("levels", "window") if key in source}}
        levels, window = best_window(epsilon)
        return {**ends, "levels": levels, "window": window}

    def channel(self, settings: Mapping[str, Any], epsilon: Fraction, k: int) -> Channel:
        if "window" not in settings:
            return super().channel(settings, epsilon, k)
        return Window.over_levels(epsilon, settings["levels"], settings["window"], apart=k > settings["levels"])

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        if "bins" in settings:
            return tuple(one["name"] for one in settings["bins"])
        return tuple(rfc8785.dumps(level).decode() for level in self.scores(settings) or ())

    def options(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return self.categories(settings) if "bins" in settings else ()

    def wording(self, settings: Mapping[str, Any]) -> str | None:
        low, high = (rfc8785.dumps(settings[end]).decode() for end in ("low", "high"))
        return f"a number from {low} to {high}"

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return None if "bins" in settings else _grid(settings["low"], settings["high"], settings["levels"])

    def rounds(self, settings: Mapping[str, Any]) -> bool:
        return "bins" not in settings

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        value, low, high = _answered_number(answer), settings["low"], settings["high"]
        if value is None or not low <= value <= high:
            return None
        if "bins" in settings:
            return float(sum(one["from"] <= value for one in settings["bins"])) - 1
        return (value - low) / (high - low) * (len(categories) - 1)  # type: ignore[no-any-return]


def _bin_problems(bins: Any, low: float | None, high: float | None) -> Iterator[tuple[str, str]]:
    if not isinstance(bins, list | tuple) or not all(isinstance(one, Mapping) and set(one) == {"name", "from"} for one in bins):
        yield "bins", "must be a list of mappings with exactly the keys name and from"
        return
    for where, broken in label_problems([one["name"] for one in bins], "bins"):
        yield (f"{where}.name" if where != "bins" else where), broken
    edges = [number(one["from"]) for one in bins]
    for index, edge in enumerate(edges):
        if edge is None:
            yield f"bins[{index}].from", f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        elif index == 0 and low is not None and edge != low:
            yield "bins[0].from", "must be low: the bins begin there"
        elif index and (before := edges[index - 1]) is not None and edge <= before:
            yield f"bins[{index}].from", "must be above that of the bin before it"
        elif high is not None and edge > high:
            yield f"bins[{index}].from", "must not be above high"


def _window_problems(source: Mapping[str, Any], levels: int | None) -> Iterator[tuple[str, str]]:
    window = _whole_number(source["window"])
    if "levels" not in source:
        yield "window", "must stand beside levels, or both be left out"
    elif window is None or (levels is not None and not 1 <= window < levels):
        yield "window", "must be a whole number from 1 to one less than levels"
    elif levels is not None and levels + window - 1 > MAX_OPTIONS:
        yield "window", f"must be smaller: levels and window less one must be at most {MAX_OPTIONS:,} together"


def _grid(low: float, high: float, levels: int) -> tuple[float, ...]:
    """Equally spaced, both ends as they are; the same doubles in every language that computes in this order."""
    return (*(low + (high - low) * level / (levels - 1) for level in range(levels - 1)), high)


def _whole_number(written: Any) -> int | None:
    value = number(written)
    return int(value) if value is not None and value.is_integer() else None


def _answered_number(answer: Answer) -> float | None:
    """An answer as a number: of a number type, or a decimal as people write it."""
    if isinstance(answer, str):
        return float(answer) if _DECIMAL.fullmatch(answer := answer.strip(_SPACE)) else None
    if isinstance(answer, bool | np.bool_) or not isinstance(answer, int | float | np.integer | np.floating):
        return None
    return float(answer) if -MAX_NUMBER <= answer <= MAX_NUMBER else None
