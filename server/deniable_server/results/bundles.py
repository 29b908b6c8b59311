"""Bundle downloads: a survey's bundle or one of its files, completed in a temporary file before it is sent."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass
from typing import IO

from flask import Response, send_file

from deniable.bundle import LICENCES, Bundle, CountedRecords, order_parts
from deniable.wire.part import Part
from deniable_server.results.disclosure_control import labelled_rows
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.store.trials import is_trial

ALL = "bundle.zip"
"""The name of the archive of all files."""

PROPOSED = next(iter(LICENCES))
"""The default licence."""


WAIT = 5.0
"""Seconds to wait for other downloads."""
_TURN = threading.Lock()


@dataclass(frozen=True)
class Download:
    """A temporary file that is deleted when closed. size: in bytes."""

    file: IO[bytes]
    size: int
    name: str
    media_type: str

    def reply(self) -> Response:
        """Returns the file as an attachment with its length."""
        response = send_file(self.file, self.media_type, as_attachment=True, download_name=self.name, conditional=False, etag=False)
        response.content_length = self.size
        return response


def make(store: Store, survey_id: str, name: str, licence: str) -> Download:
    """Makes the archive ALL, or one file, of the counted records; one at a time, to leave processor time for respondents.

    Raises:
        UnavailableError: Other downloads take longer than WAIT.
        EstimateError: The licence or the file is unknown, or the file cannot be made.
        WithheldError: There are too few records to release.
        OSError: The disk is full.
    """
    if not _TURN.acquire(timeout=WAIT):
        raise UnavailableError("others are downloading data just now: try again in a moment")
    try:
        return _make(store, survey_id, name, licence)
    finally:
        _TURN.release()


def _make(store: Store, survey_id: str, name: str, licence: str) -> Download:
    survey = store.surveys.published(survey_id).survey
    rows = labelled_rows(store, survey)
    sizes: dict[Part, int] = {}
    file = tempfile.NamedTemporaryFile(prefix="deniable-bundle-")  # noqa: SIM115 - closed by the sender
    try:
        with tempfile.TemporaryFile(prefix="deniable-bundle-") as packed:
            for part, chunks in rows.read(order_parts(dict.fromkeys(rows.parts, 1), survey)):
                before = packed.tell()
                for chunk in chunks:
                    packed.write(chunk)
                sizes[part] = (packed.tell() - before) // survey.record.bytes
            counted = CountedRecords(survey, {part: n for part, n in sizes.items() if n}, packed, rows.withheld, rows.omitted)
            kind = _write(Bundle(counted, licence), name, file)
        size = file.tell()
        file.flush()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return Download(file, size, f"{survey_id}-{name.replace('/', '-')}", kind)


def _write(bundle: Bundle, name: str, file: IO[bytes]) -> str:
    """Writes a file of the bundle and returns its media type."""
    if name == ALL:
        survey_id = bundle.counted.survey.id
        bundle.write_zip(file, folder=survey_id if is_trial(survey_id) else "")  # so that no file of it is taken for a real one
        return "application/zip"
    bundle.write(name, file)
    return bundle.files[name].media_type
