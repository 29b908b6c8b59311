"""Rows of an XLSForm as questions: which of them can be randomized, and why others cannot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from deniable.forms.conditions import digits
from deniable.forms.expressions import Constant
from deniable.forms.foreign import ForeignOption, ForeignQuestion, Kind, Texts
from deniable.forms.texts import one_line
from deniable.forms.xlsform.constraints import ends_of, proposed_ends
from deniable.forms.xlsform.exclusive import NO_RULES, selection_rules
from deniable.forms.xlsform.workbook import Row, is_yes
from deniable.forms.xlsform.xpath import Expressions
from deniable.survey.types.base import MAX_OPTIONS, number
from deniable.survey.undeclared import advice_for

_ONE = re.compile(r"(?:select_one|select1|(?:add )?select one(?: prompt using)?)(?: from)? (\S+)(.*)", re.IGNORECASE)
_MANY = re.compile(
    r"(?:select_multiple|(?:add )?select multiple(?: prompt using)?|select all "
    r"that apply)(?: from)? (\S+)(.*)",
    re.IGNORECASE,
)
_OPTIONS_ELSEWHERE = re.compile(r"select.(one|multiple).(external|from.file)\b.*", re.IGNORECASE)
_REASONS = {
    "free text is not possible: a unique answer cannot be hidden": "text string barcode tel phone",
    "a date or a time can identify a person: ask for time spans as options": "date time datetime",
    "a location can identify a person: ask for regions as options": "geopoint geotrace geoshape location gps start-geopoint osm",
    "a file cannot be hidden among others": "image photo audio video file background-audio",
    "data from the device reveal who answered, and when": "start end today deviceid phonenumber simserial subscriberid username "
    "email imei audit uri",
    "it asks nothing: put what respondents should read into the survey's text": "note acknowledge trigger",
    "it asks nothing": "calculate hidden xml-external csv-external entity",
    "a ranking cannot be asked": "rank rank__level",
    "a table of several questions a row cannot be asked: ask one question a row": "kobomatrix",
}
_REASON_OF = {kind: reason for reason, kinds in _REASONS.items() for kind in kinds.split()}
_NO = ("", "no", "false", "false()", "0")


def type_of(row: Row) -> str:
    """Returns the type of a row, with one space between words."""
    return " ".join(row.get(("type", ""), "").split())


def texts_of(row: Row, column: str = "label") -> Texts:
    """Returns a column's texts by their languages."""
    return {language: text for (name, language), text in row.items() if name == column}


def lists_of(choices: Sequence[Row]) -> dict[str, list[Row]]:
    """Returns the options of a form by the names of their lists. Rows without a name and a label are ignored."""
    lists: dict[str, list[Row]] = {}
    for row in choices:
        if ("name", "") in row or any(column == "label" for column, _ in row):
            lists.setdefault(row.get(("list_name", ""), ""), []).append(row)
    return lists


def list_name(row: Row, matrix: str = "") -> str:
    """Returns the name of the list that a row offers; `matrix` is the list of a rating matrix around it."""
    if type_of(row).lower() == "score__row":
        return matrix
    match = _ONE.fullmatch(type_of(row)) or _MANY.fullmatch(type_of(row))
    return match[1] if match else ""


def question_of(row: Row, lists: Mapping[str, Sequence[Row]], matrix: str = "") -> ForeignQuestion | str:
    """Returns the question of a row without its condition, or the reason why it cannot be asked.

    Args:
        row: The row.
        lists: The options of the form by the names of their lists.
        matrix: The list of the rating matrix around the row.
    """
    kind = type_of(row)
    one, many, is_score = _ONE.fullmatch(kind), _MANY.fullmatch(kind), kind.lower() == "score__row"
    is_number = kind in ("integer", "int", "decimal", "range")
    if not (one or many or is_number or is_score):
        if _OPTIONS_ELSEWHERE.fullmatch(kind):
            return "its options are in another sheet or file: put them into the sheet `choices`"
        first = re.split("[ :]", kind.lower())[0]
        return _REASON_OF.get(first, f"{first} is not a type that can be asked")
    if reason := _reason_for_nothing(row):
        return reason
    question = (
        _range(row) if kind == "range" else _number(row) if is_number else _options(row, lists.get(list_name(row, matrix), ()), bool(many))
    )
    if isinstance(question, ForeignQuestion):
        if is_score:
            question.kind = "scale"
        _require(question, row)
    return question


def _reason_for_nothing(row: Row) -> str:
    """Returns why a row with a question's type asks nothing, or an empty text if it asks."""
    if is_yes(row, "disabled"):
        return "the form has disabled it"
    if is_yes(row, "read_only"):
        return "it is read-only: it asks nothing"
    if is_table_header(row):
        return "it is the header of a table: it asks nothing"
    if Expressions().parse(row.get(("relevant", ""), "")) == Constant(False):
        return "its condition is false(): the form asks no one"
    return "" if row.get(("name", "")) else "it has no name"


