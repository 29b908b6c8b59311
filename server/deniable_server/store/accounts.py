"""Researchers' accounts, their sessions, and API keys: data types and storage interface.

Only hashes are stored: argon2id of passwords, SHA-256 of the 32 random bytes of a session or an API key. Nobody can log in with a
copy of the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class ApiKey:
    """An API key: what it may do, and where.

    Attributes:
        name: The key's name, unique on the server.
        scopes: Words of `deniable_server.access.api_keys.SCOPES`.
        survey: The only survey that it opens; None for all surveys.
        made_on: The day on which it was made.
    """

    name: str
    scopes: tuple[str, ...]
    survey: str | None
    made_on: str  # a day, YYYY-MM-DD


class Accounts(Protocol):
    """Storage interface for accounts, sessions and API keys.

    Every method is safe to call from several threads. Writing raises FullError and UnavailableError, reading UnavailableError.
    """

    def set_password(self, user: str, password_hash: str) -> None:
        """Creates an account, or changes its password and ends all its sessions."""

    def password_hash(self, user: str) -> str | None:
        """Returns an account's password hash, or None if the account does not exist or is disabled."""

    def users(self) -> list[str]:
        """Returns the names of all accounts, sorted."""

    def remove_user(self, user: str) -> bool:
        """Removes an account, its roles and its sessions; its drafts lose their author, its saved questions are deleted.

        Returns:
            Whether there was such an account.

        Raises:
            LastError: It is the only operator, or the only owner of a survey.
        """

    def open_session(self, user: str, token_hash: bytes, now: int, until: int) -> bool:
        """Opens a session and removes expired ones. Times are Unix seconds.

        Returns:
            False if the account was removed or disabled.
        """

    def session_user(self, token_hash: bytes, now: int) -> str | None:
        """Returns the account of a session, or None if the session does not exist or has expired."""

    def end_session(self, token_hash: bytes) -> None:
        """Ends a session, if there is one."""

    def end_sessions(self, user: str) -> None:
        """Ends all sessions of an account."""

    def end_all(self) -> tuple[int, int]:
        """Ends the sessions of all accounts, and all account links, after the database was restored from a backup.

        Returns:
            The numbers of sessions and of links.
        """

    def add_key(self, key: ApiKey, key_hash: bytes) -> None:
        """Stores an API key.

        Raises:
            ConflictError: Another key has its name.
            UnknownSurveyError: Its survey is not published.
        """

    def key(self, key_hash: bytes) -> ApiKey | None:
        """Returns the API key with this hash, or None."""

    def all_keys(self) -> list[ApiKey]:
        """Returns all API keys, sorted by name."""

    def remove_key(self, name: str, survey: str | None = None) -> bool:
        """Revokes an API key. Returns whether there was one; with `survey`, one that is limited to this survey."""

    def dismiss(self, user: str, name: str) -> None:
        """Stores that an account has removed something from its pages for good, such as the sample study. Raises UnknownAccountError."""

    def dismissed(self, user: str) -> frozenset[str]:
        """Returns the names of what an account has removed from its pages."""
