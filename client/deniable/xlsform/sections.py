"""What stands around the questions of a form: labels of groups become sections; notes and hints stand with the question that follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.xlsform.words import line
from deniable.xlsform.workbook import Row, label_of


@dataclass(frozen=True)
class Around:
    """What stands before a question: the groups that begin with it, the notes since the one before, and its own row with the hint."""

    groups: tuple[Row, ...]
    notes: tuple[Row, ...]
    row: Row

    def own(self, language: str) -> dict[str, Any]:
        """Its section and its help in the form's own language."""
        return self._said(lambda row, column: label_of(row, language, column))

    def translated(self, language: str) -> dict[str, Any]:
        """The same in another language, as far as each part of a text is in it."""
        return self._said(lambda row, column: row.get((column, language), ""))

    @property
    def rows(self) -> tuple[Row, ...]:
        """All rows that say something of it."""
        return (*self.groups, *self.notes, self.row)

    def _said(self, of: Callable[[Row, str], str]) -> dict[str, Any]:
        notes = [(row, "label") for row in self.notes]
        hint = [(self.row, "hint")] if any(column == "hint" for column, _ in self.row) else []
        section = {
            "title": _joined([of(row, "label") for row in self.groups], " – "),
            "note": _joined([of(*one) for one in notes], "\n") if self.groups else "",
        }
        help_text = _joined([of(*one) for one in (hint if self.groups else [*notes, *hint])], "\n")
        told = {key: text for key, text in section.items() if text}
        return {**({"help": help_text} if help_text else {}), **({"section": told} if told else {})}


def _joined(texts: Sequence[str], between: str) -> str:
    """All of them, or nothing where one is missing."""
    lines = [line(text) for text in texts]
    return between.join(lines) if all(lines) else ""


@dataclass
class Sections:
    """The groups that a row is in, each until its first question, and the notes since the last one."""

    open: list[Row | None] = field(default_factory=list)
    notes: list[tuple[str, Row]] = field(default_factory=list)

    def begin(self, row: Row | None) -> None:
        """A group begins: its row, None where it has no label of its own."""
        self.open.append(row)

    def end(self) -> None:
        """The innermost group ends."""
        self.open.pop()

    def note(self, name: str, row: Row, first: bool) -> bool:
        """Keeps a note for the next question; not one before the first, which is about the whole survey."""
        if first and not any(self.open):
            return False
        self.notes.append((name, row))
        return True

    def around(self, row: Row) -> Around:
        """What stands before a question, and is used up by it."""
        found = Around(tuple(group for group in self.open if group), tuple(note for _, note in self.notes), row)
        self.open = [None] * len(self.open)
        self.notes = []
        return found

    @property
    def left(self) -> set[str]:
        """The names of the notes that no question follows."""
        return {name for name, _ in self.notes}
