"""Options in order, each with a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.types.base import MAX_NUMBER, MAX_OPTIONS, number, spread_problem
from deniable.survey.types.choice import Choice


class Scale(Choice):
    """Options in order, each with a score, 1 to k unless `scores` gives others. Answers: as for a choice."""

    title = "options in order, with scores"
    optional_keys: Mapping[str, Mapping[str, Any]] = {
        "scores": {
            "type": "array",
            "items": {"type": ["number", "string"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "A number for each option, rising; 1, 2, 3, … if left out. Means are of these.",
        }
    }

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        yield from super().problems(source)
        scores = source.get("scores", [])
        if not isinstance(scores, list | tuple):
            yield "scores", f"must be a list of numbers, got {type(scores).__name__}"
            return
        if "scores" in source and isinstance(source["options"], list | tuple) and len(scores) != len(source["options"]):
            yield "scores", f"must be one number for each of the {len(source['options']):,} options, got {len(scores):,}"
        numbers = [number(score) for score in scores]
        wrong = list(_score_problems(numbers))
        yield from wrong
        known = [score for score in numbers if score is not None]
        if not wrong and len(known) > 1 and (broken := spread_problem(known[0], known[-1], "all of them")):
            yield "scores", f"must be further apart: {broken}"

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        scores = source.get("scores", range(1, len(source["options"]) + 1))
        return {**super().settings(source, epsilon), "scores": [number(score) for score in scores]}

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return tuple(settings["scores"])


def _score_problems(scores: Sequence[float | None]) -> Iterator[tuple[str, str]]:
    """Yields (place, rule broken) for each score that is none, or not above the one before it."""
    for index, score in enumerate(scores):
        if score is None:
            yield f"scores[{index}]", f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        elif index and (before := scores[index - 1]) is not None and score <= before:
            yield f"scores[{index}]", "must be above the score before it"
