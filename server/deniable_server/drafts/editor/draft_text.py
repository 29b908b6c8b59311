"""Draft parsing: the document for the form editor, the survey or its problems, the title."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from deniable.errors import Problem, SurveyError
from deniable.survey import Survey
from deniable.survey.copies import file_of_definition
from deniable.survey.document import parse
from deniable_server.drafts.editor.fields import is_editable
from deniable_server.web.offload import UPLOAD_SECONDS, computed

MOST_QUESTIONS = 100  # in the form editor; larger surveys are edited as a file
_TITLE = re.compile(r"^[^\w#]{0,3}title\W{1,4}(.*)$", re.MULTILINE)
_ID = re.compile(r"""^[^\w#]{0,3}id\W{1,4}([\w-]{1,64})["',\s]*$""", re.MULTILINE)


_MARK = re.compile(r"""(?:^|[{,])\s*["']?deniable["']?\s*:""", re.MULTILINE)
NO_SURVEY = "a survey file must have the line `deniable: 1`: this text was not saved"


@computed(UPLOAD_SECONDS)
def document_in(text: str) -> dict[str, Any] | None:
    """Returns the document of a text if the form editor can show it, else None."""
    try:
        document = parse(text)
    except SurveyError:
        return None
    fits = is_editable(document.value) and len(document.value.get("questions", [])) <= MOST_QUESTIONS
    return document.value if fits and not document.problems and _is_text(document.value) else None


def _is_text(value: Any) -> bool:
    """Returns whether a page can show all texts of a value: an escaped lone surrogate is not a character."""
    try:
        return bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


def is_survey_file(text: str) -> bool:
    """Returns whether a text declares itself a survey file, valid or not. Other texts may contain answers and are not stored."""
    return _MARK.search(text) is not None


@computed(UPLOAD_SECONDS)
def definition_as_file(text: str) -> str | None:
    """Returns the survey file of a downloaded definition, or None for any other text."""
    return file_of_definition(text)


@computed(UPLOAD_SECONDS)
def check_document(document: Mapping[str, Any]) -> tuple[Survey | None, list[Problem]]:
    """Returns the survey of a document, or its problems."""
    try:
        return Survey.from_dict(document), []
    except SurveyError as error:
        return None, list(error.problems)


@computed(UPLOAD_SECONDS)
def check_text(text: str) -> tuple[Survey | None, list[Problem]]:
    """Returns the survey of a text, or its problems."""
    try:
        return Survey.from_text(text), []
    except SurveyError as error:
        return None, list(error.problems)


@computed(UPLOAD_SECONDS)
def survey_in(text: str) -> Survey | None:
    """Returns the survey of a text, or None if it has problems."""
    try:
        return Survey.from_text(text)
    except SurveyError:
        return None


def title_in(text: str) -> str:
    """Returns the first title in a text, without parsing the file."""
    match = _TITLE.search(text[:10_000])
    title = match[1].rstrip("\"', \t\r").strip()[:200] if match else ""
    return title if title not in ("", "|", ">") else "Untitled"


def id_in(text: str) -> str:
    """Returns the first id in a text, without parsing the file; empty without one."""
    match = _ID.search(text[:10_000])
    return match[1] if match else ""
