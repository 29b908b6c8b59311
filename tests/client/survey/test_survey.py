"""Survey files: every rule is held, every mistake is told with its line, and a definition is what its epsilons imply."""

from __future__ import annotations

import hashlib
import json
import math
import random
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kit.issuer import ISSUER, issued

from deniable.errors import RefusedError, SurveyError
from deniable.survey import Survey
from deniable.survey.epsilon import parse_epsilon
from deniable.survey.lookalikes import first_invisible, lookalikes

FILE = """\
deniable: 1
id: anes1996
title: An election study
about: Who asks, why, and who to contact.
epsilon: ln 9
questions:
  - {id: vote, text: "Whom did you vote for?", type: choice, options: [Clinton, Dole]}
  - {id: tvnews, text: "Did you watch TV news yesterday?", type: yes_no}
"""


def as_dict(**changes: Any) -> dict[str, Any]:
    return {
        "deniable": 1,
        "id": "s",
        "title": "T",
        "about": "A",
        "epsilon": 1,
        "questions": [{"id": "q", "text": "Q", "type": "choice", "options": ["a", "b"]}],
    } | changes


def question(**changes: Any) -> dict[str, Any]:
    return as_dict(questions=[{"id": "q", "text": "Q", "type": "choice", "options": ["a", "b"]} | changes])


def problems(source: str | dict[str, Any]) -> list[str]:
    with pytest.raises(SurveyError) as caught:
        Survey.from_text(source) if isinstance(source, str) else Survey.from_dict(source)
    return [str(problem) for problem in caught.value.problems]


def test_the_file_of_the_manual_gives_two_fair_coins_per_question():
    survey = Survey.from_text(FILE)
    assert [(q.id, q.k, q.d, q.keep_threshold, q.epsilon) for q in survey.questions] == [
        ("vote", 2, 1, 3 << 30, math.log(3)),
        ("tvnews", 2, 1, 3 << 30, math.log(3)),
    ]
    assert survey.epsilon == pytest.approx(math.log(9), rel=1e-15)


