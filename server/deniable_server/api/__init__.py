"""HTTP API for programs: versioned routes and their access control."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the API, its description and the metrics."""
    from deniable_server.api import metrics, openapi, submissions, v1
    from deniable_server.config import Database
    from deniable_server.context import services_of
    from deniable_server.identity.sso.outcomes import SsoOutcomes
    from deniable_server.web.audience import register_blueprints
    from deniable_server.web.rate_limiter import Rates

    services = services_of(app)
    if services.config.metrics:
        database, outcomes = Database.at(services.config.db).path, services.find(SsoOutcomes)
        services.add(metrics.Metrics(services.store, database, services.config.backups, sso=outcomes.counts if outcomes else None))
    services.add(submissions.DirectSubmissions(services.store_of, services.get(Rates).submissions))
    register_blueprints(app, v1.bp, openapi.bp, metrics.bp)
