"""Display and branch logic of Qualtrics as conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from deniable.forms.expressions import ALWAYS, CountComparison, Expression, Sign, Unreadable, combine, comparison
from deniable.forms.texts import one_line

_CHOICE = re.compile(r"q://(QID\w+)/(?:SelectableChoice|SelectableAnswer|SelectedChoices|ChoiceGroup)/(\d+)(?:/(\d+))?")
_NUMBER = re.compile(r"q://(QID\w+)/(?:ChoiceNumericEntryValue|ChoiceTextEntryValue|SliderValue|ChoiceValue)(?:/(\d+))?")
_COUNT = re.compile(r"q://(QID\w+)/SelectedChoicesCount")
_SIGNS: dict[str, Sign] = {
    "EqualTo": "=",
    "NotEqualTo": "!=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
}
NameOf = Callable[[str, str], str | None]
"""Returns the name of a question, or of a row of it, by their ids; None if it is not asked."""


def condition_of(logic: Any, name_of: NameOf) -> Expression:
    """Returns the condition of a display or branch logic: sets of expressions, where "and" binds more tightly than "or"."""
    if not isinstance(logic, Mapping):
        return ALWAYS
    sets: list[list[Expression]] = []
    for part in _numbered(logic):
        condition = _set(part, name_of)
        if sets and "or" not in str(part.get("Type", "")).lower():
            sets[-1].append(condition)
        else:
            sets.append([condition])
    return combine("any", [combine("all", parts) for parts in sets]) if sets else ALWAYS


def skip_condition(rule: Mapping[str, Any], name_of: NameOf) -> Expression:
    """Returns when a rule of a skip logic holds."""
    one = {"LogicType": "Question", "LeftOperand": rule.get("Locator") or rule.get("ChoiceLocator"), "Operator": rule.get("Condition")}
    return _expression({**one, "RightOperand": rule.get("Value", ""), "Description": rule.get("SkipToDescription", "")}, name_of)


def _set(part: Mapping[str, Any], name_of: NameOf) -> Expression:
    alternatives: list[list[Expression]] = []
    for one in _numbered(part):
        conjunction = str(one.get("Conjuction", one.get("Conjunction", "And"))).lower()
        if alternatives and conjunction != "or":
            alternatives[-1].append(_expression(one, name_of))
        else:
            alternatives.append([_expression(one, name_of)])
    return combine("any", [combine("all", parts) for parts in alternatives]) if alternatives else ALWAYS


def _numbered(mapping: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns the parts under the keys 0, 1, 2 …, in order."""
    keys = sorted((key for key in mapping if str(key).isdigit()), key=int)
    return [mapping[key] for key in keys if isinstance(mapping[key], Mapping)]


def _expression(one: Mapping[str, Any], name_of: NameOf) -> Expression:
    """Returns one comparison; any other logic is unreadable."""
    operand, operator = str(one.get("LeftOperand", "")), str(one.get("Operator", ""))
    text = one_line(str(one.get("Description", ""))) or f"{operand} {operator} {one.get('RightOperand', '')}".strip()
    unreadable = Unreadable(text)
    if one.get("LogicType") != "Question":
        return unreadable
    if operator in ("Selected", "NotSelected") and (match := _CHOICE.fullmatch(operand)):
        row, option = (match[2], match[3]) if match[3] else ("", match[2])
        name = name_of(match[1], row)
        return comparison(name, "has" if operator == "Selected" else "lacks", option, text) if name else unreadable
    sign, value = _SIGNS.get(operator), str(one.get("RightOperand", "")).strip()
    if sign and (match := _COUNT.fullmatch(operand)) and (name := name_of(match[1], "")):
        return CountComparison(name, sign, value, text)
    if sign and (match := _NUMBER.fullmatch(operand)) and (name := name_of(match[1], match[2] or "")):
        return comparison(name, sign, value, text)
    return unreadable
