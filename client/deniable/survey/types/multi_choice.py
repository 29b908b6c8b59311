"""Any number of several options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deniable.survey.types.base import MAX_OPTIONS, Answer
from deniable.survey.types.choice import Choice

_OPTION = {"type": ["string", "number", "boolean"]}


class MultiChoice(Choice):
    """Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of the options chosen.

    `exclusive` names options that go with no other one, such as "I do not know". `none` names the option that is chosen where no
    other applies; it is exclusive, too, and takes the place of the page's own "None of these".
    """

    title = "any number of several options"
    optional_keys: Mapping[str, Mapping[str, Any]] = {
        "exclusive": {
            "type": "array",
            "items": _OPTION,
            "minItems": 1,
            "maxItems": MAX_OPTIONS,
            "description": "Options that nobody chooses together with another one, such as “I do not know”.",
        },
        "none": {**_OPTION, "description": "The option for those to whom no other applies; the page then adds none of its own."},
    }

    def problems(self, source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        yield from super().problems(source)
        options, exclusive = source["options"], source.get("exclusive", [])
        if not isinstance(options, list | tuple):
            return
        if "none" in source and not _among(source["none"], options):
            yield "none", "must be one of the options"
        if not isinstance(exclusive, list | tuple) or ("exclusive" in source and not exclusive):
            yield "exclusive", "must be a list of one option or more"
            return
        for index, option in enumerate(exclusive):
            if not _among(option, options):
                yield f"exclusive[{index}]", "must be one of the options"
            elif option in exclusive[:index]:
                yield f"exclusive[{index}]", "must differ from the others"
            elif option == source.get("none"):
                yield f"exclusive[{index}]", "must be left out: `none` is exclusive by itself"
        if len(exclusive) + ("none" in source) >= len(options):
            yield "exclusive" if "exclusive" in source else "none", "must leave an option that goes with others; else it is a choice"

    def settings(self, source: Mapping[str, Any], epsilon: float) -> dict[str, Any]:
        own = {key: source[key] for key in self.optional_keys if key in source}
        return {**super().settings(source, epsilon), **own, **({"exclusive": list(own["exclusive"])} if "exclusive" in own else {})}

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("yes", "no")

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def exclusive(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return (*settings.get("exclusive", ()), *([settings["none"]] if "none" in settings else []))

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        return None  # its items have places, the whole has none


def _among(option: Any, options: Sequence[Any]) -> bool:
    return isinstance(option, str) and option in options
