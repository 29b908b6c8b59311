"""Sections of a survey from the groups of a form, and help texts from its notes and hints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.forms.expressions import Expression, conjuncts
from deniable.forms.foreign import ForeignNote, ForeignQuestion, GroupStart, Texts, text_in
from deniable.forms.texts import one_line


@dataclass(frozen=True)
class QuestionContext:
    """The texts around a question.

    Attributes:
        groups: The groups that begin with it.
        section_notes: The notes that begin its section, which everybody reads.
        notes: The other notes before it.
        question: The question, with its hint.
    """

    groups: tuple[GroupStart, ...]
    section_notes: tuple[ForeignNote, ...]
    notes: tuple[ForeignNote, ...]
    question: ForeignQuestion

    def texts(self, language: str) -> dict[str, Any]:
        """Returns the question's section and help in the form's own language."""
        return self._texts(lambda texts: text_in(texts, language))

    def translation(self, language: str) -> dict[str, Any]:
        """Returns the section and help in another language, without texts that are not completely translated."""
        return self._texts(lambda texts: texts.get(language, ""))

    @property
    def languages(self) -> set[str]:
        """The languages of any of the texts."""
        labels = [group.label for group in self.groups] + [note.label for note in (*self.section_notes, *self.notes)]
        return {language for texts in (*labels, self.question.label, self.question.hint) for language in texts}

    def _texts(self, text_of: Callable[[Texts], str]) -> dict[str, Any]:
        hint = [self.question.hint] if self.question.hint else []
        section = {
            "title": _join([text_of(group.label) for group in self.groups], " – "),
            "note": _join([text_of(note.label) for note in self.section_notes], "\n"),
        }
        section = {key: text for key, text in section.items() if text}
        help_text = _join([text_of(texts) for texts in (*(note.label for note in self.notes), *hint)], "\n")
        return {**({"help": help_text} if help_text else {}), **({"section": section} if section else {})}


def _join(texts: Sequence[str], separator: str) -> str:
    """Joins texts; returns an empty text if one is missing."""
    lines = [one_line(text) for text in texts]
    return separator.join(lines) if all(lines) else ""


@dataclass(frozen=True)
class WaitingNote:
    """A note that waits for the next question.

    Attributes:
        note: The note.
        condition: When the form shows it, with the conditions of the groups around it.
        line: The index of its line in the report.
        is_forced: Whether the author wants it before the next question in any case.
    """

    note: ForeignNote
    condition: Expression
    line: int
    is_forced: bool = False

    def suits(self, expressed: set[Expression]) -> bool:
        """Returns whether all people who are asked a question are meant to read the note."""
        return self.is_forced or set(conjuncts(self.condition)) <= expressed


@dataclass
class Sections:
    """Groups and notes that wait for the next question.

    Attributes:
        open: The groups around the current row; None for one that has no label, or whose first question came already.
        notes: The notes since the last question.
    """

    open: list[GroupStart | None] = field(default_factory=list)
    notes: list[WaitingNote] = field(default_factory=list)

    def begin(self, group: GroupStart | None) -> None:
        """Begins a group: with its label, or None without a label."""
        self.open.append(group)

    def end(self) -> None:
        """Ends the innermost group."""
        if self.open:
            self.open.pop()

    def takes_note(self, is_first: bool) -> bool:
        """Returns whether a note can wait: one before the first question and outside of groups is about the whole survey."""
        return any(self.open) or not is_first

    def take_context(self, question: ForeignQuestion, expressed: set[Expression]) -> tuple[QuestionContext, list[WaitingNote]]:
        """Returns the context of a question and the notes that do not suit it, and forgets the groups and notes.

        A note with a condition is put under its question: the text of a section is also read by people who skip the question.
        """
        groups = tuple(group for group in self.open if group)
        suitable = [waiting for waiting in self.notes if waiting.suits(expressed)]
        others = [waiting for waiting in self.notes if not waiting.suits(expressed)]
        of_section = [waiting.note for waiting in suitable if groups and not conjuncts(waiting.condition)]
        of_question = [waiting.note for waiting in suitable if waiting.note not in of_section]
        self.open = [None] * len(self.open)
        self.notes = []
        return QuestionContext(groups, tuple(of_section), tuple(of_question), question), others
