"""Any number of several options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deniable.survey.types.base import Answer
from deniable.survey.types.choice import Choice


class MultiChoice(Choice):
    """Any number of several options, each a yes/no item with its share of epsilon. Answers: a list of the options chosen."""

    title = "any number of several options"

    def categories(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return ("yes", "no")

    def items(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(settings["options"])

    def position(self, settings: Mapping[str, Any], categories: tuple[str, ...], answer: Answer) -> float | None:
        return None  # its items have places, the whole has none
