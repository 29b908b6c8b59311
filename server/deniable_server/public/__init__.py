"""Public pages of results, which need no login: for surveys with `results: public`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the page of public results."""
    from deniable_server.public import results_page
    from deniable_server.web.audience import register_blueprints

    register_blueprints(app, results_page.bp)