def test_the_example_is_valid_without_a_mistake_so_the_rules_below_are_what_refuses():
    Survey.from_dict(as_dict())
    Survey.from_dict(question())


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (as_dict(titel="x"), "titel: is not a known key; did you mean title?"),
        (as_dict(zzz="x"), "zzz: is not a known key; the keys here are deniable, id, title, about, questions, epsilon"),
        (as_dict(**{"odd]": 1}), "odd]: is not a known key"),
        (question(option=["a"]), "questions[0].option: is not a known key; did you mean options?"),
        (as_dict(deniable=2), "deniable: must be 1, the version of the format, got 2"),
        (as_dict(id="Überall"), "id: must be 1 to 64 of a-z, 0-9, - and _, a letter or digit first, got 'Überall'"),
        (as_dict(id="a" * 65), "id: must be 1 to 64 of a-z"),
        (as_dict(id="a\n"), "id: must be 1 to 64 of a-z"),
        (as_dict(title=""), "title: must not be empty"),
        (as_dict(title=" \n"), "title: must not be empty"),
        (as_dict(title=7), "title: must be text, got int"),
        (as_dict(title="a\x1b[2J"), "title: must not contain control characters"),
        (as_dict(title="a" * 201), "title: must be at most 200 characters, got 201"),
        (as_dict(about="a" * 5001), "about: must be at most 5,000 characters, got 5,001"),
        (question(text="a" * 1001), "questions[0].text: must be at most 1,000 characters, got 1,001"),
        (question(id="1st"), "questions[0].id: must be 1 to 64 of A-Z, a-z, 0-9 and _, a letter first, got '1st'"),
        (
            question(type="choise"),
            "questions[0].type: must be one of yes_no, choice, scale, number, multi_choice, rating, got 'choise' (did you mean choice?)",
        ),
        (question(type=["choice"]), "questions[0].type: must be one of yes_no, choice, scale, number, multi_choice, rating, got list"),
        (question(options=["only"]), "questions[0].options: must be 2 to 1,024 options, got 1"),
        (question(options=[]), "questions[0].options: must be 2 to 1,024 options, got 0"),
        (question(options=[str(i) for i in range(1025)]), "questions[0].options: must be 2 to 1,024 options, got 1,025"),
        (question(options="ab"), "questions[0].options: must be a list of texts, got str"),
        (question(options=["a", "a"]), "questions[0].options[1]: must differ from the other options, got options[0] again"),
        (question(options=["a", ""]), "questions[0].options[1]: must not be empty, nor begin or end with a space"),
        (question(options=["a", "b "]), "questions[0].options[1]: must not be empty, nor begin or end with a space"),
        (question(options=["a", "b" * 201]), "questions[0].options[1]: must be at most 200 characters, got 201"),
        (question(options=["a", "b\x00c"]), "questions[0].options[1]: must not contain control characters"),
        (question(options=["a", True]), "questions[0].options[1]: must be text (in quotes, in JSON), got bool"),
        (as_dict(epsilon=0), "epsilon: must be above 0 and at most 10, got 0"),
        (as_dict(epsilon=-1), "epsilon: must be above 0 and at most 10, got -1"),
        (as_dict(epsilon=10.5), "epsilon: must be above 0 and at most 10, got 10.5"),
        (as_dict(epsilon="ln 1"), "epsilon: must be above 0 and at most 10, got 'ln 1'"),
        (as_dict(epsilon="ln 0"), "epsilon: must be above 0 and at most 10, got 'ln 0'"),
        (as_dict(epsilon="ln 30000"), "epsilon: must be above 0 and at most 10, got 'ln 30000'"),
        (as_dict(epsilon="ln(3"), "epsilon: must be a number or `ln x`, got 'ln(3'"),
        (as_dict(epsilon="ln 3)"), "epsilon: must be a number or `ln x`, got 'ln 3)'"),
        (as_dict(epsilon="ln ((3))"), "epsilon: must be a number or `ln x`, got 'ln ((3))'"),
        (as_dict(epsilon="ln()"), "epsilon: must be a number or `ln x`, got 'ln()'"),
        (as_dict(accept_high_epsilon="maybe"), "accept_high_epsilon: must be true or false, got 'maybe'"),
        (as_dict(accept_high_epsilon=1), "accept_high_epsilon: must be true or false, got 1"),
        (as_dict(epsilon="much"), "epsilon: must be a number or `ln x`, got 'much'"),
        (as_dict(epsilon=True), "epsilon: must be a number or `ln x`, got True"),
        (as_dict(epsilon=math.nan), "epsilon: must be a number or `ln x`, got nan"),
        (as_dict(epsilon=math.inf), "epsilon: must be a number or `ln x`, got inf"),
        (as_dict(epsilon=1e-300), "questions[0].epsilon: is too small for a 32-bit coin over 2 categories: it would reveal nothing"),
        (question(epsilon=1), "questions[0].epsilon: must be left out beside an epsilon for the whole survey; keep one of the two"),
        (as_dict(batch=0), "batch: must be a whole number from 1 to 1,000, got 0"),
        (as_dict(batch=1001), "batch: must be a whole number from 1 to 1,000, got 1001"),
        (as_dict(batch=2.5), "batch: must be a whole number from 1 to 1,000, got 2.5"),
        (as_dict(batch="ten"), "batch: must be a whole number from 1 to 1,000, got 'ten'"),
        (
            as_dict(batch=9),
            "batch: must be at least 10, got 9: raise it, or if it must be so small, add `accept_small_batches: true`; the page then "
            "tells respondents among how few records theirs is shown",
        ),
        (as_dict(release="weekly"), "release: must be close or daily, got 'weekly'"),
        (as_dict(accept_small_batches=1), "accept_small_batches: must be true or false, got 1"),
        (as_dict(batch=[10]), "batch: must be a whole number from 1 to 1,000, got list"),
        (as_dict(questions=[]), "questions: must be a list of at least one question"),
        (as_dict(questions={}), "questions: must be a list of at least one question"),
        (as_dict(questions=["q"]), "questions[0]: must be a mapping with the keys id, text, type, got str"),
        (
            as_dict(questions=[{"id": "q", "text": "Q", "type": "yes_no"}] * 2),
            "questions[1].id: must be unique, got the id of questions[0] again: 'q'",
        ),
        (
            as_dict(questions=[{"id": f"q{i}", "text": "Q", "type": "choice", "options": [str(o) for o in range(1000)]} for i in range(3)]),
            "questions: must need at most 2,048 bits in all (options less one, added up), got 2,997",
        ),
    ],
)
def test_a_rule_that_is_broken_is_the_only_thing_told(source, told):
    [problem] = problems(source)
    assert problem.startswith(told)


