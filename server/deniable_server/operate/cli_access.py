"""`deniable-server user` and `deniable-server key`: who may read results, and which programs may send many records."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import click

from deniable_server.api import keys
from deniable_server.operate.cli_database import database, opened
from deniable_server.researchers.passwords import set_password

password_option = click.option("--password-env", metavar="VAR", help="Take the password from this environment variable instead of asking.")


def asked_password(variable: str | None) -> str:
    """The password, from an environment variable or from whoever sits here."""
    password = os.environ.get(variable) if variable else click.prompt("Password", hide_input=True, confirmation_prompt=True)
    if password is None:
        raise click.BadParameter(f"the environment variable {variable} is not set", param_hint="--password-env")
    return str(password)


@click.group("user")
def user_commands() -> None:
    """Accounts of researchers."""


@user_commands.command("add")
@database
@click.argument("name")
@password_option
def add_user(db: Path, name: str, password_env: str | None) -> None:
    """Make an account."""
    with opened(db) as store:
        if store.accounts.password_hash(name) is not None:
            raise click.ClickException(f"{name} has an account; `deniable-server user password` changes its password")
        set_password(store.accounts, name, asked_password(password_env))
    click.echo(f"{name} can log in.")


@user_commands.command("password")
@database
@click.argument("name")
@password_option
def change_password(db: Path, name: str, password_env: str | None) -> None:
    """Change a password. All sessions of the account end."""
    with opened(db) as store:
        if store.accounts.password_hash(name) is None:
            raise click.ClickException(f"{name} has no account; `deniable-server user add` makes one")
        set_password(store.accounts, name, asked_password(password_env))
    click.echo(f"{name} has a new password, and is logged out everywhere.")


@user_commands.command("log-out")
@database
@click.argument("name")
def log_out(db: Path, name: str) -> None:
    """End all sessions of an account."""
    with opened(db) as store:
        store.accounts.end_sessions(name)
    click.echo(f"{name} is logged out everywhere.")


@user_commands.command("remove")
@database
@click.argument("name")
def remove_user(db: Path, name: str) -> None:
    """Remove an account. All its sessions end; surveys and keys stay."""
    with opened(db) as store:
        if not store.accounts.remove_user(name):
            raise click.ClickException(f"{name} has no account")
    click.echo(f"{name} is removed, and logged out everywhere.")


@user_commands.command("list")
@database
def list_users(db: Path) -> None:
    """List the accounts."""
    with opened(db) as store:
        for name in store.accounts.users():
            click.echo(name)


@click.group("key")
def key_commands() -> None:
    """Keys for programs that send many records or read results."""


@key_commands.command("make")
@database
@click.option("--name", metavar="NAME", required=True, help="What to call it, for `key list` and `key revoke`.")
@click.option(
    "--scope", "scopes", type=click.Choice(list(keys.SCOPES)), multiple=True, required=True, help="What it is for; may be repeated."
)
@click.option("--survey", metavar="ID", help="For this survey only.")
def make_key(db: Path, name: str, scopes: Sequence[str], survey: str | None) -> None:
    """Make a key. It is printed here, once, and kept nowhere.

    \b
    Example:
      deniable-server key make --scope submit --name lab
    """
    with opened(db) as store:
        written = keys.make(store, name, scopes, survey)
    click.echo(written)
    click.echo(f"{name} is for {' and '.join(keys.SCOPES[scope] for scope in scopes)}. Nobody can print the key again.", err=True)


@key_commands.command("list")
@database
def list_keys(db: Path) -> None:
    """List the keys: name, scopes, survey, and the day each was made."""
    with opened(db) as store:
        for key in store.accounts.all_keys():
            click.echo(f"{key.name}\t{','.join(key.scopes)}\t{key.survey or 'all surveys'}\t{key.made_on}")


@key_commands.command("revoke")
@database
@click.argument("name")
def revoke_key(db: Path, name: str) -> None:
    """Revoke a key: it opens nothing from now on."""
    with opened(db) as store:
        if not store.accounts.remove_key(name):
            raise click.ClickException(f"there is no key with the name {name}")
    click.echo(f"{name} is revoked.")
