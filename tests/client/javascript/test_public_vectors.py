"""Vectors through the package's public functions in Node.

The package takes no seed, so the program replaces the generator of the runtime: it gives the vectors' words to what draws them.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deniable.survey import Survey
from deniable.wire.record import unpack

Vectors = Callable[[str], list[dict[str, Any]]]
Public = Callable[..., Any]
Json = dict[str, Any]

GENERATOR = """
const EVERYTHING = { maxEpsilon: Infinity, minBatch: 1, minGroup: 1 };
const drawn = []; // the batches of words that the package has taken
let [batches, secret] = [[], undefined]; // what it gets next
const real = crypto.getRandomValues.bind(crypto);
crypto.getRandomValues = (array) => {
  if (array instanceof Uint8Array) return secret && array.length === secret.length ? (array.set(secret), array) : real(array);
  const words = batches.shift() ?? [];
  array.fill(7).set(words.slice(0, array.length));
  if (words.length > array.length) batches.unshift(words.slice(array.length));
  drawn.push(array);
  return array;
};
/** The package erases each word that it has used, and no batch holds a 0 but where a vector says so. */
const usedOf = (array) => array.lastIndexOf(0) + 1;
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
let definition = new Uint8Array();
globalThis.fetch = async () => new Response(definition);
const idOf = (bytes) => /"id":"([a-z0-9][a-z0-9_-]{0,63})","[^{]*questions":/.exec(new TextDecoder().decode(bytes))?.[1] ?? "s";
const fetched = (bytes, options = {}, fragment = "") => {
  definition = bytes;
  return deniable.fetchSurvey(`https://survey.example.org/s/${idOf(bytes)}${fragment}`, { ...EVERYTHING, ...options });
};
const encoded = (text) => new TextEncoder().encode(text);
"""

DEFINITIONS = (
    GENERATOR
    + """const outcomes = [];
for (const { text, base64, pin, max_epsilon: maxEpsilon } of given) {
  const bytes = base64 ? Uint8Array.from(Buffer.from(base64, "base64")) : encoded(text);
  const fragment = pin === undefined || pin === null ? "" : `#digest=${pin}`;
  const read = fetched(bytes, { maxEpsilon: maxEpsilon ?? Infinity }, fragment);
  outcomes.push(await read.then(({ digest, epsilon, posteriorBound, pinned }) => ({ digest, epsilon, posteriorBound, pinned }), kindOf));
}
return outcomes;"""
)


def test_every_definition_is_accepted_or_refused_as_in_python(public: Public, vectors: Vectors) -> None:
    names = ("definitions", "window_definitions", "device_definitions", "grid_definitions", "exclusive")
    cases = [case for name in names for case in vectors(name)]
    outcomes = public(DEFINITIONS, cases)
    assert len(cases) > 500
    for case, outcome in zip(cases, outcomes, strict=True):
        assert isinstance(outcome, dict) == case["accepted"], (case["name"], outcome)
        if case["accepted"]:
            assert outcome["digest"] == case["digest"]
            assert outcome["pinned"] == (case.get("pin") is not None)
            if "epsilon" in case:
                assert outcome["epsilon"] == pytest.approx(case["epsilon"], rel=1e-12, abs=1e-15)
            if "bound" in case:
                assert outcome["posteriorBound"] == float(case["bound"])
        else:
            assert outcome.startswith(("RefusedError: ", "TypeError: the link's ", "TypeError: maxEpsilon must be")), outcome


SUBMISSIONS = (
    GENERATOR
    + """const outcomes = [];
