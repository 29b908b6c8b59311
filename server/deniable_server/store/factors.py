"""Second factors of accounts; and what any database must do for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Factors(Protocol):
    """The shelf of second factors: the secret of an app that shows codes, sealed with the server's key, and hashes of recovery codes.

    Every method is safe to call from several threads; what writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def secret(self, user: str) -> bytes | None:
        """The secret that an account shares with its app, or None if it has no second factor."""

    def set_secret(self, user: str, secret: bytes, step: int, recovery: Sequence[bytes]) -> None:
        """Gives an account a second factor in place of the one it has, if any. Raises UnknownAccountError.

        step: the time step of the code by which it was proved; recovery: SHA-256 hashes of its recovery codes.
        """

    def take_step(self, user: str, step: int) -> bool:
        """Spends the code of a time step. False if that of this step or of a later one was spent before."""

    def take_recovery(self, user: str, code_hash: bytes) -> bool:
        """Spends a recovery code. False if there is no such code."""

    def recovery_left(self, user: str) -> int:
        """How many recovery codes are not spent."""

    def remove(self, user: str) -> bool:
        """Takes the second factor of an account away. False if it has none."""
