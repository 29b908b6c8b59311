"""Published surveys as rows of the database."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from deniable.survey import Survey
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.protocol import Published
from deniable_server.store.sql.connection import Connection

COLUMNS = "definition, is_open, published_on"
UNKNOWN = "no survey with this id is published here"
CLOSED, OPEN, PAUSED = 0, 1, 2  # in the column is_open


def published_of(row: Sequence[Any]) -> Published:
    """Returns the published survey of a row of COLUMNS."""
    return Published(_parsed(bytes(row[0])), row[1] > 0, str(row[2]), paused=row[1] == PAUSED)


def find(connection: Connection, survey_id: str) -> Published:
    """Returns a published survey. Raises UnknownSurveyError."""
    row = connection.execute(f"SELECT {COLUMNS} FROM surveys WHERE id = ?", [survey_id]).fetchone()  # noqa: S608 - our own constant
    if row is None:
        raise UnknownSurveyError(UNKNOWN)
    return published_of(row)


@lru_cache(maxsize=256)
def _parsed(definition: bytes) -> Survey:
    return Survey.from_definition(definition)
