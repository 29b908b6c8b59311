"""Random respondents of a LimeSurvey survey and of its import: who is asked what. It shares no code with the importer."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.kit.form_comparison.compare import MORE, RESPONDENTS, SKIP, holds, plain, unfolded
from tests.kit.form_comparison.expressionscript import Script
from tests.kit.form_comparison.xpath import Chance

from deniable.forms import ImportedForm

_HIDDEN = re.compile(r"people who are not asked \S+ are not asked this one")
_FIXED = {"Y": "YN", "G": "FM", "C": "YUN", "E": "ISD", "5": "12345", "A": "12345", "B": [str(step) for step in range(1, 11)]}
_ARRAYS = "FHABCE1"
Record = dict[str, str]


@dataclass
class FormField:
    """One answer of the form: its name in the report, the variables that have it, and the codes of its options."""

    name: str
    variables: list[str]
    codes: list[str] = field(default_factory=list)
    children: dict[str, list[str]] = field(default_factory=dict)
    """The variables of each option of a question with several."""


@dataclass
class FormEntry:
    """A question of the form, with the conditions of its group and its own."""

    row: Record
    conditions: list[str]
    fields: list[FormField]


class LimeSurveyForm:
    """The questions of a file, in order."""

    def __init__(self, path: Path) -> None:
        root = ElementTree.parse(path).getroot()
        self.tables = {table.tag: [_record(row) for row in table.iterfind("rows/row")] for table in root}
        self.language = next((row.get("language", "") for row in self.rows("surveys")), "")
        self.children: dict[str, list[Record]] = {}
        for row in self.distinct([*self.rows("subquestions"), *self.rows("questions")], "qid"):
            if row.get("parent_qid", "0") not in ("0", ""):
                self.children.setdefault(row["parent_qid"], []).append(row)
        self.types = {row["qid"]: row.get("type", "") for row in self.rows("questions")}
        self.entries = list(self.read())

    def rows(self, name: str) -> list[Record]:
        return self.tables.get(name, [])

    def distinct(self, rows: list[Record], key: str) -> list[Record]:
        """One row of each id: that of the survey's language if there is one."""
        own = [row for row in rows if row.get("language", self.language) == self.language]
        return list({row.get(key, ""): row for row in (*rows, *own)}.values())

    def read(self) -> Iterator[FormEntry]:
        groups = sorted(self.distinct(self.rows("groups"), "gid"), key=lambda row: int(row.get("group_order") or 0))
        questions = sorted(self.distinct(self.rows("questions"), "qid"), key=lambda row: int(row.get("question_order") or 0))
        for group in groups:
            for row in questions:
                if row.get("gid") == group.get("gid") and row.get("parent_qid", "0") in ("0", ""):
                    yield FormEntry(row, [group.get("grelevance", ""), self.own_condition(row)], list(self.fields(row)))

    def own_condition(self, row: Record) -> str:
        if "relevance" in row or not self.rows("conditions"):
            return row.get("relevance", "")
        scenarios: dict[str, dict[str, list[str]]] = {}
        for one in self.rows("conditions"):
            if one.get("qid") == row["qid"]:
                name, value = one["cfieldname"].lstrip("+"), one.get("value", "")
                if self.types.get(one.get("cqid", "")) in ("M", "P") and name.endswith(one["cqid"]):
                    name, value = f"{name}{value}", "Y"  # one of several options
                part = f'{name}.NAOK {one.get("method", "==").strip()} "{value}"'
                scenarios.setdefault(one.get("scenario", "1"), {}).setdefault(one.get("cqid", ""), []).append(part)
        ways = (" && ".join(f"({' || '.join(parts)})" for parts in each.values()) for each in scenarios.values())
        return " || ".join(f"({way})" for way in ways)

    def fields(self, row: Record) -> Iterator[FormField]:
        kind, title = row.get("type", ""), row.get("title", "")
        code = f"{row.get('sid', '')}X{row.get('gid', '')}X{row.get('qid', '')}"
        children = sorted(self.children.get(row["qid"], []), key=lambda child: int(child.get("question_order") or 0))
        if kind in tuple("MP"):
            options = {child["title"]: [f"{title}_{child['title']}", f"{code}{child['title']}"] for child in children}
            if row.get("other") == "Y":
                options["-oth-"] = [f"{title}_other", f"{code}other"]
            yield FormField(title, [], list(options), options)
        elif kind in tuple(_ARRAYS + "K"):
            for child in children:
                for scale in ("0", "1") if kind == "1" else ("0",):
                    end = f"_{scale}" if kind == "1" else ""
                    variables = [f"{title}_{child['title']}{end}", f"{code}{child['title']}{end.replace('_', '#')}"]
                    yield FormField(variables[0], variables, self.codes(row, scale))
        else:
            yield FormField(title, [title, code], [*self.codes(row, "0"), *(["-oth-"] if row.get("other") == "Y" else [])])

    def codes(self, row: Record, scale: str) -> list[str]:
        if row.get("type") in _FIXED:
            return list(_FIXED[row["type"]])
        own = [one for one in self.rows("answers") if one.get("qid") == row["qid"] and one.get("scale_id", "0") == scale]
        return list(dict.fromkeys(one["code"] for one in sorted(own, key=lambda one: int(one.get("sortorder") or 0))))


def _record(row: ElementTree.Element) -> Record:
    return {cell.tag: (cell.text or "").strip() for cell in row}


