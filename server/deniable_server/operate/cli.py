"""Command line of `deniable-server`: set up, accounts and keys, publish, invite, serve, close, results, backup."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from deniable import extras
from deniable.survey import Survey
from deniable.wire.link import Link
from deniable_server.access import invitations
from deniable_server.config import MOST_PER_SECOND, Config, Database, Institution, Logo, make_key
from deniable_server.operate import logs
from deniable_server.operate.cli_access import Name, asked_password, give_password, grant, key_commands, password_option, user_commands
from deniable_server.operate.cli_audit import audit_commands
from deniable_server.operate.cli_backup import backup, restore_backup
from deniable_server.operate.cli_database import KeyPath, at_terminal, database, failing, json_option, logged, opened, print_json, require
from deniable_server.operate.cli_demo import demo_command
from deniable_server.operate.cli_doctor import doctor_command
from deniable_server.operate.cli_export import export_command
from deniable_server.operate.cli_help import keep_indented_lines
from deniable_server.operate.cli_life import (
    SettingNumber,
    archive_command,
    delete_command,
    pause_command,
    quotas_command,
    settings_command,
    upkeep_command,
)
from deniable_server.operate.cli_move import move_command
from deniable_server.operate.cli_teams import team_commands
from deniable_server.operate.cli_webhooks import webhook_commands
from deniable_server.operate.command_list import HELP
from deniable_server.operate.survey_list import list_entries
from deniable_server.store.namesakes import namesakes
from deniable_server.store.protocol import Store

_METHOD = (
    "The method for intervals of shares: feldman-cousins (the default), likelihood-ratio, wilson, clopper-pearson or wald; for the "
    "target respondents: feldman-cousins, constrained-score or score."
)
_PEM = click.Path(exists=True, dir_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_PATH = click.Path(exists=True, path_type=Path)
_TARGET = "The target of estimates: population (the default; respondents are a sample of it) or respondents (these people alone)."


class _Address(click.ParamType[tuple[str, int]]):
    name = "address:port"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Returns the host, without the brackets of an IPv6 address, and the port."""
        host, _, port = str(value).rpartition(":")
        if not host or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
            self.fail(f"must be an address and a port, such as 127.0.0.1:9464, got {value!r}", param, ctx)
        return host.removeprefix("[").removesuffix("]"), int(port)


