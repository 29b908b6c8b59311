"""Writes the vectors that tie the Python and the browser code to each other and to a third opinion: this file.

It shares no code with the project. Thresholds come from decimals of 80 digits, the randomizer is written with
plain integers and sets, definitions by a canonical JSON writer of ten lines.

Run: python tests/vectors/make_twin_vectors.py [FOLDER]   (the standard library only; the same bytes on every run)
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import random
import sys
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal, getcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

getcontext().prec = 80
COIN = 2**32
RANDOM = random.Random(20240229)
LOGO = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg=="

Json = dict[str, Any]


# ---- thresholds ----------------------------------------------------------------------------------


def mechanism(epsilon: float, k: int, parts: int = 1) -> tuple[int, int]:
    """(d, keep_threshold) for a part of an epsilon: the d of least variance, tried one by one, and floor(2^32 theta)."""
    e = (Decimal(epsilon) / parts).exp()
    d = min(range(1, k), key=lambda size: (e * size + k - size) ** 2 / (size * (k - size)))
    return d, math.floor(COIN * e * d / (e * d + k - d))


def around(value: Decimal) -> list[float]:
    nearest = float(value)
    return [math.nextafter(nearest, 0), nearest, math.nextafter(nearest, math.inf)]


def thresholds() -> list[Json]:
    cases = [(epsilon, k) for epsilon in (0.001, 0.1, 0.5, 1.0, 2.0, 4.0, 7.0, 10.0, 1e-7) for k in (2, 3, 4, 5, 8, 11, 64, 1024)]
    cases += [(epsilon, k) for k in (2, 3, 4, 5, 7, 8, 10, 16, 64) for epsilon in around(Decimal(3).ln())]
    # ties of d and d + 1: e^(2 epsilon) = (k - d) (k - d - 1) / (d (d + 1))
    ties = [(4, 1), (3, 1), (6, 1), (10, 2), (16, 4), (64, 10), (64, 31), (300, 7), (1024, 3), (1024, 510), (1024, 200)]
    for k, d in ties:
        ratio = Decimal((k - d) * (k - d - 1)) / (d * (d + 1))
        if 1 < ratio <= Decimal(20).exp():
            cases += [(epsilon, k) for epsilon in around(ratio.ln() / 2)]
    # coins that are whole numbers: e^epsilon = T (k - d) / ((2^32 - T) d)
    for k, threshold in [(2, COIN // 4 * 3), (2, COIN // 8 * 7), (2, COIN // 2 + 1), (4, COIN // 2), (3, COIN // 2), (5, COIN - 1_000_000)]:
        odds = Decimal(threshold * (k - 1)) / (COIN - threshold)
        cases += [(epsilon, k) for epsilon in around(odds.ln())]
    for _ in range(250):
        epsilon = RANDOM.choice([RANDOM.uniform(0.01, 10), 10 ** RANDOM.uniform(-6, 1)])
        cases.append((epsilon, RANDOM.choice([RANDOM.randint(2, 12), RANDOM.randint(2, 1024)])))
    return [{"epsilon": epsilon, "k": k, "d": d, "keep_threshold": t} for epsilon, k in cases for d, t in [mechanism(epsilon, k)]]


# ---- coins ---------------------------------------------------------------------------------------


def report(k: int, d: int, threshold: int, category: int, words: list[int]) -> tuple[list[int], int]:
    """The reported bits, and how many of the words they took."""
    left = list(words)

    def below(bound: int) -> int:
        while bound > 1:
            word = left.pop(0)
            if word < COIN // bound * bound:
                return word % bound
        return 0

    kept = left.pop(0) < threshold
    labels = [other for other in range(k) if other != category]
    chosen: set[int] = set()
    for last in range(k - 1 - d, k - 1):
        draw = below(last + 1)
        if not (kept and last == k - 1 - d):  # a kept category needs one other less; its draw is made all the same
            chosen.add(last if draw in chosen else draw)
    reported = {labels[position] for position in chosen} | ({category} if kept else set())
    assert len(reported) == d
    return [int(label in reported) for label in range(k)], len(words) - len(left)


def some_words(k: int, d: int, threshold: int) -> list[int]:
    """Words for one report, many of them next to where something changes, with rejected ones between."""
    words = [RANDOM.choice([threshold - 1, threshold, 0, COIN - 1, RANDOM.randrange(COIN), RANDOM.randrange(COIN)])]
    for last in range(k - 1 - d, k - 1):
        bound = last + 1
        if bound == 1:
            continue
        end = COIN // bound * bound
        while end < COIN and RANDOM.random() < 0.25:
            words.append(RANDOM.choice([end, COIN - 1]))
        words.append(RANDOM.choice([end - 1, 0, bound - 1, RANDOM.randrange(end), RANDOM.randrange(end), RANDOM.randrange(end)]))
    return words


def coins() -> list[Json]:
    shapes = [(2, 1), (3, 1), (3, 2), (4, 1), (4, 2), (5, 3), (6, 5), (7, 2), (8, 2), (10, 4), (11, 1), (16, 5), (64, 17)]
    vectors = []
    for k, d in [*shapes, (200, 199), (1024, 3)]:
        for case in range(22 if k <= 64 else 6):
            threshold = RANDOM.randrange(COIN * d // k, COIN)
            category = [0, k - 1, RANDOM.randrange(k)][case % 3]
            words = some_words(k, d, threshold)
            bits, used = report(k, d, threshold, category, [*words, 7, 7])
            assert used == len(words)
            ones = [label for label in range(k) if bits[label]]
            vectors.append({"k": k, "d": d, "keep_threshold": threshold, "category": category, "words": words, "ones": ones})
    return vectors


# ---- packing -------------------------------------------------------------------------------------


def packed(bits: list[list[int]]) -> bytes:
    """Every question's bits but its last, then zeros up to a whole byte."""
    text = "".join(str(bit) for question in bits for bit in question[:-1])
    text += "0" * (-len(text) % 8)
    return bytes(int(text[start : start + 8], 2) for start in range(0, len(text), 8))


def random_bits(k: int, d: int) -> list[int]:
    ones = RANDOM.sample(range(k), d)
    return [int(label in ones) for label in range(k)]


def random_shapes() -> list[list[int]]:
    sizes = [RANDOM.choice([2, 2, 3, 5, 8, 9, 17, RANDOM.randint(2, 70)]) for _ in range(RANDOM.randint(1, 12))]
    return [[k, RANDOM.randint(1, k - 1)] for k in sizes]


def packing() -> list[Json]:
    shapes = [[[2, 1]], [[2, 1]] * 8, [[2, 1]] * 9, [[9, 3]], [[10, 3]], [[1024, 300]], [[1024, 1023], [2, 1]]]
    shapes += [random_shapes() for _ in range(120)]
    vectors = []
    for questions in shapes:
        bits = [random_bits(k, d) for k, d in questions]
        vectors.append({"questions": questions, "bits": ["".join(map(str, question)) for question in bits], "hex": packed(bits).hex()})
    return vectors


def bad_records() -> list[Json]:
    """Single records that no respondent's device can have made, with the rule they break."""
    vectors = []
    for questions in [[[2, 1]], [[4, 2]], [[9, 3]], [[2, 1]] * 9, [[5, 2], [7, 3]], *(random_shapes() for _ in range(12))]:
        width = sum(k - 1 for k, _ in questions)
        good = packed([random_bits(k, d) for k, d in questions])
        vectors += [{"rule": "length", "questions": questions, "hex": raw.hex()} for raw in (b"", good[:-1], good + b"\0", good + good)]
        for spare in range(width, 8 * len(good)):
            raw = bytearray(good)
            raw[-1] |= 1 << (8 * len(good) - 1 - spare)
            vectors.append({"rule": "padding", "questions": questions, "hex": raw.hex()})
        for index, (k, d) in enumerate(questions):
            possible = [random_bits(*shape) for shape in questions]
            for ones in sorted({0, d - 2, d + 1, k - 1} - {d - 1, d}):
                if 0 <= ones <= k - 1:
                    bits = [*possible]
                    bits[index] = [*random_bits(k - 1, ones), 0]
                    vectors.append({"rule": "impossible", "questions": questions, "hex": packed(bits).hex()})
    return vectors


# ---- definitions ---------------------------------------------------------------------------------


def es_number(value: float) -> str:
    """A number from 1e-300 to 1e20 as ECMAScript writes it."""
    text = repr(float(value))
    if text.endswith(".0"):
        return text[:-2]
    if "e" not in text:
        return text if abs(value) >= 1e-4 else format(Decimal(text), "f")
    exponent = int(text.split("e")[1])
    return format(Decimal(text), "f") if exponent >= -6 else f"{text.split('e')[0]}e{exponent}"


