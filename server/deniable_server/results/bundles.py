"""The bundle of a survey, or one of its files, written to a temporary file before anything of it is sent."""

from __future__ import annotations

import tempfile
import threading
from dataclasses import dataclass
from typing import IO

from flask import Response, send_file

from deniable.bundle import LICENCES, Bundle, Counted, in_order
from deniable.wire.part import Part
from deniable_server.results.release import rows_of
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store

ALL = "bundle.zip"
"""The name of the archive of all files."""

PROPOSED = next(iter(LICENCES))
"""The licence where nobody chose one."""


WAIT = 5.0
"""Seconds for those before to be made."""
_TURN = threading.Lock()


@dataclass(frozen=True)
class Download:
    """A file that is gone when it is closed. size: in bytes."""

    file: IO[bytes]
    size: int
    name: str
    media_type: str

    def reply(self) -> Response:
        """It as an attachment, which says how long it is."""
        response = send_file(self.file, self.media_type, as_attachment=True, download_name=self.name, conditional=False, etag=False)
        response.content_length = self.size
        return response


def made(store: Store, survey_id: str, name: str, licence: str) -> Download:
    """ALL, or the file of that name, of the records that are counted now, one at a time: respondents need the machine, too.

    Raises UnavailableError where others are being made for longer than anybody waits, and what `_made` raises.
    """
    if not _TURN.acquire(timeout=WAIT):
        raise UnavailableError("others are downloading data just now: try again in a moment")
    try:
        return _made(store, survey_id, name, licence)
    finally:
        _TURN.release()


def _made(store: Store, survey_id: str, name: str, licence: str) -> Download:
    """The file.

    Raises EstimateError for a licence or a file that there is none of, or one that cannot be made, with the reason; WithheldError where
    there are too few records to show anything of them; what the store raises; OSError where there is no room.
    """
    survey = store.surveys.published(survey_id).survey
    rows = rows_of(store, survey)
    sizes: dict[Part, int] = {}
    file = tempfile.NamedTemporaryFile(prefix="deniable-bundle-")  # noqa: SIM115 - whoever sends it closes it
    try:
        with tempfile.TemporaryFile(prefix="deniable-bundle-") as packed:
            for part, chunks in rows.read(in_order(dict.fromkeys(rows.parts, 1), survey)):
                before = packed.tell()
                for chunk in chunks:
                    packed.write(chunk)
                sizes[part] = (packed.tell() - before) // survey.record.bytes
            counted = Counted(survey, {part: n for part, n in sizes.items() if n}, packed, rows.withheld, rows.omitted)
            kind = _write(Bundle(counted, licence), name, file)
        size = file.tell()
        file.flush()
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return Download(file, size, f"{survey_id}-{name.replace('/', '-')}", kind)


def _write(bundle: Bundle, name: str, file: IO[bytes]) -> str:
    """Writes it, and gives its media type."""
    if name == ALL:
        bundle.write_zip(file)
        return "application/zip"
    bundle.write(name, file)
    return bundle.items[name].media_type
