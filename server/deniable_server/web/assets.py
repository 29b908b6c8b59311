"""Static assets: the files that pages load, read once when the server starts, so that they match their integrity hashes."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from flask import Response

from deniable_server.web.compression import gzipped, negotiated

_MIME = {
    ".mjs": "text/javascript",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
_STYLE_COMMENT = re.compile(r"""("[^"\n]*"|'[^'\n]*')|[ \t]*/\*.*?\*/""", re.DOTALL)  # or a text, which may look like one


@dataclass(frozen=True)
class Asset:
    """A file that pages load: its bytes, the compressed bytes, and the integrity hash by which the browser checks it."""

    body: bytes
    compressed: bytes
    integrity: str
    mimetype: str

    def response(self) -> Response:
        """Returns the reply with this file. It sets no ETag or cookie by which a browser could be recognised."""
        return negotiated(Response(self.body, mimetype=self.mimetype), self.compressed)


def load(folder: Path, suffix: str) -> dict[str, Asset]:
    """Returns the files of a folder and its subfolders that end in `suffix`, by relative path. Style sheets lose their comments."""
    served = plain_style if suffix == ".css" else bytes
    return {file.relative_to(folder).as_posix(): asset(served(file.read_bytes()), suffix) for file in sorted(folder.rglob(f"*{suffix}"))}


def plain_style(style: bytes) -> bytes:
    """Returns a style sheet without its comments, which are for its authors."""
    return _STYLE_COMMENT.sub(lambda match: match[1] or "", style.decode()).encode()


def asset(body: bytes, suffix: str) -> Asset:
    """Returns an asset with this content, whose name ends in `suffix`."""
    integrity = "sha384-" + base64.b64encode(hashlib.sha384(body).digest()).decode()
    return Asset(body, gzipped(body), integrity, _MIME[suffix])
