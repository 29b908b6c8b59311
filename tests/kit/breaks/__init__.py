"""Programs that do what nothing should: servers with one thing broken on purpose, and clients that mean harm. Run, never imported."""

from __future__ import annotations

from pathlib import Path

BROKEN_SERVER, CROWD, GUESSERS, RESEARCHERS = (
    str(Path(__file__).with_name(f"{name}.py")) for name in ("broken_server", "crowd", "guessers", "researchers")
)
