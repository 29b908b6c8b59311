"""Model errors in plain words: separation, singular information, collinear terms, empty categories and too few people or clusters.

Library, command line and pages print these messages. Messages name variables and their categories, which are public, and no record.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from deniable.errors import ModelError
from deniable.estimate.arrays import FloatArray

MORE = "collect more answers"
JOIN = "join rare categories of a variable with others"
_CATEGORY = re.compile(r"(?:\[.+\])?(?: \([^()]*\))?$")
_FACTOR = re.compile(r"^C\((.+?)(?:,.*)?\)$")
_SHOWN = re.compile(r"\[(?:T\.)?([^\]]+)\]")
_OUTCOME = re.compile(r" \([^()]*\)$")  # the answer of an outcome that a coefficient is about
_AT_LIMIT = 0.1  # of the fastest change of any log odds: what changes less has a share between 0 and 1


def separation(outcome: str, concerned: Sequence[tuple[str, tuple[str, ...]]], terms: Sequence[str]) -> ModelError:
    """Returns the error of a model that estimates a share of 0 or 1.

    Args:
        outcome: The behaviour of no one or of everybody, such as "answers smokes = yes".
        concerned: Variables, each with the categories whose people are concerned; empty where these are no whole categories.
        terms: The coefficients that run to infinity.
    """
    variables = [name for name, _ in concerned] or _variables(terms)
    people = _conditions(concerned) if concerned else f"some values of {', '.join(variables)}"
    where = f"among people with {people}" if variables else "among all people"
    ways = [
        f"join categories of {' or of '.join(variables)} with others" if concerned else JOIN,
        "use a table of shares (`crosstab`), or for a numeric outcome the linear model (`model='linear'`, `--model linear`)",
        _leave_out(variables),
        MORE,
    ]
    return ModelError(
        f"the model has no estimate: {where}, no one or everybody {outcome}, as far as the reports can show",
        "The odds of a share of 0 or 1 are not finite. Where answers are perturbed, this may be chance: the coins can make a group look "
        "like this although its people differ",
        ways,
        f"no interior maximum: the likelihood keeps growing as {', '.join(terms)} runs to infinity (separation)",
        concerned,
        terms,
    )


def indistinct(terms: Sequence[str], statistics: str) -> ModelError:
    """Returns the error of reports that leave open how much is due to each of some terms; statistics: the measure and its value."""
    named = _terms_in_words(terms)
    return ModelError(
        f"the model has no estimate: these reports say too little about {named} to tell it apart from the rest of the model",
        "This happens with few people, with answers that are perturbed much, and with predictors that nearly always go together",
        [_leave_out(terms), JOIN, MORE],
        statistics,
        terms=terms,
    )


def unfinished(statistics: str) -> ModelError:
    """Returns the error of a search for estimates that has not ended."""
    return ModelError(
        "the model has no estimate: the computation has not settled on one, since the reports say too little about the model",
        ways=["leave a term out", JOIN, MORE],
        statistics=statistics,
    )


def collinear(terms: Sequence[str], far: bool) -> ModelError:
    """Returns the error of terms that are a function of others; far: whether some number is far from 0 beside its spread."""
    named = _terms_in_words(terms)
    centre = ["centre numbers that are far from 0 beside their spread, as with center()"] if far else []
    return ModelError(
        f"the model has no estimate: its terms repeat each other, since one of {', '.join(terms)} follows from the others",
        ways=[*centre, f"leave out one of {named}"],
        statistics=f"the terms must not be collinear: one of {', '.join(terms)} follows from the others",
        terms=terms,
    )


def empty(terms: Sequence[str]) -> ModelError:
    """Returns the error of terms that are 0 for every respondent, such as a combination of categories without people."""
    named = _terms_in_words(terms)
    return ModelError(
        f"the model has no estimate: no respondent has {named}",
        ways=[JOIN, _leave_out(terms)],
        statistics=f"formula must have terms that are not 0 in every row, got {', '.join(terms)}: no row has it",
        terms=terms,
    )


def too_few(respondents: int, needed: int, terms: int, statistics: str) -> ModelError:
    """Returns the error of a model with more coefficients than its respondents allow."""
    return ModelError(
        f"too few people for this model: it has {terms} coefficients and needs {needed:,} respondents, got {respondents:,}",
        "The error of fewer people's coefficients is not known well enough for an interval",
        ["leave a term out", JOIN, MORE],
        statistics,
    )


def one_respondent(terms: Sequence[str]) -> ModelError:
    """Returns the error of a linear model that a single respondent decides."""
    named = _terms_in_words(terms)
    return ModelError(
        f"the model has no error: a single respondent decides {named}, and without them nothing says how large it is",
        ways=[_leave_out(terms), JOIN, MORE],
        statistics=f"a linear model must hold without any one of its respondents, and {', '.join(terms)} does not (leverage)",
        terms=terms,
    )


def alike(terms: Sequence[str]) -> ModelError:
    """Returns the error of a linear model with equal reports about some terms."""
    named = _terms_in_words(terms)
    return ModelError(
        f"the model has no error: all reports that {named} is computed from are equal, which says nothing of how far people differ",
        "With few people that is chance; it does not show that the error is 0",
        [_leave_out(terms), JOIN, MORE],
        f"the reports that tell {', '.join(terms)} must not be all alike: nothing tells its error",
        terms=terms,
    )


def few_clusters(name: str, clusters: int) -> ModelError:
    """Returns the error of a cluster variable with a single cluster."""
    return ModelError(
        f"there must be at least 2 clusters, got {clusters} in {name}: a single cluster does not show how clusters differ",
        ways=["name a column with more clusters", "leave the clusters out if people were drawn one by one"],
    )


def within_clusters(terms: Sequence[str]) -> ModelError:
    """Returns the error of terms that are the same as single clusters."""
    named = _terms_in_words(terms)
    return ModelError(
        f"the model has no error: {named} is the same as a single cluster, and one cluster does not show how clusters differ",
        ways=[_leave_out(terms), "leave the clusters out if people were drawn one by one"],
        statistics=f"clusters must differ within the terms, got {', '.join(terms)}",
        terms=terms,
    )


def at_limit(
    columns: FloatArray, names: Sequence[str], change: FloatArray, categories: Mapping[str, Sequence[str]]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Returns the variables whose categories divide the rows at a limit from the others, each with its categories at the limit.

    Args:
        columns: Columns of the formula, shape (rows, p).
        names: Names of the columns.
        change: How fast the log odds of each row run to infinity, shape (rows,).
        categories: Categories of each factor of the formula.
    """
    limit = change > _AT_LIMIT * change.max()
    if limit.all():
        return ()
    holds = {name: np.abs(column - 1) < 1e-6 for name, column in zip(names, columns.T, strict=True)}
    concerned = []
    for factor, labels in categories.items():
        rows = {label: holds[name] for label in labels for name in (f"{factor}[T.{label}]", f"{factor}[{label}]") if name in holds}
        others = [label for label in labels if label not in rows]
        if rows and len(others) == 1:
            rows[others[0]] = ~np.any(list(rows.values()), axis=0)
        if chosen := tuple(label for label in labels if label in rows and rows[label].any() and limit[rows[label]].all()):
            concerned.append((_variable(factor), chosen))
    return tuple(concerned)


def _terms_in_words(terms: Sequence[str]) -> str:
    """Returns coefficients in words, without the intercepts beside others: "sex = f and age" for "sex[T.f]:age"."""
    others = [term for term in terms if not term.startswith("Intercept")] or terms
    conditions = [" and ".join(_SHOWN.sub(r" = \1", part) for part in term.split(":")) for term in others]
    return ", ".join(dict.fromkeys(_OUTCOME.sub("", each) for each in conditions))


def _leave_out(terms: Sequence[str]) -> str:
    variables = _variables(terms)
    return f"leave out {' or '.join(variables)}" if variables else "leave a term out"


def _conditions(concerned: Sequence[tuple[str, tuple[str, ...]]]) -> str:
    return " and among people with ".join(f"{name} = {' or '.join(categories)}" for name, categories in concerned)


def _variables(terms: Sequence[str]) -> list[str]:
    """Returns the variables of some coefficients, without the intercept and the outcome's answers."""
    parts = [part for term in terms if not term.startswith("Intercept") and " | " not in term for part in term.split(":")]
    return list(dict.fromkeys(_variable(_CATEGORY.sub("", part)) for part in parts))


def _variable(factor: str) -> str:
    return _FACTOR.sub(r"\1", factor).strip("`")
