"""Multiple-choice question type: any number of several options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from deniable.survey.types.base import MAX_OPTIONS, Answer, QuestionType, whole_number
from deniable.survey.types.choice import Choice
from deniable.survey.types.yes_no import YesNo

LIMITS = ("at_least", "at_most")
_OPTION = {"type": ["string", "number", "boolean"]}
_LIMIT = {"type": ["integer", "string"], "minimum": 1, "maximum": MAX_OPTIONS - 1}
_MOST_QUOTED = 60  # characters of a value in a message


@dataclass(frozen=True)
class MultiChoice(Choice):
    """Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of options.

    Attributes:
        exclusive: Options that exclude all others, such as "I do not know".
        none: The option that means that no other option applies. It is exclusive too, and replaces the page's "None of these".
        at_least: The fewest options of an answer without an exclusive one; 0 if the file has no limit.
        at_most: The most options of an answer; None if the file has no limit.
    """

    exclusive: tuple[str, ...] = ()
    none: str | None = None
    at_least: int = 0
    at_most: int | None = None

    name = "multi_choice"
    title = "any number of several options"
    optional_keys: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        **Choice.optional_keys,
        "exclusive": {
            "type": "array",
            "items": _OPTION,
            "minItems": 1,
            "maxItems": MAX_OPTIONS,
            "description": "Options that exclude all others, such as “I do not know”.",
        },
        "none": {**_OPTION, "description": "The option that means that no other option applies; the page then adds none of its own."},
        "at_least": {**_LIMIT, "description": "The fewest options that an answer has, unless it is an exclusive one."},
        "at_most": {**_LIMIT, "description": "The most options that an answer has."},
    }

    @classmethod
    def problems(cls, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yields the rules that the options and the limits of a selection break."""
        yield from super().problems(source)
        options, exclusive = source["options"], source.get("exclusive", [])
        if not isinstance(options, list | tuple):
            return
        if "none" in source and not _among(source["none"], options):
            yield "none", _not_among(source["none"])
        if not isinstance(exclusive, list | tuple) or ("exclusive" in source and not exclusive):
            yield "exclusive", "must be a list of one option or more"
            return
        for index, option in enumerate(exclusive):
            if not _among(option, options):
                yield f"exclusive[{index}]", _not_among(option)
            elif option in exclusive[:index]:
                yield f"exclusive[{index}]", "must differ from the others"
            elif option == source.get("none"):
                yield f"exclusive[{index}]", "must be left out: `none` is exclusive by itself"
        if "other" in source and source["other"] in (*exclusive, source.get("none")):
            yield "other", "must not be an exclusive option"
        if len(exclusive) + ("none" in source) >= len(options):
            yield (
                "exclusive" if "exclusive" in source else "none",
                "must leave an option that goes with others; otherwise use the type choice",
            )
            return
        yield from _limit_problems(source, len(options), len(exclusive) + ("none" in source))

    @classmethod
    def parse(cls, source: Mapping[str, Any], epsilon: float) -> Self:
        """Returns the type with the options of a survey file."""
        options, exclusive = tuple(source["options"]), tuple(source.get("exclusive", ()))
        least, most = (whole_number(source.get(key)) for key in LIMITS)
        return cls(options, exclusive, source.get("none"), least or 0, most, order=source.get("order"), other=source.get("other"))

    def to_dict(self) -> dict[str, Any]:
        """Returns the options, and the exclusive ones and the limits if there are any."""
        exclusive = {"exclusive": list(self.exclusive)} if self.exclusive else {}
        optional = {"none": self.none, "at_least": self.at_least or None, "at_most": self.at_most}
        return {**super().to_dict(), **exclusive, **{key: value for key, value in optional.items() if value is not None}}

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of each item."""
        return self.item_type.categories

    @property
    def items(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    @property
    def item_type(self) -> QuestionType:
        """Yes or no."""
        return YesNo()

    @property
    def exclusive_options(self) -> tuple[str, ...]:
        """The exclusive options, then `none`."""
        return self.exclusive if self.none is None else (*self.exclusive, self.none)

    @property
    def limits(self) -> tuple[int, int] | None:
        """The limits of a selection; an option `none` means that people without it select another one."""
        if not (self.exclusive_options or self.at_least or self.at_most):
            return None
        together = len(self.options) - len(self.exclusive_options)
        return max(self.at_least, int(self.none is not None)), self.at_most or together

    @property
    def none_option(self) -> str | None:
        """The option `none`."""
        return self.none

    def position(self, answer: Answer) -> float | None:
        """Returns None: only items have positions."""
        return None


def _limit_problems(source: Mapping[str, Any], options: int, exclusive: int) -> Iterator[tuple[str, str]]:
    """Yields the rules that the limits of a selection break, for so many options, some of them exclusive."""
    together, those = options - exclusive, "that are not exclusive" if exclusive else "of the question"
    for key in (key for key in LIMITS if key in source):
        if together < 2:
            yield key, "must be left out: only one option is not exclusive"
        elif not 1 <= (whole_number(source[key]) or 0) < together:
            got = f", got {str(source[key])[:_MOST_QUOTED]}" if isinstance(source[key], str | int | float) else ""
            yield key, f"must be a whole number from 1 to {together - 1:,}, fewer than the options {those}{got}"
    least, most = (whole_number(source.get(key)) for key in LIMITS)
    if least is not None and most is not None and least > most:
        yield "at_least", f"must be at most {most:,}, which `at_most` is, got {least:,}"


def _among(option: Any, options: Sequence[Any]) -> bool:
    return isinstance(option, str) and option in options


def _not_among(option: Any) -> str:
    """Returns the rule that an option breaks which is not among the options, with the option."""
    return "must be one of the options" + (f", got {option[:_MOST_QUOTED]!r}" if isinstance(option, str) else "")
