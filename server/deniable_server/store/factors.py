"""Second factors of accounts: data types and storage interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Passkey:
    """A key pair on a device.

    Attributes:
        id: The credential id.
        name: The name that its owner gave it.
        public_key: In COSE format.
        count: The device's signature counter; 0 for a device without one.
        made_on: The day on which it was added.
    """

    id: bytes
    name: str
    public_key: bytes
    count: int
    made_on: str  # a day, YYYY-MM-DD


class Factors(Protocol):
    """Storage interface for second factors: TOTP secrets, encrypted with the server's key; passkeys; hashes of recovery codes.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def secret(self, user: str) -> bytes | None:
        """Returns an account's TOTP secret, or None."""

    def passkeys(self, user: str) -> list[Passkey]:
        """Returns the passkeys of an account, sorted by name."""

    def any(self, user: str) -> bool:
        """Returns whether an account has a second factor."""

    def set_secret(self, user: str, secret: bytes, step: int, recovery: Sequence[bytes]) -> None:
        """Sets or replaces an account's TOTP secret, and replaces its recovery codes.

        Args:
            user: The account.
            secret: The TOTP secret.
            step: The time step of the code that confirmed the secret.
            recovery: SHA-256 hashes of the new recovery codes.

        Raises:
            UnknownAccountError: There is no such account.
        """

    def add_passkey(self, user: str, passkey: Passkey, recovery: Sequence[bytes]) -> None:
        """Adds a passkey to an account, and replaces its recovery codes.

        Raises:
            UnknownAccountError: There is no such account.
            ConflictError: An account already has this passkey.
        """

    def use_passkey(self, user: str, passkey: Passkey, challenged: int) -> bool:
        """Stores the counter of a passkey that answered a challenge made at this time, in nanoseconds.

        Returns:
            False if there is no such passkey, or it has already answered this challenge or a later one.
        """

    def take_step(self, user: str, step: int) -> bool:
        """Spends the code of a time step. Returns False if the code of this step or of a later one was already used."""

    def take_recovery(self, user: str, code_hash: bytes) -> bool:
        """Spends a recovery code. Returns whether there was such a code."""

    def recovery_left(self, user: str) -> int:
        """Returns the number of unused recovery codes."""

    def remove(self, user: str) -> bool:
        """Removes all second factors of an account. Returns whether it had any."""
