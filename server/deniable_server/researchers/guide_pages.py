"""Guide pages: the list of chapters with a search, and each chapter."""

from __future__ import annotations

from flask import abort, render_template, request

from deniable_server.pages.routes import Page, routes
from deniable_server.researchers import guide

bp = routes("guide", __name__)
PARTS = {"start": "Start", "guide": "Guide", "reference": "Reference", "why": "Why"}
MOST_LETTERS = 100


@bp.get("/manage/guide")
def contents() -> Page:
    """Lists the chapters, or the sections that a search finds."""
    query = request.args.get("search", "")[:MOST_LETTERS].strip()
    chapters = [guide.chapter(name) for name in guide.names()]
    parts = {title: [each for each in chapters if each.name.startswith(f"{part}/")] for part, title in PARTS.items()}
    return render_template("researchers/guide.html", query=query, parts=parts, matches=guide.search(query), title_of=guide.title_of)


@bp.get("/manage/guide/<path:name>")
def chapter(name: str) -> Page:
    """Shows a chapter. Aborts with 404 for an unknown one."""
    try:
        current = guide.chapter(name)
    except KeyError:
        abort(404, "the guide has no such chapter")
    index = guide.names().index(name)
    neighbours = [guide.chapter(other) if other else None for other in (_at(index - 1), _at(index + 1))]
    return render_template("researchers/chapter.html", chapter=current, before=neighbours[0], after=neighbours[1])


def _at(index: int) -> str | None:
    return guide.names()[index] if 0 <= index < len(guide.names()) else None
