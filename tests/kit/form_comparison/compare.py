"""Random respondents of a form and of its import: who is asked what. A difference that the report does not name is a failure."""

from __future__ import annotations

import html
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit.form_comparison.workbook import Form, Row, read
from tests.kit.form_comparison.xpath import Chance, Evaluator

from deniable.forms import ImportedForm

RESPONDENTS = 150
_SELECT = re.compile(
    r"(?:.*\s)?(select[_ ]?one|select1|select[_ ]multiple|select all that apply)(?:\s+prompt using)?(?:\s+from)?\s+(\S+)(.*)", re.I
)
_REFERENCE = re.compile(r"\$\{\s*(?:last-saved#)?([^}\s]+)\s*\}")
MORE = ("more people are asked than in the form", "all are asked and may skip it", "are asked, too")
SKIP = "people who skip the earlier question are not asked this one"
_HIDDEN = re.compile(r"people who are not asked \S+ are not asked this one")
_OPTIONS = ("options are cut", "same label end with their names", "without a label show their names")


@dataclass
class Asked:
    """A question of the survey beside its row."""

    row: Row
    question: dict[str, Any]
    why: str
    options: list[tuple[str, set[str]]]
    kind: str

    @property
    def labels(self) -> list[str]:
        return ["yes", "no"] if self.question["type"] == "yes_no" else list(self.question.get("options", ()))


