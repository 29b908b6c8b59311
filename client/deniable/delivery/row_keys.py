"""Row keys: rows that were sent are identified by a public identifier, such as a staff number, whichever file they come in.

The outbox has a hash of each identifier, under a random key in a file of its own beside it, readable by its owner only. There is no hash
of answers: with all others known, the last one could be tested against it. A row's hash is stored in the transaction that stores its
perturbed bytes, so a row is randomized once, whenever the process is killed.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from deniable.delivery.outbox import Outbox
from deniable.device.tables import Batch
from deniable.errors import RefusedError, RejectedRow
from deniable.privacy.person_keys import normal_form
from deniable.privacy.private_files import MEMORY, create_private

KEY_BYTES = 32
BY_ROW_KEY = "rows by their keys"
"""Name of the job of all rows of a survey that are identified by their keys."""


@dataclass
class RowKeys:
    """Recognises the rows of one input to a survey by their keys.

    Attributes:
        column: The column with the keys.
        sent_before: The number of rows so far that were sent before.
    """

    outbox: Outbox
    url: str
    survey: str
    column: str
    sent_before: int = 0
    _first_rows: dict[bytes, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._key = _key_of(self.outbox)

    def fresh(self) -> RowKeys:
        """Returns a copy for another pass over the input."""
        return RowKeys(self.outbox, self.url, self.survey, self.column)

    def __call__(self, batch: Batch) -> Batch:
        """Returns the rows that were not sent yet, with their hashes. Call it under a seal.

        A row with the key of an earlier row is invalid.
        """
        marks = [self.hashed(key) for key in batch.keys]
        sent = self.outbox.sent(marks)
        first = [self._first_rows.setdefault(mark, row) for mark, row in zip(marks, batch.rows.tolist(), strict=True)]
        twice = [(row, other) for row, other in zip(batch.rows.tolist(), first, strict=True) if row != other]
        rejected = [RejectedRow(row, self.column, f"must differ in each row; row {other:,} has the same") for row, other in twice]
        once = np.array(first, dtype=np.int64) == batch.rows
        new = np.array([mark not in sent for mark in marks], dtype=np.bool_)
        self.sent_before += int(np.count_nonzero(once & ~new))
        unsent = batch.only(once & new)
        return replace(unsent, rejected=[*batch.rejected, *rejected], marks=[self.hashed(key) for key in unsent.keys], keys=[])

    def hashed(self, key: Any) -> bytes:
        """Returns the hash of a row's key, 16 bytes."""
        text = "\0".join((self.url, self.survey, str(normal_form(key))))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=self._key, digest_size=16, person=b"row").digest()


def _key_of(outbox: Outbox) -> bytes:
    """Returns the key beside the outbox, created if it does not exist and no hash uses it. Raises RefusedError."""
    if outbox.path == MEMORY:
        raise RefusedError("outbox must be a file if row_key is used, got an outbox in memory: it forgets the rows")
    path = f"{outbox.path}.key"
    with outbox.exclusive() as hashed:
        create_private(path)
        if os.name == "posix" and os.stat(path).st_mode & 0o077:
            raise RefusedError(f"the key {path} must be readable by its owner only: chmod 600")
        with open(path, "r+b") as file:
            key = file.read(KEY_BYTES + 1)
            if len(key) != KEY_BYTES:
                if hashed:
                    raise RefusedError(f"{path} must contain the key by which earlier rows are recognised; nothing was sent")
                key = secrets.token_bytes(KEY_BYTES)
                file.seek(0)
                file.write(key)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
    return key
