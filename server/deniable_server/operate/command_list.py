"""Command list of `deniable-server`: its help imports no command, and no library but the one for command lines."""

from __future__ import annotations

from typing import Any

import click

from deniable.lazy_group import LazyGroup, ListedCommand
from deniable_server.operate.cli_help import keep_indented_lines

HELP = """Run surveys whose server cannot learn an answer.

A server from nothing:
  deniable-server init --user ada
  deniable-server publish survey.yaml
  deniable-server serve

Or see it first:
  deniable-server demo
"""

COMMANDS = {
    name: ListedCommand("deniable_server.operate.cli", sentence)
    for name, sentence in {
        "archive": "Move a closed survey to the end of the list.",
        "audit": "Show and verify the acts of researchers and operators.",
        "backup": "Copy the database to a new file TARGET.",
        "close": "Close a survey: it accepts no more submissions.",
        "delete-records": "Delete all records of a survey, and close it for good.",
        "demo": "Try a study on real answers, on this machine.",
        "doctor": "Check key, disk, backup, address and login provider.",
        "export": "Write counted records to a folder of Parquet files.",
        "grant": "Give an account a role in a survey.",
        "init": "Create the database, its key and the first account.",
        "invite": "Create one-time codes for a survey by invitation.",
        "key": "Manage API keys of programs.",
        "list": "List the published surveys.",
        "move": "Move the database to PostgreSQL, or back to SQLite.",
        "pause": "Pause a survey: it accepts no submissions.",
        "publish": "Publish a survey file (YAML or JSON).",
        "quotas": "Show the quotas of a survey's groups, or set and raise them.",
        "restore": "Create a server's database from BACKUP.",
        "results": "Print the estimates of a survey, with their intervals.",
        "serve": "Serve the surveys, until interrupted with Ctrl-C.",
        "settings": "Show the settings of a survey, or change them.",
        "team": "Manage teams, which get roles together.",
        "upkeep": "Close, release and delete what is due, and send webhooks.",
        "user": "Manage researchers' accounts.",
        "webhook": "Manage webhooks, which receive events of a survey.",
    }.items()
}
"""The commands. They are imported when one is called."""


class _Commands(LazyGroup):
    """A lazy group of the commands of another group, in their module."""

    def find(self, module: Any, name: str) -> click.Command | None:
        group: click.Group = module.main
        return group.commands.get(name)


@click.group(cls=_Commands, listed=COMMANDS, help=HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="deniable")
def main() -> None:
    """Runs the command that the arguments name."""


keep_indented_lines(main)
