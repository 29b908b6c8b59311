"""For respondents: the survey's page and the files it loads. No cookie, no ETag, nothing kept by the browser."""

from __future__ import annotations

from flask import Blueprint, Response, abort, redirect, render_template, send_from_directory, url_for
from werkzeug.wrappers import Response as AnyResponse

from deniable_server import paths, store

bp = Blueprint("respond", __name__)
_MIME = {".mjs": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}


@bp.get("/")
def home() -> AnyResponse:
    return redirect(url_for("manage.surveys"))


@bp.get("/s/<survey_id>")
def survey(survey_id: str) -> str:
    return render_template("respond/survey.html", published=store().published(survey_id))


@bp.get("/browser/<path:name>")
def browser_file(name: str) -> Response:
    """The modules that run on the respondent's device, the same files that the tests prove."""
    return _file(str(paths.BROWSER), name)


@bp.get("/static/<path:name>")
def static_file(name: str) -> Response:
    return _file(str(paths.STATIC), name)


def _file(folder: str, name: str) -> Response:
    mimetype = _MIME.get("." + name.rpartition(".")[2])
    if mimetype is None:
        abort(404)
    response = send_from_directory(folder, name, mimetype=mimetype, etag=False, conditional=False)
    del response.headers["Last-Modified"]
    return response
