"""Parser of `show_if`: options or a range of bins of an earlier question, or a list of conditions with `all` or `any`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.survey.condition import MOST, Combination, Condition, ShowIf
from deniable.survey.question import Question
from deniable.survey.types.base import number
from deniable.survey.validator import Validator, excerpt

WORDS = ("all", "any")
RANGE = ("at_least", "below")


@dataclass(frozen=True)
class Conditions:
    """Parser of conditions on earlier questions.

    Attributes:
        validator: The validation context.
        earlier: The valid earlier questions, by id.
        all_valid: Whether all earlier questions were valid.
    """

    validator: Validator
    earlier: Mapping[str, Question]
    all_valid: bool

    def read(self, source: Any, where: str, words: Sequence[str] = WORDS) -> ShowIf | None:
        """Returns the condition of a `show_if`, which may be a list with one of some words; None if it is invalid."""
        if not isinstance(source, Mapping):
            other = f", or {' or '.join(words)} with a list of conditions" if words else ""
            self.validator.refuse(where, f"must be a mapping with the keys question and is{other}, got {type(source).__name__}")
            return None
        lists = [word for word in WORDS if word in source]
        if not lists:
            return self._single(source, where)
        if lists[0] not in words:
            self.validator.refuse(
                where, "must be a condition: a list of `all` may have lists of `any`, and the reverse, but no deeper lists"
            )
            return None
        return self._combination(source, where, lists[0], [word for word in words if word != lists[0]])

    def _combination(self, source: Mapping[str, Any], where: str, word: str, nested: Sequence[str]) -> Combination | None:
        """Returns a list of conditions, with lists of `nested` words in it: two levels can express everything."""
        self.validator.keys(source, where, required=[word], optional=[])
        parts = source[word]
        if not isinstance(parts, list | tuple) or not 2 <= len(parts) <= MOST:
            got = f"{len(parts):,}" if isinstance(parts, list | tuple) else type(parts).__name__
            self.validator.refuse(f"{where}.{word}", f"must be a list of 2 to {MOST} conditions, got {got}")
            return None
        conditions = [self.read(part, f"{where}.{word}[{index}]", nested) for index, part in enumerate(parts)]
        valid = tuple(condition for condition in conditions if condition is not None)
        return Combination("all" if word == "all" else "any", valid) if len(valid) == len(conditions) else None

    def _single(self, source: Mapping[str, Any], where: str) -> Condition | None:
        """Returns a single condition."""
        ends = [key for key in RANGE if key in source]
        optional = [*RANGE, *(["is"] if ends else [])]
        self.validator.keys(source, where, required=["question"] if ends else ["question", "is"], optional=optional)
        if "question" not in source or not (ends or "is" in source):
            return None
        name = source["question"]
        earlier = self.earlier.get(name) if isinstance(name, str) else None
        if earlier is None or earlier.rounds or (ends and not earlier.kind.bin_edges):
            if earlier or self.all_valid:  # otherwise the author has to correct the earlier question first
                kind = "number with bins" if ends else "question with options"
                self.validator.refuse(f"{where}.question", f"must be the id of an earlier {kind}, got {excerpt(name)}")
            return None
        if "is" in source and ends:
            self.validator.refuse(f"{where}.is", f"must be left out beside {' and '.join(ends)}; keep one of the two")
            return None
        options = self._bins(source, where, earlier) if ends else self._options(source["is"], f"{where}.is", earlier)
        return Condition(earlier.id, options) if options else None

    def _options(self, options: Any, where: str, question: Question) -> tuple[str, ...] | None:
        """Returns the options of an earlier question that a condition names."""
        valid = question.labels or question.kind.categories
        if not isinstance(options, list | tuple) or not options or len(set(map(str, options))) < len(options):
            self.validator.refuse(where, "must be a list of at least one of that question's options, each once")
            return None
        for index, option in enumerate(options):
            if option not in valid:
                self.validator.refuse(f"{where}[{index}]", f"must be one of {', '.join(valid[:8])}, got {excerpt(option)}")
        return tuple(map(str, options))

    def _bins(self, source: Mapping[str, Any], where: str, question: Question) -> tuple[str, ...] | None:
        """Returns the bins from `at_least` up to `below`, which must be starts of bins: a record cannot distinguish parts of a bin."""
        starts = [start for start, _ in question.kind.bin_edges]
        indexes = {"at_least": 0, "below": len(starts)}
        for key, allowed in (("at_least", starts), ("below", starts[1:])):
            if key not in source:
                continue
            value = number(source[key])
            if value is None or value not in allowed:
                edges = ", ".join(f"{start:.15g}" for start in allowed[:8])
                rule = f"must be where a bin of {question.id} begins, one of {edges}"
                self.validator.refuse(f"{where}.{key}", f"{rule}, got {excerpt(source[key])}")
                return None
            indexes[key] = starts.index(value)
        if indexes["at_least"] >= indexes["below"]:
            self.validator.refuse(f"{where}.below", "must be above at_least")
            return None
        return question.kind.choices[indexes["at_least"] : indexes["below"]]
