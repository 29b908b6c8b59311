"""View of the editor: the line of each question in the list and the outline, and the question that is open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deniable_server.drafts.editor.forms import EditorForm
from deniable_server.drafts.editor.mistakes import is_missing
from deniable_server.drafts.editor.shapes import shorten

_MOST = 80  # characters of a line
_QUESTION = re.compile(r"(?:questions|up|down|library)-(\d{1,9})(?:-|$)")


@dataclass(frozen=True)
class QuestionLine:
    """A question in one line.

    Attributes:
        text: Its text, shortened; empty while it is not written.
        kind: The kind of answer.
        is_conditional: Whether it is shown only after certain answers.
        section: The title of the section that begins with it.
        mistakes: The number of rules that its fields break.
        missing: The number of its fields that are not filled in yet.
    """

    text: str
    kind: str
    is_conditional: bool
    section: str
    mistakes: int
    missing: int


def question_lines(form: EditorForm, mistakes: Mapping[str, Sequence[str]]) -> list[QuestionLine]:
    """Returns the line of each question of a form."""
    return [_line(entry.form, index, mistakes) for index, entry in enumerate(form.questions)]


def open_question(focus: str, mistakes: Mapping[str, Sequence[str]], count: int) -> int:
    """Returns the index of the question that is open: the one with the focus, else the first with a mistake, else the first."""
    if match := _QUESTION.match(focus):
        return min(int(match[1]), count - 1)
    numbers = [int(match[1]) for field in mistakes if (match := _QUESTION.match(field)) and not is_missing(mistakes[field])]
    return min(numbers, default=0)


def _line(question: EditorForm, index: int, mistakes: Mapping[str, Sequence[str]]) -> QuestionLine:
    own = [messages for field, messages in mistakes.items() if (match := _QUESTION.match(field)) and int(match[1]) == index]
    faults = sum(len(messages) for messages in own if not is_missing(messages))
    condition = question.conditions[0].form if question.conditions else None
    return QuestionLine(
        text=shorten(question.text.data or "", _MOST),
        kind=dict(question.type.choices).get(question.type.data, ""),
        is_conditional=condition is not None and bool(condition.question.data or condition.score.data or condition.count.data),
        section=question.section_title.data or "",
        mistakes=faults,
        missing=sum(map(is_missing, own)),
    )
