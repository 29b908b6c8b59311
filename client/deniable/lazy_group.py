"""Lazy loading of commands: a group lists its commands from a table, and imports a command when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click


class ListedCommand(NamedTuple):
    """A command as its group lists it.

    Attributes:
        module: The module that defines it.
        help: The first sentence of its help.
    """

    module: str
    help: str


class LazyGroup(click.Group):
    """A group whose help imports no command. A subclass finds each command in its module.

    Args:
        listed: The commands, by name.
        options: Options of `click.Group`.
    """

    def __init__(self, *args: Any, listed: Mapping[str, ListedCommand], **options: Any) -> None:
        super().__init__(*args, **options)
        self.listed = listed

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Returns the names of the commands."""
        return sorted(self.listed)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports a command."""
        return self.find(import_module(self.listed[cmd_name].module), cmd_name) if cmd_name in self.listed else None

    def find(self, module: Any, name: str) -> click.Command | None:
        """Returns a command of a module, by default one that is named after it."""
        command: click.Command = getattr(module, f"{name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.listed[name].help) for name in self.list_commands(ctx)])
