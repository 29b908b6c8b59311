"""Surveys that are being written: begun, filled in field by field or as a file, planned, tried, published."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response, abort, g, redirect, render_template, request, url_for

from deniable.errors import EstimateError, MissingExtraError, Problem, SurveyError
from deniable.plan import ROUGH, outlook, plan, proposals, verdict
from deniable.privacy.posterior import least_protected, people, posterior_bound
from deniable.survey import Survey
from deniable.survey.document import MAX_BYTES, parse
from deniable.survey.dump import to_json, to_yaml
from deniable.survey.labels import warnings
from deniable.topics import TOPICS
from deniable.wire import access_codes
from deniable.xlsform import is_workbook, read_xlsform
from deniable_server.context import current_store
from deniable_server.researchers.editor.changes import changed
from deniable_server.researchers.editor.fields import editable, fields_of, value_of
from deniable_server.researchers.editor.forms import KEYS, PLANNED, EditorForm
from deniable_server.researchers.editor.mistakes import beside, named
from deniable_server.researchers.editor.shapes import Fields
from deniable_server.researchers.forms import MOST_PEOPLE, ActionForm, BeginForm, SourceForm
from deniable_server.researchers.own_drafts import all_own, own
from deniable_server.researchers.pages import Page, routes
from deniable_server.store.drafts import Draft
from deniable_server.store.errors import ConflictError
from deniable_server.web import headers, limits

bp = routes("drafting", __name__)

MOST_BYTES = MAX_BYTES * 3 // 2  # of a form; one that is larger than 500 kB would be put on the disk while it is read
MOST_QUESTIONS = 100  # for which there are fields; a survey of more is written as a file
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
"""The smallest survey that shows how one is written."""

TAKEN = Problem("id", "must be a new one: it is another survey's, and a published survey never changes")
_TITLE = re.compile(r"""^\W{0,3}title\W{1,4}(.*?)["',\s]*$""", re.MULTILINE)


@bp.app_template_global()
def kept_drafts() -> list[tuple[Draft, str]]:
    """The drafts of whoever is logged in, the latest first, each with its title."""
    listed = [(draft, _title(draft.text)) for draft in all_own()]
    return sorted(listed, key=lambda one: (one[0].changed_on, one[1]), reverse=True)


# --- begin and end --------------------------------------------------------------------------------------------------------


@bp.route("/manage/new", methods=["GET", "POST"])
@limits.body(MOST_BYTES)
def survey() -> Page:
    """Begins a draft: with a file, with a topic, or with an example."""
    form = BeginForm()
    if not form.is_submitted():
        return _begin(form)
    if not form.validate():
        return _begin(form), 422
    raw = form.file.data.read() if form.file.data else b""
    try:
        if is_workbook(raw):
            return _imported(form, raw)
        text = raw.decode("utf-8-sig") or next((one.text for one in TOPICS if one.name == request.form.get("topic")), EXAMPLE)
    except UnicodeDecodeError:
        form.file.errors = ["Save the file as UTF-8 text, or as a workbook: this one is neither."]
        return _begin(form), 422
    except (SurveyError, MissingExtraError) as error:
        form.file.errors = [str(error)]
        return _begin(form), 422
    return redirect(url_for(".edit", draft_id=current_store().drafts.begin(g.user, text.replace("\r\n", "\n")).id))


def _begin(form: BeginForm) -> str:
    return render_template("researchers/new.html", form=form, topics=TOPICS)


def _imported(form: BeginForm, raw: bytes) -> Page:
    """A draft from an XLSForm, and what became of each row."""
    name = re.sub(r"\.\w+$", "", form.file.data.filename or "") or "survey"
    found = read_xlsform(raw, name)
    draft = current_store().drafts.begin(g.user, to_yaml(found.document))
    return render_template("researchers/imported.html", draft=draft, title=found.document["title"], report=found.report, form=ActionForm())


@bp.post("/manage/drafts/<draft_id>/delete")
def delete(draft_id: str) -> Page:
    own(draft_id)
    current_store().drafts.remove(draft_id)
    return redirect(url_for("researchers.surveys"))


def _publish(draft: Draft, survey: Survey) -> Page:
    """Publishes a survey, and forgets its draft. Raises ConflictError where its id is taken."""
    current_store().surveys.publish(survey, owner=g.user)
    current_store().drafts.remove(draft.id)
    return redirect(url_for("inviting.page", survey_id=survey.id))


