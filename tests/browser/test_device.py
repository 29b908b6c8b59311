"""Orders, earlier answers in later texts, and sums, in a real Chromium: as the vectors say, and as Python has it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from scipy.stats import chi2

from deniable.survey import Survey

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]
Vectors = Callable[[str], list[dict[str, Any]]]

ORDERS = """const { optionOrder } = await import("/order.mjs");
return given.map(({ type, options, exclusive, other, order, words }) => {
  let used = 0;
  const source = { options, exclusive, other, order };
  return [optionOrder({ type, source }, options.length, () => words[used++]), used];
});"""


def orders_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [[case["shown"], len(case["words"])] for case in cases]


def test_every_order_is_the_one_that_its_words_draw_and_leaves_some_options_last(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("orders")
    assert javascript(ORDERS, cases) == orders_of(cases)


WRONG_ORDERS = {
    "an element never stays": ("order.mjs", "uniformBelow(last + 1, WORD", "uniformBelow(last, WORD"),
    "the list is turned one further": ("order.mjs", "arranged.slice(first), ...arranged.slice(0, first)", "arranged.slice(1), arranged[0]"),
    "words are not rejected": ("randomize.mjs", "while (draw > largest) draw = nextWord();", ""),
    "exclusive options move": ("order.mjs", "...typeOf({ type }).exclusive(source), ", ""),
    "the option for other answers moves": ("order.mjs", ", source.other]", "]"),
}


@pytest.mark.parametrize("bug", WRONG_ORDERS)
def test_an_order_that_is_drawn_otherwise_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("orders")
    assert broken_javascript(*WRONG_ORDERS[bug], ORDERS, cases) != orders_of(cases)


PAGES = """const { questionOrder } = await import("/order.mjs");
return Promise.all(given.map(async ({ text, asked, words }) => {
  const { survey } = await definition.readDefinition(new TextEncoder().encode(text));
  let used = 0;
  const page = questionOrder(survey, survey.questions.filter(({ number }) => asked.includes(number)), () => words[used++] ?? 0);
  return [page.map(({ id }) => id), used];
}));"""


def pages_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [[case["shown"], len(case["words"])] for case in cases]


def test_every_page_has_the_order_that_its_words_draw(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("question_orders")
    assert javascript(PAGES, cases) == pages_of(cases)


WRONG_PAGES = {
    "items keep their order": (", items[0].grid?.order);", ", undefined);"),
    "items do not stay behind those that they name": (", ...pipes.filter((name) => ids.includes(name))", ""),
    "items stay together that name one question before them": ("pipes.filter((name) => ids.includes(name))", "pipes"),
    "sections keep their order": ("section.flatMap(blockKey), sectionOrder)", "section.flatMap(blockKey), undefined)"),
    "sections do not stay behind those that they name": ("section.flatMap(blockKey), sectionOrder", "section, sectionOrder"),
    "fixed sections move": ("under && !under.section.fixed ?", "under ?"),
    "questions before the first section move": ("under && !under.section.fixed ?", "!under?.section.fixed ?"),
    "a fixed section that is not asked is passed": ("new Set(all.map(", "new Set(questions.map("),
    "questions do not stay behind those that they name": ("mix(section, blockKey, order)", "mix(section, ({ number }) => [number], order)"),
    "groups of two are not joined by a third": ("parents.set(root(first), root(key))", "parents.set(first, key)"),
}


@pytest.mark.parametrize("bug", WRONG_PAGES)
def test_a_page_whose_order_is_drawn_otherwise_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("question_orders")
    assert broken_javascript("order.mjs", *WRONG_PAGES[bug], PAGES, cases) != pages_of(cases)


COUNTED = """const { arrange } = await import("/order.mjs");
const nextWord = randomize.cryptoWords();
return Array.from({ length: 6000 }, () => arrange([...given.list], given.order, nextWord).join(""));"""


@pytest.mark.parametrize(("order", "all_of_them"), [("random", 24), ("rotate", 4)])
def test_every_order_comes_equally_often(order: str, all_of_them: int, javascript: Javascript) -> None:
    """Chi-squared of the counts is below a bound that chance exceeds once in a billion."""
    counts = Counter(javascript(COUNTED, {"list": list("abcd"), "order": order}))
    assert len(counts) == all_of_them
    expected = 6000 / all_of_them
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < {24: 91, 4: 45}[all_of_them]


MOVING: list[dict[str, Any]] = [
    *({"id": f"s{n}", "text": "S", "type": "yes_no", "section": {"title": "T"}} for n in range(3)),
    {
        "id": "m",
        "section": {"title": "Last", "fixed": True},
        "text": "M",
        "type": "rating",
        "order": "random",
        "options": ["x", "y"],
        "items": [{"id": f"i{n}", "text": "I"} for n in range(3)],
    },
]


def test_every_order_of_items_and_sections_comes_equally_often(javascript: Javascript) -> None:
    """36 orders; chi-squared is below a bound that chance exceeds once in a billion."""
    survey = Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 4, "questions": MOVING, "section_order": "random"}
    )
    _, drawn = javascript(DRAWN, {"text": survey.definition.decode(), "times": 7200})
    counts = Counter(drawn)
    assert len(counts) == 36
    assert sum((count - 200) ** 2 / 200 for count in counts.values()) < chi2.isf(1e-9, 35)


PIPES = """const { piped, pipesAre } = await import("/piping.mjs");
return given.map(({ text }) => {
  const good = pipesAre(text, ["a", "b"]);
  return good ? [piped(text), piped(text, (id) => (id === "a" ? "${b}" : undefined))] : null;
});"""


def pipes_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [[case["plain"], case["answered"]] if case["good"] else None for case in cases]


def test_every_text_is_shown_with_answers_or_without_and_no_answer_is_read_again(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("pipes")
    assert javascript(PIPES, cases) == pipes_of(cases)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("\\\\$(\\\\$\\\\{)|", ""),
        ("escaped ?? isolate", "isolate"),
        ("answerOf(id) ?? fallback", "fallback ?? answerOf(id)"),
        ("allowed.includes(id) && ", ""),
        ('strip(text) !== ""', "true"),
    ],
)
def test_a_text_that_is_read_otherwise_fails_the_vectors(right: str, wrong: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("pipes")
    assert broken_javascript("piping.mjs", right.replace("\\\\", "\\"), wrong, PIPES, cases) != pipes_of(cases)


def test_an_answer_of_the_other_direction_does_not_reorder_the_text(javascript: Javascript) -> None:
    said = javascript('const { piped } = await import("/piping.mjs"); return piped("You said ${a}.", () => "نعم");')
    assert said == "You said \u2068نعم\u2069."


def test_several_answers_are_joined_as_the_language_does_and_by_commas_in_old_browsers(javascript: Javascript) -> None:
    join = """const { listIn } = await import("/language.mjs"); const join = (tag) => listIn(tag, ["a", "b", "c"]);
        const all = [join("en"), join("de"), join("ar"), join("en-abc")]; delete Intl.ListFormat; return [...all, join("en")];"""
    assert javascript(join) == ["a, b, and c", "a, b und c", "a وb وc", "a, b, c", "a, b, c"]


READ = """return Promise.all(given.map(async ({ text }) => {
  return definition.readDefinition(new TextEncoder().encode(text)).then(() => true, () => false);
}));"""
WEAKER = {
    "a sum may have no range": ("conditions.mjs", "keys.length > 0 && ", ""),
    "a sum may have another key": ("conditions.mjs", '["at_least", "below"].includes(key) && ', ""),
    "an end may be a fraction": ("conditions.mjs", "Number.isInteger(ends[key]) && ", ""),
    "an end may be anywhere": ("conditions.mjs", " && Math.abs(ends[key]) <= MAX_NUMBER", ""),
    "a range may be empty": ("conditions.mjs", "ends.at_least >= ends.below || ", ""),
    "a question may be added twice": ("conditions.mjs", " && new Set(names).size === names.length", ""),
    "any number may be added": ("conditions.mjs", "MAX_SUMMED = 100", "MAX_SUMMED = 99"),
    "scores may be counted": ("conditions.mjs", "(score === undefined) !== (is !== undefined) || ", ""),
    "both words may be there": ("conditions.mjs", " || (score !== undefined && count !== undefined)", ""),
    "scores may be fractions": ("conditions.mjs", "source.scores?.every(Number.isInteger)", "source.scores"),
    "a grid may be counted": ("conditions.mjs", "!typeOf({ type }).rounds(source)", "true"),
    "what is counted may be no option": ("conditions.mjs", "return score ? undefined : questions.map", "return questions.map"),
    "an order may be any": ("types/choice.mjs", "!ORDERS.includes(order)", "false"),
    "a survey's order may be any": ("definition.mjs", "order: ORDERS, section_order", "section_order"),
    "an order of sections may be any": ("definition.mjs", "section_order: ORDERS, ", ""),
    "an order of items may be any": ("definition.mjs", "oneOfWords(served.grid.order, ORDERS", "oneOfWords(undefined, ORDERS"),
    "a section may be fixed in any way": ("definition.mjs", "oneOfWords(served.section.fixed, [true]", "oneOfWords(undefined, [true]"),
    "a translation may fix a section": (
        "definition.mjs",
        "PARTS[part].filter((key) => key in question[part])",
        "Object.keys(question[part])",
    ),
    "an order of items is not written": (
        "grid_mark.mjs",
        "first === question ? mark",
        "first === question ? { ...mark, order: undefined }",
    ),
    "a scale may have an order": ("types/scale.mjs", "  optional: [],\n", ""),
    "other may be no option": ("types/choice.mjs", "options.includes(other)", "true"),
    "other may be exclusive": ("types/multi_choice.mjs", " || alone.includes(other)", ""),
    "a text may refer to anything": ("definition.mjs", "pipesAre(text, earlier.map(({ id }) => id))", "true"),
    "a translation may refer to anything": ("definition.mjs", "pipesAre(text, question.pipes)", "true"),
    "a title may refer to anything": ("definition.mjs", "section?.title, ", ""),
    "a note may refer to anything": ("definition.mjs", ", section?.note", ""),
    "a help may refer to anything": ("definition.mjs", "return [text, help, section", "return [text, section"),
}


@pytest.mark.parametrize("bug", WEAKER)
def test_a_weaker_check_of_definitions_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("device_definitions")
    assert broken_javascript(*WEAKER[bug], READ, cases) != [case["accepted"] for case in cases]


SHOWN = """return Promise.all(given.map(async ({ definition: text, answers }) => {
    const { survey: { questions } } = await definition.readDefinition(new TextEncoder().encode(text));
    return encode.visibleQuestions(questions, questions.map(({ id }) => answers[id]));
}));"""


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("conditions.mjs", "sum >= low && sum < high", "sum > low && sum < high"),
        ("conditions.mjs", "sum >= low && sum < high", "sum >= low && sum <= high"),
        ("conditions.mjs", "score ? scoreOf(name) : Number(met(name, is))", "Number(met(name, is ?? []))"),
        ("encode.mjs", "] ?? 0;", "] ?? 1;"),
    ],
)
def test_a_sum_that_is_made_otherwise_shows_other_questions(
    file: str, right: str, wrong: str, javascript: Javascript, broken_javascript: Javascript, vectors: Vectors
) -> None:
    cases = vectors("device_submissions")
    assert broken_javascript(file, right, wrong, SHOWN, cases) != javascript(SHOWN, cases)


ASKED: list[dict[str, Any]] = [
    {"id": "a", "text": "A", "type": "yes_no"},
    {"id": "b", "text": "B", "type": "yes_no", "show_if": {"question": "a", "is": ["yes"]}},
    {"id": "c", "text": "C", "type": "yes_no"},
    {"id": "d", "text": "D, ${c}", "type": "yes_no"},
    {"id": "e", "text": "E", "type": "yes_no", "section": {"title": "After ${a}"}},
    {"id": "f", "text": "F", "type": "yes_no"},
    {"id": "g", "text": "G", "type": "scale", "options": ["x", "y"]},
    {"id": "h", "text": "H", "type": "yes_no", "show_if": {"score": ["g"], "at_least": 2}},
]
DRAWN = """const { survey } = await definition.readDefinition(new TextEncoder().encode(given.text));
const { questionOrder } = await import("/order.mjs");
const nextWord = randomize.cryptoWords();
const drawn = Array.from({ length: given.times }, () => questionOrder(survey, survey.questions, nextWord).map(({ id }) => id).join(""));
return [survey.blocks, drawn];"""


def survey_of(**keys: Any) -> Survey:
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "epsilon": 4, "questions": ASKED, **keys})


@pytest.mark.parametrize(("order", "orders"), [("random", 12), ("rotate", 6), (None, 1)])
def test_questions_move_within_their_section_and_stay_behind_those_they_depend_on(
    order: str | None, orders: int, javascript: Javascript
) -> None:
    survey = survey_of(**({"order": order} if order else {}))
    blocks, drawn = javascript(DRAWN, {"text": survey.definition.decode(), "times": 400})
    assert [tuple(block) for block in blocks] == [*survey.blocks]
    assert len(set(drawn)) == orders  # in the first section ab and cd, in the second e, f and gh
    for one in drawn:
        assert sorted(one[:4]) == list("abcd")
        assert "ab" in one
        assert "cd" in one
        assert "gh" in one


def test_a_question_whose_answer_is_shown_later_is_drawn_together_with_the_later_one(javascript: Javascript) -> None:
    survey = survey_of(ask=1)
    assert survey.blocks == ((0, 1, 4), (2, 3), (5,), (6, 7))
    blocks, _ = javascript(DRAWN, {"text": survey.definition.decode(), "times": 1})
    assert json.dumps(blocks) == json.dumps(survey.blocks)
