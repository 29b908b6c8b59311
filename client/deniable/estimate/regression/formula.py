"""A formula becomes numbers: one row of terms for each kind of respondent and each combination of latent answers."""

from __future__ import annotations

import itertools
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.regression.variable import Perturbed
from deniable.extras import missing

if TYPE_CHECKING:
    import pandas as pd

_Floats = NDArray[np.float64]
_LARGEST = 1e30  # of a term: what is computed of it stays far within what a number can be

MAX_COMBINATIONS = 1024
"""Of the categories of all perturbed predictors in one formula."""


@dataclass(frozen=True)
class Layout:
    """A right-hand side that can be computed of any values. spec: formulaic's. predictors: the perturbed ones, and what each is."""

    spec: Any
    predictors: Mapping[str, Perturbed]

    @property
    def names(self) -> list[str]:
        """The p columns."""
        return [str(name) for name in self.spec.column_names]

    @property
    def parts(self) -> dict[str, list[str]]:
        """The columns of each term of the formula."""
        return {str(term): self.names[columns] for term, columns in self.spec.term_slices.items()}

    def matrix(self, public: pd.DataFrame, codes: NDArray[np.int64]) -> _Floats:
        """The columns' values, shape (n, p), for public values and answers by their places, shape (n, predictors). Raises EstimateError."""
        return self.of_frame(self.frame(public, codes))

    def frame(self, public: pd.DataFrame, codes: NDArray[np.int64]) -> pd.DataFrame:
        """The same values as the formula sees them, a column for each variable."""
        latent = {name: _values(variable, codes[:, j]) for j, (name, variable) in enumerate(self.predictors.items())}
        return public.reset_index(drop=True).assign(**latent)

    def of_frame(self, frame: pd.DataFrame) -> _Floats:
        """The same of a table that has every variable as the formula sees it."""
        return np.asarray(_matrix(self.spec, frame), dtype=np.float64).reshape(len(frame), -1)


@dataclass(frozen=True)
class Terms:
    """The right-hand side for R distinct kinds of respondent and C combinations of answers to the perturbed predictors.

    layout: how it is computed. x: (R, C, p). w: (R, q), what the combinations' distribution depends on. rows: (R,), one respondent of each
    kind. which: (n,), the kind of each respondent. combinations: (C, predictors), places of answers. public: the different public
    values, Z rows; public_kind: (R,), which of them each kind has.
    """

    layout: Layout
    x: _Floats
    w: _Floats
    rows: NDArray[np.int64]
    which: NDArray[np.int64]
    combinations: NDArray[np.int64]
    public: pd.DataFrame
    public_kind: NDArray[np.int64]

    @property
    def names(self) -> list[str]:
        """The p columns."""
        return self.layout.names

    @property
    def predictors(self) -> list[str]:
        """The perturbed predictors."""
        return list(self.layout.predictors)

    def count(self, weights: _Floats | None) -> _Floats:
        """Respondents of each kind, or the sum of their weights, shape (R,)."""
        return np.bincount(self.which, weights, minlength=len(self.rows)).astype(np.float64)


_SIDES = re.compile(r"\s*(?:(\w+)|`([^`]+)`)\s*~((?:[^`~]|`[^`]*`)+)")


def split(formula: str) -> tuple[str, str]:
    """The outcome's name and the right-hand side. A name between backticks may be any text without one. Raises EstimateError."""
    sides = _SIDES.fullmatch(formula)
    if not sides or (sides[1] and not sides[1].isidentifier()) or not sides[3].strip():
        raise EstimateError(f"formula must be `outcome ~ terms`, the outcome a single name, got {formula!r}")
    return sides[1] or sides[2], sides[3].strip()


def quoted(name: str) -> str:
    """A name as a formula has it: between backticks where it is no identifier. Raises EstimateError for one that no formula can hold."""
    if "`" in name or "\\" in name:
        raise EstimateError("a name in a formula must be without backticks and backslashes")
    return name if name.isidentifier() and not keyword.iskeyword(name) else f"`{name}`"


