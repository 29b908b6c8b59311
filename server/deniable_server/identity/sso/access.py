"""Access by claims: permission to log in, the operator's role, and teams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from deniable_server.identity.sso.provider import SsoError
from deniable_server.identity.sso.settings import SsoSettings
from deniable_server.store.errors import ConflictError, LastError, UnknownAccountError, UnknownTeamError
from deniable_server.store.protocol import Store


@dataclass(frozen=True)
class Access:
    """Access that claims grant.

    Attributes:
        operator: Whether the person is an operator; None if the claims do not decide it.
        teams: Whether the person is in each team that the claims decide.
    """

    operator: bool | None
    teams: Mapping[str, bool]


def access_of(settings: SsoSettings, claims: Mapping[str, Any]) -> Access:
    """Returns the access that a person's claims grant.

    Raises:
        SsoError: The person may not log in.
    """
    for name, allowed in settings.allow.items():
        if not set(allowed) & values_of(claims, name):
            raise SsoError("your account at the login provider is not allowed to use this server; ask its operator", "refused")
    if settings.email_domains and not _has_domain(claims, settings.email_domains):
        raise SsoError("your e-mail address at the login provider must be verified, and of a domain that may use this server", "refused")
    values = values_of(claims, settings.roles_claim)
    operator = None if settings.operators is None else bool(values & set(settings.operators))
    if settings.researchers is not None and not operator and not values & set(settings.researchers):
        raise SsoError("your account at the login provider has no role on this server; ask its operator", "refused")
    return Access(operator, {team: bool(values & set(needed)) for team, needed in settings.teams.items()})


def apply(store: Store, user: str, access: Access) -> None:
    """Makes an account what its claims say. Teams that do not exist yet are created; the only operator stays one."""
    person = store.people.person(user)
    if access.operator is not None and person is not None and person.operator != access.operator:
        with suppress(LastError, UnknownAccountError):
            store.people.set_operator(user, access.operator)
    current = {team.name: team.members[user] for team in store.teams.of(user)}
    for name, is_member in access.teams.items():
        if is_member and name not in current:
            _join(store, name, user)
        elif not is_member and name in current:
            store.teams.leave(name, user)


def _join(store: Store, name: str, user: str) -> None:
    try:
        store.teams.join(name, user, manager=False)
    except UnknownTeamError:
        with suppress(ConflictError):  # another login was faster
            store.teams.create(name)
        store.teams.join(name, user, manager=False)


def values_of(claims: Mapping[str, Any], name: str) -> set[str]:
    """Returns the values of a claim, which may be one text or a list; a.b is the claim b within the claim a."""
    value: Any = claims.get(name)
    if value is None and "." in name:
        value = claims
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
    items: Iterable[Any] = value if isinstance(value, list) else [value]
    return {item for item in items if isinstance(item, str)}


def _has_domain(claims: Mapping[str, Any], domains: Iterable[str]) -> bool:
    address = claims.get("email")
    verified = claims.get("email_verified") is True
    return verified and isinstance(address, str) and address.rpartition("@")[2].casefold() in {domain.casefold() for domain in domains}