def canonical(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{canonical(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else es_number(value)


def question(name: str, epsilon: float, options: list[str] | None = None, text: str = "Which one?") -> Json:
    categories = options or ["yes", "no"]
    d, threshold = mechanism(epsilon, len(categories))
    made = {"id": name, "text": text, "type": "choice" if options else "yes_no", "epsilon": epsilon, "categories": categories}
    return {**made, **({"options": options} if options else {}), "k": len(categories), "d": d, "keep_threshold": threshold}


def scale(name: str, epsilon: float, options: list[str], scores: list[float]) -> Json:
    return {**question(name, epsilon, options), "type": "scale", "scores": scores}


def numeric(name: str, epsilon: float, low: float, high: float, levels: int) -> Json:
    grid = [low + (high - low) * level / (levels - 1) for level in range(levels - 1)] + [high]
    made = question(name, epsilon, [es_number(level) for level in grid])
    del made["options"]
    return {**made, "type": "number", "low": low, "high": high, "levels": levels}


def binned(name: str, epsilon: float, low: float, high: float, edges: dict[str, float]) -> Json:
    made = question(name, epsilon, list(edges))
    del made["options"]
    bins = [{"name": label, "from": edge} for label, edge in edges.items()]
    return {**made, "type": "number", "low": low, "high": high, "bins": bins}


def several(name: str, epsilon: float, options: list[str]) -> Json:
    made = {**question(name, epsilon, options), "type": "multi_choice", "categories": ["yes", "no"], "k": 2, "d": 1}
    return {**made, "keep_threshold": mechanism(epsilon, 2, len(options))[1]}


def optional(made: Json) -> Json:
    """The question with one category more, and the mechanism for it."""
    categories = [*made["categories"], "no answer"]
    parts = len(made["options"]) if made["type"] == "multi_choice" else 1
    d, threshold = mechanism(made["epsilon"], len(categories), parts)
    return {**made, "required": False, "categories": categories, "k": len(categories), "d": d, "keep_threshold": threshold}


def shown_if(made: Json, asked: str, *options: str) -> Json:
    return {**optional(made), "show_if": {"question": asked, "is": list(options)}}


def asked_after(asked: str, *options: str) -> Json:
    return {"question": asked, "is": list(options)}


def after(made: Json, showing: Any) -> Json:
    return {**optional(made), "show_if": showing}


def base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def issuer(size: int = 256, first: int = 0x80, last: int = 1) -> str:
    """A number that is as long as a key, or nearly so: no factor of it matters here."""
    return base64url(bytes([first, *(7 * place % 256 for place in range(1, size - 1)), last]))


INVITED: Json = {"access": "invited", "issuer": issuer()}


def survey(questions: list[Json], **other: Any) -> Json:
    return {"deniable": 1, "id": "s", "title": "A title", "about": "Who asks, why.", "questions": questions, **other}


LN3 = math.nextafter(float(Decimal(3).ln()), 9)
COLOURS = ["red", "green", "blue", "none of them"]


def many(count: int) -> list[str]:
    return [f"o{number}" for number in range(count)]


def two_long_lists() -> list[Json]:
    """Two questions of 1,023 bits each."""
    return [question("a", 0.5, many(1024)), question("b", 0.5, many(1024))]


def base() -> Json:
    return survey([question("first", LN3), question("second", 1.0, COLOURS), question("third", 2.5, [str(n) for n in range(12)])])


def weakest(k: int) -> float:
    """The smallest epsilon whose coin still says something over k categories, to a few doubles."""
    low, high = 1e-12, 1.0
    while high > math.nextafter(low, 1):
        middle = (low + high) / 2
        d, t = mechanism(middle, k)
        low, high = (low, middle) if t * (k - d) > (COIN - t) * d else (middle, high)
    return high


def coin_of(name: str, threshold: int) -> Json:
    """A yes/no question with this threshold, declared at the next double above what it gives away."""
    made = question(name, math.nextafter(float((Decimal(threshold) / (COIN - threshold)).ln()), 99))
    assert made["keep_threshold"] == threshold
    return made


def a_hair(above: bool) -> list[Json]:
    """Two questions whose losses are 1.5e-16 above 8 in all, which doubles cannot tell from 8, or 1.5e-15 below. Found by search."""
    return [coin_of(f"q{n}", t) for n, t in enumerate((4250417048, 4161767554) if above else (4238169386, 4190082468))]


def blocks_of_three() -> list[Json]:
    """Three blocks of 4.4, 4 and 3.5; the first two together are above 8."""
    return [question("a", 2.2), shown_if(question("b", 2.2), "a", "yes"), question("c", 4.0), question("d", 3.5)]


def accepting(made: Json) -> Json:
    """A survey whose file says that its total may be above 8."""
    return {**made, "accept_high_epsilon": True}


def joined_conditions() -> dict[str, Json]:
    """Surveys whose questions depend on several answers."""
    smokes, drinks = question("smokes", 0.5), question("drinks", 0.5, ["never", "at times", "often"])
    age = binned("age", 0.5, 0, 120, {"child": 0, "young": 18, "old": 65})
    some = optional(several("used", 1.0, ["a", "b", "c"]))
    both = {"all": [asked_after("smokes", "yes"), asked_after("drinks", "often", "at times")]}
    either = {"any": [asked_after("smokes", "no"), asked_after("age", "young", "old")]}
    deep = {"any": [{"all": [asked_after("used", "a", "b"), asked_after("used", "c")]}, asked_after("drinks", "never")]}
    deeper = {
        "all": [{"any": [asked_after("help", "yes"), asked_after("smokes", "no")]}, {"any": [asked_after("age", "old"), both["all"][1]]}]
    }
    follow = [after(question("help", 0.5), both), after(numeric("worth", 0.5, 0, 9, 3), either)]
    last = [after(several("ways", 0.5, ["x", "y"]), deep), after(question("sure", 0.5), deeper)]
    everybody = [smokes, drinks, age, some, *follow, *last]
    apart = [question("alone", 0.5), question("else", 0.5, COLOURS)]
    return {
        "all of two": survey([smokes, drinks, follow[0]]),
        "any of two": survey([smokes, age, follow[1]]),
        "lists in lists": survey(everybody),
        "twenty of them": survey([smokes, after(question("q", 0.5), {"any": [asked_after("smokes", "yes")] * 20})]),
        "a question that nobody is shown": survey(
            [smokes, after(question("q", 0.5), {"all": [asked_after("smokes", o) for o in ("yes", "no")]})]
        ),
        "two questions that a third joins to one block": survey([apart[0], smokes, apart[1], drinks, follow[0]], ask=1),
        "blocks joined from behind": survey(
            [smokes, apart[0], drinks, *follow[:1], age, after(question("q", 0.5), either), apart[1]], ask=2
        ),
    }


def worded() -> dict[str, Json]:
    """Surveys with help and sections."""
    helped = {**question("helped", 1.0), "help": "Count all.\n\tPipes, too."}
    first = {**question("first", 1.0), "section": {"title": "Your health", "note": "The last year."}}
    bare = {**shown_if(question("bare", 1.0), "first", "yes"), "section": {"title": "S" * 200}}
    german = {
        "helped": {"help": "Alles."},
        "first": {"section": {"note": "Das letzte Jahr."}},
        "bare": {"text": "Wie?", "section": {"title": "Noch etwas"}},
    }
    return {
        "help": survey([helped, {**question("long", 1.0), "help": "🙂" * 1000}]),
        "sections": survey([first, helped, bare]),
        "a section of a sample": survey([first, bare, helped], ask=1),
        "translated help and sections": survey([first, helped, bare], translations={"de": {"questions": german}}),
    }


def good_definitions() -> dict[str, Json]:
    long = "x" * 63
    good = {
        "three questions": base(),
        "one yes/no question": survey([question("q", LN3)]),
        "ids of 64 characters": survey([question("q" + long, 1.0)], id="0" + long),
        "ids with every kind of character": survey([question("aZ_9", 1.0), question("AZ_9", 1.0)], id="a-z_9"),
        "texts as long as they may be": survey([question("q", 1.0, text="t" * 1000)], title="t" * 200, about="a" * 5000),
        "texts as long as they may be, in characters beyond 16 bits": survey(
            [question("q", 1.0, ["🙂" * 200, "b"], text="🙃" * 1000)], title="🙂" * 200, about="🙃" * 5000
        ),
        "line breaks, tabs, quotes, backslashes": survey([question("q", 1.0, text='a\n\tb "c" \\ /')], about="\n.\t"),
        "characters that look like space and are none": survey([question("q", 1.0)], about="\ufeff"),
        "spaces of all kinds around a title": survey([question("q", 1.0)], about="\u3000\u2028 a\u00a0\u205f"),
        "text in many scripts": survey([question("q", 1.0, ["да", "nein", "否", "لا", "é", "o\u0301"])], title="Ünïcödé — ελ"),
        "1,024 options": survey([question("q", 1.0, many(1024))]),
        "2,048 bits": survey([*two_long_lists(), question("c", 1.0), question("d", 2.0)]),
        "names of a JavaScript object": survey(
            [question("constructor", 1.0, ["__proto__", "toString", "constructor"]), question("hasOwnProperty", 1.0)], id="prototype"
        ),
        "options that differ in accents": survey([question("q", 1.0, ["a", "á", "ä", "ñ", "n"])]),
        "options that read as numbers and booleans": survey([question("q", 1.0, ["yes", "1", "1.10", "true", "null", "1e3"])]),
        "200 questions": survey([question(f"q{n}", 0.03) for n in range(200)]),
        "an epsilon of ten": accepting(survey([question("q", 10.0)])),
        "an epsilon of eight": survey([question("q", 8.0)]),
        "an epsilon one double above eight, whose coin is the same": survey([question("q", math.nextafter(8, 9))]),
        "eight questions of one": survey([question(f"q{n}", 1.0) for n in range(8)]),
        "a hair below eight in all": survey(a_hair(above=False)),
        "a hair above eight in all, accepted": accepting(survey(a_hair(above=True))),
        "nineteen in all, accepted": accepting(survey([question("q", 10.0), question("r", 9.0, COLOURS)])),
        "less than eight, where more is accepted": accepting(survey([question("q", LN3)])),
        "nineteen in all, of which eight are asked": survey([question(f"q{n}", 8.0 - n) for n in range(3)], ask=1),
        "blocks above eight, of which the largest is below": survey(blocks_of_three(), ask=1),
        "an epsilon one double higher, whose coin is the same": survey([{**question("q", LN3), "epsilon": math.nextafter(LN3, 9)}]),
        "an epsilon of ten over 1,024 options": accepting(survey([question("q", 10.0, many(1024))])),
    }
    good |= {
        "a scale": survey([scale("q", 1.0, ["never", "sometimes", "often"], [1, 2, 3])]),
        "a scale of fractions": survey([scale("q", 2.0, list("abcd"), [-1000000000, -0.5, 0, 1e-7])]),
        "yes/no that is not required": survey([optional(question("q", LN3))]),
        "a choice that is not required": survey([optional(question("q", 1.0, COLOURS)), question("second", 1.0, ["no answer", "answer"])]),
        "a scale that is not required": survey([optional(scale("q", 3.0, list("abcdefg"), [1, 2, 3, 4, 5, 6, 9.5])), question("r", 0.5)]),
        "a multiple choice": survey([several("q", LN3, COLOURS), question("r", 1.0)]),
        "a multiple choice that is not required": accepting(survey([question("p", 0.5), optional(several("q", 10.0, list("abcdefg")))])),
        "a multiple choice of eight for its items": survey([several("q", 8.0, list("abcdefg"))]),
        "ln 27 for three items": survey([several("q", math.nextafter(float(Decimal(27).ln()), 9), ["a [1]", "]", "["])]),
        "a multiple choice of 1,024": accepting(survey([several("q", 10.0, many(1024))])),
        "branches": survey(
            [
                question("smokes", LN3),
                shown_if(question("often", 1.0, ["daily", "weekly", "never"]), "smokes", "yes"),
                shown_if(several("what", 2.0, ["pipe", "cigar", "other"]), "often", "daily", "weekly"),
                shown_if(numeric("age", 1.5, 0, 100, 3), "what", "pipe", "other"),
                optional(scale("hard", 1.0, ["no", "a bit", "very"], [0, 1, 2])),
                shown_if(question("help", LN3), "hard", "very"),
            ]
        ),
        "a sample of two": survey(
            [question("a", LN3), question("b", 1.0, COLOURS), several("c", 2.0, ["x", "y"]), question("d", 0.5)], ask=2
        ),
        "a sample of blocks": survey(
            [
                question("smokes", LN3),
                scale("mood", 2.0, list("abcde"), [1, 2, 3, 4, 5]),
                shown_if(question("often", 1.0, ["daily", "weekly"]), "smokes", "yes"),
                shown_if(question("long", 1.0), "often", "daily"),
            ],
            ask=1,
        ),
        "a number": survey([numeric("q", 1.0, 0, 100, 2)]),
        "a number with a fine grid, that is not required": survey([optional(numeric("q", 6.0, -0.1, 0.2, 9)), question("r", 0.5)]),
        "numbers of all sizes": survey([numeric("a", 2.0, -1000000000, 1000000000, 1024), numeric("b", 2.0, 1e-9, 1e-7, 5)]),
        "a number in bins": survey(
            [
                binned("age", 2.0, 18, 120, {"young": 18, "old": 64.5}),
                shown_if(question("pension", LN3), "age", "old"),
                optional(binned("distance", 1.0, -1, 1, {"a": -1, "b": 0, "c": 0.25, "d": 1})),
            ]
        ),
        "whom to ask, and who approved": survey([question("q", LN3)], contact="Ada\nada@example.org", ethics="No. 7 (2026)"),
        "what is said at the end, and the way back": survey(
            [question("q", LN3)],
            thanks="Thanks.\nYour code: C1",
            closed="Too late.",
            institution="Institute of Health",
            logo=LOGO,
            return_link="https://app.prolific.com/submissions/complete?cc=C1AB2",
            translations={"de": {"institution": "Gesundheitsinstitut", "thanks": "Danke.", "closed": "Zu sp\u00e4t."}},
        ),
        "public groups": survey([question("q", LN3)], groups=["Nord", "Süd", "West 3"]),
        "invited, and one question a page": survey([question("q", LN3)], **INVITED, layout="steps"),
        "records shown one by one": survey([question("q", LN3)], batch=1, accept_small_batches=True),
        "records shown at the close": survey([question("q", LN3)], release="close"),
        "invited, and shown daily": survey([question("q", LN3)], **INVITED, release="daily"),
        "a thousand records counted together": survey([question("q", LN3)], batch=1000),
        "another language": survey([question("q", LN3)], language="pt-BR"),
        "translations": survey(
            [question("smokes", LN3), question("colour", 1.0, COLOURS), several("b", 1.0, ["x", "y"]), question("untold", LN3)],
            contact="Ada",
            translations={
                "de": {"title": "Ein Titel", "questions": {"smokes": {"text": "Rauchen Sie?"}, "b": {"options": ["ix", "yps"]}}},
                "ar": {
                    "about": "من يسأل ولماذا",
                    "contact": "آدا",
                    "questions": {"colour": {"text": "أي لون؟", "options": ["أحمر", "أخضر", "أزرق", "لا شيء"]}},
                },
                "zh-Hans-CN": {"title": "题目"},
            },
        ),
        "translated options that are not required, and bins": survey(
            [optional(question("q", 1.0, ["a", "b"])), binned("n", 1.0, 0, 2, {"few": 0, "more": 1})],
            translations={"fr": {"questions": {"q": {"options": ["x", "y"]}, "n": {"options": ["peu", "plus"]}}}},
        ),
        "1,024 options and no answer": survey([optional(question("q", 1.0, many(1024)))]),
    }
    good |= joined_conditions() | worded()
    for k in (2, 3, 8, 1024):
        good[f"the weakest coin over {k}"] = survey([question("q", weakest(k), many(k))])
    for epsilon in (1e-5, 1.5e-5, 0.0001, 1e-6, 1.25e-6, 1e-7, 1.5e-7, 0.1, 0.30000000000000004, 3.0, 9.999999999999998, 1 / 3):
        good[f"epsilon {epsilon!r}"] = accepting(survey([question("q", epsilon)]))
    for number in range(24):
        epsilons = [RANDOM.choice([RANDOM.uniform(0.01, 3), round(RANDOM.uniform(0.1, 3), 1)]) for _ in range(RANDOM.randint(1, 5))]
        sizes = [RANDOM.choice([0, 2, 3, 7, 30]) for _ in epsilons]
        some = [question(f"q{i}", e, many(k) or None) for i, (e, k) in enumerate(zip(epsilons, sizes, strict=True))]
        good[f"survey {number} of many"] = accepting(survey(some)) if sum(epsilons) > 8 else survey(some)
    return good


def changed(**changes: Any) -> Json:
    """The base survey with other values at the top; `None` takes a key away."""
    return {key: value for key, value in {**base(), **changes}.items() if value is not None}


def in_question(index: int, **changes: Any) -> Json:
    made = base()
    made["questions"][index] = {key: value for key, value in {**made["questions"][index], **changes}.items() if value is not None}
    return made


def with_options(options: list[Any], epsilon: float = 1.0) -> Json:
    """The right mechanism for options that are not allowed."""
    made = question("second", epsilon, [str(n) for n in range(max(len(options), 2))])
    return changed(questions=[{**made, "options": options, "categories": options, "k": len(options)}])


def bad_objects() -> dict[str, Any]:
    bad: dict[str, Any] = {"an array": [base()], "a text": "survey", "a number": 1, "nothing inside": {}}
    for index, name in enumerate(("yes/no", "choice of 4", "choice of 12")):
        right = base()["questions"][index]
        for key in ("k", "d", "keep_threshold"):
            for step in (-1, 1):
                bad[f"{name}: {key} {step:+d}"] = in_question(index, **{key: right[key] + step})
            bad[f"{name}: {key} missing"] = in_question(index, **{key: None})
            bad[f"{name}: {key} as text"] = in_question(index, **{key: str(right[key])})
        elsewhere = {"keep_threshold": [0, COIN, COIN - 1, -1, right["keep_threshold"] + 0.5], "k": [0, 1, 2.5], "d": [0, right["k"]]}
        bad |= {f"{name}: {key} {other}": in_question(index, **{key: other}) for key, others in elsewhere.items() for other in others}
        for epsilon in (0, -1, 11, 10.000000000000002, 1e-320, 1e300, right["epsilon"] * 2):
            bad[f"{name}: epsilon {epsilon!r}"] = in_question(index, epsilon=epsilon)
        bad[f"{name}: an epsilon and its mechanism doubled, the declared one kept"] = in_question(
            index, keep_threshold=mechanism(2 * right["epsilon"], right["k"])[1]
        )
        bad[f"{name}: other categories"] = in_question(index, categories=[*right["categories"][1:], right["categories"][0]])
        bad[f"{name}: categories missing"] = in_question(index, categories=None)
        for key in ("id", "text", "type", "epsilon"):
            bad[f"{name}: {key} missing"] = in_question(index, **{key: None})
        bad[f"{name}: a key more"] = in_question(index, hidden=1)
        bad[f"{name}: __proto__ as a key"] = in_question(index, __proto__={"hidden": 1})
    for key in ("deniable", "id", "title", "about", "questions"):
        bad[f"{key} missing"] = changed(**{key: None})
    bad |= {f"version {value!r}": changed(deniable=value) for value in (0, 2, "1", 1.5, [1])}
    bad |= {f"survey id {value!r}": changed(id=value) for value in ("", "A", "-a", "_a", "a b", "a\n", "x" * 65, "é", 5, ["a"])}
    bad |= {
        f"question id {value!r}": in_question(0, id=value) for value in ("", "1a", "_a", "a-b", "a\n", "x" * 65, "é", 5, ["a"], "second")
    }
    bad |= {
        f"type {value!r}": in_question(0, type=value)
        for value in ("", "yesno", "choice", "constructor", "__proto__", "toString", ["yes_no"], 1)
    }
    for length, where in ((201, "title"), (5001, "about")):
        bad |= {f"{where} of {length:,} {c!r}": changed(**{where: c * length}) for c in ("x", "🙂")}
    for value in ("", " \n", "\u2028\u3000", "a\rb", "a\0", "\x7f", "a\x85b", "a\x9f", "\x1fa", 3, ["a"], {}):
        bad |= {
            f"title {value!r}": changed(title=value),
            f"about {value!r}": changed(about=value),
            f"text {value!r}": in_question(0, text=value),
        }
    bad["text of 1,001"] = in_question(0, text="x" * 1001)
    bad |= {
        "no question": changed(questions=[]),
        "questions in an object": changed(questions={"0": base()["questions"][0]}),
        "questions as text": changed(questions="first"),
        "a question that is none": changed(questions=["first"]),
        "a question that is an array": changed(questions=[[]]),
        "a survey's epsilon beside the questions'": changed(epsilon=3),
        "a key more": changed(hidden=1),
        "yes/no with options": in_question(0, options=["yes", "no"]),
        "a choice without options": in_question(1, options=None),
        "options as text": in_question(1, options="red"),
        "one option": with_options(["a"]),
        "1,025 options": with_options(many(1025)),
        "an option twice": with_options(["a", "b", "a"]),
        "options that differ in case": with_options(["a", "b", "A"]),
        "options that differ in width": with_options(["a", "ａ"]),
        "options that differ in how an accent is written": with_options(["é", "e\u0301"]),
        "options that differ in what does not show": with_options(["a\u200bb", "ab"]),
        "options that differ in their spaces": with_options(["a b", "a  b"]),
        "an option of 201 characters": with_options(["a" * 201, "b"]),
        "2,049 bits": changed(questions=[*two_long_lists(), question("c", 1, list("wxyz"))]),
        **{
            f"epsilon {epsilon!r} and its right coin over {k}": accepting(changed(questions=[question("q", epsilon, many(k))]))
            for epsilon in (-1.0, 0.0, 10.000000000000002, 11.0)
            for k in (2, 5)
        },
        "nine in all": changed(questions=[question("a", 5.0), question("b", 4.0, COLOURS)]),
        "a hair above eight in all": changed(questions=a_hair(above=True)),
        "a multiple choice of nine for its items": changed(questions=[several("q", 9.0, list("abcdefg"))]),
        "nine in the two blocks asked": changed(questions=[question("a", 5.0), question("b", 1.0), question("c", 4.0)], ask=2),
        "blocks above eight, of which the two largest are asked": changed(questions=blocks_of_three(), ask=2),
        **{
            f"accept_high_epsilon {value!r}, {total!r} in all": changed(questions=[question("q", total)], accept_high_epsilon=value)
            for value in (False, "true", 1, 0, [], {})
            for total in (1.0, 9.0)
        },
        "too weak a coin over 2": changed(questions=[question("q", math.nextafter(weakest(2), 0))]),
        "too weak a coin over 8": changed(questions=[question("q", math.nextafter(weakest(8), 0), many(8))]),
    }
    steps = scale("q", 1.0, ["never", "sometimes", "often"], [1, 2, 3])
    for scores in ([1, 2], [1, 2, 3, 4], [1, 1, 2], [3, 2, 1], [1, 2, "3"], [1, 2, True], [1, 2, 1000000001], {}, "123", None):
        bad[f"scores {scores!r}"] = changed(questions=[{**steps, "scores": scores}])
    age = numeric("q", 2.0, 0, 100, 3)
    others = {
        "low": ["0", 100, 101, None, True, -1000000001],
        "high": ["100", 0, -1, None, 1e10],
        "levels": [1, 0, 2.5, "3", 4, 1025, None],
    }
    for key, values in others.items():
        for value in values:
            bad[f"a number: {key} {value!r}"] = changed(questions=[{**age, key: value}])
    bad["a grid finer than doubles"] = changed(questions=[numeric("q", 2.0, 1, math.nextafter(1, 2), 3)])
    some = several("q", 2.0, COLOURS)
    for step in (-1, 1):
        bad[f"a multiple choice: keep_threshold {step:+d}"] = changed(questions=[{**some, "keep_threshold": some["keep_threshold"] + step}])
    bad["a multiple choice with all of epsilon for each"] = changed(questions=[{**some, "keep_threshold": mechanism(2.0, 2)[1]}])
    bad["a multiple choice with its options as categories"] = changed(questions=[{**some, "categories": COLOURS, "k": 4}])
    bad["a multiple choice without options"] = changed(questions=[{key: v for key, v in some.items() if key != "options"}])
    bad["multiple choices of 2,049 bits"] = changed(
        questions=[several("q", 2.0, many(1024)), several("r", 2.0, many(1024)), question("s", 1)]
    )
    branch = shown_if(question("q", LN3), "first", "yes")
    first = question("first", LN3)
    conditions: list[Any] = [{}, [], "first", None, {"question": "first"}, {"is": ["yes"]}, {"question": "q", "is": ["yes"]}]
    conditions += [{"question": "first", "is": options} for options in ([], ["maybe"], ["yes", "yes"], "yes", ["no answer"], [0], None)]
    conditions += [{"question": "nobody", "is": ["yes"]}, {"question": "first", "is": ["yes"], "not": ["no"]}]
    for showing in conditions:
        bad[f"show_if {showing!r}"] = changed(questions=[first, {**branch, "show_if": showing}])
    yes, no = asked_after("first", "yes"), asked_after("first", "no")
    lists: list[Any] = [
        {"all": value} for value in ([], [yes], yes, None, "first", {}, [yes] * 21, [yes, "first"], [yes, None], [yes, [no]])
    ]
    lists += [{"any": [yes, {"any": [yes, no]}]}, {"all": [yes, {"all": [yes, no]}]}, {"all": [yes, no], "any": [yes, no]}]
    lists += [{"all": [yes, {"any": [yes, {"all": [yes, no]}]}]}, {"all": [yes, {"any": [yes]}]}, {"all": [yes, no], "question": "first"}]
    lists += [
        {"any": [yes, asked_after("q", "yes")]},
        {"any": [yes, asked_after("first", "maybe")]},
        {"none": [yes, no]},
        {"any": [yes, {}]},
    ]
    for place, showing in enumerate(lists):
        bad[f"conditions {place}: {showing!r}"[:120]] = changed(questions=[first, {**branch, "show_if": showing}])
    edges = binned("age", 1.0, 0, 9, {"a": 0, "b": 5})
    for showing in ({"question": "age", "at_least": 5}, {"question": "age", "below": 5}, {"question": "age", "is": ["b"], "at_least": 5}):
        bad[f"a range is written as its bins {showing!r}"] = changed(questions=[edges, {**branch, "show_if": showing}])
    joining = after(question("c", LN3), {"all": [asked_after("a", "yes"), asked_after("b", "yes")]})
    bad["ask as many as there are blocks when a question has joined two"] = changed(
        questions=[question("a", LN3), question("b", LN3), joining, question("d", LN3)], ask=2
    )
    for value in ("", " ", "a\0", "x" * 1001, 5, ["a"], {}, None):
        bad[f"help {value!r}"[:40]] = changed(questions=[{**first, "help": value}])
        bad[f"a section's note {value!r}"[:40]] = changed(questions=[{**first, "section": {"title": "T", "note": value}}])
    for value in ({}, [], "Title", None, {"note": "N"}, {"title": ""}, {"title": "x" * 201}, {"title": 5}, {"title": "T", "text": "x"}):
        bad[f"a section {value!r}"[:40]] = changed(questions=[{**first, "section": value}])
    both = {**first, "help": "H", "section": {"title": "T"}}
    for name, own in (
        *(
            ("first", {key: value})
            for key in ("help", "section")
            for value in ("", 5, {}, {"note": "N"}, {"title": ""}, {"title": "T", "x": "y"})
        ),
        *(("second", {key: value}) for key, value in (("help", "H"), ("section", {"title": "T"}))),
    ):
        told = {"de": {"questions": {name: own}}}
        bad[f"translated {name} {own!r}"] = changed(questions=[both, question("second", 1.0)], translations=told)
    bad["show_if of a later question"] = changed(questions=[branch, first])
    bad["show_if of a number"] = changed(questions=[numeric("n", 1.0, 0, 1, 2), {**branch, "show_if": {"question": "n", "is": ["0"]}}])
    bins = binned("q", 1.0, 0, 10, {"a": 0, "b": 5, "c": 10})
    others = {"bins": [[], {}, None, "a", bins["bins"][:1], ["a", "b", "c"]], "levels": [3], "low": [1, -1], "high": [9]}
    for key, values in others.items():
        for value in values:
            bad[f"a number in bins: {key} {value!r}"] = changed(questions=[{**bins, key: value}])
    for wrong in ({"a": 0, "b": 0, "c": 1}, {"a": 0, "b": 11, "c": 12}, {"a": 0, "b": 5, "c": 3}, {"a": 0.5, "b": 1}, {"a": 0, " b": 5}):
        bad[f"bins {wrong!r}"] = changed(questions=[binned("q", 1.0, 0, 10, wrong)])
    for one in (
        {"name": "b"},
        {"name": "b", "from": "5"},
        {"name": "b", "from": 5, "to": 6},
        {"name": 5, "from": 5},
        {"name": "a", "from": 5},
    ):
        bad[f"a bin {one!r}"] = changed(questions=[{**bins, "bins": [bins["bins"][0], one, bins["bins"][2]]}])
    links = (
        "",
        "http://a.example",
        "https://",
        "https://a b",
        "https://a/#b",
        "https://a/{x}",
        "https://a@b",
        "https://a/\n",
        "https://\u00e4",
        5,
    )
    bad |= {f"return_link {value!r}": changed(return_link=value) for value in (*links, "HTTPS://a", "https://a/" + "b" * 491)}
    logos = (
        "",
        "x",
        "data:image/svg+xml;base64,PHN2Zz4",
        "data:image/png;base64,AAAA",
        f"{LOGO}!",
        f"{LOGO}===",
        "https://a.example/logo.png",
        5,
    )
    bad |= {f"logo {value!r}": changed(institution="I", logo=value) for value in (*logos, LOGO + "A" * 27_000)}
    bad["a logo without a name"] = changed(logo=LOGO)
    bad |= {f"institution {value!r}"[:40]: changed(institution=value) for value in ("", " ", "a\0", "x" * 201, 5, ["a"])}
    for key in ("contact", "ethics", "thanks", "closed"):
        bad |= {f"{key} {value!r}": changed(**{key: value}) for value in ("", " ", "a\0", "x" * 1001, 5, ["a"], {})}
    for groups in ([], ["a"], "ab", ["a", "a"], ["a", ""], ["a", " b"], ["a", 1], [f"g{n}" for n in range(1025)], ["a", "x" * 201], {}):
        bad[f"groups {str(groups)[:40]}"] = changed(groups=groups)
    bad |= {f"access {value!r}": changed(access=value) for value in ("open", "closed", "", True, 1, ["invited"])}
    bad |= {f"batch {value!r}": changed(batch=value) for value in (0, -1, 10, 1001, 1.5, "5", True, [5])}
    bad |= {f"batch {value!r}, not accepted": changed(batch=value) for value in (1, 9)}
    bad |= {f"small batch {value!r}": changed(batch=value, accept_small_batches=True) for value in (0, 10, 1001, True)}
    bad |= {f"accept_small_batches {value!r}": changed(batch=5, accept_small_batches=value) for value in (False, "true", 1)}
    bad |= {f"release {value!r}": changed(release=value) for value in ("daily", "at_once", "", True, ["close"])}
    bad |= {f"release {value!r}, invited": changed(**INVITED, release=value) for value in ("close", "weekly")}
    bad |= {f"access {value!r}, with an issuer": changed(**{**INVITED, "access": value}) for value in ("open", "closed", "", True, 1)}
    bad |= {"invited, without an issuer": changed(access="invited"), "an issuer of an open survey": changed(issuer=issuer())}
    wrong_issuers = {
        "of 2,047 bits": issuer(first=0x7F),
        "of 2,040 bits": issuer(255),
        "of 2,056 bits": issuer(257),
        "even": issuer(last=2),
        "padded": issuer() + "==",
        "of another alphabet": issuer()[:9] + "+" + issuer()[10:],
        "with spare bits": issuer()[:-1] + "R",
        "with a line end": issuer() + "\n",
        "a number": 2**40 + 1,
        "empty": "",
        "null": None,
        "a list": [issuer()],
    }
    bad |= {f"an issuer {name}": changed(access="invited", issuer=value) for name, value in wrong_issuers.items()}
    bad |= {f"layout {value!r}": changed(layout=value) for value in ("list", "step", "", False, ["steps"])}
    bad |= {f"language {value!r}": changed(language=value) for value in ("en", "", "EN", "e", "english", "de_DE", "de-", 5, ["de"])}
    german: Json = {"title": "Ein Titel"}
    wrong_translations: list[Any] = [{}, [], "de", {"de": {}}, {"de": "x"}, {"DE": german}, {"en": german}, {"": german}, {"de": [german]}]
    wrong_translations += [{"de": {key: value}} for key in ("title", "about") for value in ("", " ", 5, "\x7f", "x" * 5001)]
    wrong_translations += [{"de": {**german, key: "x"}} for key in ("contact", "id", "epsilon", "groups")]
    wrong_translations += [
        {"de": {"questions": value}} for value in ({}, [], "x", {"nobody": {"text": "x"}}, {"first": {}}, {"first": "x"})
    ]
    four = ["rot", "grün", "blau", "nichts"]
    wrong_translations += [
        {"de": {"questions": {name: own}}}
        for name, own in (
            *(
                ("second", {"options": value})
                for value in (four[:3], [*four, "x"], [*four[:3], ""], [*four[:3], "rot"], "abcd", {}, [1, 2, 3, 4])
            ),
            *(("first", value) for value in ({"text": ""}, {"text": 5}, {"text": "x", "id": "y"}, {"options": ["ja", "nein"]})),
        )
    ]
    bad |= {f"translations {value!r}"[:120] + f" ({i})": changed(translations=value) for i, value in enumerate(wrong_translations)}
    bad["show_if without the category no answer"] = changed(questions=[first, {**question("q", LN3), "show_if": branch["show_if"]}])
    three = [question("a", LN3), shown_if(question("b", LN3), "a", "yes"), question("c", LN3)]
    bad |= {f"ask {ask!r}": changed(questions=three, ask=ask) for ask in (0, 2, 3, -1, 1.5, "1", True, [1])}
    bad["2,050 bits with the mask"] = survey([*two_long_lists(), question("c", 1.0)], ask=1)
    maybe = optional(question("q", LN3))
    bad |= {
        "a scale without scores": changed(questions=[{key: value for key, value in steps.items() if key != "scores"}]),
        "a choice with scores": changed(questions=[{**steps, "type": "choice"}]),
        "no answer as an option and as a category": changed(questions=[optional(question("q", 1.0, ["a", "no answer"]))]),
        "no answer without its category": changed(questions=[{**question("q", LN3), "required": False}]),
        "its category without the key": changed(questions=[{key: value for key, value in maybe.items() if key != "required"}]),
        "required, and said so": changed(questions=[{**question("q", LN3), "required": True}]),
        **{f"required {value!r}": changed(questions=[{**maybe, "required": value}]) for value in (True, 0, "false", [], {})},
        "no answer first": changed(questions=[{**maybe, "categories": ["no answer", "yes", "no"]}]),
    }
    for option in ("", " ", " a", "a\n", "\u00a0a", "a\u2029", "\x85a", "a\x1c", "a\rb", "a\x7fb", 1, 1.5, ["a"], {}):
        bad[f"an option {option!r}"] = with_options([option, "b"])
    return bad


def respelled() -> dict[str, bytes]:
    """The base survey, or nearly, in bytes that are not its canonical form."""
    text = canonical(base())
    first = base()["questions"][0]
    spellings = {
        "nothing": "",
        "half of it": text[: len(text) // 2],
        "a space more": text + " ",
        "a line break at the end": text + "\n",
        "spaces after colons": json.dumps(base(), sort_keys=True),
        "keys in another order": json.dumps(base(), separators=(",", ":")),
        "a byte order mark": "\ufeff" + text,
        "a key twice, the same": text.replace('"deniable":1,', '"deniable":1,"deniable":1,'),
        "a key twice, first another": text.replace('"deniable":1,', '"deniable":2,"deniable":1,'),
        "a threshold twice, the second right": text.replace('"keep_threshold"', '"keep_threshold":4294967295,"keep_threshold"', 1),
        "a threshold twice, the second wrong": text.replace(',"options"', ',"keep_threshold":1,"options"', 1),
        "an escape that is not needed": text.replace("A title", "\\u0041 title"),
        "an escaped slash": canonical(changed(title="a/b")).replace("/", "\\/"),
        "an upper-case escape": text.replace("A title", "\\u00C4"),
        "half a surrogate pair": text.replace("A title", "\\ud800"),
        "the wrong half first": text.replace("A title", "\\udc00\\ud800"),
        "an escaped surrogate pair": text.replace("A title", "\\ud83d\\ude42"),
        "a number with a fraction": text.replace('"d":1', '"d":1.0', 1),
        "a number with an exponent": text.replace('"d":1', '"d":1e0', 1),
        "the version with a fraction": text.replace('"deniable":1', '"deniable":1.0'),
        "an epsilon with a zero more": text.replace('"epsilon":2.5', '"epsilon":2.50'),
        "an epsilon with digits more": text.replace(es_number(first["epsilon"]), es_number(first["epsilon"]) + "0000001"),
        "an epsilon as text": text.replace('"epsilon":2.5', '"epsilon":"2.5"'),
        "an epsilon as a logarithm": text.replace(f'"epsilon":{es_number(first["epsilon"])}', '"epsilon":"ln 3"'),
        "an epsilon that is not a number": text.replace('"epsilon":2.5', '"epsilon":NaN'),
        "an epsilon without end": text.replace('"epsilon":2.5', '"epsilon":Infinity'),
        "an epsilon too large for a double": text.replace('"epsilon":2.5', '"epsilon":1e400'),
        "a threshold too long for a double": text.replace('"k":2,', '"k":2' + "0" * 400 + ",", 1),
        "null for an epsilon": text.replace('"epsilon":2.5', '"epsilon":null'),
        "true for an epsilon": text.replace('"epsilon":2.5', '"epsilon":true'),
        "true for the version": text.replace('"deniable":1', '"deniable":true'),
        "null for a title": text.replace('"A title"', "null"),
        "null for the questions": text.replace(text[text.index("[{") : text.rindex("]") + 1], "null"),
        "null for a question": text.replace(text[text.index("[{") : text.rindex("]") + 1], "[null]"),
        "single quotes": text.replace('"', "'"),
        "a comma at the end": text[:-1] + ",}",
        "a comment": "/**/" + text,
        "two of them": text + text,
        "deep nesting": "[" * 500 + "]" * 500,
        "null": "null",
    }
    raw = {name: spelling.encode() for name, spelling in spellings.items()}
    good = text.encode()
    return raw | {
        "a byte that is not UTF-8": good.replace(b"A title", b"\xff"),
        "an overlong UTF-8 form": good.replace(b"A title", b"\xc0\xaf"),
        "a surrogate in UTF-8": good.replace(b"A title", b"\xed\xa0\x80"),
        "a cut UTF-8 form": good.replace(b"A title", b"\xe2\x82"),
        "UTF-16": text.encode("utf-16"),
    }


def named(showing: Json) -> list[str]:
    """The questions that a condition is about."""
    if "question" in showing:
        return [showing["question"]]
    return [name for parts in showing.values() for part in parts for name in named(part)]


def first_of_block(definition: Json) -> dict[str, str]:
    """The first question of each question's block: of those that conditions tie together, in any number of steps."""
    block = {q["id"]: {q["id"]} for q in definition["questions"]}
    for q in definition["questions"]:
        for name in named(q["show_if"]) if "show_if" in q else ():
            together = block[q["id"]] | block[name]
            block |= dict.fromkeys(together, together)
    order = [q["id"] for q in definition["questions"]]
    return {name: min(block[name], key=order.index) for name in order}


def losses(definition: Json) -> list[Decimal]:
    """The losses of a record's blocks, as many as it can hold, the largest."""

    def odds(q: Json) -> Decimal:
        return Decimal(q["keep_threshold"] * (q["k"] - q["d"])) / ((COIN - q["keep_threshold"]) * q["d"])

    def items(q: Json) -> int:
        return len(q["options"]) if q["type"] == "multi_choice" else 1

    block: dict[str, list[Decimal]] = {}
    first = first_of_block(definition)
    for q in definition["questions"]:
        block.setdefault(first[q["id"]], []).append(items(q) * odds(q).ln())
    found = sorted((sum(own, Decimal(0)) for own in block.values()), reverse=True)
    return found[: definition.get("ask", len(found))]


def epsilon_total(definition: Json) -> float:
    return float(sum(losses(definition), Decimal(0)))


def bound_on(odds: Decimal | Fraction) -> str:
    """How sure a guess of 50:50 can become: 100 odds / (1 + odds), rounded up to the fewest digits that do not say 100, nine at most."""
    percent = Decimal(100) * odds.numerator / (odds.numerator + odds.denominator) if isinstance(odds, Fraction) else 100 * odds / (1 + odds)
    for digits in range(10):
        shown = percent.quantize(Decimal(10) ** -digits, ROUND_CEILING)
        if shown < 100:
            return str(shown)
    return "100"


def bound_of_all(definition: Json) -> str:
    """The bound on a whole record, from its odds; those of a few thousand bits are left to the logarithm, far beyond nine digits."""
    total = sum(losses(definition), Decimal(0))
    nearest = total.exp()
    whole = nearest.to_integral_value()
    return bound_on(whole if abs(nearest - whole) < Decimal("1e-60") * whole else nearest)  # 27 coins of two: 3, 9, 27 exactly


def spelled(raw: bytes) -> Json:
    try:
        return {"text": raw.decode("utf-8")}
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(raw).decode()}


def definitions() -> list[Json]:
    vectors = []
    for name, definition in good_definitions().items():
        raw = canonical(definition).encode()
        known = {"digest": hashlib.sha256(raw).hexdigest(), "epsilon": epsilon_total(definition), "bound": bound_of_all(definition)}
        vectors.append({"name": name, "accepted": True, **spelled(raw), **known})
    for name, broken in bad_objects().items():
        vectors.append({"name": name, "accepted": False, **spelled(canonical(broken).encode())})
    for name, raw in respelled().items():
        vectors.append({"name": name, "accepted": False, **spelled(raw)})
    return [*vectors, *conditions()]


def conditions() -> list[Json]:
    """One good definition under pins and caps."""
    raw = canonical(base()).encode()
    digest, total = hashlib.sha256(raw).hexdigest(), epsilon_total(base())
    other = hashlib.sha256(raw + b" ").hexdigest()
    flipped = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    cases: list[tuple[str, bool, Json]] = [
        ("the right pin", True, {"pin": digest}),
        ("a cap just above", True, {"max_epsilon": total * 1.000001}),
        ("a cap of that very number", True, {"max_epsilon": total}),
        ("the right pin and a large cap", True, {"pin": digest, "max_epsilon": 100}),
        ("a pin of another survey", False, {"pin": other}),
        ("a pin with its last digit changed", False, {"pin": flipped}),
        ("a pin cut short", False, {"pin": digest[:63]}),
        ("an empty pin", False, {"pin": ""}),
        ("a pin in capitals", False, {"pin": digest.upper()}),
        ("a cap just below", False, {"max_epsilon": total * 0.999999}),
        ("a cap of zero", False, {"max_epsilon": 0}),
        ("the right pin and a cap below", False, {"pin": digest, "max_epsilon": 1}),
        ("another pin and a large cap", False, {"pin": other, "max_epsilon": 100}),
    ]
    known = {"digest": digest, "epsilon": total, "bound": bound_of_all(base())}
    return [{"name": name, "accepted": accepted, **spelled(raw), **known, **condition} for name, accepted, condition in cases]


# ---- answers -------------------------------------------------------------------------------------


def answers() -> list[Json]:
    vectors: list[Json] = []
    spaces = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2005\u200a\u2028\u2029\u202f\u205f\u3000"
    for category, words in enumerate((("yes", "true", "1"), ("no", "false", "0"))):
        for word in words:
            for spelling in dict.fromkeys((word, word.upper(), word.title(), f" {word}\n", spaces + word + spaces)):
                vectors.append({"type": "yes_no", "categories": ["yes", "no"], "answer": spelling, "category": category})
    for answer, category in [(True, 0), (False, 1), (1, 0), (0, 1), ("1.0", 0), (" 0.00\n", 1)]:
        vectors.append({"type": "yes_no", "categories": ["yes", "no"], "answer": answer, "category": category})
    near = [
        "",
        " ",
        "y",
        "n",
        "ye s",
        "yess",
        "ye\u017f",
        "\ufeffyes",
        "yes\u200b",
        "2",
        "01",
        "1.1",
        "1.",
        "ｙes",
        "constructor",
        "__proto__",
    ]
    for wrong in [*near, 2, -1, 0.5, None, [], ["yes"], {}, [True]]:
        vectors.append({"type": "yes_no", "categories": ["yes", "no"], "answer": wrong, "category": None})
    options = ["yes", "no", "1", "10", "1.10", "-3", "red", "Red", "a b", "\ufeffx", "__proto__", "é", "🙂", "9007199254740991"]
    for category, option in enumerate(options):
        for spelling in (option, f"{spaces}{option}{spaces}"):
            vectors.append({"type": "choice", "categories": options, "answer": spelling, "category": category})
    for answer, found in [(1, 2), (10, 3), (-3, 5), (9007199254740991, 13), ("1.0", 2), ("-3.00", 5)]:
        vectors.append({"type": "choice", "categories": options, "answer": answer, "category": found})
    near = ["", "YES", "RED", "ab", "a  b", "1.1", "1.", "01.0", "01", "x", "e\u0301", "\ud83d", "length", "toString"]
    for wrong in [*near, 2, 1.1, 1.5, True, False, None, [], ["yes"], {"yes": 1}]:
        vectors.append({"type": "choice", "categories": options, "answer": wrong, "category": None})
    for vector in vectors:
        vector["required"] = True
    steps = {"type": "scale", "categories": ["1", "2", "three"], "required": True}
    vectors += [
        {**steps, "answer": answer, "category": found} for answer, found in (("1", 0), (2, 1), (" three ", 2), (3, None), (None, None))
    ]
    maybe: Json = {"type": "yes_no", "categories": ["yes", "no", "no answer"], "required": False}
    vectors += [{**maybe, "answer": answer, "category": 2} for answer in (None, "", " \t", "no answer", " no answer\n")]
    vectors += [
        {**maybe, "answer": answer, "category": found}
        for answer, found in ((" YES ", 0), (False, 1), ("No Answer", None), ("none", None), ([], None))
    ]
    vectors += numbers()
    some: Json = {"type": "choice", "categories": ["a", "2", "no answer"], "required": False}
    vectors += [
        {**some, "answer": answer, "category": found} for answer, found in (("a", 0), (2, 1), ("", 2), (None, 2), ("b", None), (0, None))
    ]
    return vectors


def numbers() -> list[Json]:
    """Answers between two levels, each with a word that falls clearly on one side of their distance."""
    vectors: list[Json] = []
    for made in (numeric("q", 1.0, 0, 100, 2), optional(numeric("q", 2.0, -1.5, 2.25, 7)), numeric("q", 2.0, 1e-9, 1e-7, 5)):
        low, high, levels = made["low"], made["high"], made["levels"]
        source = {key: made[key] for key in ("low", "high", "levels")}
        shape = {"type": "number", "source": source, "categories": made["categories"], "required": made.get("required", True)}
        inside = [low, high, *(RANDOM.uniform(low, high) for _ in range(12))]
        spelled: list[Any] = [*inside, *(f" +{round(x, 2)}\n" for x in inside[2:5] if round(x, 2) >= 0 and low <= round(x, 2) <= high)]
        for answer in spelled:
            place = (Fraction(float(answer)) - Fraction(low)) / (Fraction(high) - Fraction(low)) * (levels - 1)
            lower, distance = math.floor(place), float(place - math.floor(place))
            for word in (0, COIN - 1, RANDOM.randrange(COIN), int(distance * COIN) // 2, (int(distance * COIN) + COIN) // 2):
                if abs(word - distance * COIN) > 8 or distance == 0:
                    up = word < distance * COIN
                    vectors.append({**shape, "answer": answer, "words": [word], "category": lower + up})
        wrong = ["x", "1e", "1e100", "9e99", "0x1", "1,5", "--1", ".", "Infinity", high + 1, low - 1, True, [], str(high * 2 + 1)]
        vectors += [{**shape, "answer": answer, "words": [5], "category": None} for answer in wrong]
        nothing = None if shape["required"] else levels
        vectors += [{**shape, "answer": answer, "words": [5], "category": nothing} for answer in (None, "", " ")]
    return vectors + binned_numbers()


def binned_numbers() -> list[Json]:
    """Answers on and beside the edges of bins, which take no word."""
    vectors: list[Json] = []
    edges: Json = {"none": 0, "a few": 0.5, "many": 3, "very many": 10}
    plain = binned("q", 1.0, 0, 12, edges)
    for made in (plain, optional(plain)):
        required = made.get("required", True)
        source = {key: made[key] for key in ("low", "high", "bins")}
        shape = {"type": "number", "source": source, "categories": made["categories"], "required": required}
        spelled = [(0, 0), ("0.49", 0), (0.5, 1), ("2.999999", 1), (3, 2), (" 3\n", 2), (9.99, 2), (10, 3), ("1e1", 3), (12, 3), (11.5, 3)]
        spelled += [(-0.001, None), (12.001, None), ("none", None), ("many", None), (True, None), (None, None if required else 4)]
        vectors += [{**shape, "answer": answer, "category": found} for answer, found in spelled]
    return vectors


# ---- whole submissions ---------------------------------------------------------------------------


def some_answer(q: Json) -> Any:
    if q["type"] != "multi_choice":
        return RANDOM.choice(q["categories"])
    return None if q["k"] == 3 and RANDOM.random() < 0.3 else [option for option in q["options"] if RANDOM.random() < 0.5]


def said(q: Json, answer: Any) -> Any:
    """What a respondent says: a number for a bin, where it begins."""
    return next((one["from"] for one in q.get("bins", ()) if one["name"] == answer), answer)


def some_mask(definition: Json) -> list[int] | None:
    """Which questions a device drew: whole blocks, where the definition asks a sample."""
    if "ask" not in definition:
        return None
    first = first_of_block(definition)
    drawn = RANDOM.sample(sorted(set(first.values())), definition["ask"])
    return [int(first[q["id"]] in drawn) for q in definition["questions"]]


def holds(showing: Json, seen: Json) -> bool:
    """Whether a condition holds after these answers."""
    if "all" in showing:
        return all(holds(part, seen) for part in showing["all"])
    if "any" in showing:
        return any(holds(part, seen) for part in showing["any"])
    before = seen[showing["question"]]
    return bool(set(before if isinstance(before, list) else [before]) & set(showing["is"]))


def told(definition: Json, chosen: Json) -> Json:
    """The answers as they count: those of hidden questions are none."""
    seen: Json = {}
    for q in definition["questions"]:
        seen[q["id"]] = chosen[q["id"]] if "show_if" not in q or holds(q["show_if"], seen) else None
    return seen


def categories_of(q: Json, answer: Any) -> list[int]:
    """What each item's category is: of the whole question, or yes, no or nothing for each option."""
    if q["type"] != "multi_choice":
        return [q["categories"].index("no answer" if answer is None else answer)]
    return [2 if answer is None else 0 if option in answer else 1 for option in q["options"]]


def submissions() -> list[Json]:
    vectors = []
    good = good_definitions()
    more = [made for name, made in good.items() if "number" in name or "not required" in name or "items" in name or "multiple" in name]
    more += [made for made in good.values() if {"groups", "access", "translations"} & set(made)]
    more += [good["branches"], good["a sample of two"], good["a sample of blocks"]] * 10
    joined = list(joined_conditions().values()) * 4
    for definition in [base(), *more, *list(good.values())[-24:], *joined]:
        for _ in range(3):
            chosen = {q["id"]: some_answer(q) for q in definition["questions"]}
            bits = []
            words = [RANDOM.randrange(COIN) for q in definition["questions"] if "levels" in q]  # which need no rounding
            seen = told(definition, chosen)
            items = [(q, category) for q in definition["questions"] for category in categories_of(q, seen[q["id"]])]
            for q, category in items:
                stream = some_words(q["k"], q["d"], q["keep_threshold"])
                made, used = report(q["k"], q["d"], q["keep_threshold"], category, [*stream, 7, 7])
                assert used == len(stream)
                bits.append(made)
                words += stream
            raw = canonical(definition)
            name = RANDOM.randbytes(16)
            digest = hashlib.sha256(raw.encode()).hexdigest()
            more = {}
            if "groups" in definition:
                more["group"] = RANDOM.choice(definition["groups"])
            if "access" in definition:
                if RANDOM.random() < 0.5:
                    more |= {"mode": "by_hand", "invitation": base64url(RANDOM.randbytes(15))}
                else:
                    more["token"] = {"nonce": base64url(RANDOM.randbytes(32)), "signature": base64url(RANDOM.randbytes(256))}
            asked = some_mask(definition)
            if asked is not None:
                numbers = [number for number, q in enumerate(definition["questions"]) for _ in categories_of(q, seen[q["id"]])]
                kept = [made if asked[number] else [0] * len(made) for number, made in zip(numbers, bits, strict=True)]
                bits = [[*asked, 0], *kept]  # the mask is packed like the bits of a question, the last one left out
            parts = {"id": base64url(name), "digest": digest, "count": 1, "reports": base64url(packed(bits)), **more}
            envelope = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
            spoken = {q["id"]: said(q, chosen[q["id"]]) for q in definition["questions"]}
            vectors.append({"definition": raw, "answers": spoken, "id": name.hex(), "words": words, "asked": asked, **more})
            vectors[-1]["envelope"] = envelope
    return vectors


def bad_envelopes() -> list[Json]:
    """Bodies that a server must refuse before it looks at the survey, with the rule they break."""
    good = {"id": base64url(bytes(range(16))), "digest": "0" * 64, "count": 1, "reports": "gA"}
    text = json.dumps(good)

    def but(**changes: Any) -> str:
        return json.dumps({key: value for key, value in {**good, **changes}.items() if value is not ...})

    cases = [
        ("json", body) for body in ("", "{", text + "x", text + text, text.replace('"count"', '"id": "", "count"'), "NaN", "[" * 100_000)
    ]
    cases += [
        ("keys", body)
        for body in ("[]", "1", '"a"', "null", "{}", but(id=...), but(reports=...), but(count=...), but(digest=...), but(time=1))
    ]
    cases += [("count", but(count=value)) for value in (0, -1, 100_001, 1.0, "1", True, None, [1], 10**30)]
    cases += [("digest", but(digest=value)) for value in ("", "0" * 63, "0" * 65, "A" * 64, "0" * 63 + "\n", "é" * 64, 5, None)]
    cases += [
        ("id", but(id=value))
        for value in ("", base64url(bytes(15)), base64url(bytes(17)), good["id"] + "==", good["id"][:-1] + "9", 5, None)
    ]
    cases += [("id", but(id=good["id"].replace("A", "+", 1))), ("id", but(id=good["id"][:-1] + "\n"))]
    cases += [("reports", but(reports=value)) for value in ("gA==", "gB", "g", "g A", "gA\n", "+A", "/A", "gé", 5, None, ["gA"])]
    cases += [("group", but(group=value)) for value in (5, None, True, ["a"], {})]
    cases += [("mode", but(mode=value)) for value in (False, 1, "", "device", "By_hand", "cluster", None, ["by_hand"])]
    cases += [("keys", but(by_hand=True))]
    cases += [("invitation", but(invitation=value)) for value in ("", base64url(bytes(14)), base64url(bytes(16)), "é", 5, None)]
    token = {"nonce": base64url(bytes(32)), "signature": base64url(bytes(256))}
    tokens: list[Any] = ["", 5, None, [], {}, {"nonce": token["nonce"]}, {"signature": token["signature"]}, {**token, "key": ""}]
    tokens += [{**token, "nonce": value} for value in ("", base64url(bytes(31)), base64url(bytes(33)), token["nonce"] + "=", 5, None)]
    tokens += [{**token, "signature": value} for value in ("", base64url(bytes(255)), base64url(bytes(257)), "é", 5, None)]
    cases += [("token", but(token=value)) for value in tokens]
    return [{"rule": rule, "body": body} for rule, body in cases]


def codes() -> list[Json]:
    """Secret codes: the text to write down, the id of the submission, and ways in which people write it."""
    crockford = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    vectors: list[Json] = []
    for secret in [bytes(15), b"\xff" * 15, bytes(range(15)), *(RANDOM.randbytes(15) for _ in range(40))]:
        check = base64.b32encode(hashlib.sha256(secret).digest()).decode()[:4]
        text = (base64.b32encode(secret).decode() + check).translate(crockford)
        grouped = "-".join(text[start : start + 4] for start in range(0, 28, 4))
        name = hashlib.sha256(b"deniable submission\n" + secret).hexdigest()[:32]
        vectors.append({"secret": secret.hex(), "text": grouped, "id": name})
        loose = [text.lower(), grouped.replace("-", " "), f" {grouped}\n", text.replace("0", "o").replace("1", "l"), text.replace("1", "I")]
        vectors += [{"secret": secret.hex(), "typed": typed} for typed in loose]
        place = RANDOM.randrange(28)
        slip = text[:place] + RANDOM.choice([c for c in "0123456789ABCDEFGHJKMNPQRSTVWXYZ" if c != text[place]]) + text[place + 1 :]
        swapped = text[:10] + text[11] + text[10] + text[12:]
        wrong = [slip, text[:27], text + "0", text[:10] + "U" + text[11:], "", *([swapped] if swapped != text else [])]
        vectors += [{"secret": None, "typed": typed} for typed in wrong]
    return vectors


def six_words() -> list[Json]:
    """Fingerprints, and which six of the 256 words they are; the list itself is told by its hash, words parted by single spaces."""
    digests = [hashlib.sha256(bytes([number])).digest() for number in range(2)]
    said = ["", "ä", *(digest.hex() for digest in digests), *("sha384-" + base64.b64encode(2 * digest[:24]).decode() for digest in digests)]
    places = [hashlib.pbkdf2_hmac("sha256", text.encode(), b"deniable six words", 262144, 6) for text in said]
    return [{"list": "7981c36afd6e373e730390278a7df8b403f86c08b71ed619d8b89c2a85dfa4e6"}] + [
        {"said": text, "words": [*six]} for text, six in zip(said, places, strict=True)
    ]


# ---- people of 100 -------------------------------------------------------------------------------


def bounds() -> list[Json]:
    """Odds, and sums of epsilons, with the percentage that a guess can reach; channels with their odds in people."""
    draw = random.Random(8)
    ratios = [Fraction(1), Fraction(2980957987, 10**6), Fraction(99), Fraction(99 * 10**6 + 1, 10**6), Fraction(98999999, 10**6)]
    ratios += [Fraction(3) ** power for power in (*range(1, 24), 60, 2048)]
    ratios += [Fraction(10) ** power + shift for power in range(1, 14) for shift in (-2, -1, 0, 1)]
    ratios += [Fraction(COIN + draw.randrange(COIN), draw.randrange(1, COIN)) for _ in range(60)]
    made: list[Json] = [{"own": str(r.numerator), "other": str(r.denominator), "bound": bound_on(r)} for r in ratios]
    sums = [0.0, 1e-9, 0.1, 1.0, 8.0, 16.0, 30.0, 99.0, 700.0, 19_999.99, *(draw.uniform(0, 25) for _ in range(60))]
    sums += [count * math.log(power) for count in range(1, 9) for power in (3, 9, 2)]
    sure = Decimal("0.999999999999")
    made += [{"epsilon": e, "bound": bound_on(max(Decimal(1), Decimal(min(e, 99.0)).exp() * sure))} for e in sums]
    coins = [(e, k) for e in (1e-6, 0.001, 0.2, 1.0, math.log(3), 2.0, 5.0, 8.0, 10.0) for k in (2, 3, 5, 16, 300, 1024)]
    coins += [(draw.uniform(0.001, 10), draw.randint(2, 40)) for _ in range(60)]
    return made + [in_people(k, *mechanism(e, k)) for e, k in coins] + [in_people(2, 1, COIN // 8 * 7), in_people(2, 1, COIN // 2)]


def in_people(k: int, d: int, threshold: int) -> Json:
    """How many of 100 people, or of more, have a category in their record if it is theirs, and if another is."""
    own, other = Decimal(threshold) / COIN, (d - Decimal(threshold) / COIN) / (k - 1)
    for of in (100, 1000, 10**4, 10**5, 10**6):
        counted = [int((of * chance).to_integral_value(ROUND_HALF_UP)) for chance in (own, other)]
        if of == 10**6 or 0 < counted[1] < counted[0] < of:
            break
    return {"k": k, "d": d, "keep_threshold": threshold, "people": [of, *counted]}


# ---- exclusive options and limits ---------------------------------------------------------------------------


def excluding(made: Json, *options: str, none: str | None = None) -> Json:
    return {**made, **({"exclusive": list(options)} if options else {}), **({"none": none} if none else {})}


def limited(made: Json, least: Any = None, most: Any = None) -> Json:
    return {**made, **({"at_least": least} if least is not None else {}), **({"at_most": most} if most is not None else {})}


def agree(q: Json, answer: Any) -> bool:
    """Whether an answer to a multiple choice is one that can be true."""
    if answer is None:
        return q.get("required", True) is False
    if not isinstance(answer, list) or not all(option in q["options"] for option in answer):
        return False
    alone = {*q.get("exclusive", []), *([q["none"]] if "none" in q else [])}
    if alone & set(answer):
        return len(set(answer)) == 1
    return q.get("at_least", int("none" in q)) <= len(set(answer)) <= q.get("at_most", len(q["options"]))


def exclusive() -> list[Json]:
    """Definitions with exclusive options and limits, and answers to their question `q`, each accepted or refused."""
    tea = several("q", 2.0, ["tea", "coffee", "neither", "do not know"])
    good = {
        "one that excludes": excluding(tea, "do not know"),
        "two that exclude": excluding(tea, "neither", "do not know"),
        "in another order": excluding(tea, "do not know", "tea"),
        "a none": excluding(tea, none="neither"),
        "a none and one that excludes": excluding(tea, "do not know", none="neither"),
        "two options, one of them exclusive": excluding(several("q", 1.0, ["a", "b"]), "b"),
        "three that exclude": excluding(tea, "tea", "coffee", none="neither"),
        "not required": excluding(optional(tea), "do not know", none="neither"),
        "names of a JavaScript object": excluding(several("q", 1.0, ["__proto__", "constructor", "none"]), "constructor", none="none"),
        "none of them excludes": tea,
        "at most two": limited(tea, most=2),
        "at most one": limited(tea, most=1),
        "at least two": limited(tea, 2),
        "all but one at least": limited(tea, 3),
        "two or three": limited(tea, 2, 3),
        "exactly two": limited(tea, 2, 2),
        "limits beside one that excludes": limited(excluding(tea, "do not know"), 1, 2),
        "a limit beside two that exclude": limited(excluding(tea, "do not know", none="neither"), most=1),
        "a limit above what a none demands": limited(excluding(tea, none="neither"), 2),
        "a limit that a none demands anyway": limited(excluding(tea, none="neither"), 1),
        "limits beside the one for other answers": {**limited(tea, 1, 2), "other": "tea"},
        "limits, and not required": limited(optional(tea), 2, 3),
        "limits, a none, and not required": limited(excluding(optional(tea), none="neither"), 2, 2),
    }
    bad = {
        "no option": {**tea, "exclusive": []},
        "no list": {**tea, "exclusive": "tea"},
        "an option that is not there": excluding(tea, "milk"),
        "an option twice": excluding(tea, "tea", "tea"),
        "a none that is not there": excluding(tea, none="milk"),
        "a none that is no text": {**tea, "none": 1},
        "a none that is null": {**tea, "none": None},
        "null in the list": {**tea, "exclusive": [None]},
        "a none that is listed, too": excluding(tea, "neither", none="neither"),
        "all options": excluding(tea, *tea["options"]),
        "all options but none": excluding(tea, "tea", "coffee", "do not know", none="neither"),
        "of a choice": {**question("q", 1.0, ["a", "b"]), "exclusive": ["a"]},
        "a none of a scale": {**scale("q", 1.0, ["a", "b"], [1, 2]), "none": "a"},
        "of yes or no": {**question("q", 1.0), "none": "no"},
        "none at most": limited(tea, most=0),
        "all at most": limited(tea, most=4),
        "fewer than none": limited(tea, most=-1),
        "none at least": limited(tea, 0),
        "all at least": limited(tea, 4),
        "more at least than at most": limited(tea, 3, 2),
        "a limit that is no whole number": limited(tea, most=1.5),
        "a limit that is text": limited(tea, most="2"),
        "a limit that is true": limited(tea, most=True),
        "a limit that is null": {**tea, "at_most": None},
        "a limit in a list": limited(tea, [2]),
        "all at most that go together": limited(excluding(tea, "do not know"), most=3),
        "all at least that go together": limited(excluding(tea, none="neither"), 3),
        "a limit for one option": limited(excluding(tea, "tea", "coffee", none="neither"), most=1),
        "a limit of a choice": limited(question("q", 1.0, ["a", "b", "c"]), most=1),
    }
    vectors: list[Json] = []
    for name, q in good.items():
        options = q["options"]
        subsets = [[option for place, option in enumerate(options) if mask >> place & 1] for mask in range(2 ** len(options))]
        tried = [*subsets, subsets[-1][::-1], [options[-1]] * 2, [*options[:1], "milk"], None, options[0]]
        raw = canonical(survey([q]))
        known = {"digest": hashlib.sha256(raw.encode()).hexdigest(), "epsilon": epsilon_total(survey([q]))}
        vectors.append({"name": name, "accepted": True, "text": raw, **known, "answers": [[answer, agree(q, answer)] for answer in tried]})
    vectors += [{"name": name, "accepted": False, "text": canonical(survey([q]))} for name, q in bad.items()]
    return vectors


FILES = {
    "bounds": bounds,
    "codes": codes,
    "six_words": six_words,
    "thresholds": thresholds,
    "coins": coins,
    "packing": packing,
    "bad_records": bad_records,
    "definitions": definitions,
    "answers": answers,
    "submissions": submissions,
    "bad_envelopes": bad_envelopes,
    "exclusive": exclusive,
}


def main(folder: Path) -> None:
    for name, make in FILES.items():
        lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in make())
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
