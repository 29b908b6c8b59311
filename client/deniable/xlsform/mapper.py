"""Mapper of XLSForms: turns the rows of a form into the questions of a survey, and reports what became of each row."""

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
from deniable.xlsform.conditions import EarlierQuestion, show_if
from deniable.xlsform.languages import tag_of, unify_names
from deniable.xlsform.question_types import is_whole, lists_of, map_type, may_be_several, options_of, type_of
from deniable.xlsform.sections import QuestionContext, Sections
from deniable.xlsform.texts import legal_id, one_line, references_in, truncate, truncate_texts
from deniable.xlsform.workbook import Row, column_of, is_yes, label_of, row_of, sheets_of

Verdict = Literal["mapped", "changed", "refused"]
ABOUT = "Who asks, why, and who to contact."
EPSILON = "3"
MOST_OPTIONS = 20_000  # of all questions: a survey has at most 2,048 bits, so mapping more would only take time

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
class ReportLine:
    """The outcome for a row of the form.

    Attributes:
        name: The name of the row, or of a column or a setting.
        verdict: Whether it was mapped, changed or refused.
        why: The reason.
    """

    name: str
    verdict: Verdict
    why: str


@dataclass(frozen=True)
class ImportedForm:
    """A form as a survey.

    Attributes:
        document: The survey file, which may still need corrections.
        report: A line for each row of the form.
    """

    document: dict[str, Any]
    report: tuple[ReportLine, ...]


