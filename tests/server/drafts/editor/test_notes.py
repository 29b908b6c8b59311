"""Notes of a draft are the comments of its file: all are found, and none is lost when the form writes the file anew."""

from __future__ import annotations

import pytest

from deniable.survey.document import parse
from deniable_server.drafts.editor import notes
from deniable_server.drafts.editor.notes import notes_in, with_notes

FILE = """\
# first
#
## second
deniable: 1   # beside a value
id: "a#b"
title: a # after a title #1
about: |
  # not a comment
  text
# after a block
questions:
  - {id: x, text: "q # no", type: yes_no} # at the end
"""
FOUND = "first\n\nsecond\nbeside a value\nafter a title #1\nafter a block\nat the end"


def test_all_comments_are_found_and_no_text_that_looks_like_one() -> None:
    assert notes_in(FILE) == FOUND
    written = with_notes("title: a\n", FOUND)
    assert (parse(written).value, notes_in(written)) == ({"title": "a"}, FOUND)


def test_a_search_for_signs_would_take_texts_for_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: without the tokens of the file."""
    monkeypatch.setattr(notes, "_gaps", lambda text: iter([text]))
    assert "not a comment" in notes_in(FILE)


@pytest.mark.parametrize("text", ["", "[", "title: T\n", '{"title": "# none"}', "\x00"])
def test_what_has_no_comments_or_is_no_yaml_has_no_notes(text: str) -> None:
    assert notes_in(text) == ""
    assert with_notes(text, "  \n") == text
