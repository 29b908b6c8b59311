"""What each role sees of a survey, as text that depends on nothing but what the server says; and the records that show in it."""

from __future__ import annotations

import base64
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.kit.adversary.cards import SURVEY

_AT = f"/manage/surveys/{SURVEY}"
_API = f"/api/v1/surveys/{SURVEY}"
PAGES: Mapping[str, tuple[str, ...]] = {
    "stranger": (f"/s/{SURVEY}", f"{_API}"),
    "viewer": (
        *("/manage", _AT, f"{_AT}?group=North", f"{_AT}/results.json"),
        *(f"{_AT}/{page}" for page in ("questions", "groups", "watch", "settings", "crosstab?rows=q0&columns=q1")),
    ),
    "analyst": (f"{_AT}/data",),
    "editor": (f"{_AT}/invite",),
    "owner": ("/manage", _AT, f"{_AT}/settings", f"{_AT}/keys", f"{_AT}/members", f"{_AT}/webhooks"),
    "operator": ("/manage/audit", "/manage"),
}
"""The pages that a role adds to those of the role before it; an owner's page can say more than a viewer's page at the same address."""
RESULTS = (*("results", "progress", "tally"), *("results?group=North", "tally?group=South", "results?by_hand=1"))
REPORTS = ("reports", "reports?group=North", "reports?form=arrow", "bundle/rows.csv", "bundle/estimates.json")
KEY = ("progress", "tally", "reports")
API: Mapping[str, tuple[str, ...]] = {"viewer": RESULTS, "analyst": REPORTS, "key": KEY}
"""Operations of the API, by the role that they need; and those that a key looks at again and again."""


@dataclass(frozen=True)
class View:
    """One thing that somebody looked at.

    Attributes:
        move: The number of moves before it.
        role: Whoever looked.
        channel: The page, the operation, the file.
        content: What it says.
        cards: The people whose records show in it.
        codes: The people whose codes show in it as used.
    """

    move: int
    role: str
    channel: str
    content: str
    cards: frozenset[int] = field(default=frozenset())
    codes: frozenset[int] = field(default=frozenset())

    @property
    def name(self) -> str:
        return f"move {self.move}, {self.role}: {self.channel}"


def without_tokens(page: str) -> str:
    """A page without the random values that protect its forms, and without times of day."""
    page = re.sub(r'(name="(?:once|csrf_token)"[^>]*?value=)"[^"]*"', r'\1""', page)
    page = re.sub(r'(?:nonce|integrity)="[^"]*"', "", page)
    return re.sub(r"\d\d:\d\d(:\d\d)?", "time", page)


def in_records(content: bytes, patterns: Mapping[int, bytes]) -> frozenset[int]:
    """The people whose records are in a file of records, one after the other."""
    size = len(next(iter(patterns.values())))
    rows = {content[start : start + size] for start in range(0, len(content), size)}
    return frozenset(person for person, pattern in patterns.items() if pattern in rows)


def in_tally(content: bytes, people: int, bits: int) -> frozenset[int]:
    """The people whose own question has a Yes in a tally."""
    reply = json.loads(content)
    if "pairs" not in reply or not reply["n"]:
        return frozenset()
    pairs = _square(base64.b64decode(reply["pairs"]), bits)
    return frozenset(person for person in range(people) if pairs[person])


def _square(raw: bytes, bits: int) -> list[int]:
    """How often each bit is set: the diagonal of a tally."""
    from deniable.wire.tally import Tally

    return [int(ones) for ones in Tally.from_bytes(1, bits, raw).ones]


def texts_of(content: bytes) -> Iterator[str]:
    """The files of an archive, or the bytes themselves."""
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in sorted(archive.namelist()):
                yield f"{name} {archive.read(name).hex()}"
    else:
        yield content.hex()
