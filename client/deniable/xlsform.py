"""An XLSForm, as ODK and Kobo have them, becomes the document of a survey, with a report of what was mapped, changed and refused, and why.

pyxform reads the workbook (https://xlsform.org says what stands in one). Here only what can be asked behind coins is kept: one of
several options, several of them, and numbers between two ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from zipfile import ZipFile

from deniable.errors import Problem, SurveyError
from deniable.extras import missing
from deniable.survey.parse import SURVEY_ID
from deniable.survey.parse_questions import QUESTION_ID
from deniable.survey.reading import LENGTHS
from deniable.survey.translation import LANGUAGE
from deniable.survey.types.base import MAX_OPTION_LENGTH, number

Verdict = Literal["mapped", "changed", "refused"]
ABOUT = "Who asks, why, and whom to contact."
EPSILON = "3"
MOST_UNPACKED = 32 << 20

_ONE = re.compile(r"(?:select_one|select1|select one)(?: from)? (\S+)(.*)")
_MANY = re.compile(r"(?:select_multiple|select multiple|select all that apply)(?: from)? (\S+)(.*)")
_BOUND = re.compile(r"\.\s*(>=|<=|>|<)\s*\(?(-?\d+(?:\.\d+)?)\)?")
_EQUAL = re.compile(r"""(?:\$\{\s*([^}\s]+)\s*\}\s*=\s*|selected\(\s*\$\{\s*([^}\s]+)\s*\}\s*,\s*)['"]?([^'"()\s]+)['"]?\s*\)?""")
_LANGUAGES = {
    "english": "en",
    "french": "fr",
    "français": "fr",
    "spanish": "es",
    "español": "es",
    "arabic": "ar",
    "german": "de",
    "deutsch": "de",
    "portuguese": "pt",
    "português": "pt",
    "russian": "ru",
    "swahili": "sw",
    "kiswahili": "sw",
    "hindi": "hi",
    "chinese": "zh",
    "turkish": "tr",
    "urdu": "ur",
    "bengali": "bn",
    "amharic": "am",
    "somali": "so",
    "nepali": "ne",
}
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
_USED = {"type", "name", "label", "hint", "required", "relevant", "constraint", "parameters", "choice_filter", "list_name", "list name"}


@dataclass(frozen=True)
class Line:
    """What became of one row of the form: its name, and why."""

    name: str
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class Imported:
    """The document of a survey, right or to be mended, and what became of each row."""

    document: dict[str, Any]
    report: tuple[Line, ...]


def read_xlsform(form: Path | bytes, name: str = "") -> Imported:
    """Reads a workbook, .xlsx or .xls: the file at a path, or its bytes. name: that of a form without a title; the file's if left out.

    Raises SurveyError where it is no XLSForm, OSError as `open` does, MissingExtraError without `deniable[xlsform]`.
    """
    if error := missing("reading an XLSForm", "xlsform"):
        raise error
    raw = form if isinstance(form, bytes) else form.read_bytes()
    sheets = _sheets(raw)
    if not sheets.survey:
        raise SurveyError([Problem("file", "must be an XLSForm: it has no sheet `survey`, or nothing in it")])
    rows = [_row(row) for row in sheets.survey]
    choices = [_row(row) for row in sheets.choices or ()]
    settings = _row((sheets.settings or [{}])[0])
    columns = {_column(name)[0] for name in (sheets.survey_header or [{}])[0]} - _USED - {""}
    return _Mapper(settings, choices, rows).imported(name or (form.stem if isinstance(form, Path) else "survey"), columns)


def is_workbook(raw: bytes) -> bool:
    """Whether a file begins as .xlsx or .xls files do."""
    return raw.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))


def _sheets(raw: bytes) -> Any:
    """The sheets as pyxform reads them."""
    from pyxform.xls2json_backends import get_xlsform

    if not is_workbook(raw):
        raise SurveyError([Problem("file", "must be a workbook, .xlsx or .xls")])
    zipped = raw.startswith(b"PK")
    try:
        if zipped and sum(part.file_size for part in ZipFile(BytesIO(raw)).infolist()) > MOST_UNPACKED:
            raise SurveyError([Problem("file", f"must be at most {MOST_UNPACKED >> 20} MiB when it is unpacked, got more")])
        return get_xlsform(BytesIO(raw), ".xlsx" if zipped else ".xls")
    except SurveyError:
        raise
    except Exception as error:  # pyxform and what it reads with raise many kinds
        raise SurveyError([Problem("file", f"must be a workbook with an XLSForm; it cannot be read ({type(error).__name__})")]) from None


Row = dict[tuple[str, str], str]
"""Cells by (column, language), the language empty where the column has none."""


def _row(row: Mapping[str, Any]) -> Row:
    return {_column(key): str(value).strip() for key, value in row.items() if key is not None and value is not None and str(value).strip()}


def _column(name: str) -> tuple[str, str]:
    kind, _, language = re.sub(r"\s*::?\s*", "::", str(name).strip()).partition("::")
    return kind.lower(), language


@dataclass
class _Mapper:
    """Maps rows one after the other. named: what became of the questions, for conditions: their ids and options by their names."""

    settings: Row
    choices: Sequence[Row]
    rows: Sequence[Row]
    report: list[Line] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    named: dict[str, tuple[str, dict[str, str]]] = field(default_factory=dict)
    words: dict[str, dict[str, Any]] = field(default_factory=dict)

    def imported(self, stem: str, columns: set[str]) -> Imported:
        self.own = self.default_language()
        for row, conditions in self.flat():
            self.question(row, conditions)
        for column in sorted(columns):
            self.say(column, "refused", "this column has no place in a survey and was left out")
        return Imported(self.document(stem), tuple(self.report))

    def say(self, name: str, verdict: Verdict, why: str) -> None:
        self.report.append(Line(name, verdict, why))

    def default_language(self) -> str:
        """The language whose labels become the survey's own texts, as the form's columns name it."""
        languages = list(dict.fromkeys(language for row in self.rows for kind, language in row if kind == "label"))
        wanted = self.settings.get(("default_language", ""), "")
        return wanted if wanted in languages else (languages or [""])[0] if "" not in languages else ""

    def flat(self) -> Iterator[tuple[Row, list[str]]]:
        """The rows that may be questions, each with the conditions of the groups that it is in."""
        inside: list[tuple[str, str]] = []
        for row in self.rows:
            kind, name = row.get(("type", ""), "").replace("_", " ").lower(), row.get(("name", ""), "?")
            if kind.startswith("begin "):
                inside.append((kind, row.get(("relevant", ""), "")))
                verdict: Verdict = "refused" if "repeat" in kind else "changed"
                self.say(name, verdict, "it is asked once of each person" if verdict == "refused" else "its questions stand by themselves")
            elif kind.startswith("end ") and inside:
                inside.pop()
            elif any("repeat" in one for one, _ in inside):
                self.say(name, "refused", "it is asked again and again, and each answer would be hidden less")
            elif kind:
                yield row, [condition for _, condition in inside if condition]

    def question(self, row: Row, conditions: list[str]) -> None:
        """One row: a question, or a line that says why it is none."""
        kind, name = " ".join(row[("type", "")].split()), row.get(("name", ""), "")
        made = self.kind(kind, row)
        if isinstance(made, str):
            return self.say(name or kind, "refused", made)
        keys, options, notes = made
        text = _short(self.label(row) or name, LENGTHS["text"])
        if hint := row.get(("hint", self.own), row.get(("hint", ""), "")):
            text = _short(f"{text} ({hint})", LENGTHS["text"])
            notes.append("its hint stands behind the question")
        one: dict[str, Any] = {"id": self.unused(name), "text": text, **keys}
        if one["id"] != name:
            notes.append(f"its name is {one['id']}")
        if row.get(("required", ""), "").lower() not in ("yes", "true", "true()", "1"):
            one["required"] = "false"
        self.condition(one, [*conditions, *filter(None, [row.get(("relevant", ""))])], notes)
        self.questions.append(one)
        self.named[name] = (one["id"], options)
        self.translate(row, one)
        return self.say(name, "changed" if notes else "mapped", "; ".join(notes) or f"as {keys['type']}")

    def kind(self, kind: str, row: Row) -> tuple[dict[str, Any], dict[str, str], list[str]] | str:
        """The keys of a question's type, its options by their names, and what was changed; or why it cannot be asked."""
        one, many = _ONE.fullmatch(kind), _MANY.fullmatch(kind)
        if one or many:
            match = one or many
            assert match is not None
            return self.options(match[1], match[2], bool(many), row)
        if kind in ("integer", "int", "decimal"):
            ends = _ends(row.get(("constraint", ""), ""), kind != "decimal")
            return ({"type": "number", **ends}, {}, []) if ends else "a number needs two ends: a constraint such as . >= 0 and . <= 120"
        if kind == "range":
            ends = dict(re.findall(r"(start|end)\s*=\s*(-?[\d.]+)", row.get(("parameters", ""), "")))
            low, high = ends.get("start", "1"), ends.get("end", "10")
            return {"type": "number", "low": low, "high": high}, {}, []
        return _REASONS.get(kind, f"{kind.split()[0]} is not among the kinds of answers")

    def options(self, listed: str, more: str, many: bool, row: Row) -> tuple[dict[str, Any], dict[str, str], list[str]] | str:
        rows = self.listed(listed)
        if len(rows) < 2:
            return "its options are not in the form, or fewer than two"
        names = [one.get(("name", ""), one.get(("value", ""), "")) for one in rows]
        labels = _unlike([_short(self.label(one) or name, MAX_OPTION_LENGTH) for one, name in zip(rows, names, strict=True)], names)
        notes = ["everybody is offered all options"] if row.get(("choice_filter", "")) else []
        notes += ["there is no “other” with a text"] if "other" in more else []
        if not many and sorted(label.lower() for label in labels) == ["no", "yes"]:
            return {"type": "yes_no"}, {name: label.lower() for name, label in zip(names, labels, strict=True)}, notes
        return {"type": "multi_choice" if many else "choice", "options": labels}, dict(zip(names, labels, strict=True)), notes

    def condition(self, one: dict[str, Any], conditions: list[str], notes: list[str]) -> None:
        """`show_if`, where the conditions are one: an answer to one earlier question."""
        if not conditions:
            return
        show_if = self.show_if(conditions[0]) if len(conditions) == 1 else None
        if show_if is None:
            one["required"] = "false"
            notes.append("it is asked of everybody and may be skipped: its condition is more than an answer to one question")
        else:
            one["show_if"] = show_if
            one.pop("required", None)

    def show_if(self, condition: str) -> dict[str, Any] | None:
        asked, answers = set(), []
        for part in re.split(r"\s+or\s+", condition.strip(), flags=re.IGNORECASE):
            match = _EQUAL.fullmatch(part.strip().removeprefix("(").strip())
            name = (match[1] or match[2]) if match else ""
            if not match or name not in self.named or match[3] not in self.named[name][1]:
                return None
            asked.add(name)
            answers.append(self.named[name][1][match[3]])
        return {"question": self.named[asked.pop()][0], "is": list(dict.fromkeys(answers))} if len(asked) == 1 else None

    def label(self, row: Row) -> str:
        return row.get(("label", self.own), row.get(("label", ""), ""))

    def translate(self, row: Row, one: dict[str, Any]) -> None:
        """The question in the form's other languages; its options where all of them have a label there."""
        kind = " ".join(row[("type", "")].split())
        match = _ONE.fullmatch(kind) or _MANY.fullmatch(kind)
        rows = self.listed(match[1]) if match and "options" in one else []
        for language in sorted({language for each in (row, *rows) for name, language in each if name == "label"} - {self.own}):
            text = _short(row.get(("label", language), ""), LENGTHS["text"])
            options = [_short(option.get(("label", language), ""), MAX_OPTION_LENGTH) for option in rows]
            own: dict[str, Any] = {"text": text} if text else {}
            own |= {"options": options} if options and all(options) and len(set(options)) == len(options) else {}
            if own:
                self.words.setdefault(language, {})[one["id"]] = own

    def listed(self, name: str) -> list[Row]:
        """The options of a list."""
        return [one for one in self.choices if name in (one.get(("list_name", "")), one.get(("list name", "")))]

    def document(self, stem: str) -> dict[str, Any]:
        title = self.settings.get(("form_title", ""), "") or self.settings.get(("title", ""), "") or stem
        name = self.settings.get(("form_id", ""), "") or self.settings.get(("id_string", ""), "") or stem
        made: dict[str, Any] = {"deniable": "1", "id": _plain(name.lower(), "[^a-z0-9_-]+", SURVEY_ID, "survey")}
        made |= {"title": _short(title, LENGTHS["title"]), "about": ABOUT, "epsilon": EPSILON}
        self.say("about", "changed", "a form does not say who asks, and why: write it")
        self.say("epsilon", "changed", f"a form has no privacy: {EPSILON} for the whole survey; see what it tells, and change it")
        if (own := _tag(self.own)) and own != "en":
            made["language"] = own
        translations = {}
        for language, questions in self.words.items():
            tag = _tag(language)
            if tag and tag != (own or "en"):
                translations[tag] = {"questions": questions}
            else:
                self.say(language or "label", "refused", "its texts were left out: name its language with its tag, as “English (en)”")
        return {**made, **({"translations": translations} if translations else {}), "questions": self.questions}

    def unused(self, name: str) -> str:
        taken, start = {one["id"] for one in self.questions}, _plain(name, "[^A-Za-z0-9_]+", QUESTION_ID, "q")
        return next(one for one in (start, *(f"{start[:58]}_{number}" for number in range(2, 5000))) if one not in taken)


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


