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


def words_below(bounds: list[int], draws: random.Random = RANDOM) -> list[int]:
    """A word for each draw below a bound, now and then after one that is rejected."""
    words = []
    for bound in bounds:
        end = COIN // bound * bound
        if end < COIN and draws.random() < 0.25:
            words.append(draws.randrange(end, COIN))
        words.append(draws.choice([0, end - 1, draws.randrange(end)]))
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


# ---- orders of items, questions and sections ------------------------------------------------------

OF_PAGES = random.Random(20261127)  # other draws, so that the other vectors stay
LEVELS = ["never", "often"]


def some_page(number: int) -> Json:
    """A survey with some sections, rating blocks, conditions and references to earlier answers."""
    made: list[Json] = []
    for place in range(OF_PAGES.randint(1, 9)):
        section: Json = {"title": f"S{place}"} | ({"fixed": True} if OF_PAGES.random() < 0.25 else {})
        begins = {"section": section} if OF_PAGES.random() < 0.5 else {}
        if OF_PAGES.random() < 0.35:
            order = OF_PAGES.choice([{}, {"order": "random"}, {"order": "rotate"}])
            for item in range(OF_PAGES.randint(2, 5)):
                grid = {"id": f"g{place}", **({} if item else {"text": "All?", **order})}
                names = [q["id"] for q in made]
                text = f"Item ${{{OF_PAGES.choice(names)}}}" if names and OF_PAGES.random() < 0.25 else f"Item {item}"
                own = {**scale(f"i{place}_{item}", 0.2, LEVELS, [0, 1]), "text": text, "grid": grid}
                made.append({**own, **({} if item else begins)})
            continue
        one = {**question(f"q{place}", 0.2), **begins}
        names, chance = [q["id"] for q in made], OF_PAGES.random()
        if names and chance < 0.2:
            one = after(one, {"count": OF_PAGES.sample(names, min(2, len(names))), "is": ["yes"], "at_least": 1})
            others = [q["id"] for q in made if "yes" not in q["categories"]]
            if set(others) & set(one["show_if"]["count"]):
                one["show_if"] = {"question": names[0], "is": [made[0]["categories"][0]]}
        elif names and chance < 0.35 and "section" in one:
            one["section"] = {**one["section"], "note": f"You said ${{{OF_PAGES.choice(names)}}}."}
        elif names and chance < 0.5:
            one["text"] = f"After ${{{OF_PAGES.choice(names)}}}?"
        made.append(one)
    orders = {key: OF_PAGES.choice(["random", "rotate"]) for key in ("order", "section_order") if OF_PAGES.random() < 0.7}
    return survey(made, **({"section_order": "random"} if number % 2 else orders))


def named(value: Any) -> set[str]:
    """The ids in a condition."""
    if isinstance(value, list):
        return set().union(*map(named, value))
    lists = [value.get(key, []) for key in ("score", "count")] + [[value["question"]] if "question" in value else []]
    return {name for names in lists for name in names} | named([part for key in ("all", "any") for part in value.get(key, [])])


def needed(one: Json) -> set[str]:
    """The ids of the questions that a question depends on: of its condition and of all its texts."""
    texts = [one["text"], one.get("help", ""), *one.get("section", {}).values(), *one.get("grid", {}).values()]
    pipes = {name for text in texts if isinstance(text, str) for kind, name, _ in parts_of(text) if kind == "pipe"}
    return pipes | named(one.get("show_if", {}))


def chained(elements: list[list[Json]], edges: list[tuple[str, str]]) -> list[list[Json]]:
    """Lists of questions in chains, each again a list: two are in one if an edge joins them, or both are joined with a third."""
    chains = [[element] for element in elements]
    for edge in edges:
        mine = [chain for chain in chains if any(q["id"] in edge for element in chain for q in element)]
        merged = [element for element in elements if any(element in chain for chain in mine)]
        chains = [chain for chain in chains if chain not in mine] + ([merged] if merged else [])
    ordered_chains = sorted(chains, key=lambda chain: elements.index(chain[0]))
    return [[q for element in chain for q in element] for chain in ordered_chains]


def mixed(chains: list[list[Json]], order: str | None, drawn: list[int]) -> list[Json]:
    """The questions of these chains, in an order whose words are added to those drawn."""
    if order:
        words = words_below(bounds_of(order, len(chains)), OF_PAGES)
        drawn += words
        chains = arranged(chains, order, list(words))
    return [q for chain in chains for q in chain]


def block_edges(everything: list[Json]) -> list[tuple[str, str]]:
    """Each question with those that it depends on and with the first of its rating block."""
    edges = [(name, q["id"]) for q in everything for name in sorted(needed(q))]
    first: dict[str, str] = {}
    return edges + [(first.setdefault(q["grid"]["id"], q["id"]), q["id"]) for q in everything if "grid" in q]


