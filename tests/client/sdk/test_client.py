"""SurveyClient against a real HTTP server that fails on demand."""

from __future__ import annotations

import ast
import base64
import inspect
import io
import json
import os
import re
import sqlite3
import subprocess
import sys
import traceback
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.kit.issuer import base64url, issued
from tests.kit.killing import kill_again_and_again

import deniable
from deniable.delivery.outbox import Outbox
from deniable.device import perturb as perturb_module
from deniable.device.sources.file import File
from deniable.errors import AnswerError, DeliveryError, DeniableError, MissingExtraError, RefusedError, RejectedError
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey
from deniable.wire.access_codes import format_code, read, submission_id
from deniable.wire.record import unpack
from deniable.wire.submission import Submission

ANSWERS = {"smokes": True, "party": "Red"}
ROWS = [{"smokes": "yes", "party": "Red", "other": 7}, {"smokes": "no", "party": "1", "other": 8}] * 5


@pytest.fixture
def client(server, outbox, no_waiting):
    with SurveyClient(server.url, outbox=outbox, retries=3, key=server.key) as client:
        yield client


# --- one respondent --------------------------------------------------------------------------------------------------


def test_one_respondent_is_randomized_sent_and_acknowledged(client, server, study):
    receipt = client.submit("study", ANSWERS)
    assert (receipt.survey, receipt.digest, receipt.epsilon) == ("study", study.digest, study.epsilon)
    [post] = server.posts
    assert post.path == "/api/v1/surveys/study/submissions"
    assert post.headers["content-type"] == "application/json"
    submission = Submission.from_json(post.body)
    assert (submission.id.hex(), submission.digest, submission.count) == (receipt.submission, study.digest, 1)
    assert client.outbox.waiting(server.url) == 0


def test_a_definition_is_fetched_once(client, server):
    for _ in range(3):
        client.submit("study", ANSWERS)
    assert [seen.method for seen in server.seen] == ["GET", "POST", "POST", "POST"]


def test_all_that_is_wrong_with_the_answers_is_told_at_once_and_nothing_is_sent(client, server):
    with pytest.raises(AnswerError) as caught:
        client.submit("study", {"smokes": "CANARY", "CANARY": "CANARY", 4711: 1})
    assert str(caught.value).splitlines() == [
        "answers must be to questions of survey study, which are smokes, party; got 2 to others",
        "smokes: the answer must be one of yes, no",
        "party: is missing",
    ]
    assert server.posts == []


@pytest.mark.parametrize("drops", [1, 50])
def test_replies_that_get_lost_never_make_a_second_body(server, outbox, fault, no_waiting, drops):
    server.faults.extend([fault(worked=True)] * drops)
    with SurveyClient(server.url, outbox=outbox, retries=60) as client:
        client.submit("study", ANSWERS)
    assert len(server.posts) == drops + 1
    assert len({post.body for post in server.posts}) == 1
    assert server.counted == 1


def test_the_control_a_client_that_randomizes_again_shows_more_than_one_body(server, outbox, fault, no_waiting):
    server.faults.extend([fault(worked=True)] * 20)
    with SurveyClient(server.url, outbox=outbox, retries=0) as client:
        for _ in range(20):
            with pytest.raises(DeliveryError):
                client.submit("study", ANSWERS)
    assert len({post.body for post in server.posts}) == 20
    assert server.counted == 20


def test_what_could_not_be_delivered_waits_and_is_resent_as_it_was(server, outbox, fault, no_waiting):
    server.faults.extend([fault(status=503)] * 4)
    with SurveyClient(server.url, outbox=outbox, retries=3) as client, pytest.raises(DeliveryError) as caught:
        client.submit("study", ANSWERS)
    assert f"kept in {outbox}: send them with client.resend() or `deniable resend`" in str(caught.value)
    with SurveyClient(server.url, outbox=outbox) as later:
        assert later.resend().delivered == 1
        assert later.resend().delivered == 0
    assert len({post.body for post in server.posts}) == 1
    assert server.counted == 1


def test_the_client_that_failed_can_resend_too(client, server, fault):
    server.faults.extend([fault(status=503)] * 4)
    with pytest.raises(DeliveryError):
        client.submit("study", ANSWERS)
    assert client.resend().delivered == 1


def test_the_perturbed_answers_are_stored_before_the_first_attempt(client, server, outbox, monkeypatch):
    stored = []

    def look(path, body, expected, auth):
        with closing(Outbox(outbox)) as other:
            stored.append(other.waiting(server.url))

    monkeypatch.setattr(client._transport, "post", look)
    client.submit("study", ANSWERS)
    assert stored == [1]


def test_a_no_of_the_server_is_told_kept_and_not_asked_again(client, server, fault):
    server.faults.append(fault(status=403, body=b'{"rule": "closed", "detail": "the survey is closed"}'))
    with pytest.raises(RejectedError, match="403: the survey is closed") as caught:
        client.submit("study", ANSWERS)
    assert caught.value.status == 403
    assert len(server.posts) == 1
    result = client.resend()
    assert (result.delivered, [kept.reason.split(": ")[-1] for kept in result.refused]) == (0, ["the survey is closed"])
    assert len(server.posts) == 1
    assert client.resend(refused=True).delivered == 1
    assert len({post.body for post in server.posts}) == 1


