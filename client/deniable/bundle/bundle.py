"""All that a survey has to download, in one archive or each file by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.resources import files
from tempfile import TemporaryFile
from typing import IO

from deniable import archive
from deniable.bundle import codebook, delimited, figures, parquet, report, spss, stata, texts, workbook
from deniable.bundle.counted import Counted
from deniable.bundle.variables import Variable, variables
from deniable.errors import EstimateError
from deniable.estimate import Results
from deniable.extras import available, extra_of
from deniable.survey import Survey

_CHUNK = 1 << 20
_Rows = Callable[[Counted, tuple[Variable, ...], IO[bytes]], None]
_ROWS: Mapping[str, tuple[_Rows, str, str]] = {
    "rows.csv": (delimited.write, "the rows as CSV", "text/csv"),
    "rows.parquet": (parquet.write, "the rows as Parquet", "application/vnd.apache.parquet"),
    "rows.sav": (spss.write, "the rows for SPSS, with labels", "application/x-spss-sav"),
    "rows.dta": (stata.write, "the rows for Stata (14 or later), with labels", "application/x-stata-dta"),
    "rows.xlsx": (
        workbook.write,
        "the rows as a workbook, with labels",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ),
}
_TEXTS: Mapping[str, tuple[str, str]] = {
    "codebook.md": ("what each column and value means, with the exact odds, to be read", "text/markdown"),
    "codebook.json": ("the same for programs", "application/json"),
    "codebook.csv": ("the same as a table, which the scripts read", "text/csv"),
    "survey.json": ("the definition as it was published; its SHA-256 is the survey's digest", "application/json"),
    "estimates.csv": ("every figure of the results page, unrounded", "text/csv"),
    "estimates.json": ("the same with all that the results say", "application/json"),
    "reproduce.py": ("computes every figure again: Python with numpy and pandas", "text/x-python"),
    "reproduce.R": ("computes every figure again: R alone", "text/plain"),
    "report.html": ("the report, with its charts", "text/html"),
}
_DOCUMENT = ("the report, to be edited", "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
_ABOUT: Mapping[str, tuple[str, str]] = {
    "datasheet.md": ("how the data came about, and what they are not good for", "text/markdown"),
    "LICENCE.txt": ("what others may do with them", "text/plain"),
}


FILES: Mapping[str, str] = {
    "README.md": "what is here, and how to use it",
    **{name: what for name, (_, what, _) in _ROWS.items()},
    **{name: what for name, (what, _) in _TEXTS.items()},
    "report.docx": _DOCUMENT[0],
    **{name: what for name, (what, _) in _ABOUT.items()},
}
"""The files that every survey has, in the order of the archive, and what each is. There are the charts, besides."""


@dataclass(frozen=True)
class Item:
    """One file of a bundle. what: in words. write: writes it."""

    what: str
    media_type: str
    write: Callable[[IO[bytes]], None]


class Bundle:
    """The files of a survey's counted records. The same records give the same files, byte for byte.

    licence: one of `LICENCES`. Raises EstimateError for another.
    """

    def __init__(self, counted: Counted, licence: str = "cc-by-4.0") -> None:
        if licence not in texts.LICENCES:
            raise EstimateError(f"licence must be one of {', '.join(texts.LICENCES)}, got {licence!r}")
        self.counted = counted
        self.licence = licence

    @cached_property
    def left_out(self) -> Mapping[str, str]:
        """The files that cannot be made here, or of so many records, and why."""
        return left_out(self.counted.survey, self.counted.n)

    @cached_property
    def items(self) -> Mapping[str, Item]:
        """The files by their names, in the order of the archive; a chart for each question."""
        made = {name: Item(what, kind, partial(write, self.counted, self._columns)) for name, (write, what, kind) in _ROWS.items()}
        made |= {name: self._text(name, *told) for name, told in _TEXTS.items()}
        made["report.docx"] = Item(*_DOCUMENT, lambda file: report.write_document(self._report, file))
        for number, question in enumerate(self.counted.survey.questions, start=1):
            name = f"charts/{number:0{len(str(len(self.counted.survey.questions)))}d}-{question.id}.svg"
            made[name] = Item("the chart of a question", "image/svg+xml", _bytes(partial(self._chart, question.id, question.text)))
        made |= {name: self._text(name, *told) for name, told in _ABOUT.items()}
        made = {name: item for name, item in made.items() if name not in self.left_out}
        listed = {name: item.what for name, item in made.items() if not name.startswith("charts/")} | {
            "charts/": "a chart for each question (SVG)"
        }
        about = partial(texts.readme, self.counted, self.licence, listed, self.left_out)
        return {"README.md": Item(FILES["README.md"], "text/markdown", _bytes(about)), **made}

    def write(self, name: str, file: IO[bytes]) -> None:
        """Writes one of the files. Raises EstimateError for a name that is none, or one that is left out, with the reason."""
        if name not in self.items:
            why = (
                f"{name} is left out: {self.left_out[name]}"
                if name in self.left_out
                else f"the file must be one of {', '.join(self.items)}"
            )
            raise EstimateError(why)
        self.items[name].write(file)

    def write_zip(self, file: IO[bytes]) -> None:
        """Writes all of them, and SHA256SUMS, which has the hash of each."""
        archive.write(file, self._entries())

    def _entries(self) -> Iterator[archive.ArchiveEntry]:
        sums: list[str] = []
        for name, item in self.items.items():
            yield archive.ArchiveEntry(name, partial(_hashed, name, item, sums), self._most(name))
        yield archive.text_entry("SHA256SUMS", "".join(sums).encode())

    def _most(self, name: str) -> int:
        return self.counted.n * len(self._columns) * 8 if name in _ROWS else 0

    @property
    def _columns(self) -> tuple[Variable, ...]:
        return self.counted.columns

    @cached_property
    def results(self) -> tuple[Results, ...]:
        """The figures of all choices of records, as `figures.of` gives them."""
        return figures.of(self.counted)

    @cached_property
    def _report(self) -> list[report.Part]:
        return list(report.parts(self.counted, self.results, self.licence))

    def _chart(self, question: str, title: str) -> str:
        return report.picture(self.results[0][question], title)

    def _text(self, name: str, what: str, media_type: str) -> Item:
        make: Mapping[str, Callable[[], str | bytes]] = {
            "codebook.md": lambda: codebook.to_markdown(self.counted, self._columns),
            "codebook.json": lambda: codebook.to_json(self.counted, self._columns),
            "codebook.csv": lambda: codebook.to_csv(self._columns),
            "survey.json": lambda: self.counted.survey.definition,
            "estimates.csv": lambda: figures.to_csv(self.results),
            "estimates.json": lambda: figures.to_json(self.results),
            "reproduce.py": lambda: _script("reproduce.py.txt"),
            "reproduce.R": lambda: _script("reproduce.R"),
            "report.html": lambda: report.to_html(self._report),
            "datasheet.md": lambda: texts.datasheet(self.counted, self.licence),
            "LICENCE.txt": lambda: texts.LICENCES[self.licence] + "\n",
        }
        return Item(what, media_type, _bytes(make[name]))


def left_out(survey: Survey, n: int) -> Mapping[str, str]:
    """The files that cannot be made here, or not of n records, and why."""
    needs = {"rows.parquet": "parquet", "report.docx": "docx"}
    absent = {name: f"the server lacks the extra {extra_of(need)}" for name, need in needs.items() if not available(need)}
    large = workbook.too_large(n, len(variables(survey)))
    return absent | ({"rows.xlsx": large} if large else {})


def _script(name: str) -> bytes:
    return files("deniable.bundle").joinpath("scripts", name).read_bytes()


def _bytes(make: Callable[[], str | bytes]) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        made = make()
        file.write(made.encode() if isinstance(made, str) else made)

    return write


def _hashed(name: str, item: Item, sums: list[str], file: IO[bytes]) -> None:
    """Writes a file, and adds its hash to the sums."""
    with TemporaryFile() as made:
        item.write(made)
        made.seek(0)
        digest = hashlib.sha256()
        while chunk := made.read(_CHUNK):
            digest.update(chunk)
            file.write(chunk)
    sums.append(f"{digest.hexdigest()}  {name}\n")
