"""Design matrix: one row of terms for each distinct respondent and each combination of latent answers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import EstimateError
from deniable.estimate.arrays import FloatArray
from deniable.estimate.regression import formula
from deniable.estimate.regression.basis import Basis, orthogonal
from deniable.estimate.regression.factors import Factor, flat, learned
from deniable.estimate.regression.variable import PerturbedVariable

if TYPE_CHECKING:
    import pandas as pd


MAX_COMBINATIONS = 1024
"""Of the categories of all perturbed predictors in one formula."""


@dataclass(frozen=True, eq=False)
class ModelLayout:
    """A right-hand side that can be computed for any values.

    Attributes:
        right: The right-hand side.
        factors: Its factors, with what they learned of all respondents.
        spec: formulaic's, with each factor looked up by its text.
        predictors: The perturbed predictors.
    """

    right: str
    factors: tuple[Factor, ...]
    spec: Any
    predictors: Mapping[str, PerturbedVariable]

    @classmethod
    def of(
        cls,
        right: str,
        factors: tuple[Factor, ...],
        frame: pd.DataFrame,
        kinds: NDArray[np.int64],
        predictors: Mapping[str, PerturbedVariable],
    ) -> tuple[ModelLayout, FloatArray]:
        """Returns the layout and its matrix of the table that has all public values and all answers. Raises EstimateError."""
        result = _matrix(_looked_up(right), factors, frame, kinds)
        layout = cls(right, factors, result.model_spec, predictors)
        layout.require_known(frame, kinds)
        return layout, np.asarray(result, dtype=np.float64).reshape(len(frame), -1)

    @property
    def names(self) -> list[str]:
        """The p columns."""
        return [str(name) for name in self.spec.column_names]

    @property
    def categories(self) -> dict[str, list[str]]:
        """The categories of each factor that has some."""
        states = {text: state.get("categories") for text, (_, state) in self.spec.encoder_state.items()}
        return {text: [str(one) for one in levels] for text, levels in states.items() if levels is not None}

    @property
    def parts(self) -> dict[str, list[str]]:
        """The columns of each term of the formula."""
        slices = self.spec.term_slices
        return {str(term): self.names[slices[term]] for term in formula.parsed(self.right) if term in slices}

    @property
    def variables(self) -> frozenset[str]:
        """The columns that the terms are made of."""
        return frozenset().union(*(factor.variables for factor in self.factors))

    def frame(self, public: pd.DataFrame, codes: NDArray[np.int64]) -> pd.DataFrame:
        """Returns public values and answers by their indices as the formula sees them, a column for each variable."""
        latent = {name: _values(variable, codes[:, j]) for j, (name, variable) in enumerate(self.predictors.items())}
        return public.reset_index(drop=True).assign(**latent)

    def matrix(self, frame: pd.DataFrame, kinds: NDArray[np.int64] | None = None) -> FloatArray:
        """Returns the columns' values, shape (rows, p).

        Args:
            frame: Every variable as the formula sees it.
            kinds: (rows,), the distinct public row that each row has; None for new rows.

        Raises:
            EstimateError: A factor cannot be computed, or has another category than the respondents.
        """
        self.require_known(frame, kinds)
        return np.asarray(_matrix(self.spec, self.factors, frame, kinds), dtype=np.float64).reshape(len(frame), -1)

    def require_known(self, frame: pd.DataFrame, kinds: NDArray[np.int64] | None) -> None:
        """Refuses a category that no respondent has.

        Raises:
            EstimateError: A category is unknown.
        """
        for factor in self.factors:
            _, state = self.spec.encoder_state.get(factor.text, (None, {}))
            levels = state.get("categories")
            if levels is None or factor.expression.text.startswith("hashed("):
                continue
            listed = set(levels)
            if not all(value in listed for each in flat(factor.values(frame, kinds)).values() for value in set(each.tolist())):
                raise EstimateError(f"{factor.text} must be one of {', '.join(map(str, levels))}, got another value")


@dataclass(frozen=True, eq=False)
class Terms:
    """Right-hand side for R distinct kinds of respondents and C combinations of answers to the perturbed predictors.

    Attributes:
        layout: The right-hand side, computable for any values.
        basis: The columns used for fitting.
        x: The terms in that basis, shape (R, C, p).
        w: The covariates of the combinations' distribution, shape (R, q).
        rows: One respondent of each kind, shape (R,).
        which: The kind of each respondent, shape (n,).
        combinations: Indexes of answers, shape (C, predictors).
        public: The different public values, Z rows.
        public_kind: The row of `public` that each kind has, shape (R,).
    """

    layout: ModelLayout
    basis: Basis
    x: FloatArray
    w: FloatArray
    rows: NDArray[np.int64]
    which: NDArray[np.int64]
    combinations: NDArray[np.int64]
    public: pd.DataFrame
    public_kind: NDArray[np.int64]

    @property
    def names(self) -> list[str]:
        """The p columns of the formula."""
        return self.basis.names

    @property
    def predictors(self) -> list[str]:
        """The perturbed predictors."""
        return list(self.layout.predictors)

    def count(self, weights: FloatArray | None) -> FloatArray:
        """Returns the respondents of each kind, or the sum of their weights, shape (R,)."""
        return np.bincount(self.which, weights, minlength=len(self.rows)).astype(np.float64)

    def everywhere(self) -> tuple[pd.DataFrame, NDArray[np.int64]]:
        """Returns all public values with all combinations of answers, Z C rows, and the public row that each has."""
        return _everywhere(self.layout, self.public, self.combinations)


def terms(
    right: str,
    covariates: str | None,
    data: pd.DataFrame,
    perturbed: Mapping[str, PerturbedVariable],
    outcome_kinds: Sequence[NDArray[Any]],
) -> Terms:
    """Returns the design matrix of the right-hand side.

    Args:
        right: The right-hand side.
        covariates: As in `regress`.
        data: The public columns.
        perturbed: The perturbed predictors.
        outcome_kinds: Further codes of respondents, (n,) each.

    Raises:
        EstimateError: A name is unknown, a value is missing, or terms are collinear.
    """
    expressions = formula.expressions(right)
    others = formula.expressions(covariates) if covariates else []
    formula.refuse_unknown([*expressions, *others], [*perturbed, *map(str, data.columns)])
    used = frozenset().union(*(one.names for one in (*expressions, *others)))
    predictors = {name: variable for name, variable in perturbed.items() if name in used}
    public = _public(data, [name for name in data.columns if name in used and name not in perturbed])
    combinations = _combinations([len(variable.answers) for variable in predictors.values()])
    public_kind = _kinds([_codes(public[name].to_numpy()) for name in public.columns], len(data))
    _, first, which = np.unique(public_kind, return_index=True, return_inverse=True)
    parts = [which, *(_codes(variable.patterns()) for variable in predictors.values()), *map(_codes, outcome_kinds)]
    _, rows, kind = np.unique(_kinds(parts, len(data)), return_index=True, return_inverse=True)
    distinct = public.iloc[first].reset_index(drop=True)
    latent = {name: _values(variable, combinations[:, j]) for j, (name, variable) in enumerate(predictors.items())}

    def fitted(expression: formula.Expression) -> Factor:
        own = [j for j, name in enumerate(predictors) if name in expression.names]
        _, some = np.unique(combinations[:, own], axis=0, return_index=True)
        return learned(expression, public, which, first, {name: values[some] for name, values in latent.items()}, len(some))

    frame, kinds = _everywhere(ModelLayout(right, (), None, predictors), distinct, combinations)
    layout, matrix = ModelLayout.of(right, tuple(map(fitted, expressions)), frame, kinds, predictors)
    basis = Basis.of(matrix, layout.names)
    x = matrix.reshape(len(distinct), len(combinations), -1)
    if covariates is None:
        w = orthogonal(np.column_stack([np.ones(len(x)), x[:, 0, (x == x[:, :1]).all(axis=(0, 1))]]))
    else:
        w = _distribution_terms(covariates, tuple(map(fitted, others)), distinct, set(predictors))
    there = which[rows]
    return Terms(layout, basis, basis.columns(x)[there], w[there], rows, kind.ravel(), combinations, distinct, there)


def labelled(variable: PerturbedVariable, labels: Any) -> Any:
    """Returns answers by their labels, as a formula sees a category: the reference is its first level."""
    import pandas as pd

    return pd.Categorical(labels, categories=[variable.reference, *(one for one in variable.answers if one != variable.reference)])


def _public(data: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Returns the used public columns, without unused levels. Raises EstimateError for a missing value."""
    for name in names:
        if missing := int(data[name].isna().sum()):
            raise EstimateError(f"{name} must not be missing in any row, got {missing:,} missing of {len(data):,}")
        if data[name].dtype.kind in "mM":
            raise EstimateError(
                f"{name} must be a number or a category, got times; convert them to days, for example (day - first).dt.days"
            )
    result = data[names]
    unused = {name: result[name].cat.remove_unused_categories() for name in names if hasattr(result[name], "cat")}
    return result.assign(**unused)