def test_an_interrupt_while_sending_keeps_the_bytes_for_a_resend(client, server, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(client._transport, "post", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            client.submit("study", ANSWERS)
    assert client.resend().delivered == 1


def test_what_is_counted_and_cannot_be_taken_out_of_the_outbox_is_no_failure_and_counts_once(client, server, outbox, monkeypatch):
    """A disk may be full by then. Who was told of a failure would have the same answers randomized again."""
    with monkeypatch.context() as patch:
        patch.setattr(Outbox, "remove", lambda self, _: (_ for _ in ()).throw(self._unusable(OSError("disk full"))))
        receipt = client.submit("study", ANSWERS)
    client.close()
    with SurveyClient(server.url, outbox=outbox) as later:
        assert later.resend().delivered == 1
    assert ([*server.accepted], server.counted, len({post.body for post in server.posts})) == ([receipt.submission], 1, 1)


@pytest.mark.real_coins
def test_without_secure_randomness_nothing_is_sent(client, server, monkeypatch):
    def none(count):
        raise NotImplementedError

    monkeypatch.setattr("os.urandom", none)
    with pytest.raises(RefusedError, match="no secure random numbers; nothing was sent"):
        client.submit("study", ANSWERS)
    assert server.posts == []


def test_an_outbox_in_memory_works_and_says_how_long_it_keeps(server, fault, no_waiting):
    with SurveyClient(server.url, outbox=":memory:", retries=0) as client:
        server.faults.append(fault(status=500))
        with pytest.raises(DeliveryError, match="kept in memory only"):
            client.submit("study", ANSWERS)
        assert client.resend().delivered == 1


# --- refusals: nothing is sent ---------------------------------------------------------------------------------------


def refused(server, outbox, **options) -> str:
    with SurveyClient(server.url, outbox=outbox, **options) as client:
        with pytest.raises(RefusedError) as caught:
            client.submit("study", ANSWERS)
        with pytest.raises(RefusedError):
            client.submit_many("study", ROWS)
    assert server.posts == []
    assert not outbox.exists()
    return str(caught.value)


@pytest.mark.slow
def test_the_right_pin_and_cap_are_no_obstacle(server, outbox, study):
    for pin in (study.digest, {"study": study.digest}, None):
        for cap in (study.epsilon, "ln 9", 2.2, 8):
            with SurveyClient(server.url, outbox=outbox, pin=pin, max_epsilon=cap) as client:
                client.submit("study", ANSWERS)
    assert len(server.posts) == 12


def test_another_digest_than_the_pin_is_refused(server, outbox, study):
    assert "must have the pinned digest" in refused(server, outbox, pin="0" * 64)
    assert "must have the pinned digest" in refused(server, outbox, pin={"study": "0" * 64})
    assert "got none for this one" in refused(server, outbox, pin={"other": study.digest})


def test_an_epsilon_just_above_the_cap_is_refused(server, outbox, study):
    assert "epsilon must be at most" in refused(server, outbox, max_epsilon=study.epsilon * (1 - 2e-12))
    assert "epsilon must be at most" in refused(server, outbox, max_epsilon="ln 8.99999999")


def test_another_survey_than_the_one_asked_for_is_refused(server, outbox, study):
    server.definitions["study"] = Survey.from_dict({**study.to_dict(), "id": "other"}).definition
    assert refused(server, outbox) == "survey study: the definition must be that survey's, got survey other"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"keep_threshold":3221225472', b'"keep_threshold":3221225473'),
        (b'"keep_threshold":3221225472', b'"keep_threshold":4294967295'),
        (b'"d":1', b'"d":2'),
        (b'"k":2', b'"k":3'),
        (b'"type":"yes_no"', b'"type":"essay"'),
        (b'"categories":["yes","no"]', b'"categories":["no","yes"]'),
        (b'"title"', b'"tittle"'),
    ],
)
def test_a_definition_that_is_not_what_it_declares_is_refused(server, outbox, study, before, after):
    assert before in study.definition
    server.definitions["study"] = study.definition.replace(before, after, 1)
    refused(server, outbox)


@pytest.mark.parametrize("name", ["../study", "study?x=1", "Study", "", "a/b"])
def test_a_name_that_is_no_survey_id_is_not_even_asked_for(client, server, name):
    with pytest.raises(RefusedError, match="survey id must be"):
        client.survey(name)
    assert server.seen == []


def test_a_survey_that_is_not_there_is_told(client):
    with pytest.raises(RejectedError, match="404: no such survey"):
        client.survey("none")


@pytest.mark.parametrize("options", [{"pin": "abc"}, {"pin": {"s": "G" * 64}}, {"max_epsilon": 0}, {"max_epsilon": "many"}])
def test_a_wrong_option_is_a_value_error(server, options):
    with pytest.raises(ValueError, match="must be"):
        SurveyClient(server.url, **options)


@pytest.mark.parametrize(
    "url",
    [
        "example.org",
        "ftp://example.org",
        "https://",
        "https://a?b=c",
        "https://a#b",
        "http://a:b",
        "http://a:0",
        "http://[::1",
        5,
        None,
        b"https://a",
    ],
)
def test_a_wrong_address_is_a_value_error(url):
    with pytest.raises(ValueError, match="url must be the address of a server"):
        SurveyClient(url)


@pytest.fixture
def high(server):
    """A survey of nine in all, which its file accepts."""
    survey = Survey.from_text(
        "{deniable: 1, id: high, title: T, about: A, epsilon: 9, accept_high_epsilon: true, questions: [{id: a, text: A, type: yes_no}]}"
    )
    server.publish(survey)
    return survey


def test_a_survey_above_eight_is_refused_unless_this_client_is_told_to_accept_it(server, outbox, high):
    with SurveyClient(server.url, outbox=outbox) as client, pytest.raises(RefusedError) as caught:
        client.submit("high", {"a": "yes"})
    assert "epsilon must be at most 8, got 8.99" in str(caught.value)
    assert "raise the cap: SurveyClient(max_epsilon=…), or --max-epsilon" in str(caught.value)
    assert server.posts == []
    for cap in (high.epsilon, 9, "ln 9000", "inf"):
        with SurveyClient(server.url, outbox=outbox, max_epsilon=cap) as client:
            assert client.submit("high", {"a": "yes"}).epsilon == high.epsilon
    assert len(server.posts) == 4


def test_a_definition_above_eight_that_does_not_say_so_is_refused_whatever_the_cap(server, outbox, high):
    server.definitions["high"] = high.definition.replace(b'"accept_high_epsilon":true,', b"")
    with SurveyClient(server.url, outbox=outbox, max_epsilon="inf") as client, pytest.raises(RefusedError, match="at most 8 in total"):
        client.submit("high", {"a": "yes"})
    assert server.posts == []


def test_a_definition_longer_than_any_is_not_read_to_its_end(server, client):
    server.definitions["study"] = b" " * (2 << 20)
    with pytest.raises(RejectedError, match="answered with more than 1,048,576 bytes"):
        client.submit("study", ANSWERS)


