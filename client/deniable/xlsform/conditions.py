"""What a form's conditions become: `show_if` of a survey, with `all` and `any`; numbers that are compared get bins where they are cut."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from deniable.survey.condition import MOST
from deniable.survey.types.base import number
from deniable.xlsform.relevant import Compared, Relevant, joined, read_relevant


@dataclass
class Asked:
    """A question that conditions may be about. options: by their names in the form; whole: of a number, whether it is one; several: whether
    several may be chosen; cuts: where a number gets a bin that begins."""

    question: dict[str, Any]
    options: dict[str, str]
    whole: bool = True
    several: bool = False
    cuts: set[float] = field(default_factory=set)

    def binned(self) -> bool:
        """Gives a number its bins, where conditions have cut it; says whether they have."""
        if not self.cuts:
            return False
        starts = [float(self.question["low"]), *sorted(self.cuts)]
        ends = [*starts[1:], float(self.question["high"])]
        last = len(starts) - 1
        names = [self._named(start, end, place == last) for place, (start, end) in enumerate(zip(starts, ends, strict=True))]
        self.question["bins"] = [{"name": name, "from": _written(start)} for name, start in zip(names, starts, strict=True)]
        return True

    def _named(self, start: float, end: float, last: bool) -> str:
        if not self.whole:
            return f"{_written(start)} to {_written(end)}" if last else f"{_written(start)} to below {_written(end)}"
        most = end if last else end - 1
        return _written(start) if start == most else f"{_written(start)} to {_written(most)}"


def show_if(conditions: list[str], asked: dict[str, Asked]) -> tuple[dict[str, Any] | None, list[str]]:
    """The condition that all of these hold, and what was changed in it; None where it cannot be said in a survey."""
    read = [read_relevant(condition) for condition in conditions]
    known = [one for one in read if one is not None]
    notes: list[str] = []
    cuts: list[tuple[Asked, float]] = []
    made = _said(joined("all", known), asked, notes, cuts) if len(known) == len(read) else None
    if made is None or _depth(made) > 2 or not _fits(made):
        return None, []
    for one, cut in cuts:
        one.cuts.add(cut)
    return made, list(dict.fromkeys(notes))


def _said(relevant: Relevant, asked: dict[str, Asked], notes: list[str], cuts: list[tuple[Asked, float]]) -> dict[str, Any] | None:
    if isinstance(relevant, Compared):
        one = asked.get(relevant.name)
        if one is None:
            return None
        return _range(relevant, one, cuts) if "low" in one.question else _option(relevant, one, notes)
    parts = [_said(part, asked, notes, cuts) for part in relevant.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    known = _together(known) if relevant.word == "any" else known
    return known[0] if len(known) == 1 else {relevant.word: known}


def _option(relevant: Compared, one: Asked, notes: list[str]) -> dict[str, Any] | None:
    """An option, or all others: of several options, that one is not chosen cannot be said."""
    if relevant.value not in one.options or relevant.sign not in ("=", "!=", "has", "lacks"):
        return None
    if relevant.sign in ("=", "has"):
        if one.several and relevant.sign == "=":
            notes.append("it is asked also of those who chose more than the one option")
        return {"question": one.question["id"], "is": [one.options[relevant.value]]}
    others = list(dict.fromkeys(label for name, label in one.options.items() if name != relevant.value))
    if one.several or not others:
        return None
    notes.append("who leaves the earlier question out is not asked this one")
    return {"question": one.question["id"], "is": others}


def _range(relevant: Compared, one: Asked, cuts: list[tuple[Asked, float]]) -> dict[str, Any] | None:
    """A range of a number, which is cut at its ends: where whole numbers are asked for, above 3 is from 4 on."""
    value, step = number(relevant.value), 1 if one.whole else 0
    if value is None or (not step and relevant.sign in (">", "<=", "=")) or relevant.sign in ("!=", "has", "lacks"):
        return None
    if step and not value.is_integer():
        return None
    least = {">=": value, ">": value + step, "=": value}.get(relevant.sign)
    below = {"<": value, "<=": value + step, "=": value + step}.get(relevant.sign)
    low, high = float(one.question["low"]), float(one.question["high"])
    if least == low and below is not None:
        least = None  # exactly the least number
    if below is not None and below > high and least is not None:
        below = None  # exactly the greatest
    ends = {key: cut for key, cut in (("at_least", least), ("below", below)) if cut is not None}
    if not all(low < cut <= high for cut in ends.values()):
        return None
    cuts += [(one, cut) for cut in ends.values()]
    return {"question": one.question["id"], **{key: _written(cut) for key, cut in ends.items()}}


def _written(value: float) -> str:
    return f"{value:.15g}"


def _together(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of several options of one question, any: as one condition with all of them."""
    found: list[dict[str, Any]] = []
    for part in parts:
        same = next((one for one in found if "is" in part and "is" in one and one["question"] == part["question"]), None)
        if same is None:
            found.append(dict(part))
        else:
            same["is"] = list(dict.fromkeys([*same["is"], *part["is"]]))
    return found


def _depth(condition: dict[str, Any]) -> int:
    inner = condition.get("all", condition.get("any"))
    return 0 if inner is None else 1 + max(map(_depth, inner))


def _fits(condition: dict[str, Any]) -> bool:
    inner = condition.get("all", condition.get("any"))
    return inner is None or (len(inner) <= MOST and all(map(_fits, inner)))
