"""The certificates of the world's authorities, read once: each HTTP client reads them anew, and nearly every test makes one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import pytest
from httpx._transports import default


@contextmanager
def shared_certificates() -> Iterator[None]:
    """HTTP clients that are made alike share what they trust."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "create_ssl_context", cache(default.create_ssl_context))
        yield
