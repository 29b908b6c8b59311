"""Which records are counted together: those of one public group that were perturbed in one way."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mode = Literal["device", "by_hand", "organisation"]


class Part(NamedTuple):
    """group: a public label, None where the survey has none. mode: who perturbed the answers."""

    group: str | None = None
    mode: Mode = "device"
