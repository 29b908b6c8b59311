"""Simulated surveys, perturbed as real ones are: for teaching, planning and tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deniable.device.branching import apply_skip_logic
from deniable.device.encode import positions, round_stochastically
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.device.sampling import draw
from deniable.device.sealed import sealed
from deniable.errors import EstimateError
from deniable.survey import Survey
from deniable.survey.exclusive import contradictions
from deniable.survey.question import Question
from deniable.survey.rules import allowed
from deniable.wire.public import some_of
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

Shares = Mapping[str, float] | Sequence[float] | FloatArray
"""The true shares of a question's options: by option (missing ones are 0), or all of them in order. They add to 1."""

_YES, _NO, _NO_ANSWER = 0, 1, 2  # the places of a multiple choice's categories
_CLOSE = 1e-6  # tolerance of sums of shares, for rounding


@dataclass(frozen=True, eq=False)
class Simulated:
    """A survey answered by n simulated people.

    Attributes:
        survey: The survey.
        n: The number of people.
        reports: The records that a server would have.
        answers: The true answers, which a server would not have.
    """

    survey: Survey
    n: int
    reports: bytes
    answers: pd.DataFrame = field(repr=False)

    @cached_property
    def bits(self) -> NDArray[np.bool_]:
        """The reports unpacked, shape (n, record_bits)."""
        return unpack(self.survey, self.reports, self.n)

    @cached_property
    def tally(self) -> Tally:
        """The reports counted."""
        return Tally.from_bits(self.bits)

    @cached_property
    def truth(self) -> pd.DataFrame:
        """The shares among these people: columns question, option and share, in the order of an estimate's rows.

        A number between two levels counts in part for each, so that the levels' mean is the numbers' mean. For a number through a window,
        only that mean is estimated, and not the levels' shares.
        """
        import pandas as pd

        rows = [
            (item.id, option, share)
            for item, places in zip(self.survey.items, _positions_after_skips(self.survey, self.answers), strict=True)
            for option, share in zip(item.categories, _shares_of(item, places).tolist(), strict=True)
        ]
        return pd.DataFrame(rows, columns=["question", "option", "share"])


@sealed
def simulate(survey: Survey, truth: pd.DataFrame | Mapping[str, Shares], n: int | None = None) -> Simulated:
    """Simulates n people who answer a survey. Their answers pass the same coins as real ones, from the system's generator.

    A multiple choice has a column, or shares, for each of its items, such as `drugs[tea]`. A question that `show_if` hides from a person
    is sent as "no answer". There is no seed: coins that can be repeated protect no one.

    If a multiple choice has exclusive options or limits, no person contradicts themselves. From shares, first the people who skip the
    question are drawn (its items have the same share of "no answer"), then the exclusive option of each other person, if any. The rest
    choose among the other options within the limits, and at least one option if there is a `none`: independently, as far as the shares
    allow. Each share remains a share of all n people.

    Args:
        survey: The survey.
        truth: The share of each option, bin or level, by question; questions are then independent. Or a DataFrame of answers, a row for
            each person and a column for each question; its rows are drawn with replacement, which keeps associations.
        n: The number of people. Without n, each row of the DataFrame answers once.

    Raises:
        EstimateError: An argument is invalid, no people can have these shares, or a row contradicts itself. It quotes no answer.
    """
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise EstimateError(f"n must be a whole number of at least 1, got {n if isinstance(n, int | float) else type(n).__name__}")
    ids = [item.id for item in survey.items]
    if missing := [name for name in ids if name not in truth]:
        raise EstimateError(f"truth must have every question of survey {survey.id}; missing: {', '.join(missing)}")
    people = np.random.default_rng(os_words(4))  # draws people; coins come from os_words
    answers = _drawn_from_shares(survey, truth, n, people) if isinstance(truth, Mapping) else _resampled(truth, ids, n, people)
    positions_of_items = _positions_after_skips(survey, answers)
    bits = [
        randomize(item.channel, round_stochastically(item, places, os_words), os_words)
        for item, places in zip(survey.items, positions_of_items, strict=True)
    ]
    return Simulated(survey, len(answers), pack(survey, bits, draw(survey, len(answers), os_words)), answers)


def _drawn_from_shares(survey: Survey, truth: Mapping[str, Shares], n: int | None, people: np.random.Generator) -> pd.DataFrame:
    """Returns the answers of n people with these shares. Raises EstimateError without n."""
    import pandas as pd

    if n is None:
        raise EstimateError("n is missing: it is required if truth has shares")
    codes = [column for question in survey.questions for column in _codes(question, truth, n, people)]
    columns = {
        item.id: pd.Categorical.from_codes(column, pd.Index(item.categories)) for item, column in zip(survey.items, codes, strict=True)
    }
    return pd.DataFrame(columns)


def _codes(question: Question, truth: Mapping[str, Shares], n: int, people: np.random.Generator) -> Sequence[NDArray[np.int64]]:
    """Returns the categories of n people for each item of a question, each of shape (n,)."""
    shares = [_checked(item, truth[item.id]) for item in question.items]
    if question.limits:
        return list(_selected_categories(question, question.limits, np.stack(shares), n, people))
    return [people.choice(item.k, n, p=share) for item, share in zip(question.items, shares, strict=True)]


