"""Help page: the steps of a study and where to do them."""

from __future__ import annotations

from flask import render_template

from deniable.extras import available
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.researchers.guide import title_of

bp = routes("helping", __name__)


@bp.get("/manage/help")
def page() -> Page:
    """Shows the help page."""
    return render_template("researchers/help.html", form=ActionForm(), xlsforms=available("xlsform"), title_of=title_of)
