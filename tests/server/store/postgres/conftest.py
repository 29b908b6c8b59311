"""What is about PostgreSQL alone: what its rows and files show, its settings, and several processes at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.store.conftest import Databases
from tests.server.store.postgresql import PostgresDatabases


@pytest.fixture
def databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Databases:
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "deniable.key"))
    return PostgresDatabases(tmp_path)