@pytest.mark.parametrize("key", ["deniable", "id", "title", "about", "questions"])
def test_a_missing_key_is_told(key):
    source = as_dict()
    del source[key]
    assert problems(source) == [f"{key}: is missing"]


def test_an_epsilon_is_checked_even_where_the_questions_are_missing():
    assert problems(as_dict(questions=5, epsilon=11)) == [
        "questions: must be a list of at least one question",
        "epsilon: must be above 0 and at most 10, got 11",
    ]


def test_an_epsilon_that_is_nowhere_is_missing_from_each_question():
    source = as_dict()
    del source["epsilon"]
    assert problems(source) == ["questions[0].epsilon: is missing: give one here, or one for the whole survey"]


def test_all_mistakes_are_told_at_once_each_with_its_line():
    text = """\
deniable: 1
id: Bad Id
titel: typo
about: x
epsilon: 11
questions:
  - id: q
    text: Q
    type: choice
    options:
      - only
  - {id: q, text: "", type: yes_no}
  - id: r
    type: yesno
"""
    assert problems(text) == [
        "title (line 1): is missing",
        "id (line 2): must be 1 to 64 of a-z, 0-9, - and _, a letter or digit first, got 'Bad Id'",
        "titel (line 3): is not a known key; did you mean title?",
        "epsilon (line 5): must be above 0 and at most 10, got '11'",
        "questions[0].options (line 11): must be 2 to 1,024 options, got 1",
        "questions[1].id (line 12): must be unique, got the id of questions[0] again: 'q'",
        "questions[1].text (line 12): must not be empty",
        "questions[2].text (line 13): is missing",
        "questions[2].type (line 14): must be one of yes_no, choice, scale, number, multi_choice, rating, "
        "got 'yesno' (did you mean yes_no?)",
    ]


@pytest.mark.parametrize(
    ("written", "batch"), [("", 10), ("batch: 10\n", 10), ("batch: 1\naccept_small_batches: true\n", 1), ("batch: 1000\n", 1000)]
)
def test_a_batch_is_part_of_the_definition_unless_it_is_the_usual_one(written, batch):
    survey = Survey.from_text(written + FILE)
    assert survey.batch == batch
    assert (b'"batch":' in survey.definition) == (batch != 10)
    assert Survey.from_definition(survey.definition) == survey


@pytest.mark.parametrize(
    ("keys", "release", "is_stated"),
    [
        ({}, "daily", False),
        ({"release": "daily"}, "daily", False),
        ({"release": "close"}, "close", True),
        ({"access": "invited"}, "close", False),
        ({"access": "invited", "release": "close"}, "close", False),
        ({"access": "invited", "release": "daily"}, "daily", True),
    ],
)
def test_release_follows_access_and_is_stated_in_the_definition_if_it_is_not_the_default(keys, release, is_stated):
    survey = issued(Survey.from_dict(as_dict(**keys)))
    assert survey.release == release
    assert (b'"release":' in survey.definition) == is_stated
    assert Survey.from_definition(survey.definition) == survey


def test_yes_no_and_1_10_stay_the_text_they_are_written_as():
    text = FILE.replace("[Clinton, Dole]", "[yes, no, ON, 1.10, 1.1, 010, 0x1F, off, true, 2024-01-01, 1e3, 12:30]")
    assert Survey.from_text(text).questions[0].categories == (
        *("yes", "no", "ON", "1.10", "1.1", "010", "0x1F", "off", "true", "2024-01-01", "1e3", "12:30"),
    )


def test_null_is_no_text_unless_in_quotes():
    text = FILE.replace("[Clinton, Dole]", '[~, null, "null"]')
    assert [problem.split(" ")[0] for problem in problems(text)] == ["questions[0].options[0]", "questions[0].options[1]"]


