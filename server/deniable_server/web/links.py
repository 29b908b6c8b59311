"""Addresses that people are given: this server's own, and the link to a survey."""

from __future__ import annotations

from urllib.parse import quote

from flask import Flask, url_for

from deniable.survey import Survey
from deniable_server.context import current_config


def register(app: Flask) -> None:
    """Gives the templates `respondents_link`."""
    app.add_template_global(respondents_link)


def server_address() -> str:
    """The address that people use, without a slash at its end."""
    return current_config().address


def respondents_link(survey: Survey, group: str | None = None) -> str:
    """The link to send out, for one group or for all; its fragment pins the definition and reaches no server."""
    part = "" if group is None else f"&group={quote(group, safe='')}"
    return f"{server_address()}{url_for('respondents.survey', survey_id=survey.id)}#digest={survey.digest}{part}"
