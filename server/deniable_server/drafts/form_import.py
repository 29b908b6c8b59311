"""Import of foreign forms into drafts: asks the author what the import cannot decide, then starts the draft.

The uploaded form travels in the page, compressed, until the draft starts: the server keeps nothing of it.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from flask import g, render_template, request

from deniable.errors import Problem, SurveyError
from deniable.forms import ImportedForm, Mending, map_form, read_foreign
from deniable.forms.mending import decide
from deniable.survey.dump import to_yaml
from deniable_server.context import current_store
from deniable_server.drafts.editor.draft_text import document_in, survey_in
from deniable_server.drafts.editor.fields import fields_of
from deniable_server.drafts.editor.missing_translations import missing_translations
from deniable_server.pages.forms import ActionForm
from deniable_server.pages.routes import Page
from deniable_server.web.offload import UPLOAD_SECONDS, computed

FIELD = "form_file"
"""The name of the field with the form in a page that asks for decisions."""
MOST_CARRIED = 300_000  # characters of a form in a page: what is over it is imported without questions
MOST_UNPACKED = 8 << 20
PARTS = {
    "numbers": ("Numbers without a range", "Enter the least and greatest number, or leave them empty to leave the question out."),
    "conditions": ("Conditions that a survey cannot express", "Decide who is asked."),
    "texts": ("Texts that show an earlier answer", "Write them without it."),
    "notes": ("Texts without a question", "Decide where they go."),
    "others": ("Options “Other”", "A survey has no text for them."),
}
"""The parts of the page by the kinds of decisions: a heading and a hint."""

Values = dict[str, dict[str, Any]]
"""An author's entries, by kind of decision and row."""


def import_upload(raw: bytes, file_name: str) -> Page:
    """Starts a draft from an uploaded form, or asks for decisions first."""
    name = re.sub(r"\.\w+$", "", file_name) or "survey"
    imported = _imported(raw, name, None)
    carried = _packed(raw)
    if imported.mendings and imported.document["questions"] and len(carried) <= MOST_CARRIED:
        return _questions_page(imported, carried, name, {}, [])
    return _start(imported)


def import_decided() -> Page:
    """Starts a draft from the form that a page carries, with the author's decisions."""
    carried, name = request.form[FIELD], request.form.get("name", "survey")
    raw = _unpacked(carried)
    plain = _imported(raw, name, None)
    values = _entered(plain.mendings)
    try:
        return _start(_imported(raw, name, values))
    except SurveyError as error:
        return _questions_page(plain, carried, name, values, error.problems), 422


@computed(UPLOAD_SECONDS)
def _imported(raw: bytes, name: str, values: Values | None) -> ImportedForm:
    """Returns a form as a survey, with an author's decisions if there are any."""
    foreign = read_foreign(raw, name)
    imported = map_form(foreign)
    return imported if values is None else map_form(foreign, decide(values, imported.mendings))


def _start(imported: ImportedForm) -> Page:
    """Starts a draft and reports the import of each row."""
    draft = current_store().drafts.begin(g.user, to_yaml(imported.document))
    survey, fields = survey_in(draft.text), fields_of(document_in(draft.text) or {})
    gaps = missing_translations(survey, fields) if survey else ()
    context = {"title": imported.document["title"], "report": imported.report, "missing_translations": gaps}
    return render_template("drafts/imported.html", draft=draft, form=ActionForm(), **context)


def _questions_page(imported: ImportedForm, carried: str, name: str, values: Values, problems: Sequence[Problem]) -> str:
    """Returns the page that asks for decisions, with the entries of the last time."""
    entries = [(index, mending, _value(mending, values)) for index, mending in enumerate(imported.mendings)]
    context = {"entries": entries, "parts": PARTS, "problems": problems, "carried": carried, "name": name, "field": FIELD}
    return render_template("drafts/mending.html", title=imported.document["title"], form=ActionForm(), **context)


def _value(mending: Mending, values: Values) -> Any:
    return values.get(mending.decision, {}).get(mending.name, mending.proposal)


def _entered(mendings: Sequence[Mending]) -> Values:
    """Returns what the page's fields contain; a field that is missing leaves the proposal."""
    values: Values = {}
    for index, mending in enumerate(mendings):
        fields: Mapping[str, str] = mending.proposal if isinstance(mending.proposal, Mapping) else {}
        entered: Any = {key: request.form.get(f"m{index}.{key}", proposal) for key, proposal in fields.items()}
        values.setdefault(mending.decision, {})[mending.name] = entered or request.form.get(f"m{index}", mending.proposal)
    return values


def _packed(raw: bytes) -> str:
    return base64.b64encode(zlib.compress(raw)).decode("ascii")


def _unpacked(carried: str) -> bytes:
    """Returns the form that a page carries.

    Raises:
        SurveyError: It is not what this server has put there, or is too large.
    """
    unpacker = zlib.decompressobj()
    try:
        raw = unpacker.decompress(base64.b64decode(carried, validate=True), MOST_UNPACKED)
    except (ValueError, binascii.Error, zlib.error):
        raise SurveyError([Problem("file", "must be uploaded again: the page has lost it")]) from None
    if unpacker.unconsumed_tail:
        raise SurveyError([Problem("file", f"must be at most {MOST_UNPACKED >> 20} MiB when it is unpacked, got more")])
    return raw
