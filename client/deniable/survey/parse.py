"""A document becomes what a Survey holds: everything is validated, and all mistakes are reported together."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

from deniable.errors import Problem, SurveyError
from deniable.mechanism import Channel
from deniable.survey.document import Document
from deniable.survey.epsilon import parse_epsilon
from deniable.survey.question import Condition, Question, block_numbers, blocks_of
from deniable.survey.total import HIGH, exceeds, parts, total_epsilon
from deniable.survey.translation import TEXTS, language_problem, option_problems, plain
from deniable.survey.types import TYPES
from deniable.survey.types.base import NO_ANSWER, label_problems, number, printable

FORMAT = 1
OPTIONAL = (
    *("epsilon", "ask", "contact", "ethics", "thanks", "closed", "return_link", "groups", "access", "layout", "batch"),
    *("language", "translations", "accept_high_epsilon"),
)
MAX_BITS = 2048
MAX_QUESTIONS = 2048
MAX_PROBLEMS = 1000  # a hostile definition can have any number, and each takes time
LENGTHS = {"title": 200, "about": 5000, "contact": 1000, "ethics": 1000, "thanks": 1000, "closed": 1000, "text": 1000}
ACCESS = ("open", "invited")
LAYOUT = ("list", "steps")
BATCH = 10  # records that a server counts together at least, where a survey does not say
MAX_BATCH = 1000
MIN_WEIGHT, MAX_WEIGHT = 0.01, 100  # of a question: how much of the survey's epsilon it takes, beside the others
SURVEY_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
RETURN_LINK = re.compile(r"https://(?:[A-Za-z0-9-]+\.)*[A-Za-z0-9-]+(?::[0-9]{1,5})?(?:[/?][A-Za-z0-9._~!$&'()*+,;=:@/?%-]*)?")
MAX_LINK = 500  # characters
QUESTION_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")


class Parts(NamedTuple):
    """What a survey consists of, in the order of its fields."""

    id: str
    title: str
    about: str
    questions: tuple[Question, ...]
    ask: int | None
    contact: str = ""
    ethics: str = ""
    thanks: str = ""
    closed: str = ""
    return_link: str = ""
    groups: tuple[str, ...] = ()
    access: str = "open"
    layout: str = "list"
    batch: int = BATCH
    language: str = "en"
    translations: Mapping[str, Any] = MappingProxyType({})
    accept_high_epsilon: bool = False


def parse(source: Document) -> Parts:
    """The survey that a document holds. Raises SurveyError, which lists every problem in the file's order."""
    return _Builder(source).parts()


