"""Element limits of a workbook, checked before a reader makes an object of each cell.

A few kilobytes can unpack to millions of empty cells, styles or texts, and a reader takes microseconds for each. Counting takes a tenth of
that, keeps nothing in memory, and stops at the limit.
"""

from __future__ import annotations

from xml.parsers import expat
from zipfile import ZipFile

from deniable.errors import Problem, SurveyError

MOST_CELLS = 200_000
MOST_ELEMENTS = {"worksheet": 5 * MOST_CELLS, "sst": 5 * MOST_CELLS}
"""The most elements of all parts with this root together; cells and texts contain elements, too."""
MOST_OTHERS = 100_000
"""The most elements of all other parts together, such as styles."""
_CHUNK = 1 << 14  # bytes to unpack at a time


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
        """Counts the elements of one part, up to its end or to the first bytes that are not XML."""
        self._root = ""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.StartElementHandler = self._start
        with archive.open(name) as part:
            try:
                while chunk := part.read(_CHUNK):
                    parser.Parse(chunk, False)
            except expat.ExpatError:
                return  # a picture, or something that no reader accepts either

    def _start(self, name: str, _: object) -> None:
        element = name.rpartition(" ")[2]
        self._root = self._root or (element if element in MOST_ELEMENTS else "other")
        number = self._elements[self._root] = self._elements.get(self._root, 0) + 1
        self._cells += element == "c"
        if self._cells > MOST_CELLS:
            raise SurveyError([Problem("file", f"must have at most {MOST_CELLS:,} cells, empty ones included, got more")])
        if number > MOST_ELEMENTS.get(self._root, MOST_OTHERS):
            raise SurveyError([Problem("file", "must be a workbook of ordinary size: it has more styles, texts or rows than a form needs")])
