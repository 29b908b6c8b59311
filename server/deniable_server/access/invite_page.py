"""Invite: the link of a survey, or of each of its groups, with its QR code; and one-time codes, shown once and kept nowhere."""

from __future__ import annotations

import io

import segno
from flask import Response, render_template, url_for
from markupsafe import Markup

from deniable.survey import Survey
from deniable_server.access import invitations
from deniable_server.access.forms import CodesForm
from deniable_server.context import current_store
from deniable_server.pages.one_time_forms import repeated
from deniable_server.pages.routes import Page, routes
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.links import server_address

bp = routes("inviting", __name__)
MOST_ON_A_SHEET = 300  # codes, each with a picture of some kilobytes


@bp.app_template_global()
def qr_code(text: str) -> Markup:
    """A text as a QR code, to be put into a page. No other server draws it, so none sees what is in it."""
    out = io.BytesIO()
    code = segno.make(text, error="m", micro=False)
    code.save(out, kind="svg", xmldecl=False, svgns=False, border=4, light="#fff", omitsize=True)
    return Markup(out.getvalue().decode())  # noqa: S704 - of modules only: no part of the text is written


@bp.get("/manage/surveys/<survey_id>/invite")
@least(Role.EDITOR)
def page(survey_id: str) -> Page:
    published = current_store().surveys.published(survey_id)
    return _page(survey_id, _form(published.survey))


@bp.post("/manage/surveys/<survey_id>/invite")
@least(Role.EDITOR)
def codes(survey_id: str) -> Page:
    """Makes codes, and shows or sends them: this once."""
    survey = current_store().surveys.published(survey_id).survey
    form = _form(survey)
    if form.validate() and form.sheet.data and form.count.data > MOST_ON_A_SHEET:
        form.count.errors = [f"A sheet has at most {MOST_ON_A_SHEET} codes: make several, or a CSV file."]
    if form.errors or survey.access != "invited":
        return _page(survey_id, form), 422
    if again := repeated("These codes were made already", url_for(".page", survey_id=survey_id)):
        return again
    written = invitations.make(current_store(), survey_id, form.count.data)
    group = form.group.data or None
    if form.sheet.data:
        links = [(code, invitations.personal_link(survey, code, server_address(), group)) for code in written]
        return render_template("access/sheet.html", survey=survey, group=group, links=links, form=form)
    body = invitations.to_csv(survey, written, server_address(), group)
    return Response(body, mimetype="text/csv", headers={"Content-Disposition": f'attachment; filename="{survey_id}-codes.csv"'})


def _form(survey: Survey) -> CodesForm:
    form = CodesForm()
    form.group.choices = [("", "they choose it themselves" if survey.groups else "all"), *((group, group) for group in survey.groups)]
    form.group.data = form.group.data or ""
    return form


def _page(survey_id: str, form: CodesForm) -> str:
    store = current_store()
    made, spent = store.access.invitations(survey_id)
    return render_template("access/invite.html", published=store.surveys.published(survey_id), form=form, made=made, spent=spent)
