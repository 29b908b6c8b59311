"""Subset Selection and windows with integer coins: the only place where a coin is tossed.

Source: M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation under locally
differential privacy", IEEE Trans. Inf. Theory 64 (2018), section III. A category becomes a set of
exactly `d` of the `k` categories; the own category is in it with probability `keep_threshold` / 2^32.
A number's level becomes one output, which with that probability is in the level's window.

No floating point decides anything here. `browser/randomize.mjs` is the twin of this file; shared
vectors hold the two together. The sets of few categories are numbers, a bit for each, and those of many are rows of a table; the same
words give the same sets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import WORD, Channel, Window

FEW = 64
"""Bits of a report that is a number."""

Words = Callable[[int], NDArray[np.uint32]]
"""Gives that many fresh, independent, uniform words below `Channel.coin`, in an array that is not changed here."""


def randomize(channel: Channel, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.bool_]:
    """Perturbs one question's categories, an array of n integers in [0, k), into bits of shape (n, outputs).

    Each row has exactly d bits set. Takes from `words`, for all n at once, first the coin, then d
    choices, or two for a window; which of them are used depends on the coin, how many are drawn does not.
    """
    n, k, outputs = len(categories), channel.k, channel.outputs
    bits = np.empty((n, outputs), dtype=np.bool_)
    if outputs <= FEW:
        sets = numbers(channel, categories, words)
        bits[:, :-1] = sets[:, None] >> np.arange(outputs - 2, -1, -1, dtype=sets.dtype) & sets.dtype.type(1)
        bits[:, -1] = bits[:, :-1].sum(axis=1) < channel.d
        return bits
    if isinstance(channel, Window):
        bits[:] = _output_near(channel, categories, words)[:, None] == np.arange(outputs)
        return bits
    kept = _kept(channel, n, words)
    others = choose(channel.d, k - 1, n, words, channel.coin, one_less=kept)
    bits[np.arange(k) != categories[:, None]] = others.ravel()
    bits[np.arange(n), categories] = kept
    return bits


def numbers(channel: Channel, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.unsignedinteger[Any]]:
    """The same for at most FEW outputs, shape (n,): the bits of all but the last as a binary number, the first one's highest."""
    if isinstance(channel, Window):
        number: Any = np.min_scalar_type((1 << channel.outputs) - 1).type
        place = channel.outputs - 1 - _output_near(channel, categories, words)
        return np.asarray((number(1) << place.astype(number)) >> number(1))
    n, k = len(categories), channel.k
    kept = _kept(channel, n, words)
    if k == 2:
        np.not_equal(kept, categories, out=kept)
        return kept.view(np.uint8)
    others = _choose_few(channel, kept, words)
    own = others.dtype.type(1) << (k - 1 - categories).astype(others.dtype)
    others += others & ~(own - others.dtype.type(1))  # those before the own category make room for it
    own *= kept
    others |= own
    others >>= others.dtype.type(1)
    return others


def _kept(channel: Channel, n: int, words: Words) -> NDArray[np.bool_]:
    """The coins: who reports the own category."""
    return words(n) < channel.keep_threshold


def _output_near(channel: Window, categories: NDArray[np.integer[Any]], words: Words) -> NDArray[np.int64]:
    """The outputs of n reports through a window: a place in it and one outside are drawn, and the coin chooses."""
    n = len(categories)
    first = np.where(categories < channel.levels, categories.astype(np.int64), channel.places - channel.width)
    kept = _kept(channel, n, words)
    near = first + _uniform_below(channel.width, n, channel.coin, words)
    far = _uniform_below(channel.outside, n, channel.coin, words).astype(np.int64)
    far += np.where(far < first, 0, channel.width)
    return np.minimum(np.where(kept, near, far), channel.outputs - 1)


def _choose_few(channel: Channel, kept: NDArray[np.bool_], words: Words) -> NDArray[np.unsignedinteger[Any]]:
    """As `choose` for the others beside the own category, as numbers of k - 1 bits, the first one's highest."""
    n, highest, first = len(kept), channel.k - 2, channel.k - 1 - channel.d
    number: Any = np.min_scalar_type((1 << channel.k) - 1).type
    one, drawn, place = number(1), np.empty(n, dtype=number), np.empty(n, dtype=number)
    np.subtract(highest, _uniform_below(first + 1, n, channel.coin, words), out=place, casting="unsafe")
    chosen: NDArray[Any] = (~kept).astype(number) << place
    for last in range(first + 1, channel.k - 1):
        np.subtract(highest, _uniform_below(last + 1, n, channel.coin, words), out=place, casting="unsafe")
        np.right_shift(chosen, place, out=drawn)
        drawn &= one
        drawn <<= number(highest - last)
        chosen |= drawn  # `last`, where the choice was in already
        np.left_shift(one, place, out=place)
        chosen |= place
    return chosen


def choose(size: int, of: int, n: int, words: Words, coin: int = WORD, *, one_less: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
    """n uniform subsets of `size` among `of` things, shape (n, of); of one thing less in the rows where `one_less` is set.

    Floyd's sampling; without its first step it is Floyd's sampling of one less, so that as many words are drawn for both.
    """
    rows, chosen = np.arange(n), np.zeros((n, of), dtype=np.bool_)
    first = of - size
    chosen[rows, _uniform_below(first + 1, n, coin, words)] = True if one_less is None else ~one_less
    for last in range(first + 1, of):
        choice = _uniform_below(last + 1, n, coin, words)
        chosen[rows, np.where(chosen[rows, choice], last, choice)] = True
    return chosen


def _uniform_below(bound: int, n: int, coin: int, words: Words) -> NDArray[np.uint32]:
    """n uniform integers in [0, bound), by rejection; one possible value takes no word."""
    if bound == 1:
        return np.zeros(n, dtype=np.uint32)
    largest = coin - coin % bound - 1
    draws = words(n)
    if draws.max(initial=0) > largest:
        draws = draws.copy()
        while (rejected := np.flatnonzero(draws > largest)).size:
            draws[rejected] = words(rejected.size)
    multiples = draws // np.uint32(bound)  # three steps that numpy does eight at a time, as it does not for %
    multiples *= np.uint32(bound)
    remainders: NDArray[np.uint32] = np.subtract(draws, multiples, out=multiples)
    return remainders
