"""Draft pages: start a survey, edit it as a form or as a file, plan and preview it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from flask import Response, abort, g, redirect, render_template, request, url_for
from flask_wtf.csrf import CSRFError

from deniable.errors import EstimateError, MissingExtraError, Problem, SurveyError
from deniable.forms import form_kind
from deniable.privacy.claims import protection_of
from deniable.privacy.stronger import stronger
from deniable.survey import Survey
from deniable.survey.comprehension import STATEMENTS, with_check
from deniable.survey.copies import COPY, next_ids, with_id
from deniable.survey.document import MAX_BYTES, parse
from deniable.survey.dump import to_json, to_yaml
from deniable.topics import TOPICS
from deniable.wire import access_codes
from deniable_server.context import current_services, current_store
from deniable_server.drafts import form_import
from deniable_server.drafts.editor.actions import apply_action
from deniable_server.drafts.editor.draft_text import (
    MOST_QUESTIONS,
    NO_SURVEY,
    check_document,
    check_text,
    definition_as_file,
    document_in,
    id_in,
    is_survey_file,
    survey_in,
    title_in,
)
from deniable_server.drafts.editor.fields import fields_of, value_of
from deniable_server.drafts.editor.forms import KEYS, PLANNED, EditorForm, too_many
from deniable_server.drafts.editor.known_keys import survey_keys
from deniable_server.drafts.editor.messages import action_message, quoted
from deniable_server.drafts.editor.missing_translations import missing_translations
from deniable_server.drafts.editor.mistakes import field_name, is_missing, messages_by_field
from deniable_server.drafts.editor.naming import id_of_title
from deniable_server.drafts.editor.notes import notes_in, with_notes
from deniable_server.drafts.editor.prospects import apply_proposal, expected_precision
from deniable_server.drafts.editor.rating_items import name_items
from deniable_server.drafts.editor.shapes import Fields
from deniable_server.drafts.editor.view import open_question, question_lines
from deniable_server.drafts.forms import BeginForm, SourceForm
from deniable_server.drafts.free_ids import free_id, is_published
from deniable_server.drafts.insertion import saved_text
from deniable_server.drafts.own_drafts import may_edit, own, owners_to_ask
from deniable_server.drafts.plan_form import PlanForm
from deniable_server.drafts.preview import preview_of
from deniable_server.drafts.publishing import is_id_taken
from deniable_server.identity import form_recovery
from deniable_server.pages.forms import MOST_PEOPLE, ActionForm
from deniable_server.pages.routes import Page, done, routes
from deniable_server.store.drafts import MOST, Draft
from deniable_server.store.errors import ConflictError, TooManyDraftsError, TooManyQuestionsError
from deniable_server.store.roles import Role
from deniable_server.web import headers, lanes, limits
from deniable_server.web.errors import out_of_date
from deniable_server.web.offload import computed

bp = routes("drafting", __name__)

MOST_BYTES = MAX_BYTES * 3 // 2  # of a form; Werkzeug writes forms above 500 kB to the disk while it reads them
EMPTY = "deniable: 1\nepsilon: ln 9\n"
"""The start of a new survey: medium protection, and nothing else."""

DONE = {"undo": "Undone.", "redo": "Redone."}
ID_IN_USE = Problem("id", "must be new: it belongs to another survey, or looks like the id of one")
TOO_MANY = Problem("drafts", f"must be at most {MOST} a person: delete one in another window, then try again")


@bp.errorhandler(CSRFError)
def recover_form(error: CSRFError) -> Response:
    """Returns a form to its sender with a new token, after its session has ended."""
    return form_recovery.recovery_page() if form_recovery.is_recoverable() else out_of_date(error)


# --- start and delete --------------------------------------------------------------------------------------------------------


@bp.route("/manage/new", methods=["GET", "POST"])
@lanes.computing
@limits.body(MOST_BYTES)
def survey() -> Page:
    """Starts a draft from a file or a topic, or an empty one."""
    form = BeginForm()
    if not form.is_submitted():
        return _start_page(form)
    if not form.validate():
        return _start_page(form), 422
    raw = form.file.data.read() if form.file.data else b""
    if form.upload.data and not raw:
        form.file.errors = ["Choose a file that is not empty."]
        return _start_page(form), 422
    try:
        if form_import.FIELD in request.form:
            return form_import.import_decided()
        if form_kind(raw):
            return form_import.import_upload(raw, form.file.data.filename or "")
        text = raw.decode("utf-8-sig") or next((topic.text for topic in TOPICS if topic.name == request.form.get("topic")), EMPTY)
        if not is_survey_file(text):
            form.file.errors = [f"{NO_SURVEY[:1].upper()}{NO_SURVEY[1:]}. Choose a survey file or a form of another system."]
            return _start_page(form), 422
        return _start_draft(_from_definition(text) or text.replace("\r\n", "\n"))
    except UnicodeDecodeError:
        form.file.errors = ["The file must be UTF-8 text or a workbook."]
        return _start_page(form), 422
    except MissingExtraError:  # the page does not offer XLSForms
        form.file.errors = ["This server cannot read XLSForms. Choose a YAML or JSON file, or ask the server’s operator."]
        return _start_page(form), 422
    except (SurveyError, TooManyDraftsError) as error:
        form.file.errors = [str(error)]
        return _start_page(form), 422


def _start_draft(text: str) -> Page:
    return redirect(url_for(".edit", draft_id=current_store().drafts.begin(g.user, text).id))


def _from_definition(text: str) -> str | None:
    """Returns the survey file of a downloaded definition, under a new id if its own is published here; None for any other text."""
    file = definition_as_file(text)
    survey_id = id_in(file) if file else ""
    return with_id(file, free_id(next_ids(survey_id, COPY))) if file and is_published(survey_id) else file


def _start_page(form: BeginForm) -> str:
    return render_template("drafts/new.html", form=form, topics=TOPICS)


@bp.post("/manage/drafts/<draft_id>/delete")
def delete(draft_id: str) -> Page:
    """Deletes a draft."""
    own(draft_id)
    current_store().drafts.remove(draft_id)
    current_services().trials.discard_draft(draft_id)
    return done("The draft is deleted.", "researchers.surveys")


# --- edit as a form --------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>")
@headers.holds_frames
@computed()
def edit(draft_id: str) -> Page:
    """Shows a draft as a form, or its source if the form cannot show it."""
    draft = own(draft_id, Role.VIEWER)
    if not may_edit(draft):
        return redirect(url_for("sharing.read", draft_id=draft_id))
    return _reloaded(draft, _people_planned())


def _reloaded(draft: Draft, n: int, focus: str = "", message: str = "") -> Page:
    document = document_in(draft.text)
    if document is None:
        return redirect(url_for(".source", draft_id=draft.id))
    focus = focus or ("title" if "title" not in document else "")
    return _editor(_EditorState(draft, fields_of(document), document, n, draft.revision, notes_in(draft.text), focus, message=message))


@bp.post("/manage/drafts/<draft_id>")
@headers.holds_frames
@lanes.computing
@limits.body(MOST_BYTES)
def change(draft_id: str) -> Page:
    """Saves the form and applies the action of the pressed button."""
    if message := too_many(request.form):
        abort(400, message)
    draft, form = own(draft_id, Role.EDITOR), EditorForm()
    action = request.form.get("do", "save")
    state = _changed(draft, form, action)
    text = _text_of(state)
    if action == "keep":
        try:
            return _start_draft(text)
        except TooManyDraftsError:
            return _editor(state, [TOO_MANY], conflict=True)
    if len(text.encode()) > MAX_BYTES:
        return _editor(state, [Problem("file", f"must be at most {MAX_BYTES:,} bytes: it was not saved")])
    drafts = current_store().drafts
    try:
        saved = drafts.save(draft_id, text, draft.revision if action == "over" else state.revision)
        if action in ("undo", "redo"):
            stepped = drafts.undo(draft_id, saved.revision) if action == "undo" else drafts.redo(draft_id, saved.revision)
            return _reloaded(stepped, state.n, action, DONE[action] if stepped != saved else f"There is nothing to {action}.")
    except ConflictError:
        return _editor(state, conflict=True)
    state = replace(state, draft=saved, revision=saved.revision)
    if action.startswith("library "):
        return _editor(_saved_question(state, action))
    return _to_publish(state) if action == "publish" else _editor(state)


@dataclass(frozen=True)
class _EditorState:
    """State of the editor page.

    Attributes:
        draft: The stored draft.
        fields: The values of the fields.
        document: The document of the fields.
        n: The planned number of respondents.
        revision: The revision that the page shows.
        note: The author's notes.
        focus: The id of the field that gets the focus.
        wrong_n: The messages about an invalid number of respondents.
        message: The effect of the pressed button.
    """

    draft: Draft
    fields: Fields
    document: Mapping[str, Any]
    n: int
    revision: str
    note: str = ""
    focus: str = ""
    wrong_n: tuple[str, ...] = ()
    message: str = ""


def _changed(draft: Draft, form: EditorForm, action: str) -> _EditorState:
    """Returns the state after a button: the fields as they were sent, changed as the button says."""
    fields, n = form.fields, form.n.data if form.n.validate(form) else PLANNED
    before = [question["text"] for question in fields["questions"]]
    focus = apply_action(fields, action, form.new_language.data or "")
    message = action_message(action, before, [question["text"] for question in fields["questions"]])
    fields["id"] = fields["id"] or id_of_title(fields["title"])
    name_items(fields["questions"], lambda: document_in(draft.text))
    document = _document_of(fields)
    if action.startswith("propose "):
        document = apply_proposal(document, n, action.removeprefix("propose "))
        fields, focus = fields_of(document), "outlook"
    if action == "comprehension" and len(fields["questions"]) + len(STATEMENTS) <= MOST_QUESTIONS:
        document = with_check(document)
        fields, focus = fields_of(document), "questions-0-text"
    note = (form.note.data or "").replace("\r\n", "\n") if "note" in request.form else notes_in(draft.text)
    return _EditorState(draft, fields, document, n, form.revision.data or "", note, focus, tuple(form.n.errors), message)


def _text_of(state: _EditorState) -> str:
    """Returns the file of a state: the stored text if nothing has changed, since its author may have laid it out."""
    stored = state.draft.text
    if state.document == document_in(stored) and state.note.strip() == notes_in(stored).strip():
        return stored
    return with_notes(to_yaml(state.document), state.note)


def _saved_question(state: _EditorState, action: str) -> _EditorState:
    """Adds a question to the author's own library, and returns the state with a message."""
    number = action.removeprefix("library ")
    questions = state.document.get("questions", [])
    if not (number.isascii() and number.isdigit()) or int(number[:9]) >= len(questions):
        return state
    question, focus = questions[int(number)], f"library-{number}"
    try:
        text = saved_text(question)
        current_store().saved_questions.add(g.user, text)
    except (ValueError, TooManyQuestionsError) as error:
        return replace(state, focus=focus, message=f"Not saved: {error}.")
    return replace(state, focus=focus, message=f"{quoted(question['text'])} is saved to your questions.")


