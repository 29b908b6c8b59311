"""A survey that is bound: perturbing without sending is a verb of its own, and what is sent later is what was perturbed."""

from __future__ import annotations

import json

import pytest
from tests.kit.issuer import base64url, issued

from deniable.device.sealed import Sealed
from deniable.errors import AnswerError, DeliveryError, RefusedError
from deniable.sdk.client import SurveyClient
from deniable.sdk.session import SurveySession
from deniable.survey import Survey
from deniable.wire.access_codes import format_code, read, submission_id
from deniable.wire.link import Link
from deniable.wire.submission import Submission

ANSWERS = {"smokes": True, "party": "Red"}
CODE = format_code(bytes(range(15)))


@pytest.fixture
def client(server, outbox, no_waiting):
    with SurveyClient(server.url, outbox=outbox, retries=0, key=server.key) as client:
        yield client


def test_what_is_perturbed_is_in_the_outbox_and_nowhere_else_until_it_is_sent(client, server, study):
    session = client.survey("study")
    unsent = session.perturb(ANSWERS)
    assert server.posts == []
    assert client.outbox.load(unsent.submission.id) == ("study", unsent.submission)
    receipt = session.send(unsent)
    assert (receipt.submission, receipt.code, receipt.digest) == (unsent.submission.id.hex(), unsent.code, study.digest)
    assert Submission.from_json(server.posts[0].body) == unsent.submission
    assert client.outbox.waiting(server.url) == 0
    assert unsent.code not in repr(unsent)


def test_it_is_sent_by_whoever_comes_first_and_counted_once(client, server, outbox):
    session = client.survey("study")
    unsent = session.perturb(ANSWERS)
    with SurveyClient(server.url, outbox=outbox) as other:
        assert other.resend().delivered == 1
    session.send(unsent)
    session.send(unsent)
    assert server.counted == 1
    assert len({post.body for post in server.posts}) == 1


def test_what_a_process_perturbed_before_it_ended_is_sent_by_the_next(server, outbox):
    with SurveyClient(server.url, outbox=outbox) as client:
        unsent = client.survey("study").perturb(ANSWERS)
    with SurveyClient(server.url, outbox=outbox) as client:
        assert client.resend().delivered == 1
    assert list(server.accepted) == [unsent.submission.id.hex()]


def test_what_is_not_delivered_waits(client, server, fault):
    session = client.survey("study")
    unsent = session.perturb(ANSWERS)
    server.faults.append(fault(status=503))
    with pytest.raises(DeliveryError, match="do not submit the same answers again"):
        session.send(unsent)
    assert session.send(unsent).submission in server.accepted


def test_a_link_names_the_group_the_invitation_and_the_digest(client, server, study):
    invited = issued(Survey.from_dict({**study.to_dict(), "id": "panel", "groups": ["North", "South"], "access": "invited"}))
    server.publish(invited)
    codes = [bytes([number] * 15) for number in range(4)]
    links = [Link(server.url, "panel", invited.digest, "South", format_code(code)) for code in codes]
    for code, which, submit in zip(
        codes,
        (links[0], str(links[1]), links[2], str(links[3])),
        (*[lambda which: client.survey(which).submit(ANSWERS)] * 2, *[lambda which: client.submit(which, ANSWERS)] * 2),
        strict=True,
    ):
        receipt = submit(which)
        exchange, sent = server.posts[-2:]
        assert json.loads(exchange.body)["code"] == base64url(code)
        sent = Submission.from_json(sent.body)
        assert (sent.group, sent.invitation, sent.token is not None, receipt.pinned) == ("South", None, True, True)
    assert client.survey("study").submit(ANSWERS).pinned is False
    assert format_code(codes[0]) not in repr(client.survey(links[0]))


def test_the_link_that_the_client_was_made_from_is_the_default(server, outbox, study):
    link = str(Link(server.url, "study", study.digest))
    with SurveyClient.from_link(link, outbox=outbox) as client:
        receipt = client.survey().submit(ANSWERS)
    assert receipt.pinned
    assert receipt.submission == submission_id(read(receipt.code)).hex()
    with SurveyClient(server.url, outbox=outbox) as client, pytest.raises(ValueError, match="survey must be named"):
        client.survey()


