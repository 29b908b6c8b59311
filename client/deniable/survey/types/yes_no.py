"""Yes/no question type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deniable.survey.types.base import Answer, QuestionType, label_of


@dataclass(frozen=True)
class YesNo(QuestionType):
    """Yes or no. Answers: True, False, 1, 0, or the words yes, no, true, false, 1, 0 in any case."""

    name = "yes_no"
    title = "yes or no"
    _meaning: ClassVar = {"yes": 0, "true": 0, "1": 0, "no": 1, "false": 1, "0": 1}

    @property
    def categories(self) -> tuple[str, ...]:
        """Yes, then no."""
        return ("yes", "no")

    def position(self, answer: Answer) -> float | None:
        """Returns 0 for yes, 1 for no."""
        if isinstance(answer, str):
            return self._meaning.get(label_of(answer.lower(), self._meaning))
        if not isinstance(answer, int | float | np.bool_ | np.number):
            return None
        return 0 if answer == 1 else 1 if answer == 0 else None
