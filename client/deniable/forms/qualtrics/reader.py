"""Reader of Qualtrics surveys (.qsf): its flow of blocks, question types, logic and languages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from deniable.errors import Problem, SurveyError
from deniable.forms.expressions import ALWAYS, Expression
from deniable.forms.foreign import ForeignForm, ForeignNote, ForeignOption, ForeignQuestion, GroupEnd, GroupStart, Item, Refusal, Texts
from deniable.forms.qualtrics.flow import END_OF_SURVEY, FlowConditions
from deniable.forms.qualtrics.logic import condition_of
from deniable.forms.texts import one_line
from deniable.forms.xlsform.rows import is_ordinal
from deniable.survey.types.base import number
from deniable.survey.validator import LENGTHS

MOST_BYTES = 8 << 20
_ONE = ("SAVR", "SAHR", "SACOL", "DL", "SB", "NPS")
_MANY = ("MAVR", "MAHR", "MACOL", "MSB")
_REASONS = {
    "TE": "free text is not possible: a unique answer cannot be hidden",
    "SBS": "a table of several questions a row cannot be asked: ask one question a row",
    "RO": "a ranking cannot be asked",
    "PGR": "a ranking cannot be asked",
    "CS": "numbers with a sum cannot be asked: ask one question for each",
    "FileUpload": "a file cannot be hidden among others",
    "Draw": "a signature cannot be hidden",
    "Signature": "a signature cannot be hidden",
    "Meta": "data from the device reveal who answered, and when",
    "Timing": "the time that people take reveals who answered, and when",
    "Captcha": "it asks nothing",
    "HeatMap": "points on a picture cannot be asked",
    "HotSpot": "points on a picture cannot be asked",
    "DD": "options that depend on each other cannot be asked: ask one question for each level",
}
_REPEATED = "it is repeated: each repetition would reveal more"
_LIMITS = ("MinChoices", "MaxChoices", "ChoiceRange")


def read(raw: bytes, name: str) -> ForeignForm:
    """Reads a survey.

    Args:
        raw: The bytes of the file.
        name: The title of a form without one.

    Raises:
        SurveyError: It is no survey of Qualtrics.
    """
    if len(raw) > MOST_BYTES:
        raise SurveyError([Problem("file", f"must be at most {MOST_BYTES >> 20} MiB, got more")])
    try:
        return _Reader(json.loads(raw.decode("utf-8-sig"))).form(name)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        kind = type(error).__name__
        raise SurveyError([Problem("file", f"must be a survey of Qualtrics (.qsf); its structure cannot be read ({kind})")]) from None


class _Reader:
    """Reader of one survey."""

    def __init__(self, survey: Mapping[str, Any]) -> None:
        entry, elements = survey["SurveyEntry"], survey["SurveyElements"]
        self.language = str(entry.get("SurveyLanguage") or "")
        self.title = str(entry.get("SurveyName") or "")
        self.questions = {str(one["PrimaryAttribute"]): one["Payload"] for one in elements if one.get("Element") == "SQ"}
        blocks = [block for one in elements if one.get("Element") == "BL" for block in _values(one.get("Payload"))]
        self.blocks = {str(block.get("ID")): block for block in blocks}
        self.flow = next((one["Payload"].get("Flow") for one in elements if one.get("Element") == "FL"), None)
        self.remarks: list[Refusal] = []
        self.has_parts = False
        self.reached = FlowConditions()

    def form(self, name: str) -> ForeignForm:
        title = self.title or name
        flow = self.flow or [{"Type": "Block", "ID": key} for key, block in self.blocks.items() if block.get("Type") != "Trash"]
        self.has_parts = any(map(self.is_mixed, flow))
        items = list(self.items(flow, is_outer=True))
        return ForeignForm(title, title, self.language, "", items, self.remarks)

    def items(self, flow: Sequence[Mapping[str, Any]], mixed_with: str = "", is_outer: bool = False) -> Iterator[Item]:
        """Yields the items of a flow.

        Args:
            flow: The elements of the flow.
            mixed_with: The name of the randomizer around it, if its blocks become sections in random order.
            is_outer: Whether the flow is the survey's own.
        """
        for element in flow:
            kind, inner = element.get("Type"), element.get("Flow") or []
            if kind in ("Block", "Standard"):
                yield from self.part(self.blocks.get(str(element.get("ID")), {}), mixed_with)
            elif kind == "Branch":
                self.reached.branches.append(condition_of(element.get("BranchLogic"), self.name_of))
                yield from self.items(inner)
                self.reached.branches.pop()
            elif kind == "EndSurvey":
                self.reached.end_survey()
            elif kind == "BlockRandomizer":
                is_mixed = is_outer and self.is_mixed(element)
                if not is_mixed:
                    self.randomizer(_flow_name(element), "parts", len(inner), element.get("SubSet"))
                yield from self.items(inner, _flow_name(element) if is_mixed else "")
            else:
                yield from self.items(inner)

    def is_mixed(self, element: Mapping[str, Any]) -> bool:
        """Returns whether an element of a flow shows all of its parts, each a block without an end of the survey, in random order."""
        inner = element.get("Flow") or []
        has_blocks = len(inner) > 1 and all(one.get("Type") in ("Block", "Standard") for one in inner)
        shows_all = has_blocks and str(element.get("SubSet") or len(inner)) == str(len(inner))
        return element.get("Type") == "BlockRandomizer" and shows_all and not any(map(self.ends_survey, inner))

    def ends_survey(self, element: Mapping[str, Any]) -> bool:
        """Returns whether the skip logic of a block ends the survey."""
        entries = _values(self.blocks.get(str(element.get("ID")), {}).get("BlockElements"))
        questions = [one for entry in entries for one in (entry, self.questions.get(str(entry.get("QuestionID")), {}))]
        rules = [_mapping(rule) for one in questions for rule in _values(one.get("SkipLogic"))]
        return any(rule.get("SkipToDestination") == END_OF_SURVEY for rule in rules)

    def part(self, block: Mapping[str, Any], mixed_with: str) -> Iterator[Item]:
        """Yields the questions of a block; as a part of the form with a title if the form shows some blocks in random order."""
        title = str(block.get("Description") or block.get("ID") or "")
        if not self.has_parts:
            yield from self.block(block)
            return
        yield GroupStart(f"block {title}", {self.language: title}, ALWAYS, mixed_with=mixed_with, has_internal_label=True)
        yield from self.block(block)
        yield GroupEnd()

    def randomizer(self, name: str, things: str, count: int, subset: Any) -> None:
        """Reports what a random choice of parts or questions becomes."""
        size = str(count if subset in (None, "") else subset)
        why = (
            f"all are asked all {count} {things}, not {size} of them by chance"
            if size != str(count)
            else f"its {things} have a fixed order"
        )
        self.remarks.append(Refusal(name, why))

    def block(self, block: Mapping[str, Any]) -> Iterator[Item]:
        """Yields the questions of a block, each under the condition that it is reached."""
        options = _mapping(block.get("Options"))
        is_repeated = str(options.get("Looping") or "None") not in ("None", "False")
        undisplayed = self.randomized(block, options)
        elements = [one for one in _values(block.get("BlockElements")) if one.get("Type") == "Question"]
        ids = [str(one.get("QuestionID")) for one in elements]
        for index, (element, name) in enumerate(zip(elements, ids, strict=True)):
            question = self.questions.get(name)
            self.reached.reach(name)
            if question is None:
                continue
            if is_repeated or name in undisplayed:
                yield Refusal(_tag(question), _REPEATED if is_repeated else "the form never shows it")
                continue
            condition = self.reached.current()
            yield from self.question(question) if condition == ALWAYS else self.conditional(question, condition)
            display = condition_of(question.get("DisplayLogic"), self.name_of)
            rules = _values(element.get("SkipLogic") or question.get("SkipLogic"))
            self.reached.skip(rules, display, ids[index + 1 :], self.name_of)
        self.reached.end_block()

    def conditional(self, question: Mapping[str, Any], condition: Expression) -> Iterator[Item]:
        """Yields what a question becomes under a condition of the flow."""
        yield GroupStart("", {}, condition)
        yield from self.question(question)
        yield GroupEnd()

    def randomized(self, block: Mapping[str, Any], options: Mapping[str, Any]) -> set[str]:
        """Reports a random order of questions; returns the ids of those that are never shown."""
        if str(options.get("RandomizeQuestions") or "false").lower() in ("false", "none"):
            return set()
        details = _mapping(_mapping(options.get("Randomization")).get("Advanced"))
        pool, name = _values(details.get("RandomSubSet")), str(block.get("Description") or block.get("ID"))
        self.randomizer(name, "questions", len(pool), details.get("TotalRandSubset") if pool else None)
        return {str(question) for question in _values(details.get("Undisplayed"))}

    def question(self, payload: Mapping[str, Any]) -> Iterator[Item]:
        """Yields what a question becomes: one question, a table of them, a note, or a refusal."""
        kind, selector = str(payload.get("QuestionType")), str(payload.get("Selector"))
        validation = _mapping(_mapping(payload.get("Validation")).get("Settings"))
        condition = condition_of(payload.get("DisplayLogic"), self.name_of)
        if kind == "DB":
            text = self.texts(payload, "QuestionText")
            is_text = any(map(one_line, text.values()))
            yield ForeignNote(_tag(payload), text, condition) if is_text else Refusal(_tag(payload), "it shows a picture: it asks nothing")
        elif kind == "MC" and selector in (*_ONE, *_MANY):
            yield self.finished(payload, self.choice(payload, _tag(payload), "Choices", selector in _MANY), condition)
        elif kind == "TE" and validation.get("ContentType") == "ValidNumber":
            limits = _mapping(validation.get("ValidNumber"))
            one = self.number(_tag(payload), {}, limits.get("Min"), limits.get("Max"), str(limits.get("NumDecimals") or "0") == "0")
            yield self.finished(payload, one, condition)
        elif (kind == "Matrix" and selector == "Likert") or kind == "Slider":
            yield from self.table(payload, condition)
        else:
            yield Refusal(_tag(payload), _REASONS.get(kind, f"{kind} {selector} is not a type that can be asked"))

    def table(self, payload: Mapping[str, Any], condition: Expression) -> Iterator[Item]:
        """Yields the rows of a table or of several sliders, each as a question."""
        rows = self.options(payload, "Choices")
        settings = _mapping(payload.get("Configuration"))
        text = self.texts(payload, "QuestionText")
        is_short = all(len(one_line(label)) <= LENGTHS["title"] for label in text.values())
        has_title = len(rows) > 1
        yield GroupStart(_tag(payload), text if has_title and is_short else {}, condition)
        if has_title and not is_short:
            yield ForeignNote(f"{_tag(payload)}: text", text)
        for row in rows:
            name = f"{_tag(payload)}_{row.name}"
            label = row.labels if has_title or payload.get("QuestionType") == "Matrix" else {}
            if payload.get("QuestionType") == "Slider":
                least = settings.get("CSSliderMin", "0" if payload.get("Selector") == "STAR" else None)
                greatest = settings.get("CSSliderMax", settings.get("StarCount"))
                one = self.number(name, label, least, greatest, str(settings.get("NumDecimals") or "0") == "0")
            else:
                one = self.choice(payload, name, "Answers", payload.get("SubSelector") == "MultipleAnswer")
                one.label = label
                if one.is_plain and is_ordinal(one.options):
                    one.kind, one.grid = "scale", _tag(payload)
                randomization = str(_mapping(payload.get("Randomization")).get("Type") or "None")
                one.has_random_place = has_title and randomization not in ("None", "ScaleReversal")
            yield self.finished(payload, one, ALWAYS)
        yield GroupEnd()

    def choice(self, payload: Mapping[str, Any], name: str, key: str, is_several: bool) -> ForeignQuestion:
        """Returns a question with the options under a key."""
        options = [option if is_several else replace(option, is_exclusive=False) for option in self.options(payload, key)]
        one = ForeignQuestion(name, "multi_choice" if is_several else "choice", {}, options=options)
        if payload.get("Selector") == "NPS":
            one.kind = "scale"
        details = [_mapping(value) for value in _mapping(payload.get(key)).values()]
        one.losses += ["the texts of its options are left out"] if any(detail.get("TextEntry") for detail in details) else []
        one.losses += ["all respondents are offered all options"] if any(detail.get("DisplayLogic") for detail in details) else []
        randomization = _mapping(payload.get("Randomization"))
        one.is_random = str(randomization.get("Type") or "None") not in ("None", "ScaleReversal") and key == "Choices"
        if str(randomization.get("Type")) not in ("None", "All", "") and key == "Choices":
            one.losses.append("its options are all offered, and in no other order")
            one.is_random = False
        if payload.get("DynamicChoices"):
            one.losses.append("options that are carried forward from another question are left out")
        return one

    def number(self, name: str, label: Texts, low: Any, high: Any, is_whole: bool) -> ForeignQuestion:
        """Returns a number with its ends."""
        one = ForeignQuestion(name, "number", label, is_whole=is_whole)
        ends = [number(str(end)) if end not in (None, "") else None for end in (low, high)]
        one.low, one.high = ("" if end is None else f"{end:.15g}" for end in ends)
        if ends[0] is None or ends[1] is None or ends[0] >= ends[1]:
            lacks = " and ".join(word for word, end in (("least", ends[0]), ("greatest", ends[1])) if end is None) or "suitable"
            one.missing_ends = f"it has no {lacks} value"
        return one

    def finished(self, payload: Mapping[str, Any], one: ForeignQuestion, condition: Expression) -> Item:
        """Returns a question with its text, its condition and what is left out; or why it cannot be asked."""
        validation = _mapping(_mapping(payload.get("Validation")).get("Settings"))
        one.label = one.label or self.texts(payload, "QuestionText")
        one.is_required = validation.get("ForceResponse") == "ON"
        one.condition = condition
        if str(validation.get("Type")) in _LIMITS:
            one.set_limits(str(validation.get("MinChoices") or ""), str(validation.get("MaxChoices") or ""))
        elif str(validation.get("Type")) in ("CustomValidation", "ChoicesTotal"):
            one.losses.append("its validation is left out")
        if not one.is_number and len(one.options) < 2:
            return Refusal(one.name, "it has fewer than two options")
        return one

    # --- texts -------------------------------------------------------------------------------------------------------

    def texts(self, payload: Mapping[str, Any], key: str) -> Texts:
        """Returns a text of a question by language."""
        texts = {self.language: self.piped(str(payload.get(key) or ""))}
        for language, own in _mapping(payload.get("Language")).items():
            if isinstance(own, Mapping) and isinstance(own.get(key), str):
                texts.setdefault(str(language), self.piped(own[key]))
        return texts

    def options(self, payload: Mapping[str, Any], key: str) -> list[ForeignOption]:
        """Returns the options (or the rows of a table) of a question, in their order."""
        choices = payload.get(key)
        details = dict(enumerate(choices, 1)) if isinstance(choices, list) else _mapping(choices)
        by_id = {str(name): _mapping(detail) for name, detail in details.items()}
        order = [str(name) for name in _values(payload.get("ChoiceOrder" if key == "Choices" else "AnswerOrder"))]
        names = [name for name in dict.fromkeys(order) if name in by_id] or list(by_id)
        return [self.option(payload, key, name, by_id[name]) for name in names]

    def option(self, payload: Mapping[str, Any], key: str, name: str, detail: Mapping[str, Any]) -> ForeignOption:
        labels = {self.language: self.piped(str(detail.get("Display") or ""))}
        for language, own in _mapping(payload.get("Language")).items():
            text = _mapping(_mapping(_mapping(own).get(key)).get(name)).get("Display")
            if isinstance(text, str):
                labels.setdefault(str(language), self.piped(text))
        return ForeignOption(name, labels, bool(detail.get("ExclusiveAnswer")))

    def piped(self, text: str) -> str:
        """Returns a text whose answers, ${q://QID1/…}, are written as in other forms."""

        def name(match: re.Match[str]) -> str:
            payload = self.questions.get(match[1])
            return f"${{{_tag(payload) if payload else match[1]}}}"

        return re.sub(r"\$\{\w+://(?:Field/)?([^/}]+)[^}]*\}", name, text)

    def name_of(self, question: str, row: str) -> str | None:
        """Returns the name of a question or of a row of it."""
        payload = self.questions.get(question)
        if payload is None:
            return None
        is_table = payload.get("QuestionType") in ("Matrix", "Slider")
        return f"{_tag(payload)}_{row}" if is_table and row else None if is_table else _tag(payload)


def _tag(payload: Mapping[str, Any]) -> str:
    return str(payload.get("DataExportTag") or payload.get("QuestionID") or "?")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _values(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, Mapping) else value if isinstance(value, list) else []


def _flow_name(element: Mapping[str, Any]) -> str:
    return str(element.get("FlowID") or "randomizer")
