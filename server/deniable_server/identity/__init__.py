"""Identity: accounts, login, sessions, passwords and second factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register_sessions(app: Flask) -> None:
    """Registers the cookie of sessions, before anything reads it."""
    from deniable_server.context import services_of
    from deniable_server.identity import sessions

    sessions.register(app, https=services_of(app).config.https)


def register_admission(app: Flask) -> None:
    """Registers the check of each request against its route's audience."""
    from deniable_server.identity import form_recovery, sessions
    from deniable_server.web import audience

    audience.register(app, sessions.user, "auth.login", audience.Return(form_recovery.is_authors, form_recovery.recovery_page))


def register(app: Flask) -> None:
    """Registers password verification, and the pages of login and accounts."""
    from deniable_server.context import services_of
    from deniable_server.identity import account, audit, auth, people, second_factor, sign_up, teams
    from deniable_server.identity.passwords import Passwords
    from deniable_server.identity.sso import pages as sso_pages
    from deniable_server.identity.sso.outcomes import SsoOutcomes
    from deniable_server.identity.sso.provider import Provider
    from deniable_server.identity.sso.settings import SsoSettings
    from deniable_server.web.audience import register_blueprints
    from deniable_server.web.rate_limiter import ServerShare

    services = services_of(app)
    services.add(Passwords(services.store.accounts, share=services.get(ServerShare)))
    if services.config.sso is not None:
        services.add(SsoOutcomes())
        services.add(Provider(SsoSettings.from_file(services.config.sso)))
    register_blueprints(app, auth.bp, sign_up.bp, account.bp, second_factor.bp, people.bp, audit.bp, teams.bp)
    register_blueprints(app, sso_pages.bp, sso_pages.account_bp)
