"""Commands for published surveys: settings, pause, archive, and deletion of records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import click

from deniable_server.config import Database
from deniable_server.operate.cli_database import database, json_option, opened, print_json
from deniable_server.pages.numbers import decimal, whole
from deniable_server.store.life import Settings, revised
from deniable_server.store.moments import MOMENTS, in_utc, require_zone

NONE = "none"


class SettingNumber(click.ParamType[Any]):
    """A number as pages accept it, or the word none if the setting can be cleared."""

    name = "number"

    def __init__(self, read: Callable[[str], Any] = whole, or_none: bool = False) -> None:
        self._read, self._or_none = read, or_none

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Returns the number."""
        if self._or_none and value == NONE:
            return value
        try:
            return self._read(str(value))
        except ValueError as error:
            self.fail(f"{error}{f', or {NONE}' if self._or_none else ''}, got {value!r}", param, ctx)


@click.command("settings")
@database
@click.argument("survey_id")
@click.option("--points", type=SettingNumber(decimal), metavar="POINTS", help="The target precision: ± points, 0.1 to 50.")
@click.option("--expected", type=SettingNumber(or_none=True), metavar="N", help="The expected number of people.")
@click.option("--least", type=SettingNumber(), metavar="N", help="The smallest number of records at which estimates are shown.")
@click.option("--close-on", metavar="DAY", help="The last day for answers, YYYY-MM-DD in UTC.")
@click.option("--opens-at", metavar="TIME", help="The time from which answers are accepted, YYYY-MM-DD HH:MM in --zone.")
@click.option("--closes-at", metavar="TIME", help="The time from which answers are no longer accepted.")
@click.option("--zone", metavar="ZONE", help="The time zone of both times, such as Europe/Berlin.")
@click.option("--close-at", type=SettingNumber(or_none=True), metavar="N", help="The number of records at which the survey closes.")
@click.option("--delete-on", metavar="DAY", help="The day on which the server deletes the records.")
@json_option
def settings_command(db: Database, survey_id: str, points: Decimal | None, as_json: bool, **options: Any) -> None:
    """Show the settings of a survey, or change them.

    The word none clears a number or a day.

    Example:
      deniable-server settings health --points 5 --expected 800 --close-on 2027-01-31
      deniable-server settings health --opens-at "2027-01-11 09:00" --closes-at "2027-01-31 18:00" --zone Europe/Berlin
    """
    changes: dict[str, Any] = {name: None if value == NONE else value for name, value in options.items() if value is not None}
    if points is not None:
        changes["half_width"] = float(points) / 100
    with opened(db) as store:
        settings = store.life.settings(survey_id)
        if changes:
            _localize(changes, changes.get("zone", settings.zone))
            settings = revised(settings, today(), changes)
            store.life.keep(survey_id, settings)
    if as_json:
        print_json(_settings_fields(settings))
    else:
        yes = {True: "yes", False: "no", None: NONE}
        for name, value in _settings_fields(settings).items():
            click.echo(f"{name}\t{yes[value] if value is None or isinstance(value, bool) else value}")


def _localize(changes: dict[str, Any], zone: str) -> None:
    """Replaces local times of a zone by minutes in UTC. Raises click.UsageError."""
    for name, which in MOMENTS.items():
        if changes.get(name) is None:
            continue
        try:
            require_zone(zone)
            changes[name] = in_utc(datetime.strptime(changes[name].replace("T", " "), "%Y-%m-%d %H:%M"), zone, which)
        except ValueError as error:
            rule = str(error) if "zone" in str(error) or "occurs" in str(error) else f"must be YYYY-MM-DD HH:MM, got {changes[name]!r}"
            raise click.UsageError(f"--{name.replace('_', '-')} {rule}") from None


def today() -> str:
    """Returns the day in UTC."""
    return datetime.now(UTC).date().isoformat()


