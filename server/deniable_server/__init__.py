"""The `deniable` server: publishes surveys, keeps perturbed submissions, shows estimates. It never sees a true answer."""

from __future__ import annotations

from datetime import timedelta
from typing import cast

from flask import Flask, current_app
from flask_wtf import CSRFProtect

from deniable_server import paths
from deniable_server.config import Config
from deniable_server.store import Store

__all__ = ["Config", "create_app", "current_store"]


def create_app(config: Config, store: Store | None = None) -> Flask:
    """The WSGI application. `store` is the SQLite file of the config unless another is given."""
    from deniable_server import about, api, by_hand, errors, headers, health, languages, limits, manage, respond, withdraw
    from deniable_server.store.sqlite import SqliteStore

    app = Flask("deniable_server", template_folder=str(paths.TEMPLATES), static_folder=None)
    app.config.update(
        SECRET_KEY=config.secret_key,
        SESSION_COOKIE_NAME="__Host-deniable" if config.https else "deniable",
        SESSION_COOKIE_SECURE=config.https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Strict",
        PERMANENT_SESSION_LIFETIME=timedelta(hours=12),
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=config.https,
    )
    app.extensions["deniable"] = store or SqliteStore(config.db)
    app.extensions["deniable_config"] = config
    limits.register(app)  # before what reads a form
    csrf = CSRFProtect(app)
    for blueprint in (api.bp, by_hand.bp, withdraw.bp):
        csrf.exempt(blueprint)  # it reads no cookie
    for blueprint in (respond.bp, about.bp, by_hand.bp, withdraw.bp, api.bp, manage.bp, health.bp):
        app.register_blueprint(blueprint)
    languages.register(app)
    errors.register(app)
    headers.register(app)
    return app


def current_store() -> Store:
    """The store of the application that handles this request."""
    return cast(Store, current_app.extensions["deniable"])