def is_table_header(row: Row) -> bool:
    """Returns whether a row shows the options above a table, and asks nothing."""
    return "label" in row.get(("appearance", ""), "").split()


def is_ordinal(options: Sequence[ForeignOption]) -> bool:
    """Returns whether the options of a table are the steps of a scale: three or more, none of them "do not know" or the like."""
    labels = [text for option in options for text in option.labels.values()]
    scores = [number(option.name) for option in options]
    is_rising = None in scores or all(low < high for low, high in pairwise(scores))  # type: ignore[operator]
    return len(options) > 2 and is_rising and not any(advice_for(one_line(label)) for label in labels)


def _require(question: ForeignQuestion, row: Row) -> None:
    """Sets whether a question must be answered. A condition for it is left out."""
    required = row.get(("required", ""), "")
    constant = Expressions().parse(required)
    if is_yes(row, "required") or (required and constant == Constant(True)):
        question.is_required = not question.has_codes
    elif required.lower() not in _NO and constant != Constant(False):
        question.losses.append(f"people may always skip it: the form requires an answer only if {required}")


def _options(row: Row, rows: Sequence[Row], many: bool) -> ForeignQuestion | str:
    if len(rows) < 2:
        return "its options are not in the form, or fewer than two"
    if len(rows) > MAX_OPTIONS:
        return f"it must have at most {MAX_OPTIONS:,} options, got {len(rows):,}"
    names = [option.get(("name", ""), "") for option in rows]
    constraint = row.get(("constraint", ""), "")
    rules = selection_rules(constraint) if many and constraint else None
    if rules and not set(rules.exclusive) < set(names):
        rules = None
    losses = {
        "all respondents are offered all options": ("choice_filter", "") in row,
        "its constraint is left out": bool(constraint) and not rules,
    }
    kind: Kind = "multi_choice" if many else "choice"
    question = ForeignQuestion(row.get(("name", ""), ""), kind, texts_of(row), texts_of(row, "hint"))
    rules = rules or NO_RULES
    question.at_least, question.at_most = rules.at_least, rules.at_most
    question.options = [ForeignOption(name, texts_of(option), name in rules.exclusive) for name, option in zip(names, rows, strict=True)]
    question.losses = [note for note, applies in losses.items() if applies]
    question.is_random = bool(re.search(r"randomize\s*=\s*true", row.get(("parameters", ""), ""), re.IGNORECASE))
    match = _ONE.fullmatch(type_of(row)) or _MANY.fullmatch(type_of(row))
    question.has_other = bool(match and "other" in match[2]) and "other" not in names
    return question


def _number(row: Row) -> ForeignQuestion:
    """Returns a number between the two ends that its constraint allows, or with those that it has and why there are not two."""
    constraint, is_whole = row.get(("constraint", ""), ""), type_of(row) != "decimal"
    question = ForeignQuestion(row.get(("name", ""), ""), "number", texts_of(row), texts_of(row, "hint"), is_whole=is_whole)
    ends = ends_of(constraint, is_whole)
    question.low, question.high, question.missing_ends = ends.low, ends.high, ends.missing
    question.losses = list(ends.notes)
    if ends.missing:
        proposal = proposed_ends(constraint, [*question.hint.values(), *question.label.values()])
        question.low, question.high = (own or proposed for own, proposed in zip((ends.low, ends.high), proposal, strict=True))
    elif ends.codes:
        question.losses.append(f"{' and '.join(ends.codes)} cannot be answered: people may skip it instead")
    question.has_codes = bool(ends.codes)
    return question


def _range(row: Row) -> ForeignQuestion:
    """Returns a number from the parameters of a range; by default from 1 to 10."""
    parameters = dict(re.findall(r"(start|end|step)\s*=\s*(-?[\d.]+)", row.get(("parameters", ""), "")))
    start, end, step = (number(parameters.get(key, default)) for key, default in (("start", "1"), ("end", "10"), ("step", "1")))
    question = ForeignQuestion(row.get(("name", ""), ""), "number", texts_of(row), texts_of(row, "hint"))
    if start is None or end is None or step is None or start == end:
        question.missing_ends = f"its parameters are not two ends: {row.get(('parameters', ''), '')}"
        return question
    question.low, question.high = digits(min(start, end)), digits(max(start, end))
    question.is_whole = start.is_integer() and step.is_integer()
    if ("constraint", "") in row:
        question.losses.append("its constraint is left out")
    return question
