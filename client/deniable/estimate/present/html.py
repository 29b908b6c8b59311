"""Results as a table in a notebook: plain HTML without scripts or styles from elsewhere; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from deniable.estimate.tables.results import HEADER, MEANS_HEADER, mean_cells, one_line, percentages

if TYPE_CHECKING:
    from deniable.estimate.tables.results import Results


def page(results: Results) -> str:
    """A table of the shares, one of the means where there are any, and the warnings as notes."""
    shares = _table((*HEADER, ""), ((*percentages(row), results.notes.get(row.warning, "")) for row in results.rows), texts=2)
    rows = [(*mean_cells(row), results.notes.get(row.warning, "")) for row in results.means]
    means = _table((*MEANS_HEADER, ""), rows, texts=1) if rows else ""
    notes = "".join(f"<p><small>{mark} {_safe(warning)}</small></p>" for warning, mark in results.notes.items())
    if results.made_up:
        notes += f"<p><small>{_safe(results.made_up.words)}</small></p>"
    return f"<div><p><strong>{_safe(results.heading)}</strong><br><small>{_safe(results.caption)}</small></p>{shares}{means}{notes}</div>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], texts: int) -> str:
    body = "".join(f"<tr>{''.join(_cell('td', cell, i < texts) for i, cell in enumerate(row))}</tr>" for row in rows)
    head = "".join(_cell('th scope="col"', cell, i < texts) for i, cell in enumerate(header))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, text: str, left: bool) -> str:
    side = "left" if left else "right"
    return f'<{tag} style="text-align: {side}">{_safe(text)}</{tag[:2]}>'


def _safe(text: str) -> str:
    return escape(one_line(text))
