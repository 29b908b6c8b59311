"""HTML tables for notebooks, without scripts or external styles; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from deniable.estimate.present.table import Table
from deniable.estimate.present.text import one_line


def page(tables: Iterable[Table]) -> str:
    """Returns titles, tables and notes as HTML."""
    return f"<div>{''.join(_head(table) + _table(table) + _notes(table) for table in tables)}</div>"


def _head(table: Table) -> str:
    about = "".join(f"<br><small>{_safe(line)}</small>" for line in table.about)
    return f"<p><strong>{_safe(table.title)}</strong>{about}</p>" if table.title or about else ""


def _table(table: Table) -> str:
    if not table.columns:
        return ""
    body = "".join(_row("td", row, table.texts) for row in table.rows)
    return f"<table><thead>{_row('th', table.columns, table.texts)}</thead><tbody>{body}</tbody></table>"


def _row(tag: str, cells: Sequence[object], texts: int) -> str:
    return f"<tr>{''.join(_cell(tag, str(cell), i < texts) for i, cell in enumerate(cells))}</tr>"


def _cell(tag: str, text: str, left: bool) -> str:
    opened, side = 'th scope="col"' if tag == "th" else tag, "left" if left else "right"
    return f'<{opened} style="text-align: {side}">{_safe(text)}</{tag}>'


def _notes(table: Table) -> str:
    return "".join(f"<p><small>{_safe(note)}</small></p>" for note in table.notes if note)


def _safe(text: str) -> str:
    return escape(one_line(text))
