"""Made-up surveys, perturbed as real ones are: for teaching, planning and tests."""

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
from deniable.survey.question import Question
from deniable.survey.rules import allowed
from deniable.wire.public import some_of
from deniable.wire.record import pack, unpack
from deniable.wire.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

Shares = Mapping[str, float] | Sequence[float] | NDArray[np.float64]
"""The true shares of a question's options: by option (those left out are 0), or all of them in order. They add to 1."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """A survey that n made-up people answered. reports: what a server would have, n records. answers: what it would not."""

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
        """The shares among these very people: columns question, option, share; in the order of an estimate's rows, where it has them all.

        A number between two levels counts in part for each, so that the levels' mean is the numbers' mean. Of a number through a window
        there is an estimate of that mean, and none of the levels' shares.
        """
        import pandas as pd

        rows = [
            (item.id, option, share)
            for item, places in zip(self.survey.items, _shown_places(self.survey, self.answers), strict=True)
            for option, share in zip(item.categories, _shares_of(item, places).tolist(), strict=True)
        ]
        return pd.DataFrame(rows, columns=["question", "option", "share"])


@sealed
def simulate(survey: Survey, truth: pd.DataFrame | Mapping[str, Shares], n: int | None = None) -> Simulated:
    """Has n made-up people answer a survey; their answers go through the same coins as real ones, from the system's generator.

    truth: the share of each option, bin or level, question by question, which are then independent. Or a DataFrame of answers, a row a
    person and a column a question, whose rows are drawn with replacement, so that what goes together stays together; without n, each
    row once.
    A multiple choice has a column, or shares, for each of its items, such as `drugs[tea]`. What `show_if` hides from a person is sent
    as no answer.
    No seed is taken: coins that can be repeated protect nobody. Raises EstimateError, which quotes no answer.
    """
    if n is not None and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise EstimateError(f"n must be a whole number of at least 1, got {n if isinstance(n, int | float) else type(n).__name__}")
    ids = [item.id for item in survey.items]
    if missing := [name for name in ids if name not in truth]:
        raise EstimateError(f"truth must have every question of survey {survey.id}; missing: {', '.join(missing)}")
    people = np.random.default_rng(os_words(4))  # decides who is asked; no coin comes from here
    answers = _drawn(survey, truth, n, people) if isinstance(truth, Mapping) else _resampled(truth, ids, n, people)
    stand = _shown_places(survey, answers)
    bits = [
        randomize(item.channel, round_stochastically(item, places, os_words), os_words)
        for item, places in zip(survey.items, stand, strict=True)
    ]
    return Simulated(survey, len(answers), pack(survey, bits, draw(survey, len(answers), os_words)), answers)


def _drawn(survey: Survey, truth: Mapping[str, Shares], n: int | None, people: np.random.Generator) -> pd.DataFrame:
    import pandas as pd

    if n is None:
        raise EstimateError("n must be given where truth has shares")
    columns = {
        item.id: pd.Categorical.from_codes(people.choice(item.k, n, p=_checked(item, truth[item.id])), pd.Index(item.categories))
        for item in survey.items
    }
    return pd.DataFrame(columns)


def _resampled(frame: pd.DataFrame, ids: Sequence[str], n: int | None, people: np.random.Generator) -> pd.DataFrame:
    if not len(frame):
        raise EstimateError("truth must have at least 1 row, got 0")
    chosen = frame[list(ids)]
    return (chosen if n is None else chosen.iloc[people.integers(len(frame), size=n)]).reset_index(drop=True)


def _checked(item: Question, shares: Shares) -> NDArray[np.float64]:
    if isinstance(shares, Mapping):
        if others := sum(option not in item.categories for option in shares):
            raise EstimateError(f"the options of {item.id} must be {some_of(item.categories)}; got {others:,} other{'s' * (others > 1)}")
        shares = [shares.get(option, 0.0) for option in item.categories]
    try:
        values = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError):  # whose message quotes what is no number
        values = np.empty(0)
    if values.shape != (item.k,) or not (values >= 0).all() or abs(values.sum() - 1) > 1e-6:
        raise EstimateError(f"the shares of {item.id} must be {item.k} numbers of at least 0 that add to 1; these are not")
    return np.asarray(values / values.sum())


def _places(item: Question, column: pd.Series[Any]) -> NDArray[np.float64]:
    """Where each answer stands among the categories, each different answer looked up once."""
    if hasattr(column, "cat") and tuple(column.cat.categories) == item.categories:  # drawn from shares: a bin's name is no answer
        codes, known = column.cat.codes.to_numpy(), np.append(np.arange(item.k, dtype=np.float64), positions(item, [None]))
    else:
        codes, distinct = column.factorize()
        known = positions(item, [*distinct.tolist(), None])
    found = known[codes]  # a code of -1 means that there is no answer
    if (wrong := np.flatnonzero(found < 0)).size:
        raise EstimateError(f"truth, row {wrong[0] + 1}, {item.id}: the answer must be {allowed(item)}")
    return np.asarray(found)


def _shown_places(survey: Survey, answers: pd.DataFrame) -> list[NDArray[np.float64]]:
    """Where everybody's answers stand, item by item; "no answer" for what the device hides."""
    found = np.stack([_places(item, answers[item.id]) for item in survey.items])
    lower = np.floor(found).astype(np.int64)
    shown = apply_skip_logic(survey, lower)
    return list(np.where(shown == lower, found, shown))


def _shares_of(item: Question, places: NDArray[np.float64]) -> NDArray[np.float64]:
    lower = np.floor(places).astype(np.int64)
    upper = np.minimum(lower + 1, item.k - 1)
    counts = np.bincount(lower, 1 - (places - lower), item.k) + np.bincount(upper, places - lower, item.k)
    return np.asarray(counts / len(places))
