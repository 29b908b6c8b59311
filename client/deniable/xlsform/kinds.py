"""The types of a form's rows: what can be asked behind coins, and why the rest cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from deniable.survey.types.base import MAX_OPTION_LENGTH, MAX_OPTIONS, number
from deniable.survey.undeclared import means_none
from deniable.xlsform.exclusive import excluding
from deniable.xlsform.words import line, unlike
from deniable.xlsform.workbook import Row, is_yes, label_of

_ONE = re.compile(r"(?:select_one|select1|(?:add )?select one(?: prompt using)?)(?: from)? (\S+)(.*)", re.IGNORECASE)
_MANY = re.compile(
    r"(?:select_multiple|(?:add )?select multiple(?: prompt using)?|select all that apply)(?: from)? (\S+)(.*)", re.IGNORECASE
)
_ELSEWHERE = re.compile(r"select.(one|multiple).(external|from.file)\b.*", re.IGNORECASE)
_BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*\(?(-?\d+(?:\.\d+)?)\)?")
_WHY = {
    "there is no free text: an answer that nobody else gives cannot be hidden": "text string barcode tel phone",
    "a day or an hour tells who somebody is: ask for spans of time as options": "date time datetime",
    "a place tells who somebody is: ask for regions as options": "geopoint geotrace geoshape location gps start-geopoint osm",
    "a file cannot be hidden among others": "image photo audio video file background-audio",
    "what a device tells by itself says who answered, and when": "start end today deviceid phonenumber simserial subscriberid username "
    "email imei audit uri",
    "it asks nothing: put what respondents should read into the survey's text": "note acknowledge trigger",
    "it asks nothing": "calculate hidden xml-external csv-external entity",
    "an order of options is not among the kinds of answers": "rank",
}
_REASONS = {kind: why for why, kinds in _WHY.items() for kind in kinds.split()}


class Kind(NamedTuple):
    """What a row asks: the keys of its question's type, its options by their names in the form, and what was changed."""

    keys: dict[str, Any]
    options: dict[str, str]
    notes: list[str]


def kind_of(row: Row, lists: Mapping[str, Sequence[Row]], language: str) -> Kind | str:
    """What a row asks, or why it cannot be asked. language: that of the labels."""
    kind = type_of(row)
    one, many = _ONE.fullmatch(kind), _MANY.fullmatch(kind)
    number_kind = kind in ("integer", "int", "decimal", "range")
    if (one or many or number_kind) and (why := _idle(row)):
        return why
    if match := one or many:
        return _options(row, listed(row, lists), match[2], bool(many), language)
    if number_kind and kind != "range":
        return _number(row.get(("constraint", ""), ""), kind != "decimal")
    if number_kind:
        ends = dict(re.findall(r"(start|end)\s*=\s*(-?[\d.]+)", row.get(("parameters", ""), "")))
        return Kind({"type": "number", "low": ends.get("start", "1"), "high": ends.get("end", "10")}, {}, [])
    if _ELSEWHERE.fullmatch(kind):
        return "its options are in another sheet or file: put them into the sheet `choices`"
    first = re.split("[ :]", kind.lower())[0]
    return _REASONS.get(first, f"{first} is not among the kinds of answers")


def _idle(row: Row) -> str:
    """Why a row that might be a question asks nothing; empty where it does ask."""
    if is_yes(row, "disabled"):
        return "the form has it switched off"
    if is_yes(row, "read_only"):
        return "it only shows something: it asks nothing"
    if "label" in row.get(("appearance", ""), "").split():
        return "it is the head of a table: it asks nothing"
    if not row.get(("name", "")):
        return "it has no name"
    return ""


def type_of(row: Row) -> str:
    """The type of a row, with one space between words."""
    return " ".join(row.get(("type", ""), "").split())


def may_be_several(row: Row) -> bool:
    """Whether several options may be chosen."""
    return bool(_MANY.fullmatch(type_of(row)))