def _everywhere(layout: ModelLayout, public: pd.DataFrame, combinations: NDArray[np.int64]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    kinds = np.repeat(np.arange(len(public)), len(combinations))
    return layout.frame(public.iloc[kinds], np.tile(combinations, (len(public), 1))), kinds


def _distribution_terms(condition: str, factors: tuple[Factor, ...], public: pd.DataFrame, predictors: set[str]) -> FloatArray:
    """Returns the predictors of the perturbed predictors' distribution, shape (public kinds, q)."""
    if perturbed := sorted(predictors.intersection(*[frozenset().union(*(one.variables for one in factors))])):
        raise EstimateError(f"covariates must name public columns only, got {', '.join(perturbed)}")
    layout, matrix = ModelLayout.of(condition, factors, public, np.arange(len(public)), {})
    Basis.of(matrix, layout.names)  # refuses what is collinear
    return orthogonal(matrix)


def _combinations(sizes: Sequence[int]) -> NDArray[np.int64]:
    """Returns all combinations of categories, shape (C, predictors); a single empty one without perturbed predictors."""
    if (total := int(np.prod(sizes, dtype=object))) > MAX_COMBINATIONS:
        raise EstimateError(f"the perturbed predictors must have at most {MAX_COMBINATIONS:,} combinations of categories, got {total:,}")
    return np.array(list(itertools.product(*map(range, sizes))), dtype=np.int64).reshape(total, len(sizes))


def _codes(values: NDArray[Any]) -> NDArray[np.int64]:
    """Returns equal numbers from 0 for equal values."""
    if values.dtype == object:
        import pandas as pd

        return pd.factorize(values)[0].astype(np.int64)
    return np.unique(values, return_inverse=True)[1].ravel()


def _kinds(parts: Sequence[NDArray[np.int64]], n: int) -> NDArray[np.int64]:
    """Returns one number from 0 for each distinct combination of codes."""
    kind = np.zeros(n, dtype=np.int64)
    for part in parts:
        kind = _codes(kind * (int(part.max(initial=0)) + 1) + part)
    return kind


def _values(variable: PerturbedVariable, codes: NDArray[np.int64]) -> Any:
    """Returns a latent answer as a formula sees it: its score, or a category whose first level is the reference."""
    if (scores := variable.answer_scores) is not None:
        return scores[codes]
    return labelled(variable, np.asarray(variable.answers, dtype=object)[codes])


def _looked_up(right: str) -> Any:
    """Returns the formula with each factor looked up by its text."""
    from formulaic import Formula
    from formulaic.parser.types import Factor as Lookup
    from formulaic.parser.types import Term

    def looked_up(factor: Any) -> Any:
        return factor if factor.eval_method.value == "literal" else Lookup(factor.expr, eval_method="lookup")

    return Formula([Term([looked_up(factor) for factor in term.factors]) for term in formula.parsed(right)])


def _matrix(source: Any, factors: Sequence[Factor], frame: pd.DataFrame, kinds: NDArray[np.int64] | None) -> Any:
    import pandas as pd
    from formulaic.errors import FormulaicError, FormulaicWarning

    with np.errstate(all="ignore"):
        context = {factor.text: factor.values(frame, kinds) for factor in factors}
    rows = pd.DataFrame({"": np.zeros(len(frame))})  # the number of rows, for what is made of numbers alone
    try:
        return source.get_model_matrix(rows, na_action="raise", context=context, output="numpy")
    except FormulaicWarning:
        raise EstimateError("a category must be one of the levels that the formula names, got another value") from None
    except (FormulaicError, ValueError, TypeError) as error:
        raise EstimateError(f"formula cannot be computed: {formula.plain(error)}") from None