def test_json_and_yaml_give_the_same_digest():
    source = as_dict(id="anes1996", title="An election study", about="Who asks, why, and who to contact.", epsilon="ln 9")
    source["questions"] = [
        {"id": "vote", "text": "Whom did you vote for?", "type": "choice", "options": ["Clinton", "Dole"]},
        {"id": "tvnews", "text": "Did you watch TV news yesterday?", "type": "yes_no"},
    ]
    digests = {Survey.from_text(FILE).digest, Survey.from_text(json.dumps(source)).digest, Survey.from_dict(source).digest}
    assert len(digests) == 1


@pytest.mark.parametrize("name", ["survey.yaml", "survey.json"])
def test_a_file_reads_like_its_text(tmp_path, name):
    path = tmp_path / name
    path.write_text(FILE if name.endswith("yaml") else json.dumps(Survey.from_text(FILE).to_dict()))
    assert Survey.from_file(path) == Survey.from_text(FILE)


def plain_canonical(value: Any) -> str:
    """RFC 8785 for what a definition holds, written a second time: sorted keys, no spaces, numbers as ECMAScript has them."""
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{json.dumps(key)}:{plain_canonical(item)}" for key, item in pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(plain_canonical, value)) + "]"
    if isinstance(value, float):
        return str(int(value)) if value == int(value) else repr(value)
    return json.dumps(value, ensure_ascii=False)


def test_the_digest_is_the_sha256_of_the_canonical_definition():
    survey = Survey.from_text(FILE.replace("An election study", "Étude “𝟙” \\\\ <b>"))
    assert survey.definition.decode() == plain_canonical(json.loads(survey.definition))
    assert survey.digest == hashlib.sha256(survey.definition).hexdigest()
    assert set(json.loads(survey.definition)["questions"][0]) == {
        *("id", "text", "type", "options", "epsilon", "categories", "k", "d", "keep_threshold"),
    }


texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20).filter(str.strip)
labels = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=20).filter(lambda one: not first_invisible(one))
options = st.lists(labels, min_size=2, max_size=9, unique=True).filter(lambda some: not any(lookalikes(some)))
epsilons = st.floats(0.01, 10)
yes_no = st.fixed_dictionaries({"text": texts, "type": st.just("yes_no"), "epsilon": epsilons})
choice = st.fixed_dictionaries({"text": texts, "type": st.just("choice"), "options": options, "epsilon": epsilons})


@st.composite
def surveys(draw: st.DrawFn) -> dict[str, Any]:
    written = draw(st.lists(yes_no | choice, min_size=1, max_size=4))
    named = [{"id": f"q{i}", **source} for i, source in enumerate(written)]
    accepts = {"accept_high_epsilon": True} if draw(st.booleans()) or sum(q["epsilon"] for q in named) > 7.9 else {}
    return {"deniable": 1, "id": "s", "title": draw(labels), "about": draw(texts), **accepts, "questions": named}


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(surveys())
def test_a_survey_says_itself_again_as_dict_as_text_and_as_definition(source):
    survey = Survey.from_dict(source)
    assert Survey.from_dict(survey.to_dict()) == survey
    assert Survey.from_text(json.dumps(survey.to_dict())) == survey
    assert Survey.from_definition(survey.definition) == survey
    assert json.loads(survey.definition) == {
        **survey.to_dict(),
        "questions": [
            {**q.to_dict(), "categories": list(q.categories), "k": q.k, "d": q.d, "keep_threshold": q.keep_threshold}
            for q in survey.questions
        ],
    }


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), lambda s: st.lists(s) | st.dictionaries(st.text(), s)))
def test_whatever_else_a_dict_holds_is_told_and_never_crashes(value):
    for source in (as_dict(questions=value), as_dict(questions=[value]), as_dict(epsilon=value), question(options=value), value):
        with suppress(SurveyError):
            Survey.from_dict(source)


@pytest.mark.parametrize(
    ("written", "parts", "value"),
    [
        ("ln 3", 1, math.log(3)),
        ("ln(9)", 2, math.log(3)),
        (" ln ( 9 ) ", 2, math.log(3)),
        ("2", 1, 2.0),
        (2, 2, 1.0),
        ("1e0", 1, 1.0),
        (".5", 1, 0.5),
    ],
)
def test_an_epsilon_is_a_number_or_a_logarithm_shared_by_the_questions(written, parts, value):
    assert parse_epsilon(written, Fraction(1, parts)) == pytest.approx(value, rel=1e-15)


