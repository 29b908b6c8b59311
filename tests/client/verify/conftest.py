"""What a right server replies comes from an application of its own for each verification."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.kit.servers.cheap import cheap_applications


@pytest.fixture(scope="session", autouse=True)
def cheap() -> Iterator[None]:
    with cheap_applications():
        yield
