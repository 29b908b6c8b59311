"""The types of a form's rows: what can be asked behind coins, and why the rest cannot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from deniable.survey.types.base import MAX_OPTION_LENGTH, number
from deniable.xlsform.words import short, unlike
from deniable.xlsform.workbook import Row, label_of

_ONE = re.compile(r"(?:select_one|select1|select one)(?: from)? (\S+)(.*)")
_MANY = re.compile(r"(?:select_multiple|select multiple|select all that apply)(?: from)? (\S+)(.*)")
_BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*\(?(-?\d+(?:\.\d+)?)\)?")
_WHY = {
    "there is no free text: an answer that nobody else gives cannot be hidden": "text string barcode",
    "a day or an hour tells who somebody is: ask for spans of time as options": "date time datetime dateTime",
    "a place tells who somebody is: ask for regions as options": "geopoint geotrace geoshape location start-geopoint osm",
    "a file cannot be hidden among others": "image photo audio video file background-audio",
    "what a device tells by itself says who answered, and when": "start end today deviceid phonenumber simserial subscriberid username "
    "email audit uri",
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


def kind_of(row: Row, choices: Sequence[Row], language: str) -> Kind | str:
    """What a row asks, or why it cannot be asked. language: that of the labels."""
    kind = type_of(row)
    one, many = _ONE.fullmatch(kind), _MANY.fullmatch(kind)
    if match := one or many:
        return _options(row, listed(row, choices), match[2], bool(many), language)
    if kind in ("integer", "int", "decimal"):
        ends = _ends(row.get(("constraint", ""), ""), kind != "decimal")
        return Kind({"type": "number", **ends}, {}, []) if ends else "a number needs two ends: a constraint such as . >= 0 and . <= 120"
    if kind == "range":
        ends = dict(re.findall(r"(start|end)\s*=\s*(-?[\d.]+)", row.get(("parameters", ""), "")))
        return Kind({"type": "number", "low": ends.get("start", "1"), "high": ends.get("end", "10")}, {}, [])
    return _REASONS.get(kind, f"{kind.split()[0]} is not among the kinds of answers")


def type_of(row: Row) -> str:
    """The type of a row, with one space between words."""
    return " ".join(row.get(("type", ""), "").split())


def may_be_several(row: Row) -> bool:
    """Whether several options may be chosen."""
    return bool(_MANY.fullmatch(type_of(row)))


def is_whole(row: Row) -> bool:
    """Whether a row asks for whole numbers."""
    return type_of(row) in ("integer", "int")


def listed(row: Row, choices: Sequence[Row]) -> list[Row]:
    """The options that a row offers, none where it offers none."""
    match = _ONE.fullmatch(type_of(row)) or _MANY.fullmatch(type_of(row))
    return [one for one in choices if match and match[1] in (one.get(("list_name", "")), one.get(("list name", "")))]


def _options(row: Row, rows: Sequence[Row], more: str, many: bool, language: str) -> Kind | str:
    if len(rows) < 2:
        return "its options are not in the form, or fewer than two"
    names = [one.get(("name", ""), one.get(("value", ""), "")) for one in rows]
    labels = unlike([short(label_of(one, language) or name, MAX_OPTION_LENGTH) for one, name in zip(rows, names, strict=True)], names)
    notes = ["everybody is offered all options"] if row.get(("choice_filter", "")) else []
    notes += ["there is no “other” with a text"] if "other" in more else []
    if not many and sorted(label.lower() for label in labels) == ["no", "yes"]:
        return Kind({"type": "yes_no"}, {name: label.lower() for name, label in zip(names, labels, strict=True)}, notes)
    return Kind({"type": "multi_choice" if many else "choice", "options": labels}, dict(zip(names, labels, strict=True)), notes)


def _ends(constraint: str, whole: bool) -> dict[str, str] | None:
    """The least and the greatest number that a constraint allows, where it says both and nothing else of them."""
    ends: dict[str, str] = {}
    for part in re.split(r"\s+and\s+", constraint.strip(), flags=re.IGNORECASE):
        match = _BOUND.fullmatch(part.strip().strip("()").strip())
        if not match or (not whole and match[1] in "<>"):
            continue
        step = {">": 1, "<": -1}.get(match[1], 0)
        ends["low" if ">" in match[1] else "high"] = str(int(match[2]) + step) if step and "." not in match[2] else match[2]
    low, high = number(ends.get("low")), number(ends.get("high"))
    return {"low": ends["low"], "high": ends["high"]} if low is not None and high is not None and low < high else None
