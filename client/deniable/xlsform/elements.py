"""Element limits of a workbook: its parts are counted as they are unpacked, before a reader makes an object of each cell.

A few kilobytes unpack to millions of empty cells, styles or texts. The reader takes microseconds for each. The counter keeps nothing, takes
a tenth of that, and stops at the limit.
"""

from __future__ import annotations

from xml.parsers import expat
from zipfile import ZipFile

from deniable.errors import Problem, SurveyError

MOST_CELLS = 200_000
MOST_ELEMENTS = {"worksheet": 5 * MOST_CELLS, "sst": 5 * MOST_CELLS}
"""Of all parts with this root together: cells and texts have elements of their own inside."""
MOST_OTHERS = 100_000
"""Elements of all other parts together, such as styles."""
_PIECE = 1 << 14  # bytes that are unpacked at a time


def refuse_many(archive: ZipFile) -> None:
    """Counts the cells and elements of all parts, whatever their names are.

    Raises:
        SurveyError: There are more than MOST_CELLS cells, or more elements than the limits above.
    """
    counter = _Counter()
    for part in archive.infolist():
        counter.count(archive, part.filename)


class _Counter:
    """Counts over all parts of one workbook."""

    def __init__(self) -> None:
        self._cells = 0
        self._elements: dict[str, int] = {}
        self._root = ""

    def count(self, archive: ZipFile, name: str) -> None:
        """Counts one part up to its end, or to where it is no XML."""
        self._root = ""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        with archive.open(name) as part:
            try:
                while piece := part.read(_PIECE):
                    parser.Parse(piece, False)
            except expat.ExpatError:
                return  # a picture, or what no reader takes either

    def _start(self, name: str, _: object) -> None:
        element = name.rpartition(" ")[2]
        self._root = self._root or (element if element in MOST_ELEMENTS else "other")
        number = self._elements[self._root] = self._elements.get(self._root, 0) + 1
        self._cells += element == "c"
        if self._cells > MOST_CELLS:
            raise SurveyError([Problem("file", f"must have at most {MOST_CELLS:,} cells, empty ones included, got more")])
        if number > MOST_ELEMENTS.get(self._root, MOST_OTHERS):
            raise SurveyError([Problem("file", "must be a workbook of ordinary size: it has more styles, texts or rows than a form needs")])
