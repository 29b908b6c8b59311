"""Compiled surveys as rows of the database, so that posts, starts and lists parse no definition.

A row is a function of the definition beside it. A missing row, a damaged one, or one of another version is computed from the definition;
`compile_some` stores missing ones, and `wrong` finds damaged ones.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

from deniable.survey import Survey
from deniable.survey.compiled import VERSION, CompiledSurvey
from deniable_server.store.byte_cache import ByteCache
from deniable_server.store.errors import UnknownSurveyError
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.many import rows_of

UNKNOWN = "no survey with this id is published here"
CACHE_BYTES = 16 << 20
PARSED_BYTES = 64 << 20
PARSED_TO_DEFINITION = 16
"""Memory of a parsed survey, in bytes for each byte of its definition."""

_KEEP = """INSERT INTO compiled (survey, version, digest, heading, rules, items) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (survey) DO UPDATE
SET version = excluded.version, digest = excluded.digest, heading = excluded.heading, rules = excluded.rules, items = excluded.items"""
_ITEMS = "SELECT id, items FROM surveys LEFT JOIN compiled ON compiled.survey = surveys.id AND version = ? WHERE id IN ({})"
_FIND = "SELECT surveys.id, compiled.digest FROM surveys LEFT JOIN compiled ON survey = surveys.id AND version = ? WHERE surveys.id = ?"
_MISSING = "FROM surveys WHERE NOT EXISTS (SELECT 1 FROM compiled WHERE survey = surveys.id AND version = ?)"
_compiled: ByteCache[str, CompiledSurvey] = ByteCache(CACHE_BYTES)
_parsed: ByteCache[bytes, Survey] = ByteCache(PARSED_BYTES)


class CompiledHeading(NamedTuple):
    """Fields of a definition that lists show."""

    title: str
    translated: tuple[str, ...]
    digest: str
    epsilon: float
    access: str


def parse(definition: bytes) -> Survey:
    """Returns a parsed definition."""
    survey = _parsed.get(definition)
    if survey is None:
        survey = Survey.from_definition(definition)
        _parsed.put(definition, survey, PARSED_TO_DEFINITION * len(definition))
    return survey


def store(connection: Connection, survey: Survey) -> None:
    """Stores the row of a survey."""
    connection.execute(_KEEP, _row(survey))


def find(connection: Connection, survey_id: str) -> CompiledSurvey:
    """Returns a compiled survey. Raises UnknownSurveyError."""
    row = connection.execute(_FIND, [VERSION, survey_id]).fetchone()
    if row is None:
        raise UnknownSurveyError(UNKNOWN)
    stored = None if row[1] is None else _stored(connection, survey_id, row[1])
    return stored or CompiledSurvey.of(_survey(connection, survey_id))


def heading_of(connection: Connection, survey_id: str, text: str | None) -> CompiledHeading:
    """Returns the heading of a published survey: decoded from the column `heading`, or computed from the definition without one."""
    try:
        title, translated, digest, epsilon, access = json.loads(text or "")
    except ValueError:
        return _heading(_survey(connection, survey_id))
    return CompiledHeading(title, tuple(translated), digest, epsilon, access)


def sharing(connection: Connection, survey: Survey, survey_ids: Collection[str]) -> list[str]:
    """Returns the other surveys among these with an item of the same id and type, sorted."""
    own = set(_items(survey).split())
    rows = rows_of(connection, _ITEMS, survey_ids, [VERSION])
    return [
        other
        for other, items in rows
        if other != survey.id and not own.isdisjoint((_items(_survey(connection, other)) if items is None else items).split())
    ]


def compile_some(connection: Connection, most: int) -> int:
    """Compiles up to `most` surveys that have no row of this version, in the writer's turn. Returns their number."""
    rows = connection.execute(f"SELECT definition {_MISSING} ORDER BY id LIMIT ?", [VERSION, most]).fetchall()
    connection.executemany(_KEEP, [_row(parse(bytes(definition))) for (definition,) in rows])
    return len(rows)


def any_missing(connection: Connection) -> bool:
    """Returns whether a survey has no row of this version."""
    return connection.execute(f"SELECT 1 {_MISSING} LIMIT 1", [VERSION]).fetchone() is not None


def wrong(connection: Connection, surveys: Sequence[Survey]) -> Iterator[str]:
    """Yields the ids of surveys whose rows differ from their definitions."""
    for survey in surveys:
        row = connection.execute("SELECT * FROM compiled WHERE survey = ? AND version = ?", [survey.id, VERSION]).fetchone()
        if row is not None and tuple(row) != _row(survey):
            yield survey.id


def _items(survey: Survey) -> str:
    """Returns a hash of the type and id of each item of a survey, with a space between them: an id contains the text of an option."""
    return " ".join(hashlib.sha256(f"{item.type} {item.id}".encode()).hexdigest()[:16] for item in survey.items)


def _stored(connection: Connection, survey_id: str, digest: str) -> CompiledSurvey | None:
    """Returns the compiled survey of a row with this digest. Returns None if the row is damaged: then the definition decides."""
    compiled = _compiled.get(digest)
    if compiled is None:
        (text,) = connection.execute("SELECT rules FROM compiled WHERE survey = ?", [survey_id]).fetchone()
        try:
            compiled = CompiledSurvey.from_json(text)
        except (ValueError, LookupError, TypeError, AttributeError):
            return None
        if compiled.digest != digest:
            return None
        _compiled.put(digest, compiled, compiled.size)
    return compiled if compiled.id == survey_id else None


def _row(survey: Survey) -> tuple[Any, ...]:
    return survey.id, VERSION, survey.digest, json.dumps(_heading(survey)), CompiledSurvey.of(survey).to_json(), _items(survey)


def _heading(survey: Survey) -> CompiledHeading:
    translated = tuple(own["title"] for own in survey.translations.values() if "title" in own)
    return CompiledHeading(survey.title, translated, survey.digest, survey.epsilon, survey.access)


def _survey(connection: Connection, survey_id: str) -> Survey:
    (definition,) = connection.execute("SELECT definition FROM surveys WHERE id = ?", [survey_id]).fetchone()
    return parse(bytes(definition))
