"""Web basics that every page shares: headers, errors, limits, languages, and the files that pages load."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the rate limits, the files and the health check, and what every template and reply has."""
    from deniable_server.context import services_of
    from deniable_server.web import audience, autolinks, claims, errors, files, headers, health, languages, links, trial_marks
    from deniable_server.web.rate_limiter import Rates, ServerShare

    services = services_of(app)
    share = ServerShare()
    services.add(share)
    services.add(Rates.of(services.config.most_per_second, share=share))
    audience.register_blueprints(app, files.bp, health.bp)
    autolinks.register(app)
    links.register(app)
    trial_marks.register(app)
    languages.register(app)
    claims.register(app)
    errors.register(app)
    headers.register(app)
