"""Researchers' pages: surveys, results, analysis, settings and help."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the pages of published surveys."""
    from deniable_server.researchers import (
        among_pages,
        analysis_pages,
        data,
        guide_pages,
        help_pages,
        members,
        progress_page,
        settings,
        surveys,
        webhook_pages,
    )
    from deniable_server.web.audience import register_blueprints

    pages = (surveys, analysis_pages, among_pages, progress_page, data, settings, members, help_pages, guide_pages, webhook_pages)
    register_blueprints(app, *(page.bp for page in pages))