# --- pins and passwords ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_receipt_and_a_report_say_whether_the_definition_was_pinned(server, outbox, study):
    link = f"{server.url}/s/study"
    options = {"outbox": outbox, "key": server.key}
    clients = {
        SurveyClient(server.url, **options): False,
        SurveyClient.from_link(link, **options): False,
        SurveyClient.from_link(f"{link}#group=x", **options): False,
        SurveyClient(server.url, pin=study.digest, **options): True,
        SurveyClient(server.url, pin={"study": study.digest}, **options): True,
        SurveyClient.from_link(f"{link}#digest={study.digest}", **options): True,
        SurveyClient.from_link(link, pin=study.digest, **options): True,
    }
    for client, pinned in clients.items():
        with client:
            client.group = None
            assert client.submit("study", ANSWERS).pinned is pinned
            assert client.submit_many("study", ROWS).pinned is pinned


ELSEWHERE = ("example.org", "192.0.2.7:8000", "127.0.0.1.example.org", "localhost.example.org", "[2001:db8::1]", "0x7f.1")
HERE = ("127.0.0.1:8000", "127.9.9.9", "localhost", "LOCALHOST:1", "[::1]:80")


@pytest.mark.parametrize("url", [f"http://{host}" for host in ELSEWHERE])
def test_a_password_over_plain_http_to_another_machine_is_refused(url):
    with pytest.raises(ValueError, match="url must begin with https:// where a password is sent to another machine, got http://"):
        SurveyClient(url, auth=("ada", "CANARY"))
    with pytest.raises(ValueError, match="https://"):
        SurveyClient.from_link(f"{url}/s/study", auth=("ada", "CANARY"))
    SurveyClient(url).close()  # answers may travel: they are perturbed


@pytest.mark.parametrize("url", [*(f"http://{host}" for host in HERE), *(f"https://{host}" for host in ELSEWHERE)])
def test_a_password_may_travel_encrypted_or_inside_this_machine(url):
    SurveyClient(url, auth=("ada", "secret")).close()


@pytest.mark.parametrize("make", [SurveyClient, lambda url: SurveyClient.from_link(f"{url}/s/study")])
@pytest.mark.parametrize("scheme", ["https", "http", "ftp"])
def test_a_password_inside_an_address_is_refused_and_not_repeated(make, scheme):
    """It would be sent along with each submission, and tie it to a researcher."""
    with pytest.raises(ValueError, match="must have no name or password in it") as caught:
        make(f"{scheme}://ada:CANARY@example.org")
    assert "CANARY" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["https://ada:se#CANARY@a", "https://ada:CANARY?se@a", "https://ada:CANARY@a:b", "ada:CANARY@a", "https://[ada:CANARY@a"]
)
def test_a_password_inside_what_is_no_address_is_not_repeated_either(url):
    for make in (SurveyClient, SurveyClient.from_link):
        with pytest.raises(ValueError, match=r"url|link") as caught:
            make(url)
        assert "CANARY" not in str(caught.value)


def test_a_link_gives_server_survey_and_pin(server, study, outbox):
    link = f"{server.url}/s/study#digest={study.digest}"
    with SurveyClient.from_link(link, outbox=outbox) as client:
        assert client.survey_id == "study"
        client.submit("study", ANSWERS)
    with SurveyClient.from_link(link.replace(study.digest, "0" * 64), outbox=outbox) as client, pytest.raises(RefusedError):
        client.submit("study", ANSWERS)


def test_a_link_does_not_override_another_pin(study):
    with pytest.raises(ValueError, match="pin must be the digest that the link carries"):
        SurveyClient.from_link(f"https://a/s/study#digest={study.digest}", pin="0" * 64)


def test_the_password_goes_to_the_results_only(server, outbox, no_waiting):
    with SurveyClient(server.url, outbox=outbox, auth=("ada", "secret")) as client:
        client.submit("study", ANSWERS)
        client.submit_many("study", ROWS[:2], batch=1)
        with pytest.raises(DeliveryError, match="than results"):
            client.results("study")
    assert [seen.headers.get("authorization") for seen in server.seen] == [None] * 4 + ["Basic YWRhOnNlY3JldA=="]


# --- keys ------------------------------------------------------------------------------------------------------------


def test_the_key_goes_with_rows_of_an_organisation_and_with_results_and_with_nothing_else(server, outbox, no_waiting):
    with SurveyClient(server.url, outbox=outbox, key=server.key) as client:
        receipt = client.submit("study", ANSWERS)
        client.submit_many("study", ROWS, batch=9)  # nine records, and one
        client.withdraw("study", receipt.code)
        with pytest.raises(DeliveryError, match="than results"):
            client.results("study")
    bearer = f"Bearer {server.key}"
    assert [seen.headers.get("authorization") for seen in server.seen] == [None, None, bearer, bearer, None, bearer]
    assert [json.loads(post.body).get("count") for post in server.posts] == [1, 9, 1, None]


@pytest.mark.parametrize("rows", [lambda: ROWS, lambda: iter(ROWS), lambda: ROWS[:2]])
@pytest.mark.parametrize("job", [None, "j"])
def test_many_rows_without_a_key_are_refused_before_anything_is_randomized(server, outbox, monkeypatch, rows, job):
    monkeypatch.setattr("deniable.device.perturb.perturb", lambda *_: pytest.fail("it was randomized"))
    with SurveyClient(server.url, outbox=outbox) as client, pytest.raises(RefusedError, match="`deniable-server key make --scope submit"):
        client.submit_many("study", rows(), job=job)
    assert server.posts == []


@pytest.mark.slow
def test_without_a_key_each_row_is_sent_by_itself_where_that_is_asked_for(server, outbox, no_waiting):
    with SurveyClient(server.url, outbox=outbox) as client:
        assert client.submit_many("study", ROWS, batch=1).accepted == 10
        assert client.submit_many("study", ROWS[:1]).accepted == 1  # one row needs no key
    assert [json.loads(post.body)["count"] for post in server.posts] == [1] * 11


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("again", ["resend", "the same call"])
def test_what_is_refused_for_want_of_a_key_is_sent_later_with_one_and_never_randomized_twice(server, outbox, fault, status, again):
    revoked = f"dk_{'r' * 43}"
    with SurveyClient(server.url, outbox=outbox, key=revoked) as client:
        server.faults.append(fault(status=status, body=b'{"detail": "the key is revoked"}'))
        with pytest.raises(RejectedError, match=f"{status}: the key is revoked"):
            client.submit_many("study", ROWS, job="j")
    assert server.counted == 0
    with SurveyClient(server.url, outbox=outbox, key=server.key) as client:
        if again == "resend":
            assert client.resend().delivered == 0  # what was turned down waits to be asked for
            assert client.resend(refused=True).delivered == 1
        assert client.submit_many("study", ROWS, job="j").accepted == 10
    assert server.counted == 10
    assert len({post.body for post in server.posts}) == 1