@dataclass
class _Builder:
    """Turns a document into a survey's parts, collecting problems instead of stopping at the first."""

    source: Document
    problems: list[Problem] = field(default_factory=list)

    def parts(self) -> Parts:
        self.problems.extend(self.source.problems)
        top = self.source.value
        if not isinstance(top, Mapping):
            self.refuse("file", "must be a mapping with the keys deniable, id, title, about, epsilon, questions")
            raise SurveyError(self.problems)
        self.keys(top, "", required=("deniable", "id", "title", "about", "questions"), optional=OPTIONAL)
        if "deniable" in top and str(top["deniable"]) != str(FORMAT):
            self.refuse("deniable", f"must be {FORMAT}, the version of the format, got {_shown(top['deniable'])}")
        self.identifier(top, "id", SURVEY_ID, "1 to 64 of a-z, 0-9, - and _, a letter or digit first")
        for key in TEXTS:
            self.text(top, "", key)
        self.return_link(top)
        questions = self.questions(top)
        ask = self.asked(top, questions)
        self.size(top, questions, ask)
        self.groups(top)
        self.one_of(top, "access", ACCESS)
        self.one_of(top, "layout", LAYOUT)
        batch = self.batch(top)
        translations = self.translations(top, questions)
        accepts = self.high(top, questions, ask)
        if self.problems:
            raise SurveyError(sorted(self.problems, key=lambda p: p.line or 0))
        own = (*TEXTS[2:], "return_link", "access", "layout", "language")
        others: dict[str, Any] = {key: top[key] for key in own if key in top}
        others |= {"groups": tuple(top.get("groups", ())), "batch": batch, "translations": translations, "accept_high_epsilon": accepts}
        return Parts(top["id"], top["title"], top["about"], questions, ask, **others)

    def refuse(self, where: str, message: str) -> None:
        self.problems.append(Problem(where, message, self.line(where)))
        if len(self.problems) == MAX_PROBLEMS:
            raise SurveyError([*self.problems, Problem("file", "has too many mistakes; the rest was not looked at")])

    def line(self, where: str) -> int | None:
        """The line of the nearest value that has one: a missing key is reported where it is missing."""
        while where and where not in self.source.lines:
            where = where[: max(where.rfind("."), where.rfind("["), 0)]
        return self.source.lines.get(where)

    def keys(self, mapping: Mapping[str, Any], where: str, required: Sequence[str], optional: Sequence[str]) -> None:
        known = [*required, *optional]
        for key in mapping:
            if key not in known:
                near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
                self.refuse(_join(where, str(key)), f"is not a known key; {hint}")
        for key in required:
            if key not in mapping:
                self.refuse(_join(where, key), "is missing")

    def identifier(self, mapping: Mapping[str, Any], where: str, pattern: re.Pattern[str], rule: str) -> None:
        value = mapping.get("id")
        if "id" in mapping and not (isinstance(value, str) and pattern.fullmatch(value)):
            self.refuse(where, f"must be {rule}, got {_shown(value)}")

    def text(self, mapping: Mapping[str, Any], where: str, key: str) -> None:
        if key not in mapping:
            return
        value, here = mapping[key], _join(where, key)
        if not isinstance(value, str):
            self.refuse(here, f"must be text, got {type(value).__name__}")
        elif not value.strip():
            self.refuse(here, "must not be empty")
        elif len(value) > LENGTHS[key]:
            self.refuse(here, f"must be at most {LENGTHS[key]:,} characters, got {len(value):,}")
        elif not printable(value):
            self.refuse(here, "must not contain control characters")

    def return_link(self, top: Mapping[str, Any]) -> None:
        """Where respondents go back to: one address for all of them, since what differs would tell them apart."""
        written = top.get("return_link", "https://a")
        if not isinstance(written, str) or len(written) > MAX_LINK or not RETURN_LINK.fullmatch(written):
            rule = f"must be one address for everybody that begins with https://, of at most {MAX_LINK} characters"
            self.refuse("return_link", f"{rule}, without spaces, #, {{ and }}, got {_shown(written)}")

    def groups(self, top: Mapping[str, Any]) -> None:
        if "groups" in top:
            for where, message in label_problems(top["groups"], "groups"):
                self.refuse(where, message)

    def one_of(self, top: Mapping[str, Any], key: str, allowed: Sequence[str]) -> None:
        if key in top and top[key] not in allowed:
            self.refuse(key, f"must be {' or '.join(allowed)}, got {_shown(top[key])}")

    def batch(self, top: Mapping[str, Any]) -> int:
        """How many records a server counts together at least."""
        batch = _whole(top.get("batch", BATCH))
        if batch is None or not 1 <= batch <= MAX_BATCH:
            self.refuse("batch", f"must be a whole number from 1 to {MAX_BATCH:,}, got {_shown(top['batch'])}")
        return batch or BATCH

    def translations(self, top: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, Any]:
        """The survey's texts in further languages, as they were written; all of them may be left out."""
        own, written = top.get("language", "en"), top.get("translations", {})
        if (broken := language_problem(own)) is not None:
            self.refuse("language", f"{broken}, got {_shown(own)}")
        if not isinstance(written, Mapping) or ("translations" in top and not written):
            self.refuse("translations", "must be a mapping with a language or more, each with its texts")
            return {}
        for language, texts in written.items():
            where = f"translations.{language}"
            if (broken := language_problem(language)) is not None:
                self.refuse(where, broken)
            elif language == own:
                self.refuse(where, "must be another language than the survey's own")
            elif not isinstance(texts, Mapping) or not texts:
                self.refuse(where, f"must be a mapping with some of {', '.join((*TEXTS, 'questions'))}")
            else:
                self.translation(texts, where, top, questions)
        return {} if self.problems else plain(written)

    def translation(self, texts: Mapping[str, Any], where: str, top: Mapping[str, Any], questions: Sequence[Question]) -> None:
        self.keys(texts, where, required=[], optional=[key for key in TEXTS if key in top] + ["questions"])
        for key in TEXTS:
            self.text(texts, where, key)
        own = texts.get("questions", {})
        if not isinstance(own, Mapping) or ("questions" in texts and not own):
            self.refuse(f"{where}.questions", "must be a mapping from question ids to their text and options")
            return
        known = {question.id: question for question in questions}
        if len(known) < len(top.get("questions", ())):
            return  # the questions' own mistakes come first
        for name, words in own.items():
            here = f"{where}.questions.{name}"
            if name not in known or not isinstance(words, Mapping) or not words:
                self.refuse(here, "must be the id of a question, with its text, its options or both")
                continue
            self.keys(words, here, required=[], optional=["text", "options"])
            self.text(words, here, "text")
            if "options" in words:
                for key, message in option_problems(known[name], words["options"]):
                    self.refuse(f"{here}.{key}", message)

    def questions(self, top: Mapping[str, Any]) -> tuple[Question, ...]:
        written = top.get("questions", [])
        if not isinstance(written, list | tuple) or ("questions" in top and not written):
            self.refuse("questions", "must be a list of at least one question")
            written = []
        if len(written) > MAX_QUESTIONS:
            self.refuse("questions", f"must be at most {MAX_QUESTIONS:,} questions, got {len(written):,}")
            return ()
        shares = self.shares(written, _whole(top.get("ask")))
        built: list[Question | None] = []
        bits = 0
        first: dict[str, int] = {}
        for index, source in enumerate(written):
            where = f"questions[{index}]"
            if not isinstance(source, Mapping):
                self.refuse(where, f"must be a mapping with the keys id, text, type, got {type(source).__name__}")
                continue
            name = source.get("id")
            if isinstance(name, str) and first.setdefault(name, index) != index:
                self.refuse(f"{where}.id", f"must be unique, got the id of questions[{first[name]}] again: {_shown(name)}")
            built.append(self.question(source, where, top, shares[index], built))
            bits += _bits(built[-1]) if built[-1] else 0
            if bits > 2 * MAX_BITS:
                break  # `size` refuses what was read so far
        if "epsilon" in top:
            self.epsilon(top["epsilon"], "epsilon")
        return tuple(question for question in built if question)

    def shares(self, written: Sequence[Any], ask: int | None) -> list[Fraction]:
        """What part of the survey's epsilon each question takes; one whose weight is wrong counts as any other."""
        weights = [_weight(source) or Fraction(1) for source in written]
        return parts(weights, block_numbers([_dependence(source) for source in written]), ask if ask and ask > 0 else None)

    def question(
        self, source: Mapping[str, Any], where: str, top: Mapping[str, Any], part: Fraction, earlier: Sequence[Question | None]
    ) -> Question | None:
        before = len(self.problems)
        kind = TYPES.get(source["type"]) if isinstance(source.get("type"), str) else None
        if "type" in source and kind is None:
            near = difflib.get_close_matches(str(source["type"]), TYPES, n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            self.refuse(f"{where}.type", f"must be one of {', '.join(TYPES)}, got {_shown(source['type'])}{hint}")
        own = list(kind.required_keys) if kind else []
        others = [key for t in ([kind] if kind else TYPES.values()) for key in (*t.required_keys, *t.optional_keys)]
        self.keys(source, where, required=["id", "text", "type", *own], optional=["epsilon", "weight", "required", "show_if", *others])
        self.identifier(source, f"{where}.id", QUESTION_ID, "1 to 64 of A-Z, a-z, 0-9 and _, a letter first")
        self.text(source, where, "text")
        if kind and all(key in source for key in own):
            for key, message in kind.problems(source):
                self.refuse(f"{where}.{key}", message)
        required = self.flag(source, f"{where}.required", True) and "show_if" not in source
        if "show_if" in source and source.get("required") in (True, "true"):
            self.refuse(f"{where}.required", "must be left out or false beside show_if: a question that is not shown is sent as no answer")
        show_if = self.condition(source["show_if"], f"{where}.show_if", earlier) if "show_if" in source else None
        self.weight(source, f"{where}.weight", top)
        epsilon = self.question_epsilon(source, where, top, part)
        if kind is None or epsilon is None or len(self.problems) > before:
            return None
        settings = kind.settings(source, epsilon)
        categories = kind.categories(settings)
        if not required and NO_ANSWER in categories:
            self.refuse(where, f"must not have the option {NO_ANSWER!r}, which `required: false` adds by itself")
            return None
        categories += () if required else (NO_ANSWER,)
        labels = kind.items(settings)
        channel = Channel.for_epsilon(Fraction(epsilon) / max(1, len(labels)), len(categories))
        if channel.odds <= 1:
            self.refuse(f"{where}.epsilon", f"is too small for a 32-bit coin over {channel.k} categories: it would reveal nothing")
            return None
        return Question(source["id"], source["text"], source["type"], epsilon, settings, categories, channel, required, labels, show_if)

    def condition(self, written: Any, where: str, earlier: Sequence[Question | None]) -> Condition | None:
        """`show_if`, which may only look back."""
        if not isinstance(written, Mapping):
            self.refuse(where, f"must be a mapping with the keys question and is, got {type(written).__name__}")
            return None
        self.keys(written, where, required=["question", "is"], optional=[])
        if not {"question", "is"} <= set(written):
            return None
        name, options = written["question"], written["is"]
        found = next((q for q in earlier if q and q.id == name), None)
        if found is None or found.rounds:
            if None not in earlier:  # else its own mistakes come first
                self.refuse(f"{where}.question", f"must be the id of an earlier question with options, got {_shown(name)}")
            return None
        known = found.labels or (found.categories if found.required else found.categories[:-1])
        if not isinstance(options, list | tuple) or not options or len(set(map(str, options))) < len(options):
            self.refuse(f"{where}.is", "must be a list of at least one of that question's options, each once")
            return None
        for index, option in enumerate(options):
            if option not in known:
                self.refuse(f"{where}.is[{index}]", f"must be one of {', '.join(known[:8])}, got {_shown(option)}")
        return Condition(found.id, tuple(map(str, options)))

    def flag(self, source: Mapping[str, Any], where: str, otherwise: bool) -> bool:
        """A true or false, whose key is the last part of `where`; `otherwise` if it is left out."""
        written = source.get(where.rpartition(".")[2], otherwise)
        if written not in (True, False, "true", "false") or isinstance(written, int | float) != isinstance(written, bool):
            self.refuse(where, f"must be true or false, got {_shown(written)}")
        return written not in (False, "false")

    def weight(self, source: Mapping[str, Any], where: str, top: Mapping[str, Any]) -> None:
        if "weight" in source and _weight(source) is None:
            self.refuse(where, f"must be a number from {MIN_WEIGHT} to {MAX_WEIGHT}, got {_shown(source['weight'])}")
        elif "weight" in source and "epsilon" not in top:
            self.refuse(where, "must stand in a survey that has one epsilon for all its questions, of which it says the part")

    def question_epsilon(self, source: Mapping[str, Any], where: str, top: Mapping[str, Any], part: Fraction) -> float | None:
        if "epsilon" in source and "epsilon" in top:
            self.refuse(f"{where}.epsilon", "must not stand beside an epsilon for the whole survey; keep one of the two")
            return None
        if "epsilon" in source:
            return self.epsilon(source["epsilon"], f"{where}.epsilon")
        if "epsilon" not in top:
            self.refuse(f"{where}.epsilon", "is missing: give one here, or one for the whole survey")
            return None
        try:
            return parse_epsilon(top["epsilon"], part)
        except ValueError:
            return None  # reported once, for the survey

    def epsilon(self, written: Any, where: str) -> float | None:
        try:
            return parse_epsilon(written)
        except ValueError as error:
            self.refuse(where, f"{error}, got {_shown(written)}")
            return None

    def asked(self, top: Mapping[str, Any], questions: tuple[Question, ...]) -> int | None:
        """How many blocks are drawn, of which there must be more."""
        if "ask" not in top:
            return None
        ask, blocks = _whole(top["ask"]), len(blocks_of(questions)) if questions else 0
        if ask is None or not 1 <= ask < max(blocks, 2):
            self.refuse("ask", f"must be a whole number from 1 to {max(blocks, 2) - 1}, fewer than all, got {_shown(top['ask'])}")
        return ask

    def size(self, top: Mapping[str, Any], questions: Sequence[Question], ask: int | None) -> None:
        bits = sum(map(_bits, questions)) + (len(questions) if ask else 0)
        if bits > MAX_BITS:
            more = " or more" if len(questions) < len(top["questions"]) else ""
            self.refuse("questions", f"must need at most {MAX_BITS:,} bits in all (options less one, added up), got {bits:,}{more}")

    def high(self, top: Mapping[str, Any], questions: Sequence[Question], ask: int | None) -> bool:
        """Whether the file accepts a high total epsilon, without which it must not have one."""
        accepts = self.flag(top, "accept_high_epsilon", False)
        if not self.problems and not accepts and exceeds(questions, ask, HIGH):
            total = math.ceil(total_epsilon(questions, ask) * 1e4) / 1e4
            self.refuse(
                "epsilon" if "epsilon" in top else "questions",
                f"must be at most {HIGH} in total, got {total:,.4f}: lower it, or write `accept_high_epsilon: true` beside it "
                f"if it must be; respondents are then told how weakly they are protected",
            )
        return accepts


def _dependence(source: Any) -> tuple[Any, Any]:
    """The id of a question in a survey file, and that of the question that its show_if names."""
    if not isinstance(source, Mapping):
        return None, None
    show_if = source.get("show_if")
    return source.get("id"), show_if.get("question") if isinstance(show_if, Mapping) else None


def _weight(source: Any) -> Fraction | None:
    """The weight of a question in a survey file, 1 if it is left out; None where it breaks its rule."""
    value = number(source.get("weight", 1)) if isinstance(source, Mapping) else 1
    return Fraction(repr(value)) if value is not None and MIN_WEIGHT <= value <= MAX_WEIGHT else None


def _bits(question: Question) -> int:
    return (question.k - 1) * max(1, len(question.labels))


def _whole(written: Any) -> int | None:
    value = number(written)
    return int(value) if value is not None and value.is_integer() else None


def _join(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _shown(value: Any) -> str:
    """A value of a survey file, short enough for a message."""
    text = repr(value) if isinstance(value, str | int | float | bool) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "…'"
