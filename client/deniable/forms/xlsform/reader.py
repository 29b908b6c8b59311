"""Reader of XLSForms, the workbooks of ODK, Kobo and SurveyCTO."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from deniable.errors import Problem, SurveyError
from deniable.forms.expressions import Expression
from deniable.forms.foreign import MOST_OPTIONS, ForeignForm, ForeignNote, ForeignQuestion, GroupEnd, GroupStart, Item, Refusal, text_in
from deniable.forms.languages import tag_of
from deniable.forms.texts import one_line
from deniable.forms.xlsform.rows import is_ordinal, is_table_header, list_name, lists_of, question_of, texts_of, type_of
from deniable.forms.xlsform.workbook import Row, column_of, is_yes, row_of, sheets_of, unify_names
from deniable.forms.xlsform.xpath import Calculation, Expressions

_USED = {
    "type",
    "name",
    "label",
    "hint",
    "required",
    "relevant",
    "constraint",
    "parameters",
    "calculation",
    "choice_filter",
    "list_name",
    "disabled",
    "read_only",
    "kobo--score-choices",
}
_PICTURES = {"media", "image", "big-image", "audio", "video"}
_MATRIX = ("kobo--score-choices", "")
_REPEATS = ("repeat", "loop", "lgroup")
_UNASKABLE_GROUPS = {
    "begin rank": "a ranking cannot be asked",
    "begin kobomatrix": "a table of several questions a row cannot be asked: ask one question a row",
}


def read(raw: bytes, name: str) -> ForeignForm:
    """Reads a workbook, .xlsx or .xls.

    Args:
        raw: The bytes of the workbook.
        name: The title of a form without one.

    Raises:
        SurveyError: It is no XLSForm.
    """
    sheets, dates = sheets_of(raw)
    if not sheets.survey:
        raise SurveyError([Problem("file", "must be an XLSForm: it has no sheet `survey`, or nothing in it")])
    header = {column_of(column)[0] for column in (sheets.survey_header or [{}])[0]}
    if "type" not in header:
        raise SurveyError([Problem("file", "must be an XLSForm: its sheet `survey` has no column `type`")])
    names: dict[str, str] = {}
    rows = unify_names(map(row_of, sheets.survey), names)
    choices = unify_names(map(row_of, sheets.choices or ()), names)
    settings = row_of((sheets.settings or [{}])[0])
    language, default = _languages(rows, settings, names)
    items = list(_Reader(lists_of(choices), rows, language).items())
    title = settings.get(("form_title", ""), "") or settings.get(("title", ""), "") or name
    identifier = settings.get(("form_id", ""), "") or settings.get(("id_string", ""), "") or name
    columns = (header - _USED - {""}) | ({column for row in choices for column, _ in row} & _PICTURES)
    remarks = [Refusal(column, "a survey has no such column: it is left out") for column in sorted(columns)]
    remarks += [
        Refusal(text, f"it was a date in the workbook, {date[:10]}: check it, and format cells as text") for date, text in dates.items()
    ]
    return ForeignForm(title, identifier, language, default, items, remarks)


def _languages(rows: Sequence[Row], settings: Row, names: dict[str, str]) -> tuple[str, str]:
    """Returns the language of the survey's own texts, as the form's columns name it, and the one that its settings name."""
    setting = settings.get(("default_language", ""), "")
    languages = list(dict.fromkeys(language for row in rows for column, language in row if column == "label"))
    default = names.get(tag_of(setting), "") or setting
    own = default if default in languages else (languages or [""])[0] if "" not in languages else ""
    return own, setting


@dataclass
class _Group:
    """A group around a row.

    Attributes:
        refusal: Why none of its rows is asked; empty if they are.
        relevant: Its condition.
        table: The name of the table that its questions belong to; empty if they are no table.
        matrix: The list that all rows of a rating matrix offer.
        headers: The lists that rows above the current one show as the header of a table, with the names of these rows.
    """

    refusal: str
    relevant: str
    table: str = ""
    matrix: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class _Reader:
    """Reader of one form's rows.

    Attributes:
        lists: The options of the form by the names of their lists.
        rows: The rows of the sheet `survey`.
        language: The language of the form's own texts.
    """

    lists: dict[str, list[Row]]
    rows: Sequence[Row]
    language: str
    groups: list[_Group] = field(default_factory=list)
    options: int = 0

    def items(self) -> Iterator[Item]:
        """Yields the rows of the form as items."""
        self.expressions = Expressions(dict(self.calculations()))
        for row in self.rows:
            kind = _kind(row)
            if kind.startswith("begin "):
                yield self.begin(row, kind)
            elif kind.startswith("end ") and self.groups:
                self.groups.pop()
                yield GroupEnd()
            elif self.groups and self.groups[-1].refusal:
                yield Refusal(row.get(("name", ""), "?"), self.groups[-1].refusal)
            elif kind:
                yield self.item(row)

    def calculations(self) -> Iterator[tuple[str, Calculation]]:
        """Yields the calculated values of the form, without those in groups that are repeated."""
        groups: list[tuple[bool, str]] = []
        for row in self.rows:
            kind = _kind(row)
            if kind.startswith("begin "):
                groups.append((any(word in kind for word in _REPEATS), row.get(("relevant", ""), "")))
            elif kind.startswith("end ") and groups:
                groups.pop()
            elif kind.startswith("calculate") and not any(is_repeated for is_repeated, _ in groups):
                relevant = [*(condition for _, condition in groups), row.get(("relevant", ""), "")]
                yield row.get(("name", ""), ""), Calculation(row.get(("calculation", ""), ""), tuple(filter(None, relevant)))

    def begin(self, row: Row, kind: str) -> GroupStart:
        """Begins a group."""
        name, relevant = row.get(("name", ""), "?"), row.get(("relevant", ""), "")
        is_repeated = any(word in kind for word in _REPEATS)
        refusal = "it is repeated: each repetition would reveal more" if is_repeated else _UNASKABLE_GROUPS.get(kind, "")
        refusal = (self.groups[-1].refusal if self.groups else "") or refusal
        table = name if "table-list" in row.get(("appearance", ""), "").split() or kind == "begin score" else ""
        self.groups.append(_Group(refusal, relevant, table, row.get(_MATRIX, "")))
        why = "a survey asks each question only once" if is_repeated else refusal
        return GroupStart(name, texts_of(row), self.expressions.parse(relevant), why)

    def item(self, row: Row) -> Item:
        """Returns a question, a note, or the reason why the row is neither."""
        group = self.groups[-1] if self.groups else _Group("", "")
        question = question_of(row, self.lists, group.matrix)
        name = row.get(("name", ""), "")
        if isinstance(question, ForeignQuestion):
            question.condition = self.condition(row)
            question.grid = self.table(row, group, question)
            self.options += len(question.options)
            if self.options > MOST_OPTIONS:
                raise SurveyError([Problem("file", f"must offer at most {MOST_OPTIONS:,} options in all its questions, got more")])
            return question
        if is_table_header(row):
            group.headers[list_name(row)] = name
        is_note = (type_of(row) == "note" or is_table_header(row)) and one_line(text_in(texts_of(row), self.language))
        if is_note and not is_yes(row, "disabled"):
            return ForeignNote(name or "note", texts_of(row), self.condition(row), question)
        return Refusal(name or type_of(row), question)

    def condition(self, row: Row) -> Expression:
        return self.expressions.parse(row.get(("relevant", ""), ""))

    def table(self, row: Row, group: _Group, question: ForeignQuestion) -> str:
        """Returns the table that a question belongs to, and makes a question with the steps of a scale a scale."""
        table = group.table or ("list-nolabel" in row.get(("appearance", ""), "").split() and group.headers.get(list_name(row), "")) or ""
        if table and question.is_plain and is_ordinal(question.options):
            question.kind = "scale"
        return table if question.is_scale else ""


def _kind(row: Row) -> str:
    return " ".join(row.get(("type", ""), "").replace("_", " ").lower().split())
