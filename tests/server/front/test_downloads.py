"""Downloads from a running server: they begin while the file is made, many share it, and whoever is cut off notices and goes on."""

from __future__ import annotations

import io
import os
import signal
import sys
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.kit.breaks import BROKEN_SERVER
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.servers.process import ServerProcess
from tests.kit.servers.raw import Raw

from deniable.bundle import Bundle, CountedRecords
from deniable.survey import Survey
from deniable.wire.part import Part
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys

pytestmark = pytest.mark.slow

QUESTIONS = [{"id": f"q{number}", "text": "?", "type": "yes_no"} for number in range(20)]
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "batch": 1,
        "accept_small_batches": True,
        "id": "big",
        "title": "T",
        "about": "A.",
        "epsilon": 8,
        "questions": QUESTIONS,
    }
)
N = 40_000
SAMPLES = ["rows.csv", "rows.xlsx", "rows.parquet", "rows.sav", "rows.dta", "bundle.zip"]


def records(seed: int, n: int) -> bytes:
    return np.packbits(np.random.default_rng(seed).random((n, 20)) < 0.5, axis=1).tobytes()


def expected(name: str, raw: bytes) -> bytes:
    """A file of these records, made in memory, without a server."""
    ordered = b"".join(sorted(raw[first : first + 3] for first in range(0, len(raw), 3)))
    bundle, file = Bundle(CountedRecords(SURVEY, {Part(): len(raw) // 3}, io.BytesIO(ordered))), io.BytesIO()
    if name == "bundle.zip":
        bundle.write_zip(file)
    else:
        bundle.write(name, file)
    return file.getvalue()


@dataclass
class Site:
    """A running server with N records, whose builds wait for `let_go`."""

    server: ServerProcess
    pace: Path
    raw: bytes
    key: str

    def path(self, name: str) -> str:
        last = name if name.startswith("reports") else "bundle" if name == "bundle.zip" else f"bundle/{name}"
        return f"/api/v1/surveys/big/{last}"

    def address(self, name: str) -> str:
        return f"{self.server.url}{self.path(name)}"

    def in_place(self, name: str) -> bytes:
        """The same file of an application without computing processes, which sends it when it is complete."""
        with self.server.store() as store:
            reply = create_app(Config(self.server.db, "x" * 40), store).test_client().get(self.path(name), headers=self.headers)
            assert (reply.status_code, reply.headers["Content-Length"]) == (200, str(len(reply.data)))
            return bytes(reply.data)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def get(self, name: str, **headers: str) -> httpx.Response:
        return httpx.get(self.address(name), headers={**self.headers, **headers}, timeout=PATIENCE)

    def stream(self, name: str) -> Any:
        return httpx.stream("GET", self.address(name), headers=self.headers, timeout=PATIENCE)

    def let_go(self) -> None:
        (self.pace / "go").touch()

    def hold(self) -> None:
        (self.pace / "go").unlink(missing_ok=True)
        (self.pace / "step").unlink(missing_ok=True)
        (self.pace / "builds").unlink(missing_ok=True)

    @property
    def builds(self) -> list[int]:
        """The process of each build."""
        file = self.pace / "builds"
        return list(map(int, file.read_text().split())) if file.exists() else []

    def add(self, seed: int, n: int) -> None:
        """Adds records, so that no file of before is that of the records any more."""
        more = records(seed, n)
        with self.server.store() as store:
            store.submissions.add("big", Submission(os.urandom(16), SURVEY.digest, n, more))
        self.raw += more


@pytest.fixture(scope="module")
def make_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Site]]:
    servers: list[ServerProcess] = []

    def make(variant: str) -> Site:
        folder = tmp_path_factory.mktemp("downloads")
        server = ServerProcess(folder, [sys.executable, BROKEN_SERVER, variant])
        servers.append(server)
        server.publish(SURVEY)
        with server.store() as store:
            key = api_keys.make(store, "reader", ["reports"])
        site = Site(server, folder, b"", key)
        site.add(1, N)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DENIABLE_PACE", str(folder))
            server.start()
        return site

    yield make
    for server in servers:
        server.close()
        assert "Traceback" not in server.log.read_text()


@pytest.fixture(scope="module")
def running(make_site: Callable[[str], Site]) -> Site:
    return make_site("paced-downloads")


@pytest.fixture
def site(running: Site) -> Iterator[Site]:
    """The server, with records of which no file was made yet."""
    running.hold()
    running.add(len(running.raw), 2)
    yield running
    running.let_go()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_download_begins_while_its_file_is_made_and_has_the_same_bytes(site: Site, name: str) -> None:
    with site.stream(name) as reply:
        chunks = reply.iter_raw()
        whole = next(chunks)
        assert len(site.builds) == 1, "which waits"
        assert not (site.pace / "go").exists()
        site.let_go()
        whole += b"".join(chunks)
    assert (reply.status_code, "Content-Length" in reply.headers) == (200, False)
    assert whole == expected(name, site.raw) == site.in_place(name)
    if name == "bundle.zip":
        assert zipfile.ZipFile(io.BytesIO(whole)).testzip() is None


@pytest.mark.parametrize("name", ["reports?form=arrow", "reports?form=parquet"])
def test_records_as_a_table_begin_while_they_are_written_and_are_the_same(site: Site, name: str) -> None:
    with site.stream(name) as reply:
        chunks = reply.iter_raw()
        whole = next(chunks)
        assert (len(site.builds), (site.pace / "go").exists()) == (1, False)
        site.let_go()
        whole += b"".join(chunks)
    assert whole == site.in_place(name)


def test_packed_records_have_their_length_and_are_resumed(site: Site) -> None:
    site.let_go()
    whole = site.get("reports")
    assert (
        whole.content == site.in_place("reports") == b"".join(sorted(site.raw[first : first + 3] for first in range(0, len(site.raw), 3)))
    )
    assert whole.headers["Content-Length"] == str(len(site.raw))
    rest = site.get("reports", Range="bytes=100-", **{"If-Range": whole.headers["ETag"]})
    assert (rest.status_code, rest.content) == (206, whole.content[100:])
    assert site.get("reports?by_hand=1").status_code == 400


def test_clients_who_request_the_same_file_share_one_build_and_the_last_ones_get_it_from_the_disk(site: Site) -> None:
    with site.stream("rows.csv") as first, site.stream("rows.csv") as second:
        site.let_go()
        files = [first.read(), second.read(), site.get("rows.csv").content]
    assert files == [expected("rows.csv", site.raw)] * 3
    assert len(site.builds) == 1


def test_records_that_are_counted_meanwhile_are_in_the_next_file_and_not_in_this_one(site: Site) -> None:
    before = site.raw
    with site.stream("rows.csv") as first:
        site.add(7, 5)
        with site.stream("rows.csv") as second:
            site.let_go()
            assert first.read() == expected("rows.csv", before)
            assert second.read() == expected("rows.csv", site.raw)
    assert len(site.builds) == 2


def test_a_client_that_leaves_ends_a_build_that_is_only_its_own(site: Site) -> None:
    with site.stream("rows.csv") as reply:
        next(reply.iter_raw())
    (builder,) = site.builds

    def has_ended() -> bool:
        (site.pace / "step").touch()  # granian notices it with the next bytes
        return not is_running(builder)

    wait_for(has_ended, "the end of the process")
    site.let_go()
    assert site.get("rows.csv").content == expected("rows.csv", site.raw)
    assert len(site.builds) == 2


def test_a_client_that_leaves_does_not_end_the_build_of_others(site: Site) -> None:
    with site.stream("rows.csv") as staying:
        with site.stream("rows.csv") as leaving:
            next(leaving.iter_raw())
        site.let_go()
        assert staying.read() == expected("rows.csv", site.raw)
    assert len(site.builds) == 1


def cut_off(site: Site) -> httpx.Response:
    """A download whose builder is killed after the first bytes."""
    with site.stream("rows.csv") as reply:
        chunks = reply.iter_raw()
        next(chunks)
        os.kill(site.builds[-1], signal.SIGKILL)
        for _ in chunks:
            pass
    return reply  # type: ignore[no-any-return]


def test_a_client_notices_that_the_process_which_makes_its_file_was_killed(site: Site) -> None:
    for _ in range(2):
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete chunked read"):
            cut_off(site)
    site.let_go()
    assert site.get("rows.csv").content == expected("rows.csv", site.raw), "the next one is made anew"
    site.add(13, 2)
    assert site.get("rows.csv").content == expected("rows.csv", site.raw), "the server has kept its locks on the database"


def test_if_such_a_reply_were_ended_in_order_no_client_would_notice(make_site: Callable[[str], Site]) -> None:
    assert cut_off(make_site("failures-in-order")).status_code == 200


def test_an_interrupted_download_goes_on_where_it_was_if_the_records_are_the_same(site: Site) -> None:
    site.let_go()
    whole = site.get("rows.csv")
    tag, content = whole.headers["ETag"], expected("rows.csv", site.raw)
    assert (whole.content, whole.headers["Accept-Ranges"]) == (content, "bytes")
    rest = site.get("rows.csv", Range="bytes=70000-", **{"If-Range": tag})
    assert (rest.status_code, rest.content, rest.headers["ETag"]) == (206, content[70_000:], tag)
    assert rest.headers["Content-Range"] == f"bytes 70000-{len(content) - 1}/{len(content)}"
    assert (rest.headers["Content-Length"], site.get("rows.csv", Range="bytes=-9").content) == (str(len(rest.content)), content[-9:])
    assert site.get("rows.csv", Range="bytes=4-5").content == content[4:6]
    other = site.get("rows.csv", Range="bytes=70000-", **{"If-Range": '"another"'})
    assert (other.status_code, other.content) == (200, content)
    beyond = site.get("rows.csv", Range=f"bytes={len(content)}-")
    assert (beyond.status_code, beyond.headers["Content-Range"], beyond.content) == (416, f"bytes */{len(content)}", b"")
    assert site.get("rows.csv", Range="bytes=0-1,4-5").content == content, "several parts are not sent"
    assert len(site.builds) == 1
    site.add(11, 2)
    renewed = site.get("rows.csv", Range="bytes=70000-", **{"If-Range": tag})
    assert (renewed.status_code, renewed.content) == (200, expected("rows.csv", site.raw))
    assert renewed.headers["ETag"] != tag


def test_the_rest_of_a_file_that_is_still_made_is_sent_when_it_is_complete(site: Site) -> None:
    with site.stream("rows.csv") as first, ThreadPoolExecutor(1) as thread:
        tag = first.headers["ETag"]
        chunks = first.iter_raw()  # its end would close the connection
        next(chunks)
        rest = thread.submit(site.get, "rows.csv", Range="bytes=70000-", **{"If-Range": tag})
        site.let_go()
        assert (rest.result().status_code, rest.result().content) == (206, expected("rows.csv", site.raw)[70_000:])
    assert len(site.builds) == 1


def test_a_client_of_http_1_0_which_would_not_notice_gets_the_whole_file_with_its_length(site: Site) -> None:
    site.let_go()
    head = f"GET /api/v1/surveys/big/bundle/rows.csv HTTP/1.0\r\nHost: x\r\nAuthorization: Bearer {site.key}\r\n\r\n"
    header, _, body = Raw(site.server, head.encode()).all().partition(b"\r\n\r\n")
    assert body == expected("rows.csv", site.raw)
    assert f"content-length: {len(body)}".encode() in header.lower()


def test_a_refusal_is_a_reply_of_its_own(site: Site) -> None:
    site.let_go()
    assert site.get("rows.csv?licence=mine").status_code == 400
    assert site.get("no.csv").json()["rule"] == "estimate"


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
