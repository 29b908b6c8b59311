"""Outlet: the file that a download is written to. A computing process announces it while it grows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable

from flask import Response, request, send_file

from deniable_server.web.offload import ANNOUNCE

ANNOUNCED_BYTES = 1 << 16
"""The size from which any file is announced. A smaller one is sent as a whole, so that a failure is still a reply of its own."""


class Outlet:
    """A temporary file that is written from its start to its end, and then is a response."""

    closed = False  # as libraries ask of a file

    def __init__(self) -> None:
        self._file = tempfile.NamedTemporaryFile(prefix="deniable-download-")  # noqa: SIM115 - closed by the sender
        self._announce: Callable[[Response], None] | None = request.environ.get(ANNOUNCE)
        self._size, self._unannounced = 0, ANNOUNCED_BYTES
        self.response = Response()

    def begin(self, name: str, media_type: str, version: str | None = None, size: int = 0) -> None:
        """Sets what the response says about the file.

        Args:
            name: The file's name for the client.
            media_type: Its media type.
            version: A text on which its bytes depend alone, if there is one.
            size: About how many bytes it will have. A large file is announced with its first byte.
        """
        self.response = send_file(self._file, media_type, as_attachment=True, download_name=name, conditional=False, etag=False)
        if version is not None:
            self.response.set_etag(version)
        if size >= ANNOUNCED_BYTES:
            self._unannounced = 1

    def write(self, part: bytes) -> int:
        """Adds bytes."""
        self._file.write(part)
        length = memoryview(part).nbytes
        self._size += length
        if self._announce and self._size >= self._unannounced:
            self._file.flush()
            self._announce(self.response)
            self._announce = None
        return length

    def flush(self) -> None:
        """Returns at once: the file is flushed by its size, and at its end."""

    def finish(self) -> Response:
        """Returns the response with the complete file."""
        self._file.flush()
        self._file.seek(0)
        self.response.content_length = self._size
        return self.response

    def discard(self) -> None:
        """Deletes the file."""
        self._file.close()
