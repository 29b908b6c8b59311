"""One server, bounded patience: what is tried again, how long it waits, and what never travels."""

from __future__ import annotations

import gzip
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tests.kit.servers.listening import listening

from deniable.delivery import transport
from deniable.delivery.transport import Transport, backoff, retry_after
from deniable.errors import DeliveryError, RejectedError

PATH = "/api/v1/surveys/study"


@pytest.fixture
def connect(server):
    """Makes a Transport to the server, closed at the end."""
    with ExitStack() as stack:

        def make(retries: int, url: str = server.url) -> Transport:
            made = Transport(url, 5, retries)
            stack.callback(made.close)
            return made

        yield make


@pytest.mark.parametrize("status", [0, 408, 425, 429, 500, 502, 503, 504, 507])
def test_a_failure_that_may_pass_is_tried_again_and_then_told(server, connect, fault, no_waiting, status):
    server.always = fault(status=status)
    http = connect(3)
    with pytest.raises(DeliveryError, match=r"could not be reached: .* \(attempt 4 of 4\)"):
        http.get(PATH)
    assert len(server.seen) == 4
    assert len(no_waiting) == 3


@pytest.mark.parametrize("status", [301, 302, 307, 400, 401, 403, 404, 409, 413, 415])
def test_a_no_is_not_asked_again(server, connect, fault, no_waiting, status):
    server.always = fault(status=status, body=b'{"rule": "r", "detail": "because"}')
    with pytest.raises(RejectedError) as caught:
        connect(3).get(PATH)
    assert caught.value.status == status
    assert len(server.seen) == 1
    assert str(caught.value).endswith("because" if status >= 400 else "use that address")


@pytest.mark.parametrize("body", [b"", b"<html>", b"[]", b'{"detail": {}}', b'{"detail": 5}', b'{"detail": ""}', b"[" * 9999])
def test_a_no_without_a_reason_is_still_told(server, connect, fault, body):
    server.always = fault(status=400, body=body)
    with pytest.raises(RejectedError, match="answered 400: no reason given"):
        connect(0).get(PATH)
    server.always = fault(status=404, body=body)
    with pytest.raises(RejectedError, match=r"answered 404: no reason given; is this the address of a survey server, without a path"):
        connect(0).get(PATH)


def test_a_reason_cannot_write_to_the_terminal(server, connect, fault):
    server.always = fault(status=400, body=b'{"detail": "\\u001b[2J gone"}')
    with pytest.raises(RejectedError, match="answered 400: an unprintable reason"):
        connect(0).get(PATH)


def test_it_waits_as_long_as_the_server_asks(server, connect, fault, no_waiting):
    server.faults.extend([fault(status=429, headers=(("Retry-After", "33"),)), fault(status=503, headers=(("Retry-After", "44"),))])
    with pytest.raises(RejectedError):
        connect(3).post("/api/v1/surveys/none/submissions", b"{}", {})
    assert no_waiting == [33, 44]


def test_it_gives_up_where_the_server_asks_for_more_than_it_would_wait(server, connect, fault, no_waiting):
    server.always = fault(status=503, headers=(("Retry-After", "86400"),))
    with pytest.raises(DeliveryError, match="HTTP 503, which asks to wait 86400 s"):
        connect(3).get(PATH)
    assert no_waiting == []


def test_retry_after_is_seconds_or_a_date():
    soon = datetime.now(UTC) + timedelta(seconds=90)
    assert retry_after("7") == 7
    assert 80 < retry_after(format_datetime(soon, usegmt=True)) <= 90
    assert retry_after(format_datetime(soon - timedelta(days=1), usegmt=True)) == 0
    unusable = (None, "", "soon", "-5", "1.5", "²", "1 Jan 99999999999 0:0:0", f"Mon, 01 Jan 2024 00:00:00 +{10**20}")
    assert [retry_after(value) for value in unusable] == [0] * len(unusable)


def test_the_backoff_grows_has_full_jitter_and_is_bounded():
    for attempt, longest in [(0, 0.5), (3, 4), (10, 30), (2000, 30)]:
        draws = [backoff(attempt) for _ in range(200)]
        assert 0 <= min(draws) < longest / 4  # misses with a chance of (3/4)^200
        assert longest * 3 / 4 < max(draws) < longest


def test_a_200_that_is_no_acknowledgement_is_none(server, connect, fault, no_waiting):
    server.faults.extend(
        [
            fault(status=200, body=b"<html>Welcome to the hotel"),
            fault(status=200, body=b'{"accepted": 2}'),
            fault(status=200, body=b'{"accepted": true}'),
        ]
    )
    with pytest.raises(DeliveryError, match="a reply that is not an acknowledgement"):
        connect(2).post(f"{PATH}/submissions", b"{}", {"accepted": 1})