def names_alone(right: str) -> bool:
    """Whether a right-hand side is made of names alone. Anything else is Python, and is run. Raises EstimateError."""
    terms = _parsed(right)
    single = all(hasattr(term, "factors") for term in terms)  # else a formula of several parts
    return single and all(factor.eval_method.value in ("literal", "lookup") for term in terms for factor in term.factors)


def terms(
    right: str, given: str | None, data: pd.DataFrame, perturbed: Mapping[str, Perturbed], outcome_kinds: Sequence[NDArray[Any]]
) -> Terms:
    """Lays the right-hand side out. given: see `regress`. outcome_kinds: what else tells respondents apart, (n,) each.

    Raises EstimateError for a name that is not there, a missing value, and collinear terms.
    """
    used = names(right) | (names(given) if given else set())
    predictors = [name for name in perturbed if name in used]
    public = [name for name in data.columns if name in used and name not in perturbed]
    for name in public:
        if missing := int(data[name].isna().sum()):
            raise EstimateError(f"{name} must not be missing in any row, got {missing:,} missing of {len(data):,}")
    combinations = _combinations([len(perturbed[name].answers) for name in predictors])
    public_kind = _kinds([_codes(data[name].to_numpy()) for name in public], len(data))
    _, first, which = np.unique(public_kind, return_index=True, return_inverse=True)
    parts = [which, *(_codes(perturbed[name].patterns()) for name in predictors), *map(_codes, outcome_kinds)]
    _, rows, kind = np.unique(_kinds(parts, len(data)), return_index=True, return_inverse=True)
    layout = _layout(right, data[public], {name: perturbed[name] for name in predictors}, combinations)
    x = _expand(layout, data[public].iloc[first], combinations)
    w = _given(given, x, data[public], first, predictors)
    there = which[rows]
    return Terms(layout, x[there], w[there], rows, kind.ravel(), combinations, data[public].iloc[first].reset_index(drop=True), there)


def names(right: str) -> set[str]:
    """The variables that a right-hand side is made of. Raises EstimateError."""
    return {str(name) for name in _parsed(right).required_variables}


def _parsed(right: str) -> Any:
    try:
        from formulaic import Formula
        from formulaic.errors import FormulaicError
    except ModuleNotFoundError as error:
        raise EstimateError(str(missing("a regression", "estimate") or error)) from None
    try:
        return Formula(right)
    except FormulaicError as error:
        raise EstimateError(f"formula cannot be read: {' '.join(str(error).split())}") from None


def _combinations(sizes: Sequence[int]) -> NDArray[np.int64]:
    """All combinations of categories, shape (C, predictors); a single empty one where there is no perturbed predictor."""
    if (total := int(np.prod(sizes, dtype=object))) > MAX_COMBINATIONS:
        raise EstimateError(f"the perturbed predictors must have at most {MAX_COMBINATIONS:,} combinations of categories, got {total:,}")
    return np.array(list(itertools.product(*map(range, sizes))), dtype=np.int64).reshape(total, len(sizes))


def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Equal values get equal numbers from 0."""
    if values.dtype == object:
        import pandas as pd

        return pd.factorize(values)[0].astype(np.int64)
    return np.unique(values, return_inverse=True)[1].ravel()


def _kinds(parts: Sequence[NDArray[np.int64]], n: int) -> NDArray[np.int64]:
    """One number from 0 for each distinct combination of codes."""
    kind = np.zeros(n, dtype=np.int64)
    for part in parts:
        kind = _codes(kind * (int(part.max(initial=0)) + 1) + part)
    return kind


def _layout(right: str, public: pd.DataFrame, predictors: Mapping[str, Perturbed], combinations: NDArray[np.int64]) -> Layout:
    """Learns what a formula learns of the public columns, such as their mean, and of the perturbed ones all answers that there are."""
    cells = len(combinations)
    # every respondent once, so that center() and the like see the public columns as they are, and every category at least once
    every = np.arange(max(len(public), cells))
    frame = public.iloc[every % max(len(public), 1)].reset_index(drop=True)
    latent = {name: _values(variable, combinations[every % cells, j]) for j, (name, variable) in enumerate(predictors.items())}
    return Layout(_matrix(_parsed(right), frame.assign(**latent)).model_spec, predictors)


def _expand(layout: Layout, public: pd.DataFrame, combinations: NDArray[np.int64]) -> _Floats:
    """The columns' values for each public kind and each combination, shape (public kinds, C, p)."""
    kinds, cells = len(public), len(combinations)
    matrix = layout.matrix(public.iloc[np.repeat(np.arange(kinds), cells)], np.tile(combinations, (kinds, 1)))
    _refuse_collinear(matrix, layout.names)
    return matrix.reshape(kinds, cells, -1)


