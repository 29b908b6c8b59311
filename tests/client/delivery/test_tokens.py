"""A code is exchanged once: what is drawn is on the disk before the server signs it, and is used until a record has it."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing

import pytest
from tests.kit.issuer import base64url, issued

from deniable.delivery import tokens as tokens_module
from deniable.errors import AnswerError, DeliveryError, RefusedError, RejectedError
from deniable.sdk.client import SurveyClient
from deniable.survey import Survey
from deniable.wire import blind_rsa
from deniable.wire.access_codes import format_code
from deniable.wire.submission import Submission
from deniable.wire.tokens import modulus_of, token_message

CODE = format_code(bytes(range(15)))
ANSWERS = {"smokes": "yes", "party": "Red"}
LINES = {"tokens": "/tokens", "records": "/submissions"}


@pytest.fixture
def invited(server, study):
    survey = issued(Survey.from_dict({**study.to_dict(), "id": "invited", "access": "invited"}))
    server.publish(survey)
    return survey


@pytest.fixture
def opened(server, outbox):
    """`opened()` is a client with the same outbox each time, as after a restart."""
    return lambda **options: SurveyClient(server.url, outbox=outbox, **{"retries": 0, **options})


def sent(server, what):
    return [json.loads(post.body) for post in server.posts if post.path.endswith(LINES[what])]


def rows(outbox, query):
    with closing(sqlite3.connect(outbox)) as db:
        return db.execute(query).fetchall()


def test_a_record_carries_a_token_that_the_server_signed_unseen(opened, server, invited):
    with opened() as client:
        client.submit("invited", ANSWERS, invitation=CODE)
    (exchange,), (record,) = sent(server, "tokens"), sent(server, "records")
    assert (exchange["code"], "invitation" in record) == (base64url(bytes(range(15))), False)
    token = Submission.from_json(json.dumps(record).encode()).token
    assert blind_rsa.verify(modulus_of(invited.issuer), token_message(invited.digest, token.nonce), token.signature)
    assert exchange["blinded"] not in json.dumps(record)
    assert base64url(token.nonce) not in json.dumps(exchange)


@pytest.mark.parametrize("lost", [0, 502])
def test_a_lost_reply_is_asked_for_again_with_the_same_token_after_a_restart(opened, server, invited, fault, lost):
    for _ in range(3):
        server.faults.append(fault(status=lost, worked=True))
        with opened() as client, pytest.raises(DeliveryError):
            client.submit("invited", ANSWERS, invitation=CODE)
    with opened() as client:
        client.submit("invited", ANSWERS, invitation=CODE)
    assert len(sent(server, "tokens")) == 4
    assert len({exchange["blinded"] for exchange in sent(server, "tokens")}) == 1
    assert server.counted == 1


def test_the_control_a_client_that_draws_again_is_refused(opened, server, invited, fault, outbox):
    server.faults.append(fault(worked=True))
    with opened() as client, pytest.raises(DeliveryError):
        client.submit("invited", ANSWERS, invitation=CODE)
    with closing(sqlite3.connect(outbox)) as db, db:
        db.execute("DELETE FROM token")
    with opened() as client, pytest.raises(RejectedError, match="not known, or used"):
        client.submit("invited", ANSWERS, invitation=CODE)


def test_a_token_is_kept_before_it_is_sent_and_its_code_only_until_it_is_signed(opened, server, invited, fault, outbox, monkeypatch):
    server.faults.append(fault())
    with opened() as client, pytest.raises(DeliveryError):
        client.survey(f"{server.url}/s/invited#code={CODE}").exchange()
    assert rows(outbox, "SELECT code, signature FROM token") == [(bytes(range(15)), None)]
    with opened() as client:
        client.survey(f"{server.url}/s/invited#code={CODE}").exchange()
        ((code, inverse, signature),) = rows(outbox, "SELECT code, inverse, signature FROM token")
        assert (code, inverse, len(signature)) == (None, b"", 256)
        client.submit("invited", ANSWERS, invitation=CODE)
    assert len(sent(server, "tokens")) == 2, "the token of the first call"
    assert rows(outbox, "SELECT * FROM token") == rows(outbox, "SELECT * FROM submission") == []


def test_a_refused_code_stops_before_a_coin_is_tossed(opened, server, invited, outbox):
    server.exchanged[base64url(bytes(range(15)))] = "somebody else's"
    with opened() as client, pytest.raises(RejectedError, match="not known, or used"):
        client.submit("invited", ANSWERS, invitation=CODE)
    assert (sent(server, "records"), rows(outbox, "SELECT * FROM submission")) == ([], [])


def test_wrong_answers_use_up_no_second_token(opened, server, invited):
    with opened() as client:
        for _ in range(3):
            with pytest.raises(AnswerError):
                client.submit("invited", {"smokes": "perhaps", "party": "Red"}, invitation=CODE)
        client.submit("invited", ANSWERS, invitation=CODE)
    assert (len(sent(server, "tokens")), server.counted) == (1, 1)


def test_a_signature_by_another_key_is_refused_and_no_record_leaves(opened, server, invited, outbox):
    server.signs_with_another_key = True
    with opened() as client, pytest.raises(RefusedError, match="must sign the token of an invitation code with the survey's key"):
        client.submit("invited", ANSWERS, invitation=CODE)
    assert sent(server, "records") == []
    server.signs_with_another_key = False
    with opened() as client:
        client.submit("invited", ANSWERS, invitation=CODE)
    assert server.counted == 1


@pytest.mark.parametrize(
    "reply", [b"{}", b'{"signature": 1}', b'{"signature": "A"}', b'{"signature": "AAAA"}', b'{"signature": "", "x": 1}', b"[]"]
)
def test_a_reply_that_is_no_signature_is_refused(reply, opened, server, invited, fault):
    server.faults.append(fault(status=200, body=reply))
    with opened() as client, pytest.raises((RefusedError, DeliveryError)):
        client.submit("invited", ANSWERS, invitation=CODE)
    assert sent(server, "records") == []


def test_answers_perturbed_offline_are_exchanged_and_sent_by_another_process(opened, server, invited, outbox):
    with opened() as client:
        unsent = client.survey(f"{server.url}/s/invited#code={CODE}").perturb(ANSWERS)
    assert (server.posts, unsent.submission.invitation) == ([], bytes(range(15)))
    server.definitions.clear()  # it is not asked for the definition again
    server.publish(invited)
    with opened() as client:
        assert client.resend().delivered == 1
    assert (len(sent(server, "tokens")), server.counted) == (1, 1)
    assert "invitation" not in sent(server, "records")[0]


def test_a_record_whose_reply_is_lost_is_sent_again_with_its_token(opened, server, invited, fault):
    with opened() as client:
        session = client.survey(f"{server.url}/s/invited#code={CODE}")
        unsent = session.perturb(ANSWERS)
        session.exchange()
        server.faults.extend([fault(worked=True), fault(status=503)])
        for _ in range(2):
            with pytest.raises(DeliveryError):
                session.send(unsent)
        session.send(unsent)
        first, *others = sent(server, "records")
        assert others == [first, first]
        assert len(sent(server, "tokens")) == 1
        with pytest.raises(RefusedError, match="it was sent or withdrawn before"):
            session.send(unsent)
    assert server.counted == 1


def test_every_draw_is_new(invited):
    drawn = [tokens_module.draw(invited) for _ in range(50)]
    for name in ("nonce", "blinded", "inverse"):
        assert len({getattr(each, name) for each in drawn}) == 50
    assert all(len(base64.urlsafe_b64encode(each.blinded)) == 344 for each in drawn)
