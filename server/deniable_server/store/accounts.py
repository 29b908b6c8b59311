"""Who may do what: researchers' accounts and sessions, and keys for programs; and what any database must do for them.

Nothing here opens a door to whoever reads it: of a password there is an argon2id hash, of a session and a key the SHA-256
of 32 random bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Key:
    """What a key may do: `scopes` are words of `deniable_server.access.api_keys.SCOPES`; survey: in this survey only, None for all."""

    name: str
    scopes: tuple[str, ...]
    survey: str | None
    made_on: str  # a day, YYYY-MM-DD


class Accounts(Protocol):
    """The shelf of accounts, sessions and keys. Every method is safe to call from several threads.

    What writes raises FullError, UnavailableError; what reads UnavailableError.
    """

    def set_password(self, user: str, password_hash: str) -> None:
        """Makes an account, or changes its password and ends all its sessions."""

    def password_hash(self, user: str) -> str | None:
        """The password hash of an account, or None if there is no such account, or it is disabled."""

    def users(self) -> list[str]:
        """The names of all accounts, sorted."""

    def remove_user(self, user: str) -> bool:
        """Removes an account, its roles and its sessions; its drafts are nobody's from then on. False if there is none.

        Raises LastError for the only operator, and for the only owner of a survey.
        """

    def open_session(self, user: str, token_hash: bytes, now: int, until: int) -> bool:
        """Opens a session, and forgets those that are over. False if the account is gone or disabled. Times are Unix seconds."""

    def session_user(self, token_hash: bytes, now: int) -> str | None:
        """Whose session this is, or None if there is no such session, or it is over."""

    def end_session(self, token_hash: bytes) -> None:
        """Ends a session; the same if there is none."""

    def end_sessions(self, user: str) -> None:
        """Ends all sessions of an account."""

    def end_all(self) -> tuple[int, int]:
        """Ends every session of every account, and every link that makes one: the database was restored from a backup.

        Returns how many sessions and how many links there were.
        """

    def add_key(self, key: Key, key_hash: bytes) -> None:
        """Keeps a key. Raises ConflictError where its name is taken, UnknownSurveyError."""

    def key(self, key_hash: bytes) -> Key | None:
        """The key with this hash, or None."""

    def all_keys(self) -> list[Key]:
        """All keys, by name."""

    def remove_key(self, name: str, survey: str | None = None) -> bool:
        """Revokes a key. False if there is none; survey: or if it is not for this survey alone."""
