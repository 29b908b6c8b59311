"""Files for translators: downloads a draft's texts as a table, and imports the translated table into the draft."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import Response, abort, redirect, render_template, request, url_for

from deniable.errors import MissingExtraError, SurveyError
from deniable.extras import available
from deniable.survey.document import MAX_BYTES, parse
from deniable.survey.dump import to_yaml
from deniable.survey.translation import language_problem
from deniable.translation_files import translation_tables
from deniable.translation_files.translatable_texts import own_language, translatable_texts, translated_languages
from deniable.translation_files.translation_import import TranslationImport, import_translations
from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import title_in
from deniable_server.drafts.editor.fields import is_editable
from deniable_server.drafts.editor.missing_translations import english_name
from deniable_server.drafts.editor.notes import notes_in, with_notes
from deniable_server.drafts.own_drafts import may_edit, own
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page, routes
from deniable_server.store.drafts import Draft
from deniable_server.store.errors import ConflictError
from deniable_server.store.roles import Role
from deniable_server.web import lanes, limits
from deniable_server.web.offload import UPLOAD_SECONDS, computed

bp = routes("translations", __name__)

MOST_UPLOAD = translation_tables.MOST_BYTES + (64 << 10)  # of a form with the file
_TYPES = {"csv": "text/csv; charset=utf-8", "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}


class LanguageProgress(NamedTuple):
    """A language of a draft: its tag, its English name, and how many of its texts are translated."""

    tag: str
    name: str
    translated: int
    total: int


@bp.get("/manage/drafts/<draft_id>/translations")
@computed()
def page(draft_id: str) -> Page:
    """Lists the languages of a draft with their files."""
    return _page(own(draft_id, Role.VIEWER))


@bp.get("/manage/drafts/<draft_id>/translations/file")
@computed()
def download(draft_id: str) -> Page:
    """Downloads the texts of a draft for the translator of one language."""
    draft = own(draft_id, Role.VIEWER)
    language, ending = request.args.get("language", "").strip(), request.args.get("ending", "csv")
    document = _document(draft.text)
    if document is None:
        return redirect(url_for("drafting.edit", draft_id=draft_id))
    if ending not in _TYPES or (ending == "xlsx" and not available("xlsx")):
        abort(404)
    if broken := _language_problem(language, document):
        return _page(draft, broken, 400)
    write = translation_tables.to_workbook if ending == "xlsx" else translation_tables.to_csv
    name = document.get("id") if re.fullmatch("[a-z0-9_-]{1,64}", str(document.get("id"))) else "survey"
    headers = {"Content-Disposition": f'attachment; filename="{name}-{language}.{ending}"'}
    return Response(write(document, language), content_type=_TYPES[ending], headers=headers)


@bp.post("/manage/drafts/<draft_id>/translations")
@lanes.computing
@limits.body(MOST_UPLOAD)
def upload(draft_id: str) -> Page:
    """Imports a translated file into a draft, and reports each row that it cannot import."""
    draft = own(draft_id, Role.EDITOR)
    file = request.files.get("file")
    raw = file.read() if file else b""
    if not raw:
        return _page(draft, "Choose a file that is not empty.", 422)
    try:
        result = _imported(draft.text, raw)
    except (SurveyError, MissingExtraError) as error:
        return _page(draft, str(error), 422)
    if not result.imported:
        return _page(draft, result=result)
    text = with_notes(to_yaml(result.document), notes_in(draft.text))
    if len(text.encode()) > MAX_BYTES:
        return _page(draft, f"The draft would have more than {MAX_BYTES:,} bytes. Nothing was imported.", 422)
    try:
        draft = current_store().drafts.save(draft_id, text, draft.revision)
    except ConflictError:
        return _page(draft, "The draft has just changed in another window. Nothing was imported: upload the file again.", 409)
    return _page(draft, result=result)


@computed(UPLOAD_SECONDS)
def _document(text: str) -> dict[str, Any] | None:
    """Returns the document of a draft of any length, or None if it is no valid YAML or has another structure."""
    try:
        document = parse(text)
    except SurveyError:
        return None
    return document.value if is_editable(document.value) and not document.problems else None


@computed(UPLOAD_SECONDS)
def _imported(text: str, raw: bytes) -> TranslationImport:
    """Returns a draft with the translations of a file."""
    table = translation_tables.read_table(raw)
    return import_translations(_document(text) or {}, table)


def _language_problem(language: str, document: Mapping[str, Any]) -> str | None:
    """Returns why a language can have no translations, or None if it can."""
    if broken := language_problem(language):
        return f"The language {broken}."
    if language.lower() == own_language(document).lower():
        return "The survey itself is in this language. Choose another one."
    return None


def _page(draft: Draft, problem: str = "", status: int = 200, result: TranslationImport | None = None) -> Page:
    document = _document(draft.text)
    if document is None:
        return redirect(url_for("drafting.edit", draft_id=draft.id))
    context: dict[str, Any] = {
        "title": title_in(draft.text),
        "own": english_name(own_language(document)),
        "languages": [_progress(document, tag) for tag in translated_languages(document)],
        "endings": [ending for ending in ("xlsx", "csv") if ending == "csv" or available("xlsx")],
        "may_edit": may_edit(draft),
        "problem": problem,
        "result": result,
        "result_language": english_name(result.language) if result else "",
    }
    return render_template("drafts/translations.html", draft=draft, form=ActionForm(), **context), status


def _progress(document: Mapping[str, Any], tag: str) -> LanguageProgress:
    texts = translatable_texts(document, tag)
    return LanguageProgress(tag, english_name(tag), sum(bool(text.translation) for text in texts), len(texts))
