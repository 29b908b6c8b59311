"""Sections of a survey from the groups of a form, and help texts from its notes and hints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.xlsform.texts import one_line
from deniable.xlsform.workbook import Row, label_of


@dataclass(frozen=True)
class QuestionContext:
    """The rows that describe a question.

    Attributes:
        groups: The groups that begin with it.
        notes: The notes since the question before it.
        row: Its row, with its hint.
    """

    groups: tuple[Row, ...]
    notes: tuple[Row, ...]
    row: Row

    def texts(self, language: str) -> dict[str, Any]:
        """Returns the question's section and help in the form's own language."""
        return self._texts(lambda row, column: label_of(row, language, column))

    def translation(self, language: str) -> dict[str, Any]:
        """Returns the section and help in another language, without texts that are not completely translated."""
        return self._texts(lambda row, column: row.get((column, language), ""))

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows that describe the question."""
        return (*self.groups, *self.notes, self.row)

    def _texts(self, text_of: Callable[[Row, str], str]) -> dict[str, Any]:
        notes = [(row, "label") for row in self.notes]
        hint = [(self.row, "hint")] if any(column == "hint" for column, _ in self.row) else []
        section = {
            "title": _join([text_of(row, "label") for row in self.groups], " – "),
            "note": _join([text_of(row, column) for row, column in notes], "\n") if self.groups else "",
        }
        section = {key: text for key, text in section.items() if text}
        help_text = _join([text_of(row, column) for row, column in (hint if self.groups else [*notes, *hint])], "\n")
        return {**({"help": help_text} if help_text else {}), **({"section": section} if section else {})}


def _join(texts: Sequence[str], separator: str) -> str:
    """Joins texts; returns an empty text if one is missing."""
    lines = [one_line(text) for text in texts]
    return separator.join(lines) if all(lines) else ""


@dataclass
class Sections:
    """Groups and notes that wait for the next question.

    Attributes:
        open: The groups around the current row; None for one that has no label, or whose first question came already.
        notes: The notes since the last question, with their names.
    """

    open: list[Row | None] = field(default_factory=list)
    notes: list[tuple[str, Row]] = field(default_factory=list)

    def begin(self, row: Row | None) -> None:
        """Begins a group: with its row, or None if it has no label."""
        self.open.append(row)

    def end(self) -> None:
        """Ends the innermost group."""
        self.open.pop()

    def note(self, name: str, row: Row, is_first: bool) -> bool:
        """Keeps a note for the next question, and returns whether it did: a note before the first question is about the whole survey."""
        if is_first and not any(self.open):
            return False
        self.notes.append((name, row))
        return True

    def take_context(self, row: Row) -> QuestionContext:
        """Returns the context of a question, and forgets the groups and notes in it."""
        context = QuestionContext(tuple(group for group in self.open if group), tuple(note for _, note in self.notes), row)
        self.open = [None] * len(self.open)
        self.notes = []
        return context

    @property
    def unused_notes(self) -> set[str]:
        """The names of the notes without a question after them."""
        return {name for name, _ in self.notes}
