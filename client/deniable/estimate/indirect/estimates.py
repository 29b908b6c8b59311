"""What a design with several unknown figures says: an estimate of each, what has to hold for them, and a test where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields

from deniable.errors import UnknownNameError
from deniable.estimate.limits.normal import Estimate, HypothesisTest
from deniable.estimate.present.table import Table, footnote_lines, footnotes
from deniable.estimate.present.tabular import Tabular


@dataclass(frozen=True)
class Estimates(Tabular):
    """design: in words. epsilon: what one report gives away at most, None if unbounded. figures: an estimate of each unknown.

    assumes: what has to hold, a sentence each. tests: of what the design can check about itself.
    """

    design: str
    epsilon: float | None
    figures: tuple[Estimate, ...]
    assumes: tuple[str, ...]
    tests: tuple[HypothesisTest, ...] = ()

    def __getitem__(self, what: str) -> Estimate:
        """The estimate of that name. Raises UnknownNameError, a KeyError."""
        for figure in self.figures:
            if figure.what == what:
                return figure
        raise UnknownNameError.of("the figure must be one of these estimates", what, (one.what for one in self.figures))

    def __iter__(self) -> Iterator[Estimate]:
        return iter(self.figures)

    def tables(self) -> tuple[Table, ...]:
        """A row a figure; below what has to hold, and what the tests say."""
        marks = footnotes([one.warning for one in self.figures])
        rows = tuple((*_cells(one), marks.get(one.warning, "")) for one in self.figures)
        loss = "unbounded" if self.epsilon is None else f"{self.epsilon:.4g}"
        title = f"{self.design} · epsilon {loss} · {100 * self.figures[0].confidence:g}% intervals"
        notes = (*footnote_lines(marks), *(f"test: {test}" for test in self.tests), *(f"assumes: {sentence}" for sentence in self.assumes))
        return (Table(title, ("figure", "n", "estimate", "std error", "interval", ""), rows, notes),)

    def records(self) -> tuple[Table, ...]:
        """`estimate`: the fields of each figure. `test`: those of each test, where there are any."""
        columns = tuple(field.name for field in fields(Estimate) if field.compare)
        result = [Table("estimate", columns, tuple(tuple(getattr(one, name) for name in columns) for one in self.figures))]
        if self.tests:
            names = tuple(field.name for field in fields(HypothesisTest))
            result.append(Table("test", names, tuple(astuple(test) for test in self.tests)))
        return tuple(result)


def _cells(one: Estimate) -> tuple[str, ...]:
    return one.what, f"{one.n:,}", f"{one.estimate:z.4g}", f"{one.std_error:.3g}", f"{one.low:z.4g} – {one.high:z.4g}"
