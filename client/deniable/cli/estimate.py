"""Estimates from a CSV file of reports collected by hand or by other software: the command `estimate`."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.command import Function, command
from deniable.cli.options import form_options, interval_options, print_result
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
"""The options that describe each design; others are refused."""
_DESIGN_HELP = f"The design that randomized the answers: {', '.join(_NEEDS)}.  [default: by-row with --q0 and --q1]"


def _probability(text: str) -> float:
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError):
        raise click.BadParameter(f"must be a number such as 0.25 or 1/6, got {text!r}") from None


def _probability_option(name: str, designs: str, description: str) -> Callable[[Function], Function]:
    return click.option(f"--{name}", type=_probability, metavar="P", help=f"{description} [{designs}]")


@command("estimate")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--column", metavar="NAME", required=True, help="The column with the reports.")
@click.option("--design", type=click.Choice(list(_NEEDS)), metavar="DESIGN", help=_DESIGN_HELP)
@_probability_option("p", "warner, unrelated-question, mangat", "Probability of the sensitive statement or question.")
@_probability_option("forced-yes", "forced-response", "Probability that the device orders a yes.")
@_probability_option("forced-no", "forced-response", "Probability that the device orders a no.")
@_probability_option("prevalence", "unrelated-question, crosswise, triangular", "Share of yes answers to the harmless question.")
@_probability_option("p-yes", "kuk", "Probability of a yes card if the true answer is yes.")
@_probability_option("p-no", "kuk", "Probability of a yes card if the true answer is no.")
@click.option("--categories", metavar="A,B,…", help="The categories, in order. [forced-categories]")
@click.option("--forced", metavar="P,P,…", help="Probability that the device orders each category. [forced-categories]")
@click.option(
    "--matrix",
    type=click.Path(exists=True, dir_okay=False),
    help="A CSV file: the categories, then a row for each report, with its probability under each true answer. [matrix]",
)
@click.option("--q0", metavar="COLUMN", help="The column with P(reported yes | true no). [by-row]")
@click.option("--q1", metavar="COLUMN", help="The column with P(reported yes | true yes). [by-row]")
@click.option("--by", metavar="COLUMN", help="Print estimates for each value of this public column.")
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
    **parameters: Any,
) -> None:
    r"""Estimate shares from reports that were randomized elsewhere.

    For reports that people randomized with dice, coins or other software. FILE is CSV in UTF-8, or - for standard input. Its first line
    names the columns; each other line is a respondent. --column holds the reports: yes or no (also true, false, 1, 0), or a category.
    Write probabilities as numbers or fractions (1/6).

    Examples:
      deniable estimate reports.csv --column answer --design warner --p 0.75
      deniable estimate reports.csv --column answer --by region \
        --design forced-response --forced-yes 1/6 --forced-no 1/6
      deniable estimate reports.csv --column answer --q0 if_no --q1 if_yes --csv
    """
    design = design or ("by-row" if parameters["q0"] or parameters["q1"] else None)
    if design is None:
        raise click.UsageError("--design is missing (or --q0 and --q1, the columns of a design that varies by row)")
    _check_parameters(design, parameters)
    from deniable.estimate.designs.reports import collected

    names = list(dict.fromkeys(name for name in (column, by, parameters["q0"], parameters["q1"]) if name))
    columns = _read_columns(file, names)
    chosen = _row_designs(columns, parameters) if design == "by-row" else _design(design, parameters)
    labels = columns[by] if by else None
    results = collected(columns[column], chosen, by=labels, variable=column, confidence=confidence, method=method, target=target)
    print_result(results, form)


def _check_parameters(design: str, parameters: Mapping[str, Any]) -> None:
    """Raises click.UsageError if an option of the design is missing, or one of another design is present."""
    needed = _NEEDS[design]
    missing = [name for name in needed if parameters[name] is None]
    others = [name for name, value in parameters.items() if value is not None and name not in needed]
    if missing or others:
        problem = f"missing: {_options(missing, ', ')}" if missing else f"not for this design: {_options(others, ', ')}"
        raise click.UsageError(f"--design {design} needs {_options(needed, ' and ')}; {problem}")


def _options(names: Sequence[str], separator: str) -> str:
    return separator.join(f"--{name.replace('_', '-')}" for name in names)


def _read_columns(file: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Returns the columns of these names. Raises EstimateError, which names a row but never quotes it."""
    source = CsvRows(File(sys.stdin.buffer if file == "-" else file))
    columns: dict[str, list[str]] = {name: [] for name in names}
    done = 0
    try:
        for batch in source.batches(names, _ROWS, 0):
            for row, reason in batch.broken.items():
                raise EstimateError(f"row {done + row + 1:,}: {reason}")
            for name, values in zip(names, batch.columns, strict=True):
                columns[name] += values.tolist()
            done += batch.size
    except AnswerError as error:
        raise EstimateError(str(error).replace("a column for each question", "the columns named")) from None
    return columns


def _row_designs(columns: Mapping[str, list[str]], parameters: Mapping[str, str]) -> RowDesigns:
    from deniable.estimate.designs.reports import RowDesigns

    return RowDesigns(_probabilities(parameters["q0"], columns), _probabilities(parameters["q1"], columns))


def _probabilities(name: str, columns: Mapping[str, list[str]]) -> NDArray[np.float64]:
    """Returns a column of numbers or fractions as probabilities. Raises EstimateError, which names the row."""
    import numpy as np

    values: dict[str, float] = {}  # each distinct text is parsed once
    for row, text in enumerate(columns[name], start=1):
        if text not in values:
            try:
                values[text] = float(Fraction(text.strip()))
            except (ValueError, ZeroDivisionError):
                raise EstimateError(f"row {row:,}, {name}: must be a probability such as 0.25 or 1/6") from None
    return np.array([values[text] for text in columns[name]])


def _design(design: str, parameters: Mapping[str, Any]) -> Design | CategoryDesign:
    from deniable.estimate import designs

    if design == "matrix":
        return designs.matrix_design(*_read_matrix(parameters["matrix"]))
    if design == "forced-categories":
        labels = [label.strip() for label in parameters["categories"].split(",")]
        return designs.forced_categories(labels, [_probability(text.strip()) for text in parameters["forced"].split(",")])
    make: Callable[..., Design] = getattr(designs, design.replace("-", "_"))
    return make(*(parameters[name] for name in _NEEDS[design]))


def _read_matrix(path: str) -> tuple[list[str], list[list[float]]]:
    """Returns the categories in the first line, and P(report | true answer) in the others. Raises EstimateError."""
    with open(path, encoding="utf-8-sig", newline="") as stream:
        try:
            header, *rows = [row for row in csv.reader(stream, skipinitialspace=True) if row]
            return [label.strip() for label in header], [[float(Fraction(cell.strip())) for cell in row] for row in rows]
        except (ValueError, ZeroDivisionError, csv.Error):
            raise EstimateError(f"{path} must have the categories in its first line, and probabilities in the others") from None