def shown_page(definition: Json, asked: list[int], drawn: list[int]) -> list[str]:
    """The ids in the order of the page. It adds the words that it draws."""
    everything = definition["questions"]
    present = [everything[number] for number in asked]
    page: list[Json] = []
    for q in present:
        grid = q.get("grid", {})
        items = [other for other in present if grid and other.get("grid", {}).get("id") == grid["id"]]
        inner = [(name, item["id"]) for item in items for name in sorted(needed(item)) if any(name == other["id"] for other in items)]
        if "text" in grid:
            page += mixed(chained([[item] for item in items], inner), grid.get("order"), drawn)
        elif not grid:
            page.append(q)
    starts = [number for number, q in enumerate(everything) if "section" in q]
    section_of = {q["id"]: sum(start <= number for start in starts) for number, q in enumerate(everything)}
    fixed = [0, *(section_of[q["id"]] for q in everything if q.get("section", {}).get("fixed"))]
    blocks = chained([[q] for q in everything], block_edges(everything))
    edges = [(one["id"], other["id"]) for block in blocks for one in block for other in block if one in present and other in present]
    in_order: list[Json] = []
    for run in range(2 * len(fixed)):  # a fixed section, and those between it and the next one
        low = fixed[run // 2]
        high = [*fixed, len(starts) + 1][run // 2 + 1]
        of_run = [number for number in range(low, high) if (number == low) == (run % 2 == 0)]
        sections = [section for number in of_run if (section := [q for q in page if section_of[q["id"]] == number])]
        within = [edge for edge in edges if all(section_of[name] in of_run for name in edge)]
        in_order += mixed(chained(sections, within), definition.get("section_order") if sections else None, drawn)
    result: list[Json] = []
    for number in dict.fromkeys(section_of[q["id"]] for q in in_order):
        own = [q for q in in_order if section_of[q["id"]] == number]
        within = [edge for edge in edges if all(section_of[name] == number for name in edge)]
        result += mixed(chained([[q] for q in own], within), definition.get("order"), drawn)
    return [q["id"] for q in result]


def question_orders() -> list[Json]:
    vectors = []
    for number in range(120):
        definition = some_page(number) if number > 5 else survey(sections(), section_order="random")
        count = len(definition["questions"])
        asked, words = list(range(count)), list[int]()
        if number % 3 == 2:  # some blocks only, as a device draws them
            kept = {name for q in definition["questions"] for name in (q["id"], *needed(q)) if OF_PAGES.random() < 0.4}
            ties = {q["id"]: q.get("grid", {}).get("id", q["id"]) for q in definition["questions"]}
            for _ in range(count):
                for q in definition["questions"]:
                    related = {q["id"], *needed(q)}
                    related |= {name for name, tie in ties.items() if tie == ties[q["id"]]}
                    kept |= related if related & kept else set()
            asked = [place for place, q in enumerate(definition["questions"]) if q["id"] in kept] or asked
        asked = [0, 2] if number < 5 else asked  # not the fixed section between them
        shown = shown_page(definition, asked, words)
        vectors.append({"text": canonical(definition), "asked": asked, "words": words, "shown": shown})
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
        "an order of sections": survey([first, *sections()], section_order="random", order="rotate"),
        "a turned order of sections": survey(sections(), section_order="rotate"),
        "a translated section that is fixed, without an order": survey(
            sections(), translations={"de": {"questions": {"s1": {"section": {"title": "Zuletzt"}}}}}
        ),
        "an order of items": survey([first, *ordered(order="random", help="All."), question("last", 1.0)]),
        "a turned order of items": survey(
            ordered(order="rotate"), translations={"de": {"questions": {"r0": {"grid": {"text": "Wie oft?"}}}}}
        ),
    }


def sections() -> list[Json]:
    begins: list[Json] = [{"title": "S0", "note": "N"}, {"title": "S1", "fixed": True}, {"title": "S2"}]
    return [{**question(f"s{number}", 0.5), "section": section} for number, section in enumerate(begins)]


def ordered(**mark: Any) -> list[Json]:
    """A rating block with an order."""
    marks: list[Json] = [{"text": "How often?", **mark}, {}, {}]
    return [{**scale(f"r{number}", 0.5, LEVELS, [0, 1]), "grid": {"id": "r", **own}} for number, own in enumerate(marks)]


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
        bad[f"an order of sections {value!r}"] = survey(sections(), section_order=value)
        bad[f"an order of items {value!r}"] = survey(ordered(order=value))
    for value in (False, "true", 1, None):
        bad[f"a section that is fixed {value!r}"] = survey([{**first, "section": {"title": "S", "fixed": value}}])
    bad |= {
        "an order of yes and no": survey([{**first, "order": "random"}]),
        "an order of a scale": survey([{**three[0], "order": "random"}]),
        "other is true": survey([{**choice, "other": True}]),
        "other is no option": survey([{**choice, "other": "Other"}]),
        "other of a scale": survey([{**three[0], "other": "never"}]),
        "other is exclusive": survey([{**multiple, "exclusive": ["red"], "other": "red"}]),
        "other is none": survey([{**multiple, "none": "red", "other": "red"}]),
        "an order at the second item": survey([ordered()[0], {**ordered()[1], "grid": {"id": "r", "order": "random"}}]),
        "a translation fixes a section": survey(
            sections(), translations={"de": {"questions": {"s1": {"section": {"title": "Zuletzt", "fixed": True}}}}}
        ),
        "a translation orders items": survey(
            ordered(order="random"), translations={"de": {"questions": {"r0": {"grid": {"text": "Wie?", "order": "random"}}}}}
        ),
        "a fixed section without a title": survey([{**first, "section": {"fixed": True}}]),
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


FILES = {
    "orders": orders,
    "pipes": pipes,
    "device_definitions": device_definitions,
    "device_submissions": device_submissions,
    "question_orders": question_orders,
}


def main(folder: Path) -> None:
    for name, make in FILES.items():
        lines = ",\n".join(json.dumps(vector, separators=(",", ":")) for vector in make())
        (folder / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="ascii")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
