"""Whatever researchers and programs have the server do, respondents are answered: each lane has threads and connections of its own."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask
from tests.kit.breaks import BROKEN_SERVER
from tests.kit.issuer import issued, new_token
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.raw import JSON, Raw
from tests.kit.surveys import submission

from deniable.delivery.tokens import draw
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.access_codes import invitation_hash
from deniable_server.access import api_keys
from deniable_server.front import gateway
from deniable_server.store.reserved import is_reserved
from deniable_server.web.lanes import Lane, enter, lane_of, lane_of_endpoint

RESPONDENTS = """
about.accessibility about.definition about.home about.privacy api.check_invitation api.definition api.exchange api.full_groups
api.submit api.withdraw kiosk.page
by_hand.blank by_hand.record files.browser_file files.logo files.static_file health.healthz health.readyz respondents.damaged
respondents.survey withdraw.blank withdraw.erase
"""
COMPUTING = """
among.chart among.download among.page
api.bundle api.bundle_file api.progress api.reports api.results api.tally building.crosstab building.download building.download_model
building.download_trends building.download_waves building.model building.waves building.waves_chart copies.copy
copies.source copies.wave data.download data.page drafting.change drafting.download drafting.edit drafting.planned drafting.preview
drafting.source drafting.survey drafting.write
ethics.document ethics.draft_document ethics.draft_page ethics.page levels.apply levels.page library.insert library.page
preview.definition preview.page publishing.page publishing.publish researchers.chart researchers.download researchers.group_file
researchers.groups researchers.survey researchers.surveys sample.results settings.page settings.planned settings.questions sharing.read
translations.download translations.page translations.upload trials.page trials.simulate trials.start watch.page
"""
RESEARCHERS = """
account.logout account.logout_everywhere account.page account.password api.list_webhooks api.make_webhook api.remove_webhook api.surveys
api_document.openapi api_document.page audit.page auth.code auth.login drafting.delete guide.chapter guide.contents helping.page
inviting.codes inviting.page inviting.reminder joining.accept joining.page members.change members.change_team members.page metrics.page
people.change people.invite people.page people.revoke
public.download public.page sample.remove second_factor.add_passkey second_factor.begin
second_factor.page second_factor.remove settings.archive settings.close settings.delete settings.keep settings.pause settings.quotas
sharing.page sharing.share sharing.share_team sso.back sso.start sso_account.bind sso_account.unbind studies.change survey_keys.make
survey_keys.overview survey_keys.page survey_keys.revoke tags.change tags.of_draft tags.of_survey tags.page tags.tag_draft tags.tag_survey
teams.change teams.create teams.delete teams.members teams.page trials.discard webhooks.make webhooks.page webhooks.remove
"""


def test_every_route_is_in_the_lane_of_those_whom_it_serves(app: Flask) -> None:
    """A new route stands in no row until somebody has thought about what it takes."""
    lanes: dict[Lane, set[str]] = {lane: set() for lane in Lane}
    for rule in app.url_map.iter_rules():
        lanes[lane_of_endpoint(app, rule.endpoint)].add(rule.endpoint)
    wanted: dict[Lane, set[str]] = {
        Lane.RESPONDENTS: set(RESPONDENTS.split()),
        Lane.COMPUTING: set(COMPUTING.split()),
        Lane.RESEARCHERS: set(RESEARCHERS.split()),
        Lane.BULK: set(),
    }
    assert {lane: lanes[lane] ^ wanted[lane] for lane in Lane if lanes[lane] != wanted[lane]} == {}


@pytest.mark.parametrize(
    ("method", "path", "headers", "lane"),
    [
        ("GET", "/s/study", {}, Lane.RESPONDENTS),
        ("HEAD", "/s/study", {}, Lane.RESPONDENTS),
        ("OPTIONS", "/api/v1/surveys/study/submissions", {}, Lane.RESPONDENTS),
        ("POST", "/api/v1/surveys/study/submissions", {}, Lane.RESPONDENTS),
        ("POST", "/api/v1/surveys/study/submissions", {"HTTP_AUTHORIZATION": "Bearer x"}, Lane.BULK),
        ("GET", "/api/v1/surveys/study", {"HTTP_AUTHORIZATION": "Bearer x"}, Lane.RESPONDENTS),
        ("GET", "/api/v1/surveys/study/reports", {}, Lane.COMPUTING),
        ("POST", "/manage/new", {}, Lane.COMPUTING),
        ("GET", "/manage/surveys/study/../../s/study", {}, Lane.RESEARCHERS),
        ("GET", "/nothing", {}, Lane.RESEARCHERS),
        ("FOO", "/s/study", {}, Lane.RESEARCHERS),
        ("POST", "/s/stüdy/withdraw", {}, Lane.RESPONDENTS),
    ],
)
def test_a_request_is_put_into_a_lane_by_its_head_alone(app: Flask, method: str, path: str, headers: dict[str, str], lane: Lane) -> None:
    environ = gateway.base_environ("localhost", 80)
    request = {"REQUEST_METHOD": method, "PATH_INFO": path.encode().decode("latin-1"), "QUERY_STRING": "", "HTTP_HOST": "localhost"}
    assert lane_of(app, {**environ, **request, **headers}) is lane


def test_only_threads_of_respondents_have_reserved_connections() -> None:
    from concurrent.futures import ThreadPoolExecutor

    for lane in Lane:
        with ThreadPoolExecutor(1, initializer=enter, initargs=(lane,)) as threads:
            assert threads.submit(is_reserved).result() is (lane is Lane.RESPONDENTS)


# A live server whose other lanes are full.

KEYS = {
    "deniable": 1,
    "title": "T",
    "about": "A",
    "questions": [{"id": "affair", "text": "Affair?", "type": "yes_no", "epsilon": "ln 3"}],
}
OTHER = issued(Survey.from_dict({**KEYS, "id": "other", "access": "invited"}))
COINS = Survey.from_dict({**KEYS, "id": "coins"})
FULL = {
    Lane.COMPUTING: b"GET /api/v1/surveys/other/results HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    Lane.RESEARCHERS: b"GET /login HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    Lane.BULK: b"POST /api/v1/surveys/other/submissions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer x\r\n"
    b"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
}


@dataclass
class Blocked:
    """A server with one thing broken: nothing that a researcher or a program asks for ends while a file is there."""

    server: ServerProcess
    file: Path

    def fill(self, stack: ExitStack) -> None:
        """Asks for more than each lane takes, until each says so."""
        for lane, request in FULL.items():
            reply = None
            while reply is None:
                raw = Raw(self.server, request)
                stack.callback(raw.close)
                raw.socket.settimeout(0.05)
                try:
                    reply = raw.socket.recv(1 << 16)
                except TimeoutError:
                    continue
            head = reply.partition(b"\r\n\r\n")[0].decode().lower()
            assert head.startswith("http/1.1 503"), (lane, head)
            assert "retry-after: 2" in head, (lane, head)


@pytest.fixture
def blocked(make_server: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Blocked]]:
    file = tmp_path / "blocked"
    file.touch()
    monkeypatch.setenv("DENIABLE_BLOCKED", str(file))

    def make(variant: str) -> Blocked:
        server = make_server(variant)
        server.publish(OTHER, COINS)
        server.start()
        return Blocked(server, file)

    assert Path(BROKEN_SERVER).exists()
    yield make
    file.unlink(missing_ok=True)


def in_json(code: bytes) -> str:
    return base64.urlsafe_b64encode(code).rstrip(b"=").decode()


def respond(http: httpx.Client, code: bytes) -> dict[str, int]:
    """All that respondents ask for, the first submissions since the server's start among it; the statuses."""
    withdrawn = os.urandom(access_codes.SECRET_BYTES)
    form = http.get("/s/coins/by-hand")
    secret = access_codes.format_code(os.urandom(access_codes.SECRET_BYTES))
    api = "/api/v1/surveys/other"
    first = submission(OTHER, token=new_token(OTHER)).to_json()
    exchange = {"code": in_json(code), "blinded": in_json(draw(OTHER).blinded)}
    return {
        "page": http.get("/s/other").status_code,
        "definition": http.get(api).status_code,
        "code check": http.post(f"{api}/invitations/check", json={"code": in_json(code)}).status_code,
        "code exchange": http.post(f"{api}/tokens", json=exchange).status_code,
        "first submission": http.post(f"{api}/submissions", content=first, headers=JSON).status_code,
        "submission in chunks": http.post(f"{api}/submissions", content=iter([first]), headers=JSON).status_code,
        "withdrawal": http.post(f"{api}/withdrawals", json={"code": in_json(withdrawn)}).status_code,
        "withdrawal by form": http.post("/s/other/withdraw", data={"code": access_codes.format_code(withdrawn)}).status_code,
        "form for coins": form.status_code,
        "coins": http.post("/s/coins/by-hand", data={"secret": secret, "mark-1": "yes"}).status_code,
        "what is published": http.get("/s/other/definition").status_code,
        "module": http.get("/browser/page.mjs").status_code,
        "ready": http.get("/readyz").status_code,
        "healthy": http.get("/healthz").status_code,
    }


