"""The files that pages load: read once when the server starts, so that what is served is what the integrity hashes are of."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from flask import Response

from deniable_server.web.compression import gzipped, negotiated

_MIME = {".mjs": "text/javascript", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@dataclass(frozen=True)
class Asset:
    """A module, the classic script or a style sheet: its bytes, the same compressed, and what the browser checks the bytes against."""

    body: bytes
    compressed: bytes
    integrity: str
    mimetype: str

    def response(self) -> Response:
        """The reply that has it, for the request at hand. It carries no mark by which a browser could be known again."""
        return negotiated(Response(self.body, mimetype=self.mimetype), self.compressed)


def load(folder: Path, suffix: str) -> dict[str, Asset]:
    """The files of a folder, and of folders in it, that end in `suffix`, by their path from there."""
    return {file.relative_to(folder).as_posix(): asset(file.read_bytes(), suffix) for file in sorted(folder.rglob(f"*{suffix}"))}


def asset(body: bytes, suffix: str) -> Asset:
    """A file of this content, whose name ends in `suffix`."""
    integrity = "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()
    return Asset(body, gzipped(body), integrity, _MIME[suffix])
