"""Which records are counted together: those of one public group that were perturbed in one way."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Mode = Literal["device", "by_hand", "organisation"]
"""Who perturbed the answers: a person's own device, a person with two real coins, or an organisation that had its people's answers."""

MODES: tuple[Mode, ...] = get_args(Mode)


class Part(NamedTuple):
    """group: a public label, None where the survey has none. mode: who perturbed the answers."""

    group: str | None = None
    mode: Mode = "device"