def _to_publish(state: _EditorState) -> Page:
    """Redirects to the confirmation page if the draft has no problems."""
    survey, _ = check_document(state.document)
    if survey is None or owners_to_ask(state.draft):
        return _editor(state)
    return _editor(state, [ID_IN_USE]) if is_id_taken(survey) else redirect(url_for("publishing.page", draft_id=state.draft.id))


@computed()
def _editor(state: _EditorState, more: list[Problem] | None = None, conflict: bool = False) -> Page:
    form = EditorForm.filled(state.fields, state.n, state.revision, state.note)
    survey, problems = check_document(state.document)
    problems += more or []
    mistakes = {**messages_by_field(problems, state.fields), **({"n": state.wrong_n} if state.wrong_n else {})}
    labels = form.labels
    context: dict[str, Any] = {
        "draft": state.draft,
        "survey": None,
        "expected": None,
        "form": form,
        "mistakes": mistakes,
        "is_missing": is_missing,
        "faults": sum(len(messages) for messages in mistakes.values() if not is_missing(messages)),
        "to_write": sum(len(messages) for messages in mistakes.values() if is_missing(messages)),
        "conflict": conflict,
        "is_saved": not conflict and not any(problem.where == "file" for problem in more or ()),
        "focus": state.focus,
        "message": state.message,
        "steps": current_store().drafts.steps(state.draft.id),
        "owners_to_ask": owners_to_ask(state.draft),
        "lines": question_lines(form, mistakes),
        "open_question": open_question(state.focus, mistakes, len(form.questions)),
        "types": KEYS,
        "survey_keys": survey_keys(),
        "most": MOST_QUESTIONS,
        "field_name": lambda field: field_name(field, labels),
    }
    if survey is not None:
        context |= {"survey": survey, "expected": expected_precision(survey, state.document, state.n), "entry": _entry(survey)}
        context |= {"missing_translations": missing_translations(survey, state.fields)}
    page = render_template("drafts/editor.html", title=title_in(state.draft.text), **context)
    return page, 409 if conflict else 422 if problems and request.method == "POST" else 200


