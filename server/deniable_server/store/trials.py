"""Trials: ids of test runs and simulations, which have a store of their own and are never published on a server's store.

The kind of a trial is the first word of its survey's id, so it begins the name of each file that is downloaded from it.
"""

from __future__ import annotations

import base64
import re
import secrets
from dataclasses import dataclass
from typing import Literal

Kind = Literal["test", "simulated"]
TEST: Kind = "test"
SIMULATED: Kind = "simulated"
_TOKEN_BYTES = 16
_TOKEN = 26  # characters
_ID = re.compile(r"(test|simulated)-(?:.*-)?([a-z2-7]{26})")
LONGEST_ID = 64


@dataclass(frozen=True)
class TrialId:
    """The parts of a trial's id. token: unguessable, so that the link to a test run is for those who were given it."""

    kind: Kind
    token: str

    @classmethod
    def of(cls, survey_id: str) -> TrialId | None:
        """Returns the parts of an id, or None unless it is a trial's."""
        match = _ID.fullmatch(survey_id)
        return cls("test" if match[1] == "test" else "simulated", match[2]) if match else None


def new_trial_id(kind: Kind, survey_id: str) -> str:
    """Returns the id of a new trial of a survey."""
    token = base64.b32encode(secrets.token_bytes(_TOKEN_BYTES)).decode().rstrip("=").lower()
    name = survey_id[: LONGEST_ID - len(kind) - _TOKEN - 2]
    return f"{kind}-{name}-{token}"


def is_trial(survey_id: str) -> bool:
    """Returns whether an id is a trial's."""
    return TrialId.of(survey_id) is not None
