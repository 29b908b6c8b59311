"""One of several options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from deniable.survey.types.base import MAX_OPTIONS, Answer, Control, label_problems


class Choice:
    """One of several options. Answers: an option's text, or an integer written as an option."""

    item_type = "choice"
    required_keys: Mapping[str, Mapping[str, Any]] = {
        "options": {
            "type": "array",
            "items": {"type": ["string", "number", "boolean"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "What can be chosen, in order. Every option is text: yes, no and 1.10 stay as they are written.",
        }
    }
    optional_keys: Mapping[str, Mapping[str, Any]] = {}

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        return label_problems(source["options"], "options")

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        return {"options": list(source["options"])}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def options(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def control(self, settings: Mapping[str, Any]) -> Control:
        return "radios"

    def wording(self, settings: Mapping[str, Any]) -> str | None:
        return None

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

    def scores(self, settings: Mapping[str, Any]) -> tuple[float, ...] | None:
        return None

    def rounds(self, settings: Mapping[str, Any]) -> bool:
        return False

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
            answer = str(answer)
        if not isinstance(answer, str):
            return None
        text = answer.strip()
        return categories.index(text) if text in categories else None
