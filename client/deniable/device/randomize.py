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

    Raises ValueError, which quotes none, for categories that are no such integers: -1, as `encode_column` gives where an answer means none,
    has no coin, and would be sent as it is.
    """
    if problem := _problem(channel, categories):
        del categories  # no frame of ours shows them
        raise ValueError(problem)
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


def _problem(channel: Channel, categories: NDArray[Any]) -> str | None:
    if categories.ndim != 1 or categories.dtype.kind not in "iu":
        return f"categories must be an array of n integers, got {categories.ndim} dimensions of {categories.dtype}"
    if not categories.size or (categories.min() >= 0 and categories.max() < channel.k):
        return None
    wrong = np.count_nonzero((categories < 0) | (categories >= channel.k))
    return f"categories must be from 0 to {channel.k - 1}, and {wrong:,} of {len(categories):,} are not"


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
    return _sets(channel, categories, kept, words)


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


def _sets(
    channel: Channel, categories: NDArray[np.integer[Any]], kept: NDArray[np.bool_], words: Words
) -> NDArray[np.unsignedinteger[Any]]:
    """`numbers` for more than two categories: the others as `choose` draws them, and the own category put between them.

    What costs is memory, not arithmetic: two arrays and the words of one step are all there is.
    The two are one piece: the C library keeps what is freed where it is no more than twice the largest piece, and else asks the system for
    every page anew, which takes a third as long again.
    """
    n, others, first = len(kept), channel.k - 1, channel.k - 1 - channel.d
    number: Any = np.min_scalar_type((1 << channel.k) - 1).type
    one, top = number(1), number(1 << (others - 1))
    spare, (other, left) = np.empty(n, dtype=np.uint32), np.empty((2, n), dtype=number)
    other[:] = _uniform_below(first + 1, n, channel.coin, words, spare)
    np.right_shift(top, other, out=other)
    other *= ~kept
    newest = top >> number(first)
    np.bitwise_xor(number((1 << others) - int(newest)), other, out=left)  # who can be chosen by now and is not
    for last in range(first + 1, others):
        other[:] = _uniform_below(last + 1, n, channel.coin, words, spare)
        np.right_shift(top, other, out=other)
        newest >>= one
        # The newest comes in and the choice goes, where that makes less of the number. Bits of the older are higher: so it makes more where
        # the choice was chosen before, and the same where it is the newest. Then it is the newest who is chosen.
        other ^= newest
        other ^= left
        np.minimum(left, other, out=left)
    chosen: NDArray[Any] = np.bitwise_xor(left, number((1 << others) - 1), out=left)
    np.subtract(others, categories, out=other, casting="unsafe")
    own = np.left_shift(one, other, out=other)
    before = np.negative(own)  # all bits but those below the own category's
    before &= chosen
    chosen += before  # they make room for it
    own *= kept
    chosen |= own
    chosen >>= one
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


def _uniform_below(bound: int, n: int, coin: int, words: Words, out: NDArray[np.uint32] | None = None) -> NDArray[np.uint32]:
    """n uniform integers in [0, bound), by rejection; one possible value takes no word. They are written into `out` where there is one."""
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
    np.floor_divide(draws, np.uint32(bound), out=out)  # three steps that numpy does eight at a time, as it does not for %
    out *= np.uint32(bound)
    return np.subtract(draws, out, out=out)
