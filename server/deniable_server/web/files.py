"""Routes of static files, served as they were when the server started: no cookie, no ETag, no caching."""

from __future__ import annotations

from flask import Response, abort, url_for
from markupsafe import Markup

from deniable.verify.page_bundle import ENTRIES, join_modules, read_modules, without_comments
from deniable_server import paths
from deniable_server.context import current_config
from deniable_server.web import assets, page_cache
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.lanes import Lane

bp = Routes("files", __name__, Audience(login=False, forms=False, csrf=False, translated=True), Lane.RESPONDENTS)
_FIRST = "support.js"
_BROWSER = {
    **assets.load(paths.BROWSER, ".mjs"),
    **assets.load(paths.BROWSER, ".json"),
    _FIRST: assets.asset(without_comments(_FIRST, (paths.BROWSER / _FIRST).read_text(encoding="utf-8")).encode(), ".js"),
    **{name: assets.asset(join_modules(read_modules(paths.BROWSER), entry).encode(), ".mjs") for name, entry in ENTRIES.items()},
}
_STATIC = {**assets.load(paths.STATIC, ".css"), **assets.load(paths.STATIC, ".mjs"), **assets.load(paths.STATIC, ".svg")}
SCRIPTS = {name: asset.integrity for name, asset in _BROWSER.items()}
"""The integrity hashes of the files below /browser/: the bundles and the first script, and all others."""
STYLES = {name: asset.integrity for name, asset in _STATIC.items()}


@bp.app_template_global()
def browser_script(name: str, kind: str = "") -> Markup:
    """Returns the element for one of the respondents' scripts, with its integrity hash; `kind` may be "module"."""
    attribute = Markup(' type="{}"').format(kind) if kind else ""
    return Markup('<script{} src="{}" integrity="{}"></script>').format(attribute, url_for("files.browser_file", name=name), SCRIPTS[name])


@bp.app_template_global()
def stylesheet(name: str) -> Markup:
    """Returns the link to a style sheet, with its integrity hash."""
    return Markup('\n  <link rel="stylesheet" href="{}" integrity="{}">').format(url_for("files.static_file", name=name), STYLES[name])


@bp.get("/browser/<path:name>")
@page_cache.cacheable(translated=False)
def browser_file(name: str) -> Response:
    """Serves the code for respondents' devices: the bundles and their modules, the same that the tests check."""
    return _file(_BROWSER, name)


@bp.get("/static/<name>")
@page_cache.cacheable(translated=False)
def static_file(name: str) -> Response:
    """Serves a style sheet or a script of researchers' pages."""
    return _file(_STATIC, name)


@bp.get("/logo")
@page_cache.cacheable(translated=False)
def logo() -> Response:
    """Serves the institution's logo, if there is one."""
    picture = current_config().institution.logo
    if picture is None:
        abort(404)
    return Response(picture.content, mimetype=picture.mimetype)


def _file(files: dict[str, assets.Asset], name: str) -> Response:
    if name not in files:
        abort(404)
    return files[name].response()
