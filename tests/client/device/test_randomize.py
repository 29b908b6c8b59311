"""Proof of the coins: exact arithmetic first, enumeration of every word next, statistics last. Every check has its control."""

from __future__ import annotations

import ast
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from importlib import import_module
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from deniable.device.encode import encode
from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.mechanism import WORD, Channel, Window
from deniable.survey import Survey
from deniable.wire.record import pack, unpack

RANDOMIZER = import_module("deniable.device.randomize")
MECHANISM = import_module("deniable.mechanism")


def one_source() -> str:
    """The mechanism and the randomizer as one file."""
    mechanism, randomizer = (Path(str(module.__file__)).read_text(encoding="utf-8") for module in (MECHANISM, RANDOMIZER))
    for line in ("from __future__ import annotations\n", "from deniable.mechanism import WORD, Channel, Window\n"):
        assert randomizer.count(line) == 1
        randomizer = randomizer.replace(line, "")
    return mechanism + randomizer


SOURCE = one_source()
Vectors = Callable[[str], list[dict[str, Any]]]


FEW, MANY = (None, None), ("FEW = 64", "FEW = 1")
"""Sets as numbers, as they are for every channel that is enumerated here; and what makes rows of a table of them."""
WAYS = pytest.mark.parametrize("way", [FEW, MANY], ids=["few", "many"])


def with_bug(*changes: tuple[str | None, str | None]) -> ModuleType:
    """The randomizer with pieces of its source text changed."""
    source = SOURCE
    for right, wrong in changes:
        if right is None or wrong is None:
            continue
        assert source.count(right) == 1, f"the source must hold this once: {right}"
        source = source.replace(right, wrong)
    module = ModuleType("broken")
    sys.modules["broken"] = module  # dataclasses look their module up
    try:
        exec(compile(source, "broken", "exec"), module.__dict__)
    finally:
        del sys.modules["broken"]
    module.__dict__["Window"] = Window  # which it must know again in the channels that it is given
    return module


# ---- thresholds ----------------------------------------------------------------------------------


def test_reference_figures_are_met_exactly(vectors: Vectors) -> None:
    for case in vectors("randomizer"):
        channel = Channel.for_epsilon(case["epsilon_declared"], case["k"])
        assert (channel.d, channel.keep_threshold) == (case["d"], case["keep_threshold"])
        assert float(channel.theta) == case["p_own_bit"]
        assert float(channel.phi) == case["p_other_bit"]
        assert float(channel.odds) == case["odds_actual"]
        assert channel.epsilon == case["epsilon_actual"]
        for subset, chance in case.get("channel_for_category_0", {}).items():
            assert float(probability(channel, tuple(map(int, subset.split(","))), 0)) == chance


def random_designs(count: int) -> Iterator[tuple[float, int]]:
    """Epsilons from 1e-5 to 10 and k from 2 to 1,024, half of each evenly spread and half by magnitude."""
    draw = random.Random(1)
    for i in range(count):
        epsilon = draw.uniform(0, 10) if i % 2 else 10 ** draw.uniform(-5, 1)
        yield epsilon, draw.randint(2, 1024) if i % 4 < 2 else int(2 ** draw.uniform(1, 10))


def keeps_its_word(channel: Channel, epsilon: float) -> bool:
    """Whether the loss is at most `epsilon`, one step of the coin more would exceed it, and no other d has less variance."""
    k, d, t = channel.k, channel.d, channel.keep_threshold
    with localcontext() as context:
        context.prec = 60
        low, high = Decimal(epsilon).exp().next_minus(), Decimal(epsilon).exp().next_plus()
        private = t * (k - d) <= low * (WORD - t) * d
        tight = (t + 1) * (k - d) > high * (WORD - t - 1) * d
        best = [variance(high, k, d) <= variance(high, k, other) for other in (d - 1, d + 1) if 0 < other < k]
    sizes = np.arange(1, k)
    everywhere = variance(math.exp(epsilon), k, d) <= variance(math.exp(epsilon), k, sizes).min() * (1 + 1e-9)
    return private and tight and all(best) and bool(everywhere)