@pytest.mark.parametrize(
    "wrong", ["", "dk_", "dk_" + "k" * 42, "dk_" + "k" * 44, "dk_" + "k" * 42 + "\n", "sk_" + "k" * 43, "dk_" + "ä" * 43]
)
def test_what_is_no_key_is_refused_without_being_quoted(server, wrong):
    with pytest.raises(ValueError, match="key must be an API key from") as caught:
        SurveyClient(server.url, key=wrong)
    assert "k" * 10 not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://survey.example.org", {}),
        ("no address", {}),
        ("https://survey.example.org", {"max_epsilon": "much"}),
        ("https://survey.example.org", {"end": "\n"}),
        ("https://survey.example.org", {"retries": -1}),
    ],
)
@pytest.mark.parametrize("make", [SurveyClient, lambda url, **options: SurveyClient.from_link(f"{url}/s/study", **options)])
def test_a_client_that_is_refused_shows_no_key_and_no_password(make, url, options):
    """A key out of a file ends with a line break, and an address is soon mistyped: the frames of that error had both."""
    options = {"end": "", **options}
    secret, end = "dk_" + "k" * 43, options.pop("end")
    with pytest.raises(ValueError, match="must ") as caught:
        make(url, key=secret + end, auth=("ada", "b377er"), **options)
    shown = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [str(frame.locals) for frame in shown.stack if frame.filename != __file__]
    assert len(ours) >= 1
    assert not [told for told in (*ours, str(shown)) if "k" * 10 in told or "b377er" in told]


def test_a_key_shows_itself_in_no_traceback_log_or_outbox(server, outbox, fault, no_waiting, caplog):
    caplog.set_level("DEBUG")
    server.faults.extend([fault(status=401), fault(status=500), fault(status=500), fault(status=0), fault(status=0)])
    with SurveyClient(server.url, outbox=outbox, key=server.key, retries=1) as client:
        for _ in range(3):
            with pytest.raises(DeniableError) as caught:
                client.submit_many("study", ROWS)
            shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
            own = [line for line in shown.splitlines() if "server.key" not in line and "server = " not in line]
            assert server.key not in "\n".join(own) + caplog.text + repr(client) + str(vars(client))
    assert not any(server.key.encode() in file.read_bytes() for file in outbox.parent.glob("outbox*"))


@pytest.mark.parametrize("reply", [b"<html>", b"[]", b"{}", b"null", b"[" * 100_000, b'{"n": 1e400}', b'{"n": NaN}', b"9" * 5_000])
def test_a_reply_that_is_no_results_is_told(server, outbox, reply):
    server.results = reply
    with (
        SurveyClient(server.url, outbox=outbox, auth=("ada", "secret")) as client,
        pytest.raises(DeliveryError, match="than results"),
    ):
        client.results("study")


def test_results_without_their_extra_say_what_to_install(client, monkeypatch):
    monkeypatch.delitem(sys.modules, "deniable.estimate", raising=False)
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=r"needs the extra estimate: pip install"):
        client.results("study")


def test_a_wrong_password_is_told(server, outbox):
    with (
        SurveyClient(server.url, outbox=outbox, auth=("ada", "guess")) as client,
        pytest.raises(RejectedError, match="401: name or password"),
    ):
        client.results("study")


@pytest.mark.slow
def test_no_public_name_takes_a_seed_and_only_one_file_of_the_client_draws_words():
    public = [value for name, value in inspect.getmembers(SurveyClient) if not name.startswith("_") and callable(value)]
    for function in (SurveyClient, *public):
        assert not {"seed", "rng", "random_state", "words"} & set(inspect.signature(function).parameters)
    package = Path(deniable.__file__).parent
    users = {
        path.name
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id in ("os_words", "keyed_words") and isinstance(node.ctx, ast.Load)
    }
    assert users == {"entropy.py", "perturb.py", "simulate.py"}


# --- groups, invitations, withdrawal ------------------------------------------------------------------------------------


CODE = format_code(bytes(range(15)))
GROUPS = ("North", "South & East", "7")


@pytest.fixture
def clinics(server, study):
    survey = Survey.from_dict({**study.to_dict(), "id": "clinics", "groups": list(GROUPS)})
    server.publish(survey)
    return survey


@pytest.fixture
def invited(server, study):
    survey = issued(Survey.from_dict({**study.to_dict(), "id": "invited", "access": "invited"}))
    server.publish(survey)
    return survey


def last(server) -> Submission:
    return Submission.from_json(server.posts[-1].body)


def test_a_group_and_an_invitation_travel_openly_with_the_record(client, server, clinics, invited):
    client.submit("clinics", ANSWERS, group="South & East")
    assert last(server).group == "South & East"
    client.submit("invited", ANSWERS, invitation=CODE.lower().replace("-", " "))
    assert (last(server).group, last(server).invitation, last(server).mode) == (None, None, "device")
    assert json.loads(server.posts[-2].body)["code"] == base64url(bytes(range(15)))
    assert last(server).token


def test_a_wrong_group_or_invitation_is_listed_with_the_rest_and_not_quoted(client, server, clinics, invited):
    with pytest.raises(AnswerError) as caught:
        client.submit("clinics", {"smokes": "CANARY", "party": "Red"}, group="CANARY", invitation="CANARY")
    assert str(caught.value).splitlines() == [
        "smokes: the answer must be one of yes, no",
        "group: must be one of North, South & East, 7",
        "invitation: must be left out: survey clinics is open to all",
    ]
    for survey, options, rule in (
        ("clinics", {}, "group: is missing; it must be one of North, South & East, 7"),
        ("study", {"group": "North"}, "group: must be left out: survey study has no groups"),
        ("invited", {}, "invitation: is missing: survey invited needs a code from each respondent"),
        ("invited", {"invitation": CODE[:-1] + "?"}, "invitation: the code must be 28 letters and digits"),
    ):
        for send in (
            lambda s=survey, o=options: client.submit(s, ANSWERS, **o),
            lambda s=survey, o=options: client.submit_many(s, ROWS, **o),
        ):
            with pytest.raises(AnswerError, match=re.escape(rule)):
                send()
    assert server.posts == []


