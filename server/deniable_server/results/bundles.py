"""Bundle downloads: a survey's bundle or one of its files, sent while it is written."""

from __future__ import annotations

import hashlib
import threading
from typing import IO, cast

from flask import Response

from deniable.bundle import LICENCES, Bundle, CountedRecords, approximate_sizes
from deniable.survey import Survey
from deniable_server.results.disclosure_control import labelled_rows
from deniable_server.results.released_records import ReleasedRecords
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
    version: str | None = version_of(store, survey)
    rows = labelled_rows(store, survey)
    with ReleasedRecords(rows, survey) as records:
        records.open()
        if records.has_two_tables:
            records.sort()
        if version_of(store, survey) != version:  # records were counted meanwhile
            version = None
            records.sort()
        counted = CountedRecords(survey, records.sizes, cast("IO[bytes]", records), rows.withheld, rows.omitted)
        bundle = Bundle(counted, licence)
        media_type = "application/zip" if name == ALL else bundle.file(name).media_type
        outlet.begin(f"{survey_id}-{name.replace('/', '-')}", media_type, version, _size(counted, name))
        _write(bundle, name, cast("IO[bytes]", outlet))


def _size(counted: CountedRecords, name: str) -> int:
    """Returns about how many bytes a file has, and 0 for files that hardly depend on the number of records."""
    sizes = approximate_sizes(counted.survey, counted.n)
    return sizes[name].size if name in sizes else 0


def _write(bundle: Bundle, name: str, file: IO[bytes]) -> None:
    """Writes the archive or a file."""
    if name == ALL:
        survey_id = bundle.counted.survey.id
        bundle.write_zip(file, folder=survey_id if is_trial(survey_id) else "")  # so that no file of it is taken for a real one
    else:
        bundle.write(name, file)
