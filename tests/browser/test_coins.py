"""Proof of the browser's coins in a real Chromium: every word of a toy coin, seeded bugs, two million draws."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from scipy import stats
from selenium.webdriver import Chrome

import deniable

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]
Vectors = Callable[[str], list[dict[str, Any]]]
SOURCE = (Path(deniable.__file__).parent / "browser" / "randomize.mjs").read_text(encoding="utf-8")

# Counts the reports of every stream of `length` words by their bits, read as a number; a stream that is too short is left out.
EVERY_STREAM = """
const { channel, length } = given;
const one = (category, stream) => {
  let rest = stream, used = 0;
  const next = () => {
    if (used === length) throw "needs more";
    used += 1;
    const word = rest % channel.coin;
    rest = (rest - word) / channel.coin;
    return word;
  };
  const bits = randomize.randomize(channel, category, next);
  if (used !== length) throw new Error("a report must use all words of its stream");
  return bits.reduce((number, bit, label) => number + bit * 2 ** label, 0);
};
return Array.from({ length: channel.k }, (_, category) => {
  const counts = {};
  for (let stream = 0; stream < channel.coin ** length; stream += 1) {
    try {
      const report = one(category, stream);
      counts[report] = (counts[report] ?? 0) + 1;
    } catch (reason) {
      if (reason !== "needs more") throw reason;
    }
  }
  return counts;
});
"""

# The same for many respondents with one answer, their words from the browser's generator.
MANY_DRAWS = """
const { channel, category, draws } = given;
const next = randomize.cryptoWords();
const counts = {};
for (let i = 0; i < draws; i += 1) {
  const report = randomize.randomize(channel, category, next).reduce((number, bit, label) => number + bit * 2 ** label, 0);
  counts[report] = (counts[report] ?? 0) + 1;
}
return counts;
"""

ALL_COINS = """return given.map(({ k, d, keep_threshold: keepThreshold, category, words }) => {
  let used = 0;
  try {
    const bits = randomize.randomize({ k, d, keepThreshold, coin: 2 ** 32 }, category, () => words[used++] ?? 0);
    return { ones: [...bits.keys()].filter((i) => bits[i]), used };
  } catch (error) {
    return error.name;
  }
});"""


def toy(k: int, d: int, threshold: int, coin: int) -> dict[str, int]:
    return {"k": k, "d": d, "keepThreshold": threshold, "coin": coin}


def exact_channel(channel: dict[str, int], category: int) -> dict[int, Fraction]:
    """P(report | category) of Subset Selection, the report as a number: bit i for label i."""
    k, d, theta = channel["k"], channel["d"], Fraction(channel["keepThreshold"], channel["coin"])
    kept, other = theta / math.comb(k - 1, d - 1), (1 - theta) / math.comb(k - 1, d)
    return {sum(1 << i for i in subset): kept if category in subset else other for subset in combinations(range(k), d)}


def shares(counts: dict[str, int]) -> dict[int, Fraction]:
    n = sum(counts.values())
    return {int(report): Fraction(count, n) for report, count in counts.items()}


TOYS = [(toy(2, 1, 192, 256), 1), (toy(3, 1, 150, 256), 2), (toy(4, 1, 100, 256), 2), (toy(3, 2, 200, 256), 2), (toy(4, 2, 45, 64), 3)]


@pytest.mark.parametrize(("channel", "length"), TOYS, ids=[f"k={c['k']},d={c['d']}" for c, _ in TOYS])
def test_all_words_of_a_toy_coin_give_the_exact_channel(channel: dict[str, int], length: int, javascript: Javascript) -> None:
    table = javascript(EVERY_STREAM, {"channel": channel, "length": length})
    assert [shares(counts) for counts in table] == [exact_channel(channel, category) for category in range(channel["k"])]


BUGS = {
    "the coin's own value counts as kept": ("nextWord() < keepThreshold", "nextWord() <= keepThreshold"),
    "the coin is turned round": ("nextWord() < keepThreshold", "nextWord() > keepThreshold"),
    "words are signed": ("nextWord() < keepThreshold", "(nextWord() | 0) < keepThreshold"),
    "thirty-one bits of the coin": ("nextWord() < keepThreshold", "nextWord() >>> 1 < keepThreshold"),
    "no draw is rejected": ("coin - (coin % bound) - 1", "coin - 1"),
    "one draw too many is rejected": ("draw > largest", "draw >= largest"),
    "one draw too few is rejected": ("coin - (coin % bound) - 1", "coin - (coin % bound)"),
    "one other too many beside a kept category": ("oneLess ? 0 : 1", "1"),
    "one other too few without it": ("oneLess ? 0 : 1", "0"),
    "a label drawn twice counts once": ("chosen[choice] ? last : choice", "choice"),
    "Floyd's replacement is off by one": ("chosen[choice] ? last : choice", "chosen[choice] ? last - 1 : choice"),
    "the last other is never drawn": ("uniformBelow(last + 1", "uniformBelow(last"),
    "the first draw misses one other": ("uniformBelow(first + 1", "uniformBelow(first"),
    "one step too few": ("last < of", "last < of - 1"),
    "a draw that decides nothing is left out": (
        "chosen[uniformBelow(first + 1, coin, nextWord)] =",
        "chosen[oneLess ? 0 : uniformBelow(first + 1, coin, nextWord)] =",
    ),
    "the own bit lands elsewhere": ("category + 1", "category"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = [case for case in vectors("coins") if case["k"] <= 64]
    wanted = [{"ones": case["ones"], "used": len(case["words"])} for case in cases]
    assert broken_javascript("randomize.mjs", *BUGS[bug], ALL_COINS, cases) != wanted


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("(own + other);", "(own + other) + 1n;"),
        ("SCALE = 192n", "SCALE = 24n"),
        ("d * (d + 1n) <", "d * d <"),
        ("power * d;", "power;"),
        ("expBelow(epsilon, BigInt(parts));", "BigInt(Math.floor(Math.exp(epsilon) * 2 ** 52)) << 140n;"),
        ("exponent - 1075n", "exponent - 1074n"),
    ],
)
def test_a_mistake_in_the_thresholds_fails_the_vectors(right: str, wrong: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("thresholds")
    body = """return given.map(({ epsilon, k }) => {
        const { d, keepThreshold } = randomize.channelForEpsilon(epsilon, k);
        return [d, keepThreshold];
    })"""
    got = broken_javascript("randomize.mjs", right, wrong, body, cases)
    assert got != [[case["d"], case["keep_threshold"]] for case in cases]


DRAWS = 2_000_000


def p_value(channel: dict[str, int], category: int, counts: dict[str, int]) -> float:
    """Chi-square of the reports against the exact channel; an impossible report leaves no doubt."""
    expected = exact_channel(channel, category)
    if {int(report) for report in counts} - set(expected):
        return 0.0
    n = sum(counts.values())
    wanted = {report: float(n * chance) for report, chance in expected.items()}
    statistic = sum((counts.get(str(report), 0) - mean) ** 2 / mean for report, mean in wanted.items())
    return float(stats.chi2.sf(statistic, len(expected) - 1))


def six() -> dict[str, int]:
    """k = 6 at epsilon 1: d = 2, fifteen subsets."""
    channel = deniable.Channel.for_epsilon(1.0, 6)
    return toy(channel.k, channel.d, channel.keep_threshold, channel.coin)


def test_two_million_draws_fit_the_exact_channel(javascript: Javascript) -> None:
    counts = javascript(MANY_DRAWS, {"channel": six(), "category": 2, "draws": DRAWS})
    p = p_value(six(), 2, counts)
    print(f"{sum(counts.values()):,} draws in Chromium over {len(counts)} subsets: p = {p:.3g}")
    assert sum(counts.values()) == DRAWS
    assert p > 1e-6


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("nextWord() < keepThreshold", "nextWord() < keepThreshold * 0.99"),
        ("return draw % bound", "return draw % 16 % bound"),
        ("oneLess ? 0 : 1", "0"),
    ],
    ids=["a threshold one percent low", "modulo bias of four bits", "d - 1 others"],
)
def test_two_million_draws_of_a_seeded_bug_do_not_fit(right: str, wrong: str, broken_javascript: Javascript) -> None:
    counts = broken_javascript("randomize.mjs", right, wrong, MANY_DRAWS, {"channel": six(), "category": 2, "draws": DRAWS})
    p = p_value(six(), 2, counts)
    print(f"p = {p:.3g}")
    assert p <= 1e-6


# ---- what the source may not hold ----------------------------------------------------------------


def forbidden(source: str) -> list[str]:
    """Non-integer literals, functions of Math, bitwise operators on numbers, and other sources of randomness."""
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"[^\"\n]*\"|`[^`]*`", " ", source, flags=re.DOTALL)
    shown = re.search(r"export function epsilonOf.*?\n}", code, flags=re.DOTALL)
    assert shown, "epsilonOf is the one function that may round"
    code = code.replace(shown[0], "")
    found = [number for number in re.findall(r"(?<![\w$])\.?\d[\w.]*", code) if not re.fullmatch(r"\d+n?", number)]
    found += re.findall(r"\b(?:Math|Number\.parseFloat|parseFloat|Date|performance|Float\w+Array)\b", code)
    found += re.findall(r">>>|(?<![|])\|(?![|])|~|\^", code)
    found += [line for line in code.splitlines() if " / " in line and not re.search(r"own|term", line)]  # those are BigInts
    return found


def test_no_floating_point_and_no_other_randomness_stands_in_the_source() -> None:
    assert forbidden(SOURCE) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("keep = nextWord()", "keep = Math.random()"),
        ("keep = nextWord()", "keep = 0.5 + nextWord()"),
        ("keep = nextWord()", "keep = 1e-3 + nextWord()"),
        ("keep = nextWord()", "keep = nextWord() / coin"),
        ("keep = nextWord()", "keep = ~nextWord()"),
        ("keep = nextWord()", "keep = Date.now()"),
        ("keep = nextWord()", "keep = nextWord() | 0"),
        ("expBelow(epsilon, BigInt(parts));", "BigInt(Math.floor(Math.exp(epsilon)));"),
    ],
)
def test_a_float_or_another_randomness_in_the_source_is_noticed(right: str, wrong: str) -> None:
    assert SOURCE.count(right) == 1
    assert forbidden(SOURCE.replace(right, wrong))


# ---- where words come from -----------------------------------------------------------------------


def test_all_works_where_math_random_raises(javascript: Javascript, vectors: Vectors) -> None:
    sent = javascript(
        """const allowed = Math.random;
        Math.random = () => { throw new Error("Math.random must not be used"); };
        try {
            const { survey: { questions }, digest } = await definition.readDefinition(new TextEncoder().encode(given));
            const next = randomize.cryptoWords();
            const bits = questions.map((q) => randomize.randomize(q.channel, encode.encode(q, q.categories[0]), next));
            const reports = submission.pack(questions, bits);
            submission.unpackRecord(questions, reports);
            return submission.envelope({ id: crypto.getRandomValues(new Uint8Array(16)), digest, count: 1, reports });
        } finally { Math.random = allowed; }""",
        vectors("definitions")[0]["text"],
    )
    assert deniable.Submission.from_json(sent.encode()).count == 1


def test_each_word_of_the_cryptographic_generator_is_given_once_and_in_order(javascript: Javascript) -> None:
    given, words = javascript(
        """const given = [], real = crypto.getRandomValues;
        crypto.getRandomValues = (array) => { real.call(crypto, array); given.push(...array); return array; };
        const next = randomize.cryptoWords();
        const words = Array.from({ length: 1000 }, next);
        delete crypto.getRandomValues;
        return [given, words];"""
    )
    assert words == given[:1000]
    assert all(isinstance(word, int) and 0 <= word < 2**32 for word in words)
    assert max(words) >= 2**31
    assert len(set(words)) > 990


def test_without_a_cryptographic_generator_there_are_no_words(javascript: Javascript) -> None:
    message = javascript(
        """Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
        try { randomize.cryptoWords(); return "words"; } catch (error) { return error.message; }"""
    )
    assert message == "this browser must have a cryptographic random generator, got none"


def test_outside_a_secure_context_the_definition_is_refused_saying_why(
    new_browser: Callable[..., Chrome], modules: str, javascript_at: Javascript, vectors: Vectors
) -> None:
    driver = new_browser(arguments=("--host-resolver-rules=MAP survey.test 127.0.0.1",))
    body = """
        try { await definition.readDefinition(new TextEncoder().encode(given)); return "accepted"; }
        catch (error) { return [isSecureContext, error.name, error.message]; }"""
    outcome = javascript_at(driver, modules.replace("127.0.0.1", "survey.test"), body, vectors("definitions")[0]["text"])
    assert outcome[:2] == [False, "RefusedError"]
    assert "HTTPS" in outcome[2]


def test_a_category_outside_the_question_is_an_error(javascript: Javascript) -> None:
    for category in (-1, 4, 1.5, "1", None):
        body = "try { randomize.randomize(given.channel, given.category, () => 0); return null; } catch (error) { return error.name; }"
        assert javascript(body, {"channel": toy(4, 1, 5, 2**32), "category": category}) == "RangeError"


def test_no_message_quotes_an_answer(javascript: Javascript) -> None:
    body = """return given.map((type) => {
        try { encode.encode({ id: "q", type, categories: ["yes", "no"] }, "canary-4711"); return ""; }
        catch (error) { return `${error.name} ${error.message} ${error.stack} ${error.cause}`; }
    });"""
    for message in javascript(body, ["yes_no", "choice"]):
        assert message.startswith("AnswerError q: the answer must be one that the question allows")
        assert "canary" not in message


def test_every_record_of_a_survey_has_one_length(javascript: Javascript, vectors: Vectors) -> None:
    body = """const { survey: { questions } } = await definition.readDefinition(new TextEncoder().encode(given));
        const next = randomize.cryptoWords(), lengths = new Set();
        for (let i = 0; i < 200; i += 1) {
            const bits = questions.map((q) => randomize.randomize(q.channel, i % q.categories.length, next));
            lengths.add(submission.pack(questions, bits).length);
        }
        return [...lengths];"""
    text = vectors("definitions")[0]["text"]
    survey = deniable.Survey.from_definition(text.encode())
    assert javascript(body, text) == [math.ceil(sum(q.k - 1 for q in survey.questions) / 8)]


def test_without_a_bug_the_same_checks_pass(broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("coins")
    got = broken_javascript("randomize.mjs", "const keep =", "const  keep =", ALL_COINS, cases)
    assert got == [{"ones": case["ones"], "used": len(case["words"])} for case in cases]
