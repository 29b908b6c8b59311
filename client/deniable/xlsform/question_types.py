"""Question types of a form: which of them can be randomized, and why others cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from deniable.survey.types.base import MAX_OPTION_LENGTH, MAX_OPTIONS, number
from deniable.survey.undeclared import means_none
from deniable.xlsform.exclusive import excluding
from deniable.xlsform.texts import distinct_labels, one_line
from deniable.xlsform.workbook import Row, is_yes, label_of

_ONE = re.compile(r"(?:select_one|select1|(?:add )?select one(?: prompt using)?)(?: from)? (\S+)(.*)", re.IGNORECASE)
_MANY = re.compile(
    r"(?:select_multiple|(?:add )?select multiple(?: prompt using)?|select all "
    r"that apply)(?: from)? (\S+)(.*)",
    re.IGNORECASE,
)
_OPTIONS_ELSEWHERE = re.compile(r"select.(one|multiple).(external|from.file)\b.*", re.IGNORECASE)
_BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*\(?(-?\d+(?:\.\d+)?)\)?")
_REASONS = {
    "free text is not possible: a unique answer cannot be hidden": "text string barcode tel phone",
    "a date or a time can identify a person: ask for time spans as options": "date time datetime",
    "a location can identify a person: ask for regions as options": "geopoint geotrace geoshape location gps start-geopoint osm",
    "a file cannot be hidden among others": "image photo audio video file background-audio",
    "data from the device reveal who answered, and when": "start end today deviceid phonenumber simserial subscriberid username "
    "email imei audit uri",
    "it asks nothing: put what respondents should read into the survey's text": "note acknowledge trigger",
    "it asks nothing": "calculate hidden xml-external csv-external entity",
    "a ranking cannot be asked": "rank",
}
_REASON_OF = {kind: reason for reason, kinds in _REASONS.items() for kind in kinds.split()}


class MappedType(NamedTuple):
    """The type of a question in a survey file.

    Attributes:
        keys: The keys of the question's type.
        options: Its options by their names in the form.
        notes: A note for each change.
    """

    keys: dict[str, Any]
    options: dict[str, str]
    notes: list[str]


def map_type(row: Row, lists: Mapping[str, Sequence[Row]], language: str) -> MappedType | str:
    """Returns the type of a row's question, or the reason why it cannot be asked.

    Args:
        row: The row.
        lists: The options of the form by the names of their lists.
        language: The language of the labels.
    """
    kind = type_of(row)
    one, many = _ONE.fullmatch(kind), _MANY.fullmatch(kind)
    is_number = kind in ("integer", "int", "decimal", "range")
    if (one or many or is_number) and (reason := _reason_for_nothing(row)):
        return reason
    if match := one or many:
        return _options(row, options_of(row, lists), match[2], bool(many), language)
    if is_number and kind != "range":
        return _number(row.get(("constraint", ""), ""), kind != "decimal")
    if is_number:
        ends = dict(re.findall(r"(start|end)\s*=\s*(-?[\d.]+)", row.get(("parameters", ""), "")))
        return MappedType({"type": "number", "low": ends.get("start", "1"), "high": ends.get("end", "10")}, {}, [])
    if _OPTIONS_ELSEWHERE.fullmatch(kind):
        return "its options are in another sheet or file: put them into the sheet `choices`"
    first = re.split("[ :]", kind.lower())[0]
    return _REASON_OF.get(first, f"{first} is not a type that can be asked")


def _reason_for_nothing(row: Row) -> str:
    """Returns why a row with a question's type asks nothing, or an empty text if it asks."""
    if is_yes(row, "disabled"):
        return "the form has disabled it"
    if is_yes(row, "read_only"):
        return "it is read-only: it asks nothing"
    if "label" in row.get(("appearance", ""), "").split():
        return "it is the header of a table: it asks nothing"
    if not row.get(("name", "")):
        return "it has no name"
    return ""


def type_of(row: Row) -> str:
    """Returns the type of a row, with one space between words."""
    return " ".join(row.get(("type", ""), "").split())


def may_be_several(row: Row) -> bool:
    """Returns whether a respondent may choose several options."""
    return bool(_MANY.fullmatch(type_of(row)))


