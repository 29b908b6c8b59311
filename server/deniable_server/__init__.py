"""The `deniable` server: publishes surveys, keeps perturbed submissions, shows estimates. It never sees a true answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable_server import paths
from deniable_server.config import Config

if TYPE_CHECKING:
    from flask import Flask

    from deniable_server.store.protocol import Store

__all__ = ["Config", "create_app"]


def create_app(config: Config, store: Store | None = None) -> Flask:
    """Returns the WSGI application.

    Args:
        config: The operator's configuration.
        store: Replaces the store of the config's database.
    """
    # Imported here, since most commands do not need it and would take twice as long to start.
    from flask import Flask
    from flask_wtf import CSRFProtect

    from deniable_server import access, api, context, drafts, ethics, identity, public, researchers, respondents, studies, trials, web
    from deniable_server.store import open_store
    from deniable_server.web import limits

    app = Flask("deniable_server", template_folder=str(paths.TEMPLATES), static_folder=None)
    app.config.update(
        SECRET_KEY=config.secret_key,
        WTF_CSRF_TIME_LIMIT=None,
        WTF_CSRF_SSL_STRICT=False,  # this check needs the referrer, which our pages do not send; the token and the strict cookie protect
    )
    context.register(app, context.Services(store or open_store(config.db), config))
    identity.register_sessions(app)
    limits.register(app)  # before what reads a form
    identity.register_admission(app)
    CSRFProtect(app)
    for room in (web, respondents, public, identity, access, drafts, studies, ethics, trials, researchers, api):
        room.register(app)
    return app
