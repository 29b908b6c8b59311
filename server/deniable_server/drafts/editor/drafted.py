"""What the text of a draft says: its document where there are fields for it, its survey or its mistakes, its title."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from deniable.errors import Problem, SurveyError
from deniable.survey import Survey
from deniable.survey.document import parse
from deniable_server.drafts.editor.fields import editable
from deniable_server.web.offload import UPLOAD_SECONDS, computed

MOST_QUESTIONS = 100  # for which there are fields; a survey of more is written as a file
_TITLE = re.compile(r"^\W{0,3}title\W{1,4}(.*)$", re.MULTILINE)
_NAME = re.compile(r"""^\W{0,3}id\W{1,4}([\w-]{1,64})["',\s]*$""", re.MULTILINE)


@computed(UPLOAD_SECONDS)
def value_in(text: str) -> dict[str, Any] | None:
    """The document of a text for which there are fields, else None."""
    try:
        document = parse(text)
    except SurveyError:
        return None
    few = editable(document.value) and len(document.value.get("questions", [])) <= MOST_QUESTIONS
    return document.value if few and not document.problems and _is_text(document.value) else None


def _is_text(value: Any) -> bool:
    """Whether it can be written on a page: half of a surrogate pair, which a file can hold escaped, is no character."""
    try:
        return bool(json.dumps(value, ensure_ascii=False).encode())
    except UnicodeEncodeError:
        return False


_MARK = re.compile(r"""(?:^|[{,])\s*["']?deniable["']?\s*:""", re.MULTILINE)
NO_SURVEY = "a survey file has the line `deniable: 1`, and this text has none: it was not kept"


def is_survey_file(text: str) -> bool:
    """Returns whether a text says that it is a survey file, right or wrong. Any other may be a file of answers, and is not kept."""
    return _MARK.search(text) is not None


@computed(UPLOAD_SECONDS)
def checked(value: Mapping[str, Any]) -> tuple[Survey | None, list[Problem]]:
    """The survey of a document, or what is wrong with it."""
    try:
        return Survey.from_dict(value), []
    except SurveyError as error:
        return None, list(error.problems)


@computed(UPLOAD_SECONDS)
def read(text: str) -> tuple[Survey | None, list[Problem]]:
    """Returns the survey of a text, or what is wrong with it."""
    try:
        return Survey.from_text(text), []
    except SurveyError as error:
        return None, list(error.problems)


@computed(UPLOAD_SECONDS)
def survey_in(text: str) -> Survey | None:
    """The survey of a text, None where something is wrong with it."""
    try:
        return Survey.from_text(text)
    except SurveyError:
        return None


def title_in(text: str) -> str:
    """What stands first under the key title, without reading the whole file."""
    found = _TITLE.search(text[:10_000])
    title = found[1].rstrip("\"', \t\r").strip()[:200] if found else ""
    return title if title not in ("", "|", ">") else "Untitled"


def name_in(text: str) -> str:
    """What stands first under the key id, without reading the whole file; empty where nothing does."""
    found = _NAME.search(text[:10_000])
    return found[1] if found else ""


def has_comments(text: str) -> bool:
    """Whether a line of it is a comment."""
    return any(line.lstrip().startswith("#") for line in text.split("\n"))