def test_the_group_and_the_code_of_a_link_are_those_of_its_survey_only(server, outbox, clinics, invited):
    link = f"{server.url}/s/clinics#group=South%20%26%20East&digest={clinics.digest}"
    with SurveyClient.from_link(link, outbox=outbox, key=server.key) as client:
        client.submit("clinics", ANSWERS)
        assert last(server).group == "South & East"
        client.submit_many("clinics", ROWS)
        assert last(server).group == "South & East"
        client.submit("clinics", ANSWERS, group="7")
        assert last(server).group == "7"
    with SurveyClient.from_link(f"{server.url}/s/invited#code={CODE}", outbox=outbox) as client:
        client.submit("invited", ANSWERS)
        assert last(server).token
        client.submit("study", ANSWERS)
        assert last(server).token is None


def test_a_receipt_has_the_code_that_withdraws_and_nothing_keeps_it(client, server, outbox):
    receipt = client.submit("study", ANSWERS)
    assert submission_id(read(receipt.code)).hex() == receipt.submission
    assert server.counted == 1
    for path in outbox.parent.glob("outbox*"):
        assert read(receipt.code) not in path.read_bytes()
        assert receipt.code.encode() not in path.read_bytes()
    client.withdraw("study", receipt.code.lower())
    assert server.posts[-1].path == "/api/v1/surveys/study/withdrawals"
    assert json.loads(server.posts[-1].body) == {"code": base64.urlsafe_b64encode(read(receipt.code)).decode()}
    assert server.counted == 0
    client.withdraw("study", receipt.code)  # again: the server does not tell


@pytest.mark.slow
def test_no_two_codes_are_the_same(client):
    assert len({client.submit("study", ANSWERS).code for _ in range(20)}) == 20


@pytest.mark.parametrize("mistyped", [CODE[:-1] + ("0" if CODE[-1] != "0" else "1"), "", None, 5, b"CANARY"])
def test_a_mistyped_code_is_told_before_anything_is_sent(client, server, mistyped):
    with pytest.raises(ValueError, match="something in it was mistyped"):
        client.withdraw("study", mistyped)
    assert server.seen == []


def test_what_waits_here_is_withdrawn_here_too(client, server, fault, monkeypatch):
    secrets_made = []
    monkeypatch.setattr(perturb_module.secrets, "token_bytes", lambda n: secrets_made.append(os.urandom(n)) or secrets_made[-1])
    server.faults.extend([fault(status=503)] * 4)
    with pytest.raises(DeliveryError):
        client.submit("study", ANSWERS)
    client.withdraw("study", format_code(secrets_made[0]))
    assert client.resend().delivered == 0
    assert server.counted == 0


def test_what_is_withdrawn_while_the_outbox_is_sent_is_left_out_and_the_rest_is_sent(client, server, monkeypatch):
    session, send = client.survey("study"), client._delivery.send
    last, *others = sorted((session.perturb(ANSWERS) for _ in range(3)), key=lambda unsent: unsent.submission.id)

    def withdrawn_meanwhile(survey, submission):
        client.outbox.remove(last.submission.id)  # as another process does
        send(survey, submission)

    monkeypatch.setattr(client._delivery, "send", withdrawn_meanwhile)
    assert client.resend().delivered == 2
    assert {*server.accepted} == {unsent.submission.id.hex() for unsent in others}


def test_withdrawing_where_nothing_waits_makes_no_outbox(server, outbox):
    with SurveyClient(server.url, outbox=outbox) as client:
        client.withdraw("study", CODE)
    assert not outbox.exists()


def test_all_rows_of_a_call_can_be_of_one_group(client, server, clinics):
    report = client.submit_many("clinics", ROWS, group="7", batch=4)
    assert (report.accepted, report.submissions, report.code) == (10, 3, None)
    assert {Submission.from_json(post.body).group for post in server.posts} == {"7"}


CLINICS = [{"smokes": "yes", "party": "Red", "clinic": clinic} for clinic in ("North", 7, " South & East ", "7", "North")]


@pytest.mark.slow
def test_each_row_goes_with_its_own_group_in_a_submission_of_that_group(client, server, clinics, tmp_path):
    frame = pd.DataFrame(CLINICS)
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, CLINICS)))
    for source in (CLINICS, iter(CLINICS), frame, tmp_path / "a.csv", tmp_path / "a.jsonl"):
        server.accepted.clear()
        report = client.submit_many("clinics", source, group_column="clinic")
        assert (report.accepted, report.submissions) == (5, 3)
        found = [Submission.from_json(body) for body in server.accepted.values()]
        assert {submission.group: submission.count for submission in found} == {"North": 2, "7": 2, "South & East": 1}


def test_a_row_of_an_unknown_group_is_a_wrong_row(client, server, clinics):
    rows = [*CLINICS, {"smokes": "CANARY", "party": "Red", "clinic": "CANARY"}, {"smokes": "yes", "party": "Red"}, "CANARY"]
    with pytest.raises(AnswerError) as caught:
        client.submit_many("clinics", rows, group_column="clinic")
    assert str(caught.value).splitlines()[1:] == [
        "row 6, smokes: must be one of yes, no",
        "row 6, clinic: must be one of North, South & East, 7",
        "row 7, clinic: must be one of North, South & East, 7",
        "row 8: must be a mapping from question to answer",
    ]
    assert server.posts == []
    report = client.submit_many("clinics", rows, group_column="clinic", on_invalid="skip")
    assert (report.accepted, server.counted, len(report.rejected)) == (5, 5, 4)


def test_an_answer_never_becomes_a_group(client, server, study):
    """A group travels in the open: the column of a question must not name it."""
    server.publish(Survey.from_dict({**study.to_dict(), "id": "trap", "groups": ["Red", "Green"]}))
    for column, columns in (("party", {}), ("P", {"party": "P"}), ("party", {"party": "P"})):
        rows = [{"smokes": "yes", "party": "Red", "P": "Red"}] * 3
        with pytest.raises(AnswerError, match="group_column must be a column of its own, got the column of question"):
            client.submit_many("trap", rows, group_column=column, columns=columns)
    assert server.posts == []


def test_a_group_and_a_column_of_groups_exclude_each_other(client, clinics):
    with pytest.raises(ValueError, match="name either group, the label of all rows, or group_column"):
        client.submit_many("clinics", ROWS, group="7", group_column="clinic")
    with pytest.raises(AnswerError, match="group_column: must be left out: survey study has no groups"):
        client.submit_many("study", ROWS, group_column="clinic")


