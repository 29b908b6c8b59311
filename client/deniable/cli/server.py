"""The door of `deniable-server`, which is installed even where the extra that it needs is not."""

from __future__ import annotations

import sys
from importlib.metadata import entry_points

from deniable.errors import MissingExtraError


def main() -> None:
    """Runs the server's command line. Says which extra is missing, where it is."""
    (command,) = entry_points(group="deniable.commands", name="server")
    try:
        run = command.load()
    except MissingExtraError as error:
        sys.exit(f"Error: {error}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("deniable"):
            raise
        sys.exit(f"Error: deniable-server needs {error.name}: pip install 'deniable[server]'")
    run()
