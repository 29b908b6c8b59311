"""Bundle downloads: a survey's bundle or one of its files, sent while it is written."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from typing import IO, cast

from flask import Response

from deniable.bundle import LICENCES, Bundle, CountedRecords, order_parts
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable_server.results.disclosure_control import LabelledRows, labelled_rows
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store, by_hand, estimated
from deniable_server.store.trials import is_trial
from deniable_server.web import downloads
from deniable_server.web.outlet import Outlet

ALL = "bundle.zip"
"""The name of the archive of all files."""

PROPOSED = next(iter(LICENCES))
"""The default licence."""


WAIT = 5.0
"""Seconds to wait for other downloads."""
_TURN = threading.Lock()


def reply(store: Store, survey_id: str, name: str, licence: str) -> Response:
    """Returns the archive ALL, or one file, of the counted records. Raises as `make` does."""
    return downloads.reply(make, version_of(store, store.surveys.published(survey_id).survey), survey_id, name, licence)


def version_of(store: Store, survey: Survey) -> str:
    """Returns a text that changes whenever the rows of a survey that may be released do."""
    counted = store.submissions.state(survey.id, [*estimated(survey), *by_hand(survey)])
    state = f"{survey.digest} {store.life.settings(survey.id).least} {counted}"
    return hashlib.sha256(state.encode()).hexdigest()


def make(store: Store, survey_id: str, name: str, licence: str, outlet: Outlet) -> None:
    """Writes the archive ALL, or one file, of the counted records; one at a time, to leave processor time for respondents.

    Raises:
        UnavailableError: Other downloads take longer than WAIT.
        EstimateError: The licence or the file is unknown, or the file cannot be made.
        WithheldError: There are too few records to release.
        OSError: The disk is full.
    """
    if not _TURN.acquire(timeout=WAIT):
        raise UnavailableError("others are downloading data just now: try again in a moment")
    try:
        _make(store, survey_id, name, licence, outlet)
    finally:
        _TURN.release()


def _make(store: Store, survey_id: str, name: str, licence: str, outlet: Outlet) -> None:
    survey = store.surveys.published(survey_id).survey
    before, rows = version_of(store, survey), labelled_rows(store, survey)
    with tempfile.TemporaryFile(prefix="deniable-bundle-") as packed:
        sizes = _pack(rows, survey, packed)
        version = before if before == version_of(store, survey) else None
        counted = CountedRecords(survey, {part: n for part, n in sizes.items() if n}, packed, rows.withheld, rows.omitted)
        bundle = Bundle(counted, licence)
        media_type = "application/zip" if name == ALL else bundle.file(name).media_type
        outlet.begin(f"{survey_id}-{name.replace('/', '-')}", media_type, version)
        file = cast("IO[bytes]", outlet)
        if name == ALL:
            bundle.write_zip(file, folder=survey_id if is_trial(survey_id) else "")  # so that no file of it is taken for a real one
        else:
            bundle.write(name, file)


def _pack(rows: LabelledRows, survey: Survey, packed: IO[bytes]) -> dict[Part, int]:
    """Writes the records of each part and returns how many there are."""
    sizes: dict[Part, int] = {}
    for part, chunks in rows.read(order_parts(dict.fromkeys(rows.parts, 1), survey)):
        before = packed.tell()
        for chunk in chunks:
            packed.write(chunk)
        sizes[part] = (packed.tell() - before) // survey.record.bytes
    return sizes