def _values(variable: Perturbed, codes: NDArray[np.int64]) -> Any:
    """What a formula sees of a latent answer: its score, or a category whose first level is the reference."""
    if (scores := variable.answer_scores) is not None:
        return scores[codes]
    return labelled(variable, np.asarray(variable.answers, dtype=object)[codes])


def labelled(variable: Perturbed, labels: Any) -> Any:
    """Answers by their labels, as a formula sees a category: the reference is its first level."""
    import pandas as pd

    return pd.Categorical(labels, categories=[variable.reference, *(one for one in variable.answers if one != variable.reference)])


def _matrix(source: Any, frame: pd.DataFrame) -> Any:
    from formulaic.errors import FormulaicError

    try:
        return source.get_model_matrix(frame, na_action="raise", context={}) if len(frame.columns) else _constant(source, frame)
    except (FormulaicError, ValueError, TypeError) as error:
        raise EstimateError(f"formula cannot be computed: {' '.join(str(error).split())}") from None


def _constant(source: Any, frame: pd.DataFrame) -> Any:
    """A formula without any variable needs a column to take its number of rows from."""
    return source.get_model_matrix(frame.assign(_=0.0), na_action="raise", context={})


def _refuse_collinear(rows: _Floats, names: list[str]) -> None:
    if not rows.shape[1]:
        raise EstimateError("formula must have at least one term or the intercept")
    if not np.isfinite(rows).all():
        raise EstimateError("the terms must be finite numbers in every row")
    largest = np.abs(rows).max(axis=0)
    if (largest > _LARGEST).any() or ((largest > 0) & (largest < 1 / _LARGEST)).any():
        name = names[int(np.abs(np.log(np.where(largest > 0, largest, 1.0))).argmax())]
        raise EstimateError(
            f"the terms must be in a unit in which their largest numbers are from {1 / _LARGEST:g} to {_LARGEST:g}: {name} is not"
        )
    scaled = rows / np.maximum(np.abs(rows).max(axis=0), 1e-300)
    values, vectors = np.linalg.eigh(scaled.T @ scaled / len(rows))
    if values[0] < 1e-12:
        named = [name for name, weight in zip(names, np.abs(vectors[:, 0]), strict=True) if weight > 1e-3]
        raise EstimateError(f"the terms must not be collinear: one of {', '.join(named)} follows from the others")


def _given(given: str | None, x: _Floats, public: pd.DataFrame, first: NDArray[np.int64], predictors: list[str]) -> _Floats:
    """What the distribution of the perturbed predictors depends on, shape (public kinds, q): `given`, or x's public columns."""
    if given is not None:
        if perturbed := sorted(names(given) & set(predictors)):
            raise EstimateError(f"given must name public columns only, got {', '.join(perturbed)}")
        spec = _matrix(_parsed(given), public).model_spec
        w = np.asarray(_matrix(spec, public.iloc[first].reset_index(drop=True)), dtype=np.float64)
        _refuse_collinear(w, [str(name) for name in spec.column_names])
        return np.asarray(w / np.abs(w).max(axis=0))
    free = x[:, 0, (x == x[:, :1]).all(axis=(0, 1))]
    with_one = np.column_stack([np.ones(len(x)), free])
    scaled = with_one / np.maximum(np.abs(with_one).max(axis=0), 1e-300)
    return _independent(scaled)


def _independent(columns: _Floats) -> _Floats:
    """The columns that do not follow from those before them."""
    kept: list[int] = []
    for j in range(columns.shape[1]):
        basis = columns[:, kept]
        rest = columns[:, j] - basis @ np.linalg.lstsq(basis, columns[:, j])[0] if kept else columns[:, j]
        if np.abs(rest).max() > 1e-9:
            kept.append(j)
    return np.ascontiguousarray(columns[:, kept])
