"""Command lines that print what a page shows: the same estimates of the same records, for the same account."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from flask import g

from deniable_server.web.links import server_address


def command(name: str, survey_id: str, words: Sequence[str] = (), options: Mapping[str, str] | None = None) -> str:
    """Returns a command line of `deniable`, quoted for a shell.

    Args:
        name: The command.
        survey_id: The survey.
        words: Further arguments.
        options: The page's options; group, confidence and target become options of the command.
    """
    line = ["deniable", name, server_address(), "--survey", survey_id, *words]
    for option in ("group", "confidence", "target"):
        if value := (options or {}).get(option):
            line += [f"--{option}", value]
    return shlex.join([*line, "--user", g.user])
