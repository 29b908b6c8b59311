"""The `deniable` server: publishes surveys, keeps perturbed submissions, shows estimates. It never sees a true answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable_server import paths
from deniable_server.config import Config, Database

if TYPE_CHECKING:
    from flask import Flask

    from deniable_server.store.protocol import Store

__all__ = ["Config", "create_app"]


def create_app(config: Config, store: Store | None = None) -> Flask:
    """The WSGI application. `store` is that of the config's database unless another is given."""
    # Here, since most commands need none of it, and would take twice as long to start.
    from flask import Flask
    from flask_wtf import CSRFProtect

    from deniable_server.access import invite_page, key_pages
    from deniable_server.api import metrics, openapi, submissions, v1
    from deniable_server.drafts import draft_pages, preview, publishing
    from deniable_server.identity import account, audit, auth, form_recovery, people, second_factor, sessions, sign_up
    from deniable_server.identity.passwords import Passwords
    from deniable_server.researchers import analysis_pages, data, help_pages, members, progress_page, settings, surveys, webhook_pages
    from deniable_server.respondents import about, by_hand, page, withdraw
    from deniable_server.store import open_store
    from deniable_server.web import audience, autolinks, errors, files, headers, health, languages, limits, links
    from deniable_server.web.rate_limiter import LONGEST_FOR_CODES, Delays, Rate, wrong_links

    app = Flask("deniable_server", template_folder=str(paths.TEMPLATES), static_folder=None)
    app.config.update(
        SECRET_KEY=config.secret_key,
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,  # it asks for the referrer, which no page of ours sends; the token and the strict cookie are the guard
    )
    store = store or open_store(config.db)
    app.extensions["deniable"] = store
    app.extensions["deniable_config"] = config
    app.extensions["deniable_metrics"] = metrics.Metrics(store, Database.at(config.db).path, config.backups) if config.metrics else None
    app.extensions["deniable_passwords"] = Passwords(store.accounts)
    app.extensions["deniable_rate"] = rate = Rate(config.most_per_second, config.most_per_second)
    app.extensions["deniable_door"] = submissions.Door(store, rate)
    app.extensions["deniable_checks"] = Rate(config.most_per_second, config.most_per_second)
    app.extensions["deniable_wrong_links"] = wrong_links()
    app.extensions["deniable_codes"] = Delays(longest=LONGEST_FOR_CODES)
    sessions.register(app, https=config.https)
    limits.register(app)  # before what reads a form
    audience.register(app, sessions.user, "auth.login", audience.Return(form_recovery.by_author, form_recovery.given_back))
    csrf = CSRFProtect(app)
    public = (page.bp, about.bp, by_hand.bp, withdraw.bp, files.bp, v1.bp, openapi.bp, health.bp, metrics.bp)
    persons = (auth.bp, sign_up.bp, account.bp, second_factor.bp, people.bp, audit.bp, members.bp, help_pages.bp)
    programs = (key_pages.bp, webhook_pages.bp)
    for routes in (
        *public,
        *persons,
        *programs,
        surveys.bp,
        draft_pages.bp,
        preview.bp,
        publishing.bp,
        analysis_pages.bp,
        invite_page.bp,
        progress_page.bp,
        data.bp,
        settings.bp,
    ):
        app.register_blueprint(routes)
        if not routes.audience.csrf:
            csrf.exempt(routes)  # it reads no cookie
    autolinks.register(app)
    links.register(app)
    languages.register(app)
    errors.register(app)
    headers.register(app)
    return app
