"""Drafts: surveys that are being written, from the first field to publishing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the pages of drafts."""
    from deniable_server.drafts import draft_pages, levels, library, preview, publishing, sharing, translation_pages
    from deniable_server.drafts.own_drafts import role_in
    from deniable_server.web.audience import register_blueprints

    register_blueprints(app, draft_pages.bp, library.bp, levels.bp, preview.bp, publishing.bp, sharing.bp)
    register_blueprints(app, translation_pages.bp)
    app.add_template_global(role_in, "draft_role")
