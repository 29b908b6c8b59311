"""Parser of `show_if`: options or a range of bins of an earlier question, a sum or a count, or a list with `all` or `any`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deniable.survey.condition import MOST, MOST_SUMMED, SUMS, Combination, Condition, ShowIf, SumCondition
from deniable.survey.question import Question
from deniable.survey.types.base import number, whole_number
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
            return self._sum(source, where) if any(word in source for word in SUMS) else self._single(source, where)
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
                self.validator.refuse(
                    f"{where}.question", f"must be the id of an earlier {kind}, got {excerpt(name)}{self._items_of(name)}"
                )
            return None
        if "is" in source and ends:
            self.validator.refuse(f"{where}.is", f"must be left out beside {' and '.join(ends)}; keep one of the two")
            return None
        options = self._bins(source, where, earlier) if ends else self._options(source["is"], f"{where}.is", earlier)
        return Condition(earlier.id, options) if options else None

    def _options(self, options: Any, where: str, question: Question) -> tuple[str, ...] | None:
        """Returns the options of an earlier question that a condition names."""
        valid = answers_of(question)
        if not isinstance(options, list | tuple) or not options or len(set(map(str, options))) < len(options):
            self.validator.refuse(where, "must be a list of at least one of that question's options, each once")
            return None
        for index, option in enumerate(options):
            if option not in valid:
                self.validator.refuse(f"{where}[{index}]", f"must be one of {', '.join(valid[:8])}, got {excerpt(option)}")
        return tuple(map(str, options))

    def _sum(self, source: Mapping[str, Any], where: str) -> SumCondition | None:
        """Returns a condition on the sum of scores, or on the number of questions with some answers."""
        word = "score" if "score" in source else "count"
        required = [word, "is"] if word == "count" else [word]
        before = len(self.validator.problems)
        self.validator.keys(source, where, required=required, optional=[*RANGE])
        if not any(key in source for key in RANGE):
            self.validator.refuse(where, "must have at_least, below or both: the range of the sum")
        ends = {key: whole_number(source[key]) for key in RANGE if key in source}
        for key, end in ends.items():
            if end is None:
                self.validator.refuse(f"{where}.{key}", f"must be a whole number, got {excerpt(source[key])}")
        at_least, below = ends.get("at_least"), ends.get("below")
        if at_least is not None and below is not None and at_least >= below:
            self.validator.refuse(f"{where}.below", "must be above at_least")
        questions = self._summed(source[word], f"{where}.{word}", word)
        options: tuple[str, ...] | None = ()
        if word == "count" and "is" in source and questions:
            for question in questions:
                options = self._options(source["is"], f"{where}.is", question)
                if len(self.validator.problems) > before:
                    break
        if len(self.validator.problems) > before or not questions or options is None:
            return None
        return SumCondition("score" if word == "score" else "count", tuple(one.id for one in questions), options, at_least, below)

    def _summed(self, names: Any, where: str, word: str) -> list[Question]:
        """Returns the questions of a sum; empty if one is invalid."""
        if not isinstance(names, list | tuple) or not 1 <= len(names) <= MOST_SUMMED or len(set(map(str, names))) < len(names):
            got = f"{len(names):,}" if isinstance(names, list | tuple) else type(names).__name__
            self.validator.refuse(where, f"must be a list of 1 to {MOST_SUMMED} ids of earlier questions, each once, got {got}")
            return []
        fits, kind = (has_whole_scores, "scale with whole scores") if word == "score" else (has_answers, "question with options")
        questions = [self.earlier.get(name) if isinstance(name, str) else None for name in names]
        for index, question in enumerate(questions):
            if (question or self.all_valid) and not (question and fits(question)):
                got = f"{excerpt(names[index])}{self._items_of(names[index])}"
                self.validator.refuse(f"{where}[{index}]", f"must be the id of an earlier {kind}, got {got}")
        valid = [question for question in questions if question and fits(question)]
        return valid if len(valid) == len(names) else []

    def _items_of(self, name: Any) -> str:
        """Returns the end of a message about the name of a rating block: the items to name instead. Empty for any other name."""
        items = [question.id for question in self.earlier.values() if question.grid and question.grid.id == name]
        return f", a rating block: name one of its items, such as {items[0]}" if items else ""

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


def answers_of(question: Question) -> tuple[str, ...]:
    """Returns the answers to a question that a condition can name."""
    return question.labels or question.kind.categories


def has_answers(question: Question) -> bool:
    """Returns whether a condition can name answers to a question: those to a number with levels are rounded at random."""
    return not question.rounds


def has_whole_scores(question: Question) -> bool:
    """Returns whether a question is a scale with whole scores, whose sums are exact on every device."""
    return bool(question.options and question.scores) and all(score.is_integer() for score in question.scores or ())
