"""One of several options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from deniable.survey.types.base import MAX_OPTIONS, Answer, QuestionType, label_of, label_problems


class Choice(QuestionType):
    """One of several options. Answers: an option's text, or a whole number written as an option."""

    title = "one of several options"
    required_keys: Mapping[str, Mapping[str, Any]] = {
        "options": {
            "type": "array",
            "items": {"type": ["string", "number", "boolean"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "What can be chosen, in order. Every option is text: yes, no and 1.10 stay as they are written.",
        }
    }

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        return label_problems(source["options"], "options")

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        return {"options": list(source["options"])}

    def options(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        label = label_of(answer, categories)
        return categories.index(label) if label in categories else None
