"""The browser modules give what the vectors say, in a real Chromium. `tests/client/test_vectors.py` runs the same files in Python."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deniable.device.branching import apply_skip_logic
from deniable.device.encode import encode
from deniable.device.items import each_answer
from deniable.errors import AnswerError
from deniable.survey import Survey

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]
Vectors = Callable[[str], list[dict[str, Any]]]

ASK_ALL = """
const stream = (words) => { let used = 0; return { next: () => words[used++], used: () => used }; };
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
const shaped = (shapes) => shapes.map(([k, d], index) => ({ id: `q${index}`, channel: { k, d, outputs: k } }));
"""

READ_ALL = """return Promise.all(given.map(async ({ text, base64, pin, max_epsilon: maxEpsilon }) => {
  const bytes = base64 ? Uint8Array.from(atob(base64), (c) => c.charCodeAt()) : new TextEncoder().encode(text);
  return definition.readDefinition(bytes, { pin, maxEpsilon }).then(() => true, () => false);
}));"""


def test_every_threshold_is_the_one_of_exact_arithmetic(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("thresholds")
    got = javascript("return given.map(({ epsilon, k }) => randomize.channelForEpsilon(epsilon, k))", cases)
    assert [(c["k"], c["d"], c["keepThreshold"]) for c in got] == [(c["k"], c["d"], c["keep_threshold"]) for c in cases]


def test_every_report_has_its_bits_from_its_words_and_uses_all_of_them(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("coins")
    got = javascript(
        ASK_ALL
        + """return given.map(({ k, d, keep_threshold: keepThreshold, category, words }) => {
            const { next, used } = stream(words);
            const bits = randomize.randomize({ k, d, keepThreshold, coin: 2 ** 32 }, category, next);
            return { length: bits.length, ones: [...bits.keys()].filter((i) => bits[i]), used: used() };
        });""",
        cases,
    )
    assert got == [{"length": case["k"], "ones": case["ones"], "used": len(case["words"])} for case in cases]


WINDOWS = (
    ASK_ALL
    + """return given.map(({ epsilon, levels, window, apart, category, words }) => {
        const { next, used } = stream(words);
        const channel = randomize.windowForEpsilon(epsilon, levels, window, apart);
        const bits = randomize.randomize(channel, category, next);
        const ones = [...bits.keys()].filter((i) => bits[i]);
        return [channel.keepThreshold, channel.outputs, bits.length, ones, used(), Object.values(posterior.people(channel))];
    });"""
)


def reports_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [[c["keep_threshold"], c["outputs"], c["outputs"], [c["output"]], len(c["words"]), c["people"]] for c in cases]


def test_every_window_has_its_coin_and_its_people_and_reports_its_output_from_its_words(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("windows")
    assert javascript(WINDOWS, cases) == reports_of(cases)


WRONG_WINDOWS = {
    "the coin's own value counts as kept": ("randomize.mjs", "nextWord() < keepThreshold", "nextWord() < keepThreshold + 1"),
    "the window is shifted": ("randomize.mjs", "const near = first +", "const near = first + 1 +"),
    "the window is one narrower": ("randomize.mjs", "uniformBelow(inside, coin", "uniformBelow(inside - 1, coin"),
    "what lies outside begins inside": ("randomize.mjs", "draw < first ? draw", "draw <= first ? draw"),
    "no answer has the last level's window": ("randomize.mjs", "levels ? category : outside", "levels ? category : levels - 1"),
    "no answer weighs as one output": ("randomize.mjs", "apart ? levels + width - 1 : levels - 1", "apart ? levels : levels - 1"),
    "people are counted as of subsets": ("posterior.mjs", "levels === undefined", "true"),
}


@pytest.mark.parametrize("bug", WRONG_WINDOWS)
def test_a_window_that_is_tossed_otherwise_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("windows")
    assert broken_javascript(*WRONG_WINDOWS[bug], WINDOWS, cases) != reports_of(cases)


def test_every_record_packs_to_its_bytes_and_back(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("packing")
    got = javascript(
        ASK_ALL
        + """return given.map(({ questions, bits }) => {
            const record = submission.pack(shaped(questions), bits.map((text) => Uint8Array.from(text)));
            return [hex(record), submission.unpackRecord(shaped(questions), record).map((question) => question.join(""))];
        });""",
        cases,
    )
    assert got == [[case["hex"], case["bits"]] for case in cases]


def test_every_bad_record_is_refused_by_its_rule(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("bad_records")
    got = javascript(
        ASK_ALL
        + """return given.map(({ questions, hex }) => {
            try { return submission.unpackRecord(shaped(questions), fromHex(hex)); } catch (error) { return `${error.name} ${error.rule}`; }
        });""",
        cases,
    )
    assert got == [f"SubmissionError {case['rule']}" for case in cases]


def test_every_answer_means_its_category_or_is_refused(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("answers")
    got = javascript(
        """return JSON.parse(given).map(({ type, source = {}, categories, required, answer, words = [] }) => {
            const question = { id: "q", type, source, categories, required };
            try { return encode.encode(question, answer, () => words[0]); } catch (error) { return error.name; }
        });""",
        json.dumps(cases),  # as text, since WebDriver has its own ideas about half a surrogate pair
    )
    assert got == ["AnswerError" if case["category"] is None else case["category"] for case in cases]


EXCLUSIVE = """return Promise.all(given.map(async ({ text, answers = [] }) => {
  const read = await definition.readDefinition(new TextEncoder().encode(text)).catch(() => null);
  if (!read) return null;
  const { questions } = read.survey;
  const encodes = (answer) => { try { return encode.encodeAll(questions, [answer]).length > 0; } catch { return false; } };
  return [read.digest, answers.map(([answer]) => [encode.allows(questions[0], answer), encodes(answer)])];
}));"""


def exclusive_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [[case["digest"], [[good, good] for _, good in case["answers"]]] if case["accepted"] else None for case in cases]


def test_every_answer_with_rules_about_options_is_accepted_or_refused_as_in_python(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("exclusive")
    assert javascript(EXCLUSIVE, cases) == exclusive_of(cases)


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("encode.mjs", "chosen.size > 1 :", "chosen.size > 2 :"),
        ("encode.mjs", "none === undefined ? 0 : 1", "0"),
        ("encode.mjs", "chosen.size < least", "false"),
        ("encode.mjs", "chosen.size > most", "chosen.size >= most"),
        ("encode.mjs", "new Set(answer)", "{ size: answer.length, has: (one) => answer.includes(one) }"),
        ("types/multi_choice.mjs", "[...exclusive, none]", "exclusive"),
        ("types/multi_choice.mjs", "new Set(alone).size < alone.length ||", ""),
        ("types/multi_choice.mjs", "Number.isInteger(limit) &&", ""),
        ("types/multi_choice.mjs", "limit < together", "limit <= together"),
        ("types/multi_choice.mjs", "&& !(least > most)", ""),
    ],
)
def test_a_browser_with_another_rule_of_exclusive_options_fails_the_vectors(
    file: str, right: str, wrong: str, broken_javascript: Javascript, vectors: Vectors
) -> None:
    cases = vectors("exclusive")
    assert broken_javascript(file, right, wrong, EXCLUSIVE, cases) != exclusive_of(cases)


def test_every_definition_is_accepted_or_refused_as_in_python(javascript: Javascript, vectors: Vectors) -> None:
    cases = [*vectors("definitions"), *vectors("window_definitions"), *vectors("device_definitions")]
    got = javascript(
        """return Promise.all(given.map(async ({ text, base64, pin, max_epsilon: maxEpsilon }) => {
            const bytes = base64 ? Uint8Array.from(atob(base64), (c) => c.charCodeAt()) : new TextEncoder().encode(text);
            try {
                const { digest, epsilon, odds } = await definition.readDefinition(bytes, { pin, maxEpsilon });
                const { percent, digits } = posterior.posteriorBound(odds);
                return { accepted: true, digest, epsilon, bound: percent.toFixed(digits) };
            } catch (error) {
                return { accepted: false, name: error.name, message: error.message };
            }
        }));""",
        cases,
    )
    surprises = [(case["name"], out) for case, out in zip(cases, got, strict=True) if out["accepted"] != case["accepted"]]
    assert surprises == []
    assert {out["name"] for out in got if not out["accepted"]} == {"RefusedError"}
    for case, out in zip(cases, got, strict=True):
        if out["accepted"]:
            assert out["digest"] == case["digest"]
            assert out["epsilon"] == pytest.approx(case["epsilon"], rel=1e-12, abs=1e-15)
            assert out["bound"] == case["bound"]


BOUNDS = """return given.map(({ own, other, epsilon, k, d, keep_threshold: keepThreshold }) => {
  if (k) return Object.values(posterior.people({ k, d, keepThreshold, coin: 2 ** 32 }));
  const { percent, digits } = posterior.posteriorBound(own ? { own: BigInt(own), other: BigInt(other) } : posterior.oddsOfSum(epsilon));
  return percent.toFixed(digits);
});"""


def bounds_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [case.get("people", case.get("bound")) for case in cases]


def test_every_bound_and_every_count_of_people_is_that_of_decimal_arithmetic(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("bounds")
    assert javascript(BOUNDS, cases) == bounds_of(cases)


SUBMIT = (
    ASK_ALL
    + """const bytesOf = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    return Promise.all(given.map(async ({ definition: text, answers, id, words, asked, group, mode, invitation, token }) => {
        const { survey: { questions, items }, digest } = await definition.readDefinition(new TextEncoder().encode(text));
        const { next, used } = stream(words);
        const categories = encode.encodeAll(questions, questions.map(({ id }) => answers[id]), next);
        const bits = items.map(({ channel }, index) => randomize.randomize(channel, categories[index], next));
        const reports = submission.pack(items, bits, asked ?? undefined);
        const more = { group, mode, invitation: invitation && bytesOf(invitation), token };
        return [submission.envelope({ id: fromHex(id), digest, count: 1, reports, ...more }), used()];
    }));"""
)


def test_every_whole_submission_is_the_same_envelope_byte_by_byte(javascript: Javascript, vectors: Vectors) -> None:
    cases = [*vectors("submissions"), *vectors("window_submissions"), *vectors("device_submissions")]
    assert javascript(SUBMIT, cases) == [[case["envelope"], len(case["words"])] for case in cases]


@pytest.mark.parametrize(("right", "wrong"), [("showIf.any.some(", "showIf.any.every("), ("showIf.all.every(", "showIf.all.some(")])
def test_a_browser_that_mistakes_all_for_any_fails_the_vectors(
    right: str, wrong: str, broken_javascript: Javascript, vectors: Vectors
) -> None:
    cases = vectors("submissions")
    assert broken_javascript("conditions.mjs", right, wrong, SUBMIT, cases) != [[case["envelope"], len(case["words"])] for case in cases]


SHOWN = """return Promise.all(given.map(async ({ definition: text, answers }) => {
    const { survey: { questions } } = await definition.readDefinition(new TextEncoder().encode(text));
    return encode.visibleQuestions(questions, questions.map(({ id }) => answers[id]));
}));"""


def test_the_page_shows_a_question_where_its_answer_is_sent(javascript: Javascript, vectors: Vectors) -> None:
    cases = [*vectors("submissions"), *vectors("device_submissions")]
    assert javascript(SHOWN, cases) == [shown_in_python(case) for case in cases]


def shown_in_python(case: dict[str, Any]) -> list[bool]:
    """Hidden is what an answer, here the first category, does not survive."""
    survey, answers = Survey.from_definition(case["definition"].encode()), case["answers"]
    given = [0 if item.rounds else encode(item, answer) for item, answer in each_answer(survey, answers)]
    shown, start = [], 0
    for question in survey.questions:
        mine = slice(start, start + len(question.items))
        start = mine.stop
        answered = np.array(given)[:, None]
        answered[mine] = 0
        shown.append(bool((apply_skip_logic(survey, answered)[mine] == 0).all()))
    return shown


def test_a_list_of_options_means_in_the_browser_what_it_means_in_python(javascript: Javascript) -> None:
    question = {"id": "used", "text": "Which?", "type": "multi_choice", "options": ["tea", "lsd [acid]"], "epsilon": 2}
    answers: list[Any] = [["tea"], [], ["tea", "tea"], None, "", " no answer ", ["x"], ["tea", 1], "tea", "yes", True, 1, {}, {"tea": 1}]
    for required in (True, False):
        survey = Survey.from_dict({"deniable": 1, "id": "s", "title": "t", "about": "a", "questions": [{**question, "required": required}]})
        got = javascript(
            """const { survey: { questions } } = await definition.readDefinition(new TextEncoder().encode(given.text));
            return given.answers.map((answer) => {
                try { return encode.encodeAll(questions, [answer], () => 0); } catch (error) { return error.name; }
            });""",
            {"text": survey.definition.decode(), "answers": answers},
        )
        assert got == [in_python(survey, answer) for answer in answers]


def in_python(survey: Survey, answer: Any) -> Any:
    try:
        return [encode(item, said) for item, said in each_answer(survey, {"used": answer})]
    except AnswerError:
        return "AnswerError"


def test_what_is_too_large_is_refused_before_it_is_read(javascript: Javascript) -> None:
    """The definition of 2,048 questions is the largest; one of more, and one of more than a mebibyte, are refused by the limit."""
    question = {"id": "q", "text": "Q", "type": "yes_no", "epsilon": 0.001}
    source: dict[str, Any] = {"deniable": 1, "id": "s", "title": "T", "about": "A"}
    largest = Survey.from_dict({**source, "questions": [{**question, "id": f"q{n}"} for n in range(2048)]}).definition.decode()
    one_more = largest.replace('"questions":[', '"questions":[' + json.dumps(question) + ",")
    read = """const read = (text) => definition.readDefinition(new TextEncoder().encode(text));
        return Promise.all(given.map((text) => read(text).then(() => "", (error) => error.message)));"""
    told = javascript(read, [largest, one_more, largest + " " * (1 << 20)])
    assert told[:2] == ["", "questions must be at most 2048 questions, got 2049"]
    assert told[2].startswith("the definition must be at most 1048576 bytes, got 1")


# ---- controls: a twin with a bug fails these vectors ---------------------------------------------

WRONG_BOUNDS = {
    "the bound is rounded to the nearest": (
        "(100n * 10n ** BigInt(digits) * other)",
        "(50n * other + 100n * 10n ** BigInt(digits) * other)",
    ),
    "the bound is rounded down": ("100n * unit - doubt(digits)", "100n * unit - doubt(digits) - 1n"),
    "certainty is said too early": ("MAX_DIGITS = 9", "MAX_DIGITS = 6"),
    "a sum has no slack": ("SLACK = 1e-12", "SLACK = 0"),
    "a sum has much slack": ("SLACK = 1e-12", "SLACK = 1e-3"),
    "people may be rounded to never, or to always": ("other > 0 && ", ""),
    "people may be rounded to no difference": (" && other < own", ""),
}


@pytest.mark.parametrize("bug", WRONG_BOUNDS)
def test_a_bound_that_is_rounded_otherwise_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("bounds")
    assert broken_javascript("posterior.mjs", *WRONG_BOUNDS[bug], BOUNDS, cases) != bounds_of(cases)


READ_GRIDS = """return Promise.all(given.map(async ({ text, blocks }) => {
  const bytes = new TextEncoder().encode(text);
  return definition.readDefinition(bytes, {}).then(({ digest, survey }) => [digest, blocks && survey.blocks], () => false);
}));"""
WRONG_GRIDS = {
    "an item may have help": ("grid_mark.mjs", "question.help !== undefined", "false"),
    "a block may begin again": ("grid_mark.mjs", "grid?.id === mark.id)) return", "false)) return"),
    "options may differ": ("grid_mark.mjs", "source.options, source.scores", "source.scores"),
    "scores may differ": ("grid_mark.mjs", "source.options, source.scores", "source.options"),
    "some items may be skipped": ("grid_mark.mjs", "source.scores, required, showIf", "source.scores, showIf"),
    "conditions may differ": ("grid_mark.mjs", "required, showIf]", "required]"),
    "a section may begin within": ("grid_mark.mjs", " && question.section === undefined", ""),
    "a choice may be in a block": ("types/base.mjs", "marks: []", 'marks: ["grid"]'),
    "a block's id may be anything": ("definition.mjs", "identifier(served.grid.id,", "void (served.grid.id,"),
    "items are drawn apart": ("definition.mjs", "grid?.first ?? id]", "id]"),
    "any item has translated options": ("definition.mjs", "rule(!question.grid || first,", "rule(true,"),
    "any item has a translated text": ("definition.mjs", '(key !== "grid" || first)', "true"),
    "a translated block may be empty": ("definition.mjs", "checkFilled(own[part]", "(() => {})(own[part]"),
    "other bytes are written": ("grid_mark.mjs", "first === question ? mark : { id: mark.id }", "mark"),
}


def grids_of(cases: list[dict[str, Any]]) -> list[Any]:
    return [case["accepted"] and [case["digest"], case["blocks"]] for case in cases]


def test_every_definition_with_a_rating_block_is_accepted_or_refused_as_in_python(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("grid_definitions")
    assert javascript(READ_GRIDS, cases) == grids_of(cases)


@pytest.mark.parametrize("bug", WRONG_GRIDS)
def test_a_rating_block_that_is_read_otherwise_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("grid_definitions")
    assert broken_javascript(*WRONG_GRIDS[bug], READ_GRIDS, cases) != grids_of(cases)


BUGS = {
    "the pin is not compared": ("definition.mjs", "digest === pin", "true"),
    "the cap is not compared": ("definition.mjs", "epsilon <= (maxEpsilon ?? Infinity) * (1 + SLACK)", "true"),
    "the cap has much slack": ("definition.mjs", "SLACK = 1e-12", "SLACK = 1e-5"),
    "other bytes of the same survey pass": ("definition.mjs", "canonical(definitionOf(served, questions)) === text", "true"),
    "a group may stand twice": ("definition.mjs", '!labelProblem(groups, "groups")', "true"),
    "translated options may be too few": ("definition.mjs", "own.options.length === typeOf(question).options(question.source).length", "1"),
    "a translation may say anything": ("definition.mjs", 'checkKeys(own, here, [], ["text", "options", ...optionalTexts]);', ""),
    "a list may have one condition more": ("conditions.mjs", "MAX_CONDITIONS = 20", "MAX_CONDITIONS = 21"),
    "lists of conditions may stand in each other": ("conditions.mjs", "lists.filter((key) => key !== list)", "lists"),
    "a list of conditions may have another beside it": ("conditions.mjs", "Object.keys(showIf).length === 1 && ", ""),
    "a condition may name what no option says": ("conditions.mjs", "is.every((option) => options.includes(option))", "true"),
    "of several answers only the first ties questions together": (
        "definition.mjs",
        "...questionIds(showIf), ",
        "...questionIds(showIf).slice(0, 1), ",
    ),
    "a note may be of any length": ("definition.mjs", "note: 1000", "note: 9000"),
    "a section may have no title": ("definition.mjs", '["title"], ["note", "fixed"]', '[], ["title", "note", "fixed"]'),
    "a section may be translated to nothing": ("definition.mjs", "checkFilled(own[part]", "(() => {})(own[part]"),
    "a bin may begin anywhere": ("types/number.mjs", "edge > edges[index - 1]", "true"),
    "a window may be as wide as there are levels": ("types/number.mjs", "window >= levels", "window > levels"),
    "a window may have any number of outputs": ("types/number.mjs", "levels + window - 1 > MAX_OPTIONS", "false"),
    "a byte order mark is dropped": ("definition.mjs", ", ignoreBOM: true", ""),
    "bad UTF-8 is repaired": ("definition.mjs", "fatal: true", "fatal: false"),
    "questions may share an id": ("definition.mjs", "new Set(questions.map(({ id }) => id)).size === questions.length", "true"),
    "a survey may have any number of bits": ("definition.mjs", "bits <= MAX_BITS", "true"),
    "one bit more": ("definition.mjs", "MAX_BITS = 2048", "MAX_BITS = 2049"),
    "a high total need not be accepted": ("definition.mjs", "rule(served.accept_high_epsilon || !isHigh", "rule(true"),
    "a high total is never accepted": ("definition.mjs", "rule(served.accept_high_epsilon || !isHigh", "rule(!isHigh"),
    "a high total begins at nine": ("definition.mjs", "HIGH = 8", "HIGH = 9"),
    "a high total is told by doubles": (
        "definition.mjs",
        "exceeds(channelsOf(survey), ask ?? blocks.length, HIGH)",
        "epsilonOfAll(survey) > HIGH",
    ),
    "a high total is that of all questions": ("definition.mjs", "ask ?? blocks.length, HIGH", "blocks.length, HIGH"),
    "a high total is that of the least blocks": ("randomize.mjs", "a.own * b.other > b.own * a.other", "a.own * b.other < b.own * a.other"),
    "accepting may be said in any way": ("definition.mjs", ", accept_high_epsilon: [true]", ""),
    "an epsilon may be eleven": ("definition.mjs", "MAX_EPSILON = 10", "MAX_EPSILON = 11"),
    "a coin may say nothing": ("definition.mjs", "rule(reveals(channel)", "rule(true"),
    "ids may be longer": ("definition.mjs", "[a-z0-9_-]{0,63}", "[a-z0-9_-]{0,64}"),
    "texts may be empty": ("definition.mjs", 'strip(text) !== ""', "true"),
    "lengths are counted in UTF-16": ("types/base.mjs", "[...text].length", "text.length"),
    "control characters pass": ("types/base.mjs", "return PRINTABLE.test(text)", "return true"),
    "space is what JavaScript thinks it is": ("types/base.mjs", 'text.replace(ENDS, "")', "text.trim()"),
    "an option may stand twice": ("types/base.mjs", "seen.has(look(option))", "false"),
    "an option may stand twice in capitals": ("types/base.mjs", ".toLowerCase()", ""),
    "an option may stand twice in another width": ("types/base.mjs", '.normalize("NFKC")', '.normalize("NFC")'),
    "an option may stand twice with an accent apart": ("types/base.mjs", '.normalize("NFKC")', ""),
    "an option may stand twice with what does not show": ("types/base.mjs", ".replace(/[\\p{Cf}\\p{DI}]/gu", ".replace(/[]/gu"),
    "an option may stand twice with more space": ("types/base.mjs", '.replace(/\\s+/g, " ")', ""),
    "one option more": ("types/base.mjs", "MAX_OPTIONS = 1024", "MAX_OPTIONS = 1025"),
    "one option less": ("types/base.mjs", "MAX_OPTIONS = 1024", "MAX_OPTIONS = 1023"),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_weaker_check_of_definitions_fails_the_vectors(bug: str, broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = [*vectors("definitions"), *vectors("window_definitions")] if "window" in bug else vectors("definitions")
    assert broken_javascript(*BUGS[bug], READ_ALL, cases) != [case["accepted"] for case in cases]


def test_without_a_bug_the_same_check_passes(broken_javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("definitions")
    got = broken_javascript("types/base.mjs", "MAX_OPTIONS = 1024", "MAX_OPTIONS =  1024", READ_ALL, cases)
    assert got == [case["accepted"] for case in cases]


def test_every_code_is_written_and_read_alike(javascript: Javascript, vectors: Vectors) -> None:
    cases = vectors("codes")
    got = javascript(
        ASK_ALL
        + """return Promise.all(given.map(async ({ secret, text, typed }) => {
            if (text) return [await codes.formatCode(fromHex(secret)), hex(await codes.submissionId(fromHex(secret)))];
            const bytes = await codes.parseCode(typed);
            return bytes ? hex(bytes) : null;
        }));""",
        cases,
    )
    assert got == [[case["text"], case["id"]] if "text" in case else case["secret"] for case in cases]
    assert all(
        javascript("return codes.parseCode(await codes.formatCode(codes.newSecret())).then((b) => b.length)", None) == 15 for _ in range(3)
    )


SIX_WORDS = """const { WORDS, sixWords } = await import("/six_words.mjs");
return { list: WORDS.join(" "), words: await Promise.all(given.map(sixWords)) };"""


def test_every_fingerprint_has_its_six_words(javascript: Javascript, vectors: Vectors) -> None:
    told, *cases = vectors("six_words")
    got = javascript(SIX_WORDS, [case["said"] for case in cases])
    words = got["list"].split(" ")
    assert hashlib.sha256(got["list"].encode()).hexdigest() == told["list"]
    assert [one.split(" ") for one in got["words"]] == [[words[place] for place in case["words"]] for case in cases]


@pytest.mark.parametrize(("right", "wrong"), [("2 ** 18", "2 ** 17"), ('"deniable six words"', '"deniable"'), ("zebra zero", "zero zebra")])
def test_other_rounds_another_salt_and_two_words_in_each_others_place_are_noticed(
    broken_javascript: Javascript, vectors: Vectors, right: str, wrong: str
) -> None:
    told, *cases = vectors("six_words")
    got = broken_javascript("six_words.mjs", right, wrong, SIX_WORDS, [case["said"] for case in cases])
    words = got["list"].split(" ")
    same = hashlib.sha256(got["list"].encode()).hexdigest() == told["list"]
    assert not same or [one.split(" ") for one in got["words"]] != [[words[place] for place in case["words"]] for case in cases]
