"""Differences in differences: how the change between two waves differs between two groups of people."""

from __future__ import annotations

from dataclasses import dataclass

from deniable.errors import EstimateError
from deniable.estimate.limits.multiple_testing import ADJUSTED, adjusted
from deniable.estimate.present.figures import p_value, signed
from deniable.estimate.present.table import Table
from deniable.estimate.present.tabular import Tabular
from deniable.estimate.tables.differences import Difference, difference_in_differences
from deniable.estimate.tables.waves import Change, Waves, mirror_images, sides_of


@dataclass(frozen=True)
class ChangeDifference:
    """Change of one option, or of a mean if `option` is empty, in both groups, and the second's less the first's.

    `difference` is None if a wave of a group has no figure.
    """

    first: Change
    second: Change
    difference: Difference | None


@dataclass(frozen=True)
class ChangeDifferences(Tabular):
    """Differences of changes.

    Attributes:
        names: The names of the two groups.
        rows: The questions that both pairs of waves share.
    """

    names: tuple[str, str]
    confidence: float
    rows: tuple[ChangeDifference, ...]

    def tables(self) -> tuple[Table, ...]:
        """Returns one row a share or mean."""
        first, second = self.names
        title = f"Change in {second} less change in {first} ({100 * self.confidence:g}% intervals)"
        header = ("question", "option", first, second, "difference", "interval", "p", "p (Holm)")
        rows = tuple(_cells(row, tests) for row, tests in zip(self.rows, self._tests(), strict=True))
        return (Table(title, header, rows, texts=2),)

    def records(self) -> tuple[Table, ...]:
        """Returns one row a share or mean: each group's change, the difference with its error, limits and p-values. Shares are of 1."""
        header = ("question", "option", "first_change", "second_change", "estimate", "std_error", "low", "high", *ADJUSTED)
        rows = []
        for row, tests in zip(self.rows, self._tests(), strict=True):
            changes = (side.difference.estimate if side.difference else None for side in (row.first, row.second))
            one = row.difference
            figures = (one.estimate, one.std_error, one.low, one.high) if one else (None,) * 4
            rows.append((row.first.question, row.first.option, *changes, *figures, *tests))
        return (Table("difference", header, tuple(rows)),)

    def _tests(self) -> list[tuple[float | None, ...]]:
        twins = mirror_images([(row.first.question, row.first.option) for row in self.rows])
        return adjusted([row.difference.test().p_value if row.difference else None for row in self.rows], twins)


def compare_changes(first: Waves, second: Waves, names: tuple[str, str] = ("the first group", "the second group")) -> ChangeDifferences:
    """Estimates the changes in `second` less the changes in `first`: two waves of two groups, four samples of different people.

    The limits come from the limits of all four estimates (see `limits.mover`).

    Raises:
        EstimateError: No question is shared.
    """
    others = {(change.question, change.option): change for change in second.changes}
    rows = []
    for change in first.changes:
        if other := others.get((change.question, change.option)):
            rows.append(ChangeDifference(change, other, _apart(change, other)))
    if not rows:
        raise EstimateError("the two pairs of waves share no question")
    return ChangeDifferences(names, first.first.confidence, tuple(rows))


def _apart(first: Change, second: Change) -> Difference | None:
    (a, b), (c, d) = sides_of(first), sides_of(second)
    if a is None or b is None or c is None or d is None or None in (one.estimate for one in (a, b, c, d)):
        return None
    return difference_in_differences((a, b), (c, d))


def _cells(row: ChangeDifference, tests: tuple[float | None, ...]) -> tuple[str, ...]:
    unit = 100 if row.first.option else 1
    sides = ("" if one.difference is None else signed(one.difference.estimate, unit) for one in (row.first, row.second))
    head, result = (row.first.question, row.first.option, *sides), row.difference
    if result is None:
        return (*head, "", "", "", "")
    value, low, high = (signed(each, unit) for each in (result.estimate, result.low, result.high))
    adjusted = dict(zip(ADJUSTED, tests, strict=True))
    p_values = (p_value(adjusted[name], 3) for name in ("p_value", "p_holm"))
    return (*head, value, f"{low} – {high}", *p_values)
