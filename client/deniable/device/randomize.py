"""Subset Selection and windows with integer coins: the only place where a coin is tossed.

Source: M. Ye and A. Barg, "Optimal schemes for discrete distribution estimation under locally
differential privacy", IEEE Trans. Inf. Theory 64 (2018), section III. A category becomes a set of
exactly `d` of the `k` categories; the own category is in it with probability `keep_threshold` / 2^32.
A number's level becomes one output, which with that probability is in the level's window.

No floating point decides anything here. `browser/randomize.mjs` is the twin of this file; shared
vectors hold the two together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from deniable.mechanism import WORD, Channel, Window

Words = Callable[[int], NDArray[np.uint32]]
"""Gives that many fresh, independent, uniform words below `Channel.coin`, in an array of its own."""


def randomize(channel: Channel, categories: NDArray[np.int64], words: Words) -> NDArray[np.bool_]:
    """Perturbs one question's categories, an array of n integers in [0, k), into bits of shape (n, outputs).

    Each row has exactly d bits set. Takes from `words`, for all n at once, first the coin, then d
    choices, or two for a window; which of them are used depends on the coin, how many are drawn does not.
    """
    if isinstance(channel, Window):
        return _output_near(channel, categories, words)
    n, k, d = len(categories), channel.k, channel.d
    rows = np.arange(n)
    kept = words(n) < channel.keep_threshold
    others = choose(d, k - 1, n, words, channel.coin, one_less=kept)
    bits = np.empty((n, k), dtype=np.bool_)
    bits[np.arange(k) != categories[:, None]] = others.ravel()
    bits[rows, categories] = kept
    return bits


def _output_near(channel: Window, categories: NDArray[np.int64], words: Words) -> NDArray[np.bool_]:
    """The bits of n reports through a window, shape (n, outputs): a place in it and one outside are drawn, and the coin chooses."""
    n = len(categories)
    first = np.where(categories < channel.levels, categories, channel.places - channel.width)
    kept = words(n) < channel.keep_threshold
    near = first + _uniform_below(channel.width, n, channel.coin, words)
    far = _uniform_below(channel.outside, n, channel.coin, words)
    far += np.where(far < first, 0, channel.width)
    place = np.minimum(np.where(kept, near, far), channel.outputs - 1)
    return np.asarray(place[:, None] == np.arange(channel.outputs))


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


def _uniform_below(bound: int, n: int, coin: int, words: Words) -> NDArray[np.int64]:
    """n uniform integers in [0, bound), by rejection; one possible value takes no word."""
    if bound == 1:
        return np.zeros(n, dtype=np.int64)
    largest = coin - coin % bound - 1
    draws = words(n)
    while (rejected := np.flatnonzero(draws > largest)).size:
        draws[rejected] = words(rejected.size)
    return (draws % bound).astype(np.int64)
