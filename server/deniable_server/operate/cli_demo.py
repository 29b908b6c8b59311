"""Command `deniable-server demo`: a whole study on this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click


@click.command("demo")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    default=Path("demo"),
    show_default=True,
    help="A new folder for the demo's database, or an earlier demo's folder, which is deleted first.",
)
def demo_command(folder: Path) -> None:
    """Try a study on real answers, on this machine.

    944 respondents' answers go to a new server, each randomized before it leaves. Then truth and estimates are printed side by side,
    and the results page opens in a browser; without a terminal, a copy of it is in the folder.

    Example:
      deniable-server demo --folder /tmp/demo
    """
    # In a process of its own: answers never enter one that has the server's code.
    process = subprocess.Popen([sys.executable, "-m", "deniable.demo", str(folder)])  # noqa: S603 - our own program
    while True:
        try:
            raise click.exceptions.Exit(process.wait())
        except KeyboardInterrupt:  # the demo has it too, and ends its server
            continue
