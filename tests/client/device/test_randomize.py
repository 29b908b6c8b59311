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


def with_bug(right: str, wrong: str) -> ModuleType:
    """The randomizer with one piece of its source text changed."""
    assert SOURCE.count(right) == 1, f"the source must hold this once: {right}"
    module = ModuleType("broken")
    sys.modules["broken"] = module  # dataclasses look their module up
    try:
        exec(compile(SOURCE.replace(right, wrong), "broken", "exec"), module.__dict__)
    finally:
        del sys.modules["broken"]
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
    broken = with_bug(right, wrong)
    assert not all(keeps_its_word(broken.Channel.for_epsilon(epsilon, k), epsilon) for epsilon, k in random_designs(500))


def test_an_exponential_in_floating_point_fails_the_vectors(vectors: Vectors) -> None:
    broken = with_bug("    numerator, denominator = x.as_integer_ratio()", "    return int(math.exp(x) * 2.0**192)")
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
    assert all(needs_more(randomizer, channel, stream) for stream in streams[dropped])
    columns = Columns(streams[~dropped])
    bits = randomizer.randomize(channel, np.full(len(columns.streams), category), columns)
    assert columns.used == length
    counts = Counter(map(tuple, bits.tolist()))
    return {tuple(np.flatnonzero(row).tolist()): Fraction(count, len(bits)) for row, count in counts.items()}


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
@pytest.mark.parametrize(("channel", "length"), TOYS, ids=[name(c) for c, _ in TOYS])
def test_all_words_of_a_toy_coin_give_the_exact_channel(channel: Channel, length: int) -> None:
    table = [enumerated(RANDOMIZER, channel, length, category) for category in range(channel.k)]
    assert table == [exact_channel(channel, category) for category in range(channel.k)]
    odds = max(one[subset] / other[subset] for one in table for other in table for subset in one)
    assert odds == channel.odds


BUGS = {
    "the coin's own value counts as kept": (
        "words(n) < channel.keep_threshold\n    others",
        "words(n) <= channel.keep_threshold\n    others",
    ),
    "the coin is turned round": ("words(n) < channel.keep_threshold\n    others", "words(n) > channel.keep_threshold\n    others"),
    "no draw is rejected": ("coin - coin % bound - 1", "coin - 1"),
    "one draw too many is rejected": ("draws > largest", "draws >= largest"),
    "one draw too few is rejected": ("coin - coin % bound - 1", "coin - coin % bound"),
    "one other too many beside a kept category": ("else ~one_less", "else True"),
    "one other too few without it": ("else ~one_less", "else False"),
    "the first draw counts when it must not": ("else ~one_less", "else one_less"),
    "a label drawn twice counts once": ("np.where(chosen[rows, choice], last, choice)", "choice"),
    "Floyd's replacement is off by one": ("choice], last, choice)", "choice], last - 1, choice)"),
    "the last other is never drawn": ("_uniform_below(last + 1, n", "_uniform_below(last, n"),
    "the first draw misses one other": ("_uniform_below(first + 1, n", "_uniform_below(first, n"),
    "one step too few": ("range(first + 1, of)", "range(first + 1, of - 1)"),
    "one word serves everybody": ("draws = words(n)", "draws = np.repeat(words(1), n)"),
    "the own bit lands elsewhere": ("bits[rows, categories] = kept", "bits[rows, categories - 1] = kept"),
    "low bits of the coin only": (
        "words(n) < channel.keep_threshold\n    others",
        "words(n) % 16 < channel.keep_threshold * 16 // channel.coin\n    others",
    ),
    "a window's coin is off by one": ("words(n) < channel.keep_threshold\n    near", "words(n) <= channel.keep_threshold\n    near"),
    "the window is shifted by one": ("near = first +", "near = first + 1 +"),
    "the window of no answer is that of the last level": ("channel.places - channel.width)", "channel.levels - 1)"),
    "the window is one output narrower": ("_uniform_below(channel.width, n", "_uniform_below(channel.width - 1, n"),
    "the outputs outside leave one out": ("_uniform_below(channel.outside, n", "_uniform_below(channel.outside - 1, n"),
    "the outputs outside are one too many": ("_uniform_below(channel.outside, n", "_uniform_below(channel.places, n"),
    "what lies outside begins inside": ("np.where(far < first, 0", "np.where(far <= first, 0"),
    "what lies outside jumps one output less": ("0, channel.width)", "0, channel.width - 1)"),
    "no answer is reported at its first place only": ("channel.outputs - 1)", "channel.outputs)"),
}


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


def test_no_respondents_give_no_bits() -> None:
    assert randomize(Channel(4, 2, 5), np.array([], dtype=np.int64), os_words).shape == (0, 4)


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
        ("words(n) < channel.keep_threshold\n    others", "words(n) < channel.keep_threshold // 100 * 99\n    others"),
        ("draws % bound", "draws % 16 % bound"),
        ("else ~one_less", "else False"),
        ("np.where(chosen[rows, choice], last, choice)", "np.where(chosen[rows, choice], 0, choice)"),
    ],
    ids=["a threshold one percent low", "modulo bias of four bits", "d - 1 others", "a clash always falls on the first"],
)
def test_two_million_draws_of_a_seeded_bug_do_not_fit(right: str, wrong: str) -> None:
    p = p_value(with_bug(right, wrong))
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
        ("kept = words(n) < channel.keep_threshold\n    near", "kept = np.random.bytes(n)\n    near"),
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


# ---- where words come from -----------------------------------------------------------------------


def test_words_come_from_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr("os.urandom", lambda size: asked.append(size) or bytes([1, 0, 0, 128] * (size // 4)))
    words = os_words(3)
    assert asked == [12]
    assert (words.dtype, words.tolist()) == (np.dtype("<u4"), [2**31 + 1] * 3)
    words[0] = 0  # the array is the caller's own


def test_without_a_source_of_words_nothing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(size: int) -> bytes:
        raise NotImplementedError

    monkeypatch.setattr("os.urandom", none)
    with pytest.raises(NotImplementedError):
        randomize(SIX, np.array([1]), os_words)
