"""Yes or no."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from deniable.survey.types.base import Answer, QuestionType, label_of


class YesNo(QuestionType):
    """Yes or no. Answers: True, False, 1, 0, or the words yes, no, true, false, 1, 0 in any case."""

    title = "yes or no"
    _meaning: ClassVar = {"yes": 0, "true": 0, "1": 0, "no": 1, "false": 1, "0": 1}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("yes", "no")

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        if isinstance(answer, str):
            return self._meaning.get(label_of(answer.lower(), self._meaning))
        if not isinstance(answer, int | float | np.bool_ | np.number):
            return None
        return 0 if answer == 1 else 1 if answer == 0 else None
