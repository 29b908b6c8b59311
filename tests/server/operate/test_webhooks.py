"""Webhooks are told of whole days, once, signed, and not by way of a private network; and never of a single record."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme
from click.testing import CliRunner
from httpx._transports import default
from tests.kit.servers.listening import listening
from tests.kit.servers.release import release_people
from tests.kit.surveys import STUDY, submission

from deniable.errors import EstimateError
from deniable.survey import Survey
from deniable_server.api import webhooks
from deniable_server.operate import notices, sending
from deniable_server.operate.cli import main
from deniable_server.operate.sending import AGAIN, headers, is_public, posting, send_due
from deniable_server.operate.upkeep import keep_up
from deniable_server.store.protocol import Store
from deniable_server.store.webhooks import EVENTS

URL = "https://example.org/in?token=kanary"
NOW = datetime(2026, 1, 2, 0, 0, 1, tzinfo=UTC)


def make(store: Store, *events: str, survey: str = "study") -> tuple[str, bytes]:
    """A webhook: its id, and its secret as its receiver uses it."""
    webhook, secret = webhooks.make(store, survey, URL, events or tuple(EVENTS))
    assert secret.startswith("whsec_")
    return webhook.id, base64.b64decode(secret.removeprefix("whsec_"), validate=True)


def told(store: Store, day: str = "2026-01-02") -> list[tuple[str, dict[str, Any]]]:
    """The messages of a day, by event; nothing waits afterwards."""
    notices.note(store, day, 0)
    said = []
    for message in store.webhooks.waiting():
        body = json.loads(message.body)
        assert set(body) == {"type", "timestamp", "data"}
        assert body["timestamp"] == f"{day}T00:00:00Z"
        said.append((body["type"], body["data"]))
        store.webhooks.settle(message, arrived=True, last=False, day=day)
    return sorted(said, key=lambda each: each[0])


def add(store: Store, survey: Survey, count: int) -> None:
    """Sends records of an organisation, which are counted at once in a survey with batch 1."""
    store.submissions.add(survey.id, submission(survey, count, mode="organisation"))


# What is told.


@pytest.mark.slow
def test_each_event_is_told_once_with_the_day_and_only_the_daily_count_has_a_number(store: Store, survey: Survey) -> None:
    make(store)
    about = {"survey": "study", "digest": survey.digest}
    assert told(store) == []
    add(store, survey, 40)
    assert told(store) == [("count.daily", {**about, "n": 40})]
    assert told(store) == []
    add(store, survey, 5000)
    assert told(store) == [("count.daily", {**about, "n": 5040}), ("precision.reached", about)]
    store.surveys.set_open("study", False)
    assert told(store) == [("survey.closed", about)]
    assert told(store) == []
    store.surveys.set_open("study", True)
    assert told(store) == []
    store.surveys.set_open("study", False)
    assert told(store) == [("survey.closed", about)]


def test_the_page_says_what_a_message_is_and_when(store: Store, survey: Survey) -> None:
    page = (Path(__file__).parents[3] / "docs" / "guide" / "operations.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([a-z]+\.[a-z]+)` \|", page, re.MULTILINE)) == set(EVENTS)
    (shown,) = [json.loads(body) for body in re.findall(r'`({"type": "count.daily".*?}})`', page)]
    make(store, "count.daily")
    add(store, survey, 3)
    notices.note(store, "2026-01-02", 0)
    (message,) = store.webhooks.waiting()
    sent = json.loads(message.body)
    assert (list(sent), list(sent["data"]), sent["type"]) == (list(shown), list(shown["data"]), shown["type"])
    assert (5, *(60 * m for m in (5, 30)), *(3600 * h for h in (2, 5, 10, 14, 20, 24))) == AGAIN
    assert "after 5 seconds, 5 and 30 minutes, 2, 5, 10, 14, 20 and 24 hours" in page


def test_fewer_than_three_records_are_told_with_later_ones(store: Store, survey: Survey) -> None:
    make(store, "count.daily")
    counts = []
    for more in (1, 1, 1, 2, 1, 10, 1):
        add(store, survey, more)
        counts.append([data["n"] for _, data in told(store)])
    assert counts == [[], [], [3], [], [6], [16], []]


def test_records_that_wait_are_told_in_tens_and_exactly_after_their_release(store: Store, survey: Survey) -> None:
    make(store)
    counts = []
    for _ in range(25):
        store.submissions.add("study", submission(survey))
        counts.append([data["n"] for _, data in told(store)])
    assert counts == [[]] * 9 + [[10]] + [[]] * 9 + [[20]] + [[]] * 5
    assert release_people(store) == ["study"]
    assert told(store) == [("count.daily", {"survey": "study", "digest": survey.digest, "n": 25})]


def test_a_count_that_follows_each_record_is_noticed(store: Store, survey: Survey, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "LEAST", 1)
    make(store, "count.daily")
    add(store, survey, 4)
    told(store)
    add(store, survey, 1)
    assert told(store) != []


def test_a_webhook_is_told_what_it_is_for_and_nothing_from_before_it_was_made(store: Store, survey: Survey) -> None:
    add(store, survey, 5000)
    store.surveys.set_open("study", False)
    make(store, "survey.closed", "precision.reached")
    assert told(store) == []
    make(store, "count.daily")
    assert told(store) == []
    store.surveys.set_open("study", True)
    add(store, survey, 3)
    assert [event for event, _ in told(store)] == ["count.daily"]


def test_a_survey_of_which_nothing_can_be_computed_holds_up_no_other(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    other = Survey.from_text(STUDY.replace("id: study", "id: a-study"))
    store.surveys.publish(other)
    for name in ("study", "a-study"):
        make(store, "survey.closed", survey=name)
        store.surveys.set_open(name, False)
    real = webhooks.progress_of

    def fails(store: Store, published: Any, settings: Any) -> Any:
        if published.survey.id == "a-study":
            raise EstimateError("no such half-width")
        return real(store, published, settings)

    monkeypatch.setattr(webhooks, "progress_of", fails)
    assert [data["survey"] for _, data in told(store)] == ["study"]


def test_a_survey_that_closes_with_its_last_record_says_so_when_the_day_is_over(store: Store, survey: Survey) -> None:
    make(store, "survey.closed")
    sent: list[str] = []
    day = NOW
    steps = iter(["close", "look again", "a day later", "stop"])

    def now() -> datetime:
        return day

    def wait(seconds: float) -> bool:
        nonlocal day
        step = next(steps)
        assert sent == []
        if step == "close":
            store.surveys.set_open("study", False)
        elif step == "look again":
            day += timedelta(hours=1)
        elif step == "a day later":
            day += timedelta(days=1)
        return step == "stop"

    def post(url: str, body: bytes, told: dict[str, str]) -> int:
        sent.append(json.loads(body)["type"])
        return 200

    with pytest.raises(AssertionError):  # in the wait after the second day something was sent
        keep_up(store, post, now, wait)
    assert sent == ["survey.closed"]
    assert day.date() == (NOW + timedelta(days=1)).date()


# How it is sent.


def test_a_message_is_signed_so_that_its_receiver_can_tell_whose_it_is() -> None:
    """The example of the Standard Webhooks."""
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    sent = headers(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert sent["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert (sent["webhook-id"], sent["webhook-timestamp"]) == ("msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330")


def test_a_message_is_tried_again_with_the_same_id_and_given_up_in_the_end(store: Store, survey: Survey) -> None:
    _, secret = make(store, "survey.closed")
    store.surveys.set_open("study", False)
    notices.note(store, "2026-01-02", int(NOW.timestamp()))
    moment, attempts = NOW, []

    def post(url: str, body: bytes, sent: dict[str, str]) -> int:
        signed = f"{sent['webhook-id']}.{sent['webhook-timestamp']}.".encode() + body
        assert sent["webhook-signature"] == "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
        assert (url, sent["webhook-timestamp"]) == (URL, str(int(moment.timestamp())))
        attempts.append((sent["webhook-id"], body))
        return 302

    def send() -> float:
        return send_due(store, post, lambda: moment)

    waits = []
    while (pause := send()) != float("inf"):
        waits.append(round(pause))
        assert send() == pause  # nothing is due
        moment += timedelta(seconds=pause)
    assert waits == list(AGAIN)
    assert (len(attempts), len(set(attempts))) == (len(AGAIN) + 1, 1)
    assert store.webhooks.waiting() == []
    assert store.webhooks.of_survey("study")[0].failing_since == "2026-01-02"


def test_a_message_that_arrives_is_sent_once(store: Store) -> None:
    make(store, "survey.closed")
    store.surveys.set_open("study", False)
    notices.note(store, "2026-01-02", 0)
    sent: list[bytes] = []

    def post(url: str, body: bytes, told: dict[str, str]) -> int:
        sent.append(body)
        return 204

    assert [send_due(store, post, lambda: NOW) for _ in range(2)] == [float("inf")] * 2
    assert len(sent) == 1


PRIVATE = [
    *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1"),
    *("192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1"),
    *("::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2002:a00:1::1"),
    *("64:ff9b:1::7f00:1", "64:ff9b:1::808:808", "fec0::1", "::7f00:1", "::ffff:0:7f00:1", "168.63.129.16", "192.88.99.1", "100::1"),
    *(
        "2001::1",
        "2001:0:7f00:1::",
        "2606:4700::5efe:7f00:1",
        "2606:4700::200:5efe:a00:1",
        "2002:a83f:8110::",
        "4000::1",
        "::ffff:168.63.129.16",
    ),
]
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]


def test_addresses_inside_of_a_network_are_told_from_those_outside() -> None:
    assert [address for address in PRIVATE if is_public(address)] == []
    assert [address for address in PUBLIC if not is_public(address)] == []


def test_the_addresses_of_this_machine_are_its_own_and_others_are_not() -> None:
    assert [sending.is_own(address) for address in ("127.0.0.1", "192.0.2.1", "2001:db8::1")] == [True, False, False]


class Receiver(ThreadingHTTPServer):
    """Notes what comes; replies as its path says."""

    daemon_threads = True

    def __init__(self) -> None:
        self.got: list[tuple[str, str, bytes]] = []
        self.over = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.port = self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append((self.path, self.headers["Host"], body))
        if self.path == "/slow":
            self.server.over.wait(60)
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(1 << 40))
        self.end_headers()

    do_GET = do_POST

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with listening(Receiver()) as made:
        yield made
        made.over.set()


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What the name inside.example leads to, look-up by look-up; the last one again and again."""
    answers: list[list[str]] = [["127.0.0.1"]]
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *rest: Any, **more: Any) -> Any:
        if host != "inside.example":
            return real(host, port, *rest, **more)
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return answers