for (const { definition: text, answers, words, sample, group, token } of given) {
  const survey = await fetched(encoded(text));
  batches = [...(sample ? [sample] : []), words];
  drawn.length = 0;
  const options = { group: group ?? undefined };
  const record = await survey.perturb(answers, options).catch(kindOf);
  const used = drawn.slice(sample ? 1 : 0).reduce((sum, array) => sum + usedOf(array), 0);
  outcomes.push(typeof record === "string" ? record : [record.submission, record.body, used]);
}
return outcomes;"""
)


def sample_words(survey: Survey, asked: list[int] | None) -> list[int] | None:
    """The words of which the sample of a submission is drawn: the numbers of its blocks, in order."""
    if asked is None:
        return None
    return [number for number, block in enumerate(survey.blocks) if asked[block[0]]]


def expected(case: Json) -> tuple[str, str]:
    """The envelope of a vector without what the package does not send, and its id."""
    envelope = json.loads(case["envelope"])
    kept = {name: value for name, value in envelope.items() if name not in ("mode", "invitation", "token")}
    return str(envelope["id"]), json.dumps(kept, separators=(",", ":"), ensure_ascii=False)


def cases_of(vectors: Vectors) -> list[Json]:
    """The submissions of surveys that are open to all: tokens have tests of their own."""
    cases = [case for name in ("submissions", "window_submissions", "device_submissions") for case in vectors(name)]
    surveys = [Survey.from_definition(case["definition"].encode()) for case in cases]
    return [
        {**case, "sample": sample_words(survey, case["asked"])}
        for case, survey in zip(cases, surveys, strict=True)
        if survey.access == "open"
    ]


def surprises(outcomes: list[Any], cases: list[Json]) -> list[Any]:
    """The submissions whose envelope or number of words differs from the vector's."""
    different = []
    for case, outcome in zip(cases, outcomes, strict=True):
        id_, envelope = expected(case)
        if isinstance(outcome, str):
            different.append((case["answers"], outcome))
            continue
        submission, body, used = outcome
        own = base64.urlsafe_b64encode(bytes.fromhex(submission)).decode().rstrip("=")
        if body.replace(own, id_) != envelope or used != len(case["words"]):
            different.append((case["answers"], outcome))
    return different


def test_every_submission_is_the_same_envelope_byte_by_byte_but_for_its_id(public: Public, vectors: Vectors) -> None:
    cases = cases_of(vectors)
    assert len(cases) > 500
    assert surprises(public(SUBMISSIONS, cases), cases) == []


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("deniable/browser/randomize.mjs", "const keep = nextWord() < keepThreshold;", "const keep = nextWord() <= keepThreshold;"),
        ("deniable/browser/randomize.mjs", "let draw = nextWord();", "let draw = nextWord() + 1;"),
        ("deniable/browser/encode.mjs", "encoded[index].fill(question.categories.length - 1)", "encoded[index].fill(0)"),
        ("javascript/survey.mjs", "questions.filter(isSampled(sample)), answers)", "questions, answers)"),
        ("javascript/survey.mjs", "{ id, sample, group, token }", "{ id, sample, token }"),
    ],
)
def test_a_client_with_an_error_fails_the_vectors(file: str, right: str, wrong: str, broken_public: Public, vectors: Vectors) -> None:
    every = cases_of(vectors)
    cases = [case for number, case in enumerate(every) if number % 8 == 0 or case.get("group")]
    assert surprises(broken_public(file, right, wrong, SUBMISSIONS, cases), cases) != []


def printed(text: Any) -> Any:
    """Replaces an invisible character and a look-alike, which the vectors have and no survey may have, in options and in answers."""
    return text.replace("\ufeff", "bom ").replace("Red", "crimson") if isinstance(text, str) else text


ANSWERS = (
    GENERATOR
    + """const outcomes = [];
for (const { definition: text, answer, words } of given) {
  const survey = await fetched(encoded(text));
  batches = [[...words, ...Array(40).fill(0)]]; // words of 0: each coin keeps the category
  const problems = survey.check({ q: answer });
  const outcome = await survey.perturb({ q: answer }).then(({ body }) => JSON.parse(body).reports, ({ name }) => name);
  outcomes.push([problems.length, outcome]);
}
return outcomes;"""
)


def question_of(case: Json) -> Json:
    """A question whose answers have the categories of a vector."""
    labels = case["categories"][: None if case["required"] else -1]
    keys: Json = {"choice": {"options": labels}, "scale": {"options": labels, "scores": list(range(len(labels)))}}.get(case["type"], {})
    return {"id": "q", "text": "Q", "type": case["type"], "epsilon": 8, "required": case["required"], **keys, **case.get("source", {})}


