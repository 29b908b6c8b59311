"""Help formatting of commands: indented lines, such as examples, keep their line breaks."""

from __future__ import annotations

from inspect import cleandoc

import click


def keep_indented_lines(command: click.Command) -> None:
    """Marks the paragraphs with indented lines, of a command and all commands below it, so that click does not rewrap them."""
    if command.help:
        command.help = "\n\n".join(_marked(paragraph) for paragraph in cleandoc(command.help).split("\n\n"))
    if isinstance(command, click.Group):
        for below in command.commands.values():
            keep_indented_lines(below)


def _marked(paragraph: str) -> str:
    return f"\b\n{paragraph}" if "\n  " in paragraph else paragraph