def _entry(survey: Survey) -> str:
    """Returns the fragment of a link that opens the questions: with an unused code, and a group if the survey has groups."""
    code = access_codes.format_code(bytes(access_codes.SECRET_BYTES))
    return urlencode({"code": code, **({"group": survey.groups[0]} if survey.groups else {})})


def _document_of(fields: Fields) -> dict[str, Any]:
    """Returns the document of a form's fields; aborts with 400 if a hidden field is invalid."""
    try:
        return value_of(fields)
    except ValueError as error:
        abort(400, str(error))


# --- edit as a file --------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>/source")
@computed()
def source(draft_id: str) -> Page:
    """Shows a draft as a file."""
    draft = own(draft_id, Role.VIEWER)
    if not may_edit(draft):
        return redirect(url_for("sharing.read", draft_id=draft_id))
    return _source(draft, SourceForm(formdata=None, source=draft.text, revision=draft.revision))


@bp.post("/manage/drafts/<draft_id>/source")
@lanes.computing
@limits.body(MOST_BYTES)
def write(draft_id: str) -> Page:
    """Saves a file as it is, valid or not."""
    draft, form = own(draft_id, Role.EDITOR), SourceForm()
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
    if not form.publish.data or owners_to_ask(draft):
        return _source(draft, saved)
    return (
        _source(draft, saved, [ID_IN_USE], status=422) if is_id_taken(survey) else redirect(url_for("publishing.page", draft_id=draft_id))
    )


