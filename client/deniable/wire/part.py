"""Part of a survey's records: records of one public group, perturbed in one way, are counted together."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

Mode = Literal["device", "by_hand", "organisation"]
"""Perturbed by a respondent's own device, by a respondent with two real coins, or by an organisation that held the answers."""

MODES: tuple[Mode, ...] = get_args(Mode)


class Part(NamedTuple):
    """A part of a survey's records.

    Attributes:
        group: The public label; None if the survey has no groups.
        mode: The party that perturbed the answers.
    """

    group: str | None = None
    mode: Mode = "device"