def test_it_goes_to_the_address_that_was_looked_at_under_the_name_that_was_given(receiver: Receiver, names: list[list[str]]) -> None:
    names[:] = [["127.0.0.1"], ["192.0.2.1"]]  # whoever asks twice is sent elsewhere the second time
    assert posting(private=True)(f"http://inside.example:{receiver.port}/in", b"{}", {}) == 200
    assert receiver.got == [("/in", f"inside.example:{receiver.port}", b"{}")]


def test_who_answers_there_must_have_a_certificate_of_that_name(
    receiver: Receiver, names: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, serving, trusting = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("inside.example").configure_cert(serving)
    authority.configure_trust(trusting)
    receiver.socket = serving.wrap_socket(receiver.socket, server_side=True)
    monkeypatch.setattr(default, "create_ssl_context", lambda *_, **__: trusting)
    post = posting(private=True)
    assert post(f"https://inside.example:{receiver.port}/in", b"{}", {}) == 200
    assert post(f"https://127.0.0.1:{receiver.port}/in", b"{}", {}) == 0
    assert len(receiver.got) == 1


@pytest.mark.parametrize("found", [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["127.0.0.1", "1.1.1.1"]])
def test_what_leads_into_a_private_network_is_not_asked(receiver: Receiver, names: list[list[str]], found: list[str]) -> None:
    names[:] = [found]
    for host in ("inside.example", "127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::ffff:127.0.0.1]"):
        assert posting(private=False)(f"http://{host}:{receiver.port}/in", b"{}", {}) == 0, host
    assert receiver.got == []


def test_without_the_look_at_the_address_it_would_be_asked(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"http://127.0.0.1:{receiver.port}/in"
    monkeypatch.setattr(sending, "is_public", lambda address: True)
    assert posting(private=False)(url, b"{}", {}) == 0
    monkeypatch.setattr(sending, "PORTS", (receiver.port,))
    assert posting(private=False)(url, b"{}", {}) == 0
    monkeypatch.setattr(sending, "is_own", lambda address: False)
    assert posting(private=False)(url, b"{}", {}) == 200


def test_a_redirect_is_not_followed_and_a_reply_that_does_not_come_is_not_waited_for(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = posting(private=True)
    assert post(f"http://127.0.0.1:{receiver.port}/moved", b"{}", {}) == 302
    assert [path for path, *_ in receiver.got] == ["/moved"]
    monkeypatch.setattr(sending, "SECONDS", 0.3)
    begun = time.monotonic()
    assert post(f"http://127.0.0.1:{receiver.port}/slow", b"{}", {}) == 0
    assert time.monotonic() - begun < 30
    with closing(socket.socket()) as nobody:
        nobody.bind(("127.0.0.1", 0))
        assert post(f"http://127.0.0.1:{nobody.getsockname()[1]}/", b"{}", {}) == 0


def test_what_is_no_address_for_messages_is_refused(store: Store) -> None:
    wrong = [
        *("", "example.org", "ftp://example.org", "http://example.org/in", "https://", "https://a:b@example.org", "https://example.org/#x"),
        *(
            "https://[::1",
            "https://example.org:0",
            "https://example.org:x",
            "https://exämple.org",
            "https://example.org/a b",
            "javascript:1",
        ),
        *("javascript:1", "https://example.org/\n", "https://example.org/" + "x" * 1000, "http://127.0.0.1.example.org/"),
    ]
    for url in wrong:
        with pytest.raises(ValueError, match="url must"):
            webhooks.make(store, "study", url, ["survey.closed"])
    assert store.webhooks.all() == []


def test_the_commands_make_list_and_remove_and_upkeep_sends(store: Store, receiver: Receiver, tmp_path: Any) -> None:
    run: Callable[..., Any] = lambda *words: CliRunner().invoke(main, [*words, "--db", str(tmp_path / "deniable.db")])  # noqa: E731
    url = f"http://127.0.0.1:{receiver.port}/in"
    made = run("webhook", "make", "--survey", "study", "--url", url, "--event", "survey.closed", "--event", "count.daily")
    assert (made.exit_code, made.stdout[:6], len(made.stdout)) == (0, "whsec_", 51)
    (webhook,) = store.webhooks.of_survey("study")
    assert run("webhook", "list").stdout == f"{webhook.id}\tstudy\tsurvey.closed,count.daily\t{url}\n"
    assert run("webhook", "make", "--survey", "study", "--url", "x", "--event", "survey.closed").exit_code == 1
    store.surveys.set_open("study", False)
    assert run("upkeep").exit_code == 0
    assert receiver.got == []  # it is not public
    assert "\tfailing since " in run("webhook", "list").stdout
    for message in store.webhooks.waiting():
        store.webhooks.attempt(message, 0)
    assert run("upkeep", "--private-webhooks").exit_code == 0
    assert [json.loads(body)["type"] for _, _, body in receiver.got] == ["survey.closed"]
    assert "failing" not in run("webhook", "list").stdout
    assert run("webhook", "remove", webhook.id).exit_code == 0
    assert run("webhook", "remove", webhook.id).exit_code == 1
