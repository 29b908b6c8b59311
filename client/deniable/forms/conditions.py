"""Conditions of a foreign form as `show_if` of a survey. A part that a survey cannot express is left out, so that more people are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from typing import Any

from deniable.forms.expressions import (
    AnswerComparison,
    CombinedConditions,
    Constant,
    CountComparison,
    Expression,
    ScoreComparison,
    Sign,
    compares,
    conjuncts,
)
from deniable.survey.condition import MOST
from deniable.survey.types.base import number

MOST_CLAUSES = 200
SKIPPED = "people who skip the earlier question are not asked this one"
ALSO_SKIPPED = "people who skip the earlier question are asked, too"
HIDDEN = "people who are not asked {} are not asked this one"


@dataclass
class EarlierQuestion:
    """A question that later conditions may be about.

    Attributes:
        question: It, as in a survey file.
        options: Its options by their names in the form; several of one name where the form filters them.
        is_whole: Whether it asks for whole numbers.
        may_be_several: Whether a respondent may choose several options.
        cuts: The numbers at which bins begin.
    """

    question: dict[str, Any]
    options: dict[str, tuple[str, ...]]
    is_whole: bool = True
    may_be_several: bool = False
    cuts: set[float] = field(default_factory=set)

    @property
    def is_number(self) -> bool:
        """Whether its answers are numbers."""
        return "low" in self.question

    @property
    def labels(self) -> list[str]:
        """All its options."""
        return list(dict.fromkeys(label for labels in self.options.values() for label in labels))

    def labels_where(self, sign: Sign, value: str) -> list[str]:
        """Returns the options whose names a comparison holds for."""
        plain: Sign = {"has": "=", "lacks": "!="}.get(sign, sign)  # type: ignore[assignment]
        return list(dict.fromkeys(label for name, labels in self.options.items() if compares(name, plain, value) for label in labels))

    def add_bins(self) -> bool:
        """Adds bins to a number that conditions compare, and returns whether there are any."""
        if not self.cuts or "bins" in self.question:
            return False
        starts = [float(self.question["low"]), *sorted(self.cuts)]
        ends = [*starts[1:], float(self.question["high"])]
        last = len(starts) - 1
        names = [self._bin_name(start, end, index == last) for index, (start, end) in enumerate(zip(starts, ends, strict=True))]
        self.question["bins"] = [{"name": name, "from": digits(start)} for name, start in zip(names, starts, strict=True)]
        return True

    def _bin_name(self, start: float, end: float, is_last: bool) -> str:
        if not self.is_whole:
            return f"{digits(start)} to {digits(end)}" if is_last else f"{digits(start)} to below {digits(end)}"
        most = end if is_last else end - 1
        return digits(start) if start == most else f"{digits(start)} to {digits(most)}"


@dataclass(frozen=True)
class SurveyCondition:
    """A form's condition as far as a survey can express it.

    Attributes:
        show_if: The `show_if`; None if all are asked.
        is_never: Whether no one is asked.
        omitted: Omitted parts, in the form's words: more people are asked than in the form.
        notes: Other changes of who is asked.
    """

    show_if: dict[str, Any] | None
    is_never: bool
    omitted: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def is_widened(self) -> bool:
        """Whether more people are asked than in the form."""
        return bool(self.omitted)


def show_if(condition: Expression, earlier: Mapping[str, EarlierQuestion]) -> SurveyCondition:
    """Returns the `show_if` of a condition, and adds cuts to the earlier questions whose numbers it compares."""
    converter = _Converter(earlier)
    result = converter.convert(condition)
    if isinstance(result, dict):
        result = converter.flatten(result, condition.text)
    if isinstance(result, dict):
        converter.keep_cuts(result)
    notes = tuple(dict.fromkeys(converter.notes))
    omitted = tuple(dict.fromkeys(filter(None, converter.omitted)))
    return SurveyCondition(result if isinstance(result, dict) else None, result is False, omitted, notes)


Result = dict[str, Any] | bool
"""A condition of a survey; True for all people, False for no one."""


@dataclass
class _Converter:
    """Converter of one condition.

    Attributes:
        earlier: The earlier questions by their names in the form.
        notes: Notes on changes.
        omitted: Omitted parts.
    """

    earlier: Mapping[str, EarlierQuestion]
    notes: list[str] = field(default_factory=list)
    omitted: list[str] = field(default_factory=list)

    def convert(self, expression: Expression) -> Result:
        match expression:
            case Constant(holds):
                return holds
            case CombinedConditions("all"):
                return _all([self.convert(part) for part in expression.parts], self._is_several)
            case CombinedConditions():
                return self._any(expression)
            case AnswerComparison(name) if name in self.earlier:
                return self._answer(expression, self.earlier[name])
            case CountComparison(name) if name in self.earlier:
                return self._count(expression, self.earlier[name])
            case ScoreComparison():
                return self._score(expression)
        return self._omit(expression)

    def _is_several(self, question: str) -> bool:
        return any(one.may_be_several for one in self.earlier.values() if one.question["id"] == question)

    def _omit(self, expression: Expression) -> bool:
        self.omitted.append(expression.text)
        return True

    def _any(self, expression: CombinedConditions) -> Result:
        """Returns alternatives; all of them are left out if one alternative cannot be expressed."""
        before = len(self.omitted)
        result = _any([self.convert(part) for part in expression.parts])
        if result is True and len(self.omitted) > before:
            self.omitted[before:] = [expression.text]
        return result

    def _answer(self, comparison: AnswerComparison, earlier: EarlierQuestion) -> Result:
        if not comparison.value and comparison.sign in ("=", "!="):
            return self._missing(comparison, earlier) if comparison.or_missing else self._answered(comparison, earlier)
        result = self._range(comparison, earlier) if earlier.is_number else self._options(comparison, earlier)
        return self._or_missing(result, earlier) if comparison.or_missing and result is not True else result

    def _options(self, comparison: AnswerComparison, earlier: EarlierQuestion) -> Result:
        """Returns the condition that one of some options was chosen."""
        if earlier.may_be_several:
            return self._several(comparison, earlier)
        labels = earlier.labels_where(comparison.sign, comparison.value)
        if not labels:
            if not comparison.or_missing:
                self.notes.append(f"{comparison.text} never holds: no option of {earlier.question['id']} is like this")
            return False
        return {"question": earlier.question["id"], "is": labels}

    def _several(self, comparison: AnswerComparison, earlier: EarlierQuestion) -> Result:
        """Returns the condition that an option is among the chosen ones. A survey cannot express that it is not."""
        labels = earlier.labels_where("=", comparison.value)
        if comparison.sign not in ("=", "has"):
            return self._omit(comparison)
        if not labels:
            self.notes.append(f"{comparison.text} never holds: no option of {earlier.question['id']} is like this")
            return False
        if comparison.sign == "=":
            self.notes.append("people who also chose other options are asked, too")
        return {"question": earlier.question["id"], "is": labels}

    def _count(self, comparison: CountComparison, earlier: EarlierQuestion) -> Result:
        """Returns the condition that anything was chosen. A survey cannot count further."""
        value = number(comparison.value)
        if value is None or not earlier.may_be_several or (comparison.sign, value) not in ((">", 0), (">=", 1), ("!=", 0)):
            return self._omit(comparison)
        return {"question": earlier.question["id"], "is": self._counted(earlier)}

    def _counted(self, earlier: EarlierQuestion) -> list[str]:
        return earlier.labels

    def _score(self, comparison: ScoreComparison) -> Result:
        """Returns a condition on a sum of scores, if each of them is of a scale."""
        questions = [self.earlier.get(name) for name in comparison.names]
        value = number(comparison.value)
        if value is None or any(one is None or not as_scale(one) for one in questions):
            return self._omit(comparison)
        step = 0 if comparison.sign in (">=", "<") else 1
        if comparison.sign not in (">", ">=", "<", "<=") or not value.is_integer():
            return self._omit(comparison)
        key = "at_least" if ">" in comparison.sign else "below"
        self.notes.append("questions without an answer add nothing to the score")
        return {"score": [one.question["id"] for one in questions if one], key: digits(value + step)}

    def _answered(self, comparison: AnswerComparison, earlier: EarlierQuestion) -> Result:
        """Returns the condition that a question was answered."""
        if not earlier.is_number:
            return {"question": earlier.question["id"], "is": earlier.labels}
        if "show_if" in earlier.question:
            self.notes.append(ALSO_SKIPPED)
            return dict(earlier.question["show_if"])
        return True if "required" not in earlier.question else self._omit(comparison)

    def _missing(self, comparison: AnswerComparison, earlier: EarlierQuestion) -> Result:
        """Returns the condition that a question was not answered."""
        if "show_if" not in earlier.question and "required" in earlier.question:
            return self._omit(comparison)
        before = len(self.notes)
        result = self._or_missing(False, earlier)
        if result is False and "show_if" in earlier.question:
            del self.notes[before:]
            return self._omit(comparison)
        return result

    def _or_missing(self, result: Result, earlier: EarlierQuestion) -> Result:
        """Adds the people who were not asked a question. A survey cannot name those who skipped it."""
        condition = earlier.question.get("show_if")
        if condition is None and "required" not in earlier.question:
            return result
        self.notes.append(SKIPPED)
        if condition is None:
            return result
        hidden = self._negated(condition)
        if hidden is None:
            self.notes.append(HIDDEN.format(earlier.question["id"]))
            return result
        return _any([result, hidden])

    def _negated(self, condition: Mapping[str, Any]) -> Result | None:
        """Returns the opposite of a condition of the survey; None if a survey cannot express it."""
        for word, combined in (("all", _any), ("any", _every)):
            if word in condition:
                parts = [self._negated(part) for part in condition[word]]
                return None if None in parts else combined([part for part in parts if part is not None])
        earlier = next((one for one in self.earlier.values() if one.question["id"] == condition.get("question")), None)
        if earlier is None or earlier.may_be_several:
            return None
        if "is" in condition:
            others = [label for label in earlier.labels if label not in condition["is"]]
            return self._or_missing({"question": condition["question"], "is": others} if others else False, earlier)
        ends = [{"below": condition["at_least"]}] if "at_least" in condition else []
        ends += [{"at_least": condition["below"]}] if "below" in condition else []
        return self._or_missing(_any([{"question": condition["question"], **end} for end in ends]), earlier)

    def _range(self, comparison: AnswerComparison, earlier: EarlierQuestion) -> Result:
        """Returns the condition that a number is in a range. Among whole numbers, above 3 is from 4 on."""
        value, sign, step = number(comparison.value), comparison.sign, 1 if earlier.is_whole else 0
        if value is None or sign in ("has", "lacks") or (not step and sign in ("<=", "=", "!=")) or (step and not value.is_integer()):
            return self._omit(comparison)
        if sign == "!=":
            before = len(self.notes)
            parts = [self._range(replace(comparison, sign=part, or_missing=False), earlier) for part in _BESIDE]
            self.notes[before:] = [note for note in self.notes[before:] if note == ALSO_SKIPPED]
            return _any(parts)
        if sign == ">" and not step:
            self.notes.append(f"people with exactly {digits(value)} are asked, too")
        least = {">=": value, ">": value + step, "=": value}.get(sign)
        below = {"<": value, "<=": value + step, "=": value + step}.get(sign)
        return self._within(comparison, earlier, least, below)

    def _within(self, comparison: AnswerComparison, earlier: EarlierQuestion, least: float | None, below: float | None) -> Result:
        """Returns the condition that a number is from `least` to `below`, without ends that all its numbers are within."""
        low, high = float(earlier.question["low"]), float(earlier.question["high"])
        if (least is not None and least > high) or (below is not None and below <= low):
            self.notes.append(f"{comparison.text} never holds: {earlier.question['id']} is from {digits(low)} to {digits(high)}")
            return False
        least = None if least is not None and least <= low else least
        below = None if below is not None and below > high else below
        ends = {key: digits(cut) for key, cut in (("at_least", least), ("below", below)) if cut is not None}
        if not ends:
            if "show_if" in earlier.question or "required" in earlier.question:
                self.notes.append(ALSO_SKIPPED)
            return True
        starts = [number(one["from"]) for one in earlier.question.get("bins", ())]
        if starts and not {least, below} - {None} <= set(starts):
            return self._omit(comparison)
        return {"question": earlier.question["id"], **ends}

    def flatten(self, condition: dict[str, Any], text: str) -> Result:
        """Returns a condition with at most two levels of at most MOST conditions. Clauses that are too long are left out."""
        if _depth(condition) <= 2 and _fits(condition):
            return condition
        clauses = _clauses(condition)
        if clauses is None:
            self.omitted[:] = [text]
            return True
        parts = [_any(clause) for clause in clauses]
        short = [part for part in parts if _fits(part)][:MOST] if all(isinstance(part, dict) for part in parts) else []
        if len(short) < len(parts):
            self.omitted.append(text)
        return _all(list(short), self._is_several) if short else True

    def keep_cuts(self, condition: Mapping[str, Any]) -> None:
        """Adds the ends of a condition's ranges to the cuts of their questions."""
        for part in (*condition.get("all", ()), *condition.get("any", ())):
            self.keep_cuts(part)
        if "question" in condition:
            earlier = next(one for one in self.earlier.values() if one.question["id"] == condition["question"])
            earlier.cuts |= {float(condition[key]) for key in ("at_least", "below") if key in condition}


