"""Keys that the schema of survey files knows, so that the form offers a field for each of them and for no other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from deniable.survey.schema import survey_schema
from deniable.survey.types import TYPES


@cache
def survey_keys() -> frozenset[str]:
    """Returns the keys of a survey."""
    return frozenset(survey_schema()["properties"])


@cache
def question_keys() -> Mapping[str, frozenset[str]]:
    """Returns the keys of each kind of question, by the kind's name."""
    kinds: list[dict[str, Any]] = survey_schema()["properties"]["questions"]["items"]["oneOf"]
    return {kind["properties"]["type"]["const"]: frozenset(kind["properties"]) for kind in kinds}


def has_items(kind: str) -> bool:
    """Returns whether questions of a kind are blocks of items."""
    return "items" in question_keys().get(kind, frozenset())


@cache
def any_question_keys() -> frozenset[str]:
    """Returns the keys that some kind of question has."""
    return frozenset().union(*question_keys().values())


def kinds_of_answers() -> list[tuple[str, str]]:
    """Returns each kind of question with a description for people."""
    return [(name, TYPES[name].title if name in TYPES else name.replace("_", " ")) for name in question_keys()]
