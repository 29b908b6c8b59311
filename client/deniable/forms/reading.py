"""Readers of foreign forms by the kind of file."""

from __future__ import annotations

import re
from pathlib import Path

from deniable.errors import Problem, SurveyError
from deniable.extras import missing
from deniable.forms.decisions import Decisions
from deniable.forms.foreign import ForeignForm
from deniable.forms.limesurvey import reader as limesurvey
from deniable.forms.mapper import map_form
from deniable.forms.qualtrics import reader as qualtrics
from deniable.forms.report import ImportedForm
from deniable.forms.xlsform.workbook import is_workbook

XLSFORM, LIMESURVEY, QUALTRICS = "XLSForm", "LimeSurvey", "Qualtrics"
_LIMESURVEY = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:\?xml|document|!DOCTYPE)")


def form_kind(raw: bytes) -> str:
    """Returns which kind of form a file is; empty for any other file."""
    if is_workbook(raw):
        return XLSFORM
    if _LIMESURVEY.match(raw):
        return LIMESURVEY
    return QUALTRICS if raw.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{") and b'"SurveyElements"' in raw else ""


def read_foreign(raw: bytes, name: str) -> ForeignForm:
    """Reads a form into its own words.

    Args:
        raw: The bytes of the file.
        name: The title of a form without one.

    Raises:
        SurveyError: It is no form.
        MissingExtraError: It is a workbook, and the extra `deniable[xlsform]` is missing.
    """
    kind = form_kind(raw)
    if kind == XLSFORM:
        if error := missing("reading an XLSForm", "xlsform"):
            raise error
        from deniable.forms.xlsform.reader import read

        return read(raw, name)
    if kind == LIMESURVEY:
        return limesurvey.read(raw, name)
    if kind == QUALTRICS:
        return qualtrics.read(raw, name)
    raise SurveyError([Problem("file", "must be a form: a workbook (.xlsx, .xls), or a survey of LimeSurvey (.lss) or Qualtrics (.qsf)")])


def read_form(form: Path | bytes, name: str = "", decisions: Decisions | None = None) -> ImportedForm:
    """Reads a form and maps it to a survey.

    Args:
        form: The path of the file, or its bytes.
        name: The title of a form without one. By default the name of the file.
        decisions: The decisions of its author.

    Raises:
        SurveyError: It is no form.
        OSError: The file cannot be read.
        MissingExtraError: It is a workbook, and the extra `deniable[xlsform]` is missing.
    """
    raw = form if isinstance(form, bytes) else form.read_bytes()
    return map_form(read_foreign(raw, name or (form.stem if isinstance(form, Path) else "survey")), decisions)