@click.group(help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable")
def main() -> None:
    """Runs the command that the arguments name."""


main.add_command(user_commands)
main.add_command(key_commands)
main.add_command(backup)
main.add_command(restore_backup)
main.add_command(move_command)
main.add_command(demo_command)
main.add_command(export_command)
main.add_command(doctor_command)
main.add_command(grant)
main.add_command(audit_commands)
main.add_command(team_commands)
main.add_command(webhook_commands)
for _command in (settings_command, quotas_command, pause_command, archive_command, delete_command, upkeep_command):
    main.add_command(_command)


@main.command()
@database
@click.option(
    "--user", type=Name(), required=True, metavar="NAME", prompt="Name of the researcher", help="The researcher's name, for logging in."
)
@password_option
def init(db: Database, user: str, password_env: str | None) -> None:
    """Create the database, its key and the first account.

    The account is an operator's, who manages the other accounts.

    If the account exists, it gets a new password, which ends its sessions.
    """
    password = asked_password(password_env)
    with opened(db, new=True) as store:
        give_password(store, user, password)
        store.people.set_operator(user, True)
    make_key(db.key)
    click.echo(f"{db} is ready; {user} can log in. The key that signs sessions is in {db.key}.")


def _has_sample_text(survey: Survey) -> bool:
    """Returns whether a survey still has sample text of a new draft, which the page *Publish* reports, too."""
    from deniable_server.drafts.editor.sample_text import find_sample_text  # loads Flask, which no other command needs

    samples = find_sample_text(survey)
    if samples:
        click.echo("The survey still has sample text. Respondents would read:", err=True)
    for sample in samples:
        click.echo(f"  {sample.label}: {sample.words}", err=True)
    return bool(samples)


def _name_gaps(survey: Survey) -> None:
    """Prints the languages with missing texts on standard error, as the page *Publish* does."""
    from deniable_server.drafts.editor.missing_translations import missing_translations  # loads Flask, which no other command needs

    for missing in missing_translations(survey):
        click.echo(f"{missing.sentence}.", err=True)


def _check_title(store: Store, survey: Survey, owner: str | None, same_title: bool) -> None:
    """Prints surveys of the same owner with a similar title on standard error. Refuses another owner's, unless `same_title` is given."""
    similar = namesakes(store, survey, owner)
    if similar.others and not same_title:
        rule = "title must not look like the title of another owner's survey, got one that does"
        raise click.ClickException(f"{rule}; nothing was published. --same-title publishes it anyway.")
    if similar.own:
        ids = ", ".join(other.id for other in similar.own[:5]) + (", ..." if len(similar.own) > 5 else "")
        click.echo(f"The title looks like the title of {_number(len(similar.own), 'survey')} of the same owner: {ids}.", err=True)


@main.command()
@database
@click.argument("survey_file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--owner", metavar="NAME", help="The account that will own the survey; by default the operators.")
@click.option("--yes", is_flag=True, help="Publish the survey even with sample text, without asking.")
@click.option("--same-title", is_flag=True, help="Publish the survey even if its title looks like the title of another owner's survey.")
@json_option
def publish(db: Database, survey_file: Path, owner: str | None, yes: bool, same_title: bool, as_json: bool) -> None:
    """Publish a survey file (YAML or JSON). A published survey never changes.

    Standard error lists languages that lack texts, and sample text that is still in the survey. At a terminal, a survey with sample
    text is published only after you confirm.

    A title that looks like the title of another owner's survey is refused without --same-title. A similar title of the same owner's
    survey, such as a wave, is listed on standard error.
    """
    with opened(db) as store:
        survey = Survey.from_file(survey_file)
        exists = survey.id in store.surveys.ids()
        if not exists:
            _name_gaps(survey)
            _check_title(store, survey, owner, same_title)
        if not exists and _has_sample_text(survey) and not yes and at_terminal():
            click.confirm("Publish it for good anyway?", abort=True, err=True)
        new = store.surveys.publish(survey, owner, source=survey_file.read_text(encoding="utf-8-sig"))
        survey = store.surveys.published(survey.id).survey  # with the key of a survey by invitation, and so its digest
    if as_json:
        link = str(Link("", survey.id, survey.digest))
        return print_json({"id": survey.id, "new": new, "digest": survey.digest, "epsilon": survey.epsilon, "link": link})
    click.echo(f"{survey.id} {'is published' if new else 'was published before, with the same definition'}.")
    click.echo(f"digest   {survey.digest}")
    click.echo(f"epsilon  {survey.epsilon:.6f} for the whole survey")
    click.echo(f"link     {Link('', survey.id, survey.digest)}")
    return None


@main.command("list")
@database
@json_option
def list_surveys(db: Database, as_json: bool) -> None:
    """List the published surveys.

    One line each, separated by tabs: id, open, paused or closed, number of records, and title.
    """
    with opened(db, writing=False) as store:
        surveys = list_entries(store)
    if as_json:
        print_json(surveys)
    else:
        lines = (f"{survey['id']}\t{survey['state']}\t{_counts_in_words(survey)}\t{survey['title']}\n" for survey in surveys)
        click.echo("".join(lines), nl=False)


def _counts_in_words(survey: dict[str, Any]) -> str:
    """Returns the counts of a survey, in words."""
    parts = [_number(survey["records"], "record")]
    if survey["by_hand"]:
        parts.append(f"{survey['by_hand']} made by hand")
    if survey["waiting"]:
        parts.append(f"{survey['waiting']:,} or more wait for their release")
    if survey["codes_made"] is not None:
        parts.append(f"{survey['codes_spent']} of {_number(survey['codes_made'], 'invitation')} spent")
    return ", ".join(parts)


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@main.command()
@database
@click.argument("survey_id")
@click.option("--count", type=SettingNumber(), metavar="N", required=True, help="How many codes to make, up to 100,000.")
@click.option(
    "--format",
    "kind",
    type=click.Choice(["txt", "csv"]),
    default="txt",
    show_default=True,
    help="txt: one code a line; csv: with links.",
)
@click.option("--public-url", metavar="URL", help="The https:// address people use; the links in CSV and JSON begin with it.")
@json_option
def invite(db: Database, survey_id: str, count: int, kind: str, public_url: str | None, as_json: bool) -> None:
    """Create one-time codes for a survey by invitation. They are printed once and not stored."""
    with opened(db) as store:
        url = Config.for_database(db, public_url).public_url
        codes = invitations.make(store, survey_id, count)
        survey = store.surveys.published(survey_id).survey
    if as_json:
        print_json([{"code": code, "link": invitations.personal_link(survey, code, url)} for code in codes])
    else:
        click.echo("\n".join(codes) + "\n" if kind == "txt" else invitations.to_csv(survey, codes, url), nl=False)
    click.echo(f"{_number(count, 'code')} made. The server keeps only hashes: nobody can print a code again.", err=True)


def _sso_settings(path: Path | None) -> Path | None:
    """Returns the file with the settings of single sign-on. Raises MissingExtraError and ValueError."""
    from deniable_server.identity.sso.settings import SsoSettings

    if path is None:
        return None
    if error := extras.missing("single sign-on", "sso"):
        raise error
    SsoSettings.from_file(path)
    return path.resolve()


@main.command()
@database
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), metavar="N", default=8000, show_default=True, help="The port to listen on.")
@click.option("--public-url", metavar="URL", help="The https:// address people use, behind a proxy. Limits cookies to HTTPS.")
@click.option(
    "--most-per-second",
    type=click.IntRange(min=1),
    metavar="N",
    default=MOST_PER_SECOND,
    show_default=True,
    help="The most submissions without a key per second, from all clients and to all servers on a database together; others get 429.",
)
@click.option("--certificate", metavar="FILE", type=_PEM, help="Serve https with this certificate (PEM, with its chain); needs --key.")
@click.option("--key", metavar="FILE", type=KeyPath(), help="The certificate's private key (PEM, without a password).")
@click.option("--institution", metavar="NAME", default="", help="Who runs this server, for the header of researchers' pages.")
@click.option("--logo", metavar="FILE", type=_FILE, help="Its logo: .png, .svg, .jpg or .webp, up to 200 kB.")
@click.option(
    "--log",
    type=click.Choice(list(logs.FORMS)),
    default="text",
    show_default=True,
    help="The format of events on stderr: json has one object a line.",
)
@click.option("--metrics", is_flag=True, help="Serve metrics for Prometheus at /metrics, for a key with the scope metrics.")
@click.option("--metrics-listen", metavar="ADDRESS:PORT", type=_Address(), help="Serve metrics at a separate address, without a key.")
@click.option("--backups", metavar="PATH", type=_PATH, help="The newest backup, or the folder of all backups, whose time /metrics reports.")
@click.option("--private-webhooks", is_flag=True, help="Allow webhooks to this machine and to private networks.")
@click.option("--sso", metavar="FILE", type=_FILE, envvar="DENIABLE_SSO", show_envvar=True, help="The settings of single sign-on (TOML).")
@click.option(
    "--database-connections",
    type=SettingNumber(),
    metavar="N",
    envvar="DENIABLE_DATABASE_CONNECTIONS",
    show_envvar=True,
    help="The most connections to PostgreSQL at a time, 5 or more; 30 by default.",
)
def serve(db: Database, host: str, port: int, public_url: str | None, most_per_second: int, **more: Any) -> None:
    """Serve the surveys, until interrupted with Ctrl-C.

    Behind a proxy that speaks https, give the address that people use as --public-url. Without a proxy, give --certificate and --key.

    Example:
      deniable-server serve --public-url https://survey.example.org --metrics-listen 127.0.0.1:9464
    """
    from deniable_server.operate.serve import Listening
    from deniable_server.operate.serve import serve as run

    require(db)
    certificate, key, logo = (more[name] for name in ("certificate", "key", "logo"))
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key must be given together")
    with logged(db) if more["log"] == "json" else failing(db):
        config = replace(
            Config.for_database(db, public_url, most_per_second),
            institution=Institution(more["institution"].strip(), Logo.of(logo) if logo else None),
            metrics=more["metrics"] or more["metrics_listen"] is not None,
            backups=more["backups"],
            private_webhooks=more["private_webhooks"],
            database_connections=more["database_connections"],
            sso=_sso_settings(more["sso"]),
        )
        run(config, Listening(host, port, (certificate, key) if certificate and key else None, more["metrics_listen"]), more["log"])


