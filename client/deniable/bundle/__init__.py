"""Bundle: what researchers download and may publish of a survey, with rows, codebook, estimates, scripts and report.

`Bundle(CountedRecords(survey, sizes, file))` makes one archive, or each file by itself. Needs the extra `deniable[bundle]`; without pyarrow
or python-docx the files that need them are omitted.
"""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.bundle", "estimate"):
    raise error

from deniable.bundle.bundle import FILES, Bundle, BundleFile, omitted_files
from deniable.bundle.counted_records import CountedRecords, order_parts
from deniable.bundle.file_sizes import approximate_sizes
from deniable.bundle.texts import LICENCES, publishable

__all__ = [
    "FILES",
    "LICENCES",
    "Bundle",
    "BundleFile",
    "CountedRecords",
    "approximate_sizes",
    "omitted_files",
    "order_parts",
    "publishable",
]
