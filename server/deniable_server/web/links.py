"""Links for people: this server's address, the link to a survey, and the six words that identify its definition."""

from __future__ import annotations

from flask import Flask

from deniable.survey import Survey
from deniable.wire.link import Link
from deniable.wire.six_words import six_words
from deniable_server.context import current_config


def register(app: Flask) -> None:
    """Adds `respondents_link`, `server_address`, `six_words` and `institution` to the templates."""
    app.add_template_global(respondents_link)
    app.add_template_global(server_address)
    app.add_template_global(six_words)
    app.context_processor(lambda: {"institution": current_config().institution})


def server_address() -> str:
    """Returns the address that people use, without a trailing slash."""
    return current_config().address


def respondents_link(survey: Survey, group: str | None = None, *, kiosk: bool = False) -> str:
    """Returns the link to a survey, for one group or all; its fragment pins the definition and is not sent to the server.

    Args:
        survey: The survey.
        group: The group that the page sends with each record.
        kiosk: Whether to open the page for a device that many people share.
    """
    return str(Link(server_address(), survey.id, survey.digest, group, kiosk=kiosk))
