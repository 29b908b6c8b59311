"""Settings of single sign-on, from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_TOP = {"issuer", "client_id", "client_secret_file", "client_auth", "label", "scopes", "name_claim", "create_accounts", "require"}
_TOP |= {"email_domains", "allow", "roles", "teams"}
_ROLES = {"claim", "operators", "researchers"}
CLIENT_AUTH = ("client_secret_basic", "client_secret_post")


@dataclass(frozen=True)
class SsoSettings:
    """Settings of one provider.

    Attributes:
        issuer: The provider's URL, exactly as its discovery document has it.
        client_id: The name of this server at the provider.
        client_secret: Its password there.
        client_auth: How the secret is sent, one of CLIENT_AUTH.
        label: The words of the button on the login page.
        scopes: Requested scopes.
        name_claim: The claim with the name of a new account.
        create_accounts: Whether the first login of a person creates an account. If not, an operator invites the person.
        require: Whether passwords no longer log in.
        email_domains: If not empty, only people with a verified e-mail address of one of these domains may log in.
        allow: Values by claim; for each claim, a person needs one of its values.
        roles_claim: The claim whose values decide on operators, researchers and teams.
        operators: Values of people who are operators; None if operators are appointed on this server.
        researchers: If given, only people with one of these values, and operators, may log in.
        teams: Values by team. A login adds the person to these teams, or removes the person from them.
    """

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    client_auth: str = CLIENT_AUTH[0]
    label: str = "Log in with single sign-on"
    scopes: tuple[str, ...] = ("openid", "profile")
    name_claim: str = "preferred_username"
    create_accounts: bool = False
    require: bool = False
    email_domains: tuple[str, ...] = ()
    allow: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    roles_claim: str = "groups"
    operators: tuple[str, ...] | None = None
    researchers: tuple[str, ...] | None = None
    teams: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_safe(self.issuer):
            raise ValueError(f"issuer must begin with https://, or with http:// on this machine, got {self.issuer!r}")
        if self.client_auth not in CLIENT_AUTH:
            raise ValueError(f"client_auth must be {' or '.join(CLIENT_AUTH)}, got {self.client_auth!r}")
        if "openid" not in self.scopes:
            raise ValueError(f"scopes must contain openid, got {', '.join(self.scopes)}")

    @classmethod
    def from_file(cls, path: Path) -> SsoSettings:
        """Reads the settings. A relative client_secret_file is relative to their folder.

        Raises:
            ValueError: A setting is missing, unknown or invalid. The message never contains the secret.
            OSError: A file cannot be read.
        """
        try:
            values = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError):
            raise ValueError(f"{path} must be a TOML file") from None  # the error would quote the file
        try:
            return cls(**_fields(values, path.parent))
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    @property
    def claims(self) -> frozenset[str]:
        """The claims that decide whether a person may log in, and as what."""
        needed = {self.name_claim, *self.allow, *(["email", "email_verified"] if self.email_domains else [])}
        return frozenset(
            needed | ({self.roles_claim} if self.operators is not None or self.researchers is not None or self.teams else set())
        )


def is_safe(url: str) -> bool:
    """Returns whether a URL of the provider is encrypted, or stays on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and _is_local(host)))


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _fields(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Returns the dataclass's arguments. Raises ValueError for the first invalid setting."""
    _require_known(values, _TOP, "")
    roles = _table(values, "roles")
    _require_known(roles, _ROLES, "roles.")
    secret = (folder / _text(values, "client_secret_file", required=True)).read_text(encoding="utf-8").strip()
    if not secret:
        raise ValueError("client_secret_file must contain the secret, got an empty file")
    entries: dict[str, Any] = {
        **{name: _text(values, name, required=name in ("issuer", "client_id")) for name in _TEXTS if name in values or name in _NEEDED},
        **{name: _truth(values, name) for name in ("create_accounts", "require") if name in values},
        **{name: _texts(values[name], name) for name in ("scopes", "email_domains") if name in values},
        **{name: _texts(roles[name], f"roles.{name}") for name in ("operators", "researchers") if name in roles},
        **{name: {key: _texts(value, f"{name}.{key}") for key, value in _table(values, name).items()} for name in ("allow", "teams")},
    }
    return {**entries, "client_secret": secret, **({"roles_claim": _text(roles, "claim", "roles.")} if "claim" in roles else {})}


_NEEDED = ("issuer", "client_id")
_TEXTS = (*_NEEDED, "client_auth", "label", "name_claim")


def _require_known(values: Mapping[str, Any], names: set[str], prefix: str) -> None:
    if unknown := sorted(set(values) - names):
        raise ValueError(f"{prefix}{unknown[0][:40]} must be one of {', '.join(sorted(names))}")


def _text(values: Mapping[str, Any], name: str, prefix: str = "", *, required: bool = False) -> str:
    value = values.get(name)
    if value is None and required:
        raise ValueError(f"{prefix}{name} is missing")
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{prefix}{name} must be a text that is not empty")
    return value.strip()


def _truth(values: Mapping[str, Any], name: str) -> bool:
    if not isinstance(values[name], bool):
        raise ValueError(f"{name} must be true or false")
    return bool(values[name])


def _texts(value: Any, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not value or not all(isinstance(one, str) and one for one in value):
        raise ValueError(f'{name} must be a list of texts, such as ["a", "b"]')
    return tuple(value)


def _table(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = values.get(name, {})
    if not isinstance(value, dict):
        raise ValueError(f"{name} must be a table, [{name}]")
    return value
