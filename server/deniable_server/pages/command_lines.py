"""What a page shows, as a line for a terminal: the same question, of the same records, for the same person."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from flask import g

from deniable_server.web.links import server_address


def command(name: str, survey_id: str, words: Sequence[str] = (), options: Mapping[str, str] | None = None) -> str:
    """The command and its words, each as a shell reads it. options: what the page is shown for: group, confidence, target."""
    line = ["deniable", name, server_address(), "--survey", survey_id, *words]
    for option in ("group", "confidence", "target"):
        if value := (options or {}).get(option):
            line += [f"--{option}", value]
    return shlex.join([*line, "--user", g.user])