def test_a_link_of_another_digest_or_server_is_refused_before_a_coin_is_tossed(client, server, study):
    with pytest.raises(RefusedError, match=f"must have the link's digest {'0' * 64}, got {study.digest}"):
        client.survey(Link(server.url, "study", "0" * 64))
    for link in ("https://example.org/s/study", Link("https://example.org", "study")):
        with pytest.raises(ValueError, match="link must be to "):
            client.survey(link)
    with pytest.raises(ValueError, match="must come after #"):
        client.survey(f"{server.url}/s/study?digest={study.digest}")
    assert server.posts == []


def test_a_session_refuses_what_the_client_refuses(client, server, tmp_path, outbox):
    session = client.survey("study")
    for verb in (session.perturb, session.submit):
        with pytest.raises(AnswerError, match="party: is missing"):
            verb({"smokes": True})
        with pytest.raises(ValueError, match="person needs a ledger"):
            verb(ANSWERS, person="4711")
    with SurveyClient(server.url, outbox=outbox, ledger=tmp_path / "ledger", person_cap="ln 9") as other:
        other.survey("study").perturb(ANSWERS, person="4711")
        with pytest.raises(RefusedError, match="exceed person_cap"):
            other.survey("study").perturb(ANSWERS, person="4711")
    assert server.posts == []


AFTER_CLOSING = {
    "submit": lambda client, session, unsent: client.submit("study", ANSWERS),
    "submit_many": lambda client, session, unsent: client.submit_many("study", [ANSWERS]),
    "survey": lambda client, session, unsent: client.survey("study"),
    "surveys": lambda client, session, unsent: list(client.surveys()),
    "results": lambda client, session, unsent: client.results("study"),
    "progress": lambda client, session, unsent: client.progress("study"),
    "analysis": lambda client, session, unsent: client.analysis("study"),
    "bundle": lambda client, session, unsent: client.bundle("study", "never.zip"),
    "resend": lambda client, session, unsent: client.resend(),
    "withdraw": lambda client, session, unsent: client.withdraw("study", CODE),
    "outbox": lambda client, session, unsent: client.outbox,
    "SurveySession.submit": lambda client, session, unsent: session.submit(ANSWERS),
    "SurveySession.perturb": lambda client, session, unsent: session.perturb(ANSWERS),
    "SurveySession.keep": lambda client, session, unsent: session.keep(Sealed(pytest.fail, "coins were tossed"), session.public(), None),
    "SurveySession.send": lambda client, session, unsent: session.send(unsent),
    "SurveySession.exchange": lambda client, session, unsent: session.exchange(),
}
HARMLESS = {"close", "from_link", "pinned", "SurveySession.public"}
"""These reach neither a server nor a file."""


def test_every_public_method_is_among_those_that_are_called_after_closing():
    methods = {name for name, value in vars(SurveyClient).items() if not name.startswith("_") and hasattr(value, "__doc__")}
    methods |= {f"SurveySession.{name}" for name, value in vars(SurveySession).items() if not name.startswith("_") and callable(value)}
    assert methods == {*AFTER_CLOSING, *HARMLESS}


@pytest.mark.parametrize("call", AFTER_CLOSING.values(), ids=AFTER_CLOSING)
@pytest.mark.parametrize("leaves", [False, True], ids=["closed", "left"])
def test_a_client_that_is_closed_does_nothing_more(server, outbox, call, leaves):
    client = SurveyClient(server.url, outbox=outbox, retries=0, key=server.key)
    with client:
        session = client.survey("study")
        unsent = session.perturb(ANSWERS)
        if not leaves:
            client.close()
            client.close()
    posts, waiting = list(server.posts), outbox.read_bytes()
    with pytest.raises(RefusedError, match="the client is closed; create another one"):
        call(client, session, unsent)
    assert (server.posts, outbox.read_bytes()) == (posts, waiting)
