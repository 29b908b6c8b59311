"""The JavaScript client against a small server that fails on demand: what it refuses, what it sends, and what it never shows."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.client.conftest import Fault, Server, serving
from tests.client.javascript.conftest import Run

from deniable import AnswerError, SurveyClient
from deniable.survey import Survey
from deniable.wire.access_codes import format_code, submission_id
from deniable.wire.access_codes import read as read_code

Public = Callable[..., Any]

QUICK = """
const waits = [];
const timer = globalThis.setTimeout;
globalThis.setTimeout = (action, milliseconds, ...more) => {
  if (more.length > 0 || ![1000, 2000, 4000].includes(milliseconds)) return timer(action, milliseconds, ...more); // Node's own
  waits.push(milliseconds);
  return timer(action, 0);
};
"""
"""Has the pauses between attempts end at once, and notes them."""

ALL = {"deniable": 1, "id": "habits", "title": "Habits", "about": "Who asks, and why.", "epsilon": 4}
QUESTIONS: list[dict[str, Any]] = [
    {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"},
    {"id": "drug", "text": "Which one?", "type": "choice", "options": [f"drug number {n}" for n in range(1, 13)]},
    {"id": "income", "text": "How much?", "type": "number", "low": 0, "high": 100, "levels": 11},
    {"id": "used", "text": "Which?", "type": "multi_choice", "options": ["tea", "coffee", "nothing"], "exclusive": ["nothing"]},
    {"id": "constructor", "text": "Why?", "type": "yes_no", "required": False},
]
ANSWERS = {"smokes": "no", "drug": "drug number 12", "income": 41.375, "used": ["tea"]}


@pytest.fixture
def habits() -> Survey:
    return Survey.from_dict({**ALL, "questions": QUESTIONS})


@pytest.fixture
def server(habits: Survey, study: Survey) -> Iterator[Server]:
    with serving(habits, study) as state:
        yield state


def link(server: Server, survey: Survey, more: str = "") -> str:
    return f"{server.url}/s/{survey.id}#digest={server.definitions[survey.id] and survey.digest}{more}"


# ---- answers ---------------------------------------------------------------------------------------------------------


def test_every_problem_is_listed_at_once_and_none_quotes_an_answer(public: Public, server: Server, habits: Survey) -> None:
    wrong = {"smokes": "perhaps not", "income": 4711, "used": ["tea", "nothing"], "hobbies": "secret one", "more": "secret two"}
    problems, error = public(
        """const survey = await deniable.fetchSurvey(given.link);
        const error = await survey.perturb(given.wrong).catch((error) => error);
        return [survey.check(given.wrong), { name: error.name, message: error.message, problems: error.problems }];""",
        {"link": link(server, habits), "wrong": wrong},
    )
    first = ", ".join(f"drug number {n}" for n in range(1, 9))
    assert problems == [
        "answers must be to questions of survey habits, which are smokes, drug, income, used, constructor; got 2 to others",
        "smokes: the answer must be one of yes, no",
        "drug: is missing",
        "income: the answer must be a number from 0 to 100",
        "used: the answer must be one exclusive option alone, or any of the others",
    ]
    assert error == {"name": "AnswerError", "message": "\n".join(problems), "problems": problems}
    assert first in public(
        "return (await deniable.fetchSurvey(given.link)).check({ ...given.answers, drug: 5, used: 'tea' }).join();",
        {"link": link(server, habits), "answers": ANSWERS},
    )
    assert server.posts == []


def assert_same_problems(public: Public, server: Server, survey: Survey, cases: list[Any]) -> None:
    """Both clients refuse each collection of answers, for the same reasons in the same words."""
    ours = public(
        "const survey = await deniable.fetchSurvey(given.link); return given.cases.map((answers) => survey.check(answers));",
        {"link": link(server, survey), "cases": cases},
    )
    for answers, problems in zip(cases, ours, strict=True):
        with SurveyClient(server.url, outbox=":memory:") as client, pytest.raises(AnswerError) as caught:
            client.submit(survey.id, answers)
        assert sorted(problems) == sorted(str(caught.value).split("\n"))


def test_the_problems_are_those_that_the_python_client_lists(public: Public, server: Server, habits: Survey) -> None:
    cases: list[Any] = [
        {},
        {"smokes": None},
        {"smokes": "", "drug": "x", "income": "many", "used": "tea", "constructor": "maybe"},
        {**ANSWERS, "used": ["milk"]},
        {**ANSWERS, "used": ["coffee", "nothing"]},
        {**ANSWERS, "other": 1},
    ]
    assert_same_problems(public, server, habits, cases)


LIMITS: list[dict[str, Any]] = [
    {"at_most": 2},
    {"at_least": 1},
    {"at_least": 2},
    {"at_least": 1, "at_most": 2},
    {"at_least": 2, "at_most": 2},
    {"exclusive": ["d"], "at_most": 2},
    {"none": "d", "at_most": 2},
    {"none": "d"},
]


def test_limits_of_a_selection_are_described_as_the_python_client_describes_them(public: Public) -> None:
    options = {"text": "Which?", "type": "multi_choice", "options": ["a", "b", "c", "d"]}
    survey = Survey.from_dict({**ALL, "questions": [{"id": f"q{n}", **options, **keys} for n, keys in enumerate(LIMITS)]})
    cases = [{f"q{n}": answer for n in range(len(LIMITS))} for answer in ([], ["a", "b", "c"], ["a", "d"], ["e"], "a")]
    with serving(survey, survey) as server:
        assert_same_problems(public, server, survey, cases)


@pytest.mark.parametrize(
    "expression",
    ["null", "[]", "'no'", "new Map(Object.entries(given.answers))", "new URLSearchParams()", "7", "undefined", "() => 1"],
)
def test_answers_that_are_no_object_are_refused(expression: str, public: Public, server: Server, habits: Survey) -> None:
    problem = public(
        f"const survey = await deniable.fetchSurvey(given.link); return survey.perturb({expression}).catch(kindOf);",
        {"link": link(server, habits), "answers": ANSWERS},
    )
    assert problem.startswith("AnswerError: answers must be an object from question id to answer, got ")


def test_a_question_named_like_a_property_of_objects_is_missing_without_an_answer(public: Public, server: Server, habits: Survey) -> None:
    """`constructor` is a property of every object, and no answer."""
    assert (
        public("return (await deniable.fetchSurvey(given.link)).check(given.answers);", {"link": link(server, habits), "answers": ANSWERS})
        == []
    )


CANARY = """
import { inspect } from "node:util";
import * as deniable from "deniable";
import { readFileSync } from "node:fs";
const { link, down, answers } = JSON.parse(readFileSync(0, "utf-8"));
const print = (value) => console.log(inspect(value, { showHidden: true, depth: 9 }), String(value), JSON.stringify(value), value?.stack);
const attempt = async (action) => { try { print(await action()); } catch (error) { print(error); } };
const survey = await deniable.fetchSurvey(link);
const failing = () => { throw new TypeError(`not ${answers.income}`); };
const trap = Object.defineProperty({ ...answers }, "income", { enumerable: true, get: failing });
const wrong = Object.fromEntries(Object.entries(answers).map(([id, answer]) => [id, [answer]]));
const [first] = Object.values(answers);
await attempt(() => survey.submit(answers));
await attempt(() => survey.submit(wrong));
await attempt(() => survey.submit(trap));
await attempt(() => survey.perturb(answers));
await attempt(() => survey.perturb(answers, answers));
await attempt(() => survey.perturb(answers, { visit: answers }));
await attempt(() => survey.perturb({ [first]: 1, ...answers }));
await attempt(() => survey.perturb(answers, { group: String(answers.income) }));
await attempt(() => survey.perturb(answers, { invitation: String(answers.income) }));
await attempt(() => survey.check(String(answers.income)));
await attempt(() => survey.send(answers));
await attempt(() => survey.send({ body: JSON.stringify(answers) }));
await attempt(() => survey.withdraw(String(answers.income)));
await attempt(() => survey.exchange(answers));
await attempt(() => deniable.fetchSurvey(String(answers.income)));
await attempt(() => deniable.fetchSurvey(link, answers));
await attempt(() => deniable.fetchSurvey(answers));
await attempt(() => deniable.pipe(answers));
"""


def shown_by(done: Any) -> str:
    assert done.returncode == 0, done.stderr
    return str(done.stdout + done.stderr)


def test_no_true_answer_is_in_a_request_a_message_or_the_console(installed: Any, server: Server, habits: Survey) -> None:
    from tests.kit.node import node

    (installed / "canary.mjs").write_text(CANARY, encoding="utf-8")
    given = json.dumps({"link": link(server, habits), "answers": ANSWERS})
    printed = shown_by(node(installed / "canary.mjs", stdin=given, cwd=installed))
    assert printed.count("AnswerError") >= 6
    assert printed.count("TypeError") >= 7
    requests = " ".join(f"{seen.path} {seen.headers} {seen.body.decode()}" for seen in server.seen)
    assert len(server.posts) == 1
    for canary in ("41.375", "drug number 12"):
        assert canary not in printed
        assert canary not in requests


def test_the_control_a_client_that_quotes_an_unexpected_error_shows_an_answer(
    packed: Any, tmp_path: Any, server: Server, habits: Survey
) -> None:
    from tests.kit.node import node, place

    file = place(packed.parent / "package", tmp_path) / "javascript" / "answers.mjs"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("if (error instanceof AnswerError) throw error;", "throw error;"), encoding="utf-8")
    (tmp_path / "canary.mjs").write_text(CANARY, encoding="utf-8")
    given = json.dumps({"link": link(server, habits), "answers": ANSWERS})
    assert "41.375" in shown_by(node(tmp_path / "canary.mjs", stdin=given, cwd=tmp_path))


# ---- delivery --------------------------------------------------------------------------------------------------------


def test_a_record_is_sent_again_unchanged_and_counted_once(public: Public, server: Server, habits: Survey) -> None:
    server.faults.extend([Fault(worked=True), Fault(), Fault(status=503)])  # acknowledged in vain, lost, refused for now
    receipt, waits = public(
        QUICK + "const survey = await deniable.fetchSurvey(given.link); return [await survey.submit(given.answers), waits];",
        {"link": link(server, habits), "answers": ANSWERS},
    )
    assert waits == [1000, 2000, 4000]
    assert len(server.posts) == 4
    assert len({seen.body for seen in server.posts}) == 1
    assert list(server.accepted) == [receipt["submission"]]
    assert server.counted == 1
    assert receipt == {
        "submission": receipt["submission"],
        "survey": "habits",
        "digest": habits.digest,
        "epsilon": pytest.approx(habits.epsilon),
        "pinned": True,
    }


def test_the_control_a_client_that_perturbs_again_is_counted_twice(public: Public, server: Server, habits: Survey) -> None:
    server.faults.extend([Fault(worked=True)] * 4)
    program = """const survey = await deniable.fetchSurvey(given.link);
        await survey.submit(given.answers).catch(() => survey.submit(given.answers));"""
    public(QUICK + program, {"link": link(server, habits), "answers": ANSWERS})
    assert server.counted == 2


def test_after_a_delivery_error_its_record_is_sent_and_counted_once_by_another_process(
    public: Public, server: Server, habits: Survey
) -> None:
    server.faults.extend([Fault(worked=True)] * 4)
    given = {"link": link(server, habits), "answers": ANSWERS}
    error = public(
        QUICK
        + """const survey = await deniable.fetchSurvey(given.link);
        return survey.submit(given.answers).catch((error) => ({ ...error, message: error.message }));""",
        given,
    )
    assert "send it with send()" in error["message"]
    assert server.counted == 1
    receipt = public("return (await deniable.fetchSurvey(given.link)).send(given.record);", {**given, "record": error["record"]})
    assert receipt["submission"] == error["record"]["submission"]
    assert "code" not in error["record"]
    assert server.counted == 1
    assert len({seen.body for seen in server.posts}) == 1


def test_a_login_page_of_the_network_is_no_acknowledgement(public: Public, server: Server, habits: Survey) -> None:
    server.faults.extend([Fault(status=200, body=b"<html>Log in"), Fault(status=200, body=b'{"accepted": true}')])
    public(
        QUICK + "await (await deniable.fetchSurvey(given.link)).submit(given.answers);", {"link": link(server, habits), "answers": ANSWERS}
    )
    assert (len(server.posts), server.counted) == (3, 1)


def test_a_refusal_ends_the_sending_with_its_rule(public: Public, server: Server, habits: Survey) -> None:
    server.faults.append(Fault(status=403, body=b'{"rule": "closed", "detail": "survey habits is closed"}'))
    error = public(
        """const survey = await deniable.fetchSurvey(given.link);
        return survey.submit(given.answers).catch(({ name, rule, message, record }) => [name, rule, message, record.survey]);""",
        {"link": link(server, habits), "answers": ANSWERS},
    )
    assert error == ["RejectedError", "closed", "survey habits is closed", "habits"]
    assert len(server.posts) == 1


def test_only_a_record_of_this_survey_leaves(public: Public, server: Server, habits: Survey, study: Survey) -> None:
    refused = public(
        """const survey = await deniable.fetchSurvey(given.link);
        const other = await deniable.fetchSurvey(given.other);
        const record = await survey.perturb(given.answers);
        const body = JSON.parse(record.body);
        const changes = [{ more: "no" }, { group: "no" }, { count: 2 }, { reports: `${body.reports}AA` }];
        const others = changes.map((change) => ({ ...body, ...change }));
        const records = [...others, given.answers, []].map((one) => ({ ...record, body: JSON.stringify(one) }));
        const wrong = [given.answers, null, undefined, "x", {}, await other.perturb({ smokes: "no", party: "Red" }), ...records];
        return Promise.all(wrong.map((one) => survey.send(one).then(() => "sent", kindOf)));""",
        {"link": link(server, habits), "other": link(server, study), "answers": ANSWERS},
    )
    assert all(message.startswith("TypeError: record must be a result of perturb() for survey habits, got ") for message in refused), (
        refused
    )
    assert server.posts == []


def test_a_withdrawal_code_erases_the_record_and_neither_json_nor_the_console_shows_it(run: Run, server: Server, habits: Survey) -> None:
    done = run(
        """const survey = await deniable.fetchSurvey(given.link);
        const record = await survey.perturb(given.answers);
        const receipt = await survey.send(record);
        console.error(record, receipt, JSON.stringify([record, receipt]));
        if (record.code !== receipt.code) throw new Error("codes differ");
        return [receipt.code, receipt.submission];""",
        {"link": link(server, habits), "answers": ANSWERS},
    )
    code, submission = json.loads(done.stdout)
    assert submission_id(read_code(code)).hex() == submission
    assert code not in done.stderr
    assert list(server.accepted) == [submission]
    program = "const survey = await deniable.fetchSurvey(given.link); return survey.withdraw(given.code).then(() => null, kindOf);"
    outcome = json.loads(run(program, {"link": link(server, habits), "code": code.lower().replace("-", "")}).stdout)
    assert outcome is None
    assert server.accepted == {}
    wrong = json.loads(run(program, {"link": link(server, habits), "code": "A" + code[1:]}).stdout) if code[0] != "A" else "AnswerError"
    assert wrong.startswith("AnswerError")


# ---- surveys ---------------------------------------------------------------------------------------------------------


def test_the_survey_shows_what_its_definition_implies(public: Public, server: Server, habits: Survey) -> None:
    survey = public(
        """const survey = await deniable.fetchSurvey(given);
        return { ...survey, frozen: Object.isFrozen(survey.definition.questions[1].options) };""",
        link(server, habits),
    )
    assert survey["definition"] == json.loads(habits.definition)
    assert survey["epsilon"] == pytest.approx(habits.epsilon)
    assert 50 < survey["posteriorBound"] < 100
    assert (survey["pinned"], survey["digest"], survey["frozen"], survey["access"], survey["groups"]) == (
        True,
        habits.digest,
        True,
        "open",
        [],
    )


def test_a_survey_is_refused_as_the_python_client_refuses_it(public: Public) -> None:
    costly = Survey.from_dict({**ALL, "id": "costly", "accept_high_epsilon": True, "epsilon": 9, "questions": QUESTIONS[:1]})
    small = Survey.from_dict({**ALL, "id": "small", "batch": 2, "accept_small_batches": True, "questions": QUESTIONS[:1]})
    with serving(costly, small) as server:
        costs, shows = link(server, costly), link(server, small)
        outcomes = public(
            """const outcome = ([link, options]) => deniable.fetchSurvey(link, options ?? {}).then(({ pinned }) => pinned, kindOf);
            return Promise.all(given.map(outcome));""",
            [
                [costs, None],
                [costs, {"maxEpsilon": 9}],
                [costs, {"maxEpsilon": "ln 8200"}],
                [shows, None],
                [shows, {"minBatch": 2}],
                [shows.replace(small.digest, costly.digest), {"minBatch": 2}],
                [f"{server.url}/s/small", {"minBatch": 2}],
                [f"{server.url}/s/none", None],
            ],
        )
    assert outcomes[0] == f"RefusedError: the survey's total epsilon must be at most 8, got {costly.epsilon!r}"
    assert outcomes[1:3] == [True, True]
    assert outcomes[3].startswith("RefusedError: survey small: batch must be at least 10, got 2: so few records may be shown together.")
    assert outcomes[4] is True
    assert outcomes[5].startswith("RefusedError: the survey's digest must be")
    assert outcomes[6] is False
    assert outcomes[7] == "RejectedError: no such survey"


def test_wrong_links_and_options_are_refused_without_their_secrets(public: Public) -> None:
    code = format_code(bytes(range(15)))
    links = [
        f"https://host.example/s/a?digest=1#code={code}",
        f"https://ada:{code}@host.example/s/a",
        f"https://host.example/s/a#code={code}&code={code}",
        f"https://host.example/s/a#secret={code}",
        f"https://host.example/s/a#digest={code}",
        f"https://host.example/x/a#code={code}",
        f"ftp://host.example/s/a#code={code}",
        f"https://host.example/s/a#group=%ff&code={code}",
        code,
        {"link": code},
        None,
    ]
    options = [{"maxEpsilon": 0}, {"maxEpsilon": "high"}, {"minBatch": 0}, {"minGroup": 1.5}, {"seed": 1}, code]
    outcomes = public(
        """const link = "https://host.example/s/a";
        const calls = [...given.links.map((one) => [one]), ...given.options.map((one) => [link, one])];
        return Promise.all(calls.map((call) => deniable.fetchSurvey(...call).then(() => "fetched", kindOf)));""",
        {"links": links, "options": options},
    )
    assert all(outcome.startswith("TypeError: ") for outcome in outcomes), outcomes
    assert all(code not in outcome for outcome in outcomes)


def test_a_sampled_survey_sends_a_sample_that_is_drawn_here(public: Public) -> None:
    questions = [{"id": f"q{n}", "text": "Q", "type": "yes_no"} for n in range(6)]
    survey = Survey.from_dict({**ALL, "ask": 2, "order": "random", "questions": questions})
    with serving(survey) as server:
        visits, problems, foreign = public(
            """const survey = await deniable.fetchSurvey(given);
            const all = Object.fromEntries(survey.definition.questions.map(({ id }) => [id, "no"]));
            const visits = [];
            for (let index = 0; index < 40; index += 1) {
              const visit = survey.draw();
              const asked = Object.fromEntries(visit.questions.map((id) => [id, "yes"]));
              if (survey.shown({}, { visit }).join() !== visit.questions.join()) throw new Error("shown");
              visits.push([visit.questions, JSON.parse((await survey.perturb(asked, { visit })).body).reports]);
            }
            await survey.submit(all);
            const copy = { questions: ["q0", "q1"], options: {} };
            return [visits, survey.check({ q0: "no" }).length, await survey.perturb(all, { visit: copy }).catch(kindOf)];""",
            link(server, survey),
        )
        assert server.counted == 1
    for names, reports in visits:
        mask = base64.urlsafe_b64decode(reports + "==")[0] >> 2
        assert sorted(names) == [f"q{n}" for n in range(6) if mask >> (5 - n) & 1]
        assert len(names) == 2
    assert len({tuple(names) for names, _ in visits}) > 10
    assert problems == 5
    assert foreign.startswith("TypeError: visit must be a result of this survey's draw()")


# ---- groups and invitations --------------------------------------------------------------------------------------------


def test_a_group_is_the_links_or_the_callers_and_one_of_the_survey(public: Public) -> None:
    survey = Survey.from_dict({**ALL, "groups": ["North", "South & West"], "questions": QUESTIONS[:1]})
    with serving(survey) as server:
        problems = public(
            """const survey = await deniable.fetchSurvey(given.link);
            await survey.submit({ smokes: true });
            await survey.submit({ smokes: true }, { group: "North" });
            const plain = await deniable.fetchSurvey(given.plain);
            return [plain.check({ smokes: true }), plain.check({ smokes: true }, { group: "nobody" })];""",
            {"link": link(server, survey, "&group=South%20%26%20West"), "plain": link(server, survey)},
        )
        groups = [json.loads(body)["group"] for body in server.accepted.values()]
    assert groups == ["South & West", "North"]
    assert problems == [["group: is missing; it must be one of North, South & West"], ["group: must be one of North, South & West"]]


INVITED = {**ALL, "id": "panel", "access": "invited", "questions": QUESTIONS[:1]}


def test_an_invitation_becomes_a_blind_token_of_one_record(public: Public) -> None:
    """The server checks each token's signature; neither the code nor its hash is in the record."""
    code = format_code(bytes(range(15)))
    with serving(Survey.from_dict(INVITED)) as server:
        digest = Survey.from_definition(server.definitions["panel"]).digest
        server.faults.append(Fault(worked=True))  # the signature is lost: the same token is signed at the next attempt
        outcomes = public(
            QUICK
            + """const survey = await deniable.fetchSurvey(given.link);
            const outcomes = [await survey.perturb({ smokes: "no" }).catch(kindOf)];
            outcomes.push(await survey.exchange().catch(({ name }) => name));
            await Promise.all([survey.exchange(), survey.exchange()]);
            const receipt = await survey.submit({ smokes: "no" });
            outcomes.push(await survey.submit({ smokes: "no" }).catch(kindOf));
            const open = await deniable.fetchSurvey(given.plain);
            return [...outcomes, open.check({ smokes: "no" }), await open.submit({ smokes: "no" }, { invitation: "A1" }).catch(kindOf)];""",
            {"link": f"{server.url}/s/panel#digest={digest}&code={code}", "plain": f"{server.url}/s/panel#digest={digest}"},
        )
        (body,) = map(json.loads, server.accepted.values())
        assert len(server.exchanged) == 1
    assert outcomes[0].startswith("RefusedError: the invitation must be exchanged before answers are perturbed")
    assert outcomes[1] == "DeliveryError"
    assert outcomes[2].startswith("RefusedError: the invitation must be used for one record only")
    assert outcomes[3] == ["invitation: is missing: survey panel needs a code from each respondent"]
    assert outcomes[4].startswith("AnswerError: the code must be 28 letters and digits")
    assert sorted(body) == ["count", "digest", "id", "reports", "token"]