class LimeSurveyComparison:
    """A LimeSurvey survey, its import, and the differences between the people whom they ask."""

    def __init__(self, path: Path, imported: ImportedForm) -> None:
        self.survey, self.imported = LimeSurveyForm(path), imported
        self.differences: list[str] = []
        self.report = {line.name: line for line in imported.report}
        self.questions = {question["id"]: question for question in unfolded(imported.document["questions"])}
        self.scores = {
            name: dict(zip(question["options"], map(float, question.get("scores", range(1, 1 + len(question["options"])))), strict=True))
            for name, question in self.questions.items()
            if question["type"] in ("scale", "rating")
        }
        self.asked = {one.name: self.question_of(one) for entry in self.survey.entries for one in entry.fields}

    def question_of(self, one: FormField) -> dict[str, Any] | None:
        """The survey's question for an answer of the form, if it asks for it."""
        line = self.report.get(one.name)
        if line is None:
            return None
        renamed = re.search(r"its id is (\S+?)(?:;|$)", line.why)
        return self.questions.get(renamed[1] if renamed else one.name) if line.verdict != "refused" else None

    def run(self, seed: int = 7) -> list[str]:
        for entry in self.survey.entries:
            for one in entry.fields:
                if one.name not in self.report and entry.row.get("title") not in self.report:
                    self.differences.append(f"{one.name}: has no line in the report")
                question = self.asked[one.name]
                if question and one.codes and question["type"] != "yes_no" and len(question.get("options", [])) != len(one.codes):
                    self.differences.append(f"{one.name}: has {len(question.get('options', []))} options, and {len(one.codes)} in the form")
        rng = random.Random(seed)
        for _ in range(RESPONDENTS):
            self.respondent(rng)
        return list(dict.fromkeys(self.differences))

    def respondent(self, rng: random.Random) -> None:
        """Answers the form and the survey as one person, and compares what was asked."""
        values, hidden, differing, replies = dict[str, str](), set[str](), set[str](), dict[str, Any]()
        chance = Chance(rng)
        for entry in self.survey.entries:
            script = Script(values, hidden, chance)
            in_form = all(script.truth(condition) for condition in entry.conditions)
            for one in entry.fields:
                question = self.asked[one.name]
                own = [*one.variables, *(variable for names in one.children.values() for variable in names)]
                answers, reply = _answer(one, question, rng, may_skip=entry.row.get("mandatory") != "Y")
                values.update({variable: answers.get(variable, "") if in_form else "" for variable in own})
                hidden.update(own if not in_form else ())
                if question is None:
                    continue
                in_survey = holds(question.get("show_if"), replies, self.scores)
                if in_survey:
                    replies[question["id"]] = reply
                if in_form != in_survey:
                    self.differ(entry, one, question, values, differing, in_survey=in_survey)
                    differing.update(own)

    def differ(
        self, entry: FormEntry, one: FormField, question: Any, values: Mapping[str, str], differing: set[str], *, in_survey: bool
    ) -> None:
        """Notes a difference, unless the report names it or it follows from an earlier one."""
        named = {word for condition in entry.conditions for word in re.findall(r"\w[\w#]*", condition)} & set(values)
        why, skipped = self.report[one.name].why, any(values[name] == "" for name in named)
        reported = any(words in why for words in MORE) if in_survey else skipped and (SKIP in why or bool(_HIDDEN.search(why)))
        if not reported and not named & differing:
            who = "survey" if in_survey else "form"
            self.differences.append(f"{one.name}: is asked only in the {who} ({question.get('show_if')}; {entry.conditions}; {why})")


def _answer(one: FormField, question: dict[str, Any] | None, rng: random.Random, *, may_skip: bool) -> tuple[dict[str, str], Any]:
    """An answer in the words of the form, by variable, and of the survey; both empty where it is skipped."""
    if may_skip and rng.random() < 0.15:
        return {}, None
    if one.children:
        pairs = list(zip(one.children, (question or {}).get("options", one.children), strict=False))
        chosen = [pair for pair in pairs if rng.random() < 0.3] or [rng.choice(pairs)]
        exclusive = {*(question or {}).get("exclusive", ()), (question or {}).get("none")}
        chosen = next(([pair] for pair in chosen if pair[1] in exclusive), chosen)
        return {name: "Y" for code, _ in chosen for name in one.children[code]}, {label for _, label in chosen}
    if not one.codes:
        low, high = float((question or {}).get("low", 0)), float((question or {}).get("high", 100))
        starts = [float(bin_["from"]) for bin_ in (question or {}).get("bins", ())]
        number = rng.choice([*starts, *(start - 1 for start in starts if start - 1 >= low), float(rng.randint(int(low), int(high)))])
        return dict.fromkeys(one.variables, f"{number:.15g}"), number
    labels = question["options"] if question and question["type"] != "yes_no" else ["yes", "no"]
    pairs = list(zip(one.codes, labels, strict=False)) if question else [(code, code) for code in one.codes]
    code, label = rng.choice(pairs)
    return dict.fromkeys(one.variables, code), {plain(label) if question and question["type"] == "yes_no" else label}


def compare(path: Path, imported: ImportedForm) -> list[str]:
    """Returns whom a LimeSurvey survey and its import ask otherwise, where the report does not name it."""
    return LimeSurveyComparison(path, imported).run()
