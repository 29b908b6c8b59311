"""Validator of survey documents: rules for values of many keys, and problems with their locations."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from deniable.errors import Problem, SurveyError
from deniable.survey.document import Document
from deniable.survey.types.base import printable

LENGTHS = {"title": 200, "about": 5000, "institution": 200} | dict.fromkeys(
    ("contact", "ethics", "thanks", "closed", "text", "help", "note"), 1000
)
"""Most characters of each text of a survey."""

MAX_PROBLEMS = 1000  # a hostile definition can have any number, and each takes time


@dataclass
class Validator:
    """Validator of one document. problems: the problems so far; validation continues after each."""

    source: Document
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, where: str, message: str) -> None:
        """Records a problem with a key or value. Raises SurveyError once there are too many."""
        self.problems.append(Problem(where, message, self.line(where)))
        if len(self.problems) == MAX_PROBLEMS:
            raise SurveyError([*self.problems, Problem("file", "has too many mistakes; the rest was not checked")])

    def line(self, where: str) -> int | None:
        """Returns the line of the nearest value with a line, such as the parent of a missing key."""
        while where and where not in self.source.lines:
            where = where[: max(where.rfind("."), where.rfind("["), 0)]
        return self.source.lines.get(where)

    def keys(self, mapping: Mapping[str, Any], where: str, required: Sequence[str], optional: Sequence[str]) -> None:
        """Refuses unknown keys, and reports missing required keys."""
        allowed = [*required, *optional]
        for key in mapping:
            if key not in allowed:
                near = difflib.get_close_matches(str(key), allowed, n=1, cutoff=0.5)
                hint = f"did you mean {near[0]}?" if near else f"the keys here are {', '.join(allowed)}"
                self.refuse(join(where, str(key)), f"is not a known key; {hint}")
        for key in required:
            if key not in mapping:
                self.refuse(join(where, key), "is missing")

    def identifier(self, mapping: Mapping[str, Any], where: str, pattern: re.Pattern[str], rule: str) -> None:
        """Refuses an id that does not match a pattern."""
        value = mapping.get("id")
        if "id" in mapping and not (isinstance(value, str) and pattern.fullmatch(value)):
            self.refuse(where, f"must be {rule}, got {excerpt(value)}")

    def text(self, mapping: Mapping[str, Any], where: str, key: str) -> None:
        """Refuses a value that is not text, or longer than LENGTHS[key] characters; a missing key is allowed."""
        if key not in mapping:
            return
        value, here = mapping[key], join(where, key)
        if not isinstance(value, str):
            self.refuse(here, f"must be text, got {type(value).__name__}")
        elif not value.strip():
            self.refuse(here, "must not be empty")
        elif len(value) > LENGTHS[key]:
            self.refuse(here, f"must be at most {LENGTHS[key]:,} characters, got {len(value):,}")
        elif not printable(value):
            self.refuse(here, "must not contain control characters")

    def flag(self, source: Mapping[str, Any], where: str, default: bool) -> bool:
        """Returns the value of a true or false, by the key at the end of `where`."""
        value = source.get(where.rpartition(".")[2], default)
        if value not in (True, False, "true", "false") or isinstance(value, int | float) != isinstance(value, bool):
            self.refuse(where, f"must be true or false, got {excerpt(value)}")
        return value not in (False, "false")


def join(where: str, key: str) -> str:
    """Returns the location of a key below `where`."""
    return f"{where}.{key}" if where else key


def excerpt(value: Any) -> str:
    """Returns a value of a survey file, short enough for a message."""
    text = repr(value) if isinstance(value, str | int | float | bool) else type(value).__name__
    return text if len(text) <= 60 else text[:57] + "…'"
