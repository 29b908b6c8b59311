"""Commands `deniable-server user` and `deniable-server key`: accounts that may read results, and keys for programs."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from deniable_server.access import api_keys
from deniable_server.config import Config, Database
from deniable_server.identity import account_links
from deniable_server.identity.names import check_name
from deniable_server.operate.cli_database import database, json_option, opened, print_json
from deniable_server.store.identities import Identity
from deniable_server.store.protocol import Store
from deniable_server.store.roles import Role


class Name(click.ParamType[str]):
    """The name of a new account."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Returns the name without spaces at its ends."""
        try:
            return check_name("the name", str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


password_option = click.option("--password-env", metavar="VAR", help="Take the password from this environment variable instead of asking.")


def asked_password(variable: str | None) -> str:
    """Reads the password from an environment variable or from the terminal."""
    password = os.environ.get(variable) if variable else click.prompt("Password", hide_input=True, confirmation_prompt=True)
    if password is None:
        name = f" {variable}" if re.fullmatch("[A-Z][A-Z0-9_]*", variable or "") else ""  # it may be the password itself
        raise click.BadParameter(f"the environment variable{name} is not set", param_hint="--password-env")
    return str(password)


def give_password(store: Store, name: str, password: str) -> None:
    """Creates an account or changes its password. Raises ValueError with the broken rule."""
    from deniable_server.identity.passwords import set_password  # loads Flask, which no other command needs

    set_password(store.accounts, name, password)


@click.group("user")
def user_commands() -> None:
    """Manage researchers' accounts."""


@user_commands.command("add")
@database
@click.argument("name", type=Name())
@click.option("--operator", is_flag=True, help="Make it an operator's, who manages accounts, and surveys without an owner.")
@password_option
def add_user(db: Database, name: str, operator: bool, password_env: str | None) -> None:
    """Create an account."""
    with opened(db) as store:
        if store.people.person(name) is not None:
            raise click.ClickException(f"{name} has an account; `deniable-server user password` changes its password")
        give_password(store, name, asked_password(password_env))
        store.people.set_operator(name, operator)
    click.echo(f"{name} can log in.")


@user_commands.command("password")
@database
@click.argument("name")
@password_option
def change_password(db: Database, name: str, password_env: str | None) -> None:
    """Change a password. All sessions of the account end."""
    with opened(db) as store:
        if store.people.person(name) is None:
            raise click.ClickException(f"{name} has no account; `deniable-server user add` makes one")
        give_password(store, name, asked_password(password_env))
    click.echo(f"{name} has a new password, and is logged out everywhere.")


@user_commands.command("log-out")
@database
@click.argument("name")
def log_out(db: Database, name: str) -> None:
    """End all sessions of an account."""
    with opened(db) as store:
        store.accounts.end_sessions(name)
    click.echo(f"{name} is logged out everywhere.")


@user_commands.command("remove")
@database
@click.argument("name")
def remove_user(db: Database, name: str) -> None:
    """Remove an account, and the webhooks that it made. Its sessions end. Surveys and keys stay; its keys are listed.

    You cannot remove the only operator, nor the only owner of a survey: first make another one with `deniable-server grant`.
    """
    from deniable_server.identity.makers import remove_account

    with opened(db) as store:
        remains = remove_account(store, name)
    if remains is None:
        raise click.ClickException(f"{name} has no account")
    click.echo(f"{name} is removed, and logged out everywhere.")
    for survey_id, webhook_id in remains.webhooks:
        click.echo(f"The webhook {webhook_id} of {survey_id}, which {name} made, is removed.")
    for key in remains.keys:
        click.echo(f"The key {key}, which {name} made, still works: `deniable-server key revoke {key}` ends it.")


@user_commands.command("list")
@database
@json_option
def list_users(db: Database, as_json: bool) -> None:
    """List the accounts.

    One line each, separated by tabs: name, operator or researcher, and disabled if it is.
    """
    with opened(db, writing=False) as store:
        people = store.people.all()
    if as_json:
        print_json([asdict(person) for person in people])
    else:
        for person in people:
            kind = "operator" if person.operator else "researcher"
            click.echo("\t".join((person.name, kind, *(["disabled"] if person.disabled else []))))


@user_commands.command("invite")
@database
@click.option("--operator", is_flag=True, help="For an operator's account.")
@click.option("--public-url", metavar="URL", help="The https:// address people use; the link begins with it.")
def invite_user(db: Database, operator: bool, public_url: str | None) -> None:
    """Create a sign-up link for one person. It is printed once, and expires in seven days."""
    with opened(db) as store:
        click.echo(account_links.make(store, Config.for_database(db, public_url).address, operator))
    click.echo("Send it to one person over a private channel. It works once.", err=True)


@user_commands.command("operator")
@database
@click.argument("name")
@click.option("--no", "researcher", is_flag=True, help="Make it a researcher's again.")
def make_operator(db: Database, name: str, researcher: bool) -> None:
    """Make an account an operator's.

    Operators manage accounts, and surveys without an owner.
    """
    with opened(db) as store:
        store.people.set_operator(name, not researcher)
    click.echo(f"{name} is {'no longer an operator' if researcher else 'an operator'}.")


@user_commands.command("password-only")
@database
@click.argument("name")
def remove_factor(db: Database, name: str) -> None:
    """Remove the second factor of an account.

    Use this for a person who has lost the device and the recovery codes.
    """
    with opened(db) as store:
        if not store.factors.remove(name):
            raise click.ClickException(f"{name} has no second factor")
    click.echo(f"{name} logs in with the password alone.")


@user_commands.command("connect")
@database
@click.argument("name")
@click.option("--issuer", metavar="URL", required=True, help="The issuer in the settings of single sign-on.")
@click.option("--subject", metavar="SUB", required=True, help="The person's subject at the provider, the claim `sub`.")
def connect_user(db: Database, name: str, issuer: str, subject: str) -> None:
    """Connect an account to a person at the login provider.

    Use this where passwords do not log in. People can also connect their accounts themselves.
    """
    with opened(db) as store:
        store.identities.bind(name, Identity(issuer, subject))
    click.echo(f"{name} can log in with single sign-on.")


@user_commands.command("disconnect")
@database
@click.argument("name")
def disconnect_user(db: Database, name: str) -> None:
    """Disconnect an account, which ends its sessions."""
    with opened(db) as store:
        bindings = store.identities.of(name)
        if not bindings:
            raise click.ClickException(f"{name} is not connected to a login provider")
        for binding in bindings:
            store.identities.unbind(name, binding.identity.mark)
        store.accounts.end_sessions(name)
    click.echo(f"{name} is disconnected, and logged out everywhere.")


@user_commands.command("disable")
@database
@click.argument("name")
@click.option("--no", "enabled", is_flag=True, help="Enable it again.")
def disable_user(db: Database, name: str, enabled: bool) -> None:
    """Disable an account, or enable it again.

    A disabled account cannot log in. Its sessions end; its roles stay.
    """
    with opened(db) as store:
        store.people.set_disabled(name, not enabled)
    click.echo(f"{name} is {'enabled' if enabled else 'disabled, and logged out everywhere'}.")


@click.command("grant")
@database
@click.argument("survey_id")
@click.argument("name")
@click.argument("role", type=click.Choice([*(role.word for role in reversed(Role)), "none"]))
def grant(db: Database, survey_id: str, name: str, role: str) -> None:
    """Give an account a role in a survey.

    Example, if the owner has left:
      deniable-server grant affairs eve owner
    """
    with opened(db) as store:
        if role == "none":
            store.roles.revoke(survey_id, name)
        else:
            store.roles.grant(survey_id, name, Role.of(role))
    click.echo(f"{name} is now {role} of {survey_id}." if role != "none" else f"{name} now has no role in {survey_id}.")


@click.group("key")
def key_commands() -> None:
    """Manage API keys of programs."""


@key_commands.command("make")
@database
@click.option("--name", metavar="NAME", required=True, help="The key's name, for `key list` and `key revoke`.")
@click.option(
    "--scope", "scopes", type=click.Choice(list(api_keys.SCOPES)), multiple=True, required=True, help="The key's scope; may be repeated."
)
@click.option("--survey", metavar="ID", help="Limit the key to this survey.")
def make_key(db: Database, name: str, scopes: Sequence[str], survey: str | None) -> None:
    """Create an API key. It is printed once and not stored.

    Example:
      deniable-server key make --scope submit --name lab
    """
    with opened(db) as store:
        key_text = api_keys.make(store, name, scopes, survey)
    click.echo(key_text)
    purposes = " and ".join(api_keys.SCOPES[scope] for scope in scopes)
    click.echo(f"The key {name} is for {purposes}. Nobody can print it again.", err=True)


@key_commands.command("list")
@database
@json_option
def list_keys(db: Database, as_json: bool) -> None:
    """List the API keys: name, scopes, survey, and day of creation."""
    with opened(db, writing=False) as store:
        keys = store.accounts.all_keys()
    if as_json:
        print_json([asdict(key) for key in keys])
    else:
        for key in keys:
            click.echo(f"{key.name}\t{','.join(key.scopes)}\t{key.survey or 'all surveys'}\t{key.made_on}")


@key_commands.command("revoke")
@database
@click.argument("name")
def revoke_key(db: Database, name: str) -> None:
    """Revoke an API key. It stops working at once."""
    with opened(db) as store:
        if not store.accounts.remove_key(name):
            if name.startswith(api_keys.PREFIX):
                raise click.ClickException("name must be a key's name, got a key (dk_…); `deniable-server key list` prints the names")
            raise click.ClickException(f"there is no key with the name {name}")
    click.echo(f"{name} is revoked.")
