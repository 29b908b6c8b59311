"""Yes or no."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from deniable.survey.types.base import Answer, Control


class YesNo:
    """Yes or no. Answers: True, False, 1, 0, or the words yes, no, true, false, 1, 0 in any case."""

    item_type = "yes_no"
    required_keys: Mapping[str, Mapping[str, Any]] = {}
    optional_keys: Mapping[str, Mapping[str, Any]] = {}
    _meaning: ClassVar = {"yes": 0, "true": 0, "1": 0, "no": 1, "false": 1, "0": 1}

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        return iter(())

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        return {}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("yes", "no")

    def options(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ()

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
        if isinstance(answer, str):
            return self._meaning.get(answer.strip().lower())
        if not isinstance(answer, int | float | np.bool_ | np.number):
            return None
        return 0 if answer == 1 else 1 if answer == 0 else None
