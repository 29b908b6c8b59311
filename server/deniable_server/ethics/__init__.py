"""Documents for ethics boards: the protocol of a survey, and the information sheet for its participants."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the pages of the documents."""
    from deniable_server.ethics import ethics_pages
    from deniable_server.web.audience import register_blueprints

    register_blueprints(app, ethics_pages.bp)
