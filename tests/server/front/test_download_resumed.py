"""A download from PostgreSQL, over TLS, is streamed, and goes on where it was cut off if the records are the same."""

from __future__ import annotations

import http.client
import os
import ssl
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest
import trustme
from tests.kit.patience import PATIENCE
from tests.server.front.test_downloads import SURVEY, N, expected, records
from tests.server.store.postgres.test_processes import Web
from tests.server.store.postgresql import server as postgres

from deniable.wire.submission import Submission
from deniable_server.access import api_keys
from deniable_server.store import open_store

pytestmark = pytest.mark.slow


class Site:
    """A server with a certificate, on PostgreSQL; its files grow to their ends when `go` is in its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.database, self.raw = folder, postgres().new(), b""
        store = open_store(self.database)
        store.surveys.publish(SURVEY)
        self.key = api_keys.make(store, "reader", ["reports"])
        store.close()
        self.add(1, N)
        self.web = Web(folder / "web", self.database, "paced-downloads")
        self.trusting = ssl.create_default_context()
        self._start()

    def add(self, seed: int, n: int) -> None:
        store, more = open_store(self.database), records(seed, n)
        store.submissions.add("big", Submission(os.urandom(16), SURVEY.digest, n, more))
        store.close()
        self.raw += more

    def client(self, **headers: str) -> httpx.Client:
        address = f"https://127.0.0.1:{self.web.port}/api/v1/surveys/big/"
        return httpx.Client(
            base_url=address, headers={"Authorization": f"Bearer {self.key}", **headers}, verify=self.trusting, timeout=PATIENCE
        )

    def _start(self) -> None:
        authority, chain, key = trustme.CA(), self.folder / "chain.pem", self.folder / "key.pem"
        issued = authority.issue_cert("127.0.0.1")
        chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        key.write_bytes(issued.private_key_pem.bytes())
        authority.configure_trust(self.trusting)
        self.web.start("--certificate", str(chain), "--key", str(key), answers=self._answers)

    def _answers(self) -> bool:
        with (
            suppress(OSError),
            closing(http.client.HTTPSConnection("127.0.0.1", self.web.port, timeout=PATIENCE, context=self.trusting)) as connection,
        ):
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        return False


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("DENIABLE_KEY_FILE", str(tmp_path / "deniable.key"))
    monkeypatch.setenv("DENIABLE_PACE", str(tmp_path))
    site = Site(tmp_path)
    yield site
    site.web.close()
    assert "Traceback" not in site.web.log.read_text()


@pytest.mark.parametrize("name", ["rows.csv", "rows.sav"])
def test_a_download_goes_on_where_it_was_cut_off(site: Site, name: str) -> None:
    whole = expected(name, site.raw)
    with site.client() as client, client.stream("GET", f"bundle/{name}") as reply:
        begun = next(reply.iter_raw())
    assert (reply.status_code, 0 < len(begun) < len(whole)) == (200, True), "the process that writes it waits"
    (site.folder / "go").touch()
    cut = {"If-Range": reply.headers["ETag"], "Accept-Encoding": "identity"}
    with site.client(**cut) as client, client.stream("GET", f"bundle/{name}", headers={"Range": f"bytes={len(begun)}-"}) as reply:
        more = next(reply.iter_raw(1000))
    assert (reply.status_code, len(more)) == (206, 1000)
    with site.client(**cut) as client:
        rest = client.get(f"bundle/{name}", headers={"Range": f"bytes={len(begun + more)}-"})
        assert (rest.status_code, begun + more + rest.content) == (206, whole)
        site.add(2, 3)
        other = client.get(f"bundle/{name}", headers={"Range": f"bytes={len(begun + more)}-"})
        assert (other.status_code, other.content) == (200, expected(name, site.raw)), "of other records, from the beginning"
