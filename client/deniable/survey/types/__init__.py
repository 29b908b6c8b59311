"""The question types: which keys they carry in a survey file, which categories they have, and where an answer stands among them.

Only this folder knows them. To add one: a module and a line here, its twin in `browser/types/`, and vectors.
"""

from __future__ import annotations

from deniable.survey.types.base import QuestionType
from deniable.survey.types.choice import Choice
from deniable.survey.types.multi_choice import MultiChoice
from deniable.survey.types.number import Number
from deniable.survey.types.scale import Scale
from deniable.survey.types.yes_no import YesNo

TYPES: dict[str, QuestionType] = {
    "yes_no": YesNo(),
    "choice": Choice(),
    "scale": Scale(),
    "number": Number(),
    "multi_choice": MultiChoice(),
}

__all__ = ["TYPES"]
