"""Help texts of commands: the lines of examples are printed as they are written."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import click

Function = Callable[..., Any]

_VERBATIM = re.compile(r"^(?=(?:Examples?|Exit codes):)", re.MULTILINE)
"""The beginning of a paragraph that click must not wrap; it recognizes such a paragraph by a line with a backspace."""


class Command(click.Command):
    """A command whose help keeps the line breaks of its examples."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.help = verbatim_examples(self.help or "")


def verbatim_examples(text: str) -> str:
    """Marks examples and exit codes in a help text, so that click keeps their line breaks."""
    return _VERBATIM.sub("\b\n", inspect.cleandoc(text))


command = partial(click.command, cls=Command)
"""Decorator that makes a command of a function, by its name."""