def is_whole(row: Row) -> bool:
    """Whether a row asks for whole numbers."""
    return type_of(row) in ("integer", "int")


def lists_of(choices: Sequence[Row]) -> dict[str, list[Row]]:
    """The options of a form by the names of their lists; rows with neither a name nor a label are none."""
    found: dict[str, list[Row]] = {}
    for one in choices:
        if ("name", "") in one or any(column == "label" for column, _ in one):
            found.setdefault(one.get(("list_name", ""), ""), []).append(one)
    return found


def listed(row: Row, lists: Mapping[str, Sequence[Row]]) -> Sequence[Row]:
    """The options that a row offers, none where it offers none."""
    match = _ONE.fullmatch(type_of(row)) or _MANY.fullmatch(type_of(row))
    return lists.get(match[1], ()) if match else ()


def _options(row: Row, rows: Sequence[Row], more: str, many: bool, language: str) -> Kind | str:
    if len(rows) < 2:
        return "its options are not in the form, or fewer than two"
    if len(rows) > MAX_OPTIONS:
        return f"it has {len(rows):,} options, and a question at most {MAX_OPTIONS:,}"
    names = [one.get(("name", ""), "") for one in rows]
    own = [line(label_of(one, language)) for one in rows]
    wanted = [label or line(name) for label, name in zip(own, names, strict=True)]
    labels = unlike(wanted, names)
    apart = excluding(row.get(("constraint", ""), "")) if many else None
    by_name = dict(zip(names, labels, strict=True))
    known = apart is not None and len(apart) < len(by_name) and all(name in by_name for name in apart)
    lost = {
        "everybody is offered all options": ("choice_filter", "") in row,
        "its options stand in one order": bool(re.search(r"randomize\s*=\s*true", row.get(("parameters", ""), ""), re.IGNORECASE)),
        "there is no “other” with a text": "other" in more,
        "its constraint is left out": ("constraint", "") in row and not known,
        "options without a label are called by their names": not all(own),
        "options that read alike have their names behind them": len(set(wanted)) < len(wanted),
        f"options are cut to {MAX_OPTION_LENGTH} characters": any(len(label) > MAX_OPTION_LENGTH for label in wanted),
    }
    notes = [note for note, holds in lost.items() if holds]
    if not many and sorted(label.lower() for label in labels) == ["no", "yes"]:
        return Kind({"type": "yes_no"}, {name: label.lower() for name, label in zip(names, labels, strict=True)}, notes)
    keys = _excluding([by_name[name] for name in apart]) if apart and known else {}
    return Kind({"type": "multi_choice" if many else "choice", "options": labels, **keys}, by_name, notes)


def _excluding(labels: Sequence[str]) -> dict[str, Any]:
    """The keys of options that go with no other one; the first that reads as none takes the place of the page's own."""
    none = next((label for label in labels if means_none(label)), None)
    others = [label for label in labels if label != none]
    return {**({"exclusive": others} if others else {}), **({"none": none} if none else {})}


def _number(constraint: str, whole: bool) -> Kind | str:
    """A number between the least and the greatest that a constraint allows, where it says both."""
    ends: dict[str, str] = {}
    parts = re.split(" and ", " ".join(constraint.split()), flags=re.IGNORECASE)
    for part in parts:
        match = _BOUND.fullmatch(part.strip().strip("()").strip())
        if not match or (not whole and match[1] in "<>"):
            continue
        step = {">": 1, "<": -1}.get(match[1], 0)
        ends["low" if ">" in match[1] else "high"] = str(int(match[2]) + step) if step and "." not in match[2] else match[2]
    low, high = number(ends.get("low")), number(ends.get("high"))
    if low is None or high is None or not low < high:
        return "a number needs two ends: a constraint such as . >= 0 and . <= 120"
    notes = ["of its constraint, only the two ends are kept"] if len(parts) > 2 else []
    return Kind({"type": "number", "low": ends["low"], "high": ends["high"]}, {}, notes)
