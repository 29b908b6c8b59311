"""What a form of a draft may hold: more takes the server's time, whoever sends it."""

from __future__ import annotations

import pytest

from deniable_server.drafts.editor.actions import apply_action
from deniable_server.drafts.editor.forms import MOST, too_many

FULL = [
    *(f"questions-{place}-{rest}" for place in range(MOST["questions"]) for rest in ("id", "conditions-0-question", "words-0-text")),
    *(f"questions-3-conditions-{row}-answers" for row in range(MOST["conditions"])),
    *(f"questions-3-words-{number}-help" for number in range(MOST["words"])),
    *(f"languages-{number}-tag" for number in range(MOST["languages"])),
    "title",
    "questions",
]


def test_a_form_that_is_full_is_taken() -> None:
    assert too_many(FULL) == ""


@pytest.mark.parametrize("kind", MOST)
def test_one_more_is_told_by_its_kind(kind: str) -> None:
    name = f"{kind}-999-x" if kind in ("questions", "languages") else f"questions-3-{kind}-999-x"
    assert too_many([*FULL, name]).startswith(f"a form must have at most {MOST[kind]} {kind}")


@pytest.mark.parametrize("action", ["add", "copy 0"])
def test_no_button_makes_more_questions_than_there_are_fields_for(action: str) -> None:
    fields = {"questions": [{"id": f"q{place}"} for place in range(MOST["questions"])], "languages": []}
    assert apply_action(fields, action) == "add"
    assert len(fields["questions"]) == MOST["questions"]