@pytest.mark.slow
def test_respondents_are_answered_while_every_other_lane_is_full(blocked: Callable[[str], Blocked]) -> None:
    site, code = blocked("computations-wait"), os.urandom(access_codes.SECRET_BYTES)
    with site.server.store() as store:
        store.invitations.add("other", [invitation_hash("other", code)])
    with ExitStack() as stack:
        site.fill(stack)
        with httpx.Client(base_url=site.server.url, timeout=PATIENCE) as http:
            statuses = respond(http, code)
            assert set(statuses.values()) == {200}, statuses
            site.file.unlink()
            wait_for(lambda: http.get("/login").status_code == 200, "the lanes, once what held them has ended")


@pytest.mark.slow
def test_a_server_with_one_lane_for_all_is_found_out(blocked: Callable[[str], Blocked]) -> None:
    site = blocked("one-lane-waits")
    with ExitStack() as stack:
        for _ in range(8):  # the threads that read
            raw = Raw(site.server, FULL[Lane.COMPUTING])
            stack.callback(raw.close)

        def gives_no_answer() -> bool:
            try:
                httpx.get(f"{site.server.url}/s/other", timeout=2)
            except httpx.ReadTimeout:
                return True
            return False

        wait_for(gives_no_answer, "all threads, held by computations")
        site.file.unlink()


