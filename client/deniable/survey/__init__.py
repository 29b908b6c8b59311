"""What is asked: survey files and definitions, parsed once, everything validated. Nothing here holds an answer or does input or output,
but for reading a survey file."""

from deniable.survey.condition import Condition
from deniable.survey.question import Question
from deniable.survey.survey import MAX_DEFINITION, Survey

__all__ = ["MAX_DEFINITION", "Condition", "Question", "Survey"]
