"""Progress page (Watch): records, precision and warnings of an open survey."""

from __future__ import annotations

from flask import render_template

from deniable_server.context import current_store
from deniable_server.pages.chart import growth
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.results.progress import checked_progress, warnings
from deniable_server.results.results import sizes_of
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.offload import computed

bp = routes("watch", __name__)


@bp.get("/manage/surveys/<survey_id>/watch")
@least(Role.VIEWER)
@computed()
def page(survey_id: str) -> Page:
    """Shows the progress of a survey."""
    store = current_store()
    published, settings, progress = store.surveys.published(survey_id), store.life.settings(survey_id), checked_progress(store, survey_id)
    context = {"published": published, "settings": settings, "progress": progress, "growth": growth(progress)}
    others = [warning for warning in warnings(published, settings, progress) if warning not in progress.alarms]
    return render_template("researchers/watch.html", **context, warnings=others, sizes=sizes_of(store, published.survey), form=ActionForm())
