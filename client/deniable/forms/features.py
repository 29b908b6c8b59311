"""Keys of the survey format that imports use where this version has them."""

from __future__ import annotations

from functools import cache
from typing import Any

from deniable.errors import SurveyError
from deniable.survey import Survey

_SCALE = {"id": "a", "text": "A", "type": "scale", "options": ["1", "2", "3"]}
_CHOICE = {"id": "a", "text": "A", "type": "choice", "options": ["1", "2", "3"]}
_YES_NO = {"id": "b", "text": "B", "type": "yes_no"}
_RATING = {
    "id": "r",
    "text": "R",
    "type": "rating",
    "options": ["1", "2", "3"],
    "items": [{"id": "c", "text": "C"}, {"id": "d", "text": "D"}],
}


@cache
def has_scores() -> bool:
    """Returns whether conditions can be on sums of scores."""
    return _is_valid(_SCALE, {**_YES_NO, "show_if": {"score": ["a"], "at_least": "2"}})


@cache
def has_other() -> bool:
    """Returns whether a key can name the option for all other answers."""
    return _is_valid({**_CHOICE, "other": "3"})


@cache
def has_order() -> bool:
    """Returns whether options can have a random order."""
    return _is_valid({**_CHOICE, "order": "random"})


@cache
def has_ratings() -> bool:
    """Returns whether one question can rate several items on one scale."""
    return _is_valid(_RATING)


@cache
def has_piping() -> bool:
    """Returns whether a text can show an earlier answer; without it, such a text has no meaning, but no mistake either."""
    return not _is_valid({**_YES_NO, "text": "${nothing}"})


def _is_valid(*questions: dict[str, Any]) -> bool:
    try:
        Survey.from_dict(
            {"deniable": "1", "id": "s", "title": "S", "about": "A", "epsilon": "1", "questions": [dict(one) for one in questions]}
        )
    except SurveyError:
        return False
    return True
