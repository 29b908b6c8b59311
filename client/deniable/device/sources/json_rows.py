"""Rows from a text file with one JSON object a line (JSON Lines)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

from deniable.device.sources.mappings import from_mappings
from deniable.device.sources.rows import RawRows
from deniable.device.sources.text_rows import TextRows, without_text_errors

_RULE = "must be a JSON object with each name once"


class JsonRows(TextRows):
    """Rows of JSON Lines."""

    def _batches(self, names: Sequence[str], size: int, skip: int) -> Iterator[RawRows]:
        lines = filter(str.strip, without_text_errors(self.lines(), lambda: self.label))
        first = list(islice(lines, 1))
        if "".join(first).lstrip().startswith("["):
            self.refuse_another_kind(b"[", "JSON with one object a line", text=True)
        rows = islice(map(_json_or_none, chain(first, lines)), skip, None)
        return from_mappings(lambda most: list(islice(rows, most)), names, size, _RULE)


def _each_name_once(pairs: list[tuple[str, Any]]) -> Any:
    """Returns an object as a dict; if a name is repeated, an invalid value, since either value may be the right one."""
    unique = dict(pairs)
    return unique if len(unique) == len(pairs) else object()


_READER = json.JSONDecoder(object_pairs_hook=_each_name_once)


def _json_or_none(line: str) -> Any:
    try:
        return _READER.decode(line)
    except (ValueError, RecursionError):
        return None
