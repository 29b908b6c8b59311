"""Compression of replies that contain no secret.

The length of a compressed reply reveals something about its content, which matters if a secret is next to text that a
stranger can choose (BREACH). So a view is compressed only if it is marked: respondents' pages, definitions, modules and style
sheets are the same for everyone. Researchers' pages, forms with a code in them and the replies to submissions are not.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from flask import Response, make_response, request
from flask.typing import ResponseReturnValue

P = ParamSpec("P")


def gzipped(body: bytes) -> bytes:
    """Compresses bytes reproducibly: without a name or a time."""
    return gzip.compress(body, compresslevel=9, mtime=0)


def compressed(view: Callable[P, ResponseReturnValue]) -> Callable[P, Response]:
    """Marks a view whose replies contain no secret, and compresses them for clients that accept it."""

    @wraps(view)
    def smaller(*args: P.args, **kwargs: P.kwargs) -> Response:
        response = make_response(view(*args, **kwargs))
        return negotiated(response, gzipped(response.get_data()))

    return smaller


def negotiated(response: Response, shorter: bytes) -> Response:
    """Replaces a reply's body by the shorter one if the client accepts it, and tells caches that it depends on the client."""
    response.vary.add("Accept-Encoding")
    if request.accept_encodings.quality("gzip") > 0:
        response.set_data(shorter)
        response.content_encoding = "gzip"
    return response
