"""The door of `deniable-server`, which is installed even where the extra that it needs is not."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

from deniable.extras import missing


def main() -> None:
    """Runs the server's command line. Says which extra is missing, where it is: commands load what they need only once they run."""
    for need in ("server", "estimate"):
        if error := missing("deniable-server", need):
            sys.exit(f"Error: {error}")
    (command,) = entry_points(group="deniable.commands", name="server")
    command.load()()