def read_xlsform(form: Path | bytes, name: str = "") -> ImportedForm:
    """Reads a workbook, .xlsx or .xls.

    Args:
        form: The path of the workbook, or its bytes.
        name: The title of a form without one. By default the name of the file.

    Raises:
        SurveyError: It is no XLSForm.
        OSError: The file cannot be read.
        MissingExtraError: The extra `deniable[xlsform]` is missing.
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
    rows = unify_names(map(row_of, sheets.survey), names)
    choices = unify_names(map(row_of, sheets.choices or ()), names)
    pictures = {column for row in choices for column, _ in row} & _PICTURES
    settings = row_of((sheets.settings or [{}])[0])
    mapper = _Mapper(settings, lists_of(choices), rows, names.get(tag_of(settings.get(("default_language", ""), "")), ""))
    return mapper.map(name or (form.stem if isinstance(form, Path) else "survey"), (header - _USED - {""}) | pictures)


class _Group(NamedTuple):
    """A group around a row.

    Attributes:
        is_repeated: Whether it, or a group around it, is asked repeatedly.
        condition: Its condition, or an empty text.
    """

    is_repeated: bool
    condition: str


@dataclass
class _Mapper:
    """Maps rows one after the other.

    Attributes:
        settings: The form's settings.
        lists: The options of the form by the names of their lists.
        rows: The rows of the sheet `survey`.
        default: The default language, as the columns name it.
        options: The number of options so far.
        report: The lines so far.
        questions: The questions so far.
        earlier: The questions that conditions may be about, by their names in the form.
        translations: The texts of questions by their ids, for each other language.
        sections: The groups and notes before the next question.
    """

    settings: Row
    lists: dict[str, list[Row]]
    rows: Sequence[Row]
    default: str
    options: int = 0
    report: list[ReportLine] = field(default_factory=list)
    questions: list[dict[str, Any]] = field(default_factory=list)
    earlier: dict[str, EarlierQuestion] = field(default_factory=dict)
    translations: dict[str, dict[str, Any]] = field(default_factory=dict)
    sections: Sections = field(default_factory=Sections)

    def map(self, title: str, unknown_columns: set[str]) -> ImportedForm:
        self.language = self.own_language()
        for row, conditions in self.question_rows():
            self.question(row, conditions)
        for name, earlier in self.earlier.items():
            if earlier.add_bins():
                self.amend(name, "its numbers are asked as ranges, since another question depends on them; ranges have no mean")
        unused = self.sections.unused_notes
        self.report = [ReportLine(line.name, "refused", "no question follows it") if line.name in unused else line for line in self.report]
        for column in sorted(unknown_columns):
            self.say(column, "refused", "a survey has no such column: it is left out")
        return ImportedForm(self.document(title), tuple(self.report))

    def say(self, name: str, verdict: Verdict, why: str) -> None:
        self.report.append(ReportLine(name, verdict, why))

    def amend(self, name: str, note: str) -> None:
        """Adds a note to the line of a mapped row."""
        index = next(index for index, line in enumerate(self.report) if line.name == name and line.verdict != "refused")
        before = self.report[index]
        self.report[index] = ReportLine(name, "changed", f"{before.why}; {note}" if before.verdict == "changed" else note)

    def own_language(self) -> str:
        """Returns the language of the survey's own texts, as the form's columns name it."""
        languages = list(dict.fromkeys(language for row in self.rows for column, language in row if column == "label"))
        default = self.default or self.settings.get(("default_language", ""), "")
        return default if default in languages else (languages or [""])[0] if "" not in languages else ""

    def question_rows(self) -> Iterator[tuple[Row, list[str]]]:
        """Yields the rows that may be questions, each with the conditions of the groups around it."""
        groups: list[_Group] = []
        for row in self.rows:
            kind, name = row.get(("type", ""), "").replace("_", " ").lower(), row.get(("name", ""), "?")
            if kind.startswith("begin "):
                is_repeated = any(word in kind for word in ("repeat", "loop", "lgroup")) or bool(groups and groups[-1].is_repeated)
                groups.append(_Group(is_repeated, row.get(("relevant", ""), "")))
                self.group(row, name, is_repeated)
            elif kind.startswith("end ") and groups:
                groups.pop()
                self.sections.end()
            elif groups and groups[-1].is_repeated:
                self.say(name, "refused", "it is repeated: each repetition would reveal more")
            elif kind:
                yield row, [group.condition for group in groups if group.condition]

    def group(self, row: Row, name: str, is_repeated: bool) -> None:
        has_title = not is_repeated and bool(one_line(label_of(row, self.language)))
        self.sections.begin(row if has_title else None)
        if is_repeated:
            self.say(name, "refused", "a survey asks each question only once")
        else:
            self.say(name, "changed", "its label is the title of a section" if has_title else "it has no label, so it is no section")

    def question(self, row: Row, conditions: list[str]) -> None:
        """Adds the question of a row, keeps a note for the next one, or refuses the row."""
        name = row.get(("name", ""), "")
        conditions = [*conditions, *filter(None, [row.get(("relevant", ""))])]
        is_note = type_of(row) == "note" and one_line(label_of(row, self.language)) and not is_yes(row, "disabled")
        if is_note and self.sections.note(name or "note", row, is_first=not self.questions):
            return self.say(
                name or "note", "changed", "it is shown before the next question" + (", to all respondents" if conditions else "")
            )
        mapped = map_type(row, self.lists, self.language)
        if isinstance(mapped, str):
            return self.say(name or type_of(row), "refused", mapped)
        self.options += len(mapped.keys.get("options", ()))
        if self.options > MOST_OPTIONS:
            raise SurveyError([Problem("file", f"must offer at most {MOST_OPTIONS:,} options in all its questions, got more")])
        question: dict[str, Any] = {"id": self.unused_id(name), "text": name, **mapped.keys}
        notes = [*mapped.notes, *([f"its id is {question['id']}"] if question["id"] != name else [])]
        if not is_yes(row, "required"):
            question["required"] = "false"
        self.add_condition(question, conditions, notes)
        self.questions.append(question)
        self.earlier[name] = EarlierQuestion(question, mapped.options, is_whole(row), may_be_several(row))
        context = self.sections.take_context(row)
        question |= self.texts(row, name, context, notes)
        self.translate(question, context, notes)
        return self.say(name, "changed" if notes else "mapped", "; ".join(notes) or f"as {mapped.keys['type']}")

    def texts(self, row: Row, name: str, context: QuestionContext, notes: list[str]) -> dict[str, Any]:
        """Returns the texts of a question in the form's own language. A question without a label shows its name."""
        label = one_line(label_of(row, self.language))
        if not label:
            notes.append("it has no label: its name is shown")
        texts = truncate_texts({"text": label or one_line(name), **context.texts(self.language)}, notes)
        if references := references_in(texts):
            notes.append(f"its text shows {', '.join(references)}, which a survey cannot: rewrite it")
        return texts

    def add_condition(self, question: dict[str, Any], conditions: list[str], notes: list[str]) -> None:
        """Adds `show_if` to a question if the conditions are about earlier answers; otherwise it may be skipped."""
        if not conditions:
            return
        condition, changes = show_if(conditions, self.earlier)
        notes += changes
        if condition is None:
            question["required"] = "false"
            notes.append("all are asked and may skip it: its condition is not about earlier answers, or ranges of a number")
        else:
            question["show_if"] = condition
            question.pop("required", None)

    def translate(self, question: dict[str, Any], context: QuestionContext, notes: list[str]) -> None:
        """Adds a question's translations; its options need a label for each in a language."""
        offered = options_of(context.row, self.lists) if "options" in question else []
        columns = {column for row in (*context.rows, *offered) for column in row if column[0] in ("label", "hint")}
        incomplete: list[str] = []
        for language in sorted({language for _, language in columns} - {self.language, ""}):
            text = one_line(context.row.get(("label", language), ""))
            options = [truncate(option.get(("label", language), ""), MAX_OPTION_LENGTH) for option in offered]
            texts: dict[str, Any] = {"text": text} if text else {}
            if options and all(options) and len(set(options)) == len(options):
                texts["options"] = options
            elif any(options):
                incomplete.append(language)
            texts |= _translatable(context.translation(language), question)
            if texts:
                self.translations.setdefault(language, {})[question["id"]] = truncate_texts(texts, notes, f" in {language}")
        if incomplete:
            notes.append(f"its options in {', '.join(incomplete)} are left out: each needs a text of its own")

    def document(self, default_title: str) -> dict[str, Any]:
        """Returns the survey file."""
        title = self.settings.get(("form_title", ""), "") or self.settings.get(("title", ""), "") or default_title
        name = self.settings.get(("form_id", ""), "") or self.settings.get(("id_string", ""), "") or default_title
        document: dict[str, Any] = {"deniable": "1", "id": legal_id(name.lower(), "[^a-z0-9_-]+", SURVEY_ID, "survey")}
        document |= {"title": truncate(title, LENGTHS["title"]), "about": ABOUT, "epsilon": EPSILON}
        self.say("about", "changed", "a form does not say who asks and why: write it")
        self.say(
            "epsilon", "changed", f"a form has no epsilon: it is {EPSILON} for the whole survey; check what that reveals, and change it"
        )
        own = tag_of(self.language or self.settings.get(("default_language", ""), ""))
        if not own:
            self.say("language", "changed", "the form names no known language: its texts count as English; change it if they are not")
        elif own != "en":
            document["language"] = own
        translations = self.tagged_translations(own or "en")
        return {**document, **({"translations": translations} if translations else {}), "questions": self.questions}

    def tagged_translations(self, own: str) -> dict[str, Any]:
        """Returns the translations by the tags of their languages, and reports those that are left out."""
        translations = {}
        for language, questions in self.translations.items():
            tag = tag_of(language)
            if tag and tag != own:
                translations[tag] = {"questions": questions}
            elif tag:
                self.say(language, "refused", "its texts are left out: the survey itself is in this language")
            else:
                self.say(language, "refused", "its texts are left out: name the language with its tag, as in “English (en)”")
        return translations

    def unused_id(self, name: str) -> str:
        ids, start = {question["id"] for question in self.questions}, legal_id(name, "[^A-Za-z0-9_]+", QUESTION_ID, "q")
        candidates = chain((start,), (f"{start[:55]}_{number}" for number in count(2)))
        return next(candidate for candidate in candidates if candidate not in ids)


def _translatable(texts: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    """Returns the help and section of another language that the question also has in the form's own."""
    own_help = {"help": texts["help"]} if "help" in texts and "help" in question else {}
    section = {key: text for key, text in texts.get("section", {}).items() if key in question.get("section", {})}
    return {**own_help, **({"section": section} if section else {})}
