"""Writes the vectors of what a device does beside its coins: drawn orders, earlier answers in later texts, and sums as conditions.

Like make_twin_vectors.py, whose helpers it uses, it shares no code with the project: texts are read character by character here, and a list
is shuffled by taking elements out of it.

Run: python -m tests.vectors.make_device_vectors [FOLDER]   (the standard library only; the same bytes on every run)
"""

from __future__ import annotations

import hashlib
import json
import random
import string
import sys
from pathlib import Path
from typing import Any

from tests.vectors.make_twin_vectors import (
    COIN,
    COLOURS,
    LN3,
    after,
    asked_after,
    base64url,
    binned,
    bound_of_all,
    canonical,
    categories_of,
    epsilon_total,
    numeric,
    optional,
    packed,
    question,
    report,
    scale,
    several,
    some_answer,
    some_words,
    survey,
)

RANDOM = random.Random(20261126)
Json = dict[str, Any]


# ---- orders --------------------------------------------------------------------------------------


def words_below(bounds: list[int]) -> list[int]:
    """A word for each draw below a bound, now and then after one that is rejected."""
    words = []
    for bound in bounds:
        end = COIN // bound * bound
        if end < COIN and RANDOM.random() < 0.25:
            words.append(RANDOM.randrange(end, COIN))
        words.append(RANDOM.choice([0, end - 1, RANDOM.randrange(end)]))
    return words


def below(bound: int, words: list[int]) -> int:
    while (word := words.pop(0)) >= COIN // bound * bound:
        pass
    return word % bound


def bounds_of(order: str, count: int) -> list[int]:
    """The bounds of the draws for one list."""
    if order == "rotate":
        return [count] if count > 1 else []
    return list(range(count, 1, -1))


def arranged(elements: list[Any], order: str, words: list[int]) -> list[Any]:
    """The elements in the order that these words draw."""
    if order == "rotate":
        first = below(len(elements), words) if len(elements) > 1 else 0
        return elements[first:] + elements[:first]
    left, end = list(elements), list[Any]()
    while len(left) > 1:
        place = below(len(left), words)
        last = left.pop()
        end.insert(0, last if place == len(left) else left[place])
        if place < len(left):
            left[place] = last
    return left + end


def orders() -> list[Json]:
    vectors = []
    for order in ("random", "rotate"):
        for count in (2, 3, 4, 7, 20, 1024):
            for _ in range(6 if count < 1000 else 2):
                own = question("q", 1.0, [f"o{n}" for n in range(count)])
                last: list[str] = []
                if count > 3 and RANDOM.random() < 0.7:
                    last = RANDOM.sample(own["options"], RANDOM.randint(1, 2))
                    kind: Json = {"type": "multi_choice", "exclusive": last} if RANDOM.random() < 0.5 else {"other": last[0]}
                    last = last if "exclusive" in kind else last[:1]
                    own |= kind
                movable = [option for option in own["options"] if option not in last]
                words = words_below(bounds_of(order, len(movable)))
                made = arranged(movable, order, list(words)) + [option for option in own["options"] if option in last]
                keys = {key: own[key] for key in ("type", "options", "exclusive", "other") if key in own}
                vectors.append({**keys, "order": order, "words": words, "shown": [own["options"].index(option) for option in made]})
    return vectors


# ---- texts ---------------------------------------------------------------------------------------

FIRST = set(string.ascii_letters)
INNER = FIRST | set(string.digits + "_")


def parts_of(text: str) -> list[tuple[str, str, str | None]]:
    """The parts of a text: ("text", it, None), ("pipe", id, fallback) and ("wrong", "${", None)."""
    parts: list[tuple[str, str, str | None]] = []
    place = 0
    while place < len(text):
        if text.startswith("$${", place):
            parts.append(("text", "${", None))
            place += 3
        elif text.startswith("${", place):
            end = place + 2
            while end < len(text) and text[end] in (INNER if end > place + 2 else FIRST):
                end += 1
            name, fallback, close = text[place + 2 : end], None, end
            if close < len(text) and text[close] == "|":
                while close + 1 < len(text) and text[close + 1] not in "{}|":
                    close += 1
                fallback = text[end + 1 : close + 1]
                close += 1
            if 1 <= len(name) <= 64 and close < len(text) and text[close] == "}":
                parts.append(("pipe", name, fallback))
                place = close + 1
            else:
                parts.append(("wrong", "${", None))
                place += 2
        else:
            parts.append(("text", text[place], None))
            place += 1
    return parts


