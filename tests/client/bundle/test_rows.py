"""The rows in every format, read back by programs that have nothing to do with what wrote them: equal cell for cell, by their labels."""

from __future__ import annotations

import csv
import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pandas as pd
import pyarrow.parquet as pq
import pyreadstat
import pytest
from tests.client.bundle.conftest import SURVEYS, Made, Recorded, counted_of, written

from deniable.bundle import Bundle, approximate_sizes
from deniable.bundle.variables import MISSING, MODE_LABELS, variables
from deniable.wire.part import Part

Columns = Mapping[str, list[int | None]]
Values = Mapping[str, Mapping[int, str]]
Read = tuple[Columns, Values, Mapping[str, str]]
"""The columns; what each of their values stands for; and their labels."""

CUT = "…"
R = """
arguments <- commandArgs(TRUE)
library(haven)
rows <- if (endsWith(arguments[1], ".sav")) read_sav(arguments[1]) else read_dta(arguments[1])
text <- function(x) enc2utf8(as.character(x))
write.csv(as.data.frame(lapply(rows, as.numeric), check.names = FALSE), arguments[2], row.names = FALSE, na = "")
values <- do.call(rbind, lapply(names(rows), function(name) {
  labels <- attr(rows[[name]], "labels")
  data.frame(name = name, label = text(attr(rows[[name]], "label")), code = as.numeric(labels), value = text(names(labels)))
}))
con <- file(arguments[3], "w", encoding = "UTF-8")
write.csv(values, con, row.names = FALSE, fileEncoding = "UTF-8")
close(con)
"""

READR = """
arguments <- commandArgs(TRUE)
rows <- readr::read_csv(arguments[1], col_types = readr::cols(.default = "d"), progress = FALSE)
stopifnot(nrow(readr::problems(rows)) == 0)
write.csv(as.data.frame(rows), arguments[2], row.names = FALSE, na = "")
"""


def whole(cell: Any) -> int | None:
    return None if cell is None or cell == "" or cell != cell else int(cell)


def columns_of(frame: pd.DataFrame) -> Columns:
    return {name: [whole(cell) for cell in frame[name].tolist()] for name in frame}


def told_by(folder: Path) -> tuple[Values, Mapping[str, str]]:
    told = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))["variables"]
    return {one["name"]: {int(code): label for code, label in one["values"].items()} for one in told}, {o["name"]: o["label"] for o in told}


def read_csv(folder: Path) -> Read:
    with open(folder / "rows.csv", newline="", encoding="ascii") as file:
        lines = list(csv.DictReader(file))
    return {name: [whole(line[name]) for line in lines] for name in lines[0]}, *told_by(folder)


def read_by_pandas(folder: Path) -> Read:
    return columns_of(pd.read_csv(folder / "rows.csv")), *told_by(folder)


def read_parquet(folder: Path) -> Read:
    table = pq.read_table(folder / "rows.parquet")
    said = {field.name: {key.decode(): text.decode() for key, text in field.metadata.items()} for field in table.schema}
    values = {name: {int(code): label for code, label in json.loads(one["values"]).items()} for name, one in said.items()}
    return {name: table[name].to_pylist() for name in table.column_names}, values, {name: one["label"] for name, one in said.items()}


def read_sav(folder: Path) -> Read:
    frame, about = pyreadstat.read_sav(folder / "rows.sav")
    return columns_of(frame), whole_values(about.variable_value_labels), about.column_names_to_labels


def read_dta(folder: Path) -> Read:
    frame, about = pyreadstat.read_dta(folder / "rows.dta")
    return columns_of(frame), whole_values(about.variable_value_labels), about.column_names_to_labels


def whole_values(values: Mapping[str, Mapping[float, str]]) -> Values:
    return {name: {int(code): label for code, label in labels.items()} for name, labels in values.items()}


def read_dta_by_pandas(folder: Path) -> Read:
    with pd.io.stata.StataReader(folder / "rows.dta") as reader:
        frame, sets, labels = reader.read(convert_categoricals=False), reader.value_labels(), reader.variable_labels()
        names = dict(zip(reader._varlist, reader._lbllist, strict=True))
    return columns_of(frame), {name: {int(code): text for code, text in sets[names[name]].items()} for name in frame}, labels


