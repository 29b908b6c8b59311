"""Sharing of drafts: people and teams with a role in a draft, and the page of those who only read it."""

from __future__ import annotations

from flask import g, redirect, render_template, url_for

from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import survey_in, title_in
from deniable_server.drafts.own_drafts import may_edit, own
from deniable_server.drafts.sharing_form import ShareForm, TeamShareForm
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.drafts import Draft
from deniable_server.store.errors import UnknownAccountError, UnknownTeamError
from deniable_server.store.roles import Role
from deniable_server.web.offload import computed

bp = routes("sharing", __name__)
_WORDS = {
    "viewer": "can read this draft",
    "editor": "can change this draft",
    "owner": "owns this draft",
    "none": "has no role in this draft",
}


@bp.get("/manage/drafts/<draft_id>/sharing")
def page(draft_id: str) -> Page:
    """Lists the people and teams with a role in a draft."""
    return _page(own(draft_id), ShareForm(), TeamShareForm())


@bp.post("/manage/drafts/<draft_id>/sharing")
def share(draft_id: str) -> Page:
    """Sets or removes a person's role."""
    draft, form, roles = own(draft_id), ShareForm(), current_store().draft_roles
    if form.validate():
        name, word = form.user.data, form.role.data
        if name == draft.author:
            form.user.errors = ["The author always owns the draft."]
            return _page(draft, form, TeamShareForm(formdata=None)), 422
        try:
            if word == "none":
                roles.revoke(draft_id, name)
            else:
                roles.grant(draft_id, name, Role.of(word))
            return _shared(draft_id, name, word)
        except UnknownAccountError:
            form.user.errors = ["There is no account with this name."]
    return _page(draft, form, TeamShareForm(formdata=None)), 422


@bp.post("/manage/drafts/<draft_id>/sharing/teams")
def share_team(draft_id: str) -> Page:
    """Sets or removes a team's role."""
    draft, form, roles = own(draft_id), TeamShareForm(), current_store().draft_roles
    if form.validate():
        name, word = form.team.data, form.role.data
        try:
            if word == "none":
                roles.revoke_team(draft_id, name)
            else:
                roles.grant_team(draft_id, name, Role.of(word))
            return _shared(draft_id, name, word)
        except UnknownTeamError:
            form.team.errors = ["There is no team with this name."]
    return _page(draft, ShareForm(formdata=None), form), 422


@bp.get("/manage/drafts/<draft_id>/read")
@computed()
def read(draft_id: str) -> Page:
    """Shows a draft to people who may not change it."""
    draft = own(draft_id, Role.VIEWER)
    if may_edit(draft):
        return redirect(url_for("drafting.edit", draft_id=draft_id))
    return render_template("drafts/read.html", draft=draft, title=title_in(draft.text), survey=survey_in(draft.text))


def _shared(draft_id: str, name: str, word: str) -> Page:
    if word == "none" and current_store().draft_roles.role(g.user, draft_id) != Role.OWNER:
        return done(f"{name} {_WORDS[word]}.", "researchers.surveys")  # the researcher's own role
    return done(f"{name} {_WORDS[word]}.", ".page", draft_id=draft_id)


def _page(draft: Draft, form: ShareForm, team_form: TeamShareForm) -> str:
    roles = current_store().draft_roles
    context = {"members": roles.members(draft.id), "teams": roles.teams(draft.id), "title": title_in(draft.text)}
    return render_template("drafts/sharing.html", draft=draft, form=form, team_form=team_form, **context)
