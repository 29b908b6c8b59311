"""Entry point of `deniable-server`, which is installed even without the extra that it needs."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

from deniable.extras import missing


def main() -> None:
    """Runs the server's command line. Exits with an error on Windows, or if an extra is missing."""
    if sys.platform == "win32":
        sys.exit("Error: deniable-server needs Linux or macOS; `deniable`, the client, runs on Windows too")
    for need in ("server", "estimate"):
        if error := missing("deniable-server", need):
            sys.exit(f"Error: {error}")
    (command,) = entry_points(group="deniable.commands", name="server")
    command.load()()
