"""Draft pages: start, edit as a form or as a file, plan and preview a survey."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Response, abort, g, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError

from deniable.errors import EstimateError, MissingExtraError, Problem, SurveyError
from deniable.survey import Survey
from deniable.survey.document import MAX_BYTES, parse
from deniable.survey.dump import to_json, to_yaml
from deniable.topics import TOPICS
from deniable.wire import access_codes
from deniable.xlsform import ImportedForm, is_workbook, read_xlsform
from deniable_server.context import current_store
from deniable_server.drafts.editor.changes import changed
from deniable_server.drafts.editor.drafted import (
    MOST_QUESTIONS,
    NO_SURVEY,
    checked,
    has_comments,
    is_survey_file,
    read,
    survey_in,
    title_in,
    value_in,
)
from deniable_server.drafts.editor.fields import fields_of, value_of
from deniable_server.drafts.editor.forms import KEYS, PLANNED, EditorForm, too_many
from deniable_server.drafts.editor.incomplete import incomplete
from deniable_server.drafts.editor.mistakes import beside, named
from deniable_server.drafts.editor.prospects import ahead, proposed
from deniable_server.drafts.editor.shapes import Fields
from deniable_server.drafts.forms import BeginForm, SourceForm
from deniable_server.drafts.own_drafts import own
from deniable_server.drafts.plan_form import PlanForm
from deniable_server.drafts.preview import preview_of
from deniable_server.drafts.publishing import is_id_taken
from deniable_server.identity import form_recovery
from deniable_server.pages.forms import MOST_PEOPLE, ActionForm
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.drafts import MOST, Draft
from deniable_server.store.errors import ConflictError, TooManyDraftsError
from deniable_server.web import headers, lanes, limits
from deniable_server.web.errors import out_of_date
from deniable_server.web.offload import UPLOAD_SECONDS, computed

bp = routes("drafting", __name__)

MOST_BYTES = MAX_BYTES * 3 // 2  # of a form; Werkzeug writes forms above 500 kB to the disk while it reads them
EXAMPLE = """\
deniable: 1
id: affairs
title: About marriage
about: Who asks, why, and whom to contact.
epsilon: ln 9
questions:
  - {id: affair, text: "Have you ever had an affair?", type: yes_no}
  - {id: children, text: "How many children do you have?", type: choice, options: [none, one or two, three or more]}
