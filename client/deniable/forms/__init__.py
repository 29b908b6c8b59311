"""Import of forms: turns an XLSForm, a LimeSurvey or a Qualtrics survey into a survey file, with a report on each row.

Only questions whose answers can be randomized are kept: single choice, multiple choice, and numbers with a minimum and a maximum.
"""

from __future__ import annotations

from deniable.forms.decisions import Decisions
from deniable.forms.mapper import map_form
from deniable.forms.reading import form_kind, read_foreign, read_form
from deniable.forms.report import ImportedForm, Mending, ReportLine

__all__ = ["Decisions", "ImportedForm", "Mending", "ReportLine", "form_kind", "map_form", "read_foreign", "read_form"]
