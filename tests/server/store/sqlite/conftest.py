"""What is about SQLite alone: its file, its log, its locks, its pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.store.conftest import Databases, SqliteFiles


@pytest.fixture
def databases(tmp_path: Path) -> Databases:
    return SqliteFiles(tmp_path)