# --- as fields --------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>")
def edit(draft_id: str) -> Page:
    draft = own(draft_id)
    value = _value(draft.text)
    if value is None:
        return redirect(url_for(".source", draft_id=draft_id))
    return _editor(_Edited(draft, fields_of(value), value, people_planned(), draft.revision))


@bp.post("/manage/drafts/<draft_id>")
@limits.body(MOST_BYTES)
def change(draft_id: str) -> Page:
    """Keeps what was typed, and does what the button says that was pressed."""
    draft, form = own(draft_id), EditorForm()
    fields, told = form.fields, request.form.get("do", "save")
    n = form.n.data if form.n.validate(form) else PLANNED
    focus = changed(fields, told, form.new_language.data or "")
    value = _sent(fields)
    if told.startswith("propose "):
        value = _proposed(value, n, told.removeprefix("propose "))
        fields = fields_of(value)
    text = draft.text if value == _value(draft.text) else to_yaml(value)
    if told == "keep":
        return redirect(url_for(".edit", draft_id=current_store().drafts.begin(g.user, text).id))
    edited = _Edited(draft, fields, value, n, form.revision.data or "", focus, tuple(form.n.errors))
    if len(text.encode()) > MAX_BYTES:
        return _editor(edited, [Problem("file", f"must be at most {MAX_BYTES:,} bytes: it was not saved")])
    try:
        saved = current_store().drafts.save(draft_id, text, draft.revision if told == "over" else edited.revision)
    except ConflictError:
        return _editor(edited, conflict=True)
    edited = _Edited(saved, fields, value, n, saved.revision, focus, edited.wrong_n)
    return _published(edited) if told == "publish" else _editor(edited)


@dataclass(frozen=True)
class _Edited:
    """A draft on the page: what is kept, what stands in the fields, and the revision that the page is of."""

    draft: Draft
    fields: Fields
    value: Mapping[str, Any]
    n: int
    revision: str
    focus: str = ""
    wrong_n: tuple[str, ...] = ()


def _published(edited: _Edited) -> Page:
    try:
        return _publish(edited.draft, Survey.from_dict(edited.value))
    except SurveyError:
        return _editor(edited)
    except ConflictError:
        return _editor(edited, [TAKEN])


def _editor(edited: _Edited, more: list[Problem] | None = None, conflict: bool = False) -> Page:
    form = EditorForm.filled(edited.fields, edited.n, edited.revision)
    survey, problems = _checked(edited.value)
    problems += more or []
    mistakes = {**beside(problems, edited.fields), **({"n": edited.wrong_n} if edited.wrong_n else {})}
    shown = {"draft": edited.draft, "form": form, "mistakes": mistakes, "conflict": conflict, "focus": edited.focus, "types": KEYS}
    labels = form.labels
    if survey is not None:
        shown |= {"survey": survey, "ahead": ahead(survey, edited.value, edited.n)}
    shown |= {"named": lambda place: named(place, labels), "comments": _comments(edited.draft.text)}
    page = render_template("researchers/editor.html", title=_title(edited.draft.text), **shown)
    return page, 409 if conflict else 422 if problems and request.method == "POST" else 200


def ahead(survey: Survey, value: Mapping[str, Any], n: int) -> dict[str, Any]:
    """What a survey will tell, for beside the fields."""
    rows = outlook(survey, n)
    return {
        "n": n,
        "verdict": verdict(survey, n),
        "rows": rows,
        "rough": max(row.half_width for row in rows) > ROUGH,
        "proposals": proposals(value, n),
        "weakest": least_protected(survey.items),
        "people": people,
        "belief": posterior_bound(survey.odds),
        "doubts": tuple(warnings(survey.groups, n)),
    }


def _sent(fields: Fields) -> dict[str, Any]:
    try:
        return value_of(fields)
    except ValueError as error:
        abort(400, str(error))


def _proposed(value: dict[str, Any], n: int, words: str) -> dict[str, Any]:
    """The document with a proposal; as it is where that is none any more, since the fields have changed."""
    if _checked(value)[0] is None:
        return value
    return next((dict(one.document) for one in proposals(value, n) if one.words == words), value)


