"""Subset selection and windows: every coin is tossed here, with integer arithmetic.

Source: M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", IEEE Trans. Inf.
Theory 64 (2018), section III. A category becomes a set of exactly `d` of the `k` categories; it contains the respondent's own category
with probability `keep_threshold` / 2^32. A number's level becomes one output, which is in the level's window with that probability.

No result depends on floating-point arithmetic. `browser/randomize.mjs` is the twin of this file; shared vectors tie the two together.
Sets of few categories are numbers with a bit for each category, and sets of many are rows of a table; equal words give equal sets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import WORD, Channel, Window

FEW = 64
"""Most bits of a report that is stored as a number."""

Words = Callable[[int], NDArray[np.uint32]]
"""Returns a number of fresh, independent, uniform words below `Channel.coin`, in an array that this module does not change."""


def randomize(channel: Channel, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.bool_]:
    """Perturbs one question's categories, an array of n integers in [0, k), into bits of shape (n, outputs).

    Each row has exactly d bits set. The draws from `words`, each for all n respondents at once, are the coin, then d choices, or two for
    a window. The coin decides which choices are used, not how many are drawn.

    Raises:
        ValueError: The categories are not such integers, but for example -1, which `encode_column` returns for invalid answers. The
            message quotes no category.
    """
    if problem := _problem(channel, categories):
        del categories  # so that no frame of this package shows them
        raise ValueError(problem)
    n, k, outputs = len(categories), channel.k, channel.outputs
    bits = np.empty((n, outputs), dtype=np.bool_)
    if outputs <= FEW:
        sets = randomize_as_numbers(channel, categories, words)
        bits[:, :-1] = sets[:, None] >> np.arange(outputs - 2, -1, -1, dtype=sets.dtype) & sets.dtype.type(1)
        bits[:, -1] = bits[:, :-1].sum(axis=1) < channel.d
        return bits
    if isinstance(channel, Window):
        bits[:] = _output_near(channel, categories, words)[:, None] == np.arange(outputs)
        return bits
    keeps = _coins(channel, n, words)
    others = choose(channel.d, k - 1, n, words, channel.coin, one_less=keeps)
    bits[np.arange(k) != categories[:, None]] = others.ravel()
    bits[np.arange(n), categories] = keeps
    return bits


def _problem(channel: Channel, categories: NDArray[Any]) -> str | None:
    if categories.ndim != 1 or categories.dtype.kind not in "iu":
        return f"categories must be an array of n integers, got {categories.ndim} dimensions of {categories.dtype}"
    if not categories.size or (categories.min() >= 0 and categories.max() < channel.k):
        return None
    wrong = np.count_nonzero((categories < 0) | (categories >= channel.k))
    return f"categories must be from 0 to {channel.k - 1}, and {wrong:,} of {len(categories):,} are not"


def randomize_as_numbers(channel: Channel, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.unsignedinteger[Any]]:
    """Returns randomized reports of at most FEW outputs as numbers, shape (n,): all bits but the last, the first one highest."""
    if isinstance(channel, Window):
        number: Any = np.min_scalar_type((1 << channel.outputs) - 1).type
        shift = channel.outputs - 1 - _output_near(channel, categories, words)
        return np.asarray((number(1) << shift.astype(number)) >> number(1))
    n, k = len(categories), channel.k
    keeps = _coins(channel, n, words)
    if k == 2:
        np.not_equal(keeps, categories, out=keeps)
        return keeps.view(np.uint8)
    return _sets(channel, categories, keeps, words)


def _coins(channel: Channel, n: int, words: Words) -> NDArray[np.bool_]:
    """Returns the coins: whether each respondent's own category is reported."""
    return words(n) < channel.keep_threshold


def _output_near(channel: Window, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.int64]:
    """Returns the outputs of n reports through a window: draws one output inside it and one outside, and a coin that chooses."""
    n = len(categories)
    first = np.where(categories < channel.levels, categories.astype(np.int64), channel.places - channel.width)
    keeps = _coins(channel, n, words)
    near = first + _uniform_below(channel.width, n, channel.coin, words)
    far = _uniform_below(channel.outside, n, channel.coin, words).astype(np.int64)
    far += np.where(far < first, 0, channel.width)
    return np.minimum(np.where(keeps, near, far), channel.outputs - 1)