def _settings_fields(settings: Settings) -> dict[str, Any]:
    """Returns settings by the names of the command's options."""
    points = float(f"{100 * settings.half_width:g}")
    rest = {field.name: getattr(settings, field.name) for field in fields(settings)[1:]}
    return {"points": int(points) if points.is_integer() else points, **rest}


@click.command("quotas")
@database
@click.argument("survey_id")
@click.option("--most", "changes", multiple=True, metavar="GROUP=N", help="The most records of a group, a multiple of ten. Repeatable.")
@json_option
def quotas_command(db: Database, survey_id: str, changes: tuple[str, ...], as_json: bool) -> None:
    """Show the quotas of a survey's groups, or set and raise them.

    A quota cannot be lowered, and withdrawn records count: otherwise quotas would show how many people have answered.

    Example:
      deniable-server quotas health --most "Clinic A=100" --most "Clinic B=60"
    """
    new = dict(_quota(change) for change in changes)
    with opened(db) as store:
        if new:
            store.life.set_quotas(survey_id, new)
        quotas, full = store.life.quotas(survey_id), store.life.full_groups(survey_id)
    if as_json:
        print_json([{"group": group, "most": most, "full": group in full} for group, most in quotas.items()])
    else:
        for group, most in quotas.items():
            click.echo(f"{group}\t{most:,}{chr(9) + 'full' if group in full else ''}")


def _quota(text: str) -> tuple[str, int]:
    """Parses GROUP=N. Raises click.UsageError."""
    group, _, most = text.rpartition("=")
    try:
        return group, whole(most)
    except ValueError:
        raise click.UsageError(f"--most must be GROUP=N, got {text!r}") from None


@click.command("pause")
@database
@click.argument("survey_id")
@click.option("--resume", is_flag=True, help="Resume the survey.")
def pause_command(db: Database, survey_id: str, resume: bool) -> None:
    """Pause a survey: it accepts no submissions. Waiting submissions keep waiting."""
    with opened(db) as store:
        store.surveys.pause(survey_id, not resume)
    click.echo(f"{survey_id} is {'open' if resume else 'paused'}.")


@click.command("archive")
@database
@click.argument("survey_id")
@click.option("--undo", is_flag=True, help="Move the survey back from the end of the list.")
def archive_command(db: Database, survey_id: str, undo: bool) -> None:
    """Move a closed survey to the end of the list."""
    with opened(db) as store:
        store.life.archive(survey_id, not undo)
    click.echo(f"{survey_id} is {'in the list again' if undo else 'archived'}.")


@click.command("delete-records")
@database
@click.argument("survey_id")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_command(db: Database, survey_id: str, yes: bool) -> None:
    """Delete all records of a survey, and close it for good.

    Its counts and codes are deleted, too. Its questions and their odds stay, with the day. Backups keep the records: delete
    those yourself.
    """
    with opened(db) as store:
        store.surveys.published(survey_id)
        if not yes:
            click.confirm(f"Delete all records of {survey_id}? This cannot be undone.", abort=True)
        store.life.erase(survey_id, today())
    click.echo(f"The records of {survey_id} are deleted. Backups keep them: delete those yourself.")


@click.command("upkeep")
@database
@click.option("--private-webhooks", is_flag=True, help="Allow webhooks to this machine and to private networks.")
def upkeep_command(db: Database, private_webhooks: bool) -> None:
    """Close, release and delete what is due, and send webhooks. A running server does this automatically."""
    from deniable_server.operate.notices import note
    from deniable_server.operate.sending import posting, send_due
    from deniable_server.operate.upkeep import upkeep

    with opened(db) as store:
        day = today()
        for line in upkeep(store, day):
            click.echo(line)
        for survey_id in store.submissions.release_due(datetime.now(UTC)):
            click.echo(f"{survey_id}: waiting records are shown from now on")
        note(store, day, int(datetime.now(UTC).timestamp()))
        send_due(store, posting(private_webhooks), lambda: datetime.now(UTC))