def variance(power: Any, k: int, d: Any) -> Any:
    return (power * d + k - d) ** 2 / (d * (k - d))


@pytest.mark.slow
def test_for_ten_thousand_epsilons_the_loss_is_at_most_the_declared_one_and_nothing_is_given_away() -> None:
    designs = list(random_designs(10_000))
    kept = sum(keeps_its_word(Channel.for_epsilon(epsilon, k), epsilon) for epsilon, k in designs)
    print(f"{kept:,} of {len(designs):,} random (epsilon, k): actual loss <= declared, exactly; T + 1 exceeds it; d minimises the variance")
    assert kept == len(designs)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("WORD * own // (own + other))", "WORD * own // (own + other) + 1)"),
        ("WORD * own // (own + other))", "WORD * own // (own + other) - 1)"),
        ("d * (d + 1) <", "d * d <"),
        ("(k - d - 1) <<", "(k - d) <<"),
        ("SCALE = 192", "SCALE = 24"),
        ("power * d, (k - d)", "power, (k - d)"),
    ],
)
def test_a_mistake_of_one_step_in_a_threshold_is_noticed(right: str, wrong: str) -> None:
    broken = with_bug((right, wrong))
    assert not all(keeps_its_word(broken.Channel.for_epsilon(epsilon, k), epsilon) for epsilon, k in random_designs(500))


def test_an_exponential_in_floating_point_fails_the_vectors(vectors: Vectors) -> None:
    broken = with_bug(("    numerator, denominator = x.as_integer_ratio()", "    return int(math.exp(x) * 2.0**192)"))
    cases = vectors("thresholds")
    wrong = [c for c in cases if broken.Channel.for_epsilon(c["epsilon"], c["k"]).keep_threshold != c["keep_threshold"]]
    assert wrong


def test_fair_coins_stand_for_ln_3() -> None:
    channel = Channel.for_epsilon(math.nextafter(math.log(3), 2), 2)
    assert (channel.theta, channel.phi, channel.odds) == (Fraction(3, 4), Fraction(1, 4), 3)


# ---- the channel, by enumeration -----------------------------------------------------------------


class NeedsMore(Exception):
    """A report asks for another word than the stream has: a draw was rejected."""


class Columns:
    """Gives word i of every report at the i-th call; no second draw for anybody."""

    def __init__(self, streams: NDArray[np.uint32]) -> None:
        self.streams, self.used = streams, 0

    def __call__(self, count: int) -> NDArray[np.uint32]:
        n, length = self.streams.shape
        if count != n or self.used == length:
            raise NeedsMore
        self.used += 1
        return self.streams[:, self.used - 1].copy()


def needs_more(randomizer: ModuleType, channel: Channel, stream: NDArray[np.uint32]) -> bool:
    try:
        randomizer.randomize(channel, np.array([0]), Columns(stream[None, :]))
    except NeedsMore:
        return True
    return False


def enumerated(randomizer: ModuleType, channel: Channel, length: int, category: int) -> dict[tuple[int, ...], Fraction]:
    """The exact chance of each reported subset: every stream of `length` words is tried, rejected draws conditioned out."""
    streams = np.indices((channel.coin,) * length, dtype=np.uint32).reshape(length, -1).T
    alone = np.zeros((length, channel.coin, length), dtype=np.uint32)
    for position in range(length):
        alone[position, :, position] = np.arange(channel.coin)
    rejected = np.array([[needs_more(randomizer, channel, stream) for stream in part] for part in alone])
    dropped = np.any([rejected[position][streams[:, position]] for position in range(length)], axis=0)
    assert all(needs_more(randomizer, channel, stream) for stream in streams[dropped][::20])
    columns = Columns(streams[~dropped])
    bits = randomizer.randomize(channel, np.full(len(columns.streams), category), columns)
    assert columns.used == length
    counts = np.bincount(bits @ (1 << np.arange(channel.outputs)))
    found = np.flatnonzero(counts).tolist()
    return {tuple(i for i in range(channel.outputs) if one >> i & 1): Fraction(int(counts[one]), len(bits)) for one in found}