# --- as a file --------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>/source")
def source(draft_id: str) -> Page:
    draft = own(draft_id)
    return _source(draft, SourceForm(formdata=None, source=draft.text, revision=draft.revision))


@bp.post("/manage/drafts/<draft_id>/source")
@limits.body(MOST_BYTES)
def write(draft_id: str) -> Page:
    """Keeps a file as it is written, right or wrong."""
    draft, form = own(draft_id), SourceForm()
    if not form.validate():
        return _source(draft, form, status=422)
    if form.keep.data:
        return redirect(url_for(".source", draft_id=current_store().drafts.begin(g.user, form.text()).id))
    before = draft.revision if form.over.data else form.revision.data or ""
    try:
        draft = current_store().drafts.save(draft_id, form.text(), before)
    except ConflictError:
        return _source(draft, form, conflict=True, status=409)
    shown = SourceForm(formdata=None, source=draft.text, revision=draft.revision)
    try:
        written = Survey.from_text(draft.text)
        return _publish(draft, written) if form.publish.data else _source(draft, shown)
    except SurveyError:
        return _source(draft, shown, status=422)
    except ConflictError:
        return _source(draft, shown, [TAKEN], status=422)


def _source(draft: Draft, form: SourceForm, more: list[Problem] | None = None, conflict: bool = False, status: int = 200) -> Page:
    try:
        survey, problems = Survey.from_text(form.text()), []
    except SurveyError as error:
        survey, problems = None, list(error.problems)
    problems += more or []
    shown = {"draft": draft, "form": form, "survey": survey, "problems": problems, "conflict": conflict}
    return render_template("researchers/source.html", title=_title(draft.text), has_fields=_value(draft.text) is not None, **shown), status


@bp.get("/manage/drafts/<draft_id>/survey.<any(yaml, json):kind>")
def download(draft_id: str, kind: str) -> Page:
    """The draft as a file: YAML as it was written, or JSON of the same."""
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
def planned(draft_id: str) -> Page:
    """All that the planner says of a draft."""
    draft = own(draft_id)
    if (survey := _checked_text(draft.text)) is None:
        return redirect(url_for(".edit", draft_id=draft_id))
    shown = {"title": survey.title, "survey": survey, "plan": plan(survey, n=people_planned())}
    return render_template("researchers/draft_plan.html", draft=draft, form=ActionForm(), **shown)


def people_planned() -> int:
    """How many people the address says. Raises EstimateError for a number that is none of people."""
    written = request.args.get("n", str(PLANNED))
    if not written.isascii() or not written.isdigit() or not 0 < int(written[:20]) <= MOST_PEOPLE:
        raise EstimateError(f"n must be a whole number of people from 1 to {MOST_PEOPLE:,}")
    return int(written)


@bp.get("/manage/drafts/<draft_id>/preview")
@headers.holds_frames
def preview(draft_id: str) -> Page:
    """The draft as respondents will meet it, in a frame as wide as a phone."""
    draft = own(draft_id)
    if _checked_text(draft.text) is None:
        return redirect(url_for(".edit", draft_id=draft_id))
    code = access_codes.written(bytes(access_codes.SECRET_BYTES))
    return render_template("researchers/preview.html", draft=draft, title=_title(draft.text), code=code, form=ActionForm())


# --- reading a draft --------------------------------------------------------------------------------------------------------


def _value(text: str) -> dict[str, Any] | None:
    """The document of a text for which there are fields, else None."""
    try:
        document = parse(text)
    except SurveyError:
        return None
    few = editable(document.value) and len(document.value.get("questions", [])) <= MOST_QUESTIONS
    return document.value if few and not document.problems else None


def _checked(value: Mapping[str, Any]) -> tuple[Survey | None, list[Problem]]:
    try:
        return Survey.from_dict(value), []
    except SurveyError as error:
        return None, list(error.problems)


def _checked_text(text: str) -> Survey | None:
    try:
        return Survey.from_text(text)
    except SurveyError:
        return None


def _title(text: str) -> str:
    """What stands first under the key title, without reading the whole file."""
    found = _TITLE.search(text[:10_000])
    return found[1].strip()[:200] if found and found[1].strip() not in ("", "|", ">") else "Untitled"


def _comments(text: str) -> bool:
    return any(line.lstrip().startswith("#") for line in text.split("\n"))