@settings(max_examples=200, deadline=None)
@given(st.floats(0.001, 10), st.integers(1, 40))
def test_shares_of_an_epsilon_never_add_up_to_more(whole, parts):
    assert Fraction(parse_epsilon(whole, Fraction(1, parts))) * parts <= Fraction(whole)


# --- the whole survey's epsilon --------------------------------------------------------------------------------------


def of_epsilons(*epsilons: float, **changes: Any) -> dict[str, Any]:
    """A survey with a yes/no question of each epsilon."""
    source = as_dict(questions=[{"id": f"q{i}", "text": "Q", "type": "yes_no", "epsilon": e} for i, e in enumerate(epsilons)])
    del source["epsilon"]
    return source | changes


def test_two_thousand_questions_at_ten_are_refused_with_their_total():
    [problem] = problems(of_epsilons(*[10] * 2000))
    assert problem == (
        "questions: must be at most 8 in total, got 19,999.9935: lower it, or if it must be so high, add `accept_high_epsilon: true`; "
        "the page then warns respondents that their protection is weak"
    )
    assert Survey.from_dict(of_epsilons(*[10] * 2000, accept_high_epsilon=True)).epsilon == pytest.approx(19_999.995, abs=0.01)


@pytest.mark.parametrize(
    "source",
    [
        of_epsilons(8),
        of_epsilons(*[1] * 8),
        of_epsilons(*[math.log(3)] * 7),
        of_epsilons(10, 9, 8, 7.5, ask=1, accept_high_epsilon=True),
        of_epsilons(8, 7, 6, ask=1),
        of_epsilons(4, 4, 1, 1, ask=2),
        as_dict(epsilon=8),
        as_dict(epsilon="ln 2980"),
        question(type="multi_choice", options=list("abcdefgh")) | {"epsilon": 8},
    ],
)
def test_a_total_of_eight_or_less_of_what_is_asked_needs_nothing(source):
    assert Survey.from_dict(source).epsilon <= 10


@pytest.mark.parametrize(
    ("source", "where"),
    [
        (of_epsilons(8.001), "questions"),
        (of_epsilons(4, 4.001), "questions"),
        (of_epsilons(*[math.log(3)] * 8), "questions"),
        (of_epsilons(4, 1, 4.001, ask=2), "questions"),
        (as_dict(epsilon=10), "epsilon"),
        (as_dict(epsilon="ln 2981"), "epsilon"),
        (question(type="multi_choice", options=list("abcdefgh")) | {"epsilon": 8.001}, "epsilon"),
        (of_epsilons(9, accept_high_epsilon=False), "questions"),
        (of_epsilons(9, accept_high_epsilon="false"), "questions"),
    ],
)
def test_a_total_above_eight_of_what_is_asked_must_be_accepted(source, where):
    [problem] = problems(source)
    assert problem.startswith(f"{where}: must be at most 8 in total, got ")
    for yes in (True, "true"):
        assert Survey.from_dict(source | {"accept_high_epsilon": yes}).accept_high_epsilon


def coin_of(threshold: int) -> float:
    """The epsilon of a yes/no question with this threshold, rounded up."""
    return math.nextafter(math.log(threshold / (2**32 - threshold)), 99)


def test_a_total_that_doubles_cannot_tell_from_eight_is_told_exactly():
    """The control is in the numbers: added up as doubles, both totals would pass."""
    above, below = (4250417048, 4161767554), (4238169386, 4190082468)
    for thresholds in (above, below):
        accepted = Survey.from_dict(of_epsilons(*map(coin_of, thresholds), accept_high_epsilon=True))
        assert tuple(q.keep_threshold for q in accepted.questions) == thresholds
        assert accepted.epsilon <= 8
    assert Survey.from_dict(of_epsilons(*map(coin_of, below)))
    assert problems(of_epsilons(*map(coin_of, above)))[0].startswith("questions: must be at most 8 in total")


