"""Pages for ethics boards: the protocol and the information sheet of a draft or a published survey, on screen and as files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

from flask import Response, abort, redirect, render_template, request, url_for

from deniable.bundle.pdf import write_pdf
from deniable.bundle.report import ReportSection, to_html, to_markdown, write_document
from deniable.errors import EstimateError
from deniable.extras import available
from deniable.plan import plan
from deniable.survey import Survey
from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import survey_in
from deniable_server.drafts.editor.forms import PLANNED
from deniable_server.drafts.own_drafts import own
from deniable_server.ethics import information_sheet, protocol_document
from deniable_server.ethics.protocol_document import Study
from deniable_server.pages.forms import MOST_PEOPLE, ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.store.drafts import Draft
from deniable_server.store.protocol import Published
from deniable_server.store.roles import Role
from deniable_server.web.audience import least
from deniable_server.web.languages import tongue_of
from deniable_server.web.offload import computed

bp = routes("ethics", __name__)

KINDS = {
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pdf": "application/pdf",
    "html": "text/html",
    "md": "text/markdown",
}
PROTOCOL = "protocol"


@dataclass(frozen=True)
class EthicsDocument:
    """A document of a study. name: its file's name without the suffix; tag: its language."""

    name: str
    title: str
    tag: str
    direction: str
    sections: tuple[ReportSection, ...]


@bp.get("/manage/surveys/<survey_id>/ethics")
@least(Role.VIEWER)
@computed()
def page(survey_id: str) -> Page:
    """Shows the documents of a published survey."""
    published, study = _published(survey_id)
    context = {"published": published, "draft": None, "study": study, "documents": list(_documents(study))}
    return render_template("ethics/ethics.html", **context, kinds=_kinds(), form=ActionForm())


@bp.get("/manage/surveys/<survey_id>/ethics/<name>")
@least(Role.VIEWER)
@computed()
def document(survey_id: str, name: str) -> Page:
    """Downloads a document of a published survey."""
    return _file(_published(survey_id)[1], name)


@bp.get("/manage/drafts/<draft_id>/ethics")
@computed()
def draft_page(draft_id: str) -> Page:
    """Shows the documents of a draft, or the draft if it has problems."""
    draft = own(draft_id, Role.VIEWER)
    if (survey := survey_in(draft.text)) is None:
        return redirect(url_for("drafting.edit", draft_id=draft_id))
    study = _draft(draft, survey)
    context = {"published": None, "draft": draft, "study": study, "documents": list(_documents(study))}
    return render_template("ethics/ethics.html", **context, kinds=_kinds(), form=ActionForm())


@bp.get("/manage/drafts/<draft_id>/ethics/<name>")
@computed()
def draft_document(draft_id: str, name: str) -> Page:
    """Downloads a document of a draft. Aborts with 404 if the draft has problems."""
    draft = own(draft_id, Role.VIEWER)
    survey = survey_in(draft.text)
    return abort(404) if survey is None else _file(_draft(draft, survey), name)


def _published(survey_id: str) -> tuple[Published, Study]:
    store = current_store()
    published, settings = store.surveys.published(survey_id), store.life.settings(survey_id)
    survey = published.survey
    state = f"The survey {survey.id} was published on {published.published_on} and is {published.state}."
    status = f"{state} SHA-256 of its definition: {survey.digest}."
    return published, Study(survey, plan(survey, n=_people(survey, settings.expected or PLANNED)), status, settings)


def _draft(draft: Draft, survey: Survey) -> Study:
    status = f"DRAFT of {draft.changed_on}: this survey is not published, and may still change."
    return Study(survey, plan(survey, n=_people(survey, PLANNED)), status)


def _people(survey: Survey, default: int) -> int:
    """Returns the number of people in the address, or the default. Raises EstimateError for another value."""
    text = request.args.get("n", "") or str(default)
    if not (text.isascii() and text.isdigit() and len(text) <= 12 and 0 < int(text) <= MOST_PEOPLE):
        raise EstimateError(f"n must be a whole number of people from 1 to {MOST_PEOPLE:,}")
    return int(text)


def _documents(study: Study) -> Iterator[EthicsDocument]:
    """Yields the protocol, and the information sheet in each language of the survey."""
    survey = study.survey
    yield EthicsDocument(PROTOCOL, "Protocol for the ethics board", "en", "ltr", tuple(protocol_document.sections(study)))
    draft = () if study.settings else (study.status,)
    for tag in survey.languages:
        title, *rest = information_sheet.sections(survey, tag)
        marked = ReportSection(title.heading, title.level, (*draft, *title.paragraphs))
        tongue = tongue_of(tag)
        yield EthicsDocument(f"information-{tag}", f"Information sheet: {tongue.name}", tag, tongue.direction, (marked, *rest))


def _file(study: Study, file_name: str) -> Response:
    """Returns a document as a file. Aborts with 404 for an unknown name, or a kind that this server cannot make."""
    name, _, kind = file_name.rpartition(".")
    chosen = next((one for one in _documents(study) if one.name == name), None)
    if chosen is None or kind not in _kinds():
        abort(404)
    report = list(chosen.sections)
    body = io.BytesIO()
    page = (chosen.tag, chosen.direction, study.survey.institution)
    if kind == "docx":
        write_document(report, body)
    elif kind == "pdf":
        write_pdf(report, body, *page)
    else:
        body.write((to_html(report, *page) if kind == "html" else to_markdown(report)).encode())
    headers = {"Content-Disposition": f'attachment; filename="{study.survey.id}-{file_name}"'}
    return Response(body.getvalue(), mimetype=KINDS[kind], headers=headers)


def _kinds() -> tuple[str, ...]:
    """Returns the kinds of files that this server can make."""
    return tuple(kind for kind in KINDS if kind not in ("docx", "pdf") or available(kind))
