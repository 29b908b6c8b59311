"""Every page of researchers does its work where no script runs: each form can be sent, and what only a script can do is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from flask import Flask
from tests.server.web.conftest import Site
from werkzeug.exceptions import HTTPException

NEEDS_SCRIPT = ("data-passkey",)
"""Forms that a script alone can fill in. They are hidden, and on each of their pages there is another way."""


@dataclass
class Form:
    """A form as it stands in a page: its attributes, and the attributes of what is in it."""

    attributes: dict[str, str]
    fields: list[dict[str, str]] = field(default_factory=list)
    buttons: list[dict[str, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    """All forms of a page, and the buttons that are in none."""

    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = [Form({})]
        self.handlers: list[str] = []
        self._open = self.forms[0]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {key: value or "" for key, value in attrs}
        self.handlers += [key for key, value in given.items() if key.startswith("on") or value.startswith("javascript:")]
        if tag == "form":
            self._open = Form(given)
            self.forms.append(self._open)
        elif tag == "button" or (tag == "input" and given.get("type") == "submit"):
            self._open.buttons.append(given)
        elif tag in ("input", "select", "textarea"):
            self._open.fields.append({"tag": tag, **given})

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = self.forms[0]


def faults(app: Flask, path: str, page: str) -> Iterator[str]:
    """What nobody can do on a page without a script, though it is shown."""
    reader = _Reader()
    reader.feed(page)
    outside, *forms = reader.forms
    yield from (f"a handler: {key}" for key in reader.handlers)
    yield from (f"a button that does nothing: {button}" for button in outside.buttons if "hidden" not in button)
    yield from ("all of its forms need a script" for _ in forms[:1] if all("hidden" in form.attributes for form in forms))
    for form in forms:
        told = form.attributes.get("action") or form.attributes.get("id") or path
        sending = [one for one in form.buttons if one.get("type") != "button" and "hidden" not in one]
        if "hidden" in form.attributes and not any(key in form.attributes for key in NEEDS_SCRIPT):
            yield f"{told}: hidden, and no script is said to be needed"
        if not sending:
            yield f"{told}: nothing sends it"
        # What has the class by-script is shown only where scripts run.
        shown = [one for one in (*form.buttons, *form.fields) if "by-script" not in one.get("class", "")]
        yield from (f"{told}: does nothing: {one}" for one in shown if one.get("type") == "button" and "hidden" not in one)
        yield from (
            f"{told}: not sent: {one}"
            for one in shown
            if one in form.fields and not one.get("name") and one.get("form") is None and "readonly" not in one
        )
        method = form.attributes.get("method", "get").upper()
        if method == "POST" and not any(one.get("name") == "csrf_token" and one.get("value") for one in form.fields):
            yield f"{told}: without a token"
        for address in [form.attributes.get("action", ""), *(one["formaction"] for one in sending if "formaction" in one)]:
            if not leads(app, urlsplit(address).path or path, method):
                yield f"{told}: leads nowhere: {method} {address}"


def leads(app: Flask, path: str, method: str) -> bool:
    try:
        app.url_map.bind("").match(path, method)
    except HTTPException:
        return False
    return True


@pytest.mark.slow
def test_every_form_of_researchers_can_be_sent_without_a_script(app: Flask, everything: Site) -> None:
    found = {name: list(faults(app, page.request.path, page.text)) for name, page in everything.pages.items()}
    assert {name: said for name, said in found.items() if said} == {}
    needed = {
        "researchers.surveys",
        "drafting.edit",
        "among.page",
        "building.crosstab",
        "building.model",
        "settings.page",
        "second_factor.page",
        "auth.login",
    }
    assert needed <= set(found)
    assert len(found) > 25


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("<form><input name=a></form>", "nothing sends it"),
        ("<form><input name=a><button hidden>Go</button></form>", "nothing sends it"),
        ("<form><input><button>Go</button></form>", "not sent"),
        ("<form><button type=button>Go</button><button>Go</button></form>", "does nothing"),
        ("<button type=button>Copy</button>", "a button that does nothing"),
        ("<form method=post action=/manage/new><button>Go</button></form>", "without a token"),
        ("<form action=/manage/nowhere><button>Go</button></form>", "leads nowhere"),
        (
            "<form method=post action=/manage/people><input name=csrf_token value=x><button formaction=/manage/none>Go</button></form>",
            "leads nowhere",
        ),
        ("<form hidden><button>Go</button></form>", "no script is said to be needed"),
        ("<form hidden data-passkey=get><button>Go</button></form>", "all of its forms need a script"),
        ("<a href='javascript:go()'>Go</a>", "a handler"),
        ("<form onchange=go()><button>Go</button></form>", "a handler"),
    ],
)
def test_what_only_a_script_can_do_is_noticed(app: Flask, page: str, fault: str) -> None:
    assert any(fault in said for said in faults(app, "/manage", page))