TEXT_CASES = [
    "Plain.",
    "You said ${a}.",
    "${a}${b}",
    "${a|your answer} and ${b|that}",
    "$${a} is literal",
    "$$${a} and $$$${b}",
    "$5 and {a} and $ {a}",
    "${",
    "${}",
    "${ a}",
    "${a",
    "${a|}",
    "${a| }",
    "${a|x|y}",
    "${a|{}}",
    "${a|" + "x" * 100 + "}",
    "${a|" + "x" * 101 + "}",
    "${a|" + "🙂" * 100 + "}",
    "${nobody}",
    "${1a}",
    "${A}",
    "${" + "a" * 64 + "}",
    "${" + "a" * 65 + "}",
    "${__proto__}",
    "${constructor}",
    "${a|<b>bold</b>}",
    "${a|\u00a0}",
    "${a|\u2028x}",
    "$$ ${a} $$",
    "$${$${a}",
    "$${${a}}",
    "${b|$}",
    "${b|$$}",
    "Ünïcödé ${a|é} 🙂",
]


def pipes() -> list[Json]:
    vectors = []
    texts = [
        *TEXT_CASES,
        *("".join(RANDOM.choices(["$", "{", "}", "|", "a", "b", "${a}", "${b|t}", "$${", " x "], k=9)) for _ in range(300)),
    ]
    for text in texts:
        parts = parts_of(text)
        references = [(name, fallback) for kind, name, fallback in parts if kind == "pipe"]
        fits = all(fallback is None or (fallback.strip() and len(fallback) <= 100) for _, fallback in references)
        good = fits and all(name in ("a", "b") for name, _ in references) and all(kind != "wrong" for kind, _, _ in parts)
        plain = "".join((fallback or "…") if kind == "pipe" else part for kind, part, fallback in parts)
        full = "".join({"a": "${b}"}.get(part, fallback or "…") if kind == "pipe" else part for kind, part, fallback in parts)
        vectors.append({"text": text, "good": bool(good), "plain": plain, "answered": full})
    return vectors


# ---- definitions and whole submissions -----------------------------------------------------------


def phq() -> list[Json]:
    """Scales whose scores are added, one of which may be left out."""
    levels = ["never", "some days", "most days", "nearly always"]
    made = [scale(f"phq{n}", 0.5, levels, [0, 1, 2, 3]) for n in (1, 2, 3)]
    return [*made[:2], optional(made[2])]


def good_definitions() -> dict[str, Json]:
    """Surveys with orders, earlier answers in texts, and sums."""
    first, age = question("first", LN3), binned("age", 0.5, 0, 120, {"child": 0, "old": 65})
    names = ["phq1", "phq2", "phq3"]
    temperature = scale("cold", 0.5, ["frost", "mild", "warm"], [-10, 0, 15])
    used = optional(several("used", 1.0, ["a", "b", "c"]))
    scored: Json = {"score": names, "at_least": 3}
    counted: Json = {"count": ["phq1", "phq3"], "is": ["most days", "nearly always"], "at_least": 1, "below": 2}
    both = {"all": [{"any": [scored, counted]}, {"score": ["cold"], "below": 0}]}
    several_used = {"count": ["used", "chosen"], "is": ["a", "c"], "at_least": 2}
    chosen = question("chosen", 0.5, ["a", "b", "c"])
    hidden = after(scale("more", 0.5, ["x", "y"], [1, 5]), asked_after("first", "yes"))
    of_hidden: Json = {"score": ["more", "phq1"], "at_least": 5}
    piped = {**question("piped", 1.0, text="You said ${first|that}, $${literally}: why?"), "help": "${first}"}
    told = {**question("told", 1.0), "section": {"title": "After ${age}", "note": "${first|x}"}}
    return {
        "an order of options": survey(
            [{**question("q", 1.0, COLOURS), "order": "random"}, {**several("r", 1.0, COLOURS), "order": "rotate"}]
        ),
        "an option for other answers": survey([{**question("q", 1.0, COLOURS), "other": "none of them", "order": "rotate"}]),
        "an order of questions": survey([first, question("second", 1.0)], order="random"),
        "a turned order of questions": survey([first, question("second", 1.0)], order="rotate", layout="steps"),
        "a sum of scores": survey([*phq(), after(question("why", 0.5), scored)]),
        "a sum of what may have no answer": survey([*phq(), after(question("why", 0.5), {"score": ["phq3"], "at_least": 1})]),
        "a count": survey([*phq(), after(question("why", 0.5), counted)]),
        "sums in lists": survey([*phq(), temperature, after(question("why", 0.5), both)]),
        "a count of a multiple choice": survey([used, chosen, after(question("why", 0.5), several_used)]),
        "a sum of hidden scores": survey([first, hidden, *phq()[:1], after(question("why", 0.5), of_hidden)]),
        "a sum of a hundred": survey(
            [
                *(scale(f"s{n}", 0.05, ["no", "yes"], [0, 1]) for n in range(100)),
                after(question("why", 0.5), {"score": [f"s{n}" for n in range(100)], "at_least": -5, "below": 1_000_000_000}),
            ]
        ),
        "earlier answers in texts": survey(
            [first, age, piped, told],
            translations={
                "de": {"questions": {"piped": {"text": "${first|Das}?"}, "told": {"section": {"title": "Nach ${age} ${first}"}}}}
            },
        ),
        "a literal reference": survey([question("q", 1.0, text="What is $${x}? $5 {y}")]),
        "a reference in an option, which is literal": survey([first, question("q", 1.0, ["${first}", "b"])]),
    }