def read_xlsx(folder: Path) -> Read:
    book = openpyxl.load_workbook(folder / "rows.xlsx")
    assert {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row} <= {"n", "s", "inlineStr"}
    head, *rows = book["rows"].iter_rows(values_only=True)
    values: dict[str, dict[int, str]] = {}
    for name, code, label in list(book["values"].iter_rows(values_only=True))[1:]:
        values.setdefault(name, {})[code] = label
    labels = dict(list(book["variables"].iter_rows(values_only=True))[1:])
    return {name: list(column) for name, column in zip(head, zip(*rows, strict=True), strict=True)}, values, labels


def run_r(script: Path, code: str, *arguments: Path) -> None:
    script.write_text(code, encoding="utf-8")
    command = ["Rscript", "--vanilla", *map(str, (script, *arguments))]
    done = subprocess.run(command, capture_output=True, text=True, env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    assert done.returncode == 0, done.stderr


def read_csv_by_readr(folder: Path) -> Read:
    run_r(folder / "readr.R", READR, folder / "rows.csv", folder / "readr.csv")
    return columns_of(pd.read_csv(folder / "readr.csv")), *told_by(folder)


def read_by_r(name: str) -> Callable[[Path], Read]:
    def read(folder: Path) -> Read:
        script, rows, values = (folder / f"{name}-{what}" for what in ("read.R", "rows.csv", "values.csv"))
        run_r(script, R, folder / name, rows, values)
        told = pd.read_csv(values, keep_default_na=False, dtype=str)
        found: dict[str, dict[int, str]] = {}
        for line in told.itertuples():
            found.setdefault(line.name, {})[int(line.code)] = line.value
        return columns_of(pd.read_csv(rows)), found, dict(zip(told["name"], told["label"], strict=True))

    return read


READERS: Mapping[str, Callable[[Path], Read]] = {
    "csv": read_csv,
    "csv by pandas": read_by_pandas,
    "csv by readr": read_csv_by_readr,
    "parquet by pyarrow": read_parquet,
    "sav by pyreadstat": read_sav,
    "sav by R": read_by_r("rows.sav"),
    "dta by pyreadstat": read_dta,
    "dta by pandas": read_dta_by_pandas,
    "dta by R": read_by_r("rows.dta"),
    "xlsx by openpyxl": read_xlsx,
}


def decoded(made: Made, read: Read) -> list[tuple[str, str, Recorded]]:
    """Group, mode and what is recorded, by the labels in the file alone; of a label that was cut, the one that begins with it."""
    columns, values, labels = read
    modes = {label: mode for mode, label in MODE_LABELS.items()}
    texts = {text for item in made.survey.items for text in item.recorded} | set(made.survey.groups)
    found = []
    for row in zip(*columns.values(), strict=True):
        cells = dict(zip(columns, row, strict=True))
        group = full(values["group"][cells["group"] or 0], texts) if made.survey.groups else ""
        found.append((group, modes[values["mode"][cells["mode"] or 0]], recorded_in(made, cells, values, labels, texts)))
    return found


def recorded_in(made: Made, cells: Mapping[str, int | None], values: Values, labels: Mapping[str, str], texts: set[str]) -> Recorded:
    named: dict[str, set[str] | None] = {}
    for variable in variables(made.survey):
        if variable.field is None:
            continue
        item, code = variable.field.item, cells[variable.name]
        if code is None:
            named[item.id] = None
        elif variable.category is None:
            named[item.id] = {full(values[variable.name][code], texts)}
        else:
            known = named.setdefault(item.id, set())
            if values[variable.name][code] == "recorded" and known is not None:
                known.add(option_of(labels[variable.name], item.recorded))
    return {name: None if options is None else frozenset(options) for name, options in named.items()}


def full(label: str, texts: set[str]) -> str:
    start = label.split(CUT)[0]
    matching = {text for text in texts if text == label or (CUT in label and text.startswith(start))}
    if len(matching) > 1:  # cut labels end with the number of their option
        number = int(label.rsplit("(", 1)[1].rstrip(")"))
        matching = {sorted(matching)[number - 1]}
    (found,) = matching
    return found


def option_of(label: str, options: tuple[str, ...]) -> str:
    """A label of such a column begins with the option, by its number and its text, as much as there is room for."""
    number, text = label.removeprefix("recorded option ").split(", ", 1)
    option = options[int(number) - 1]
    assert text.startswith(f"{option}: ") or (text.endswith(CUT) and f"{option}: ".startswith(text[:-1]))
    return option


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS)
@pytest.mark.parametrize("reader", READERS)
def test_every_format_says_of_every_record_what_its_bits_say(make: Callable[[str], Made], survey: str, reader: str) -> None:
    made = make(survey)
    assert decoded(made, READERS[reader](made.folder)) == made.records


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_every_column_has_its_label_in_full_or_as_much_of_it_as_the_format_holds(make: Callable[[str], Made], reader: str) -> None:
    made = make("every")
    labels, expected = READERS[reader](made.folder)[2], {one.name: one.label for one in variables(made.survey)}
    most = {"sav": 252, "dta": 80}.get(reader[:3])
    assert list(labels) == list(expected)
    for name, label in labels.items():
        if most and len(expected[name].encode() if most == 252 else expected[name]) > most:
            assert label.endswith(CUT)
            assert len(label) > 50
            assert expected[name].startswith(label[:-1])
        else:
            assert label == expected[name]


