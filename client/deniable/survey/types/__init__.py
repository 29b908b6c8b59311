"""Question types: their keys in a survey file, their categories, and the position of an answer among these.

Only this package knows them. To add a type, add a module and a line here, its twin in `browser/types/`, and vectors.
"""

from __future__ import annotations

from deniable.survey.types.base import QuestionType
from deniable.survey.types.choice import Choice
from deniable.survey.types.multi_choice import MultiChoice
from deniable.survey.types.number import Number
from deniable.survey.types.scale import Scale
from deniable.survey.types.yes_no import YesNo

_ALL: tuple[type[QuestionType], ...] = (YesNo, Choice, Scale, Number, MultiChoice)

TYPES = {kind.name: kind for kind in _ALL}
"""The question types by name."""

__all__ = ["TYPES"]
