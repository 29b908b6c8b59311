"""Members and teams of a survey and their roles, for its owners."""

from __future__ import annotations

from flask import render_template, url_for

from deniable_server.context import current_store
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.researchers.forms import MemberForm, TeamRoleForm
from deniable_server.store.errors import LastError, UnknownAccountError, UnknownTeamError
from deniable_server.store.roles import Role
from deniable_server.web.audience import least

bp = routes("members", __name__)
_WITH_ARTICLE = {"viewer": "a viewer", "analyst": "an analyst", "editor": "an editor", "owner": "an owner"}


@bp.get("/manage/surveys/<survey_id>/members")
@least(Role.OWNER)
def page(survey_id: str) -> Page:
    """Lists the members of a survey."""
    return _page(survey_id, MemberForm(), TeamRoleForm())


@bp.post("/manage/surveys/<survey_id>/members")
@least(Role.OWNER)
def change(survey_id: str) -> Page:
    """Sets or removes a person's role."""
    form, roles = MemberForm(), current_store().roles
    if form.validate():
        try:
            if form.role.data != "none":
                roles.grant(survey_id, form.user.data, Role.of(form.role.data))
                return done(f"{form.user.data} is {_WITH_ARTICLE[form.role.data]} now.", ".page", survey_id=survey_id)
            question = f"Remove {form.user.data} from this survey?"
            check = confirmation(
                question, "They no longer see the survey. You can give them a role again.", "Remove", url_for(".page", survey_id=survey_id)
            )
            if check is not None:
                return check
            roles.revoke(survey_id, form.user.data)
            return done(f"{form.user.data} no longer has a role in this survey.", ".page", survey_id=survey_id)
        except UnknownAccountError:
            form.user.errors = ["There is no account with this name."]
        except LastError as error:
            form.role.errors = [f"{str(error).capitalize()}."]
    return _page(survey_id, form, TeamRoleForm(formdata=None)), 422


@bp.post("/manage/surveys/<survey_id>/members/teams")
@least(Role.OWNER)
def change_team(survey_id: str) -> Page:
    """Sets or removes a team's role."""
    form, teams = TeamRoleForm(), current_store().teams
    if form.validate():
        try:
            if form.role.data != "none":
                teams.grant(survey_id, form.team.data, Role.of(form.role.data))
                text = f"Each member of {form.team.data} is {_WITH_ARTICLE[form.role.data]} now."
                return done(text, ".page", survey_id=survey_id)
            teams.revoke(survey_id, form.team.data)
            return done(f"{form.team.data} no longer has a role in this survey.", ".page", survey_id=survey_id)
        except UnknownTeamError:
            form.team.errors = ["There is no team with this name."]
    return _page(survey_id, MemberForm(formdata=None), form), 422


def _page(survey_id: str, form: MemberForm, team_form: TeamRoleForm) -> str:
    store = current_store()
    context = {"published": store.surveys.published(survey_id), "members": store.roles.members(survey_id)}
    return render_template("researchers/members.html", **context, teams=store.teams.roles(survey_id), form=form, team_form=team_form)
