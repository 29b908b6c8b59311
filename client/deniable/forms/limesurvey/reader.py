"""Reader of LimeSurvey surveys: its question types, conditions and languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from deniable.forms.conditions import SKIPPED
from deniable.forms.expressions import (
    ALWAYS,
    AnswerComparison,
    CombinedConditions,
    Expression,
    ScoreComparison,
    combine,
    comparison,
)
from deniable.forms.foreign import ForeignForm, ForeignNote, ForeignOption, ForeignQuestion, GroupEnd, GroupStart, Item, Refusal, Texts
from deniable.forms.limesurvey.expressionscript import translate
from deniable.forms.limesurvey.tables import Record, Tables, tables_of
from deniable.forms.options import OTHER
from deniable.forms.texts import one_line
from deniable.forms.xlsform.rows import is_ordinal
from deniable.forms.xlsform.xpath import Expressions
from deniable.survey.types.base import number
from deniable.survey.validator import LENGTHS

_TEXT = "free text is not possible: a unique answer cannot be hidden"
_REASONS = {
    **dict.fromkeys("STUQ;", _TEXT),
    "D": "a date or a time can identify a person: ask for time spans as options",
    "R": "a ranking cannot be asked",
    "|": "a file cannot be hidden among others",
    "I": "it asks for the language of the page, which respondents choose anyway",
    ":": "a table of numbers cannot be asked: ask one question a row",
    "*": "it asks nothing",
}
_STEPS = {"5": 5, "A": 5, "B": 10}
_FIXED = {
    "Y": {"Y": "Yes", "N": "No"},
    "G": {"F": "Female", "M": "Male"},
    "C": {"Y": "Yes", "U": "Uncertain", "N": "No"},
    "E": {"I": "Increase", "S": "Same", "D": "Decrease"},
}
_FIXED_LABELS = {
    "Female": {"ar": "أنثى", "de": "Weiblich", "es": "Femenino", "fr": "Féminin"},
    "Male": {"ar": "ذكر", "de": "Männlich", "es": "Masculino", "fr": "Masculin"},
    "Yes": {"ar": "نعم", "de": "Ja", "es": "Sí", "fr": "Oui"},
    "No": {"ar": "لا", "de": "Nein", "es": "No", "fr": "Non"},
    "Uncertain": {"ar": "غير متأكد", "de": "Unsicher", "es": "Inseguro", "fr": "Incertain"},
    "Increase": {"ar": "زيادة", "de": "Zunahme", "es": "Aumento", "fr": "Augmentation"},
    "Same": {"ar": "دون تغيير", "de": "Gleich", "es": "Igual", "fr": "Inchangé"},
    "Decrease": {"ar": "نقصان", "de": "Abnahme", "es": "Disminución", "fr": "Diminution"},
}
_ARRAYS = "FHABCE1"
_CHOICES = "L!OYG5"
_LOSSES = {
    "array_filter": "all respondents are offered all options",
    "array_filter_exclude": "all respondents are offered all options",
    "em_validation_q": "its validation is left out",
}


def read(raw: bytes, name: str) -> ForeignForm:
    """Reads a survey, a group or a question.

    Args:
        raw: The bytes of the file.
        name: The title of a form without one.

    Raises:
        SurveyError: It is no file of LimeSurvey.
    """
    return _Reader(tables_of(raw)).form(name)


class _Reader:
    """Reader of one file."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        survey = next(iter(tables.table("surveys")), {})
        self.language = _language(survey.get("language") or next(iter(tables.languages), ""))
        self.expressions = Expressions()

    def form(self, name: str) -> ForeignForm:
        titles = {_language(row.get("surveyls_language", "")): row for row in self.tables.table("surveys_languagesettings")}
        title = one_line(titles.get(self.language, {}).get("surveyls_title", "")) or name
        return ForeignForm(title, title, self.language, "", list(self.items()), list(self.remarks()))

    def remarks(self) -> Iterator[Refusal]:
        if self.tables.table("quota"):
            yield Refusal("quota", "quotas are left out: after publishing, set them for each group on the page Settings")

    # --- tables ------------------------------------------------------------------------------------------------------

    @cached_property
    def groups(self) -> list[Record]:
        groups = self.distinct(self.tables.table("groups"), "gid")
        return sorted(groups, key=lambda row: _order(row, "group_order"))

    @cached_property
    def questions(self) -> list[Record]:
        rows = [row for row in self.distinct(self.tables.table("questions"), "qid") if row.get("parent_qid", "0") in ("0", "")]
        return sorted(rows, key=lambda row: _order(row, "question_order"))

    @cached_property
    def subquestions(self) -> dict[str, list[Record]]:
        rows = [*self.tables.table("subquestions"), *self.tables.table("questions")]
        children: dict[str, list[Record]] = {}
        for row in self.distinct([row for row in rows if row.get("parent_qid", "0") not in ("0", "")], "qid"):
            children.setdefault(row["parent_qid"], []).append(row)
        return {parent: sorted(rows, key=lambda row: _order(row, "question_order")) for parent, rows in children.items()}

    @cached_property
    def attributes(self) -> dict[str, dict[str, str]]:
        attributes: dict[str, dict[str, str]] = {}
        for row in self.tables.table("question_attributes"):
            attributes.setdefault(row.get("qid", ""), {})[row.get("attribute", "")] = row.get("value", "")
        return attributes

    @cached_property
    def texts(self) -> dict[tuple[str, str, str], dict[str, str]]:
        """The texts by table, id and column: of newer files in tables of their own, of older ones in a row for each language."""
        texts: dict[tuple[str, str, str], dict[str, str]] = {}
        tables = (("questions", "qid"), ("subquestions", "qid"), ("groups", "gid"), ("question_l10ns", "qid"), ("group_l10ns", "gid"))
        for table, key in (*tables, ("answer_l10ns", "aid")):
            for row in self.tables.table(table):
                for column in ("question", "help", "group_name", "description", "answer"):
                    if row.get(column):
                        texts.setdefault((key, row.get(key, ""), column), {})[_language(row.get("language", ""))] = _piped(row[column])
        return texts

    @cached_property
    def languages(self) -> set[str]:
        """The languages of the survey; where the file names none, those that its texts are in."""
        named = {_language(name) for name in self.tables.languages}
        return {self.language, *(named or {language for texts in self.texts.values() for language in texts})} - {""}

    def text(self, key: str, row: Record, column: str) -> Texts:
        return self.texts.get((key, row.get(key, ""), column), {})

    @cached_property
    def answers(self) -> dict[tuple[str, str], list[ForeignOption]]:
        """The options of each question and scale."""
        rows = sorted(self.tables.table("answers"), key=lambda row: _order(row, "sortorder"))
        labels: dict[tuple[str, str, str], dict[str, str]] = {}
        for row in rows:
            own = labels.setdefault((row.get("qid", ""), row.get("scale_id", "0"), row.get("code", "")), {})
            if row.get("answer"):
                own[_language(row.get("language", ""))] = _piped(row["answer"])
            own.update(self.text("aid", row, "answer"))
        answers: dict[tuple[str, str], list[ForeignOption]] = {}
        for (qid, scale, code), texts in labels.items():
            answers.setdefault((qid, scale), []).append(ForeignOption(code, texts))
        return answers

    def distinct(self, rows: Sequence[Record], key: str) -> list[Record]:
        """Returns the first row of each id, in the survey's own language if there is one."""
        rows_by_id: dict[str, Record] = {}
        for row in rows:
            if row.get(key, "") not in rows_by_id or _language(row.get("language", "")) == self.language:
                rows_by_id[row.get(key, "")] = row
        return list(rows_by_id.values())

    # --- items -------------------------------------------------------------------------------------------------------

    def items(self) -> Iterator[Item]:
        self.variables = dict(self.named())
        group_ids = {row.get("gid", "") for row in self.groups}
        for group in self.groups:
            name = f"group {group.get('gid', '')}"
            title, condition = self.text("gid", group, "group_name"), self.condition(group.get("grelevance", ""))[0]
            mixed_with = group.get("randomization_group", "")
            yield GroupStart(name, title, condition, mixed_with=f"randomization_group {mixed_with}" if mixed_with else "")
            if description := self.text("gid", group, "description"):
                yield ForeignNote(f"{name}: description", description)
            for row in self.questions:
                if row.get("gid", "") == group.get("gid", ""):
                    yield from self.question(row)
            yield GroupEnd()
        for row in self.questions:
            if row.get("gid", "") not in group_ids:
                yield from self.question(row)

    def named(self) -> Iterator[tuple[str, tuple[str, str]]]:
        """Yields each variable of expressions with the name of its question, and with the option for one of several options."""
        sid = next((row.get("sid", "") for row in self.questions), "")
        for row in self.questions:
            title, kind = row.get("title", ""), row.get("type", "")
            code = f"{sid}X{row.get('gid', '')}X{row.get('qid', '')}"
            yield from ((title, (title, "")), (code, (title, "")))
            several = kind in "MP"
            for child in self.subquestions.get(row.get("qid", ""), ()):
                own = child.get("title", "")
                target = (title, own) if several else (f"{title}_{own}", "")
                yield from ((f"{title}_{own}", target), (f"{code}{own}", target))
            if several:
                yield from ((f"{title}_other", (title, OTHER)), (f"{code}other", (title, OTHER)))

    def question(self, row: Record) -> Iterator[Item]:
        """Yields what a question becomes: one question, a table of them, a note, or a refusal."""
        kind, title, own = row.get("type", ""), row.get("title", ""), self.attributes.get(row.get("qid", ""), {})
        if own.get("hidden") == "1":
            yield Refusal(title, "the form hides it: it asks nothing")
        elif kind == "X":
            yield ForeignNote(title, self.text("qid", row, "question"), self.condition_of(row)[0])
        elif kind in _ARRAYS and kind:
            yield from self.array(row)
        elif kind == "K":
            yield from self.numbers(row)
        elif kind in (*_CHOICES, "M", "P", "N"):
            yield self.finished(self.number(row, row, title) if kind == "N" else self.choice(row), row)
        else:
            yield Refusal(title, _REASONS.get(kind, f"{kind} is not a type that can be asked"))

    def choice(self, row: Record) -> ForeignQuestion:
        """Returns a question with one or several options."""
        kind, qid = row.get("type", ""), row.get("qid", "")
        several = kind in "MP"
        foreign = ForeignQuestion(row.get("title", ""), "multi_choice" if several else "scale" if kind in _STEPS else "choice", {})
        own = self.attributes.get(qid, {})
        exclusive = re.split(r"[;,]", own.get("exclude_all_others", ""))
        if several:
            children = self.subquestions.get(qid, ())
            foreign.options = [
                ForeignOption(child.get("title", ""), self.text("qid", child, "question"), child.get("title") in exclusive)
                for child in children
            ]
        else:
            foreign.options = self.options(row, "0")
        foreign.set_limits(own.get("min_answers", ""), own.get("max_answers", ""))
        foreign.has_other = row.get("other") == "Y"
        if kind in "OP":
            foreign.losses.append("its comment is left out")
        return foreign

    def options(self, row: Record, scale: str) -> list[ForeignOption]:
        """Returns the options of a question or of the rows of a table."""
        kind = row.get("type", "")
        if kind in _STEPS:
            return [ForeignOption(str(step), {"": str(step)}) for step in range(1, _STEPS[kind] + 1)]
        if kind == "Y":
            return [ForeignOption(code, {"": label}) for code, label in _FIXED[kind].items()]
        if kind in _FIXED:
            return [ForeignOption(code, self.fixed_label(label)) for code, label in _FIXED[kind].items()]
        return self.answers.get((row.get("qid", ""), scale), [])

    def fixed_label(self, label: str) -> Texts:
        """Returns a label of LimeSurvey's own in the languages of the survey: any other language would lack all other texts."""
        labels = {"en": label, **_FIXED_LABELS[label]}
        own = {language: labels.get(language.partition("-")[0], "") for language in self.languages}
        return {"": label} | {language: text for language, text in own.items() if text}

    def array(self, row: Record) -> Iterator[Item]:
        """Yields the rows of a table, each as a question."""
        title, text = row.get("title", ""), self.text("qid", row, "question")
        is_short = all(len(one_line(label)) <= LENGTHS["title"] for label in text.values())
        yield GroupStart(title, text if is_short else {})
        if not is_short:
            yield ForeignNote(f"{title}: text", text)
        scales = ("0", "1") if row.get("type") == "1" else ("0",)
        for child in self.subquestions.get(row.get("qid", ""), ()):
            for scale in scales:
                options = self.options(row, scale)
                name = f"{title}_{child.get('title', '')}" + (f"_{scale}" if len(scales) > 1 else "")
                is_scale = row.get("type") in _STEPS or is_ordinal(options)
                foreign = ForeignQuestion(name, "scale" if is_scale else "choice", self.text("qid", child, "question"), options=options)
                foreign.grid = title if is_scale else ""
                yield self.finished(foreign, row)
        yield GroupEnd()

    def numbers(self, row: Record) -> Iterator[Item]:
        """Yields the rows of a list of numbers, each as a question."""
        title = row.get("title", "")
        yield GroupStart(title, self.text("qid", row, "question"))
        for child in self.subquestions.get(row.get("qid", ""), ()):
            yield self.finished(self.number(row, child, f"{title}_{child.get('title', '')}"), row)
        yield GroupEnd()

    def number(self, row: Record, labelled: Record, name: str) -> ForeignQuestion:
        """Returns a number with the ends of its attributes."""
        own = self.attributes.get(row.get("qid", ""), {})
        foreign = ForeignQuestion(name, "number", self.text("qid", labelled, "question"))
        low, high = (next((own[key] for key in keys if number(own.get(key)) is not None), "") for keys in (_LEAST, _GREATEST))
        foreign.low, foreign.high, foreign.is_whole = low, high, own.get("num_value_int_only") == "1"
        if not low or not high or float(low) >= float(high):
            lacks = " and ".join(word for word, end in (("least", low), ("greatest", high)) if not end) or "suitable"
            foreign.missing_ends = f"it has no {lacks} value"
        return foreign

    def finished(self, foreign: ForeignQuestion, row: Record) -> Item:
        """Returns a question with its text, its condition and what is left out; or why it cannot be asked."""
        own = self.attributes.get(row.get("qid", ""), {})
        foreign.label = foreign.label or self.text("qid", row, "question")
        foreign.hint = foreign.hint or (self.text("qid", row, "help") if not foreign.grid else {})
        foreign.is_required = row.get("mandatory") == "Y"
        is_random = own.get("random_order") == "1"
        foreign.has_random_place = is_random and row.get("type", "") in (*_ARRAYS, "K")  # there it is about the rows
        foreign.is_random = (is_random and not foreign.has_random_place) or own.get("answer_order") == "random"
        foreign.condition, losses = self.condition_of(row)
        foreign.losses += losses
        foreign.losses += dict.fromkeys(loss for key, loss in _LOSSES.items() if own.get(key))
        if not foreign.is_number and len(foreign.options) + foreign.has_other < 2:
            return Refusal(foreign.name, "it has fewer than two options")
        return foreign

    # --- conditions --------------------------------------------------------------------------------------------------

    def condition_of(self, row: Record) -> tuple[Expression, list[str]]:
        """Returns the condition of a question; older files have a table of conditions."""
        if "relevance" in row or not self.tables.table("conditions"):
            return self.condition(row.get("relevance", ""))
        scenarios: dict[str, dict[str, list[Expression]]] = {}
        for one in self.tables.table("conditions"):
            if one.get("qid") == row.get("qid"):
                parts = scenarios.setdefault(one.get("scenario", "1"), {}).setdefault(one.get("cqid", ""), [])
                field, sign = one.get("cfieldname", "").lstrip("+"), one.get("method", "==").strip()
                parts.append(self.condition(f"{field}.NAOK {sign} '{one.get('value', '')}'")[0])
        alternatives = [combine("all", [combine("any", parts) for parts in by_question.values()]) for by_question in scenarios.values()]
        return (combine("any", alternatives) if alternatives else ALWAYS), []

    def condition(self, script: str) -> tuple[Expression, list[str]]:
        """Returns a condition, and a note if people who skip an earlier question are asked by the form alone."""
        names = {variable: variable for variable in self.variables}
        expression = self.resolved(self.expressions.parse(translate(script, names.get)))
        bare = {variable for variable in re.findall(r"(?<![\w'\"])(\w+)(?![\w.'\"])", script) if variable in names}
        expression, has_changed = _without_missing(expression, {self.variables[variable][0] for variable in bare})
        return expression, [SKIPPED] if has_changed else []

    def resolved(self, expression: Expression) -> Expression:
        """Returns a condition with the names of questions in place of variables."""
        if isinstance(expression, CombinedConditions):
            return combine(expression.word, [self.resolved(part) for part in expression.parts])
        if isinstance(expression, ScoreComparison):
            return replace(expression, names=tuple(self.variables[name][0] for name in expression.names))
        if not isinstance(expression, AnswerComparison):
            return expression
        name, option = self.variables[expression.name]
        if not option:
            value = OTHER if expression.value == "-oth-" else expression.value
            return replace(expression, name=name, value=value)
        is_chosen = (expression.sign == "=" and expression.value == "Y") or (expression.sign == "!=" and not expression.value)
        return comparison(name, "has" if is_chosen else "lacks", option, expression.text)


