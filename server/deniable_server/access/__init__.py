"""Access control: invitation codes for respondents, and API keys for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the pages of invitations and of API keys."""
    from deniable_server.access import invite_page, key_pages
    from deniable_server.web.audience import register_blueprints

    register_blueprints(app, invite_page.bp, key_pages.bp)