_BESIDE: tuple[Sign, Sign] = ("<", ">")


def as_scale(earlier: EarlierQuestion) -> bool:
    """Makes a question a scale whose scores are the names of its options, and returns whether it is one."""
    question = earlier.question
    scores = [number(name) for name in earlier.options]
    if earlier.may_be_several or "options" not in question or any(len(labels) != 1 for labels in earlier.options.values()):
        return False
    if None in scores or any(low >= high for low, high in pairwise(scores)):  # type: ignore[operator]
        return False
    question["type"] = "scale"
    question["scores"] = [digits(score) for score in scores if score is not None]
    return True


def digits(value: float) -> str:
    """Returns a number as a survey file writes it."""
    return f"{value:.15g}"


def _any(results: Sequence[Result]) -> Result:
    """Returns alternatives. Those about options of the same question become one."""
    if any(result is True for result in results):
        return True
    merged: list[dict[str, Any]] = []
    for result in results:
        for part in [] if isinstance(result, bool) else result.get("any", [result]):
            same = next((one for one in merged if "is" in part and "is" in one and one["question"] == part["question"]), None)
            if same is not None:
                same["is"] = list(dict.fromkeys([*same["is"], *part["is"]]))
            elif part not in merged:
                merged.append(dict(part))
    return merged[0] if len(merged) == 1 else {"any": merged} if merged else False