def _tag(language: str) -> str:
    """The tag of a language as a form names it: “English (en)”, “en”, “English”; empty where it says none."""
    inside = re.search(r"\(([^)]+)\)\s*$", language)
    for one in (inside[1].strip() if inside else "", language.strip()):
        if LANGUAGE.fullmatch(one):
            return one
    return _LANGUAGES.get(language.partition("(")[0].strip().lower(), "")


def _plain(name: str, other: str, pattern: re.Pattern[str], instead: str) -> str:
    """A name as survey files have them."""
    found = re.sub(other, "_", name).strip("_-")[:60]
    return found if pattern.fullmatch(found) else f"{instead}_{found}" if pattern.fullmatch(f"{instead}_{found}") else instead


def _short(text: str, most: int) -> str:
    """On one line, without what would be markup of a form, and no longer than may be."""
    line = " ".join(re.sub(r"</?[a-zA-Z][^>]*>|\*\*|[\x00-\x1f\x7f-\x9f]", " ", text).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def _unlike(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """Labels of which no two are the same: those that are have their names behind them, or a number."""
    found: list[str] = []
    for label, name in zip(labels, names, strict=True):
        fitting = (label, f"{label} ({name})", *(f"{label} ({place})" for place in range(2, 2000)))
        found.append(next(one for one in fitting if one and one not in found))
    return found