"""
"""The smallest survey that works as an example."""

TAKEN = Problem("id", "must be a new one: it belongs to another survey, or looks like the id of one")
TOO_MANY = Problem("drafts", f"must be at most {MOST} a person: delete one in another window, then try again")


@bp.errorhandler(CSRFError)
def recover_form(error: CSRFError) -> Response:
    """Returns a form of an ended session to its sender, with a new token."""
    return form_recovery.given_back() if form_recovery.sent_by_hand() else out_of_date(error)


# --- begin and end --------------------------------------------------------------------------------------------------------


@bp.route("/manage/new", methods=["GET", "POST"])
@lanes.computing
@limits.body(MOST_BYTES)
def survey() -> Page:
    """Starts a draft from a file, a topic or the example."""
    form = BeginForm()
    if not form.is_submitted():
        return _begin(form)
    if not form.validate():
        return _begin(form), 422
    raw = form.file.data.read() if form.file.data else b""
    if form.upload.data and not raw:
        form.file.errors = ["Choose a file that is not empty."]
        return _begin(form), 422
    try:
        if is_workbook(raw):
            return _imported(form, raw)
        text = raw.decode("utf-8-sig") or next((one.text for one in TOPICS if one.name == request.form.get("topic")), EXAMPLE)
        if not is_survey_file(text):
            form.file.errors = [f"{NO_SURVEY[:1].upper()}{NO_SURVEY[1:]}. Choose a survey file or an XLSForm."]
            return _begin(form), 422
        return _begun(text.replace("\r\n", "\n"))
    except UnicodeDecodeError:
        form.file.errors = ["The file must be UTF-8 text or a workbook."]
        return _begin(form), 422
    except MissingExtraError:  # the page does not offer XLSForms
        form.file.errors = ["This server cannot read XLSForms. Choose a YAML or JSON file, or ask the server’s operator."]
        return _begin(form), 422
    except (SurveyError, TooManyDraftsError) as error:
        form.file.errors = [str(error)]
        return _begin(form), 422


def _begun(text: str) -> Page:
    return redirect(url_for(".edit", draft_id=current_store().drafts.begin(g.user, text).id))


def _begin(form: BeginForm) -> str:
    return render_template("drafts/new.html", form=form, topics=TOPICS)


def _imported(form: BeginForm, raw: bytes) -> Page:
    """Starts a draft from an XLSForm and reports the import of each row."""
    name = re.sub(r"\.\w+$", "", form.file.data.filename or "") or "survey"
    imported = _mapped(raw, name)
    draft = current_store().drafts.begin(g.user, to_yaml(imported.document))
    survey, fields = survey_in(draft.text), fields_of(value_in(draft.text) or {})
    gaps = incomplete(survey, fields) if survey else ()
    context = {"title": imported.document["title"], "report": imported.report, "incomplete": gaps}
    return render_template("drafts/imported.html", draft=draft, form=ActionForm(), **context)


@computed(UPLOAD_SECONDS)
def _mapped(raw: bytes, name: str) -> ImportedForm:
    return read_xlsform(raw, name)


@bp.post("/manage/drafts/<draft_id>/delete")
def delete(draft_id: str) -> Page:
    """Deletes a draft."""
    own(draft_id)
    current_store().drafts.remove(draft_id)
    return done("The draft is deleted.", "researchers.surveys")


# --- as fields --------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>")
@headers.holds_frames
@computed()
def edit(draft_id: str) -> Page:
    """Shows a draft as a form, or its source if the form cannot show it."""
    draft = own(draft_id)
    value = value_in(draft.text)
    if value is None:
        return redirect(url_for(".source", draft_id=draft_id))
    return _editor(_Edited(draft, fields_of(value), value, _people_planned(), draft.revision))


@bp.post("/manage/drafts/<draft_id>")
@headers.holds_frames
@lanes.computing
@limits.body(MOST_BYTES)
def change(draft_id: str) -> Page:
    """Saves the form and applies the action of the pressed button."""
    if much := too_many(request.form):
        abort(400, much)
    draft, form = own(draft_id), EditorForm()
    fields, action = form.fields, request.form.get("do", "save")
    n = form.n.data if form.n.validate(form) else PLANNED
    focus = changed(fields, action, form.new_language.data or "")
    value = _sent(fields)
    if action.startswith("propose "):
        value = proposed(value, n, action.removeprefix("propose "))
        fields, focus = fields_of(value), "outlook"
    text = draft.text if value == value_in(draft.text) else to_yaml(value)
    edited = _Edited(draft, fields, value, n, form.revision.data or "", focus, tuple(form.n.errors))
    if action == "keep":
        try:
            return _begun(text)
        except TooManyDraftsError:
            return _editor(edited, [TOO_MANY], conflict=True)
    if len(text.encode()) > MAX_BYTES:
        return _editor(edited, [Problem("file", f"must be at most {MAX_BYTES:,} bytes: it was not saved")])
    try:
        saved = current_store().drafts.save(draft_id, text, draft.revision if action == "over" else edited.revision)
    except ConflictError:
        return _editor(edited, conflict=True)
    edited = _Edited(saved, fields, value, n, saved.revision, focus, edited.wrong_n)
    return _to_publish(edited) if action == "publish" else _editor(edited)


@dataclass(frozen=True)
class _Edited:
    """State of the editor page: the stored draft, the values of the fields, and the revision that the page shows."""

    draft: Draft
    fields: Fields
    value: Mapping[str, Any]
    n: int
    revision: str
    focus: str = ""
    wrong_n: tuple[str, ...] = ()


def _to_publish(edited: _Edited) -> Page:
    """Redirects to the confirmation page if the draft has no problems."""
    survey, _ = checked(edited.value)
    if survey is None:
        return _editor(edited)
    return _editor(edited, [TAKEN]) if is_id_taken(survey) else redirect(url_for("publishing.page", draft_id=edited.draft.id))


@computed()
def _editor(edited: _Edited, more: list[Problem] | None = None, conflict: bool = False) -> Page:
    form = EditorForm.filled(edited.fields, edited.n, edited.revision)
    survey, problems = checked(edited.value)
    problems += more or []
    mistakes = {**beside(problems, edited.fields), **({"n": edited.wrong_n} if edited.wrong_n else {})}
    context = {
        "draft": edited.draft,
        "form": form,
        "mistakes": mistakes,
        "conflict": conflict,
        "focus": edited.focus,
        "types": KEYS,
        "most": MOST_QUESTIONS,
    }
    labels = form.labels
    if survey is not None:
        context |= {"survey": survey, "ahead": ahead(survey, edited.value, edited.n), "entry": _entry(survey)}
        context |= {"incomplete": incomplete(survey, edited.fields)}
    context |= {"most": MOST_QUESTIONS, "named": lambda place: named(place, labels), "comments": has_comments(edited.draft.text)}
    page = render_template("drafts/editor.html", title=title_in(edited.draft.text), **context)
    return page, 409 if conflict else 422 if problems and request.method == "POST" else 200


def _entry(survey: Survey) -> str:
    """Returns the fragment of a link that opens the questions: with an unused code, and a group if the survey has groups."""
    code = access_codes.format_code(bytes(access_codes.SECRET_BYTES))
    return urlencode({"code": code, **({"group": survey.groups[0]} if survey.groups else {})})


def _sent(fields: Fields) -> dict[str, Any]:
    try:
        return value_of(fields)
    except ValueError as error:
        abort(400, str(error))


# --- as a file --------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>/source")
@computed()
def source(draft_id: str) -> Page:
    """Shows a draft as a file."""
    draft = own(draft_id)
    return _source(draft, SourceForm(formdata=None, source=draft.text, revision=draft.revision))


@bp.post("/manage/drafts/<draft_id>/source")
@lanes.computing
@limits.body(MOST_BYTES)
def write(draft_id: str) -> Page:
    """Saves a file as it is, valid or not."""
    draft, form = own(draft_id), SourceForm()
    if not form.validate():
        return _source(draft, form, status=422)
    if not is_survey_file(form.text()):
        return _source(draft, form, [Problem("file", NO_SURVEY)], status=422)
    if form.keep.data:
        try:
            return redirect(url_for(".source", draft_id=current_store().drafts.begin(g.user, form.text()).id))
        except TooManyDraftsError:
            return _source(draft, form, [TOO_MANY], conflict=True, status=409)
    before = draft.revision if form.over.data else form.revision.data or ""
    try:
        draft = current_store().drafts.save(draft_id, form.text(), before)
    except ConflictError:
        return _source(draft, form, conflict=True, status=409)
    saved = SourceForm(formdata=None, source=draft.text, revision=draft.revision)
    if (survey := survey_in(draft.text)) is None:
        return _source(draft, saved, status=422)
    if not form.publish.data:
        return _source(draft, saved)
    return _source(draft, saved, [TAKEN], status=422) if is_id_taken(survey) else redirect(url_for("publishing.page", draft_id=draft_id))


def _source(draft: Draft, form: SourceForm, more: list[Problem] | None = None, conflict: bool = False, status: int = 200) -> Page:
    survey, problems = read(form.text())
    problems += more or []
    context = {"draft": draft, "form": form, "survey": survey, "problems": problems, "conflict": conflict}
    return render_template("drafts/source.html", title=title_in(draft.text), has_fields=value_in(draft.text) is not None, **context), status


@bp.get("/manage/drafts/<draft_id>/survey.<any(yaml, json):kind>")
@computed()
def download(draft_id: str, kind: str) -> Page:
    """Downloads a draft as its own YAML, or converted to JSON."""
    draft = own(draft_id)
    try:
        value = parse(draft.text).value
    except SurveyError:
        value = None
    if kind == "json" and value is None:
        abort(409, "the file must be YAML to be written as JSON: see its source for what is wrong")
    name = value["id"] if isinstance(value, Mapping) and re.fullmatch("[a-z0-9_-]{1,64}", str(value.get("id"))) else "survey"
    body = draft.text if kind == "yaml" else to_json(value)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    return Response(body, mimetype="application/yaml" if kind == "yaml" else "application/json", headers=headers)


# --- its plan ---------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>/plan")
@computed()
def planned(draft_id: str) -> Page:
    """Shows the plan of a draft."""
    draft = own(draft_id)
    if (survey := survey_in(draft.text)) is None:
        return redirect(url_for(".edit", draft_id=draft_id))
    form = PlanForm.of(request.args, survey)
    plan = form.planned(survey)
    context = {"title": survey.title, "survey": survey, "plan_request": form, "plan": plan}
    return render_template("drafts/draft_plan.html", draft=draft, form=ActionForm(), **context), 200 if plan else 400


def _people_planned() -> int:
    """Returns the number of people in the address. Raises EstimateError unless it is from 1 to MOST_PEOPLE."""
    text = request.args.get("n", str(PLANNED))
    if not text.isascii() or not text.isdigit() or len(text) > 20 or not 0 < int(text) <= MOST_PEOPLE:
        raise EstimateError(f"how many people may answer (n) must be a whole number of people from 1 to {MOST_PEOPLE:,}")
    return int(text)


@bp.get("/manage/drafts/<draft_id>/preview")
@headers.holds_frames
@computed()
def preview(draft_id: str) -> Page:
    """Shows the draft as respondents will see it, in a frame as wide as a phone."""
    draft = own(draft_id)
    if survey_in(draft.text) is None:
        return redirect(url_for(".edit", draft_id=draft_id))
    code = access_codes.format_code(bytes(access_codes.SECRET_BYTES))
    return render_template(
        "drafts/preview.html", draft=draft, title=title_in(draft.text), code=code, digest=preview_of(draft_id).digest, form=ActionForm()
    )
