"""What people and an adversary send in the game: records that no two people share, and that a tally cannot hide."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from deniable.survey import Survey
from deniable.wire.access_codes import SECRET_BYTES, invitation_hash, submission_id
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable.wire.tokens import Token

SURVEY = "game"
PEOPLE = 8
PATTERN = 32
GROUPS = ("North", "South")


@dataclass(frozen=True)
class Table:
    """The settings of a survey that the game is played with."""

    access: str = "open"
    release: str = "daily"
    batch: int = 10
    groups: bool = False

    def survey(self) -> Survey:
        """A question for each person, that only their record says Yes to, and others that make each record unlike all others."""
        questions = [{"id": f"q{number}", "text": "?", "type": "yes_no"} for number in range(PEOPLE + PATTERN)]
        source: dict[str, Any] = {"deniable": 1, "id": SURVEY, "title": "A game", "about": "A.", "epsilon": 8, "questions": questions}
        source |= {"access": self.access, "release": self.release, "batch": self.batch}
        source |= {"accept_small_batches": True} if self.batch < 10 else {}
        source |= {"groups": list(GROUPS)} if self.groups else {}
        return Survey.from_dict(source)


@dataclass(frozen=True)
class Card:
    """One record, with the code that withdraws it and the group that it is of. The bits are given, as if coins had drawn them."""

    secret: bytes
    bits: tuple[bool, ...]
    group: str | None

    @property
    def id(self) -> bytes:
        return submission_id(self.secret)

    def reports(self, survey: Survey) -> bytes:
        return pack(survey, [np.array([[bit, not bit]]) for bit in self.bits])

    def submission(self, survey: Survey, token: Token | None) -> Submission:
        return Submission(self.id, survey.digest, 1, self.reports(survey), group=self.group, token=token)


def secret_of(name: str) -> bytes:
    """A code that is the same in every play."""
    return hashlib.sha256(name.encode()).digest()[:SECRET_BYTES]


def code_hash(code: bytes) -> bytes:
    return invitation_hash(SURVEY, code)


def _pattern(name: str) -> tuple[bool, ...]:
    return tuple(np.unpackbits(np.frombuffer(hashlib.sha256(name.encode()).digest(), dtype=np.uint8))[:PATTERN].astype(bool).tolist())


def card_of(person: int, table: Table, version: str = "") -> Card:
    """The card of a person. version: another record of the same person, in another group."""
    marks = tuple(number == person and not version for number in range(PEOPLE))
    group = GROUPS[(person + bool(version)) % 2] if table.groups else None
    return Card(secret_of(f"person {person}"), marks + _pattern(f"person {person}{version}"), group)


def own_card(number: int, group: str | None) -> Card:
    """The card of one of the adversary's own records."""
    return Card(secret_of(f"own {number}"), (False,) * PEOPLE + _pattern(f"own {number}"), group)


def code_of(person: int) -> bytes:
    return secret_of(f"code of person {person}")


def own_code(number: int) -> bytes:
    return secret_of(f"own code {number}")
