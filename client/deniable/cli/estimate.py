"""`deniable estimate`: shares from reports that were collected by hand or by other software, in a CSV file."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.options import form_options, interval_options, printed
from deniable.device.sources.csv_rows import CsvRows
from deniable.device.sources.file import File
from deniable.errors import AnswerError, EstimateError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from deniable.estimate.designs.classic import CategoryDesign, Design
    from deniable.estimate.designs.reports import RowDesigns

_ROWS = 1 << 16
_NEEDS = {
    "warner": ("p",),
    "forced-response": ("forced_yes", "forced_no"),
    "unrelated-question": ("p", "prevalence"),
    "crosswise": ("prevalence",),
    "triangular": ("prevalence",),
    "kuk": ("p_yes", "p_no"),
    "mangat": ("p",),
    "forced-categories": ("categories", "forced"),
    "matrix": ("matrix",),
    "by-row": ("q0", "q1"),
}
"""What describes each design; anything else given with it is a mistake."""


def _probability(written: str) -> float:
    try:
        return float(Fraction(written))
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(f"must be a number such as 0.25 or 1/6, got {written!r}") from None


def _option(name: str, design: str, told: str) -> Callable[[Any], Any]:
    return click.option(f"--{name}", type=_probability, metavar="P", help=f"{told} [{design}]")


@click.command("estimate")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--column", metavar="NAME", required=True, help="The column with the reports.")
@click.option("--design", type=click.Choice(list(_NEEDS)), help="How the answers were randomized.  [default: by-row with --q0 and --q1]")
@_option("p", "warner, unrelated-question, mangat", "Chance that the statement or question is the sensitive one.")
@_option("forced-yes", "forced-response", "Chance that the device orders yes.")
@_option("forced-no", "forced-response", "Chance that the device orders no.")
@_option("prevalence", "unrelated-question, crosswise, triangular", "Share of yes to the harmless question.")
@_option("p-yes", "kuk", "Chance of a yes card for a true yes.")
@_option("p-no", "kuk", "Chance of a yes card for a true no.")
@click.option("--categories", metavar="A,B,…", help="The categories. [forced-categories]")
@click.option("--forced", metavar="P,P,…", help="Chance that the device orders each of them. [forced-categories]")
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False),
    help="CSV: the categories, then a row for each report, in that order, with its chance under each true answer. [matrix]",
)
@click.option("--q0", metavar="COLUMN", help="The column with P(reported yes | true no). [by-row]")
@click.option("--q1", metavar="COLUMN", help="The column with P(reported yes | true yes). [by-row]")
@click.option("--by", metavar="COLUMN", help="Estimates for each value of this public column.")
@interval_options
@form_options
def estimate_command(
    file: str,
    column: str,
    design: str | None,
    by: str | None,
    confidence: float,
    method: str,
    target: str,
    form: str | None,
    **described: Any,
) -> None:
    """Estimate shares from reports that were randomized elsewhere.

    By hand, say, with dice or coins, or by other software. FILE is CSV in UTF-8 whose first line names the columns, or -
    for standard input. Each row is a respondent; --column has what was reported: yes or no (also true, false, 1, 0), or a
    category. Probabilities are numbers or fractions (1/6).

    \b
    Examples:
      deniable estimate survey.csv --column answer --design warner --p 0.75
      deniable estimate survey.csv --column answer --design forced-response --forced-yes 1/6 --forced-no 1/6 --by region
      deniable estimate survey.csv --column answer --q0 chance_if_no --q1 chance_if_yes --csv
    """
    design = design or ("by-row" if described["q0"] or described["q1"] else None)
    if design is None:
        raise click.UsageError("--design is missing (or --q0 and --q1, the columns of a design that varies by row)")
    _refuse_other_options(design, described)
    from deniable.estimate.designs.reports import collected

    names = list(dict.fromkeys(name for name in (column, by, described["q0"], described["q1"]) if name))
    columns = _read(file, names)
    chosen = _by_row(columns, described) if design == "by-row" else _design(design, described)
    labels = columns[by] if by else None
    found = collected(columns[column], chosen, by=labels, variable=column, confidence=confidence, method=method, target=target)
    printed(found, form)


def _refuse_other_options(design: str, described: Mapping[str, Any]) -> None:
    needed = _NEEDS[design]
    missing = [name for name in needed if described[name] is None]
    other = [name for name, value in described.items() if value is not None and name not in needed]
    if missing or other:
        words = [f"--{name.replace('_', '-')}" for name in needed]
        wrong = f"missing: {_options(missing)}" if missing else f"not its own: {_options(other)}"
        raise click.UsageError(f"--design {design} is described by {' and '.join(words)}; {wrong}")


def _options(names: Sequence[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in names)


def _read(file: str, names: Sequence[str]) -> dict[str, list[str]]:
    """The columns of these names. Raises EstimateError, naming a row and never what is in it."""
    source = CsvRows(File(sys.stdin.buffer if file == "-" else file))
    columns: dict[str, list[str]] = {name: [] for name in names}
    done = 0
    try:
        for part in source.batches(names, _ROWS, 0):
            for row, reason in part.broken.items():
                raise EstimateError(f"row {done + row + 1:,}: {reason}")
            for name, values in zip(names, part.columns, strict=True):
                columns[name] += values.tolist()
            done += part.size
    except AnswerError as error:
        raise EstimateError(str(error).replace("a column for each question", "the columns named")) from None
    return columns


def _by_row(columns: Mapping[str, list[str]], described: Mapping[str, str]) -> RowDesigns:
    from deniable.estimate.designs.reports import RowDesigns

    return RowDesigns(_numbers(described["q0"], columns), _numbers(described["q1"], columns))


def _numbers(name: str, columns: Mapping[str, list[str]]) -> NDArray[np.float64]:
    """A column of probabilities; fractions are taken too."""
    import numpy as np

    known: dict[str, float] = {}
    for row, text in enumerate(columns[name], start=1):
        if text not in known:
            try:
                known[text] = float(Fraction(text.strip()))
            except (ValueError, ZeroDivisionError):
                raise EstimateError(f"row {row:,}, {name}: must be a probability such as 0.25 or 1/6") from None
    return np.array([known[text] for text in columns[name]])


def _design(design: str, described: Mapping[str, Any]) -> Design | CategoryDesign:
    from deniable.estimate import designs

    if design == "matrix":
        return designs.matrix_design(*_matrix(described["matrix"]))
    if design == "forced-categories":
        labels = [label.strip() for label in described["categories"].split(",")]
        return designs.forced_categories(labels, [_probability(chance.strip()) for chance in described["forced"].split(",")])
    make: Callable[..., Design] = getattr(designs, design.replace("-", "_"))
    return make(*(described[name] for name in _NEEDS[design]))


def _matrix(path: str) -> tuple[list[str], list[list[float]]]:
    """The categories in the first line, and P(report | true answer) in the others. Raises EstimateError."""
    with open(path, encoding="utf-8-sig", newline="") as stream:
        try:
            header, *rows = [row for row in csv.reader(stream, skipinitialspace=True) if row]
            return [label.strip() for label in header], [[float(Fraction(cell.strip())) for cell in row] for row in rows]
        except (ValueError, ZeroDivisionError, csv.Error):
            raise EstimateError(f"{path} must have the categories in its first line, and probabilities in the others") from None
