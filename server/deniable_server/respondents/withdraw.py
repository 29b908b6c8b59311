"""Withdrawal page: one field for the code. `store/sql/submissions` erases the record.

Every well-formed code gets the same reply, so that nobody can find out whether a record was stored under it.
"""

from __future__ import annotations

from flask import render_template, request

from deniable.survey import Survey
from deniable.wire import access_codes
from deniable_server.context import current_store
from deniable_server.respondents.forms import WithdrawalForm
from deniable_server.store.errors import FullError, UnavailableError
from deniable_server.web import languages, page_cache, sites
from deniable_server.web.audience import Audience, Routes
from deniable_server.web.errors import status_of
from deniable_server.web.lanes import Lane

bp = Routes("withdraw", __name__, Audience(login=False, forms=True, csrf=False, translated=True), Lane.RESPONDENTS)
Page = tuple[str, int]


@bp.get("/s/<survey_id>/withdraw")
@page_cache.cacheable()
def blank(survey_id: str) -> Page:
    """Serves the page with the empty field, for closed surveys too."""
    return _form(_survey(survey_id), WithdrawalForm(), 200)


@bp.post("/s/<survey_id>/withdraw")
def erase(survey_id: str) -> Page:
    """Erases the record of the code, if it exists."""
    sites.refuse_other_sites(null_origin=True)
    survey, form = _survey(survey_id), WithdrawalForm(request.form)
    if not form.validate():
        return _form(survey, form, 400)
    try:
        current_store().submissions.withdraw(survey_id, access_codes.submission_id(form.code.raw))
    except (FullError, UnavailableError) as error:
        return _form(survey, form, status_of(error)[0], failed=True)
    return render_template("respondents/withdraw_done.html", survey=survey), 200


def _survey(survey_id: str) -> Survey:
    survey = page_cache.published(survey_id).survey
    languages.about(survey)
    return survey


def _form(survey: Survey, form: WithdrawalForm, status: int, *, failed: bool = False) -> Page:
    return render_template("respondents/withdraw.html", survey=survey, form=form, failed=failed), status
