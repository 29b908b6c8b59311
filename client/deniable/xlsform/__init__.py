"""An XLSForm, as ODK and Kobo have them, becomes the document of a survey, with a report of what was mapped, changed and refused, and why.

Only what can be asked behind coins is kept: one of several options, several of them, and numbers between two ends.
"""

from __future__ import annotations

from deniable.xlsform.mapper import Imported, Line, read_xlsform
from deniable.xlsform.workbook import is_workbook

__all__ = ["Imported", "Line", "is_workbook", "read_xlsform"]