def test_a_signature_with_another_key_and_a_used_code_are_refused(public: Public) -> None:
    codes = [format_code(bytes(range(start, start + 15))) for start in (0, 1)]
    program = "const survey = await deniable.fetchSurvey(given); return survey.submit({ smokes: 'no' }).then(() => 'sent', kindOf);"
    with serving(Survey.from_dict(INVITED)) as server:
        digest = Survey.from_definition(server.definitions["panel"]).digest
        server.signs_with_another_key = True
        assert public(program, f"{server.url}/s/panel#digest={digest}&code={codes[0]}").startswith("RefusedError: the server must sign")
        server.signs_with_another_key = False
        assert public(program, f"{server.url}/s/panel#digest={digest}&code={codes[1]}") == "sent"
        assert public(program, f"{server.url}/s/panel#digest={digest}&code={codes[1]}") == "RejectedError: not known, or used"
        assert server.counted == 1


def test_no_page_is_touched(public: Public, server: Server, habits: Survey) -> None:
    """In a page with an element of any id, the package reads and changes nothing."""
    touched = public(
        """const touched = [];
        const get = (_, key) => (touched.push(key), undefined);
        for (const name of ["document", "window", "localStorage", "sessionStorage", "history", "location"]) {
          Object.defineProperty(globalThis, name, { configurable: true, value: new Proxy({}, { get }) });
        }
        const survey = await deniable.fetchSurvey(given.link);
        await survey.submit(given.answers);
        await survey.submit({}).catch(() => {});
        survey.draw();
        return touched;""",
        {"link": link(server, habits), "answers": ANSWERS},
    )
    assert touched == []
