"""The command line: what it prints, its exit codes, and that no true answer is printed or kept on any path."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import traceback
from dataclasses import replace

import pytest
from click.testing import CliRunner, Result

from deniable import cli
from deniable.errors import DeniableError
from deniable.privacy.posterior import posterior_bound
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey
from deniable.wire.access_codes import format_code
from deniable.wire.six_words import six_words
from deniable.wire.submission import Submission

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
TABLE = "smokes,party\n" + "yes,Red\nno,1\n" * 5


@pytest.fixture
def run(server, outbox, no_waiting, monkeypatch):
    monkeypatch.setenv("DENIABLE_OUTBOX", str(outbox))
    monkeypatch.setenv("DENIABLE_KEY", server.key)

    def run(*words: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(cli.main, list(words), input=stdin)

    return run


@pytest.fixture
def survey_file(tmp_path):
    path = tmp_path / "survey.yaml"
    path.write_text(FILE)
    return path


@pytest.fixture
def answers(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(TABLE)
    return path


def test_check_speaks_of_people_of_100_the_least_protected_question_first(run, survey_file):
    survey_file.write_text(FILE.replace("type: choice", "weight: 3, type: choice").replace("ln 9", "4"))
    result = run("check", str(survey_file))
    assert result.exit_code == 0
    assert result.stdout == (
        "anes1996: An election study\n\n"
        "Least protected question: vote, “Whom did you vote for?”\n"
        "Of 100 people who give an answer, 95 have it in their record; of 100 who give another answer, 5 have the first one there too.\n"
        "Someone who starts at 50:50 about a respondent can become at most 99% sure from the whole record, or 96% from one answer.\n\n"
        "Respondents read:\n"
        "  Weak protection. Coins hide your answers, but only a little. Think about it before you start.\n"
        "  Of 100 people, a guess is right for at most: 50 knowing nothing, 96 from one answer, 99 from all together.\n"
        "  Records are shown once a day at most, at least 10 together. Someone who watches may learn on which day you answered.\n"
        "stronger: Set epsilon to ln 9, about 2.20, for medium protection\n\n"
        "question  type     part  recorded, if given  recorded, if not\n"
        "vote      choice  75.0%           95 of 100          5 of 100\n"
        "tvnews    yes_no  25.0%           73 of 100         27 of 100\n\n"
        "epsilon  4.0000 for a whole record\n"
        f"digest   {Survey.from_file(survey_file).digest}\n"
        f"words    {six_words(Survey.from_file(survey_file).digest)} (compare with the foot of the survey's first page)\n"
        "access   open\n"
        "layout   list\n"
        "release  daily: once a day at most, at least 10 at a time\n"
    )


def test_check_shows_thresholds_and_all_digits_only_where_they_are_asked_for(run, survey_file):
    exact = run("check", "--exact", str(survey_file)).stdout
    assert (
        "question  type    k  d  keep_threshold             epsilon\n"
        "vote      choice  2  1      3221225472  1.0986122886681098\n"
        "tvnews    yes_no  2  1      3221225472  1.0986122886681098\n\n"
        "epsilon  2.1972245773362196 for a whole record\n"
    ) in exact
    usual = run("check", str(survey_file)).stdout
    assert "epsilon  2.1973 for a whole record" in usual
    assert not re.search(r"3221225472|\d\.\d{5}", usual)


def test_check_says_what_a_sample_and_a_single_question_say(run, survey_file):
    survey_file.write_text(FILE.replace("questions:", "ask: 1\nquestions:"))
    found = run("check", str(survey_file)).stdout
    assert "ask      1 of 2 blocks; each part is of the largest epsilon that a record can have" in found
    assert found.count("100.0%") == 2
    survey_file.write_text("\n".join(FILE.splitlines()[:-1]))
    found = run("check", str(survey_file)).stdout
    assert "\n\nvote: Whom did you vote for?\nOf 100 people" in found
    assert "% from one answer" not in found


def test_check_as_json_says_the_same(run, survey_file):
    found = json.loads(run("check", "--json", str(survey_file)).stdout)
    survey = Survey.from_text(FILE)
    assert (found["id"], found["digest"], found["epsilon"]) == ("anes1996", survey.digest, survey.epsilon)
    assert found["words"] == six_words(survey.digest)
    assert (found["belief_at_most"], found["least_protected"]) == (0.9, "vote")
    assert found["questions"][0] == {
        "id": "vote",
        "type": "choice",
        "part": 0.5,
        "people": {"of": 100, "own": 75, "other": 25},
        "k": 2,
        "d": 1,
        "keep_threshold": 3 << 30,
        "epsilon": survey.questions[0].epsilon,
        "declared_epsilon": survey.questions[0].declared_epsilon,
    }


@pytest.mark.parametrize("epsilon", ["ln 3", "2", "8", "10", "0.001"])
def test_the_bound_is_the_one_of_the_pages_and_of_plans(run, survey_file, epsilon):
    survey_file.write_text(FILE.replace("ln 9", f"{epsilon}\naccept_high_epsilon: true"))
    bound = posterior_bound(Survey.from_file(survey_file).odds)
    assert f"at most {bound}% sure from the whole record" in run("check", str(survey_file)).stdout
    assert json.loads(run("check", "--json", str(survey_file)).stdout)["belief_at_most"] == float(bound / 100)
    assert f"can become at most {bound}% sure" in run("plan", str(survey_file), "--n", "100").stdout
    assert json.loads(run("plan", str(survey_file), "--n", "100", "--json").stdout)["belief"] == float(bound / 100)


def test_check_lists_all_problems_with_file_and_line(run, survey_file):
    survey_file.write_text(FILE.replace("title:", "titel:").replace("[Clinton, Dole]", "[Clinton]"))
    result = run("check", str(survey_file))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        f"{survey_file}:1: title: is missing\n"
        f"{survey_file}:3: titel: is not a known key; did you mean title?\n"
        f"{survey_file}:7: questions[0].options: must be 2 to 1,024 options, got 1\n"
    )
    result = run("check", "--json", str(survey_file))
    assert result.exit_code == 1
    assert [problem["line"] for problem in json.loads(result.stdout)["problems"]] == [1, 3, 7]


def test_schema_prints_the_schema(run):
    assert json.loads(run("schema").stdout)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_submit_sends_a_file_and_a_second_time_nothing(run, server, answers):
    result = run("submit", server.url, "--survey", "study", str(answers))
    assert (result.exit_code, result.stdout) == (0, "10 respondents accepted in 1 submission to survey study.\n")
    result = run("submit", server.url, "--survey", "study", str(answers), "--json")
    assert json.loads(result.stdout) == {
        "survey": "study",
        "digest": json.loads(server.posts[0].body)["digest"],
        "accepted": 10,
        "submissions": 1,
        "resumed": 10,
        "rejected": [],
        "code": None,
        "pinned": False,
    }
    assert server.counted == 10


def test_submit_says_where_the_definition_was_not_pinned(run, server, study, answers, tmp_path):
    link = f"{server.url}/s/study"
    pinned = ([f"{link}#digest={study.digest}"], [link, "--pin", study.digest], [server.url, "--survey", "study", "--pin", study.digest])
    for number, words in enumerate([[link], [server.url, "--survey", "study"], *pinned]):
        file = tmp_path / f"{number}.csv"
        file.write_text(TABLE)
        result = run("submit", *words, str(file))
        assert result.exit_code == 0
        assert ("Note: the survey's definition was not pinned" in result.stderr) == (words not in pinned)


def test_submit_above_eight_needs_to_be_told(run, server, study, answers):
    questions = [question.to_dict() | {"epsilon": 9} for question in study.questions]
    server.publish(Survey.from_dict({**study.to_dict(), "accept_high_epsilon": True, "questions": questions}))
    result = run("submit", f"{server.url}/s/study", str(answers))
    assert result.exit_code == 1
    assert "epsilon must be at most 8, got 17.99" in result.stderr
    assert "--max-epsilon" in result.stderr
    assert server.posts == []
    assert run("submit", f"{server.url}/s/study", "--max-epsilon", "18", str(answers)).exit_code == 0


def test_check_refuses_a_total_above_eight_and_says_where_the_consent_to_it_is_not_needed(run, survey_file):
    survey_file.write_text(FILE.replace("ln 9", "9"))
    assert f"{survey_file}:5: epsilon: must be at most 8 in total, got 9.0000" in run("check", str(survey_file)).stderr
    survey_file.write_text(FILE.replace("ln 9", "9\naccept_high_epsilon: true"))
    result = run("check", str(survey_file))
    assert (result.exit_code, "not needed" in result.stdout) == (0, False)
    survey_file.write_text(FILE.replace("ln 9", "ln 9\naccept_high_epsilon: true"))
    assert "note: accept_high_epsilon is not needed: the total is at most 8" in run("check", str(survey_file)).stdout
    assert json.loads(run("check", "--json", str(survey_file)).stdout)["accept_high_epsilon"] is True


def test_a_password_never_leaves_over_plain_http(run, monkeypatch):
    monkeypatch.setenv("SECRET", "CANARY")
    result = run("results", "http://192.0.2.7/s/study", "--user", "ada", "--password-env", "SECRET")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "url must begin with https:// where a password is sent to another machine" in result.stderr


GROUPED = TABLE.replace("party\n", "party,clinic\n").replace("Red\n", "Red,North\n").replace("1\n", "1,South\n")


@pytest.fixture
def clinics(server, study):
    survey = Survey.from_dict({**study.to_dict(), "id": "clinics", "groups": ["North", "South"]})
    server.publish(survey)
    return survey


@pytest.fixture
def invited(server, study):
    server.publish(Survey.from_dict({**study.to_dict(), "id": "invited", "access": "invited"}))


def groups_sent(server) -> list[str | None]:
    return sorted(Submission.from_json(body).group for body in server.accepted.values())


def test_submit_sends_all_rows_as_one_group_or_each_row_as_its_own(run, server, answers, clinics):
    link = f"{server.url}/s/clinics"
    assert run("submit", f"{link}#group=North", "--job", "a", str(answers)).exit_code == 0
    assert run("submit", f"{link}#group=North", "--group", "South", "--job", "b", str(answers)).exit_code == 0
    assert groups_sent(server) == ["North", "South"]
    answers.write_text(GROUPED)
    result = run("submit", link, "--group-column", "clinic", "--job", "c", str(answers))
    assert result.stdout == "10 respondents accepted in 2 submissions to survey clinics.\n"
    assert groups_sent(server) == ["North", "North", "South", "South"]
    result = run("submit", link, str(answers))
    assert (result.exit_code, result.stderr) == (1, "Error: group: is missing; it must be one of North, South\n")


def test_submit_by_invitation_shows_the_code_with_which_withdraw_erases_it(run, server, answers, invited):
    code = format_code(bytes(range(15)))
    answers.write_text("smokes,party\nyes,Red\n")
    result = run("submit", f"{server.url}/s/invited", "--invitation", code, str(answers))
    assert result.stdout.splitlines()[0] == "1 respondent accepted in 1 submission to survey invited."
    assert server.counted == 1
    [withdrawal] = re.findall(r"deniable withdraw ADDRESS (\S+)", result.stdout)
    result = run("withdraw", f"{server.url}/s/invited", withdrawal.lower())
    assert (result.exit_code, server.counted) == (0, 0)
    again = run("withdraw", server.url, "--survey", "invited", withdrawal)
    assert again.stdout == result.stdout == "If a submission had this code, it is now erased and no longer counted.\n"


def test_submit_takes_the_invitation_of_a_personal_link(run, server, answers, invited):
    answers.write_text("smokes,party\nyes,Red\n")
    code = format_code(bytes(range(15)))
    assert run("submit", f"{server.url}/s/invited#code={code}", str(answers)).exit_code == 0
    [body] = server.accepted.values()
    assert (Submission.from_json(body).invitation, Submission.from_json(body).token is not None) == (None, True)


def test_check_says_which_orders_a_device_draws(run, survey_file):
    survey_file.write_text(FILE.replace("questions:", "order: rotate\nsection_order: random\nquestions:"))
    assert (
        "order    rotate: each device draws the order of the questions in each section\n"
        "order    random: each device draws the order of the sections\n"
    ) in run("check", str(survey_file)).stdout
    description = json.loads(run("check", "--json", str(survey_file)).stdout)
    assert (description["order"], description["section_order"]) == ("rotate", "random")


def test_check_shows_groups_access_layout_and_what_a_language_lacks(run, survey_file):
    texts = "groups: [North, Süd]\naccess: invited\nlayout: steps\ntranslations:\n  de: {title: Eine Wahlstudie}\nquestions:"
    survey_file.write_text(FILE.replace("questions:", texts))
    result = run("check", str(survey_file))
    assert result.exit_code == 0
    release = "close: all together when the survey closes, at least 10 at a time"
    assert f"access   invited\nlayout   steps\nrelease  {release}\ngroups   North, Süd\n" in result.stdout
    assert result.stdout.endswith(
        "note: de has no about; it is shown in en\n"
        "note: de has no questions.vote.text; it is shown in en\n"
        "note: de has no questions.vote.options; it is shown in en\n"
        "note: de has no questions.tvnews.text; it is shown in en\n"
    )
    found = json.loads(run("check", "--json", str(survey_file)).stdout)
    assert (found["groups"], found["access"], found["layout"]) == (["North", "Süd"], "invited", "steps")
    assert "digest   fixed at publication: the server adds its key for invitation codes\n" in result.stdout
    assert (found["digest"], found["words"]) == (None, None)
    assert found["untranslated"][0] == {"language": "de", "where": "about"}
    assert len(found["untranslated"]) == 4


def test_check_warns_of_a_question_that_nobody_can_be_shown(run, survey_file):
    first = "{id: a, text: A, type: yes_no}"
    never = "{all: [{question: a, is: ['yes']}, {question: a, is: ['no']}]}"
    survey_file.write_text(
        f"deniable: 1\nid: s\ntitle: T\nabout: A\nepsilon: 2\nquestions: [{first}, {{id: b, text: B, type: yes_no, show_if: {never}}}]\n"
    )
    result = run("check", str(survey_file))
    assert result.exit_code == 0
    warned = "the question b is never shown: no answers meet its condition, so its share of epsilon is wasted"
    assert f"warning: {warned}\n" in result.stdout
    assert json.loads(run("check", "--json", str(survey_file)).stdout)["warnings"] == [warned]


def test_submit_takes_a_link_whose_digest_is_the_pin(run, server, answers, study):
    assert run("submit", f"{server.url}/s/study#digest={study.digest}", str(answers)).exit_code == 0
    result = run("submit", f"{server.url}/s/study#digest={'0' * 64}", str(answers))
    assert result.exit_code == 1
    assert "must have the pinned digest" in result.stderr
    assert server.counted == 10


@pytest.mark.parametrize("words", [["-"], ["--jsonl", "-"]])
def test_submit_reads_standard_input(run, server, words):
    lines = "".join('{"smokes": true, "party": 1}\n' for _ in range(10)) if len(words) == 2 else "\ufeff" + TABLE
    result = run("submit", f"{server.url}/s/study", *words, "--batch", "4", stdin=lines.encode())
    assert (result.exit_code, server.counted, len(server.posts)) == (0, 10, 3)


def test_submit_with_columns_of_other_names(run, server, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(TABLE.replace("smokes", "q1"))
    assert run("submit", f"{server.url}/s/study", str(path)).exit_code == 1
    assert run("submit", f"{server.url}/s/study", "--column", "smokes=q1", str(path)).exit_code == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--max-epsilon", "2"], "epsilon must be at most 2, got 2.197"),
        (["--max-epsilon", "ln 8"], "epsilon must be at most 2.079"),
        (["--pin", "0" * 64], "must have the pinned digest"),
    ],
)
def test_submit_refuses_above_the_cap_and_other_than_the_pin(run, server, answers, options, told):
    result = run("submit", f"{server.url}/s/study", *options, str(answers))
    assert result.exit_code == 1
    assert told in result.stderr
    assert server.posts == []
    assert run("submit", f"{server.url}/s/study", "--max-epsilon", "ln 9", str(answers)).exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ["submit", "http://127.0.0.1:9", "{file}"],
        ["submit", "nonsense", "--survey", "study", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "/no/such/file"],
        ["submit", "http://127.0.0.1:9/s/study", "--survey", "other", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "--pin", "xyz", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "--max-epsilon", "lots", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "--max-epsilon", "-1", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "--batch", "0", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "--column", "smokes", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study", "--rejects", "{file}.out", "{file}"],
        ["results", "http://127.0.0.1:9/s/study", "--user", "ada", "--password-env", "NO_SUCH_VARIABLE"],
        ["results", "http://127.0.0.1:9/s/study", "--password-env", "PASSWORD"],
        ["submit", "http://127.0.0.1:9/s/study", "--group", "a", "--group-column", "b", "{file}"],
        ["submit", "http://127.0.0.1:9/s/study#code=1", "{file}"],
        ["withdraw", "http://127.0.0.1:9/s/study", "mistyped"],
        ["withdraw", "http://127.0.0.1:9", "mistyped"],
        ["check", "/no/such/file"],
        ["chekc"],
    ],
)
def test_wrong_usage_is_exit_code_2_and_one_clear_message(run, answers, words):
    result = run(*[word.format(file=answers) for word in words])
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ")
    assert "Traceback" not in result.output


def test_wrong_rows_stop_everything_unless_they_are_left_out(run, server, answers, tmp_path):
    answers.write_text(TABLE + "perhaps,Red\nyes,Red,Red\n")
    result = run("submit", f"{server.url}/s/study", str(answers))
    assert result.exit_code == 1
    assert "row 11, smokes: must be one of yes, no\nrow 12: must have 2 cells" in result.stderr
    assert server.posts == []
    rejects = tmp_path / "rejects.csv"
    result = run("submit", f"{server.url}/s/study", "--skip-invalid", "--rejects", str(rejects), str(answers))
    assert result.exit_code == 0
    assert "2 rows were left out:\n  row 11, smokes: must be one of yes, no\n" in result.stdout
    assert list(csv.DictReader(rejects.read_text().splitlines())) == [
        {"row": "11", "question": "smokes", "reason": "must be one of yes, no"},
        {"row": "12", "question": "", "reason": "must have 2 cells, as the header has, got 3"},
    ]
    assert server.counted == 10


@pytest.mark.slow
def test_what_cannot_be_delivered_is_exit_code_3_and_resend_sends_it(run, server, answers, fault, outbox):
    server.faults.extend([fault(status=503)] * 14)
    result = run("submit", f"{server.url}/s/study", str(answers))
    assert result.exit_code == 3
    assert "run the same command again to resume" in result.stderr
    assert run("resend").exit_code == 3
    result = run("resend")
    assert (result.exit_code, result.stdout) == (0, f"{server.url}: 1 submission delivered, 0 rejected by the server.\n")
    assert run("resend").stdout == "Nothing is waiting.\n"
    assert run("submit", f"{server.url}/s/study", str(answers)).stdout.startswith("10 respondents accepted in 1 submission")
    assert server.counted == 10


def test_resend_tells_what_the_server_turned_down(run, server, answers, fault):
    server.faults.append(fault(status=403, body=b'{"detail": "closed"}'))
    assert run("submit", f"{server.url}/s/study", str(answers)).exit_code == 1
    result = run("resend")
    assert result.exit_code == 1
    assert result.stderr == f"  study, 10 respondents: {server.url} answered 403: closed\n"
    assert run("resend", "--refused").exit_code == 0
    assert server.counted == 10


def test_resend_tells_a_wrong_address(run, outbox):
    outbox.touch()
    result = run("resend", "--server", "http://a:b")
    assert result.exit_code == 2
    assert "Invalid value for '--server': url must be the address of a server" in result.stderr


def test_resend_without_an_outbox_makes_none(run, outbox):
    assert run("resend").exit_code == 0
    assert not outbox.exists()


def test_results_come_as_table_csv_or_json(run, server, study, monkeypatch):
    pytest.importorskip("scipy")
    from deniable.estimate import estimate
    from deniable.wire.tally import Tally

    found = estimate(study, Tally.empty(5))
    server.results = found.to_json().encode()
    monkeypatch.setenv("SECRET", "secret")
    words = ["results", f"{server.url}/s/study", "--user", "ada", "--password-env", "SECRET", "--confidence", "0.9"]
    assert json.loads(run(*words, "--json").stdout) == found.to_dict()
    assert run(*words, "--csv").stdout.splitlines() == found.to_csv().splitlines()
    assert run(*words).stdout.splitlines() == run(*words, "--table").stdout.splitlines() == found.to_table().splitlines()
    assert run(*words[:4], stdin="secret\n").exit_code == 0
    assert run(*words[:4], stdin="wrong\n").exit_code == 1
    assert "confidence=0.9&method=feldman-cousins&target=population" in server.seen[0].path
    assert run(*words, "--group", "North", "--by-hand").exit_code == 0
    assert "&group=North&by_hand=1" in server.seen[-1].path
    steering = replace(found, rows=(replace(found.rows[0], option="yes\x1b]0;CANARY\x07"), *found.rows[1:]))
    server.results = steering.to_json().encode()
    shown = [run(*words, form).stdout for form in ("--table", "--csv", "--json")]
    assert ["CANARY" in text and not {"\x1b", "\x07"} & {*text} for text in shown] == [True] * 3


def test_every_command_explains_itself_with_an_example(run):
    for name in cli.COMMANDS:
        text = run(name, "--help").stdout
        assert "Example" in text
        assert f"deniable {name}" in text
    assert "Exit codes" in run("--help").stdout
    assert run("--version").stdout.startswith("deniable, version ")


def test_python_m_deniable_is_the_same_command(survey_file):
    result = subprocess.run(
        [sys.executable, "-m", "deniable", "check", survey_file], capture_output=True, text=True, timeout=60, check=True
    )
    assert "Least protected question: vote" in result.stdout


# --- no true answer, anywhere ----------------------------------------------------------------------------------------

CANARY = "kestrel7"
BIRDS = Survey.from_dict(
    {
        "deniable": 1,
        "id": "birds",
        "title": "T",
        "about": "A",
        "epsilon": 2,
        "questions": [
            {"id": "bird", "text": "Q", "type": "choice", "options": [*map(str, range(9)), CANARY]},
            {"id": "flies", "text": "Q", "type": "yes_no"},
        ],
    }
)
WRONG = {
    "cell": f"bird,flies\n{CANARY},{CANARY}\n",
    "no header": f"{CANARY},{CANARY}\n{CANARY},yes\n",
    "cells": f"bird,flies\n{CANARY},yes,{CANARY}\n",
    "quote": f'bird,flies\n"{CANARY},yes\n',
    "after quote": f'bird,flies\n"yes"{CANARY},yes\n',
    "latin-1": f"bird,flies\n{CANARY}é,yes\n".encode("latin-1"),
    "nul": f"bird,flies\n{CANARY}\0,yes\n",
    "one column": f"{CANARY}\n",
}


def chained(error: BaseException | None) -> str:
    """All that a log could print of an error and of those it came from, suppressed ones too."""
    told = []
    while error is not None:
        told += [str(error), repr(error), repr(error.__dict__), *traceback.format_exception_only(error)]
        error = error.__cause__ or error.__context__
    return "\n".join(told)


@pytest.mark.slow
@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("name", WRONG)
def test_no_answer_is_printed_or_kept_whatever_is_wrong_with_the_file(run, server, tmp_path, outbox, caplog, name, skip):
    server.publish(BIRDS)
    path = tmp_path / "a.csv"
    path.write_bytes(WRONG[name].encode() if isinstance(WRONG[name], str) else WRONG[name])
    rejects = tmp_path / "rejects.csv"
    options = ["--skip-invalid", "--rejects", str(rejects)] if skip else []
    for words, stdin in (([str(path)], None), (["-"], path.read_bytes()), (["--jsonl", "-"], path.read_bytes())):
        result = run("submit", f"{server.url}/s/birds", *options, *words, stdin=stdin)
        assert result.exit_code in ((0, 1) if skip else (1,))
        kept = b"".join(found.read_bytes() for found in tmp_path.iterdir() if found != path)
        assert CANARY not in result.output + result.stderr + caplog.text + chained(result.exception)
        assert CANARY.encode() not in kept


@pytest.mark.parametrize("status", [0, 200, 400, 403, 409, 500])
def test_no_answer_is_printed_or_kept_whatever_the_server_says(server, tmp_path, outbox, no_waiting, caplog, capsys, fault, status):
    server.publish(BIRDS)
    path = tmp_path / "a.csv"
    path.write_text(f"bird,flies\n{CANARY},yes\n" * 3)
    server.always = fault(status=status, body=BIRDS.definition)
    rows = [{"bird": CANARY, "flies": True}] * 3
    with SurveyClient(server.url, outbox=outbox, retries=1, key=server.key) as client:
        client._surveys["birds"] = BIRDS
        for attempt in (
            lambda: client.submit("birds", rows[0]),
            lambda: client.submit("birds", {"bird": f"{CANARY}!", "flies": CANARY, "other": CANARY}),
            lambda: client.submit_many("birds", rows),
            lambda: client.submit_many("birds", rows, job="j"),
            lambda: client.submit_many("birds", path, batch=1),
            lambda: client.submit_many("birds", [{"bird": CANARY, "flies": CANARY}, CANARY]),
        ):
            with pytest.raises(DeniableError) as caught:
                attempt()
            assert CANARY not in chained(caught.value) + caplog.text
        files = b"".join(found.read_bytes() for found in tmp_path.iterdir() if found != path and found.suffix != ".lock")
        assert len(list(tmp_path.glob("outbox.sqlite*"))) >= 2  # the log is there, and was read too
        assert CANARY.encode() not in files
    assert not any(CANARY.encode() in seen.body for seen in server.seen)
    printed = capsys.readouterr()
    assert CANARY not in printed.out + printed.err


def test_the_control_an_encoder_that_quotes_answers_is_noticed(run, server, tmp_path, monkeypatch):

    server.publish(BIRDS)
    from deniable.device import tables

    monkeypatch.setattr(tables, "allowed", lambda question: CANARY)
    path = tmp_path / "a.csv"
    path.write_text(WRONG["cell"])
    assert CANARY in run("submit", f"{server.url}/s/birds", str(path)).output


def test_check_says_that_results_are_public_and_what_respondents_read_of_it(run, survey_file):
    private = run("check", str(survey_file)).stdout
    survey_file.write_text(FILE.replace("epsilon:", "results: public\nepsilon:"))
    public = run("check", str(survey_file)).stdout
    for sentence in ("results  public: a page shows them to everyone", "The results will be public"):
        assert sentence in public
        assert sentence not in private
