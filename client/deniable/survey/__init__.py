"""Survey files and definitions, parsed and validated. No answer is here, and no input or output but reading a survey file."""

from deniable.survey.condition import Condition
from deniable.survey.question import Question
from deniable.survey.survey import MAX_DEFINITION, Survey

__all__ = ["MAX_DEFINITION", "Condition", "Question", "Survey"]
