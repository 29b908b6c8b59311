"""Conditions of a form as `show_if` of a survey, with `all` and `any`. Numbers in a comparison get bins that begin where it changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deniable.survey.condition import MOST
from deniable.survey.types.base import number
from deniable.xlsform.relevant import AnswerComparison, Relevant, combine, read_relevant


@dataclass
class EarlierQuestion:
    """A question that later conditions may be about.

    Attributes:
        question: It, as in a survey file.
        options: Its options by their names in the form.
        is_whole: Whether it asks for whole numbers.
        may_be_several: Whether a respondent may choose several options.
        cuts: The numbers at which bins begin.
    """

    question: dict[str, Any]
    options: dict[str, str]
    is_whole: bool = True
    may_be_several: bool = False
    cuts: set[float] = field(default_factory=set)

    def add_bins(self) -> bool:
        """Adds bins to a number that conditions compare, and returns whether there are any."""
        if not self.cuts:
            return False
        starts = [float(self.question["low"]), *sorted(self.cuts)]
        ends = [*starts[1:], float(self.question["high"])]
        last = len(starts) - 1
        names = [self._bin_name(start, end, index == last) for index, (start, end) in enumerate(zip(starts, ends, strict=True))]
        self.question["bins"] = [{"name": name, "from": _digits(start)} for name, start in zip(names, starts, strict=True)]
        return True

    def _bin_name(self, start: float, end: float, is_last: bool) -> str:
        if not self.is_whole:
            return f"{_digits(start)} to {_digits(end)}" if is_last else f"{_digits(start)} to below {_digits(end)}"
        most = end if is_last else end - 1
        return _digits(start) if start == most else f"{_digits(start)} to {_digits(most)}"


Cuts = list[tuple[EarlierQuestion, float]]
"""Numbers at which a condition needs a bin to begin."""


def show_if(conditions: list[str], earlier: dict[str, EarlierQuestion]) -> tuple[dict[str, Any] | None, list[str]]:
    """Returns the condition that all conditions hold, and notes on what changed; None if a survey cannot express it.

    Adds cuts to the earlier questions whose numbers it compares.
    """
    parsed = [read_relevant(condition) for condition in conditions]
    readable = [relevant for relevant in parsed if relevant is not None]
    if len(readable) < len(parsed):
        return None, []
    notes: list[str] = []
    cuts: Cuts = []
    condition = _convert(combine("all", readable), earlier, notes, cuts)
    if condition is None or _depth(condition) > 2 or not _fits(condition):
        return None, []
    for question, cut in cuts:
        question.cuts.add(cut)
    return condition, list(dict.fromkeys(notes))


def _convert(relevant: Relevant, earlier: dict[str, EarlierQuestion], notes: list[str], cuts: Cuts) -> dict[str, Any] | None:
    if isinstance(relevant, AnswerComparison):
        question = earlier.get(relevant.name)
        if question is None:
            return None
        return _range(relevant, question, cuts) if "low" in question.question else _option(relevant, question, notes)
    converted = [_convert(part, earlier, notes, cuts) for part in relevant.parts]
    conditions = [condition for condition in converted if condition is not None]
    if len(conditions) < len(converted):
        return None
    conditions = _merge_options(conditions) if relevant.word == "any" else conditions
    return conditions[0] if len(conditions) == 1 else {relevant.word: conditions}


def _option(comparison: AnswerComparison, earlier: EarlierQuestion, notes: list[str]) -> dict[str, Any] | None:
    """Returns the condition that one option was chosen, or any other one.

    A survey cannot express that one option of several was not chosen.
    """
    if comparison.value not in earlier.options or comparison.sign not in ("=", "!=", "has", "lacks"):
        return None
    if comparison.sign in ("=", "has"):
        if earlier.may_be_several and comparison.sign == "=":
            notes.append("people who also chose other options are asked, too")
        return {"question": earlier.question["id"], "is": [earlier.options[comparison.value]]}
    others = list(dict.fromkeys(label for name, label in earlier.options.items() if name != comparison.value))
    if earlier.may_be_several or not others:
        return None
    notes.append("people who skip the earlier question are not asked this one")
    return {"question": earlier.question["id"], "is": others}


def _range(comparison: AnswerComparison, earlier: EarlierQuestion, cuts: Cuts) -> dict[str, Any] | None:
    """Returns the condition that a number is in a range, and adds the ends of the range to the cuts.

    Among whole numbers, above 3 is from 4 on.
    """
    value, step = number(comparison.value), 1 if earlier.is_whole else 0
    if value is None or (not step and comparison.sign in (">", "<=", "=")) or comparison.sign in ("!=", "has", "lacks"):
        return None
    if step and not value.is_integer():
        return None
    least = {">=": value, ">": value + step, "=": value}.get(comparison.sign)
    below = {"<": value, "<=": value + step, "=": value + step}.get(comparison.sign)
    low, high = float(earlier.question["low"]), float(earlier.question["high"])
    if least == low and below is not None:
        least = None  # exactly the least number
    if below is not None and below > high and least is not None:
        below = None  # exactly the greatest
    ends = {key: cut for key, cut in (("at_least", least), ("below", below)) if cut is not None}
    if not all(low < cut <= high for cut in ends.values()):
        return None
    cuts += [(earlier, cut) for cut in ends.values()]
    return {"question": earlier.question["id"], **{key: _digits(cut) for key, cut in ends.items()}}


def _digits(value: float) -> str:
    return f"{value:.15g}"


def _merge_options(conditions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merges alternatives about options of the same question into one."""
    merged: list[dict[str, Any]] = []
    for condition in conditions:
        same = next((one for one in merged if "is" in condition and "is" in one and one["question"] == condition["question"]), None)
        if same is None:
            merged.append(dict(condition))
        else:
            same["is"] = list(dict.fromkeys([*same["is"], *condition["is"]]))
    return merged


def _depth(condition: dict[str, Any]) -> int:
    nested = condition.get("all", condition.get("any"))
    return 0 if nested is None else 1 + max(map(_depth, nested))


def _fits(condition: dict[str, Any]) -> bool:
    nested = condition.get("all", condition.get("any"))
    return nested is None or (len(nested) <= MOST and all(map(_fits, nested)))