def _selected_categories(
    question: Question, limits: tuple[int, int], shares: FloatArray, n: int, people: np.random.Generator
) -> NDArray[np.int64]:
    """Returns the categories of n people for the items of a multiple choice with rules, shape (items, n); none contradicts.

    Args:
        question: A multiple choice that has exclusive options or limits.
        limits: The least and the greatest number of options that people choose who choose no exclusive one.
        shares: The shares of each item's categories (yes, no, and no answer if it is optional), shape (items, k).
        n: How many people.
        people: The generator that draws people.

    Raises:
        EstimateError: The shares are impossible together.
    """
    apart = np.array([label in question.exclusive for label in question.labels])
    left_out = shares[0, 2] if shares.shape[1] > 2 else 0.0
    if shares.shape[1] > 2 and np.ptp(shares[:, 2]) > _CLOSE:
        got = f"{shares[:, 2].min():.6g} to {shares[:, 2].max():.6g}"
        raise EstimateError(
            f"the shares of no answer of {question.id} must be the same for all its options, which are left out together, got {got}"
        )
    alone, others = shares[apart, 0], shares[~apart, 0]
    free = 1 - left_out - alone.sum()
    _check_together(question, limits, alone, others, left_out)
    codes = np.full((len(shares), n), _NO)
    kind = people.choice(len(alone) + 2, n, p=_normed(np.array([*alone, left_out, free])))
    for index, row in enumerate(np.flatnonzero(apart)):
        codes[row, kind == index] = _YES
    codes[:, kind == len(alone)] = _NO_ANSWER
    choosers = np.flatnonzero(kind == len(alone) + 1)
    if choosers.size:
        chosen = _chosen(np.minimum(others / free, 1.0), limits, len(choosers), people)
        codes[np.ix_(np.flatnonzero(~apart), choosers)] = np.where(chosen, _YES, _NO)
    return codes


def _check_together(question: Question, limits: tuple[int, int], alone: FloatArray, others: FloatArray, left_out: float) -> None:
    """Raises EstimateError if no people can have these shares of the exclusive options and of the others."""
    most = alone.sum() + left_out
    if most > 1 + _CLOSE:
        raise EstimateError(f"the shares of the exclusive options of {question.id}, with no answer, must add to at most 1, got {most:.6g}")
    if (highest := others.max() + most) > 1 + _CLOSE:
        raise EstimateError(
            f"the share of each other option of {question.id}, "
            f"with all exclusive ones and no answer, must add to at most 1, got {highest:.6g}"
        )
    if question.none is not None and (total := others.sum() + most) < 1 - _CLOSE:
        raise EstimateError(
            f"the shares of {question.id} must add to at least 1, "
            f"since {question.none!r} is for all who choose nothing else, got {total:.6g}"
        )
    least, greatest = (limit * max(1 - most, 0.0) for limit in limits)
    if not least - _CLOSE <= (total := others.sum()) <= greatest + _CLOSE:
        raise EstimateError(
            f"the shares of the options of {question.id} that are not exclusive must add to {least:.6g} to {greatest:.6g}, "
            f"since each person who answers with them chooses {limits[0]:,} to {limits[1]:,}, got {total:.6g}"
        )


def _normed(chances: FloatArray) -> FloatArray:
    positive = np.maximum(chances, 0)
    return np.asarray(positive / positive.sum())


def _chosen(shares: FloatArray, limits: tuple[int, int], n: int, people: np.random.Generator) -> NDArray[np.bool_]:
    """Returns which options n people choose, shape (options, n): each option with its chance, and each person within the limits.

    As many people as possible choose independently, given the limits, which makes some options too rare or too frequent. The chances of
    the others make up for it: systematic sampling in a random order, with one of two neighbouring numbers of options.

    Args:
        shares: The chance of each option. They add to a number within the limits.
        limits: The least and the greatest number of options.
        n: How many people.
        people: The generator that draws people.
    """
    table = _chances_to_fit(shares, limits)
    conditional, target = (_slack(chances, limits) for chances in (_chances_given_fit(shares, table), shares))
    tight = conditional > target
    part = float((target[tight] / conditional[tight]).min(initial=1.0))
    is_independent = people.random(n) < part
    chosen = np.zeros((len(shares), n), dtype=bool)
    chosen[:, is_independent] = _independent(shares, table, int(is_independent.sum()), people)
    if not is_independent.all():
        rest = (target - part * conditional)[: len(shares)] / (1 - part)
        chosen[:, ~is_independent] = _systematic(rest, limits, int((~is_independent).sum()), people)
    return chosen


def _slack(chances: FloatArray, limits: tuple[int, int]) -> FloatArray:
    """Returns how far chances are from each of their bounds: 0 and 1 for each option, and the limits for their sum."""
    total = chances.sum()
    return np.asarray(np.maximum([*chances, *(1 - chances), total - limits[0], limits[1] - total], 0))


