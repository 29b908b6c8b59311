"""Respondents' pages: the survey, the coin-toss form, withdrawal, and information pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the pages of respondents."""
    from deniable_server.respondents import about, by_hand, kiosk, page, withdraw
    from deniable_server.web.audience import register_blueprints

    register_blueprints(app, page.bp, about.bp, by_hand.bp, kiosk.bp, withdraw.bp)
