"""Reads the tables of a page as a screen reader does: by their name, their rows' headers and their columns' headers."""

from __future__ import annotations

from html.parser import HTMLParser

Table = dict[str, dict[str, str]]
"""By row header, by column header: the text of a cell; of a chart in a cell, its name."""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, Table] = {}
        self.columns: list[str] = []
        self.cells: list[str] | None = None
        self.name = ""
        self.text: str | None = None
        self.head = self.mute = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "table":
            self.name = values.get("aria-label") or values.get("aria-labelledby", "")
            self.columns = []
            assert not self.name or self.name not in self.tables, f"two tables are called {self.name}"
            self.tables[self.name] = {}
        elif tag in ("thead", "tbody"):
            self.head = tag == "thead"
        elif tag == "tr":
            self.cells = None if "aria-hidden" in values else []
        elif tag in ("th", "td") and self.cells is not None:
            self.text = ""
        elif tag == "svg" and self.text is not None:
            self.mute = True  # its name stands for what is drawn
            self.text += values.get("aria-label", "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("th", "td") and self.text is not None and self.cells is not None:
            self.cells.append(" ".join(self.text.split()))
            self.text, self.mute = None, False
        elif tag == "tr" and self.cells:
            if self.head:
                self.columns = self.cells
            else:
                self.tables[self.name][self.cells[0]] = dict(zip(self.columns[1:], self.cells[1:], strict=False))

    def handle_data(self, data: str) -> None:
        if self.text is not None and not self.mute:
            self.text += data


def tables(page: str) -> dict[str, Table]:
    """All tables of a page that have a name, by it; the names must differ."""
    reader = _Reader()
    reader.feed(page)
    return {name: table for name, table in reader.tables.items() if name}