def _sets(
    channel: Channel, categories: NDArray[np.integer[Any]], keeps: NDArray[np.bool_], words: Words
) -> NDArray[np.unsignedinteger[Any]]:
    """Returns `randomize_as_numbers` for more than two categories: others drawn as by `choose`, and the respondent's own inserted.

    Memory costs more than arithmetic, so there are only two arrays, in one allocation, and the words of one step. The C library keeps
    freed memory up to twice the largest piece; with more pieces it requests every page anew, which takes a third longer.
    """
    n, others, first = len(keeps), channel.k - 1, channel.k - 1 - channel.d
    number: Any = np.min_scalar_type((1 << channel.k) - 1).type
    one, top = number(1), number(1 << (others - 1))
    spare, (other, left) = np.empty(n, dtype=np.uint32), np.empty((2, n), dtype=number)
    other[:] = _uniform_below(first + 1, n, channel.coin, words, spare)
    np.right_shift(top, other, out=other)
    other *= ~keeps
    newest = top >> number(first)
    np.bitwise_xor(number((1 << others) - int(newest)), other, out=left)  # candidates that are not chosen yet
    for last in range(first + 1, others):
        other[:] = _uniform_below(last + 1, n, channel.coin, words, spare)
        np.right_shift(top, other, out=other)
        newest >>= one
        # The newest is added and the choice removed, if that makes the number smaller. Older candidates have higher bits: it gets larger if
        # the choice was chosen before, and stays the same if it is the newest. In both cases the newest is chosen.
        other ^= newest
        other ^= left
        np.minimum(left, other, out=left)
    chosen: NDArray[Any] = np.bitwise_xor(left, number((1 << others) - 1), out=left)
    np.subtract(others, categories, out=other, casting="unsafe")
    own = np.left_shift(one, other, out=other)
    before = np.negative(own)  # all bits except the ones below the respondent's own category
    before &= chosen
    chosen += before  # make room for it
    own *= keeps
    chosen |= own
    chosen >>= one
    return chosen


def choose(size: int, of: int, n: int, words: Words, coin: int = WORD, *, one_less: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """Returns n uniform subsets of `size` elements among `of`, shape (n, of); one element fewer in rows where `one_less` is set.

    This is Floyd's sampling: a choice that was chosen before is replaced by the newest element. Without its first step it samples one
    element fewer, so both sizes draw the same number of words. Places in the whole table are numbered in one row, which numpy finds faster
    than pairs.
    """
    start, spare, first = np.arange(n) * of, np.empty(n, dtype=np.uint32), of - size
    chosen = np.zeros((n, of), dtype=np.bool_)
    places, choice = chosen.reshape(-1), np.empty(n, dtype=start.dtype)
    np.add(start, _uniform_below(first + 1, n, coin, words, spare), out=choice)
    places[choice] = True if one_less is None else ~one_less
    for last in range(first + 1, of):
        np.add(start, _uniform_below(last + 1, n, coin, words, spare), out=choice)
        again = places[choice]
        places[choice] = True
        chosen[:, last] |= again
    return chosen


def _uniform_below(bound: int, n: int, coin: int, words: Words, out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
    """Returns n uniform integers in [0, bound), by rejection sampling, in `out` if any; a bound of 1 draws no word."""
    out = np.empty(n, dtype=np.uint32) if out is None else out
    if bound == 1:
        out.fill(0)
        return out
    largest = coin - coin % bound - 1
    draws = words(n)
    if draws.max(initial=0) > largest:
        draws = draws.copy()
        while (rejected := np.flatnonzero(draws > largest)).size:
            draws[rejected] = words(rejected.size)
    np.floor_divide(draws, np.uint32(bound), out=out)  # three steps that numpy vectorizes, unlike %
    out *= np.uint32(bound)
    return np.subtract(draws, out, out=out)
