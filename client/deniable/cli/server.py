"""The door of `deniable-server`, which is installed even where the extra that it needs is not."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

from deniable.extras import missing


def main() -> None:
    """Runs the server's command line. Says so where the system or an extra is missing: commands load what they need once they run."""
    if sys.platform == "win32":
        sys.exit("Error: deniable-server needs Linux or macOS; `deniable`, the client, runs on Windows too")
    for need in ("server", "estimate"):
        if error := missing("deniable-server", need):
            sys.exit(f"Error: {error}")
    (command,) = entry_points(group="deniable.commands", name="server")
    command.load()()