# Clients that go away.


@pytest.mark.slow
def test_what_a_client_has_asked_for_ends_when_it_goes_away(
    make_server: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    monkeypatch.setenv("DENIABLE_BEGUN", str(begun))
    server = make_server("endless-computations")
    server.publish(OTHER)
    with server.store() as store:
        key = api_keys.make(store, "reader", ["reports"])
    server.start()
    asked = f"GET /api/v1/surveys/other/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    for _ in range(2):  # the lane is free again, each time
        raws = [Raw(server, asked) for _ in range(4)]  # two that are computed, and two that wait
        wait_for(lambda: begun.exists() and begun.read_text(), "a computation that has begun")
        for raw in raws:
            raw.close()
        wait_for(lambda: not computing(server), "the end of all that was computed")
        begun.unlink()
    assert httpx.get(f"{server.url}/s/other", timeout=PATIENCE).status_code == 200


@pytest.mark.slow
def test_processes_that_compute_end_with_a_server_that_is_killed(
    make_server: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / "begun"
    monkeypatch.setenv("DENIABLE_BEGUN", str(begun))
    server = make_server("endless-computations")
    server.publish(OTHER)
    with server.store() as store:
        key = api_keys.make(store, "reader", ["reports"])
    server.start()
    raw = Raw(server, f"GET /api/v1/surveys/other/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
    wait_for(lambda: begun.exists() and begun.read_text(), "a computation that has begun")
    pid = int(begun.read_text())
    server.kill()
    raw.close()
    wait_for(lambda: not is_computing(pid), "the end of the process that computed")


def computing(server: ServerProcess) -> list[int]:
    """The processes of a server that compute."""
    assert server.process is not None
    children = Path(f"/proc/{server.process.pid}/task").glob("*/children")
    return [pid for file in children for pid in map(int, file.read_text().split()) if is_computing(pid)]


def is_computing(pid: int) -> bool:
    try:
        return b"operate.computing" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