def _source(draft: Draft, form: SourceForm, more: list[Problem] | None = None, conflict: bool = False, status: int = 200) -> Page:
    survey, problems = check_text(form.text())
    problems += more or []
    context = {"draft": draft, "form": form, "survey": survey, "problems": problems, "conflict": conflict}
    context["owners_to_ask"] = owners_to_ask(draft)
    return render_template(
        "drafts/source.html", title=title_in(draft.text), has_fields=document_in(draft.text) is not None, **context
    ), status


@bp.get("/manage/drafts/<draft_id>/survey.<any(yaml, json):kind>")
@computed()
def download(draft_id: str, kind: str) -> Page:
    """Downloads a draft as its own YAML, or converted to JSON."""
    draft = own(draft_id, Role.VIEWER)
    try:
        value = parse(draft.text).value
    except SurveyError:
        value = None
    if kind == "json" and value is None:
        abort(409, "the file must be valid YAML to be downloaded as JSON: its source shows the problem")
    name = value["id"] if isinstance(value, Mapping) and re.fullmatch("[a-z0-9_-]{1,64}", str(value.get("id"))) else "survey"
    body = draft.text if kind == "yaml" else to_json(value)
    headers = {"Content-Disposition": f'attachment; filename="{name}.{kind}"'}
    return Response(body, mimetype="application/yaml" if kind == "yaml" else "application/json", headers=headers)


# --- plan and preview ---------------------------------------------------------------------------------------------------------------


@bp.get("/manage/drafts/<draft_id>/plan")
@computed()
def planned(draft_id: str) -> Page:
    """Shows the plan of a draft."""
    draft = own(draft_id, Role.VIEWER)
    if (survey := survey_in(draft.text)) is None:
        return redirect(url_for(".edit", draft_id=draft_id))
    form = PlanForm.of(request.args, survey)
    plan = form.planned(survey)
    context = {"title": survey.title, "survey": survey, "plan_request": form, "plan": plan}
    context |= {"box": protection_of(survey), "stronger": stronger(survey)}
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
    draft = own(draft_id, Role.VIEWER)
    if survey_in(draft.text) is None:
        return redirect(url_for(".edit", draft_id=draft_id))
    code = access_codes.format_code(bytes(access_codes.SECRET_BYTES))
    return render_template(
        "drafts/preview.html", draft=draft, title=title_in(draft.text), code=code, digest=preview_of(draft_id).digest, form=ActionForm()
    )
