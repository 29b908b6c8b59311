"""Team pages: operators create teams and appoint managers, managers choose the members."""

from __future__ import annotations

from flask import abort, g, render_template, url_for

from deniable_server.context import current_store
from deniable_server.identity.team_forms import TeamForm, TeamMemberForm, check_team_name
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, confirmation, done, routes
from deniable_server.store.errors import ConflictError, UnknownAccountError, UnknownTeamError
from deniable_server.store.teams import Team

bp = routes("teams", __name__)


@bp.get("/manage/teams")
def page() -> Page:
    """Lists the researcher's teams; operators see all."""
    return _list(TeamForm())


@bp.post("/manage/teams")
def create() -> Page:
    """Creates a team, for operators."""
    if not g.operator:
        abort(403, "only operators create teams; ask one of them")
    form = TeamForm()
    if not form.validate():
        return _list(form), 422
    try:
        name = check_team_name(current_store(), form.name.data)
        current_store().teams.create(name)
    except (ValueError, ConflictError) as error:
        form.name.errors = [f"{str(error)[:1].upper()}{str(error)[1:]}."]
        return _list(form), 422
    return done(f"{name} is created. Add its members.", ".members", team_id=Team(name, {}).id)


@bp.get("/manage/teams/<team_id>")
def members(team_id: str) -> Page:
    """Lists the members of a team."""
    return _members(_find(team_id), TeamMemberForm())


@bp.post("/manage/teams/<team_id>")
def change(team_id: str) -> Page:
    """Adds a member, changes whether the member manages the team, or removes the member."""
    team, form, teams = _managed(team_id), TeamMemberForm(), current_store().teams
    if not form.validate():
        return _members(team, form), 422
    user, kind = form.user.data, form.kind.data
    try:
        if kind == "none":
            teams.leave(team.name, user)
        else:
            teams.join(team.name, user, manager=kind == "manager")
    except UnknownAccountError:
        form.user.errors = ["There is no account with this name."]
        return _members(team, form), 422
    words = {"none": "is no longer in the team", "member": "is in the team", "manager": "manages the team"}
    sees_it = g.operator or g.user in teams.team(team.name).members
    return done(f"{user} {words[kind]}.", ".members", team_id=team_id) if sees_it else done(f"{user} {words[kind]}.", ".page")


@bp.post("/manage/teams/<team_id>/delete")
def delete(team_id: str) -> Page:
    """Deletes a team, after a question."""
    team = _managed(team_id)
    text = "Its members lose the roles that they have by this team. Their accounts stay."
    check = confirmation(f"Delete the team {team.name}?", text, "Delete team", url_for(".members", team_id=team_id))
    if check is not None:
        return check
    current_store().teams.remove(team.name)
    return done(f"{team.name} is deleted.", ".page")


def _find(team_id: str) -> Team:
    """Returns a team that the researcher may see. Raises UnknownTeamError, which does not reveal whether it exists."""
    teams = current_store().teams.all() if g.operator else current_store().teams.of(g.user)
    team = next((team for team in teams if team.id == team_id), None)
    if team is None:
        raise UnknownTeamError("there is no such team, or you are not in it")
    return team


def _managed(team_id: str) -> Team:
    """Returns a team that the researcher may change. Aborts with 403 for a member who does not manage it."""
    team = _find(team_id)
    if not g.operator and not team.members[g.user]:
        abort(403, "only managers of this team, and operators, change it")
    return team


def _list(form: TeamForm) -> str:
    teams = current_store().teams.all() if g.operator else current_store().teams.of(g.user)
    return render_template("identity/teams.html", teams=teams, form=form)


def _members(team: Team, form: TeamMemberForm) -> str:
    may_change = g.operator or team.members[g.user]
    return render_template("identity/team.html", team=team, form=form, may_change=may_change, action=ActionForm())
