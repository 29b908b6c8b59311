"""Paths of the pages, the guide and the browser's files: in the installed package, else in the checkout."""

from __future__ import annotations

from pathlib import Path

import deniable

_HERE = Path(__file__).parent
TEMPLATES = _HERE / "templates" if (_HERE / "templates").is_dir() else _HERE.parents[1] / "templates"
DOCS = _HERE / "docs" if (_HERE / "docs").is_dir() else _HERE.parents[1] / "docs"
STATIC = _HERE / "static"
TRANSLATIONS = _HERE / "translations"
BROWSER = Path(deniable.__file__).parent / "browser"