def test_an_invitation_is_for_one_row(client, server, invited):
    for rows in (ROWS, iter(ROWS)):
        with pytest.raises(AnswerError, match="an invitation is for one respondent"):
            client.submit_many("invited", rows, invitation=CODE, batch=1)
    assert server.posts == []
    report = client.submit_many("invited", iter(ROWS[:1]), invitation=CODE)
    assert (report.accepted, server.posts[-2].path, last(server).invitation) == (1, "/api/v1/surveys/invited/tokens", None)
    client.withdraw("invited", report.code)
    assert server.counted == 0


def test_a_job_goes_on_with_its_own_group_only(client, server, clinics, csv_file):
    client.submit_many("clinics", csv_file, group="7")
    for other in ({"group": "North"}, {"group_column": "other"}):
        with pytest.raises(RefusedError, match="it began with group 7, and now has group"):
            client.submit_many("clinics", csv_file, **other)
    assert client.submit_many("clinics", csv_file, group="7").accepted == 10
    assert server.counted == 10


def test_a_file_with_two_people_a_row_is_not_taken_for_sent_when_the_second_comes(client, server, study, tmp_path):
    """Their rows would be left out and counted as accepted."""
    path = tmp_path / "pairs.csv"
    path.write_text("hers,his,party\n" + "yes,no,Red\n" * 4)
    hers, his = {"smokes": "hers"}, {"smokes": "his"}
    assert client.submit_many("study", path, columns=hers).accepted == 4
    with pytest.raises(RefusedError, match="it began with columns smokes from hers, and now has columns smokes from his"):
        client.submit_many("study", path, columns=his)
    assert client.submit_many("study", path, columns={**hers, "party": "party"}).resumed == 4
    assert client.submit_many("study", path, columns=his, job="his").accepted == 4
    assert server.counted == 8


@pytest.mark.parametrize("mistake", [{"columns": {"smokes": "CANARY"}}, {"row_key": "CANARY"}])
def test_what_is_given_as_a_column_is_written_nowhere_before_the_columns_are_read(client, server, csv_file, outbox, mistake):
    """Else answers given as columns by mistake would stay on the disk."""
    with pytest.raises(AnswerError, match="must have a column for each question"):
        client.submit_many("study", csv_file, **mistake)
    assert [path.name for path in outbox.parent.iterdir() if b"CANARY" in path.read_bytes()] == []
    assert client.submit_many("study", csv_file).accepted == 10
    pd.DataFrame(ROWS).rename(columns={"smokes": "CANARY"}).to_csv(csv_file.with_name("b.csv"), index=False)
    assert client.submit_many("study", csv_file.with_name("b.csv"), columns={"smokes": "CANARY"}).accepted == 10
    assert b"columns smokes from CANARY" in b"".join(path.read_bytes() for path in outbox.parent.glob(f"{outbox.name}*"))


def test_a_second_sheet_is_not_taken_for_sent(client, server, study, tmp_path):
    path = tmp_path / "regions.xlsx"
    with pd.ExcelWriter(path) as book:
        for sheet, n in (("North", 3), ("South", 5)):
            pd.DataFrame({"smokes": ["yes"] * n, "party": ["Red"] * n}).to_excel(book, sheet_name=sheet, index=False)
    assert client.submit_many("study", File(path, sheet="North")).accepted == 3
    with pytest.raises(RefusedError, match=r"sheet North, and now has sheet South\. Choose another job name"):
        client.submit_many("study", File(path, sheet="South"))
    assert client.submit_many("study", File(path, sheet="South"), job="South").accepted == server.counted - 3 == 5


def test_a_job_whose_invitation_was_turned_down_offers_the_same_bytes_with_the_next_one(client, server, invited, fault):
    server.faults.append(fault(status=403, body=b'{"rule": "invitation", "detail": "not known, or used"}'))
    with pytest.raises(RejectedError):
        client.submit_many("invited", ROWS[:1], invitation=CODE, job="j")
    assert client.submit_many("invited", ROWS[:1], invitation=format_code(bytes(15)), job="j").accepted == 1
    assert [post.path.rpartition("/")[2] for post in server.posts] == ["tokens", "tokens", "submissions"]
    first, second = (json.loads(post.body) for post in server.posts[:2])
    assert (first["code"], second["code"]) == (base64url(bytes(range(15))), base64url(bytes(15)))


def test_what_fails_among_the_groups_of_a_batch_leaves_the_others_waiting(client, server, clinics, fault):
    server.faults.extend([fault(status=200, worked=True, body=b'{"accepted": 2}'), *[fault(status=503)] * 4])
    with pytest.raises(DeliveryError, match="rows 1 to 5 are randomized and in the outbox"):
        client.submit_many("clinics", CLINICS, group_column="clinic", job="j")
    assert (server.counted, client.outbox.waiting(server.url)) == (2, 2)
    assert client.submit_many("clinics", CLINICS, group_column="clinic", job="j").accepted == 5
    assert server.counted == 5


def test_results_are_asked_for_the_group_or_by_hand(server, outbox):
    server.results = b"{}"
    with SurveyClient(server.url, outbox=outbox, auth=("ada", "secret")) as client:
        for options, query in (({"group": "South & East"}, "&group=South+%26+East"), ({"by_hand": True}, "&by_hand=1"), ({}, "population")):
            with pytest.raises(DeliveryError):
                client.results("study", **options)
            assert server.seen[-1].path.replace("%20", "+").endswith(query)


# --- many respondents ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_rows_come_as_mappings_a_csv_file_json_lines_or_a_frame(client, server, tmp_path):
    frame = pd.DataFrame(ROWS)
    frame.to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    stream = io.StringIO((tmp_path / "a.csv").read_text())
    for source in (ROWS, iter(ROWS), frame, frame.astype(object), tmp_path / "a.csv", str(tmp_path / "a.jsonl"), stream):
        before = server.counted
        report = client.submit_many("study", source, batch=4)
        assert (report.accepted, report.submissions, report.resumed, report.rejected) == (10, 3, 0, ())
        assert server.counted - before == 10