_LEAST = ("min_num_value_n", "min_num_value", "slider_min")
_GREATEST = ("max_num_value_n", "max_num_value", "slider_max")


def _without_missing(expression: Expression, names: set[str]) -> tuple[Expression, bool]:
    """Returns a condition that is false for hidden questions among names, as variables without NAOK are, and whether it changed."""
    if isinstance(expression, CombinedConditions):
        parts = [_without_missing(part, names) for part in expression.parts]
        return combine(expression.word, [part for part, _ in parts]), any(changed for _, changed in parts)
    if isinstance(expression, AnswerComparison) and expression.or_missing and expression.name in names and expression.value:
        if expression.sign == "lacks":
            return expression, False
        return replace(expression, or_missing=False), True
    return expression, False


def _order(row: Record, column: str) -> int:
    return int(row[column]) if row.get(column, "").lstrip("-").isdigit() else 0


def _language(name: str) -> str:
    return re.sub(r"-(informal|easy)$", "", name.strip())


def _piped(text: str) -> str:
    """Returns a text whose answers, {Q1.shown} or {INSERTANS:…}, are written as in other forms."""
    return re.sub(r"(?<!\$)\{\s*(?:INSERTANS:)?([A-Za-z0-9_]+)(?:\.\w+)?\s*\}", r"${\1}", text)
