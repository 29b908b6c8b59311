"""What researchers and operators did: one entry an act, each with the hash of the one before, so that no entry can be changed unseen.

Nothing that a respondent does is here. An entry is canonical JSON (RFC 8785); its hash is the SHA-256 of that, and that has the hash of the
entry before in it. Whoever changes, removes or moves an entry has to write all later ones anew, and then the last hash is another one: it
is worth noting it elsewhere.
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
    """at: UTC, YYYY-MM-DDTHH:MM:SSZ; who: an account, or None for the server and its command line; act: such as survey.close.

    on: its object: a survey, an account, a key, or what is known of a link.
    """

    at: str
    who: str | None
    act: str
    on: str
    detail: str = ""


@dataclass(frozen=True)
class Entry:
    """An act as it is kept. number: from 1 up; previous and hash: hex digits."""

    number: int
    did: Act
    previous: str

    @property
    def text(self) -> str:
        """Canonical JSON of all of it."""
        return rfc8785.dumps({**vars(self.did), "number": self.number, "previous": self.previous}).decode()

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @classmethod
    def of(cls, text: str) -> Entry:
        """The entry of a text. Raises ValueError, KeyError or TypeError for what is none."""
        told = json.loads(text)
        return cls(told.pop("number"), Act(**{key: told[key] for key in told if key != "previous"}), told["previous"])


@dataclass(frozen=True)
class Checked:
    """The log as it was found. count: of entries; head: the hash of the last one, BEGINNING where there is none; faults: one line each."""

    count: int
    head: str
    faults: tuple[str, ...]


class Audit(Protocol):
    """The shelf of what was done. What is done through the other shelves is noted in the same transaction; nothing here writes.

    Both methods are safe to call from several threads. Raises UnavailableError.
    """

    def entries(self, before: int | None = None, most: int | None = None) -> list[Entry]:
        """The newest entries first; before: of lower numbers only; most: so many. Raises UnavailableError for a text that is no entry."""

    def verify(self, noted: str | None = None) -> Checked:
        """Looks at every entry. noted: a head that was noted before, and must be the hash of an entry still."""


@contextmanager
def acting(user: str | None) -> Iterator[None]:
    """What is done in this context is done by this account."""
    before = _actor.set(user)
    try:
        yield
    finally:
        _actor.reset(before)


def set_actor(user: str | None) -> None:
    """What this thread does from now on is done by this account; None: by the server."""
    _actor.set(user)


def doing(act: str, on: str, detail: str = "", who: str | None = None) -> Act:
    """An act of now. who: the account, if not the one that is acting."""
    return Act(datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), who or _actor.get(), act, on, detail)


def check(rows: Iterable[tuple[int, str, str]], kept: tuple[int, str], noted: str | None = None) -> Checked:
    """Whether these rows, number, text and hash, are a whole log. kept: how many entries and which head the database has besides."""
    faults: list[str] = []
    count, head, seen = 0, BEGINNING, noted in (None, BEGINNING)
    for number, text, digest in rows:
        count += 1
        if number != count:
            return Checked(count - 1, head, (*faults, f"entry {count} is missing: after {count - 1} comes {number}"))
        if hashlib.sha256(text.encode()).hexdigest() != digest:
            faults.append(f"entry {number} was changed: its text has another hash")
        faults += [f"entry {number} {fault}" for fault in _misfits(number, text, head)]
        head, seen = digest, seen or digest == noted
    if kept != (count, head):
        faults.append(f"entries at the end are missing or new: there must be {kept[0]} with the head {kept[1]}, got {count}")
    if not seen:
        faults.append("no entry has the hash that was noted: the log was cut or written anew")
    return Checked(count, head, tuple(faults))


def _misfits(number: int, text: str, previous: str) -> list[str]:
    try:
        entry = Entry.of(text)
    except (ValueError, KeyError, TypeError, AttributeError):
        return ["is no entry"]
    wrong = ["was moved: its text has another number"] if entry.number != number else []
    return wrong + (["does not follow the one before it"] if entry.previous != previous else [])
