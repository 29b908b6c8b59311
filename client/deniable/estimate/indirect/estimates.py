"""Estimates of a design with several unknown figures: an estimate of each, their assumptions, and tests if there are any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

from deniable.errors import UnknownNameError
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular


@dataclass(frozen=True)
class Estimates(Tabular):
    """Estimates of a design with several unknown figures.

    Attributes:
        design: The design, in words.
        epsilon: The privacy loss of one report, None if unbounded.
        figures: An estimate of each unknown.
        assumes: The assumptions, a sentence each.
        tests: The design's own checks.
    """

    design: str
    epsilon: float | None
    figures: tuple[Estimate, ...]
    assumes: tuple[str, ...]
    tests: tuple[HypothesisTest, ...] = ()

    def __getitem__(self, what: str) -> Estimate:
        """Returns the estimate with this name.

        Raises:
            UnknownNameError: The name is unknown; it is also a KeyError.
        """
        for figure in self.figures:
            if figure.what == what:
                return figure
        raise UnknownNameError.of("the figure must be one of these estimates", what, (one.what for one in self.figures))

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.figures)

    def tables(self) -> tuple[Table, ...]:
        """Returns one row a figure; with the assumptions and the tests below."""
        marks = footnotes([one.warning for one in self.figures])
        rows = tuple((*_cells(one), marks.get(one.warning, "")) for one in self.figures)
        loss = "unbounded" if self.epsilon is None else f"{self.epsilon:.4g}"
        title = f"{self.design} · epsilon {loss} · {100 * self.figures[0].confidence:g}% intervals"
        notes = (*footnote_lines(marks), *(f"test: {test}" for test in self.tests), *(f"assumes: {sentence}" for sentence in self.assumes))
        return (Table(title, ("figure", "n", "estimate", "std error", "interval", ""), rows, notes),)

    def records(self) -> tuple[Table, ...]:
        """Returns `estimate`, the fields of each figure, and `test`, the fields of each test, if there are any."""
        columns = tuple(field.name for field in fields(Estimate) if field.compare)
        result = [Table("estimate", columns, tuple(tuple(getattr(one, name) for name in columns) for one in self.figures))]
        if self.tests:
            names = tuple(field.name for field in fields(HypothesisTest))
            result.append(Table("test", names, tuple(astuple(test) for test in self.tests)))
        return tuple(result)


def _cells(one: Estimate) -> tuple[str, ...]:
    return one.what, f"{one.n:,}", f"{one.estimate:z.4g}", f"{one.std_error:.3g}", f"{one.low:z.4g} – {one.high:z.4g}"