def bad_definitions() -> dict[str, Json]:
    """Surveys that break one rule each; canonical otherwise."""
    first, three = question("first", LN3), phq()
    choice, multiple = question("q", 1.0, COLOURS), several("q", 1.0, COLOURS)
    grid = numeric("grid", 0.5, 0, 9, 3)
    half = scale("half", 0.5, ["a", "b"], [0.5, 1])

    def shown(showing: Any) -> Json:
        return survey([first, *three, grid, half, after(question("why", 0.5), showing)])

    sums = {
        "an id twice": {"score": ["phq1", "phq1"], "at_least": 1},
        "no id": {"score": [], "at_least": 1},
        "ids as text": {"score": "phq1", "at_least": 1},
        "an id that is none": {"score": ["phq1", 5], "at_least": 1},
        "an unknown id": {"score": ["phq9"], "at_least": 1},
        "its own id": {"score": ["why"], "at_least": 1},
        "no range": {"score": ["phq1"]},
        "an empty range": {"score": ["phq1"], "at_least": 3, "below": 3},
        "half a score": {"score": ["phq1"], "at_least": 1.5},
        "an end as text": {"score": ["phq1"], "at_least": "1"},
        "an end that is true": {"score": ["phq1"], "at_least": True},
        "an end that is too far": {"score": ["phq1"], "at_least": 1_000_000_001},
        "a key more": {"score": ["phq1"], "at_least": 1, "is": ["never"]},
        "no count beside it": {"score": ["phq1"], "count": None, "at_least": 1},
        "no score beside it": {"score": None, "count": ["phq1"], "is": ["never"], "at_least": 1},
        "an end that is nothing": {"score": ["phq1"], "at_least": None},
        "another key": {"score": ["phq1"], "at_least": 1, "above": 2},
        "both words": {"score": ["phq1"], "count": ["phq1"], "is": ["never"], "at_least": 1},
        "a question beside": {"score": ["phq1"], "question": "phq1", "at_least": 1},
        "what is no scale": {"score": ["first"], "at_least": 1},
        "a grid": {"score": ["grid"], "at_least": 1},
        "scores that are not whole": {"score": ["half"], "at_least": 1},
        "a count of a grid": {"count": ["grid"], "is": ["0"], "at_least": 1},
        "a count without answers": {"count": ["phq1"], "at_least": 1},
        "a count of no answer": {"count": ["phq3"], "is": ["no answer"], "at_least": 1},
        "a count of what only one has": {"count": ["phq1", "first"], "is": ["never"], "at_least": 1},
        "101 questions": {"score": [f"phq{n}" for n in range(101)], "at_least": 1},
        "a list of one": {"all": [{"score": ["phq1"], "at_least": 1}]},
    }
    bad = {f"a sum: {name}": shown(showing) for name, showing in sums.items()}
    for value in ("", "Random", "none", True, 1, None, ["random"]):
        bad[f"order {value!r}"] = survey([first], order=value)
        bad[f"an order of options {value!r}"] = survey([{**choice, "order": value}])
    bad |= {
        "an order of yes and no": survey([{**first, "order": "random"}]),
        "an order of a scale": survey([{**three[0], "order": "random"}]),
        "other is true": survey([{**choice, "other": True}]),
        "other is no option": survey([{**choice, "other": "Other"}]),
        "other of a scale": survey([{**three[0], "other": "never"}]),
        "other is exclusive": survey([{**multiple, "exclusive": ["red"], "other": "red"}]),
        "other is none": survey([{**multiple, "none": "red", "other": "red"}]),
    }
    for text in ("${second}", "${q}", "${first", "${first|}", "${first||x}", "${ first}", "${first}${", "$${${x}"):
        bad[f"a text {text!r}"] = survey([first, {**choice, "text": text}])
        bad[f"a help {text!r}"] = survey([first, {**choice, "help": text}])
        bad[f"a title {text!r}"] = survey([first, {**choice, "section": {"title": text}}])
        bad[f"a note {text!r}"] = survey([first, {**choice, "section": {"title": "T", "note": text}}])
        bad[f"a translation {text!r}"] = survey(
            [first, {**choice, "text": "${first}"}], translations={"de": {"questions": {"q": {"text": text}}}}
        )
    bad["a translation refers to more"] = survey([first, choice], translations={"de": {"questions": {"q": {"text": "${first}"}}}})
    return bad