def test_accepting_is_a_part_of_the_digest_and_not_accepting_is_none():
    plain, refused = Survey.from_dict(as_dict()), Survey.from_dict(as_dict(accept_high_epsilon="false"))
    accepted = Survey.from_dict(as_dict(accept_high_epsilon=True))
    assert plain.definition == refused.definition
    assert b"accept" not in plain.definition
    assert accepted.digest != plain.digest
    assert Survey.from_definition(accepted.definition) == accepted


# --- hostile sizes: the limits come before the work ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (of_epsilons(*[0.001] * 2049), "questions: must be at most 2,048 questions, got 2,049"),
        (
            as_dict(questions=[{"id": f"q{i}", "text": "Q", "type": "number", "low": 0, "high": 1, "levels": 1024} for i in range(2000)]),
            "questions: must need at most 2,048 bits in all (options less one, added up), got 5,115 or more",
        ),
        (
            of_epsilons(*[0.001] * 1100, title="T" * 200)
            | {"questions": [{"id": f"q{i}", "text": "x" * 1000, "type": "yes_no", "epsilon": 0.001} for i in range(1100)]},
            "file: must give a definition of at most 1,048,576 bytes, got 1,",
        ),
    ],
)
def test_what_is_too_large_is_told_by_the_limit_alone(source, told):
    [problem] = problems(source)
    assert problem.startswith(told)


@pytest.mark.slow
def test_the_largest_of_each_is_accepted():
    largest = Survey.from_dict(of_epsilons(*[0.001] * 2048))
    assert Survey.from_definition(largest.definition) == largest


def test_a_hostile_definition_is_refused_before_it_is_read():
    with pytest.raises(RefusedError, match="must be at most 1,048,576 bytes"):
        Survey.from_definition(b" " * (1 << 20) + b"{}")


def test_mistakes_without_end_are_not_all_looked_at():
    told = problems(as_dict(**{f"questionx{i}": 1 for i in range(20_000)}))
    assert len(told) == 1001
    assert told[-1] == "file: has too many mistakes; the rest was not checked"


# --- published definitions -------------------------------------------------------------------------------------------


def mutations(definition: bytes, count: int) -> list[tuple[str, bytes]]:
    """Definitions with one field changed to a near or wild value, each still canonical JSON; seeded, so the same each time."""
    rng = random.Random(1)
    original = json.loads(definition)
    wild: list[Callable[[Any], Any]] = [
        lambda v: v + 1 if isinstance(v, int) else f"{v}!",
        lambda v: v - 1 if isinstance(v, int) else [],
        lambda v: v * 2 if isinstance(v, int | float | str | list) else 0,
        lambda v: rng.randrange(2**32),
        lambda v: rng.random() * 10,
        lambda v: None,
        lambda v: str(v),
        lambda v: list(reversed(v)) if isinstance(v, list) else {},
        lambda v: math.nextafter(v, 20) if isinstance(v, float) else True,
    ]
    made = []
    while len(made) < count:
        changed = json.loads(definition)
        holder = changed if rng.random() < 0.2 else rng.choice(changed["questions"])
        key = rng.choice([*holder, "extra"])
        before = holder.get(key)
        holder[key] = rng.choice(wild)(before)
        if rng.random() < 0.1 and key != "extra":
            del holder[key]
        if changed != original or (holder.get(key) is not before and type(holder.get(key)) is not type(before)):
            try:
                made.append((key, plain_canonical(changed).encode()))
            except (ValueError, OverflowError, TypeError):
                continue
    return made


def accepted(definition: bytes, pin: str | None = None) -> bool:
    try:
        survey = Survey.from_definition(definition)
    except RefusedError:
        return False
    return pin is None or survey.digest == pin


@pytest.mark.slow
def test_of_1000_changes_to_a_definition_none_passes_the_pin_and_none_to_the_coins_passes_without():
    survey = Survey.from_text(FILE.replace("[Clinton, Dole]", "[a, b, c, d, e, f]"))
    assert accepted(survey.definition, survey.digest)
    changed = [(key, raw) for key, raw in mutations(survey.definition, 1200) if raw != survey.definition]
    assert len(changed) >= 1000
    assert not any(accepted(raw, survey.digest) for _, raw in changed)
    coins = [raw for key, raw in changed if key in ("k", "d", "keep_threshold", "categories", "extra", "deniable", "type")]
    assert len(coins) > 300
    assert not any(accepted(raw) for raw in coins)
    # the control: changes of wording are valid surveys of their own, so it is the pin that refuses them
    assert any(accepted(raw) for key, raw in changed if key in ("title", "text"))


