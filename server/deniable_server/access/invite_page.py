"""Invite page: links of a survey and its groups with QR codes, one-time codes that are shown only once, and letters to people."""

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
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.links import server_address

bp = routes("inviting", __name__)
MOST_ON_A_SHEET = 300  # codes, each with a QR code of some kilobytes
MOST_LETTERS = 5_000  # codes of one page, which a browser merges with a list


@bp.app_template_global()
def qr_code(text: str) -> Markup:
    """Returns a QR code of a text as SVG. It is drawn here, so no other server sees the text."""
    out = io.BytesIO()
    code = segno.make(text, error="m", micro=False)
    code.save(out, kind="svg", xmldecl=False, svgns=False, border=4, light="#fff", omitsize=True)
    return Markup(out.getvalue().decode())  # noqa: S704 - the SVG has only shapes, no part of the text


@bp.get("/manage/surveys/<survey_id>/invite")
@least(Role.EDITOR)
def page(survey_id: str) -> Page:
    """Shows the links of a survey."""
    published = current_store().surveys.published(survey_id)
    return _page(survey_id, _form(published.survey))


@bp.post("/manage/surveys/<survey_id>/invite")
@least(Role.EDITOR)
def codes(survey_id: str) -> Page:
    """Makes codes, and shows or downloads them, only once."""
    survey = current_store().surveys.published(survey_id).survey
    form = _form(survey)
    if form.validate() and (problem := _too_many(form)):
        form.count.errors = [problem]
    if form.errors or survey.access != "invited":
        return _page(survey_id, form), 422
    if again := repeated("Codes already made", url_for(".page", survey_id=survey_id)):
        return again
    codes = invitations.make(current_store(), survey_id, form.count.data)
    group = form.group.data or None
    if form.sheet.data:
        links = [(code, invitations.personal_link(survey, code, server_address(), group)) for code in codes]
        return render_template("access/sheet.html", survey=survey, group=group, links=links, form=form)
    body = invitations.to_csv(survey, codes, server_address(), group)
    if form.letters.data:
        return render_template("access/letters.html", survey=survey, group=group, codes_csv=body)
    return Response(body, mimetype="text/csv", headers={"Content-Disposition": f'attachment; filename="{survey_id}-codes.csv"'})


@bp.get("/manage/surveys/<survey_id>/invite/reminder")
@least(Role.EDITOR)
def reminder(survey_id: str) -> Page:
    """Shows the page that writes a reminder to everybody. Like the page of letters, it gets no address."""
    survey = current_store().surveys.published(survey_id).survey
    if survey.access != "invited":
        return done("Only surveys by invitation have reminders.", ".page", survey_id=survey_id)
    return render_template("access/letters.html", survey=survey, group=None, codes_csv=None)


def _form(survey: Survey) -> CodesForm:
    form = CodesForm()
    form.group.choices = [("", "people choose it themselves" if survey.groups else "all"), *((group, group) for group in survey.groups)]
    form.group.data = form.group.data or ""
    return form


def _too_many(form: CodesForm) -> str | None:
    """Returns why a page cannot show so many codes, or None if it can."""
    if form.sheet.data and form.count.data > MOST_ON_A_SHEET:
        return f"A sheet has at most {MOST_ON_A_SHEET} codes. Make several sheets or a CSV file."
    if form.letters.data and form.count.data > MOST_LETTERS:
        return f"You can write to at most {MOST_LETTERS:,} people at a time. Write several times, or make a CSV file."
    return None


def _page(survey_id: str, form: CodesForm) -> str:
    store = current_store()
    n_codes, n_used = store.invitations.count(survey_id)
    return render_template("access/invite.html", published=store.surveys.published(survey_id), form=form, n_codes=n_codes, n_used=n_used)