def probability(channel: Channel, subset: tuple[int, ...], category: int) -> Fraction:
    """P(subset | category) as Ye and Barg define it; for a window, that of its one output, counted out place by place."""
    if isinstance(channel, Window):
        return window_probability(channel, subset[0], category)
    k, d = channel.k, channel.d
    return channel.theta / math.comb(k - 1, d - 1) if category in subset else (1 - channel.theta) / math.comb(k - 1, d)


def window_probability(channel: Window, output: int, category: int) -> Fraction:
    """Places in a row, one each for the outputs of the levels and as many as a window is wide for an output that stands apart."""
    alone = channel.levels + channel.width - 1
    row = [*range(alone), *[alone] * channel.width * channel.apart]
    first = category if category < channel.levels else len(row) - channel.width
    window, others = row[first : first + channel.width], row[:first] + row[first + channel.width :]
    return channel.theta * Fraction(window.count(output), len(window)) + (1 - channel.theta) * Fraction(others.count(output), len(others))


def exact_channel(channel: Channel, category: int) -> dict[tuple[int, ...], Fraction]:
    return {subset: probability(channel, subset, category) for subset in combinations(range(channel.outputs), channel.d)}


TOYS = [  # the channel, and how many words a report takes where none is rejected
    (Channel(2, 1, 192, coin=256), 1),
    (Channel(2, 1, 129, coin=256), 1),
    (Channel(3, 1, 150, coin=256), 2),
    (Channel(4, 1, 100, coin=256), 2),
    (Channel(3, 2, 200, coin=256), 2),
    (Channel(4, 2, 45, coin=64), 3),
    (Channel(4, 3, 55, coin=64), 3),
    (Channel(5, 3, 12, coin=16), 4),
    (Window(3, 1, 24, 32, width=2), 3),
    (Window(4, 1, 21, 32, width=3), 3),
    (Window(4, 1, 20, 64, width=1), 2),
    (Window(4, 1, 22, 32, width=2, apart=True), 3),
    (Window(5, 1, 19, 32, width=3, apart=True), 3),
]


def name(channel: Channel) -> str:
    kind = f"w={channel.width}{', apart' * channel.apart}" if isinstance(channel, Window) else f"d={channel.d}"
    return f"k={channel.k},{kind},T={channel.keep_threshold}/{channel.coin}"


@pytest.mark.slow
@WAYS
@pytest.mark.parametrize(("channel", "length"), TOYS, ids=[name(c) for c, _ in TOYS])
def test_all_words_of_a_toy_coin_give_the_exact_channel(channel: Channel, length: int, way: tuple[str | None, str | None]) -> None:
    table = [enumerated(with_bug(way), channel, length, category) for category in range(channel.k)]
    assert table == [exact_channel(channel, category) for category in range(channel.k)]
    odds = max(one[subset] / other[subset] for one in table for other in table for subset in one)
    assert odds == channel.odds