@dataclass
class Comparison:
    """The form, its import, and the differences that were found."""

    form: Form
    imported: ImportedForm
    differences: list[str] = field(default_factory=list)

    def run(self, seed: int = 7) -> list[str]:
        names = [row.name for row in self.form.rows if row.name]
        self.report = {line.name: line for line in self.imported.report}
        lines = [line.name for line in self.imported.report]
        self.ambiguous = {name for name in lines if lines.count(name) > 1}
        self.missing_lines()
        self.repeated = {name for name in names if names.count(name) > 1}
        self.asked = list(self.pairs())
        self.scores = {
            one.question["id"]: dict(zip(one.labels, map(float, one.question.get("scores", range(1, len(one.labels) + 1))), strict=True))
            for one in self.asked
            if one.question["type"] in ("scale", "rating")
        }
        self.calculations = {row.name: row for row in self.form.rows if row.kind.lower().startswith("calculate")}
        for one in self.asked:
            self.texts_and_options(one)
            self.numbers(one)
            self.exclusive(one)
        rng = random.Random(seed)
        for _ in range(RESPONDENTS):
            self.respondent(rng)
        return list(dict.fromkeys(self.differences))

    def differ(self, name: str, what: str) -> None:
        self.differences.append(f"{name}: {what}")

    def missing_lines(self) -> None:
        for row in self.form.rows:
            if row.name and row.name not in self.report:
                self.differ(row.name, "has no line in the report")

    def pairs(self) -> Iterator[Asked]:
        """Each question of the survey with its row."""
        questions = {question["id"]: question for question in unfolded(self.imported.document["questions"])}
        order = list(questions)
        last = -1
        for row in self.form.rows:
            line, kind = self.report.get(row.name), _kind(row)
            if (
                not kind
                or "label" in row.cells.get("appearance", "").split()
                or row.is_repeated
                or line is None
                or line.verdict == "refused"
                or row.name in self.repeated
            ):
                continue
            renamed = re.search(r"its id is (\S+?)(?:;|$)", line.why)
            question = questions.pop(renamed[1] if renamed else row.name, None)
            if question is None:
                self.differ(row.name, "is reported as asked, but is not in the survey")
                continue
            if order.index(question["id"]) < last:
                self.differ(row.name, "is asked in another order")
            last = order.index(question["id"])
            yield Asked(row, question, line.why, self.options(row), kind)
        for question in [] if self.repeated else questions:
            self.differ(question, "is in the survey, but no row is reported as asked")

    def options(self, row: Row) -> list[tuple[str, set[str]]]:
        """The options of a row, those that repeat a name and all labels once."""
        match = _SELECT.fullmatch(row.kind)
        found: list[tuple[str, set[str]]] = []
        for option in self.form.lists.get(match[2] if match else row.matrix, []):
            if option not in found:
                found.append(option)
        if match and "other" in match[3] and "other" not in [name for name, _ in found]:
            found.append(("other", {"Other"}))
        return found

    def texts_and_options(self, one: Asked) -> None:
        text, texts = plain(one.question["text"]), {plain(text) for text in one.row.texts("label")}
        if text not in texts and "its text is cut" not in one.why and "it has no label" not in one.why:
            self.differ(one.row.name, f"asks another text: {one.question['text']!r}")
        if one.kind == "number":
            return
        labels = [label.lower() for _, labels in one.options for label in labels]
        if one.question["type"] == "yes_no":
            if sorted({plain(label) for label in labels} & {"yes", "no"}) != ["no", "yes"]:
                self.differ(one.row.name, "is no question of yes and no in the form")
            return
        if len(one.labels) != len(one.options):
            self.differ(one.row.name, f"has {len(one.labels)} options, and {len(one.options)} in the form")
        for label, (name, own) in zip(one.labels, one.options, strict=False):
            if plain(label) not in {plain(text) for text in own} and not any(
                words in one.why for words in (*_OPTIONS, *(["“Other”"] if name == "other" else []))
            ):
                self.differ(one.row.name, f"offers {label!r} for {name}")

    def numbers(self, one: Asked) -> None:
        constraint = one.row.cells.get("constraint", "")
        if one.kind != "number" or one.row.kind == "range" or "its ends are yours" in one.why:
            return
        low, high = float(one.question["low"]), float(one.question["high"])
        evaluator = Evaluator({}, Chance(random.Random(1)))
        inside = {low, high, (low + high) / 2 // 1}
        for value in inside:
            if (
                not evaluator.truth(constraint, f"{value:.15g}")
                and "ends may be answered" not in one.why
                and "only the two ends" not in one.why
            ):
                self.differ(one.row.name, f"allows {value:.15g}, which the form does not")
        for value in (low - 1, high + 1):
            if evaluator.truth(constraint, f"{value:.15g}") and f"{value:.15g} cannot be answered" not in one.why:
                self.differ(one.row.name, f"does not allow {value:.15g}, which the form does")

    def exclusive(self, one: Asked) -> None:
        constraint = one.row.cells.get("constraint", "")
        if one.kind != "many" or not constraint or "its constraint is left out" in one.why or "limits of how many" in one.why:
            return
        exclusive = {*one.question.get("exclusive", ()), one.question.get("none")}
        names = [name for name, _ in one.options]
        least, most = int(one.question.get("at_least", 0)), int(one.question.get("at_most", len(names)))
        for name, label in zip(names, one.labels, strict=False):
            for other, other_label in zip(names, one.labels, strict=False):
                if other != name:
                    allowed = Evaluator({}, Chance(random.Random(1))).truth(constraint, f"{name} {other}")
                    if allowed != (least <= 2 <= most and not {label, other_label} & exclusive):
                        self.differ(one.row.name, f"treats {name} with {other} otherwise than the form")
        together = [name for name, label in zip(names, one.labels, strict=False) if label not in exclusive]
        for count in range(1, len(together) + 1):
            allowed = Evaluator({}, Chance(random.Random(1))).truth(constraint, " ".join(together[:count]))
            if allowed != (least <= count <= most):
                self.differ(one.row.name, f"treats {count} options otherwise than the form")

    # --- one respondent -------------------------------------------------------------------------------------------------

    def respondent(self, rng: random.Random) -> None:
        """Answers the form and the survey as one person, and compares what was asked."""
        by_row = {id(one.row): one for one in self.asked}
        chance, answers, differing = Chance(rng), dict[str, str](), set[str]()
        replies: dict[str, Any] = {}
        waiting: list[tuple[Row, bool]] = []
        for row in self.form.rows:
            if row.is_repeated:
                continue
            evaluator = Evaluator(answers, chance)
            is_relevant = all(evaluator.truth(condition) for condition in row.conditions)
            one = by_row.get(id(row))
            line = self.report.get(row.name)
            if one is not None:
                self.compare(one, is_relevant, answers, replies, differing, waiting, rng)
                waiting = []
            elif row.kind.lower().startswith("calculate"):
                value = evaluator.text(row.cells.get("calculation", "")) if is_relevant else ""
                answers.pop(row.name, None)
                if value is not None:
                    answers[row.name] = value
            elif (
                line
                and line.verdict == "changed"
                and row.name not in self.ambiguous
                and (row.kind.lower() == "note" or "label" in row.cells.get("appearance", "").split())
            ):
                waiting.append((row, is_relevant))
            elif value := self.other_answer(row, rng):
                answers[row.name] = value[0] if is_relevant and not _is_off(row) else ""

    def other_answer(self, row: Row, rng: random.Random) -> list[str]:
        """An answer to a row that the survey does not ask; empty if it cannot be known."""
        kind = _kind(row)
        if kind in ("one", "many") and self.options(row):
            return [rng.choice(self.options(row))[0]]
        if kind == "number":
            return [str(rng.randint(0, 100))]
        return [rng.choice(["", "abc"])] if row.kind.lower() == "text" else []

    def compare(
        self,
        one: Asked,
        in_form: bool,
        answers: dict[str, str],
        replies: dict[str, Any],
        differing: set[str],
        waiting: Sequence[tuple[Row, bool]],
        rng: random.Random,
    ) -> None:
        name = one.row.name
        in_survey = holds(one.question.get("show_if"), replies, self.scores)
        references = self.references(one.row)
        is_derived = bool(references & differing)
        if in_form != in_survey:
            differing.add(name)
            skipped = any(answers.get(reference) == "" for reference in references)
            reported = (
                any(words in one.why for words in MORE)
                if in_survey
                else ((SKIP in one.why and skipped) or bool(_HIDDEN.search(one.why) and skipped))
            )
            if not reported and not is_derived:
                self.differ(
                    name,
                    f"is asked only in the {'survey' if in_survey else 'form'} ({one.question.get('show_if')}; {one.row.conditions})",
                )
        for note, is_meant in waiting:
            if in_survey and not is_meant and not (self.references(note) | references) & differing:
                self.differ(note.name, f"is read by people it is not for, before {name}")
            shown = plain(f"{one.question.get('help', '')} {one.question.get('section', {}).get('note', '')}")
            if not any(plain(text)[:300] in shown for text in note.texts("label")) and "is cut" not in one.why:
                self.differ(note.name, f"is not before {name}")
        required = one.row.cells.get("required", "").lower() in ("yes", "true", "true()", "1")
        if required and one.question.get("required") == "false" and not any(word in one.why for word in (*MORE, "may skip")):
            self.differ(name, "is optional, but required in the form")
        if not required and "show_if" not in one.question and one.question.get("required") != "false" and not one.row.cells.get("required"):
            self.differ(name, "is required, but not in the form")
        answer, reply = self.answer(one, rng)
        if not required and rng.random() < 0.15:
            answer, reply = "", None
        answers[name] = answer if in_form else ""
        if in_survey:
            replies[one.question["id"]] = reply

    def answer(self, one: Asked, rng: random.Random) -> tuple[str, Any]:
        """An answer in the words of the form and of the survey."""
        if one.kind == "number":
            low, high = float(one.question["low"]), float(one.question["high"])
            starts = [float(bin_["from"]) for bin_ in one.question.get("bins", ())]
            value = rng.choice([*starts, *(start - 1 for start in starts if start - 1 >= low), float(rng.randint(int(low), int(high)))])
            return f"{value:.15g}", value
        labels = one.labels if one.question["type"] != "yes_no" else [self.yes_no(own) for _, own in one.options]
        pairs = list(zip((name for name, _ in one.options), labels, strict=False))
        if one.kind == "many":
            chosen = [pair for pair in pairs if rng.random() < 0.3] or [rng.choice(pairs)]
            exclusive = {*one.question.get("exclusive", ()), one.question.get("none")}
            chosen = next(([pair] for pair in chosen if pair[1] in exclusive), chosen)
            return " ".join(name for name, _ in chosen), {label for _, label in chosen}
        name, label = rng.choice(pairs)
        return name, {label}

    @staticmethod
    def yes_no(labels: set[str]) -> str:
        return "yes" if "yes" in {plain(label) for label in labels} else "no"

    def references(self, row: Row) -> set[str]:
        """The names of the rows that a row's conditions depend on, also by calculations."""
        found, texts = set[str](), list(row.conditions)
        while texts:
            for name in _REFERENCE.findall(texts.pop()):
                if name not in found:
                    found.add(name)
                    if calculation := self.calculations.get(name):
                        texts += [calculation.cells.get("calculation", ""), *calculation.conditions]
        return found


def unfolded(questions: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The questions of a survey file, each item of a rating block as one."""
    for question in questions:
        for place, item in enumerate(question.get("items", [{}])):
            title = {"section": {"title": question["text"]}} if item and not place else {}
            yield {**question, **title, **item}


def holds(condition: Mapping[str, Any] | None, replies: Mapping[str, Any], scores: Mapping[str, Mapping[str, float]]) -> bool:
    """Whether a `show_if` of a survey file holds; `scores` are those of each scale's options."""
    if condition is None:
        return True
    if "all" in condition or "any" in condition:
        parts = [holds(part, replies, scores) for part in condition.get("all", condition.get("any"))]
        return all(parts) if "all" in condition else any(parts)
    if "score" in condition:
        total = sum(scores[name][label] for name in condition["score"] for label in replies.get(name) or ())
        return float(condition.get("at_least", "-inf")) <= total < float(condition.get("below", "inf"))
    reply = replies.get(condition["question"])
    if reply is None:
        return False
    if "is" in condition:
        return bool(reply & set(condition["is"]))
    return float(condition.get("at_least", "-inf")) <= reply < float(condition.get("below", "inf"))


def _kind(row: Row) -> str:
    kind = row.kind.lower()
    if match := _SELECT.fullmatch(row.kind):
        return "many" if "mult" in match[1].lower() or "all that" in match[1].lower() else "one"
    if kind == "score__row":
        return "one"
    return "number" if kind in ("integer", "int", "decimal", "range") else ""


def _is_off(row: Row) -> bool:
    return row.cells.get("disabled", "").lower() in ("yes", "true")


def plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", re.sub(r"</?[a-zA-Z][^<>]*>", "", html.unescape(text))).lower()


def compare(path: Path, imported: ImportedForm) -> list[str]:
    """Returns the differences between a form and its import that its report does not name."""
    return Comparison(read(path), imported).run()
