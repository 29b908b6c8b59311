"""A server with a certificate of its own speaks https, to old phones too, and to nobody who is silent for long."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest
import trustme
from click.testing import CliRunner
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import ServerProcess

from deniable_server.operate.cli import main

Made = tuple[Path, Path, ssl.SSLContext]


@pytest.fixture
def certificate(tmp_path: Path) -> Made:
    """The files of a certificate and its key, and what trusts it."""
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    chain, key = tmp_path / "chain.pem", tmp_path / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    return chain, key, trusting


@pytest.fixture
def https(make_server: Callable[..., ServerProcess], certificate: Made) -> Iterator[str]:
    """The address of a server that was started with it."""
    server = make_server()
    chain, key, trusting = certificate

    def answers() -> bool:
        with suppress(OSError), closing(http.client.HTTPSConnection("127.0.0.1", server.port, timeout=PATIENCE, context=trusting)) as asked:
            asked.request("GET", "/healthz")
            return asked.getresponse().status == 200
        return False

    server.start("--certificate", str(chain), "--key", str(key), answers=answers)
    yield f"https://127.0.0.1:{server.port}"
    server.stop()
    assert "Traceback" not in server.log.read_text()


def test_its_cookies_and_pages_are_bound_to_https(https: str, certificate: Made) -> None:
    reply = httpx.get(f"{https}/login", verify=certificate[2], timeout=PATIENCE)
    assert reply.headers["strict-transport-security"] == "max-age=31536000"
    assert reply.headers["set-cookie"].startswith("__Host-deniable=")
    assert "Secure;" in reply.headers["set-cookie"]


@pytest.mark.parametrize(
    ("version", "spoken"), [(ssl.TLSVersion.TLSv1_1, False), (ssl.TLSVersion.TLSv1_2, True), (ssl.TLSVersion.TLSv1_3, True)]
)
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1:DeprecationWarning")
def test_it_speaks_what_is_safe_and_nothing_older(https: str, certificate: Made, version: ssl.TLSVersion, spoken: bool) -> None:
    trusting = certificate[2]
    trusting.set_ciphers("DEFAULT:@SECLEVEL=0")  # so that it is the server who refuses
    trusting.minimum_version = trusting.maximum_version = version
    asked = http.client.HTTPSConnection(https.removeprefix("https://"), timeout=PATIENCE, context=trusting)
    with closing(asked):
        if spoken:
            asked.request("GET", "/healthz")
            assert asked.getresponse().status == 200
        else:
            with pytest.raises(ssl.SSLError):
                asked.connect()


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", b"\x16\x03\x01\x02\x00\x01"], ids=["nothing", "half a greeting"])
def test_who_does_not_finish_the_greeting_is_cut_off(https: str, certificate: Made, sent: bytes) -> None:
    address = ("127.0.0.1", int(https.rpartition(":")[2]))

    def silent() -> bytes:
        with closing(socket.create_connection(address, timeout=PATIENCE)) as waiting:
            waiting.sendall(sent)
            return waiting.recv(1)

    with ThreadPoolExecutor(50) as pool:
        crowd = [pool.submit(silent) for _ in range(50)]
        assert httpx.get(f"{https}/readyz", verify=certificate[2], timeout=PATIENCE).status_code == 200
        assert {each.result() for each in crowd} == {b""}


def test_a_certificate_that_is_none_is_told_in_one_line(
    make_server: Callable[..., ServerProcess], certificate: Made, tmp_path: Path
) -> None:
    server, (chain, key, _), other = make_server(), certificate, tmp_path / "other.pem"
    other.write_bytes(trustme.CA().issue_cert("localhost").private_key_pem.bytes())
    serve = ["serve", "--db", str(server.db), "--port", str(server.port)]
    for words, told in (
        (["--certificate", str(chain)], "--certificate and --key must be given together"),
        (["--certificate", str(chain), "--key", str(other)], "must be a certificate and its key, in PEM and without a password"),
        (["--certificate", str(key), "--key", str(key)], "must be a certificate and its key, in PEM and without a password"),
    ):
        result = CliRunner().invoke(main, [*serve, *words])
        assert result.exit_code in (1, 2), words
        assert told in result.output
        assert "Traceback" not in result.output