BUGS = {
    "the coin's own value counts as kept": (FEW, ("words(n) < channel", "words(n) <= channel")),
    "the coin is turned round": (FEW, ("words(n) < channel", "words(n) > channel")),
    "no draw is rejected": (FEW, ("coin - coin % bound - 1", "coin - 1")),
    "one draw too many is rejected": (FEW, ("(draws > largest)", "(draws >= largest)"), ("initial=0) > largest", "initial=0) >= largest")),
    "one draw too few is rejected": (FEW, ("coin - coin % bound - 1", "coin - coin % bound")),
    "the last draw of all is not looked at": (FEW, ("draws.max(initial=0)", "draws[:-1].max(initial=0)")),
    "the remainder of another number": (FEW, ("(draws, np.uint32(bound)", "(draws, np.uint32(bound + 1)")),
    "one other too many beside a kept category": (FEW, ("other *= ~keeps", "other *= keeps | True")),
    "one other too few without it": (FEW, ("other *= ~keeps", "other *= keeps & False")),
    "the first draw counts when it must not": (FEW, ("other *= ~keeps", "other *= keeps")),
    "a label drawn twice counts once": (FEW, ("np.minimum(left, other", "np.minimum(left | newest, other")),
    "Floyd's replacement is off by one": (FEW, ("top >> number(first)", "top >> number(first + 1)")),
    "the last other is never drawn": (FEW, ("_uniform_below(last + 1, n, channel", "_uniform_below(last, n, channel")),
    "the first draw misses one other": (FEW, ("_uniform_below(first + 1, n, channel", "_uniform_below(first, n, channel")),
    "one step too few": (FEW, ("range(first + 1, others)", "range(first + 1, others - 1)")),
    "one word serves everybody": (FEW, ("draws = words(n)", "draws = np.repeat(words(1), n)")),
    "the own bit is another": (FEW, ("own *= keeps", "own *= ~keeps")),
    "nobody makes room for the own category": (FEW, ("before &= chosen", "before &= 0 * chosen")),
    "those behind the own category make room for it": (FEW, ("np.negative(own)", "own - one")),
    "the two categories are mixed up": (FEW, ("np.not_equal(keeps, categories", "np.equal(keeps, categories")),
    "the last bit is always set": (FEW, ("sum(axis=1) < channel.d", "sum(axis=1) <= channel.d")),
    "low bits of the coin only": (
        FEW,
        ("words(n) < channel.keep_threshold", "words(n) % 16 < channel.keep_threshold * 16 // channel.coin"),
    ),
    "one other too many beside a kept category, of many": (MANY, ("else ~one_less", "else True")),
    "one other too few without it, of many": (MANY, ("else ~one_less", "else False")),
    "the first draw counts when it must not, of many": (MANY, ("else ~one_less", "else one_less")),
    "a label drawn twice counts once, of many": (MANY, ("chosen[:, last] |= again", "chosen[:, last] |= False")),
    "Floyd's replacement is off by one, of many": (MANY, ("chosen[:, last] |= again", "chosen[:, last - 1] |= again")),
    "the last other is never drawn, of many": (MANY, ("_uniform_below(last + 1, n, coin", "_uniform_below(last, n, coin")),
    "the first draw misses one other, of many": (MANY, ("_uniform_below(first + 1, n, coin", "_uniform_below(first, n, coin")),
    "one step too few, of many": (MANY, ("range(first + 1, of)", "range(first + 1, of - 1)")),
    "the own bit lands elsewhere, of many": (
        MANY,
        ("bits[np.arange(n), categories] = keeps", "bits[np.arange(n), categories - 1] = keeps"),
    ),
    "the window is shifted by one": (FEW, ("near = first +", "near = first + 1 +")),
    "the window of no answer is that of the last level": (FEW, ("channel.places - channel.width)", "channel.levels - 1)")),
    "the window is one output narrower": (FEW, ("_uniform_below(channel.width, n", "_uniform_below(channel.width - 1, n")),
    "the outputs outside leave one out": (FEW, ("_uniform_below(channel.outside, n", "_uniform_below(channel.outside - 1, n")),
    "the outputs outside are one too many": (FEW, ("_uniform_below(channel.outside, n", "_uniform_below(channel.places, n")),
    "what lies outside begins inside": (FEW, ("np.where(far < first, 0", "np.where(far <= first, 0")),
    "what lies outside jumps one output less": (FEW, ("0, channel.width)", "0, channel.width - 1)")),
    "no answer is reported as the last output of the levels": (
        FEW,
        ("near, far), channel.outputs - 1)", "near, far), channel.outputs - 2)"),
    ),
    "every output is the next one": (FEW, ("shift = channel.outputs - 1 - _output", "shift = channel.outputs - 2 - _output")),
}


