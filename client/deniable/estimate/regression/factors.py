"""Factor evaluation: each factor of a formula is evaluated once over all respondents, then from what that evaluation learned.

A factor can look at other rows: (age - np.mean(age)) needs the mean over respondents, bs(age, 4) the knots. These values are
saved: calls that return one value for all rows as constants, formulaic's stateful transforms with their state. The rest is a function
of a row's own values, and means the same for one row, for distinct rows and for new ones. A factor of public columns that still looks
at other rows, such as age.rank(), has values for the respondents only. A factor of a perturbed variable must follow from each of its
answers alone, since answers are not known.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.regression.formula import Expression, plain, values_of

if TYPE_CHECKING:
    import pandas as pd

_SINGLE = 12  # rows to evaluate alone, to find out whether the others matter
_MIXED = 60  # rows with mixed answers to perturbed variables
_SAME = 1e-9  # relative to a factor's largest number: what another order of summation may change


@dataclass(frozen=True, eq=False)
class Factor:
    """One factor of a formula with what it learned of the respondents.

    Attributes:
        expression: The factor.
        source: Python over safe names.
        columns: The column of each safe name.
        constants: The value of each name that replaces a call, the same for all rows.
        state: The state of formulaic's stateful transforms.
        stored: Its values for the respondents' distinct public rows where it looks at other rows, too; else None.
    """

    expression: Expression
    source: str
    columns: Mapping[str, str]
    constants: Mapping[str, Any] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)
    stored: Any = None

    @property
    def text(self) -> str:
        """The factor as the formula has it."""
        return self.expression.text

    @property
    def variables(self) -> frozenset[str]:
        """The columns that it uses."""
        return frozenset(self.columns.values())

    def values(self, frame: pd.DataFrame, kinds: NDArray[np.int64] | None = None) -> Any:
        """Returns its values for each row of a table.

        Args:
            frame: A column for each variable.
            kinds: (rows,), which of the respondents' distinct public rows each row has; None for new rows.

        Raises:
            EstimateError: It cannot be computed, or looks at other rows and the rows are new.
        """
        if self.stored is None:
            return self.evaluate(frame, copy.deepcopy(dict(self.state)))
        if kinds is None:
            raise EstimateError(
                f"{self.text} looks at all respondents' rows together, so it has no value for new rows. "
                "Use center(), scale() or poly(), or compute it into a column of the data"
            )
        return select_rows(self.stored, kinds)

    def evaluate(self, frame: pd.DataFrame, state: dict[str, Any]) -> Any:
        """Returns its values for each row, and leaves in `state` what it learned. Raises EstimateError."""
        whole = self.expression.is_category
        observed = {safe: _column(frame[name], whole) for safe, name in self.columns.items()}
        if self.expression.by_name:
            return next(iter(observed.values()))
        try:
            return _broadcast(_evaluate_source(self.source, {**self.constants, **observed}, state), len(frame))
        except Exception as error:  # whatever Python in a formula can raise
            raise EstimateError(f"formula cannot be computed: {self.text}: {type(error).__name__}: {plain(error)}") from None


def learned(
    expression: Expression,
    public: pd.DataFrame,
    kinds: NDArray[np.int64],
    first: NDArray[np.int64],
    latent: Mapping[str, Any],
    combinations: int,
) -> Factor:
    """Evaluates a factor over all respondents and returns it with what it learned.

    Args:
        expression: The factor.
        public: The public columns, n rows.
        kinds: (n,), which distinct public row each respondent has.
        first: One respondent of each kind.
        latent: For each perturbed variable, its value at each combination of answers.
        combinations: How many there are.

    Raises:
        EstimateError: It cannot be computed, gives other values each time, depends on the order of rows, or looks at answers to a perturbed
            variable together.
    """
    columns = {f"_column_{place}": name for place, name in enumerate(sorted(expression.names & {*public.columns, *latent}))}
    factor = Factor(expression, _with_safe_names(expression, columns), columns)
    if expression.by_name:
        return factor
    with np.errstate(all="ignore"):
        if factor.variables & set(latent):
            return _of_answers(factor, public, first, latent, combinations)
        return _of_public(factor, public, kinds, first)


def _of_public(factor: Factor, public: pd.DataFrame, kinds: NDArray[np.int64], first: NDArray[np.int64]) -> Factor:
    state: dict[str, Any] = {}
    values = factor.evaluate(public, state)
    if not same(values, factor.evaluate(public, {}), exact=True):
        raise EstimateError(f"formula must give the same values each time, got {factor.text}")
    mixed = _shuffle(len(public))
    if not same(select_rows(values, mixed), factor.evaluate(_rows(public, mixed), {})):
        raise EstimateError(f"formula must not depend on the order of the rows, got {factor.text}. Compute it into a column of the data")
    fitted = _with_constants(factor, public, set(factor.variables), state)
    if _alone(fitted, public, values, first):
        return fitted
    selected = select_rows(values, first)
    if not same(select_rows(selected, kinds), values):
        raise EstimateError(f"formula must give equal rows equal values, got {factor.text}. Compute it into a column of the data")
    return Factor(factor.expression, factor.source, factor.columns, stored=selected)


def _of_answers(factor: Factor, public: pd.DataFrame, first: NDArray[np.int64], latent: Mapping[str, Any], combinations: int) -> Factor:
    """Returns a factor of a perturbed variable: the same if an answer is evaluated alone or beside others."""
    own = [name for name in public.columns if name in factor.variables]
    base = public[own] if own else public[own].iloc[:1]
    names = [name for name in latent if name in factor.variables]

    def at(rows: pd.DataFrame, cells: NDArray[np.int64]) -> pd.DataFrame:
        return rows.assign(**{name: latent[name][cells] for name in names})

    def everywhere(rows: pd.DataFrame, cell: int) -> pd.DataFrame:
        return at(rows, np.full(len(rows), cell, dtype=np.int64))

    try:
        state: dict[str, Any] = {}
        values = factor.evaluate(everywhere(base, 0), state)
        fitted = _with_constants(factor, base, set(own), state)
        last = combinations - 1
        fresh = factor.evaluate(everywhere(base, last), {})
        right = same(fresh, fitted.values(everywhere(base, last))) and _alone(fitted, everywhere(base, 0), values, first if own else _ONE)
    except EstimateError:  # it may be computable of several answers together only
        if not own:
            factor.evaluate(at(_rows(base, np.zeros(combinations, dtype=np.int64)), np.arange(combinations)), {})
        _refuse_together(factor, names)
    some = _spread(first if own else _ONE, _MIXED)
    rows, cells = np.repeat(some, combinations), np.tile(np.arange(combinations), len(some))
    mixed = _shuffle(len(rows))
    together = fitted.values(at(_rows(base, rows[mixed]), cells[mixed]))
    separate = [fitted.values(everywhere(_rows(base, some), cell)) for cell in range(combinations)]
    placed = np.argsort(mixed, kind="stable")
    back = select_rows(together, placed)
    right = right and (bool(own) or same(together, factor.evaluate(at(_rows(base, rows[mixed]), cells[mixed]), {})))
    if not right or not all(same(select_rows(back, np.flatnonzero(cells == cell)), each) for cell, each in enumerate(separate)):
        _refuse_together(factor, names)
    return fitted


_ONE = np.zeros(1, dtype=np.int64)


def _refuse_together(factor: Factor, names: Sequence[str]) -> NoReturn:
    raise EstimateError(
        f"formula must compute a perturbed variable from each answer alone, got {factor.text}: the true answers to {', '.join(names)} "
        "are not known, so their mean, spread and order cannot be used"
    )


def _with_constants(factor: Factor, frame: pd.DataFrame, public: set[str], state: dict[str, Any]) -> Factor:
    """Returns the factor with calls that return one value for all respondents replaced by this value."""
    columns = {safe: _column(frame[name], factor.expression.is_category) for safe, name in factor.columns.items() if name in public}
    result = _Constants(columns, len(frame))
    tree = ast.fix_missing_locations(result.visit(ast.parse(factor.source, mode="eval").body))
    return Factor(factor.expression, ast.unparse(tree), factor.columns, result.constants, state)


class _Constants(ast.NodeTransformer):
    """Replacement of calls on whole columns that return no value per row, such as np.mean(age), by names of constants."""

    def __init__(self, columns: Mapping[str, Any], rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.constants: dict[str, Any] = {}

    def visit(self, node: ast.AST) -> Any:
        """Replaces a node, or looks within it."""
        if isinstance(node, ast.Call | ast.Attribute | ast.Subscript) and self._of_columns(node):
            try:
                value = _evaluate_source(ast.unparse(node), self.columns, {})
            except Exception:  # a part that is no value by itself
                return self.generic_visit(node)
            if _is_constant(value, self.rows):
                self.constants[name := f"_constant_{len(self.constants)}"] = value
                return ast.Name(name, ast.Load())
        return self.generic_visit(node)

    def _of_columns(self, node: ast.AST) -> bool:
        """Returns whether the call uses public columns, by no transform that keeps a state of its own."""
        names = {name.id for name in values_of(node) if name.id.startswith("_column_")}
        return bool(names) and names <= set(self.columns) and not _stateful(node)


def _stateful(node: ast.AST) -> bool:
    from formulaic.transforms import TRANSFORMS

    calls = (one.func for one in ast.walk(node) if isinstance(one, ast.Call))
    names = {func.id for func in calls if isinstance(func, ast.Name)}
    return any(getattr(TRANSFORMS.get(name), "__is_stateful_transform__", False) or name in ("C", "hashed") for name in names)


def _is_constant(value: Any, rows: int) -> bool:
    if isinstance(value, bool | int | float | complex | str | np.generic):
        return True
    return isinstance(value, np.ndarray | list | tuple) and (np.ndim(value) == 0 or len(value) != rows)


def _alone(factor: Factor, frame: pd.DataFrame, values: Any, first: NDArray[np.int64]) -> bool:
    """Returns whether a row's value is the same alone, in a half of the rows, and among all of them."""
    n = len(frame)
    parts = [np.arange(n), np.arange(0, n, 2), np.arange(n // 2, n), *(np.array([row]) for row in _spread(first, _SINGLE))]
    try:
        return all(same(select_rows(values, part), factor.values(_rows(frame, part))) for part in parts)
    except EstimateError:
        return False


def _evaluate_source(source: str, names: Mapping[str, Any], state: dict[str, Any]) -> Any:
    from formulaic.transforms import TRANSFORMS
    from formulaic.utils.layered_mapping import LayeredMapping
    from formulaic.utils.stateful_transforms import stateful_eval

    return stateful_eval(source, LayeredMapping(dict(names), TRANSFORMS), {}, state, None)


def _with_safe_names(expression: Expression, columns: Mapping[str, str]) -> str:
    """Returns the expression over safe names, which no function has."""
    safe = {name: alias for alias, name in columns.items()}
    tree = copy.deepcopy(expression.tree)
    for node in list(values_of(tree)):
        node.id = safe.get(expression.aliases.get(node.id, node.id), node.id)
    return ast.unparse(tree)


def _column(values: pd.Series[Any], whole: bool) -> Any:
    """Returns a column as an expression sees it: numbers in double precision, so that none overflows; whole numbers for names of levels."""
    import pandas as pd

    column = values.reset_index(drop=True)
    if hasattr(column, "cat") or not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_bool_dtype(column.dtype):
        return column
    return column.astype(np.int64 if whole and pd.api.types.is_integer_dtype(column.dtype) else np.float64)


def _broadcast(values: Any, rows: int) -> Any:
    """Returns one value for all rows as one for each."""
    import pandas as pd

    if isinstance(values, bool | int | float | np.generic | str) or (isinstance(values, np.ndarray) and values.ndim == 0):
        return pd.Series([values] * rows)
    for each in flat(values).values():
        if len(each) != rows:
            raise ValueError(f"it must have a value for each of {rows:,} rows, got {len(each):,}")
    texts = isinstance(_bare(values), list) or (isinstance(_bare(values), np.ndarray) and values.dtype.kind in "USO")
    return pd.Series(_bare(values)) if texts and _bare(values) is values else values


def flat(values: Any) -> dict[str, NDArray[Any]]:
    """Returns a factor's values by column, as arrays of shape (rows,)."""
    bare = _bare(values)
    if isinstance(bare, Mapping) or hasattr(bare, "columns"):
        pairs = [(key, bare[key]) for key in bare if not (isinstance(key, str) and key.startswith("__"))]
        return {f"{key}/{name}": each for key, one in pairs for name, each in flat(one).items()}
    array = np.asarray(bare)
    return {"": array} if array.ndim == 1 else {str(j): array[:, j] for j in range(array.shape[1])}


def select_rows(values: Any, rows: NDArray[np.int64]) -> Any:
    """Returns a factor's values of some rows, with formulaic's notes on them."""
    from formulaic.materializers.types import FactorValues

    bare = _bare(values)
    if isinstance(bare, Mapping):
        chosen: Any = {key: one if isinstance(key, str) and key.startswith("__") else select_rows(one, rows) for key, one in bare.items()}
    elif hasattr(bare, "iloc"):
        chosen = bare.iloc[rows].reset_index(drop=True)
    else:
        chosen = (bare if hasattr(bare, "categories") else np.asarray(bare))[rows]
    return FactorValues(chosen, metadata=values.__formulaic_metadata__) if bare is not values else chosen


def same(one: Any, other: Any, exact: bool = False) -> bool:
    """Returns whether two factors' values are equal, but for what another order of summation changes."""
    left, right = flat(one), flat(other)
    return left.keys() == right.keys() and all(_equal(each, right[name], exact) for name, each in left.items())


def _equal(one: NDArray[Any], other: NDArray[Any], exact: bool) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "iufc" or other.dtype.kind not in "iufc":
        import pandas as pd

        return bool(((one == other) | (pd.isna(one) & pd.isna(other))).all())
    finite = np.abs(one[np.isfinite(one)])
    return bool(np.allclose(one, other, rtol=0 if exact else _SAME, atol=0 if exact else _SAME * finite.max(initial=0), equal_nan=True))


def _bare(values: Any) -> Any:
    return values.__wrapped__ if hasattr(values, "__formulaic_metadata__") else values


def _rows(frame: pd.DataFrame, rows: NDArray[np.int64]) -> pd.DataFrame:
    return frame.iloc[rows].reset_index(drop=True)


def _spread(rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Returns some of the rows, evenly spaced."""
    return rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(np.int64))]


def _shuffle(n: int) -> NDArray[np.int64]:
    """Returns a fixed permutation, which leaves neither the first row first nor the last one last."""
    order = np.argsort(np.arange(n, dtype=np.uint64) * np.uint64(2654435761) % np.uint64(4294967291), kind="stable").astype(np.int64)
    return np.roll(order, n // 2)