def device_definitions() -> list[Json]:
    vectors = []
    for name, made in good_definitions().items():
        raw = canonical(made)
        single = {**made, "questions": [{k: v for k, v in q.items() if k != "show_if"} for q in made["questions"]]}  # all are asked
        known = {"digest": hashlib.sha256(raw.encode()).hexdigest(), "epsilon": epsilon_total(single), "bound": bound_of_all(single)}
        vectors.append({"name": f"a device: {name}", "accepted": True, "text": raw, **known})
    return vectors + [{"name": f"a device: {name}", "accepted": False, "text": canonical(made)} for name, made in bad_definitions().items()]


def holds(showing: Json, seen: Json, by_id: Json) -> bool:
    """Whether a condition holds after these answers."""
    for word, combine in (("all", all), ("any", any)):
        if word in showing:
            return combine([holds(part, seen, by_id) for part in showing[word]])
    if "question" in showing:
        return has_one(seen[showing["question"]], showing["is"])
    if "count" in showing:
        total = len([name for name in showing["count"] if has_one(seen[name], showing["is"])])
    else:
        scored = [name for name in showing["score"] if seen[name] not in (None, "no answer")]
        total = sum(by_id[name]["scores"][by_id[name]["options"].index(seen[name])] for name in scored)
    return not ("at_least" in showing and total < showing["at_least"]) and not ("below" in showing and total >= showing["below"])


def has_one(before: Any, options: list[str]) -> bool:
    return bool(set(before if isinstance(before, list) else [before]) & set(options))


def device_submissions() -> list[Json]:
    vectors = []
    for name, definition in good_definitions().items():
        if "sum" not in name and "count" not in name and "order" not in name:
            continue
        by_id = {q["id"]: q for q in definition["questions"]}
        for _ in range(4 if "hundred" in name else 12):
            chosen = {q["id"]: some_answer(q) for q in definition["questions"]}
            seen: Json = {}
            for q in definition["questions"]:
                seen[q["id"]] = chosen[q["id"]] if "show_if" not in q or holds(q["show_if"], seen, by_id) else None
            bits, words = [], []
            for q in definition["questions"]:
                for category in categories_of(q, seen[q["id"]]):
                    stream = some_words(q["k"], q["d"], q["keep_threshold"])
                    made, _ = report(q["k"], q["d"], q["keep_threshold"], category, [*stream, 7, 7])
                    bits.append(made)
                    words += stream
            raw, secret = canonical(definition), RANDOM.randbytes(16)
            digest = hashlib.sha256(raw.encode()).hexdigest()
            sent = {"id": base64url(secret), "digest": digest, "count": 1, "reports": base64url(packed(bits))}
            asked = {"definition": raw, "answers": chosen, "id": secret.hex(), "words": words, "asked": None}
            vectors.append({**asked, "envelope": json.dumps(sent, separators=(",", ":"))})
    return vectors


FILES = {"orders": orders, "pipes": pipes, "device_definitions": device_definitions, "device_submissions": device_submissions}


def main(folder: Path) -> None:
    for name, make in FILES.items():
        lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in make())
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