@main.command()
@database
@click.argument("survey_id")
@click.option("--reopen", is_flag=True, help="Reopen the survey.")
def close(db: Database, survey_id: str, reopen: bool) -> None:
    """Close a survey: it accepts no more submissions. Waiting submissions are counted. Results stay."""
    with opened(db) as store:
        store.surveys.set_open(survey_id, reopen)
    click.echo(f"{survey_id} is {'open' if reopen else 'closed'}.")


@main.command()
@database
@click.argument("survey_id")
@click.option("--json", "kind", flag_value="json", help="Print JSON.")
@click.option("--csv", "kind", flag_value="csv", help="Print CSV.")
@click.option("--table", "kind", flag_value="table", default=True, help="Print a table.  [default]")
@click.option(
    "--confidence", metavar="P", default="0.95", show_default=True, help="The confidence level of the intervals, between 0 and 1."
)
@click.option("--method", metavar="NAME", help=_METHOD)
@click.option("--target", metavar="NAME", help=_TARGET)
@click.option("--group", metavar="LABEL", help="Print this group only.")
@click.option(
    "--by-hand", "by_hand", flag_value="1", help="Print the results of records made with real coins, which no other results include."
)
@click.option(
    "--clusters", "clusters", flag_value="1", help="Compute intervals for cluster sampling: groups were drawn, and then people in them."
)
def results(db: Database, survey_id: str, kind: str, **options: str | None) -> None:
    """Print the estimates of a survey, with their intervals."""
    from deniable_server.results.results import results_of

    with opened(db, writing=False) as store:
        estimates = results_of(store, survey_id, {name: value for name, value in options.items() if value is not None})
    forms: dict[str, Callable[[], str]] = {"json": estimates.to_json, "csv": estimates.to_csv, "table": estimates.to_table}
    text = forms[kind]()
    click.echo(text, nl=not text.endswith("\n"))


keep_indented_lines(main)
