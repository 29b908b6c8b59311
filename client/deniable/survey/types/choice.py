"""Single-choice question type: one of several options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from deniable.survey.types.base import MAX_OPTIONS, Answer, QuestionType, label_of, label_problems


@dataclass(frozen=True)
class Choice(QuestionType):
    """One of several options. Answers: an option's text, or a whole number written as an option."""

    options: tuple[str, ...]

    name = "choice"
    title = "one of several options"
    required_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "options": {
            "type": "array",
            "items": {"type": ["string", "number", "boolean"]},
            "minItems": 2,
            "maxItems": MAX_OPTIONS,
            "description": "The options, in order. Every option is text: yes, no and 1.10 stay as written.",
        }
    }

    @classmethod
    def problems(cls, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields the rules that the options break."""
        return label_problems(source["options"], "options")

    @classmethod
    def parse(cls, source: Mapping[str, Any], epsilon: float) -> Self:
        """Returns the type with the options of a survey file."""
        return cls(tuple(source["options"]))

    def to_dict(self) -> dict[str, Any]:
        """Returns the options."""
        return {"options": list(self.options)}

    @property
    def choices(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    def position(self, answer: Answer) -> float | None:
        """Returns the index of an option."""
        label = label_of(answer, self.options)
        return self.options.index(label) if label in self.options else None