def _chances_to_fit(shares: FloatArray, limits: tuple[int, int]) -> FloatArray:
    """Returns the chance to end within the limits, of people who chose `count` of the first `i` options, at [i, count]."""
    table = np.zeros((len(shares) + 1, len(shares) + 2))
    table[-1, limits[0] : limits[1] + 1] = 1
    for i, share in reversed(list(enumerate(shares))):
        table[i, :-1] = share * table[i + 1, 1:] + (1 - share) * table[i + 1, :-1]
    return table


def _chances_given_fit(shares: FloatArray, table: FloatArray) -> FloatArray:
    """Returns the chance of each option for people who choose independently, given that they end within the limits."""
    counts, chances = np.zeros(table.shape[1]), np.empty(len(shares))
    counts[0] = 1
    for i, share in enumerate(shares):
        chances[i] = share * (counts[:-1] @ table[i + 1, 1:]) / table[0, 0]
        counts = (1 - share) * counts + share * np.roll(counts, 1)
    return chances


def _independent(shares: FloatArray, table: FloatArray, n: int, people: np.random.Generator) -> NDArray[np.bool_]:
    """Returns the options of n people who choose independently, given that they end within the limits, shape (options, n)."""
    counts, chosen = np.zeros(n, dtype=np.int64), np.empty((len(shares), n), dtype=bool)
    for i, share in enumerate(shares):
        chosen[i] = people.random(n) * table[i, counts] < share * table[i + 1, counts + 1]
        counts += chosen[i]
    return chosen


def _systematic(chances: FloatArray, limits: tuple[int, int], n: int, people: np.random.Generator) -> NDArray[np.bool_]:
    """Returns the options of n people by systematic sampling, each in an order of their own, shape (options, n)."""
    total = chances.sum()
    within = np.minimum(chances, 1) * np.clip(total, *limits) / total  # rounding errors and tolerances may break a limit
    order = people.permuted(np.tile(np.arange(len(chances), dtype=np.int16), (n, 1)), axis=1)
    steps = np.floor(np.cumsum(within[order], axis=1) + people.random((n, 1)))
    chosen = np.empty((n, len(chances)), dtype=bool)
    np.put_along_axis(chosen, order.astype(np.int64), np.diff(steps, prepend=0) > 0, axis=1)
    return chosen.T


def _resampled(frame: pd.DataFrame, ids: Sequence[str], n: int | None, people: np.random.Generator) -> pd.DataFrame:
    if not len(frame):
        raise EstimateError("truth must have at least 1 row, got 0")
    chosen = frame[list(ids)]
    return (chosen if n is None else chosen.iloc[people.integers(len(frame), size=n)]).reset_index(drop=True)


def _checked(item: Question, shares: Shares) -> FloatArray:
    if isinstance(shares, Mapping):
        if others := sum(option not in item.categories for option in shares):
            raise EstimateError(f"the options of {item.id} must be {some_of(item.categories)}; got {others:,} other{'s' * (others > 1)}")
        shares = [shares.get(option, 0.0) for option in item.categories]
    try:
        values = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):  # numpy's message would quote an answer
        values = np.empty(0)
    if values.shape != (item.k,) or not (values >= 0).all() or abs(values.sum() - 1) > 1e-6:
        raise EstimateError(f"the shares of {item.id} must be {item.k} numbers of at least 0 that add to 1; these are not")
    return np.asarray(values / values.sum())


def _places(item: Question, column: pd.Series[Any]) -> FloatArray:
    """Returns each answer's position among the categories; each distinct answer is looked up once."""
    if hasattr(column, "cat") and tuple(column.cat.categories) == item.categories:  # drawn from shares: the name of a bin is not an answer
        codes, lookup = column.cat.codes.to_numpy(), np.append(np.arange(item.k, dtype=np.float64), positions(item, [None]))
    else:
        codes, distinct = column.factorize()
        lookup = positions(item, [*distinct.tolist(), None])
    places = lookup[codes]  # a code of -1 means no answer
    if (wrong := np.flatnonzero(places < 0)).size:
        raise EstimateError(f"truth, row {wrong[0] + 1}, {item.id}: the answer must be {allowed(item)}")
    return np.asarray(places)


def _positions_after_skips(survey: Survey, answers: pd.DataFrame) -> list[FloatArray]:
    """Returns the positions of all answers, by item; "no answer" for questions that skip logic hides."""
    places = np.stack([_places(item, answers[item.id]) for item in survey.items])
    lower = np.floor(places).astype(np.int64)
    for name, rule, wrong in contradictions(survey, lower):
        if wrong.any():
            raise EstimateError(f"truth, row {np.flatnonzero(wrong)[0] + 1}, {name}: the answer must be {rule}")
    visible = apply_skip_logic(survey, lower)
    return list(np.where(visible == lower, places, visible))


def _shares_of(item: Question, places: FloatArray) -> FloatArray:
    lower = np.floor(places).astype(np.int64)
    upper = np.minimum(lower + 1, item.k - 1)
    counts = np.bincount(lower, 1 - (places - lower), item.k) + np.bincount(upper, places - lower, item.k)
    return np.asarray(counts / len(places))