@pytest.mark.parametrize("by", [1, -1, 1000, -(2**31)])
def test_a_threshold_that_is_off_by_one_is_refused_with_the_right_one_named(by):
    survey = Survey.from_text(FILE)
    raw = survey.definition.replace(b"3221225472", str(3221225472 + by).encode())
    with pytest.raises(RefusedError, match=r"question vote: keep_threshold must be 3221225472, which epsilon .* implies, got"):
        Survey.from_definition(raw)


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: raw + b"\n",
        lambda raw: b" " + raw,
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: raw.replace(b'"about"', b'"about":"x","about"'),
        lambda raw: raw.replace(b'"yes_no"', b'"weather"'),
        lambda raw: raw.replace(b"An election", b"An\\u0020election"),
        lambda raw: raw[:-1],
        lambda raw: b"[]",
        lambda raw: b"null",
        lambda raw: b"",
        lambda raw: b"\xff",
        lambda raw: b"[" * 100_000,
        lambda raw: raw.replace(b"3221225472", b"3221225472.0"),
        lambda raw: raw.replace(b"3221225472", b"NaN"),
        lambda raw: raw.replace(b"3221225472", b"9" * 5000),
        lambda raw: raw.replace(b"1.0986122886681098", b"1e999"),
        lambda raw: raw.replace(b"1.0986122886681098", b'"ln 3"'),
        lambda raw: raw.replace(b"1.0986122886681098", b"1.09861228866810980"),
        lambda raw: b'{"questions": 5}',
        lambda raw: b'{"questions": [5]}',
    ],
)
def test_bytes_that_are_not_the_canonical_definition_are_refused(change):
    with pytest.raises(RefusedError, match=r"the definition|keep_threshold"):
        Survey.from_definition(change(Survey.from_text(FILE).definition))


def test_texts_are_given_in_the_readers_language_or_a_relative_of_it() -> None:
    survey = Survey.from_dict(
        as_dict(language="en-GB", translations={"de-AT": {"title": "Ein Titel"}, "pt": {"questions": {"q": {"text": "Qual?"}}}})
    )
    assert survey.text_in("de-AT", "title") == survey.text_in("de", "title") == survey.text_in("de-CH", "title") == ("Ein Titel", "de-AT")
    assert survey.text_in("en", "title") == survey.text_in("fr", "title") == (survey.title, "en-GB")
    assert survey.text_in("de", "about") == (survey.about, "en-GB")
    assert survey.question_in("pt-BR", survey.questions[0]) == ("Qual?", "pt")
    assert survey.question_in("de", survey.questions[0]) == (survey.questions[0].text, "en-GB")


def test_a_survey_by_invitation_has_a_key_once_it_is_published():
    file = Survey.from_dict(as_dict(access="invited"))
    published = file.with_issuer(ISSUER)
    assert (file.is_final, published.is_final, Survey.from_dict(as_dict()).is_final) == (False, True, True)
    assert file.digest != published.digest
    assert file.is_same_as(published)
    assert not published.is_same_as(Survey.from_dict(as_dict(access="invited", title="Another")))
    assert Survey.from_definition(published.definition) == Survey.from_dict(published.to_dict()) == published
    with pytest.raises(RefusedError, match="must have an issuer"):
        Survey.from_definition(file.definition)


@pytest.mark.parametrize(
    ("keys", "rule"),
    [
        ({"issuer": ISSUER}, "issuer: must be left out: only a survey with `access: invited` has one"),
        ({"access": "invited", "issuer": ISSUER[:-1]}, "issuer: must be an odd number of 2,048 bits in base64url, got"),
        ({"access": "invited", "issuer": 5}, "issuer: must be an odd number of 2,048 bits in base64url, got 5"),
    ],
)
def test_a_key_that_cannot_be_one_is_a_mistake_of_the_file(keys, rule):
    with pytest.raises(SurveyError, match=re.escape(rule)):
        Survey.from_dict(as_dict(**keys))
