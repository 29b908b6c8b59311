"""Studies: copies of surveys as new drafts, new waves, and tags."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the pages of studies, and what the pages of drafts show about waves."""
    from deniable_server.studies import copy_pages, study_pages, tag_pages, wave_changes
    from deniable_server.web.audience import register_blueprints

    register_blueprints(app, copy_pages.bp, study_pages.bp, tag_pages.bp)
    app.add_template_global(wave_changes.planned_wave)
