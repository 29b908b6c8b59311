"""The forms of a page, filled in as a browser without JavaScript sends them."""

from __future__ import annotations

from html.parser import HTMLParser


class _Reader(HTMLParser):
    def __init__(self, form_id: str) -> None:
        super().__init__()
        self.form_id, self.inside = form_id, False
        self.found: list[tuple[str, str]] = []
        self.area: str | None = None
        self.text = ""
        self.select: str | None = None
        self.options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.inside = self.inside or (tag == "form" and given.get("id") == self.form_id)
        name = given.get("name")
        if not self.inside:
            return
        if (
            tag == "input"
            and name
            and (given.get("type") != "checkbox" or "checked" in given)
            and given.get("type") not in ("submit", "file")
        ):
            value = given.get("value") or ("y" if given.get("type") == "checkbox" else "")
            self.found.append((name, "".join(value.splitlines()) if given.get("type") == "text" else value))
        elif tag == "textarea":
            self.area, self.text = name, ""
        elif tag == "select":
            self.select, self.options = name, []
        elif tag == "option":
            self.options.append((given.get("value") or "", "selected" in given))

    def handle_data(self, data: str) -> None:
        if self.area is not None:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self.area is not None:
            text = self.text.replace("\r\n", "\n").removeprefix("\n").replace("\n", "\r\n")  # a page's first line break is none of the text
            self.found.append((self.area, text))
            self.area = None
        elif tag == "select" and self.select is not None:
            chosen = [value for value, selected in self.options if selected] or [value for value, _ in self.options[:1]]
            self.found += [(self.select, value) for value in chosen]
            self.select = None
        elif tag == "form":
            self.inside = False


def filled(page: str, form_id: str) -> dict[str, str]:
    """What stands in the fields of a form, by their names, as it would be sent; without any button."""
    reader = _Reader(form_id)
    reader.feed(page)
    return dict(reader.found)