@pytest.mark.slow
def test_without_a_bug_the_changed_source_agrees_with_every_channel() -> None:
    """Else each of them would look noticed."""
    right = with_bug()
    for channel, length in TOYS:
        if channel.coin == 32:
            assert enumerated(right, channel, length, channel.k - 1) == exact_channel(channel, channel.k - 1)


def agrees(check: Callable[[], bool]) -> bool:
    """Whether a check holds; a crash is a failure too."""
    try:
        return check()
    except (AssertionError, LookupError, ValueError, ZeroDivisionError, NeedsMore):
        return False


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_fails_the_enumeration_or_the_vectors(bug: str, vectors: Vectors) -> None:
    broken = with_bug(*BUGS[bug])

    def same_channel(channel: Channel, length: int) -> bool:
        return all(enumerated(broken, channel, length, c) == exact_channel(channel, c) for c in range(channel.k))

    def same_bits(case: dict[str, Any]) -> bool:
        words = Columns(np.array([case["words"]], dtype=np.uint32))
        bits = broken.randomize(Channel(case["k"], case["d"], case["keep_threshold"]), np.array([case["category"]]), words)
        return np.flatnonzero(bits[0]).tolist() == case["ones"] and words.used == len(case["words"])

    toys = [toy for toy in TOYS if toy[0].coin > 16]
    by_enumeration = not all(agrees(partial(same_channel, *toy)) for toy in toys)
    by_vectors = not all(agrees(partial(same_bits, case)) for case in vectors("coins"))
    print(f"{bug}: {'enumeration ' * by_enumeration}{'vectors' * by_vectors}")
    assert by_enumeration or by_vectors


# ---- many at once --------------------------------------------------------------------------------


def test_many_respondents_at_once_get_what_each_would_get_alone() -> None:
    channel = Channel.for_epsilon(1.0, 9)
    rng = np.random.default_rng(5)
    streams = rng.integers(0, WORD // 9 * 9, (500, 1 + channel.d), dtype=np.uint32)  # no draw below 2 to 9 is rejected there
    categories = rng.integers(0, 9, 500)
    together = randomize(channel, categories, Columns(streams))
    alone = [randomize(channel, categories[i : i + 1], Columns(streams[i : i + 1]))[0] for i in range(500)]
    assert np.array_equal(together, alone)


def test_a_word_too_high_is_drawn_again_for_its_own_respondent_only() -> None:
    calls: list[int] = []

    def words(count: int) -> NDArray[np.uint32]:
        calls.append(count)
        # the coin keeps nobody; of the draws below 3, respondent 1's is rejected twice
        given = [[WORD - 1] * 4, [0, WORD - 1, 1, 2], [WORD - 1], [2]]
        return np.array(given[len(calls) - 1], dtype=np.uint32)

    bits = randomize(Channel(4, 1, 1), np.array([0, 0, 0, 0]), words)
    assert calls == [4, 4, 1, 1]
    assert bits.argmax(axis=1).tolist() == [1, 3, 2, 3]


@pytest.mark.parametrize("k", [2, 4, 65])
def test_no_respondents_give_no_bits(k: int) -> None:
    assert randomize(Channel(k, 1, 5), np.array([], dtype=np.int64), os_words).shape == (0, k)


@pytest.mark.parametrize("k", [2, 3, 7, 100, 256])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, ">i4"])
def test_a_category_that_has_no_coin_is_refused(k, dtype):
    """-1 stands where an answer means none: with two categories its report would be the same for everybody."""
    right = np.array([0, min(k - 1, 100)] * 3, dtype=dtype)
    assert randomize(Channel(k, 1, 5), right, os_words).sum() == 6
    for wrong in (-1, k, 2**64 - 1):
        if np.iinfo(dtype).min <= wrong <= np.iinfo(dtype).max:
            with pytest.raises(ValueError, match=f"categories must be from 0 to {k - 1}, and 1 of 7 are not") as caught:
                randomize(Channel(k, 1, 5), np.append(right, np.array([wrong], dtype=dtype)).astype(dtype), os_words)
            assert "categories" not in caught.tb.tb_next.tb_frame.f_locals