def _every(results: Sequence[Result]) -> Result:
    return _all(results, lambda _: True)


def _all(results: Sequence[Result], is_several: Any) -> Result:
    """Returns a conjunction. Options of the same question that allows one answer only are intersected."""
    if any(result is False for result in results):
        return False
    merged: list[dict[str, Any]] = []
    for result in results:
        for part in [] if isinstance(result, bool) else result.get("all", [result]):
            same = next((one for one in merged if "is" in part and "is" in one and one["question"] == part["question"]), None)
            if same is not None and not is_several(part["question"]):
                same["is"] = [label for label in same["is"] if label in part["is"]]
            elif part not in merged:
                merged.append(dict(part))
    if any("is" in part and not part["is"] for part in merged):
        return False
    return merged[0] if len(merged) == 1 else {"all": merged} if merged else True


def _clauses(condition: Mapping[str, Any]) -> list[list[dict[str, Any]]] | None:
    """Returns alternatives that must each hold (conjunctive normal form); None if there are too many."""
    if "all" in condition:
        nested = [_clauses(part) for part in condition["all"]]
        flat = [clause for clauses in nested if clauses is not None for clause in clauses]
        return flat if None not in nested and len(flat) <= MOST_CLAUSES else None
    if "any" not in condition:
        return [[dict(condition)]]
    clauses: list[list[dict[str, Any]]] = [[]]
    for part in condition["any"]:
        more = _clauses(part)
        if more is None or len(clauses) * len(more) > MOST_CLAUSES:
            return None
        clauses = [[*left, *right] for left, right in product(clauses, more)]
    return clauses


def _depth(condition: Mapping[str, Any]) -> int:
    nested = condition.get("all", condition.get("any"))
    return 0 if nested is None else 1 + max(map(_depth, nested))


def _fits(condition: Any) -> bool:
    nested = condition.get("all", condition.get("any"))
    return nested is None or (len(nested) <= MOST and all(map(_fits, nested)))


def expressed(condition: Expression, converted: SurveyCondition) -> set[Expression]:
    """Returns the conjuncts of a condition that a survey expresses exactly, without a change."""
    exact = not converted.notes
    return {part for part in conjuncts(condition) if exact and part.text not in converted.omitted}
