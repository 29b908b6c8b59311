"""All that a survey's researcher downloads and may publish: the perturbed rows, what they mean, and what follows from them.

`Bundle(Counted(survey, sizes, file))` makes it of records in a file, in one archive or each file by itself. Needs the extra
`deniable[bundle]`; without pyarrow or python-docx the files are left out that need them.
"""

from __future__ import annotations

from deniable.extras import missing

if error := missing("deniable.bundle", "estimate"):
    raise error

from deniable.bundle.bundle import FILES, Bundle, Item, left_out
from deniable.bundle.counted import Counted, in_order
from deniable.bundle.sizes import about
from deniable.bundle.texts import LICENCES, PUBLISHABLE

__all__ = ["FILES", "LICENCES", "PUBLISHABLE", "Bundle", "Counted", "Item", "about", "in_order", "left_out"]
