"""Rows from a text file with one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from deniable.device.sources.mappings import of_mapping
from deniable.device.sources.rows import Raw, row_by_row
from deniable.device.sources.text_rows import TextRows, without_text_errors


class JsonRows(TextRows):
    """JSON Lines."""

    def stretches(self, names: Sequence[str], size: int, skip: int) -> Iterator[Raw]:
        lines = without_text_errors(self.lines(), lambda: self.label)
        return row_by_row(map(of_mapping(names), map(_json_or_none, filter(str.strip, lines))), len(names), size, skip)


def _json_or_none(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
