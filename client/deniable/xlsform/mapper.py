"""The rows of a form become the questions of a survey, one after the other; and each gets a line of the report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any, Literal, NamedTuple

from deniable.errors import Problem, SurveyError
from deniable.extras import missing
from deniable.survey.parse import SURVEY_ID
from deniable.survey.parse_questions import QUESTION_ID
from deniable.survey.types.base import MAX_OPTION_LENGTH
from deniable.survey.validator import LENGTHS
from deniable.xlsform.conditions import Asked, show_if
from deniable.xlsform.kinds import is_whole, kind_of, listed, lists_of, may_be_several, type_of
from deniable.xlsform.languages import one_name_each, tag_of
from deniable.xlsform.sections import Around, Sections
from deniable.xlsform.words import fitted, line, named_in, plain, short
from deniable.xlsform.workbook import Row, column_of, is_yes, label_of, row_of, sheets_of

Verdict = Literal["mapped", "changed", "refused"]
ABOUT = "Who asks, why, and whom to contact."
EPSILON = "3"
MOST_OFFERED = 20_000  # a survey has 2,048 bits: what is far beyond that would only take time

_USED = {
    "type",
    "name",
    "label",
    "hint",
    "required",
    "relevant",
    "constraint",
    "parameters",
    "choice_filter",
    "list_name",
    "disabled",
    "read_only",
}
_PICTURES = {"media", "image", "big-image", "audio", "video"}


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
    sheets = sheets_of(raw)
    if not sheets.survey:
        raise SurveyError([Problem("file", "must be an XLSForm: it has no sheet `survey`, or nothing in it")])
    header = {column_of(name)[0] for name in (sheets.survey_header or [{}])[0]}
    if "type" not in header:
        raise SurveyError([Problem("file", "must be an XLSForm: its sheet `survey` has no column `type`")])
    names: dict[str, str] = {}
    rows = one_name_each(map(row_of, sheets.survey), names)
    choices = one_name_each(map(row_of, sheets.choices or ()), names)
    pictures = {column for row in choices for column, _ in row} & _PICTURES
    settings = row_of((sheets.settings or [{}])[0])
    mapper = _Mapper(settings, lists_of(choices), rows, names.get(tag_of(settings.get(("default_language", ""), "")), ""))
    return mapper.imported(name or (form.stem if isinstance(form, Path) else "survey"), (header - _USED - {""}) | pictures)


class _Group(NamedTuple):
    """A group that a row is in. repeated: it is asked again and again, or one around it is."""

    repeated: bool
    condition: str


@dataclass
class _Mapper:
    """Maps rows one after the other. wanted: the default language, as the columns name it; asked: what became of the questions, for
    conditions, by their names in the form."""

    settings: Row
    lists: dict[str, list[Row]]
    rows: Sequence[Row]
    wanted: str
    offered: int = 0
    report: list[Line] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    asked: dict[str, Asked] = field(default_factory=dict)
    words: dict[str, dict[str, Any]] = field(default_factory=dict)
    sections: Sections = field(default_factory=Sections)

    def imported(self, stem: str, columns: set[str]) -> Imported:
        self.own = self.default_language()
        for row, conditions in self.flat():
            self.question(row, conditions)
        for name, one in self.asked.items():
            if one.binned():
                self.amend(name, "its numbers are asked as ranges, since another question depends on them; ranges have no mean")
        left = self.sections.left
        self.report = [Line(line.name, "refused", "no question follows it") if line.name in left else line for line in self.report]
        for column in sorted(columns):
            self.say(column, "refused", "this column has no place in a survey and was left out")
        return Imported(self.document(stem), tuple(self.report))

    def say(self, name: str, verdict: Verdict, why: str) -> None:
        self.report.append(Line(name, verdict, why))

    def amend(self, name: str, note: str) -> None:
        """Adds to what was said of a row that was mapped."""
        place = next(place for place, line in enumerate(self.report) if line.name == name and line.verdict != "refused")
        before = self.report[place]
        self.report[place] = Line(name, "changed", f"{before.why}; {note}" if before.verdict == "changed" else note)

    def default_language(self) -> str:
        """The language whose labels become the survey's own texts, as the form's columns name it."""
        languages = list(dict.fromkeys(language for row in self.rows for kind, language in row if kind == "label"))
        named = self.settings.get(("default_language", ""), "")
        wanted = self.wanted or named
        return wanted if wanted in languages else (languages or [""])[0] if "" not in languages else ""

    def flat(self) -> Iterator[tuple[Row, list[str]]]:
        """The rows that may be questions, each with the conditions of the groups that it is in."""
        inside: list[_Group] = []
        for row in self.rows:
            kind, name = row.get(("type", ""), "").replace("_", " ").lower(), row.get(("name", ""), "?")
            if kind.startswith("begin "):
                repeated = any(word in kind for word in ("repeat", "loop", "lgroup")) or bool(inside and inside[-1].repeated)
                inside.append(_Group(repeated, row.get(("relevant", ""), "")))
                self.group(row, name, repeated)
            elif kind.startswith("end ") and inside:
                inside.pop()
                self.sections.end()
            elif inside and inside[-1].repeated:
                self.say(name, "refused", "it is asked again and again, and each answer would be hidden less")
            elif kind:
                yield row, [one.condition for one in inside if one.condition]

    def group(self, row: Row, name: str, repeated: bool) -> None:
        titled = not repeated and bool(line(label_of(row, self.own)))
        self.sections.begin(row if titled else None)
        if repeated:
            self.say(name, "refused", "it is asked once of each person")
        else:
            self.say(name, "changed", "its label is the title of a section" if titled else "its questions stand by themselves")

    def question(self, row: Row, conditions: list[str]) -> None:
        """One row: a question, a note before one, or a line that says why it is neither."""
        name = row.get(("name", ""), "")
        conditions = [*conditions, *filter(None, [row.get(("relevant", ""))])]
        read = type_of(row) == "note" and line(label_of(row, self.own)) and not is_yes(row, "disabled")
        if read and self.sections.note(name or "note", row, first=not self.questions):
            return self.say(name or "note", "changed", "it stands before the next question" + (", of everybody" if conditions else ""))
        made = kind_of(row, self.lists, self.own)
        if isinstance(made, str):
            return self.say(name or type_of(row), "refused", made)
        self.offered += len(made.keys.get("options", ()))
        if self.offered > MOST_OFFERED:
            raise SurveyError([Problem("file", f"must offer at most {MOST_OFFERED:,} options in all its questions, got more")])
        one: dict[str, Any] = {"id": self.unused(name), "text": name, **made.keys}
        notes = [*made.notes, *([f"its name is {one['id']}"] if one["id"] != name else [])]
        if not is_yes(row, "required"):
            one["required"] = "false"
        self.condition(one, conditions, notes)
        self.questions.append(one)
        self.asked[name] = Asked(one, made.options, is_whole(row), may_be_several(row))
        around = self.sections.around(row)
        one |= self.texts(row, name, around, notes)
        self.translate(one, around, notes)
        return self.say(name, "changed" if notes else "mapped", "; ".join(notes) or f"as {made.keys['type']}")

    def texts(self, row: Row, name: str, around: Around, notes: list[str]) -> dict[str, Any]:
        """What the question says in the form's own language; its name where it has no label."""
        label = line(label_of(row, self.own))
        if not label:
            notes.append("it has no label: its name stands there")
        texts = fitted({"text": label or line(name), **around.own(self.own)}, notes)
        if names := named_in(texts):
            notes.append(f"its text names {', '.join(names)}, which no survey shows: word it anew")
        return texts

    def condition(self, one: dict[str, Any], conditions: list[str], notes: list[str]) -> None:
        """`show_if`, where the conditions are about earlier answers."""
        if not conditions:
            return
        found, changes = show_if(conditions, self.asked)
        notes += changes
        if found is None:
            one["required"] = "false"
            notes.append("it is asked of everybody and may be skipped: its condition is not one of earlier answers, or of bins of a number")
        else:
            one["show_if"] = found
            one.pop("required", None)

    def translate(self, one: dict[str, Any], around: Around, notes: list[str]) -> None:
        """The question in the form's other languages; its options where all of them have a label there."""
        offered = listed(around.row, self.lists) if "options" in one else []
        columns = {column for each in (*around.rows, *offered) for column in each if column[0] in ("label", "hint")}
        partly: list[str] = []
        for language in sorted({language for _, language in columns} - {self.own, ""}):
            text = line(around.row.get(("label", language), ""))
            options = [short(option.get(("label", language), ""), MAX_OPTION_LENGTH) for option in offered]
            own: dict[str, Any] = {"text": text} if text else {}
            if options and all(options) and len(set(options)) == len(options):
                own["options"] = options
            elif any(options):
                partly.append(language)
            own |= _in_both(around.translated(language), one)
            if own:
                self.words.setdefault(language, {})[one["id"]] = fitted(own, notes, f" in {language}")
        if partly:
            notes.append(f"its options in {', '.join(partly)} are left out: each needs a text of its own")

    def document(self, stem: str) -> dict[str, Any]:
        title = self.settings.get(("form_title", ""), "") or self.settings.get(("title", ""), "") or stem
        name = self.settings.get(("form_id", ""), "") or self.settings.get(("id_string", ""), "") or stem
        made: dict[str, Any] = {"deniable": "1", "id": plain(name.lower(), "[^a-z0-9_-]+", SURVEY_ID, "survey")}
        made |= {"title": short(title, LENGTHS["title"]), "about": ABOUT, "epsilon": EPSILON}
        self.say("about", "changed", "a form does not say who asks, and why: write it")
        self.say("epsilon", "changed", f"a form has no privacy: {EPSILON} for the whole survey; see what it tells, and change it")
        own = tag_of(self.own or self.settings.get(("default_language", ""), ""))
        if not own:
            self.say("language", "changed", "the form names no language that has a tag here: its texts count as English; change it")
        elif own != "en":
            made["language"] = own
        translations = {}
        for language, questions in self.words.items():
            tag = tag_of(language)
            if tag and tag != (own or "en"):
                translations[tag] = {"questions": questions}
            elif tag:
                self.say(language, "refused", "its texts were left out: those of the survey itself are in this language")
            else:
                self.say(language, "refused", "its texts were left out: name its language with its tag, as “English (en)”")
        return {**made, **({"translations": translations} if translations else {}), "questions": self.questions}

    def unused(self, name: str) -> str:
        taken, start = {one["id"] for one in self.questions}, plain(name, "[^A-Za-z0-9_]+", QUESTION_ID, "q")
        return next(one for one in chain((start,), (f"{start[:55]}_{number}" for number in count(2))) if one not in taken)


def _in_both(words: dict[str, Any], one: dict[str, Any]) -> dict[str, Any]:
    """Of a question's help and section in another language, what it has in the form's own."""
    found = {"help": words["help"]} if "help" in words and "help" in one else {}
    section = {key: text for key, text in words.get("section", {}).items() if key in one.get("section", {})}
    return {**found, **({"section": section} if section else {})}
