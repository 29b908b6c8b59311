"""The guide on the server: every chapter, links that lead somewhere, and the "?" that leads to the right section."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from deniable_server import paths
from deniable_server.researchers import guide

HELP = re.compile(r"""help_link\(["']([^"']+)["'], ["']([^"']+)["'], ["']([^"']+)["']\)""")
LINK = re.compile(r'href="([^"]+)"')


@pytest.fixture
def ada(app: Flask, logged_in: Callable[[Flask], FlaskClient]) -> FlaskClient:
    return logged_in(app)


def helped() -> Iterator[tuple[str, str, str]]:
    """The template of each "?", its chapter and its anchor."""
    for path in sorted(paths.TEMPLATES.rglob("*.html")):
        for chapter, anchor, _ in HELP.findall(path.read_text(encoding="utf-8")):
            yield path.name, chapter, anchor


def missing(places: Iterator[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [(name, chapter, anchor) for name, chapter, anchor in places if anchor not in guide.chapter(chapter).anchors]


def dangling(name: str, html: str) -> list[str]:
    """The links of a chapter that lead to no chapter, or to no section of it."""
    found = []
    for address in LINK.findall(html):
        if not address.startswith("https://"):
            path, _, anchor = address.partition("#")
            chapter = path.removeprefix("../") if path else name
            if chapter not in guide.names() or (anchor and anchor not in guide.chapter(chapter).anchors):
                found.append(address)
    return found


def test_every_page_of_the_documentation_is_a_chapter() -> None:
    files = {path.relative_to(paths.DOCS).with_suffix("").as_posix() for path in paths.DOCS.rglob("*.md")} - {"README"}
    assert set(guide.names()) == files
    assert all(guide.chapter(name).title for name in guide.names())


def test_every_link_of_every_chapter_leads_to_a_section_on_this_server() -> None:
    assert {name: links for name in guide.names() if (links := dangling(name, guide.chapter(name).html))} == {}
    assert dangling("guide/writing", '<a href="../guide/nothing">')  # the control
    assert dangling("guide/writing", '<a href="#nothing">')


def test_every_question_mark_leads_to_a_section() -> None:
    places = list(helped())
    assert len(places) >= 8
    assert missing(iter(places)) == []
    assert missing(iter([("x.html", "reference/privacy", "nothing")]))  # the control
    calls = sum(path.read_text(encoding="utf-8").count("help_link(") for path in paths.TEMPLATES.rglob("*.html"))
    assert calls - 1 == len(places)  # all but its definition are read by this test


def test_the_pages_ask_no_other_site_and_have_no_styles_that_the_browser_refuses(ada: FlaskClient) -> None:
    for name in guide.names():
        reply = ada.get(f"/manage/guide/{name}")
        assert reply.status_code == 200
        assert "<h1 id=" in reply.text
        assert not re.search(r"<(img|script|iframe|link)[^>]+(src|href)=\"(https?:)?//", reply.text)
        assert not re.search(r"<[a-z0-9]+ [^>]*\bstyle=", reply.text)
        assert "default-src 'none'" in reply.headers["Content-Security-Policy"]


def test_the_search_finds_headings_first(ada: FlaskClient) -> None:
    headings = [(section.chapter, section.heading) for section in guide.search("back up")]
    assert headings[0] == ("guide/operations", "Back up a server") or headings[0][1] == "Back up and restore"
    assert "Back up a server" in ada.get("/manage/guide?search=back+up").text
    assert "No sections" in ada.get("/manage/guide?search=zzzzzz").text
    assert "&lt;b&gt;" in ada.get("/manage/guide", query_string={"search": "<b>"}).text


def test_a_path_leads_to_chapters_only(ada: FlaskClient, app: Flask) -> None:
    for name in ("nothing", "../README", "guide/../../pyproject", "README", "guide/writing.md"):
        assert ada.get(f"/manage/guide/{name}").status_code == 404
    assert app.test_client().get("/manage/guide").status_code == 302  # strangers log in first


def test_anchors_are_those_of_the_same_files_elsewhere() -> None:
    assert guide.slug("Epsilon: each question's part") == "epsilon-each-questions-part"
    assert guide.slug("A share for each level: levels") == "a-share-for-each-level-levels"
    assert "named-ranges-bins" in guide.chapter("reference/question-types").anchors
    assert Path(paths.DOCS / "README.md").exists()
