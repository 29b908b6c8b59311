"""For respondents: the survey's page and the files it loads. No cookie, no ETag, nothing kept by the browser."""

from __future__ import annotations

import json
from urllib.parse import quote

from flask import Blueprint, Response, abort, current_app, redirect, render_template, url_for
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from deniable.survey import Survey
from deniable_server import assets, current_store, paths
from deniable_server.compression import compressed

bp = Blueprint("respond", __name__)
_BROWSER = assets.load(paths.BROWSER, ".mjs")
_STATIC = {**assets.load(paths.STATIC, ".css"), **assets.load(paths.STATIC, ".mjs")}
MODULES = {name: asset.integrity for name, asset in _BROWSER.items()}
STYLES = {name: asset.integrity for name, asset in _STATIC.items()}
IMPORT_MAP = json.dumps({"integrity": {f"/browser/{name}": value for name, value in MODULES.items()}}, separators=(",", ":"))
"""Subresource integrity of the modules that run on the respondent's device: the browser runs these bytes or none.

It must be an import map: Chromium loads a module again, unchecked, whose preload failed its integrity.
"""


@bp.app_template_global()
def stylesheet(name: str) -> Markup:
    """The link to one of the style sheets, with its integrity."""
    return Markup('\n  <link rel="stylesheet" href="{}" integrity="{}">').format(url_for("respond.static_file", name=name), STYLES[name])


def server_address() -> str:
    """The address that people use, without a slash at its end."""
    address: str = current_app.extensions["deniable_config"].address
    return address


@bp.app_template_global()
def respondents_link(survey: Survey, group: str | None = None) -> str:
    """The link to send out, for one group or for all; its fragment pins the definition and reaches no server."""
    part = "" if group is None else f"&group={quote(group, safe='')}"
    return f"{server_address()}{url_for('respond.survey', survey_id=survey.id)}#digest={survey.digest}{part}"


@bp.get("/")
def home() -> AnyResponse:
    return redirect(url_for("manage.surveys"))


@bp.get("/s/<survey_id>")
@compressed
def survey(survey_id: str) -> str:
    """The same page for every survey but for its id: what it shows comes from the definition, once the browser has checked it."""
    published = current_store().published(survey_id)
    page = "respond/survey.html" if published.is_open else "respond/closed.html"
    return render_template(page, published=published, modules=MODULES, import_map=Markup(IMPORT_MAP))  # noqa: S704 - our own file names and hashes


@bp.get("/browser/<name>")
def browser_file(name: str) -> Response:
    """The modules that run on the respondent's device, the same files that the tests prove."""
    return _file(_BROWSER, name)


@bp.get("/static/<name>")
def static_file(name: str) -> Response:
    return _file(_STATIC, name)


def _file(files: dict[str, assets.Asset], name: str) -> Response:
    if name not in files:
        abort(404)
    return files[name].response()
