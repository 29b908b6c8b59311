"""Scale question type: options in order, each with a score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from deniable.survey.types.base import MAX_NUMBER, MAX_OPTIONS, number, spread_problem
from deniable.survey.types.choice import Choice


@dataclass(frozen=True)
class Scale(Choice):
    """Options in order, each with a score, 1 to k by default. Answers: as for a choice."""

    scores: tuple[float, ...]

    name = "scale"
    title = "options in order, with scores"
    optional_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "scores": {
            "type": "array",
            "items": {"type": ["number", "string"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "A number for each option, rising; 1, 2, 3, … if left out. Means are of these.",
        },
        "grid": {"type": "object", "description": "The rating block of the question; write `type: rating` instead."},
    }

    @classmethod
    def problems(cls, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields the rules that the options and scores break."""
        yield from super().problems(source)
        scores = source.get("scores", [])
        if not isinstance(scores, list | tuple):
            yield "scores", f"must be a list of numbers, got {type(scores).__name__}"
            return
        if "scores" in source and isinstance(source["options"], list | tuple) and len(scores) != len(source["options"]):
            yield "scores", f"must be one number for each of the {len(source['options']):,} options, got {len(scores):,}"
        numbers = [number(score) for score in scores]
        problems = list(_score_problems(numbers))
        yield from problems
        valid = [score for score in numbers if score is not None]
        if not problems and len(valid) > 1 and (broken := spread_problem(valid[0], valid[-1], "all of them")):
            yield "scores", f"must be further apart: {broken}"

    @classmethod
    def parse(cls, source: Mapping[str, Any], epsilon: float) -> Self:
        """Returns the type with the options and scores of a survey file."""
        scores = [number(score) for score in source.get("scores", range(1, len(source["options"]) + 1))]
        return cls(tuple(source["options"]), tuple(score for score in scores if score is not None))

    def to_dict(self) -> dict[str, Any]:
        """Returns the options and scores."""
        return {**super().to_dict(), "scores": list(self.scores)}

    @property
    def category_scores(self) -> tuple[float, ...] | None:
        """The scores."""
        return self.scores


def _score_problems(scores: Sequence[float | None]) -> Iterator[tuple[str, str]]:
    """Yields (key, rule broken) for each score that is no number, or not above the score before it."""
    for index, score in enumerate(scores):
        if score is None:
            yield f"scores[{index}]", f"must be a number from -{MAX_NUMBER:,} to {MAX_NUMBER:,}"
        elif index and (before := scores[index - 1]) is not None and score <= before:
            yield f"scores[{index}]", "must be above the score before it"
