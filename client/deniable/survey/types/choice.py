"""Single-choice question type: one of several options, in the given order or in one that each device draws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from deniable.survey.types.base import MAX_OPTIONS, ORDERS, Answer, QuestionType, label_of, label_problems


@dataclass(frozen=True)
class Choice(QuestionType):
    """One of several options. Answers: an option's text, or a whole number written as an option.

    Attributes:
        options: The options.
        order: How a respondent's device orders the options on the page: "random", "rotate", or None for the given order.
        other: The option for all other answers, one of the options, or None.
    """

    options: tuple[str, ...]
    order: str | None = field(default=None, kw_only=True)
    other: str | None = field(default=None, kw_only=True)

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
    optional_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "order": {"enum": list(ORDERS), "description": "The options' order on the page, drawn on each device; as written if left out."},
        "other": {
            "type": ["boolean", "string", "number"],
            "description": "true adds the option “Other” in the survey's languages, or give its text; nobody can type an answer.",
        },
    }

    @classmethod
    def problems(cls, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields the rules that the options, their order and the option for other answers break."""
        yield from label_problems(source["options"], "options")
        if "order" in source and source["order"] not in ORDERS:
            yield "order", f"must be {' or '.join(ORDERS)}"
        if "other" in source and isinstance(source["options"], list | tuple) and source["other"] not in source["options"]:
            yield (
                "other",
                "must be the text of the option for all other answers; true is enough in Arabic, English, French, German or Spanish",
            )

    @classmethod
    def parse(cls, source: Mapping[str, Any], epsilon: float) -> Self:
        """Returns the type with the options of a survey file."""
        return cls(tuple(source["options"]), order=source.get("order"), other=source.get("other"))

    def to_dict(self) -> dict[str, Any]:
        """Returns the options, and how they are ordered and which is for other answers, if the file says so."""
        optional = {"order": self.order, "other": self.other}
        return {"options": list(self.options), **{key: value for key, value in optional.items() if value is not None}}

    @property
    def drawn_order(self) -> str | None:
        """The order `order`."""
        return self.order

    @property
    def other_option(self) -> str | None:
        """The option `other`."""
        return self.other

    @property
    def choices(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    def position(self, answer: Answer) -> float | None:
        """Returns the index of an option."""
        label = label_of(answer, self.options)
        return self.options.index(label) if label in self.options else None
