"""Part of a survey's records: those counted together, of one public group and perturbed in one way."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Mode = Literal["device", "by_hand", "organisation"]
"""Perturbed by a respondent's own device, by a respondent with two real coins, or by an organisation that held the answers."""

MODES: tuple[Mode, ...] = get_args(Mode)


class Part(NamedTuple):
    """group: a public label, None if the survey has no groups. mode: who perturbed the answers."""

    group: str | None = None
    mode: Mode = "device"