def test_no_cookie_comes_back_and_no_address_is_followed(server, connect, fault):
    server.extra_headers = (("Set-Cookie", "visitor=7; Path=/"),)
    http = connect(0)
    http.get(PATH)
    http.get(PATH)
    assert [set(seen.headers) for seen in server.seen] == [{"host", "accept", "accept-encoding", "connection", "user-agent"}] * 2
    assert {seen.headers["user-agent"] for seen in server.seen} == {"deniable"}
    assert not http._http.get().cookies.jar  # nor is one kept: another thread's request may go off before this one's next


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY"])
def test_what_is_meant_for_this_machine_goes_through_no_proxy_and_the_rest_does(server, connect, monkeypatch, name):
    """A password may travel without encryption inside this machine only."""
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    for host in ("127.0.0.1", "localhost"):
        connect(0, server.url.replace("127.0.0.1", host)).get(PATH)
    monkeypatch.setenv(name, server.url)
    with pytest.raises(DeliveryError, match="ConnectError"):
        connect(0, "http://[::1]:9").get(PATH)
    with pytest.raises(RejectedError, match="answered 404"):
        connect(0, "http://survey.example.org").get(PATH)
    assert server.seen[-1].headers["host"] == "survey.example.org"


def test_a_packed_reply_is_not_unpacked_though_its_server_says_so(server, connect, fault):
    """Packed twice, 5 kB unpack into 3 GB."""
    packed = gzip.compress(gzip.compress(bytes(1 << 20)))
    server.always = fault(status=200, headers=(("Content-Encoding", "gzip, gzip"),), body=packed)
    assert connect(0).get(PATH) == packed


def test_a_reply_without_end_is_cut_off(server, connect, monkeypatch):
    monkeypatch.setattr(transport, "MAX_REPLY", 100)
    with pytest.raises(RejectedError, match="answered with more than 100 bytes"):
        connect(3).get(PATH)


@pytest.mark.parametrize("size", [100, 1 << 20])
def test_a_long_page_in_place_of_an_acknowledgement_is_a_failed_attempt(server, connect, no_waiting, fault, size):
    """A hotel's login page may be of any length; the perturbed answers must go on waiting, and not count as turned down."""
    server.faults.append(fault(status=200, body=b"<html>" + b"x" * size))
    with pytest.raises(DeliveryError, match="a reply that is not an acknowledgement"):
        connect(0).post("/api/v1/surveys/study/submissions", b"{}", {"accepted": 1})


def test_a_server_that_is_not_there_is_a_delivery_error(connect, no_waiting):
    with pytest.raises(DeliveryError, match="ConnectError"):
        connect(1, "http://127.0.0.1:9").get("/")
    assert len(no_waiting) == 1


class Cutting(ThreadingHTTPServer):
    """Sends a file in whole only after so many attempts, and else ends the connection in its middle."""

    def __init__(self, cuts: int) -> None:
        super().__init__(("127.0.0.1", 0), _Halves)
        self.cuts, self.file = cuts, bytes(range(256)) * 100

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Halves(BaseHTTPRequestHandler):
    server: Cutting

    def do_GET(self) -> None:
        whole, self.server.cuts = self.server.cuts <= 0, self.server.cuts - 1
        self.send_response(200)
        self.send_header("Content-Length", str(len(self.server.file)))
        self.end_headers()
        self.wfile.write(self.server.file if whole else self.server.file[::-1][: len(self.server.file) // 2])

    def log_message(self, *_: object) -> None:
        """Nothing."""


def test_a_file_that_is_cut_short_is_fetched_again_from_its_start(connect, no_waiting, tmp_path):
    with listening(Cutting(2)) as server, open(tmp_path / "file", "w+b") as file:
        connect(2, server.url).save("/file", {}, None, file)
    assert (tmp_path / "file").read_bytes() == server.file
    assert len(no_waiting) == 2


def test_a_file_that_never_comes_whole_or_is_refused_is_an_error(server, connect, no_waiting, tmp_path):
    with (
        listening(Cutting(9)) as cutting,
        open(tmp_path / "file", "w+b") as file,
        pytest.raises(DeliveryError, match="RemoteProtocolError"),
    ):
        connect(1, cutting.url).save("/file", {}, None, file)
    with open(tmp_path / "file", "w+b") as file, pytest.raises(RejectedError, match="answered 404"):
        connect(1).save("/api/v1/surveys/nothing", {}, None, file)
