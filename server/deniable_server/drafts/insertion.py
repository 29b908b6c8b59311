"""Insertion of questions into a draft: from the library of scales, and from the author's own questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from deniable.errors import SurveyError
from deniable.scales import ids_of, with_new_ids
from deniable.survey import Survey
from deniable_server.drafts.editor.draft_text import MOST_QUESTIONS
from deniable_server.store.saved_questions import MOST_BYTES

_OF_ITS_SURVEY = ("show_if", "section", "weight", "epsilon")


def saved_text(question: Mapping[str, Any]) -> str:
    """Returns a question for the author's own library, in JSON, without what belongs to its survey.

    Raises:
        ValueError: The question is not valid, or too large.
    """
    own = {key: value for key, value in question.items() if key not in _OF_ITS_SURVEY}
    try:
        Survey.from_dict({"deniable": "1", "id": "s", "title": "T", "about": "A", "epsilon": "1", "questions": [own]})
    except SurveyError:
        raise ValueError("fix the problems of the question first") from None
    text = json.dumps(own, ensure_ascii=False)
    if len(text.encode()) > MOST_BYTES:
        raise ValueError(f"a saved question must be at most {MOST_BYTES:,} bytes")
    return text


def with_questions(document: Mapping[str, Any], questions: Sequence[Mapping[str, Any]], after: int) -> dict[str, Any]:
    """Returns a document with more questions, whose ids are new.

    Args:
        document: A draft's document.
        questions: The questions to insert.
        after: The number of the question that precedes them, from 1; 0 for the beginning.

    Raises:
        ValueError: The draft would have too many questions.
    """
    present = list(document.get("questions", []))
    if len(present) + len(questions) > MOST_QUESTIONS:
        raise ValueError(f"a draft in the form must have at most {MOST_QUESTIONS} questions")
    inserted = with_new_ids(questions, set(ids_of(present)))
    if "epsilon" not in document:
        inserted = [{**question, "epsilon": str(answer_count(question))} for question in inserted]
    place = min(max(0, after), len(present))
    return {**document, "questions": [*present[:place], *inserted, *present[place:]]}


def answer_count(question: Mapping[str, Any]) -> int:
    """Returns how many answers a question asks for: a rating block asks for one of each item."""
    return len(question.get("items") or [question])
