"""Command `deniable-server doctor`: check of an installation, with a line for each check."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click

from deniable_server.config import Database
from deniable_server.operate.cli_access import asked_password
from deniable_server.operate.cli_database import database


@click.command("doctor")
@database
@click.option("--public-url", metavar="URL", help="The https:// address people use: check that it is reached, with the security headers.")
@click.option("--sso", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The settings of single sign-on.")
@click.option("--backup", "copy", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path), help="The newest backup.")
@click.option("--password-env", metavar="VAR", help="The environment variable that holds the password of a locked backup.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array of objects: check, state, faults, reason.")
def doctor_command(
    db: Database, public_url: str | None, sso: Path | None, copy: Path | None, password_env: str | None, as_json: bool
) -> None:
    """Check key, disk, backup, address and login provider.

    Prints a line for each check; the disk and backups of a PostgreSQL server are not checked. The backup is counted again in a copy
    beside the database, as `restore` does. Last come the features that are missing because a package is not installed. The exit code is
    1 if there is a fault, and all faults are listed.

    Example:
      deniable-server doctor --public-url https://survey.example.org --backup copy.db
    """
    from deniable_server.operate import doctor

    if db.path is not None and not db.path.exists():
        raise click.ClickException(f"{db} is not set up; run `deniable-server init --db {db} --user NAME` first")
    password = asked_password(password_env) if password_env else None
    checks_by_name: dict[str, Iterator[str] | None] = {
        "the secret key": doctor.key(db),
        "permissions": doctor.permissions(db),
        "the database": doctor.database(db),
        "free disk": doctor.disk(db.path) if db.path else None,
        "the backup (--backup FILE)": doctor.backup(db.path, copy, password) if db.path and copy else None,
        "the address (--public-url URL)": _reached(public_url) if public_url else None,
        "single sign-on (--sso FILE)": doctor.single_sign_on(sso) if sso else None,
    }
    checks = [doctor.run_check(name, faults) for name, faults in checks_by_name.items()]
    if as_json:
        entries = [{"check": check.name, "state": check.state, "faults": check.faults, "reason": check.skipped or None} for check in checks]
        click.echo(json.dumps(entries, indent=2))
    else:
        lines = [line for check in checks for line in check.lines]
        click.echo("\n".join([*lines, *(f"not offered  {line}" for line in doctor.missing_features())]))
    raise click.exceptions.Exit(1 if any(check.faults for check in checks) else 0)


def _reached(url: str) -> Iterator[str]:
    import httpx

    from deniable_server.operate import doctor

    with httpx.Client(timeout=10) as client:
        yield from doctor.address(url, client)
