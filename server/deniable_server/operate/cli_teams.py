"""Commands `deniable-server team`: create, list and delete teams, and change their members and roles."""

from __future__ import annotations

import click

from deniable_server.config import Database
from deniable_server.operate.cli_database import database, json_option, opened, print_json
from deniable_server.store.roles import Role


@click.group("team")
def team_commands() -> None:
    """Manage teams, which get roles together."""


@team_commands.command("make")
@database
@click.argument("name")
def make_team(db: Database, name: str) -> None:
    """Create a team."""
    from deniable_server.identity.team_forms import check_team_name  # loads Flask, which no other command needs

    with opened(db) as store:
        name = check_team_name(store, name)
        store.teams.create(name)
    click.echo(f"The team {name} is created.")


@team_commands.command("list")
@database
@json_option
def list_teams(db: Database, as_json: bool) -> None:
    """List the teams.

    One line each, separated by tabs: name, managers, and other members.
    """
    with opened(db, writing=False) as store:
        teams = store.teams.all()
    if as_json:
        print_json([{"name": team.name, "members": {user: _word(manager) for user, manager in team.members.items()}} for team in teams])
    else:
        for team in teams:
            others = [user for user in team.members if user not in team.managers]
            click.echo("\t".join((team.name, ",".join(team.managers), ",".join(others))))


@team_commands.command("add")
@database
@click.argument("name")
@click.argument("user")
@click.option("--manager", is_flag=True, help="The person also manages the team.")
def add_member(db: Database, name: str, user: str, manager: bool) -> None:
    """Add an account to a team, or change whether it manages the team."""
    with opened(db) as store:
        store.teams.join(name, user, manager)
    click.echo(f"{user} is a {_word(manager)} of {name}.")


@team_commands.command("remove")
@database
@click.argument("name")
@click.argument("user")
def remove_member(db: Database, name: str, user: str) -> None:
    """Remove an account from a team. It loses the team's roles at once."""
    with opened(db) as store:
        if not store.teams.leave(name, user):
            raise click.ClickException(f"{user} is not in a team with the name {name}")
    click.echo(f"{user} is no longer in {name}.")


@team_commands.command("delete")
@database
@click.argument("name")
def delete_team(db: Database, name: str) -> None:
    """Delete a team and its roles. Its members' accounts stay."""
    with opened(db) as store:
        if not store.teams.remove(name):
            raise click.ClickException(f"there is no team with the name {name}")
    click.echo(f"The team {name} is deleted.")


@team_commands.command("grant")
@database
@click.argument("survey_id")
@click.argument("name")
@click.argument("role", type=click.Choice([*(role.word for role in reversed(Role)), "none"]))
def grant_team(db: Database, survey_id: str, name: str, role: str) -> None:
    """Give a team a role in a survey.

    Example:
      deniable-server team grant affairs "Cognition lab" analyst
    """
    with opened(db) as store:
        if role == "none":
            store.teams.revoke(survey_id, name)
        else:
            store.teams.grant(survey_id, name, Role.of(role))
    click.echo(f"Members of {name} are now {role} of {survey_id}." if role != "none" else f"{name} now has no role in {survey_id}.")


def _word(manager: bool) -> str:
    return "manager" if manager else "member"
