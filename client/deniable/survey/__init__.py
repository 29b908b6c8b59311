"""Survey files and definitions, parsed and validated. This package handles no answers; its only I/O reads a survey file."""

from deniable.survey.condition import Condition
from deniable.survey.question import Question
from deniable.survey.survey import MAX_DEFINITION, Survey

__all__ = ["MAX_DEFINITION", "Condition", "Question", "Survey"]