def test_the_full_label_is_a_note_in_stata(make: Callable[[str], Made]) -> None:
    made = make("every")
    raw = (made.folder / "rows.dta").read_bytes()
    for one in variables(made.survey):
        assert (one.label.encode() + b"\0" in raw) is True


# Controls: what must be found.


@pytest.mark.slow
def test_a_shuffled_label_is_found(make: Callable[[str], Made]) -> None:
    made = make("every")
    for reader in READERS.values():
        columns, values, labels = reader(made.folder)
        swapped = {**values, "mood": {1: values["mood"][2], 2: values["mood"][1], 3: values["mood"][3]}}
        assert decoded(made, (columns, swapped, labels)) != made.records


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_a_single_wrong_cell_is_found(make: Callable[[str], Made], reader: str) -> None:
    made = make("asked")
    columns, values, labels = READERS[reader](made.folder)
    cells = columns["smokes"]
    place = cells.index(1)
    for wrong in (0, None):
        changed = {**columns, "smokes": [*cells[:place], wrong, *cells[place + 1 :]]}
        assert decoded(made, (changed, values, labels)) != made.records


@pytest.mark.slow
def test_what_was_not_asked_is_missing_and_nothing_else_is(make: Callable[[str], Made]) -> None:
    for survey in SURVEYS:
        made = make(survey)
        missing = sum(options is None for *_, told in made.records for options in told.values())
        assert (missing > 0) is (survey == "asked")
    assert MISSING not in {code for one in variables(make("asked").survey) for code in one.values}


@pytest.mark.slow
def test_as_many_groups_and_options_as_a_survey_may_have_are_written_and_read(tmp_path: Path) -> None:
    most = 1024
    options = [f"o{i}" for i in range(most)]
    question = {"id": "q", "text": "?", "type": "choice", "options": options, "required": False, "epsilon": 10}
    source = {"deniable": 1, "id": "most", "title": "T", "about": "A.", "accept_high_epsilon": True, "questions": [question]}
    counted = counted_of({**source, "groups": [f"g{i}" for i in range(most)]}, {Part(f"g{i}"): 20 for i in (0, 254, 255, 1023)})
    (item,) = counted.survey.items
    made = Made(counted.survey, counted, Bundle(counted), tmp_path)
    written(made.bundle, tmp_path, [name for name in made.bundle.files if name.startswith(("rows.", "codebook"))])
    assert item.k == most + 1
    for name in ("csv by pandas", "parquet by pyarrow", "sav by pyreadstat", "dta by pandas", "xlsx by openpyxl", "sav by R"):
        assert decoded(made, READERS[name](tmp_path)) == made.records, name


@pytest.mark.parametrize("survey", ["every", "coins", "wide"])
def test_each_row_takes_as_many_bytes_as_were_foretold(make: Callable[[str], Made], survey: str, tmp_path: Path) -> None:
    made = make(survey)
    written(Bundle(counted_of(SURVEYS[survey][0], {})), tmp_path, ["rows.csv", "rows.sav", "rows.dta"])
    for name, exact in (("rows.sav", True), ("rows.dta", True), ("rows.csv", False)):
        rows = (made.folder / name).stat().st_size - (tmp_path / name).stat().st_size
        said = approximate_sizes(made.survey, made.counted.n)[name].size - approximate_sizes(made.survey, 0)[name].size
        assert abs(rows - said) < 8 if exact else rows <= said + 2 * made.counted.n <= 1.5 * rows, name