def is_whole(row: Row) -> bool:
    """Returns whether a row asks for whole numbers."""
    return type_of(row) in ("integer", "int")


def lists_of(choices: Sequence[Row]) -> dict[str, list[Row]]:
    """Returns the options of a form by the names of their lists. Rows without a name and a label are ignored."""
    lists: dict[str, list[Row]] = {}
    for row in choices:
        if ("name", "") in row or any(column == "label" for column, _ in row):
            lists.setdefault(row.get(("list_name", ""), ""), []).append(row)
    return lists


def options_of(row: Row, lists: Mapping[str, Sequence[Row]]) -> Sequence[Row]:
    """Returns the options that a row offers, if any."""
    match = _ONE.fullmatch(type_of(row)) or _MANY.fullmatch(type_of(row))
    return lists.get(match[1], ()) if match else ()


def _options(row: Row, rows: Sequence[Row], suffix: str, many: bool, language: str) -> MappedType | str:
    if len(rows) < 2:
        return "its options are not in the form, or fewer than two"
    if len(rows) > MAX_OPTIONS:
        return f"it must have at most {MAX_OPTIONS:,} options, got {len(rows):,}"
    names = [option.get(("name", ""), "") for option in rows]
    own_labels = [one_line(label_of(option, language)) for option in rows]
    full_labels = [label or one_line(name) for label, name in zip(own_labels, names, strict=True)]
    labels = distinct_labels(full_labels, names)
    by_name = dict(zip(names, labels, strict=True))
    exclusive = (excluding(row.get(("constraint", ""), "")) if many else None) or []
    if not len(exclusive) < len(by_name) or not set(exclusive) <= set(by_name):
        exclusive = []
    losses = {
        "all respondents are offered all options": ("choice_filter", "") in row,
        "its options have a fixed order": bool(re.search(r"randomize\s*=\s*true", row.get(("parameters", ""), ""), re.IGNORECASE)),
        "there is no “other” with a text": "other" in suffix,
        "its constraint is left out": ("constraint", "") in row and not exclusive,
        "options without a label show their names": not all(own_labels),
        "options with the same label end with their names": len(set(full_labels)) < len(full_labels),
        f"options are cut to {MAX_OPTION_LENGTH} characters": any(len(label) > MAX_OPTION_LENGTH for label in full_labels),
    }
    notes = [note for note, applies in losses.items() if applies]
    if not many and sorted(label.lower() for label in labels) == ["no", "yes"]:
        return MappedType({"type": "yes_no"}, {name: label.lower() for name, label in zip(names, labels, strict=True)}, notes)
    keys = _exclusive_keys([by_name[name] for name in exclusive])
    return MappedType({"type": "multi_choice" if many else "choice", "options": labels, **keys}, by_name, notes)


def _exclusive_keys(labels: Sequence[str]) -> dict[str, Any]:
    """Returns the keys of exclusive options. The first that means "none" replaces the page's own option for it."""
    none = next((label for label in labels if means_none(label)), None)
    others = [label for label in labels if label != none]
    return {**({"exclusive": others} if others else {}), **({"none": none} if none else {})}


def _number(constraint: str, is_whole_number: bool) -> MappedType | str:
    """Returns a number between the two ends that a constraint allows, or the reason why there are no two."""
    ends: dict[str, str] = {}
    parts = re.split(" and ", " ".join(constraint.split()), flags=re.IGNORECASE)
    for part in parts:
        match = _BOUND.fullmatch(part.strip().strip("()").strip())
        if not match or (not is_whole_number and match[1] in "<>"):
            continue
        step = {">": 1, "<": -1}.get(match[1], 0)
        ends["low" if ">" in match[1] else "high"] = str(int(match[2]) + step) if step and "." not in match[2] else match[2]
    low, high = number(ends.get("low")), number(ends.get("high"))
    if low is None or high is None or not low < high:
        return "a number needs two ends: a constraint such as . >= 0 and . <= 120"
    notes = ["only the two ends of its constraint are kept"] if len(parts) > 2 else []
    return MappedType({"type": "number", "low": ends["low"], "high": ends["high"]}, {}, notes)
