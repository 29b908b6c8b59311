"""Table of standard terms in docs/reference/glossary.md: `python -m tests.kit.glossary` copies modules from tests/language/terms.txt."""

from __future__ import annotations

import re

from tests.kit import language

PAGE = language.ROOT / "docs" / "reference" / "glossary.md"
HEADING = "## Standard terms\n"
ROW = re.compile(r"^\| ([^|`]+) \| ([^|]+) \| `([\w/]+)` \|$", re.MULTILINE)


def rows(page: str) -> dict[str, str]:
    """Returns the module of each standard term in the glossary's table."""
    return {term: module for term, _, module in ROW.findall(page.split(HEADING)[1])}


def with_modules(page: str, modules: dict[str, str]) -> str:
    """Returns the glossary with the modules of terms.txt in its table."""
    before, table = page.split(HEADING)
    return before + HEADING + ROW.sub(lambda row: f"| {row[1]} | {row[2]} | `{modules.get(row[1], row[3])}` |", table)


if __name__ == "__main__":
    PAGE.write_text(with_modules(PAGE.read_text(encoding="utf-8"), language.terms()), encoding="utf-8")