def test_every_answer_reaches_its_own_question_and_category(server, client):
    """At epsilon 10 a coin lies once in 22,000: of 300 rows almost all arrive as they are, the order apart."""
    survey = Survey.from_text(
        "{deniable: 1, id: loud, title: T, about: A, accept_high_epsilon: true, questions: ["
        "{id: a, text: A, type: yes_no, epsilon: 10}, {id: b, text: B, type: choice, options: [x, y, z], epsilon: 10}]}"
    )
    server.publish(survey)
    client.max_epsilon = 20
    rows = [{"A": "yes", "B": "z"}] * 100 + [{"A": "no", "B": "x"}] * 200
    for source in (rows, pd.DataFrame(rows)):
        client.submit_many("loud", source, columns={"a": "A", "b": "B"})
        submission = Submission.from_json(server.posts[-1].body)
        bits = Counter(map(tuple, unpack(survey, submission.reports, 300).astype(int).tolist()))
        assert bits[1, 0, 0] >= 95  # yes; z, the implied one
        assert bits[0, 1, 0] >= 195  # no; x


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_order_inside_a_submission_says_nothing(server, client, monkeypatch, shuffled):
    questions = "questions: [{id: a, text: A, type: yes_no}]"
    survey = Survey.from_text(f"{{deniable: 1, id: loud, title: T, about: A, epsilon: 10, accept_high_epsilon: true, {questions}}}")
    server.publish(survey)
    client.max_epsilon = 10
    if not shuffled:  # the control
        monkeypatch.setattr(perturb_module, "permutation", lambda n, words: np.arange(n))
    client.submit_many("loud", [{"a": i < 500} for i in range(1000)])
    submission = Submission.from_json(server.posts[-1].body)
    early = unpack(survey, submission.reports, 1000)[:500].sum()
    assert (150 < early < 350) == shuffled  # 250 with a standard deviation of 8


def test_wrong_rows_are_listed_without_their_answers_and_nothing_is_sent(client, server):
    rows = [*ROWS, {"smokes": "CANARY", "party": "CANARY"}, {"party": "Red"}, "CANARY"]
    with pytest.raises(AnswerError) as caught:
        client.submit_many("study", rows, batch=4)
    assert str(caught.value).splitlines() == [
        "3 rows have answers that cannot be sent; nothing was sent",
        "row 11, smokes: must be one of yes, no",
        "row 11, party: must be one of Red, Green, Blue, 1, 2",
        "row 12, smokes: is missing",
        "row 13: must be a mapping from question to answer",
    ]
    assert server.posts == []


def test_of_many_wrong_rows_the_first_twenty_reasons_are_shown(client):
    with pytest.raises(AnswerError) as caught:
        client.submit_many("study", [{"smokes": "?", "party": "Red"}] * 50)
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[0].split(";")[0], lines[-1]) == (22, "50 rows have answers that cannot be sent", "… and 30 more")


def test_a_stream_is_checked_batch_by_batch(client, server):
    rows = [*ROWS[:4], {}, *ROWS[:4]]
    with pytest.raises(AnswerError, match="4 rows before them are processed, and nothing of these was sent"):
        client.submit_many("study", iter(rows), batch=4)
    assert server.counted == 4


def test_wrong_rows_can_be_left_out_and_are_reported(client, server):
    report = client.submit_many("study", [{}, *ROWS, {"smokes": "?", "party": "Red"}], batch=6, on_invalid="skip")
    assert (report.accepted, server.counted) == (10, 10)
    assert [tuple(found) for found in report.rejected] == [
        (1, "smokes", "is missing"),
        (1, "party", "is missing"),
        (12, "smokes", "must be one of yes, no"),
    ]


def test_a_batch_of_wrong_rows_only_sends_nothing(client, server):
    report = client.submit_many("study", [{}] * 5, batch=5, on_invalid="skip", job="j")
    assert (report.accepted, report.submissions, len(report.rejected)) == (0, 0, 10)
    assert server.posts == []


def test_no_rows_are_no_submission(client, server):
    assert client.submit_many("study", []).accepted == 0
    assert server.posts == []


@pytest.mark.parametrize("options", [{"batch": 0}, {"batch": 100_001}, {"on_invalid": "ignore"}])
def test_a_wrong_option_of_a_bulk_is_a_value_error(client, options):
    with pytest.raises(ValueError, match="must be"):
        client.submit_many("study", ROWS, **options)


def test_the_columns_must_name_questions(client):
    with pytest.raises(AnswerError, match=r"columns must name questions of survey study, which are smokes, party; got 1 other$"):
        client.submit_many("study", ROWS, columns={"drinks": "x"})


# --- jobs ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "answers.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def test_the_same_file_again_sends_nothing_and_reports_the_same(client, server, csv_file):
    first = client.submit_many("study", csv_file, batch=4)
    second = client.submit_many("study", csv_file, batch=4)
    assert (first.accepted, first.submissions, first.resumed) == (10, 3, 0)
    assert (second.accepted, second.submissions, second.resumed) == (10, 3, 10)
    assert server.counted == 10
    assert len(server.posts) == 3


def test_rows_without_a_name_have_no_memory_and_with_one_they_do(client, server):
    client.submit_many("study", ROWS)
    client.submit_many("study", ROWS)
    assert server.counted == 20
    client.submit_many("study", ROWS, job="monday")
    client.submit_many("study", ROWS, job="monday")
    assert server.counted == 30
    client.submit_many("study", ROWS + ROWS[:2], job="monday")  # what a named input has gained since is new
    assert server.counted == 32


def test_a_file_that_changed_after_it_was_begun_is_refused(client, server, csv_file):
    client.submit_many("study", csv_file)
    csv_file.write_text(csv_file.read_text() + "yes,Red,1\n")
    with pytest.raises(RefusedError, match="has changed since its first 10 rows were randomized"):
        client.submit_many("study", csv_file)
    assert server.counted == 10


def test_what_stays_of_a_file_is_the_same_whatever_was_answered_in_it(server, tmp_path):
    def kept(answer):
        file, outbox = tmp_path / "people.csv", tmp_path / f"{answer}.sqlite"
        file.write_text(f"smokes,party\n{answer},Red\n")
        os.utime(file, (0, 0))
        with SurveyClient(server.url, outbox=outbox) as client:
            client.submit_many("study", file)
        with closing(sqlite3.connect(outbox)) as db:
            return list(db.iterdump())

    assert kept("yes") == kept("no")


