"""Audit log of researchers' and operators' acts: a hash chain, so that changed entries are detected.

Respondents' acts are not in it. An entry is canonical JSON (RFC 8785) that contains the SHA-256 of the entry before it.
Someone who changes, removes or moves an entry must rewrite all later ones, which changes the last hash: note that hash elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

import rfc8785

BEGINNING = "0" * 64
_actor: ContextVar[str | None] = ContextVar("actor", default=None)


@dataclass(frozen=True)
class Act:
    """An act of a researcher, an operator or the server.

    Attributes:
        at: The time in UTC, YYYY-MM-DDTHH:MM:SSZ.
        who: The account, or None for the server and its command line.
        act: The kind of act, such as survey.close.
        on: Its object: a survey, an account, a key, or the short name of a link.
        detail: More about it, in words.
    """

    at: str
    who: str | None
    act: str
    on: str
    detail: str = ""


@dataclass(frozen=True)
class AuditEntry:
    """An act in the audit log. `number` counts from 1; `previous` and `hash` are hex digits."""

    number: int
    did: Act
    previous: str

    @property
    def text(self) -> str:
        """The whole entry in canonical JSON."""
        return rfc8785.dumps({**vars(self.did), "number": self.number, "previous": self.previous}).decode()

    @property
    def hash(self) -> str:
        """The SHA-256 of the entry's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @classmethod
    def of(cls, text: str) -> AuditEntry:
        """Parses an entry.

        Raises:
            ValueError, KeyError, TypeError: The text is not an entry.
        """
        fields = json.loads(text)
        return cls(fields.pop("number"), Act(**{key: fields[key] for key in fields if key != "previous"}), fields["previous"])


@dataclass(frozen=True)
class LogCheck:
    """Result of verifying the audit log.

    Attributes:
        count: The number of entries.
        head: The hash of the last entry, BEGINNING without entries.
        faults: One line for each fault.
    """

    count: int
    head: str
    faults: tuple[str, ...]


class Audit(Protocol):
    """Storage interface for reading the audit log. Acts are appended in the transactions of the other interfaces.

    Both methods are safe to call from several threads. Raises UnavailableError.
    """

    def entries(self, before: int | None = None, most: int | None = None) -> list[AuditEntry]:
        """Returns entries, the newest first.

        Args:
            before: Only entries with lower numbers.
            most: The most entries.

        Raises:
            UnavailableError: A stored text is not an entry.
        """

    def verify(self, noted: str | None = None) -> LogCheck:
        """Verifies every entry. `noted` is a hash noted earlier, which one of the entries must still have."""


@contextmanager
def acting(user: str | None) -> Iterator[None]:
    """Assigns the acts in this context to an account."""
    before = _actor.set(user)
    try:
        yield
    finally:
        _actor.reset(before)


def set_actor(user: str | None) -> None:
    """Assigns the later acts of this thread to an account; None for the server."""
    _actor.set(user)


def doing(act: str, on: str, detail: str = "", who: str | None = None) -> Act:
    """Returns an act that happens now. `who` is its account, by default the account of this context."""
    return Act(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), who or _actor.get(), act, on, detail)


def check(rows: Iterable[tuple[int, str, str]], stored: tuple[int, str], noted: str | None = None) -> LogCheck:
    """Verifies the hash chain of an audit log.

    Args:
        rows: Number, text and hash of each entry, in order.
        stored: The number of entries and the last hash, as the database has them separately.
        noted: A hash noted earlier, which one of the entries must still have.
    """
    faults: list[str] = []
    count, head, is_noted = 0, BEGINNING, noted in (None, BEGINNING)
    for number, text, digest in rows:
        count += 1
        if number != count:
            return LogCheck(count - 1, head, (*faults, f"entry {count} is missing: entry {number} follows {count - 1}"))
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            faults.append(f"entry {number} was changed: its text has another hash")
        faults += [f"entry {number} {fault}" for fault in _misfits(number, text, head)]
        head, is_noted = digest, is_noted or digest == noted
    if stored != (count, head):
        faults.append(f"entries at the end are missing or new: there must be {stored[0]} with the head {stored[1]}, got {count}")
    if not is_noted:
        faults.append("no entry has the noted hash: the log was cut or rewritten")
    return LogCheck(count, head, tuple(faults))


def _misfits(number: int, text: str, previous: str) -> list[str]:
    try:
        entry = AuditEntry.of(text)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["cannot be read"]
    wrong = ["was moved: its text has another number"] if entry.number != number else []
    return wrong + (["does not follow the previous entry"] if entry.previous != previous else [])
