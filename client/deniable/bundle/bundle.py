"""Files of a bundle, in one archive or each by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import resources
from typing import IO, cast

from deniable import archive
from deniable.bundle import codebook, data_package, ddi, delimited, figures, parquet, pdf, report, spss, stata, texts, workbook
from deniable.bundle.counted_records import CountedRecords
from deniable.bundle.variables import Variable, variables
from deniable.errors import EstimateError
from deniable.estimate import Results
from deniable.extras import lack_of
from deniable.survey import Survey

_WriteRows = Callable[[CountedRecords, tuple[Variable, ...], IO[bytes]], None]
_ROWS: Mapping[str, tuple[_WriteRows, str, str]] = {
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
    "codebook.md": ("each column, value and question, with the exact chances of its coins", "text/markdown"),
    "codebook.json": ("the same for programs", "application/json"),
    "codebook.csv": ("the same as a table, which the scripts read", "text/csv"),
    "codebook.xml": ("the codebook for data archives (DDI-Codebook 2.5)", "application/xml"),
    "datapackage.json": ("a description of the tables for programs (Data Package)", "application/json"),
    "survey.json": ("the published definition; its SHA-256 is the survey's digest", "application/json"),
    "estimates.csv": ("every figure of the results page, unrounded", "text/csv"),
    "estimates.json": ("the same with all details", "application/json"),
    "reproduce.py": ("recomputes every figure: Python with numpy and pandas", "text/x-python"),
    "reproduce.R": ("recomputes every figure: R alone", "text/plain"),
    "report.html": ("the report, with its charts", "text/html"),
}
_DOCUMENT = ("the report, for editing", "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
_PRINTED = ("the report, with its charts, to print; not in the archive", "application/pdf")
_TABLES = ("rows.csv", "codebook.csv", "estimates.csv")
"""The tables that datapackage.json describes."""
_APART = ("report.pdf",)
"""Files that are not in the archive: a PDF takes much longer than all others, and its bytes depend on the fonts."""

_ABOUT: Mapping[str, tuple[str, str]] = {
    "datasheet.md": ("how the data were collected, and what they should not be used for", "text/markdown"),
    "LICENCE.txt": ("what others may do with the data", "text/plain"),
}


FILES: Mapping[str, str] = {
    "README.md": "this list, and how to use the files",
    **{name: description for name, (_, description, _) in _ROWS.items()},
    **{name: description for name, (description, _) in _TEXTS.items()},
    "report.docx": _DOCUMENT[0],
    "report.pdf": _PRINTED[0],
    **{name: description for name, (description, _) in _ABOUT.items()},
}
"""The description of each file that every survey has, in the order of the archive. The charts come besides."""


@dataclass(frozen=True)
class BundleFile:
    """A file of a bundle.

    Attributes:
        description: A few words about its content.
        media_type: Its media type.
        write: Writes it.
    """

    description: str
    media_type: str
    write: Callable[[IO[bytes]], None]


class Bundle:
    """The files of a survey's counted records. The same records give the same files, byte for byte.

    Args:
        counted: The records.
        licence: One of `LICENCES`.

    Raises:
        EstimateError: The licence is unknown.
    """

    def __init__(self, counted: CountedRecords, licence: str = "cc-by-4.0") -> None:
        if licence not in texts.LICENCES:
            raise EstimateError(f"licence must be one of {', '.join(texts.LICENCES)}, got {licence!r}")
        self.counted = counted
        self.licence = licence
        self._hashes: dict[str, data_package.FileHash] = {}

    @cached_property
    def omitted_files(self) -> Mapping[str, str]:
        """The files that cannot be made here, or not of so many records, each with the reason."""
        return omitted_files(self.counted.survey, self.counted.n)

    @cached_property
    def files(self) -> Mapping[str, BundleFile]:
        """The files by their names, in the order of the archive; there is a chart for each question."""
        rows = {name: BundleFile(description, kind, partial(write, *self._table)) for name, (write, description, kind) in _ROWS.items()}
        data = rows | {name: self._text(name, *entry) for name, entry in _TEXTS.items()}
        data["report.docx"] = BundleFile(*_DOCUMENT, lambda file: report.write_document(self._report, file))
        data["report.pdf"] = BundleFile(*_PRINTED, lambda file: pdf.write_pdf(self._report, file, author=self.counted.survey.institution))
        about = {name: self._text(name, *entry) for name, entry in _ABOUT.items()}
        files = {name: entry for name, entry in (data | self._charts() | about).items() if name not in self.omitted_files}
        descriptions = {name: entry.description for name, entry in (data | about).items() if name in files and name not in _APART}
        readme = partial(
            texts.readme,
            self.counted,
            self.licence,
            descriptions | {"charts/": "a chart for each question (SVG)"},
            {name: why for name, why in self.omitted_files.items() if name not in _APART},
        )
        return {"README.md": BundleFile(FILES["README.md"], "text/markdown", _writer(readme)), **files}

    def write(self, name: str, file: IO[bytes]) -> None:
        """Writes one of the files.

        Raises:
            EstimateError: The name is unknown, or the file is omitted; the message has the reason.
        """
        self.file(name).write(file)

    def file(self, name: str) -> BundleFile:
        """Returns one of the files. Raises EstimateError as `write` does."""
        if name in self.omitted_files:
            raise EstimateError(f"{name} is left out: {self.omitted_files[name]}")
        if name not in self.files:
            raise EstimateError(f"the file must be one of {', '.join(self.files)}")
        return self.files[name]

    def write_zip(self, file: IO[bytes], folder: str = "") -> None:
        """Writes an archive of all files except the PDF, and of SHA256SUMS with the hash of each.

        With `folder`, they are in a folder of this name.
        """
        archive.write(file, (entry._replace(name=f"{folder}/{entry.name}") if folder else entry for entry in self._entries()))

    def _entries(self) -> Iterator[archive.ArchiveEntry]:
        sums: list[str] = []
        for name, entry in self.files.items():
            if name in _APART:
                continue
            yield archive.ArchiveEntry(name, partial(self._write_hashed, name, entry, sums), self._most_bytes(name))
        yield archive.text_entry("SHA256SUMS", "".join(sums).encode())

    def _most_bytes(self, name: str) -> int:
        return self.counted.n * len(self._columns) * 8 if name in _ROWS else 0

    @property
    def _columns(self) -> tuple[Variable, ...]:
        return self.counted.columns

    @property
    def _table(self) -> tuple[CountedRecords, tuple[Variable, ...]]:
        return self.counted, self._columns

    @cached_property
    def results(self) -> tuple[Results, ...]:
        """The figures of every selection of records, as `figures.estimate_all` returns them."""
        return figures.estimate_all(self.counted)

    @cached_property
    def _report(self) -> list[report.ReportSection]:
        return list(report.sections(self.counted, self.results, self.licence))

    def _hash(self, name: str) -> data_package.FileHash:
        """Returns the size and hash of a file, which is written for it once."""
        if name not in self._hashes:
            self._hashes[name] = _hash_written(self.files[name], None)
        return self._hashes[name]

    def _write_hashed(self, name: str, entry: BundleFile, sums: list[str], file: IO[bytes]) -> None:
        """Writes a file, adds its hash to `sums`, and keeps it for the files that state it."""
        self._hashes[name] = _hash_written(entry, file)
        sums.append(f"{self._hashes[name].sha256}  {name}\n")

    def _charts(self) -> dict[str, BundleFile]:
        questions = self.counted.survey.questions
        digits = len(str(len(questions)))
        return {
            f"charts/{number:0{digits}d}-{question.id}.svg": BundleFile(
                "the chart of a question", "image/svg+xml", _writer(partial(self._chart, question.id, question.label))
            )
            for number, question in enumerate(questions, start=1)
        }

    def _chart(self, question: str, title: str) -> str:
        return report.picture(self.results[0][question], title)

    def _text(self, name: str, description: str, media_type: str) -> BundleFile:
        make: Mapping[str, Callable[[], str | bytes]] = {
            "codebook.md": lambda: codebook.to_markdown(*self._table),
            "codebook.json": lambda: codebook.to_json(*self._table),
            "codebook.csv": lambda: codebook.to_csv(self._columns),
            "codebook.xml": lambda: ddi.to_xml(*self._table, self.licence, self._hash("rows.csv")),
            "datapackage.json": lambda: data_package.to_json(*self._table, self.licence, {name: self._hash(name) for name in _TABLES}),
            "survey.json": lambda: self.counted.survey.definition,
            "estimates.csv": lambda: figures.to_csv(self.results),
            "estimates.json": lambda: figures.to_json(self.results),
            "reproduce.py": lambda: _script("reproduce.py.txt"),
            "reproduce.R": lambda: _script("reproduce.R"),
            "report.html": lambda: report.to_html(self._report, author=self.counted.survey.institution),
            "datasheet.md": lambda: texts.datasheet(self.counted, self.licence),
            "LICENCE.txt": lambda: texts.LICENCES[self.licence] + "\n",
        }
        return BundleFile(description, media_type, _writer(make[name]))


class _Hash:
    """A stream that keeps only its size and hash, and passes its bytes to `file` if there is one."""

    closed = False

    def __init__(self, file: IO[bytes] | None) -> None:
        self.size, self.digest, self._file = 0, hashlib.sha256(), file

    def write(self, part: bytes) -> int:
        """Adds bytes."""
        length = memoryview(part).nbytes
        self.size += length
        self.digest.update(part)
        if self._file:
            self._file.write(part)
        return length

    def flush(self) -> None:
        """Returns at once: nothing is held back."""


def _hash_written(entry: BundleFile, file: IO[bytes] | None) -> data_package.FileHash:
    """Writes an entry to `file`, if there is one, and returns its size and hash."""
    stream = _Hash(file)
    entry.write(cast("IO[bytes]", stream))
    return data_package.FileHash(stream.size, stream.digest.hexdigest())


def omitted_files(survey: Survey, n: int) -> Mapping[str, str]:
    """Returns the files that cannot be made here, or not of n records, each with the reason."""
    needs = {"rows.parquet": "parquet", "report.docx": "docx", "report.pdf": "pdf"}
    absent = {name: f"the server lacks {lack}" for name, need in needs.items() if (lack := lack_of(need))}
    reasons = {"rows.xlsx": workbook.too_large(n, len(variables(survey))), "report.pdf": pdf.too_large(survey)}
    return absent | {name: reason for name, reason in reasons.items() if reason and name not in absent}


def _script(name: str) -> bytes:
    return resources.files("deniable.bundle").joinpath("scripts", name).read_bytes()


def _writer(make: Callable[[], str | bytes]) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        content = make()
        file.write(content.encode() if isinstance(content, str) else content)

    return write
