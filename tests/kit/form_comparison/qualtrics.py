"""Random respondents of a Qualtrics survey and of its import: who is asked what. It shares no code with the importer."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.kit.form_comparison.compare import MORE, RESPONDENTS, SKIP, holds, plain, unfolded
from tests.kit.form_comparison.xpath import Chance
from tests.kit.form_comparison.xpath import compare as compared

from deniable.forms import ImportedForm
from deniable.forms.report import ReportLine

_HIDDEN = re.compile(r"people who are not asked \S+ are not asked this one")
_SIGNS = {"EqualTo": "=", "NotEqualTo": "!=", "GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<="}
_TEXT_NOTES = ("is cut", "which a survey cannot", "it has no label", "options are cut", "same label end with", "without a label show")
BY_CHANCE = "by chance"
Json = Mapping[str, Any]


@dataclass
class QualtricsField:
    """One answer of the form: its name in the report, its key (the id of its question, and its row), and its options by their ids."""

    name: str
    key: str
    options: dict[str, str] = field(default_factory=dict)
    is_several: bool = False


def _dict(value: Any) -> Json:
    if isinstance(value, list):
        return {str(place): entry for place, entry in enumerate(value, 1)}
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []


class QualtricsForm:
    """The flow, blocks and questions of a file."""

    def __init__(self, path: Path) -> None:
        elements = json.loads(path.read_bytes().decode("utf-8-sig"))["SurveyElements"]
        self.questions = {one["PrimaryAttribute"]: one["Payload"] for one in elements if one["Element"] == "SQ"}
        blocks = [block for one in elements if one["Element"] == "BL" for block in _list(one["Payload"])]
        self.blocks = {block.get("ID"): block for block in blocks}
        flows = [one["Payload"]["Flow"] for one in elements if one["Element"] == "FL"]
        unused = [{"Type": "Block", "ID": block.get("ID")} for block in blocks if block.get("Type") != "Trash"]
        self.flow: list[Json] = flows[0] if flows else unused

    def fields(self, payload: Json) -> list[QualtricsField]:
        """The answers of a question."""
        qid, tag = str(payload["QuestionID"]), str(payload.get("DataExportTag") or payload["QuestionID"])
        kind = payload["QuestionType"]
        if kind in ("Matrix", "Slider"):
            is_several = payload.get("SubSelector") == "MultipleAnswer"
            answers = self.options(payload, "Answers", "AnswerOrder") if kind == "Matrix" else {}
            rows = self.options(payload, "Choices", "ChoiceOrder")
            return [QualtricsField(f"{tag}_{row}", f"{qid}/{row}", answers, is_several) for row in rows]
        options = self.options(payload, "Choices", "ChoiceOrder") if kind == "MC" else {}
        return [QualtricsField(tag, qid, options, str(payload.get("Selector")).startswith(("MA", "MS")))]

    @staticmethod
    def options(payload: Json, key: str, order: str) -> dict[str, str]:
        labels = {str(code): str(_dict(one).get("Display") or "") for code, one in _dict(payload.get(key)).items()}
        codes = [str(code) for code in _list(payload.get(order)) if str(code) in labels]
        return {code: labels[code] for code in codes or labels}


def _numbered(logic: Json) -> list[Json]:
    return [logic[key] for key in sorted((key for key in logic if str(key).isdigit()), key=int)]


class QualtricsLogic:
    """Evaluates display, branch and skip logic for one respondent: `answers` has the chosen options, or a text, by question."""

    def __init__(self, answers: Mapping[str, Sequence[str] | str], chance: Chance) -> None:
        self.answers, self.chance = answers, chance

    def truth(self, logic: Any) -> bool:
        """Whether a logic holds; "and" binds more tightly than "or"."""
        if not isinstance(logic, Mapping):
            return True
        sets = [(str(part.get("Type", "")), self.set_truth(part)) for part in _numbered(logic)]
        return _joined([("or" in kind.lower(), value) for kind, value in sets])

    def set_truth(self, part: Json) -> bool:
        """Whether a set of expressions holds."""
        return _joined([(str(one.get("Conjuction", one.get("Conjunction"))).lower() == "or", self.one(one)) for one in _numbered(part)])

    def one(self, expression: Json) -> bool:
        """Whether one expression holds; anything but answers holds by chance."""
        operand, operator = str(expression.get("LeftOperand")), str(expression.get("Operator"))
        unknown = repr((operand, operator, expression.get("RightOperand")))
        parts = operand.removeprefix("q://").split("/")
        if expression.get("LogicType") != "Question" or parts[0].split("#")[0].split("%23")[0] not in {
            key.split("/")[0] for key in self.answers
        }:
            return self.chance.truth(unknown)
        if operator in ("Selected", "NotSelected") and parts[1] in ("SelectableChoice", "SelectableAnswer"):
            chosen = self.answers.get("/".join([parts[0], *parts[2:-1]]))
            return self.chance.truth(unknown) if chosen is None else (parts[-1] in chosen) == (operator == "Selected")
        if operator in _SIGNS:
            answer = self.answers.get("/".join([parts[0], *parts[2:]]), self.answers.get(parts[0]))
            if parts[1] == "SelectedChoicesCount" and answer is not None:
                return compared(_SIGNS[operator], float(len(answer)), str(expression.get("RightOperand")))
            if isinstance(answer, str):
                return compared(_SIGNS[operator], answer, str(expression.get("RightOperand")))
        return self.chance.truth(unknown)


def _joined(parts: Sequence[tuple[bool, bool]]) -> bool:
    """The value of conditions, each with whether an "or" is before it."""
    ways: list[bool] = []
    for is_or, value in parts:
        if ways and not is_or:
            ways[-1] = ways[-1] and value
        else:
            ways.append(value)
    return any(ways) if ways else True


class QualtricsComparison:
    """A Qualtrics survey, its import, and the differences between the people whom they ask."""

    def __init__(self, path: Path, imported: ImportedForm) -> None:
        self.form, self.imported = QualtricsForm(path), imported
        self.questions = {question["id"]: question for question in unfolded(imported.document["questions"])}
        self.scores = {
            name: dict(zip(question["options"], map(float, question.get("scores", range(1, 1 + len(question["options"])))), strict=True))
            for name, question in self.questions.items()
            if question["type"] in ("scale", "rating")
        }
        self.differences: list[str] = []
        self.by_chance = {line.name for line in imported.report if BY_CHANCE in line.why}

    def differ(self, name: str, what: str) -> None:
        self.differences.append(f"{name}: {what}")

    def run(self, seed: int = 7) -> list[str]:
        rng = random.Random(seed)
        for number in range(RESPONDENTS):
            QualtricsRespondent(self, rng, is_first=not number).answer()
        return list(dict.fromkeys(self.differences))


class QualtricsRespondent:
    """Answers the form and the survey as one person, and compares what was asked."""

    def __init__(self, comparison: QualtricsComparison, rng: random.Random, *, is_first: bool) -> None:
        self.comparison, self.rng, self.is_first = comparison, rng, is_first
        self.answers: dict[str, Sequence[str] | str] = {}
        self.replies: dict[str, Any] = {}
        self.differing: set[str] = set()
        self.logic = QualtricsLogic(self.answers, Chance(rng))
        self.lines: dict[str, list[ReportLine]] = {}
        for line in comparison.imported.report:
            self.lines.setdefault(line.name, []).append(line)
        self.unpaired = set(comparison.questions)
        self.has_left = False
        self.named: set[str] = set()
        """The questions that decide who has left the survey."""
        self.chooser: str | None = None
        """The randomizer or the block that decides by chance who is shown the current question."""

    def answer(self) -> None:
        self.walk(self.comparison.form.flow, True, set())
        if self.is_first:
            for question in self.unpaired:
                self.comparison.differ(question, "is in the survey, but no question is reported as asked")

    def walk(self, flow: Sequence[Json], is_here: bool, named: set[str]) -> None:
        """Goes through a flow; `is_here` is false for a part that the form does not show this person."""
        for element in flow:
            kind, inner = element.get("Type"), element.get("Flow") or []
            if kind in ("Block", "Standard"):
                self.block(self.comparison.form.blocks.get(element.get("ID"), {}), is_here, named)
            elif kind == "Branch":
                logic = element.get("BranchLogic")
                self.walk(inner, is_here and self.logic.truth(logic), named | _named(logic))
            elif kind == "EndSurvey":
                self.has_left = self.has_left or is_here
                self.named |= named
            elif kind == "BlockRandomizer":
                self.randomized(element, inner, is_here, named)
            else:
                self.walk(inner, is_here, named)

    def randomized(self, element: Json, inner: Sequence[Json], is_here: bool, named: set[str]) -> None:
        """Goes through the parts of a randomizer; only some are shown."""
        count = min(int(element.get("SubSet") or len(inner)), len(inner))
        chosen = set(self.rng.sample(range(len(inner)), count))
        before = self.chooser
        for place, part in enumerate(inner):
            self.chooser = str(element.get("FlowID")) if count < len(inner) else before
            self.walk([part], is_here and place in chosen, named)
        self.chooser = before

    def block(self, block: Json, is_here: bool, named: set[str]) -> None:
        """Asks the questions of a block, without those that a skip logic passes over."""
        options = _dict(block.get("Options"))
        if str(options.get("Looping") or "None") not in ("None", "False"):
            return
        drawn = self.drawn(options)
        target, skipped = "", set[str]()
        for element in _list(block.get("BlockElements")):
            payload = self.comparison.form.questions.get(element.get("QuestionID"))
            if element.get("Type") != "Question" or payload is None:
                continue
            target = "" if target == element["QuestionID"] else target
            before = self.chooser
            self.chooser = before if drawn is None else str(block.get("Description") or block.get("ID"))
            is_relevant = is_here and not target and not self.has_left and (drawn is None or element["QuestionID"] in drawn)
            is_relevant = is_relevant and self.logic.truth(payload.get("DisplayLogic"))
            self.ask(payload, is_relevant, named | skipped | self.named | _named(payload.get("DisplayLogic")))
            self.chooser = before
            rules = _list(element.get("SkipLogic"))
            if rules:
                skipped |= {str(payload["QuestionID"]), *named, *_named(payload.get("DisplayLogic"))}
            if any(rule.get("SkipToDestination") == "ENDOFSURVEY" for rule in rules):
                self.named |= skipped
            if is_relevant and not target:
                target = next((str(rule.get("SkipToDestination")) for rule in rules if self.skips(rule)), "")
                self.has_left = self.has_left or target == "ENDOFSURVEY"

    def drawn(self, options: Json) -> set[str] | None:
        """The questions of a block that this person is shown, where chance decides."""
        kind, details = str(options.get("RandomizeQuestions")), _dict(_dict(options.get("Randomization")).get("Advanced"))
        if kind != "Advanced":
            return None
        fixed = [*_list(details.get("FixedOrder")), *_list(details.get("RandomizeAll"))]
        pool = _list(details.get("RandomSubSet"))
        hidden = set(map(str, _list(details.get("Undisplayed"))))
        if not pool and not hidden:
            return None
        count = min(int(details.get("TotalRandSubset") or 0), len(pool))
        return {str(qid) for qid in (*fixed, *self.rng.sample(pool, count)) if str(qid) not in hidden and str(qid) != "{~Randomized~}"}

    def skips(self, rule: Json) -> bool:
        """Whether a skip logic holds."""
        operand = rule.get("Locator") or rule.get("ChoiceLocator")
        return self.logic.one(
            {"LogicType": "Question", "LeftOperand": operand, "Operator": rule.get("Condition"), "RightOperand": rule.get("Value")}
        )

    def ask(self, payload: Json, is_relevant: bool, named: set[str]) -> None:
        """Asks one question in the form and in the survey."""
        settings = _dict(_dict(payload.get("Validation")).get("Settings"))
        is_required = settings.get("ForceResponse") == "ON"
        for one in self.comparison.form.fields(payload):
            line, question = self.pair(one, payload)
            answer, reply = self.random_answer(one, question, may_skip=not is_required)
            self.answers[one.key] = answer if is_relevant else () if one.options else ""
            if question is None or line is None:
                continue
            if self.is_first:
                self.texts_and_options(one, question, line)
                is_same = is_required == (question.get("required") != "false") or (not is_required and "show_if" in question)
                if not is_same and not any(words in line.why for words in (*MORE, "may skip")):
                    self.comparison.differ(one.name, "is required in only one of them")
            in_survey = holds(question.get("show_if"), self.replies, self.comparison.scores)
            if in_survey:
                self.replies[question["id"]] = reply
            if is_relevant != in_survey:
                self.different(one, question, line, named, in_survey=in_survey)
                self.differing.add(str(payload["QuestionID"]))

    def pair(self, one: QualtricsField, payload: Json) -> tuple[ReportLine | None, dict[str, Any] | None]:
        """The line and the survey's question of an answer of the form."""
        tag = str(payload.get("DataExportTag") or payload["QuestionID"])
        lines = self.lines.get(one.name, [])
        if not lines:
            if self.is_first and not self.lines.get(tag) and payload["QuestionType"] != "Captcha":
                self.comparison.differ(one.name, "has no line in the report")
            return None, None
        line = lines.pop(0)
        if line.verdict == "refused":
            return line, None
        renamed = re.search(r"its id is (\S+?)(?:;|$)", line.why)
        name = renamed[1] if renamed else one.name
        self.unpaired.discard(name)
        return line, self.comparison.questions.get(name)

    def texts_and_options(self, one: QualtricsField, question: Json, line: ReportLine) -> None:
        """Compares the options in number and text."""
        labels = ["yes", "no"] if question["type"] == "yes_no" else list(question.get("options", ()))
        if one.options and len(labels) != len(one.options):
            self.comparison.differ(one.name, f"has {len(labels)} options, and {len(one.options)} in the form")
        own = list(one.options.values())
        if question["type"] == "yes_no":
            own.sort(key=lambda label: plain(label) != "yes")
        for label, text in zip(labels, own, strict=False):
            if plain(label) != plain(text) and not any(words in line.why for words in _TEXT_NOTES) and "${" not in text:
                self.comparison.differ(one.name, f"offers {label!r} for {text!r}")

    def different(self, one: QualtricsField, question: Json, line: ReportLine, named: set[str], *, in_survey: bool) -> None:
        """Notes a difference, unless the report names it or it follows from an earlier one."""
        skipped = any(not answer for key, answer in self.answers.items() if key.split("/")[0] in named)
        if in_survey:
            reported = any(words in line.why for words in MORE) or self.chooser in self.comparison.by_chance
        else:
            reported = skipped and (SKIP in line.why or bool(_HIDDEN.search(line.why)))
        if not reported and not named & self.differing:
            who = "survey" if in_survey else "form"
            self.comparison.differ(one.name, f"is asked only in the {who} ({question.get('show_if')}; {sorted(named)}; {line.why})")

    def random_answer(self, one: QualtricsField, question: Json | None, *, may_skip: bool) -> tuple[Sequence[str] | str, Any]:
        """An answer in the words of the form and of the survey; both empty where it is skipped."""
        rng = self.rng
        if may_skip and rng.random() < 0.15:
            return () if one.options else "", None
        if not one.options:
            low, high = (
                float(question[end]) if question and end in question else default for end, default in (("low", 0.0), ("high", 100.0))
            )
            starts = [float(bin_["from"]) for bin_ in (question or {}).get("bins", ())]
            near = [*starts, *(start - 1 for start in starts if start - 1 >= low)]
            number = rng.choice([*near, float(rng.randint(int(low), int(high)))])
            return f"{number:.15g}", number
        labels = list((question or {}).get("options", one.options))
        if question and question["type"] == "yes_no":
            labels = [plain(label) for label in one.options.values()]
        pairs = list(zip(one.options, labels, strict=False))
        if one.is_several:
            chosen = [pair for pair in pairs if rng.random() < 0.3] or [rng.choice(pairs)]
            exclusive = {*(question or {}).get("exclusive", ()), (question or {}).get("none")}
            chosen = next(([pair] for pair in chosen if pair[1] in exclusive), chosen)
        else:
            chosen = [rng.choice(pairs)]
        return tuple(code for code, _ in chosen), {label for _, label in chosen}


def _named(logic: Any) -> set[str]:
    """The ids of the questions that a logic is about."""
    return set(_ids(logic))


def _ids(logic: Any) -> Iterator[str]:
    if isinstance(logic, Mapping):
        if match := re.match(r"q://(QID\w+)", str(logic.get("LeftOperand"))):
            yield match[1]
        for part in logic.values():
            yield from _ids(part)


def compare(path: Path, imported: ImportedForm) -> list[str]:
    """Returns whom a Qualtrics survey and its import ask otherwise, where the report does not name it."""
    return QualtricsComparison(path, imported).run()
