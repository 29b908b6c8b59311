"""The sheets of an XLSForm, read with openpyxl alone."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from openpyxl import load_workbook

_NAMES = {"relevance": "relevant", "list name": "list_name", "value": "name", "caption": "label", "readonly": "read_only"}


@dataclass
class Row:
    """A row of the sheet `survey`, with the conditions of the groups around it."""

    kind: str
    name: str
    cells: dict[str, str]
    groups: tuple[str, ...]
    is_repeated: bool
    matrix: str = ""

    @property
    def relevant(self) -> str:
        return self.cells.get("relevant", "")

    @property
    def conditions(self) -> tuple[str, ...]:
        return (*self.groups, self.relevant)

    def texts(self, column: str) -> set[str]:
        return {text for key, text in self.cells.items() if key.split(":")[0] == column and text}


@dataclass
class Form:
    """A form: its rows and the options of its lists, as pairs of a name and the labels in any language."""

    rows: list[Row] = field(default_factory=list)
    lists: dict[str, list[tuple[str, set[str]]]] = field(default_factory=dict)


def read(path: Path) -> Form:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = load_workbook(path, data_only=True)
    sheets = {sheet.title.lower().strip(): sheet for sheet in book.worksheets}
    form = Form()
    for cells in _rows(sheets.get("choices")):
        labels = {text for key, text in cells.items() if key.split(":")[0] == "label" and text}
        if cells.get("name") or labels:
            form.lists.setdefault(cells.get("list_name", ""), []).append((cells.get("name", ""), labels))
    stack: list[tuple[str, bool, str]] = []
    for cells in _rows(sheets.get("survey")):
        kind = " ".join(cells.get("type", "").split())
        plain = " ".join(kind.lower().replace("_", " ").split())
        if plain.startswith("end ") and stack:
            stack.pop()
            continue
        groups, repeated = tuple(entry[0] for entry in stack), any(entry[1] for entry in stack)
        row = Row(kind, cells.get("name", ""), cells, groups, repeated, stack[-1][2] if stack else "")
        if kind:
            form.rows.append(row)
        if plain.startswith("begin "):
            unasked = any(word in plain for word in ("repeat", "loop", "lgroup", "rank", "kobomatrix"))
            stack.append((row.relevant, unasked, cells.get("kobo--score-choices", "")))
    return form


def _rows(sheet: object) -> list[dict[str, str]]:
    if sheet is None:
        return []
    rows = list(sheet.iter_rows(values_only=True))  # type: ignore[attr-defined]
    header: list[str] = []
    found = []
    for values in rows:
        cells = [_text(value) for value in values]
        if not header:
            header = [_column(cell) for cell in cells] if any(cells) else []
            continue
        row: dict[str, str] = {}
        for name, cell in zip(header, cells, strict=False):
            if name and cell:
                row.setdefault(name, cell)
        if row:
            found.append(row)
    return found


def _column(name: str) -> str:
    kind, *rest = re.split(r"\s*::?\s*", name.strip())
    kind = kind.lower()
    if kind == "bind" and rest:
        kind, rest = rest[0].lower(), rest[1:]
    kind = _NAMES.get(kind, kind)
    return ":".join([kind, *rest])


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).replace("\xa0", " ").strip() if not isinstance(value, bool) else str(value).upper()