def test_every_answer_is_perturbed_as_its_category_or_refused(public: Public, vectors: Vectors) -> None:
    """With words of 0 each coin keeps the respondent's own category, so the only bit of a record shows it."""
    cases = [
        {**case, "categories": list(map(printed, case["categories"])), "answer": printed(case["answer"])} for case in vectors("answers")
    ]
    surveys = [Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [question_of(case)]}) for case in cases]
    inputs = [
        {"definition": survey.definition.decode(), "answer": case["answer"], "words": case.get("words", [])}
        for case, survey in zip(cases, surveys, strict=True)
    ]
    for case, survey, (problems, outcome) in zip(cases, surveys, public(ANSWERS, inputs), strict=True):
        if case["category"] is None:
            assert (problems, outcome) == (1, "AnswerError"), case
            continue
        assert survey.questions[0].channel.d == 1
        (bits,) = unpack(survey, base64.urlsafe_b64decode(outcome + "=="), 1)  # all but the last, which the others imply
        assert (problems, [*np.flatnonzero(bits), len(bits)][0]) == (0, case["category"]), case


def test_every_code_is_the_records_and_belongs_to_its_id(public: Public, vectors: Vectors) -> None:
    cases = [case for case in vectors("codes") if "id" in case]
    text = Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "T", "about": "A", "questions": [{"id": "q", "text": "Q", "type": "yes_no", "epsilon": 1}]}
    ).definition.decode()
    outcomes = public(
        GENERATOR
        + """const survey = await fetched(encoded(given.text));
        const records = [];
        for (const { secret: hex } of given.cases) {
          secret = fromHex(hex);
          const record = await survey.perturb({ q: true });
          records.push([record.code, record.submission]);
        }
        return records;""",
        {"text": text, "cases": cases},
    )
    assert outcomes == [[case["text"], case["id"]] for case in cases]


def test_every_order_of_options_is_drawn_from_its_words(public: Public, vectors: Vectors) -> None:
    cases = vectors("orders")
    texts = [
        Survey.from_dict(
            {
                "deniable": 1,
                "id": "s",
                "title": "T",
                "about": "A",
                "questions": [{"id": "q", "text": "Q", "epsilon": 4, **{k: v for k, v in case.items() if k not in ("words", "shown")}}],
            }
        ).definition.decode()
        for case in cases
    ]
    outcomes = public(
        GENERATOR
        + """const orders = [];
        for (const { text, words } of given) {
          const survey = await fetched(encoded(text));
          batches = [words];
          orders.push(survey.draw().options.q);
        }
        return orders;""",
        [{"text": text, "words": case["words"]} for text, case in zip(texts, cases, strict=True)],
    )
    assert outcomes == [[case["options"][index] for index in case["shown"]] for case in cases]


def test_every_text_shows_the_answers_that_it_refers_to(public: Public, vectors: Vectors) -> None:
    cases = vectors("pipes")
    cases = [case for case in cases if case["good"]]  # no definition has another text
    outcomes = public('return given.map(({ text }) => [deniable.pipe(text), deniable.pipe(text, { a: "${b}" })]);', cases)
    assert len(cases) > 40
    assert outcomes == [[case["plain"], case["answered"]] for case in cases]


def test_the_shown_questions_are_those_whose_answers_count(public: Public, vectors: Vectors) -> None:
    from tests.browser.test_vectors import shown_in_python

    cases = [*vectors("submissions"), *vectors("device_submissions")]
    outcomes = public(
        GENERATOR
        + """const shown = [];
        for (const { definition: text, answers } of given) shown.push((await fetched(encoded(text))).shown(answers));
        return shown;""",
        cases,
    )
    ids = [[question["id"] for question in json.loads(case["definition"])["questions"]] for case in cases]
    hidden_or_not = [[name in shown for name in names] for names, shown in zip(ids, outcomes, strict=True)]
    assert hidden_or_not == [shown_in_python(case) for case in cases]