@pytest.mark.parametrize("wrong", [np.array([0.5, 1]), np.array([True]), np.array([[0]]), np.array(["yes"]), np.array([None])])
def test_what_is_no_column_of_categories_is_refused(wrong):
    with pytest.raises(ValueError, match=r"categories must be an array of n integers, got [12] dimensions of "):
        randomize(Channel(2, 1, 5), wrong, os_words)


def same_either_way(few: ModuleType, many: ModuleType) -> bool:
    """Whether two randomizers make the same bits of the same words, for sets of every kind, and where draws are rejected."""
    rng = np.random.default_rng(3)
    for k in (2, 3, 4, 8, 9, 16, 17, 32, 33, 63, 64, 65):
        for d in {1, k // 2, k - 1}:
            for coin, n in ((WORD, 200), (1 << 8, 2049)):
                channel, categories = Channel(k, d, coin * 2 // 3, coin), rng.integers(0, k, n)
                rows = [one.randomize(channel, categories, words_of(7, coin)) for one in (few, many)]
                narrow = few.randomize(channel, categories.astype(np.int8), words_of(7, coin))
                if not (np.array_equal(*rows) and np.array_equal(rows[0], narrow) and (rows[0].sum(axis=1) == d).all()):
                    return False
    return True


def words_of(seed: int, coin: int) -> Callable[[int], NDArray[np.uint32]]:
    rng = np.random.default_rng(seed)
    return lambda count: rng.integers(0, coin, count, dtype=np.uint32)


def test_sets_as_numbers_are_the_sets_as_rows_of_a_table_bit_for_bit() -> None:
    assert same_either_way(RANDOMIZER, with_bug(MANY))


def test_the_control_numbers_that_are_too_short_are_noticed() -> None:
    short = with_bug(("(1 << channel.k) - 1)", "(1 << channel.k - 2) - 1)"))
    assert not agrees(lambda: same_either_way(short, with_bug(MANY)))


def choose_one_by_one(size: int, of: int, words: Callable[[], int], one_less: bool) -> set[int]:
    """Floyd's sampling for one respondent, as in its textbook form: the reference."""
    first = of - size
    chosen = {words() % (first + 1)} if first else {0}
    chosen = set() if one_less else chosen
    for last in range(first + 1, of):
        choice = words() % (last + 1)
        chosen.add(last if choice in chosen else choice)
    return chosen


@pytest.mark.parametrize("n", [1, 7, 1_000])
@pytest.mark.parametrize(("size", "of"), [(1, 1), (1, 65), (65, 65), (17, 69), (69, 255), (254, 255)])
def test_choices_for_many_are_the_textbooks_choices_for_each(n: int, size: int, of: int) -> None:
    """Exactly, for the same words; they are bounded, so that no draw is rejected."""
    rng = np.random.default_rng(of + n)
    steps = range(max(1, of - size), of)  # the last element that each word chooses among; a choice among one takes no word
    streams = np.stack([rng.integers(0, WORD // (last + 1) * (last + 1), n, dtype=np.uint32) for last in (*steps, of)], axis=1)
    one_less = rng.integers(0, 2, n, dtype=np.bool_)
    table = RANDOMIZER.choose(size, of, n, Columns(streams), one_less=one_less)
    for row, stream, less in zip(table, streams.tolist(), one_less.tolist(), strict=True):
        assert set(np.flatnonzero(row).tolist()) == choose_one_by_one(size, of, iter(stream).__next__, less)


# ---- statistics, last ----------------------------------------------------------------------------

DRAWS = 2_000_000
SIX = Channel.for_epsilon(1.0, 6)  # d = 2: fifteen subsets


def fit(channel: Channel, category: int, counts: Counter[int]) -> float:
    """The chi-square p-value of reports, counted by their bits read as a binary number, against the exact channel."""
    expected = {sum(1 << label for label in subset): chance for subset, chance in exact_channel(channel, category).items()}
    if set(counts) - set(expected):
        return 0.0
    n = sum(counts.values())
    wanted = np.array([float(n * chance) for chance in expected.values()])
    seen = np.array([counts[subset] for subset in expected])
    return float(stats.chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(expected) - 1))


def p_value(randomizer: ModuleType) -> float:
    counts: Counter[int] = Counter()
    for _ in range(4):
        bits = randomizer.randomize(SIX, np.full(DRAWS // 4, 2), os_words)
        numbers, times = np.unique(bits @ (1 << np.arange(SIX.k)), return_counts=True)
        counts.update(dict(zip(numbers.tolist(), times.tolist(), strict=True)))
    return fit(SIX, 2, counts)


def test_two_million_draws_fit_the_exact_channel() -> None:
    p = p_value(RANDOMIZER)
    print(f"{DRAWS:,} draws over {math.comb(SIX.k, SIX.d)} subsets: p = {p:.3g}")
    assert p > 1e-6


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("words(n) < channel.keep_threshold", "words(n) < channel.keep_threshold // 100 * 99"),
        ("draws = words(n)", "draws = words(n) % np.uint32(16)"),
        ("other *= ~keeps", "other *= keeps & False"),
        ("newest >>= one", "newest >>= number(0)"),
    ],
    ids=["a threshold one percent low", "modulo bias of four bits", "d - 1 others", "a clash always falls on the first"],
)
def test_two_million_draws_of_a_seeded_bug_do_not_fit(right: str, wrong: str) -> None:
    p = p_value(with_bug((right, wrong)))
    print(f"p = {p:.3g}")
    assert p <= 1e-6


# ---- what the source may not hold ----------------------------------------------------------------


REPORTING = ("phi", "epsilon", "chances")  # properties that describe a channel in Fractions; no coin is tossed by them


def forbidden(source: str) -> list[str]:
    """Float literals, true divisions, floating functions and other sources of randomness, by the syntax tree."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name in REPORTING]
    described = {id(node) for function in functions for node in ast.walk(function)}
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"literal {node.value}")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            found += [f"import {name}" for name in modules if {"random", "secrets", "time", "os"} & set(name.split("."))]
        elif id(node) not in described and floating_or_random(node):
            found.append(ast.unparse(node))
    return found


def floating_or_random(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp | ast.AugAssign):
        return isinstance(node.op, ast.Div)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("float", "round", "pow")
    if isinstance(node, ast.Attribute):
        return ast.unparse(node.value) == "math" or node.attr in ("random", "float64", "float32", "divide")
    return False


def test_no_floating_point_and_no_other_randomness_stands_in_the_source() -> None:
    assert forbidden(SOURCE) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("SCALE = 192", "SCALE = 192.0"),
        ("term * numerator // (denominator * i)", "term * numerator / (denominator * i)"),
        ("power = exp_below(epsilon)", "power = int(math.exp(epsilon))"),
        ("power = exp_below(epsilon)", "power = int(float(epsilon))"),
        ("import math\n", "import math\nimport random\n"),
        ("import math\n", "import math\nfrom numpy.random import default_rng\n"),
        ("return words(n)", "return np.random.bytes(n)"),
    ],
)
def test_a_float_or_another_randomness_in_the_source_is_noticed(right: str, wrong: str) -> None:
    assert SOURCE.count(right) == 1
    assert forbidden(SOURCE.replace(right, wrong))


def test_all_works_where_every_other_randomness_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise AssertionError("this randomness must not be used")

    for module in (random, np.random):
        for name in dir(module):
            if callable(getattr(module, name)) and not name.startswith("_"):
                monkeypatch.setattr(module, name, refuse)
    with pytest.raises(AssertionError, match="must not be used"):
        random.random()
    questions = [{"id": "q", "text": "?", "type": "choice", "options": list("abcdefgh"), "epsilon": 1}]
    survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "t", "about": "a", "questions": questions})
    (question,) = survey.questions
    bits = randomize(question.channel, np.array([encode(question, "c")] * 100), os_words)
    assert len(unpack(survey, pack(survey, [bits]), 100)) == 100
