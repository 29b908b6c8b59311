"""Replies that shrink on their way: only those in which nothing is secret.

The length of a compressed reply says something about what it holds, which matters where a secret stands beside text that a
stranger can choose. So a view is compressed only if it says so: the respondents' pages, the definition, modules and style
sheets are the same for everybody. Researchers' pages, forms with a code in them and the replies to submissions are not.
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
    """The same bytes give the same bytes: no name and no time is in them."""
    return gzip.compress(body, compresslevel=9, mtime=0)


def compressed(view: Callable[P, ResponseReturnValue]) -> Callable[P, Response]:
    """Marks a view whose replies are no secret, and compresses them for clients that accept it."""

    @wraps(view)
    def smaller(*args: P.args, **kwargs: P.kwargs) -> Response:
        response = make_response(view(*args, **kwargs))
        return negotiated(response, gzipped(response.get_data()))

    return smaller


def negotiated(response: Response, shorter: bytes) -> Response:
    """The response with the shorter body, if the client of this request can read that; caches are told that it depends on the client."""
    response.vary.add("Accept-Encoding")
    if request.accept_encodings.quality("gzip") > 0:
        response.set_data(shorter)
        response.content_encoding = "gzip"
    return response
