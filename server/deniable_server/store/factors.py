"""Second factors of accounts; and what any database must do for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Passkey:
    """A key pair on a device. public_key: in COSE's form; count: of its uses, as the device says, 0 where it does not count."""

    id: bytes
    name: str
    public_key: bytes
    count: int
    made_on: str  # a day, YYYY-MM-DD


class Factors(Protocol):
    """The shelf of second factors: the secret of an app that shows codes, sealed with the server's key; passkeys; hashes of recovery codes.

    Every method is safe to call from several threads; what writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def secret(self, user: str) -> bytes | None:
        """The secret that an account shares with its app, or None if it has none."""

    def passkeys(self, user: str) -> list[Passkey]:
        """The passkeys of an account, by name."""

    def any(self, user: str) -> bool:
        """Whether an account has a second factor."""

    def set_secret(self, user: str, secret: bytes, step: int, recovery: Sequence[bytes]) -> None:
        """Gives an account a secret in place of the one it has, if any; and new recovery codes. Raises UnknownAccountError.

        step: the time step of the code by which it was proved; recovery: SHA-256 hashes of its recovery codes.
        """

    def add_passkey(self, user: str, passkey: Passkey, recovery: Sequence[bytes]) -> None:
        """Gives an account another passkey; and new recovery codes. Raises UnknownAccountError; ConflictError for an id that is known."""

    def use_passkey(self, user: str, passkey: Passkey, challenged: int) -> bool:
        """Keeps the count of a passkey that answered a challenge made at this moment, in nanoseconds.

        False if there is no such passkey, or it has answered this challenge or a later one before.
        """

    def take_step(self, user: str, step: int) -> bool:
        """Spends the code of a time step. False if that of this step or of a later one was spent before."""

    def take_recovery(self, user: str, code_hash: bytes) -> bool:
        """Spends a recovery code. False if there is no such code."""

    def recovery_left(self, user: str) -> int:
        """How many recovery codes are not spent."""

    def remove(self, user: str) -> bool:
        """Takes all second factors of an account away. False if it has none."""
