"""Question library of a draft: insert validated scales and one's own saved questions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flask import g, redirect, render_template, request, url_for

from deniable.scales import all_scales
from deniable.survey.dump import to_yaml
from deniable.survey.piping import without_answers
from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import document_in, title_in
from deniable_server.drafts.editor.known_keys import kinds_of_answers
from deniable_server.drafts.editor.notes import notes_in, with_notes
from deniable_server.drafts.insertion import answer_count, with_questions
from deniable_server.drafts.own_drafts import own
from deniable_server.pages import figures
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.drafts import Draft
from deniable_server.store.errors import ConflictError
from deniable_server.store.roles import Role
from deniable_server.store.saved_questions import SavedQuestion
from deniable_server.web import lanes
from deniable_server.web.offload import computed

bp = routes("library", __name__)


@bp.get("/manage/drafts/<draft_id>/library")
@computed()
def page(draft_id: str) -> Page:
    """Lists the questions that can be inserted into a draft."""
    return _page(own(draft_id, Role.EDITOR))


@bp.post("/manage/drafts/<draft_id>/library")
@lanes.computing
def insert(draft_id: str) -> Page:
    """Inserts a scale or a saved question, or removes a saved question from the author's library."""
    draft = own(draft_id, Role.EDITOR)
    if saved := request.form.get("remove"):
        current_store().saved_questions.remove(g.user, saved)
        return done("The question is removed from your library. Drafts that have it keep it.", ".page", draft_id=draft_id)
    document, chosen = document_in(draft.text), _chosen(request.form)
    if document is None:
        return done("Fix the problems of the file first.", "drafting.source", draft_id=draft_id)
    if chosen is None:
        return _page(draft, "Choose a scale or a question to insert.", 422)
    name, questions = chosen
    count = len(document.get("questions", []))
    after = _place(request.form.get("after", ""), count)
    try:
        changed = with_questions(document, questions, after)
        text = with_notes(to_yaml(changed), notes_in(draft.text))
        current_store().drafts.save(draft_id, text, request.form.get("revision", ""))
    except ValueError as error:
        return _page(draft, f"{str(error)[:1].upper()}{str(error)[1:]}.", 422)
    except ConflictError:
        return _page(draft, "The draft has changed in another window. Nothing was inserted: try again.", 409)
    message = f"{name} is inserted: {figures.several(sum(map(answer_count, questions)), 'question')}. Undo removes it."
    return done(message, "drafting.edit", draft_id=draft_id, _anchor=f"questions-{after}")


def _chosen(form: Mapping[str, str]) -> tuple[str, Sequence[Mapping[str, Any]]] | None:
    """Returns the name and the questions of the pressed button; None for an unknown one."""
    scale = next((scale for scale in all_scales() if scale.key == form.get("scale")), None)
    if scale is not None:
        return scale.name, scale.questions
    saved = next((one for one in current_store().saved_questions.listed(g.user) if one.id == form.get("saved")), None)
    return ("Your question", [json.loads(saved.text)]) if saved is not None else None


def _place(text: str, count: int) -> int:
    """Returns the number of the question that precedes the new ones; by default the last one."""
    return min(int(text[:9]), count) if text.isascii() and text.isdigit() else count


def _page(draft: Draft, problem: str = "", status: int = 200) -> Page:
    document = document_in(draft.text)
    if document is None:
        return redirect(url_for("drafting.source", draft_id=draft.id))
    kinds = dict(kinds_of_answers())
    saved = [(one, _words(one)) for one in current_store().saved_questions.listed(g.user)]
    context: dict[str, Any] = {
        "draft": draft,
        "title": title_in(draft.text),
        "form": ActionForm(),
        "scales": all_scales(),
        "saved": [(one, words, kinds.get(words.get("type", ""), "")) for one, words in saved],
        "texts": [without_answers(str(question.get("text", ""))) for question in document.get("questions", [])],
        "problem": problem,
    }
    return render_template("drafts/library.html", **context), status


def _words(saved: SavedQuestion) -> dict[str, Any]:
    """Returns the keys of a saved question, for its line in the list."""
    words: dict[str, Any] = json.loads(saved.text)
    return words | {"text": without_answers(str(words.get("text", "")))}