def test_a_file_that_was_wrong_can_be_corrected_and_sent(client, server, csv_file):
    good = csv_file.read_text()
    csv_file.write_text(good + "maybe,Red,1\n")
    with pytest.raises(AnswerError):
        client.submit_many("study", csv_file)
    csv_file.write_text(good)
    assert client.submit_many("study", csv_file).accepted == 10


def test_a_job_that_failed_goes_on_where_it_stood(client, server, csv_file, fault):
    server.faults.extend([fault(worked=True), *[fault(status=502)] * 3])  # it was counted, and the client cannot know
    with pytest.raises(
        DeliveryError, match=r"Rows up to 0 are processed; rows 1 to 4 are randomized .* run the same command again to resume"
    ):
        client.submit_many("study", csv_file, batch=4)
    report = client.submit_many("study", csv_file, batch=4)
    assert (report.accepted, report.submissions, report.resumed) == (10, 3, 4)
    assert server.counted == 10
    assert len({post.body for post in server.posts}) == 3


def test_rows_left_out_by_an_earlier_run_are_reported_again(client, server, fault, tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(["{}", *map(json.dumps, ROWS), "CANARY"]))
    server.faults.extend([fault(), *[fault(status=502)] * 3])
    with pytest.raises(DeliveryError):
        client.submit_many("study", path, batch=4, on_invalid="skip")
    report = client.submit_many("study", path, batch=4, on_invalid="skip")
    assert (report.accepted, server.counted) == (10, 10)
    assert [found.row for found in report.rejected] == [1, 1, 12]


def test_rows_that_the_server_turned_down_are_offered_again_before_the_job_goes_on(client, server, csv_file, fault):
    server.faults.extend([fault(status=403), fault(status=403)])
    for _ in range(2):
        with pytest.raises(RejectedError):
            client.submit_many("study", csv_file, batch=4)
    assert len(server.posts) == 2
    assert client.submit_many("study", csv_file, batch=4).accepted == 10
    assert server.counted == 10
    assert len({post.body for post in server.posts}) == 3


def test_a_failure_without_a_job_says_how_far_it_came(client, server, fault):
    server.faults.extend([fault(status=200, worked=True, body=b'{"accepted": 4}'), *[fault(status=500)] * 4])
    with pytest.raises(DeliveryError, match="Rows up to 4 are processed; rows 5 to 8 are randomized and in the outbox; later rows"):
        client.submit_many("study", ROWS, batch=4)
    assert client.resend().delivered == 1
    assert server.counted == 8


def test_a_job_that_another_process_works_on_is_left_to_it(client, server, csv_file, outbox, study):
    with closing(Outbox(outbox)) as other:
        other.begin(server.url, "study", str(csv_file), study.digest, "")
        with pytest.raises(DeliveryError, match="another process is working on it"):
            client.submit_many("study", csv_file)
    assert client.submit_many("study", csv_file).accepted == 10


BUCKETS = 64
KILLED = """
import json, os, sys
from deniable.device import perturb as module
from deniable.sdk.client import SurveyClient
from deniable.delivery.outbox import Outbox

url, outbox, rows, log, grouped = sys.argv[1:]
perturb = module.perturb

def noted(survey, categories, *public):
    made, code = perturb(survey, categories, *public)
    line = json.dumps([made.id.hex(), (categories[0].astype(int) * 64 + categories[1]).tolist()]) + "\\n"
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(file, line.encode())
    os.close(file)
    return made, code

module.perturb = noted
with SurveyClient(url, outbox=outbox, key=os.environ["DENIABLE_KEY"]) as client:
    client.submit_many("buckets", rows, batch=50, group_column=grouped or None)
"""


def killed_runs(server, tmp_path, fault, kills: int, grouped: str) -> Counter:
    """Kills a bulk of 4,096 distinct rows again and again, lets it end, and counts how often each row was counted, by its group."""
    options = [str(i) for i in range(BUCKETS)]
    questions = [{"id": name, "text": name, "type": "choice", "options": options, "epsilon": 1} for name in "ab"]
    source = {"deniable": 1, "id": "buckets", "title": "T", "about": "A", "questions": questions}
    server.publish(Survey.from_dict({**source, "groups": list("012")} if grouped else source))
    rows, log = tmp_path / "rows.csv", tmp_path / "log"
    rows.write_text("a,b,c\n" + "".join(f"{i // BUCKETS},{i % BUCKETS},{i % 3}\n" for i in range(BUCKETS**2)))
    command = [sys.executable, "-c", KILLED, server.url, str(tmp_path / "outbox"), str(rows), str(log), grouped]
    environment = {**os.environ, "DENIABLE_KEY": server.key}
    kill_again_and_again(server, [fault(worked=True), fault(status=200, worked=True, body=b"?")], lambda: command, kills, environment)
    subprocess.run(command, check=True, timeout=120, env=environment)
    of = dict(map(json.loads, log.read_text().splitlines()))
    return Counter((row, Submission.from_json(body).group) for submission, body in server.accepted.items() for row in of[submission])


@pytest.mark.slow
def test_a_bulk_of_several_groups_that_is_killed_counts_every_row_once_in_its_own_group(server, tmp_path, fault):
    counted = killed_runs(server, tmp_path, fault, kills=5, grouped="c")
    assert counted == {(row, str(row % 3)): 1 for row in range(BUCKETS**2)}
    assert len(server.posts) > len(server.accepted)


def test_who_randomized_is_said_a_device_says_nothing_and_an_organisation_does(client, server, clinics):
    client.submit("clinics", ANSWERS, group="North")
    client.submit_many("clinics", [ANSWERS] * 3, group="North")
    alone, many = (Submission.from_json(post.body) for post in server.posts)
    assert (alone.mode, many.mode) == ("device", "organisation")
    assert b"mode" not in server.posts[0].body
    assert b'"mode":"organisation"' in server.posts[1].body


def test_a_client_without_a_key_says_of_no_row_that_it_is_an_organisation_and_one_with_a_key_shows_it_with_each(server, clinics, outbox):
    for key, mode in ((None, "device"), (server.key, "organisation")):
        with SurveyClient(server.url, outbox=outbox, key=key) as client:
            client.submit_many("clinics", [ANSWERS], group="North", batch=1)
        post = server.posts[-1]
        assert Submission.from_json(post.body).mode == mode
        assert ("authorization" in post.headers) == (key is not None)
