"""XLSForm import: turns a form of ODK or Kobo into a survey file, with a report: each row is mapped, changed or refused, with a reason.

Only questions whose answers can be randomized are kept: single choice, multiple choice, and numbers with a minimum and a maximum.
"""

from __future__ import annotations

from deniable.xlsform.mapper import ImportedForm, ReportLine, read_xlsform
from deniable.xlsform.workbook import is_workbook

__all__ = ["ImportedForm", "ReportLine", "is_workbook", "read_xlsform"]
