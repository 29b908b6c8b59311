"""Work classes: which threads and database connections serve a request, so that computations never take the respondents'.

Each view belongs to one lane. Respondents' lane serves nothing that reads all records of a survey, parses an upload or needs a login.
A view that declares nothing is a researcher's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeVar

from flask import Flask
from werkzeug.exceptions import HTTPException

from deniable_server.store.reserved import reserve

View = TypeVar("View", bound=Callable[..., Any])
READING = ("GET", "HEAD", "OPTIONS")


class Lane(Enum):
    """The work classes.

    RESPONDENTS: pages, definitions, single records, codes, withdrawals. BULK: records with an API key.
    RESEARCHERS: quick pages and forms. COMPUTING: views that read a survey's records, or parse uploads.
    """

    RESPONDENTS = "respondents"
    BULK = "bulk"
    RESEARCHERS = "researchers"
    COMPUTING = "computing"


_LANES: dict[Callable[..., Any] | None, Lane] = {}


def respondents(view: View) -> View:
    """Marks a view for respondents: it must read no more than one survey and one record."""
    _LANES[view] = Lane.RESPONDENTS
    return view


def computing(view: View) -> View:
    """Marks a view that computes for researchers or programs."""
    _LANES[view] = Lane.COMPUTING
    return view


def lane_of(app: Flask, environ: Mapping[str, Any]) -> Lane:
    """Returns the lane of a request, by its address, method and whether it comes with a credential; nothing else of it is read."""
    try:
        endpoint, _ = app.url_map.bind_to_environ(dict(environ)).match()
    except HTTPException:  # there is no such page
        return Lane.RESEARCHERS
    lane = lane_of_endpoint(app, endpoint)
    if lane is Lane.RESPONDENTS and "HTTP_AUTHORIZATION" in environ and environ["REQUEST_METHOD"] not in READING:
        return Lane.BULK
    return lane


def lane_of_endpoint(app: Flask, endpoint: str) -> Lane:
    """Returns the lane that a view declares, or its blueprint."""
    routes: Any = app.blueprints.get(endpoint.rpartition(".")[0])
    of_all: Lane = getattr(routes, "lane", Lane.RESEARCHERS)
    return _LANES.get(app.view_functions.get(endpoint), of_all)


def enter(lane: Lane) -> None:
    """Initializes a thread of a lane: respondents' threads have their own database connections."""
    if lane is Lane.RESPONDENTS:
        reserve()
