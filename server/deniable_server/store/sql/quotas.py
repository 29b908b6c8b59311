"""Quotas: the most records of each group of a survey, and how many were accepted.

The numbers of accepted records are one encrypted value for all groups, so that a reader of the database without the server's key does not
see which group a record came to. They never fall: a person who sends records and withdraws
them could otherwise find out how many others there are.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass

from deniable.survey.compiled import SurveyRules
from deniable_server.store.sql.connection import Connection
from deniable_server.store.sql.encryption import Seal

_WRITE = """INSERT INTO quotas (survey, most, sealed) VALUES (?, ?, ?)
ON CONFLICT (survey) DO UPDATE SET most = excluded.most, sealed = excluded.sealed"""


@dataclass
class Quotas:
    """Quotas of a survey, within a transaction.

    Attributes:
        most: The most records, by group; other groups have no quota.
        accepted: The number of records that were accepted, by group, withdrawn ones among them.
    """

    most: dict[str, int]
    accepted: dict[str, int]

    def admits(self, group: str | None, count: int) -> bool:
        """Returns whether a group takes so many more records."""
        return group not in self.most or self.accepted[group] + count <= self.most[group]

    def full(self) -> list[str]:
        """Returns the groups that take no more records."""
        return [group for group in self.most if not self.admits(group, 1)]


def read(connection: Connection, seal: Seal, survey: SurveyRules) -> Quotas | None:
    """Returns the quotas of a survey, or None without any. Raises UnavailableError if the server's key is another one."""
    row = connection.execute("SELECT most, sealed FROM quotas WHERE survey = ?", [survey.id]).fetchone()
    if row is None:
        return None
    numbers = struct.unpack(_form(survey), seal.open(bytes(row[1]), _context(survey)))
    return Quotas(json.loads(row[0]), dict(zip(survey.groups, numbers, strict=True)))


def write(connection: Connection, seal: Seal, survey: SurveyRules, quotas: Quotas) -> None:
    """Stores the quotas of a survey."""
    numbers = struct.pack(_form(survey), *(quotas.accepted[group] for group in survey.groups))
    connection.execute(_WRITE, [survey.id, json.dumps(quotas.most), seal.close(numbers, _context(survey))])


def problem(survey: SurveyRules, before: Mapping[str, int], changes: Mapping[str, int], step: int) -> str | None:
    """Returns the rule that new quotas break, if any.

    A quota is a multiple of `step`, at least a batch, and is only raised. Each change shows whether the group has so many records, so a
    search with any numbers would find the exact number at any time.
    """
    for group, most in changes.items():
        if group not in survey.groups:
            return "group must be one of the survey's"
        if most % step or not max(step, survey.batch) <= most <= 10**9:
            return f"quota must be a multiple of {step} from {max(step, -(-survey.batch // step) * step)}, got {most}"
        if most < before.get(group, 0):
            return f"quota must not be lowered, got {most} after {before[group]}"
    return None


def _form(survey: SurveyRules) -> str:
    return f">{len(survey.groups)}Q"


def _context(survey: SurveyRules) -> str:
    return f"quotas of {survey.id}"
