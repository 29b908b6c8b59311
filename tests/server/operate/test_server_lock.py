"""A server is alone with its port and its database, says in one line why it cannot start, and stops when it is told to."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PROGRAM
from tests.kit.servers.raw import JSON, POST, SUBMIT, Raw
from tests.kit.servers.release import release_people
from tests.kit.servers.tallies import recount_of
from tests.kit.surveys import STUDY

from deniable.survey import Survey
from deniable.wire.submission import Submission
from deniable_server.operate import server_lock
from deniable_server.operate.cli import main
from deniable_server.store import open_store


@pytest.fixture
def server(make_server: Callable[..., Any], survey: Survey) -> Any:
    server = make_server()
    server.publish(survey)
    server.start()
    return server


def try_to_serve(db: Path, port: int) -> tuple[int, str]:
    """The exit code and what was printed."""
    done = subprocess.run([PROGRAM, "serve", "--db", str(db), "--port", str(port)], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def stop(server: Any, number: int = signal.SIGTERM) -> None:
    """Ends the server in order; it has a limit of its own for that, `serve.STOP_SECONDS`."""
    server.process.send_signal(number)
    assert server.process.wait(timeout=PATIENCE) == 0
    server.process = None


# Starting.


def test_a_second_server_is_refused_the_port_and_the_database_and_the_first_goes_on(
    server: Any, make_server: Callable[..., Any], submissions: Callable[..., Submission]
) -> None:
    other = make_server()
    code, said = try_to_serve(other.db, server.port)
    assert (code, said) == (1, f"Error: cannot listen on 127.0.0.1:{server.port}: address already in use\n")
    code, said = try_to_serve(server.db, other.port)
    assert (code, said) == (1, f"Error: {server.db} is served already, by process {server.process.pid}; one database has one server\n")
    linked = other.folder / "linked.db"
    linked.symlink_to(server.db)
    linked.with_name("linked.db.key").symlink_to(f"{server.db}.key")
    assert try_to_serve(linked, other.port)[0] == 1
    assert httpx.post(server.url + SUBMIT, content=submissions().to_json(), headers=JSON, timeout=PATIENCE).json() == {"accepted": 1}


def test_commands_work_beside_a_server(server: Any, tmp_path: Path) -> None:
    file = tmp_path / "second.yaml"
    file.write_text(STUDY.replace("id: study", "id: second"))
    server.run("publish", str(file))
    assert httpx.get(f"{server.url}/api/v1/surveys/second", timeout=PATIENCE).status_code == 200
    server.run("close", "study")
    assert "closed" in server.run("list")


def test_a_server_that_was_killed_leaves_no_lock_and_no_port(server: Any) -> None:
    with Raw(server, b"GET ").socket:
        server.kill()
        server.start()
    assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code == 200


def test_an_address_that_is_none_of_this_machines_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(server_lock.InUseError, match=r"^cannot listen on 192\.0\.2\.1:8000: "):
        server_lock.listen("192.0.2.1", 8000)
    with pytest.raises(server_lock.InUseError, match=r"^cannot listen on no\.such\.host\.invalid:8000: "):
        server_lock.listen("no.such.host.invalid", 8000)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_host_may_be_given_by_name_or_number(make_server: Callable[..., Any], survey: Survey, host: str) -> None:
    server = make_server()
    server.publish(survey)
    server.start("--host", host)
    assert httpx.get(f"http://{host}:{server.port}/s/{survey.id}", timeout=PATIENCE).status_code == 200
    assert f"Serving on http://{host}:{server.port}" in server.log.read_text()
    stop(server)
    assert "Traceback" not in server.log.read_text()


WRONG = {
    "--host": ["no.such.host.invalid", "192.0.2.1", "http://localhost", "localhost:8000", "a" * 64, "a..b", ""],
    "--public-url": ["survey.example.org", "localhost:8000", "https://", "http://[::1", "https://a:b", "ftp://example.org", "=cmd", ""],
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option, values in WRONG.items() for value in values])
def test_an_address_that_is_none_is_told_in_one_line_without_a_traceback(tmp_path: Path, option: str, value: str) -> None:
    db = tmp_path / "deniable.db"
    open_store(db).close()
    done = CliRunner().invoke(main, ["serve", "--db", str(db), "--port", "1", option, value])
    assert (done.exit_code, type(done.exception), len(done.output.splitlines())) == (1, SystemExit, 1), done.output
    rule = "Error: cannot listen on " if option == "--host" else "Error: public_url must begin with https:// or http://, and name a host"
    assert done.output.startswith(rule)
    assert value in done.output


def damaged(db: Path) -> dict[str, bytes]:
    whole = db.read_bytes()
    return {
        "no database at all": b"a text" * 5000,
        "nothing behind the first page": whole[:4096],
        "zeros behind the first page": whole[:4096] + bytes(len(whole) - 4096),
        "half a page": whole[:1000],
    }


def test_a_damaged_database_is_told_in_one_line(make_server: Callable[..., Any], survey: Survey) -> None:
    server = make_server()
    server.publish(survey)
    for name, content in damaged(server.db).items():
        server.db.write_bytes(content)
        for suffix in ("-wal", "-shm"):
            server.db.with_name(server.db.name + suffix).unlink(missing_ok=True)
        code, said = try_to_serve(server.db, server.port)
        assert (code, said.count("\n")) == (1, 1), (name, said)
        assert said.startswith("Error: ") and "cannot be used: " in said, name  # noqa: PT018 - one sentence


# Stopping.


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_server_stops_in_order_whatever_is_open(server: Any, submissions: Callable[..., Submission], number: int) -> None:
    accepted = sum(
        httpx.post(server.url + SUBMIT, content=submissions().to_json(), headers=JSON, timeout=PATIENCE).json()["accepted"]
        for _ in range(5)
    )
    large = POST + b"Content-Length: 100000\r\n\r\n{"
    sent = [b"", b"GET /s/st", POST + b"Content-Length: 90\r\n\r\n", POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", large]
    waiting = [Raw(server, first) for first in sent for _ in range(20)]
    half = Raw(server, POST + b"Content-Length: 90\r\n\r\n{")
    assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code == 200  # so the others were met, too
    stop(server, number)
    status, headers, body = half.reply()
    assert (status, headers["retry-after"]) == (503, "2")
    assert "about to stop" in json.loads(body)["detail"]
    for raw in waiting:
        raw.close()
    store = open_store(server.db)
    release_people(store)
    assert recount_of(store, "study").n == accepted
    store.close()
    assert not server.db.with_name(server.db.name + "-wal").exists()  # the database was closed
    assert "Traceback" not in server.log.read_text()


def test_a_request_that_is_being_answered_gets_its_answer(server: Any, submissions: Callable[..., Submission]) -> None:
    body = submissions().to_json()
    with closing(sqlite_lock(server.db)) as foreign:
        raw = Raw(server, POST + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code == 200
        server.process.terminate()
        with httpx.Client(timeout=PATIENCE) as client:
            while (late := client.get(f"{server.url}/s/study")).status_code == 200:
                pass
        assert (late.status_code, late.headers["Retry-After"]) == (503, "2")
        foreign.execute("ROLLBACK")
    assert raw.reply()[0] == 200
    assert server.process.wait(timeout=PATIENCE) == 0
    server.process = None
    store = open_store(server.db)
    release_people(store)
    assert recount_of(store, "study").n == 1
    store.close()


def test_a_database_that_another_program_locks_does_not_keep_the_server_from_stopping(
    server: Any, submissions: Callable[..., Submission]
) -> None:
    body = submissions().to_json()
    with closing(sqlite_lock(server.db)):
        raw = Raw(server, POST + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        assert httpx.get(f"{server.url}/readyz", timeout=PATIENCE).status_code == 200
        stop(server)
        raw.close()
    log = server.log.read_text()
    assert "was not rewritten" in log or "nothing that was acknowledged is lost" in log
    assert "Traceback" not in log
    store = open_store(server.db)
    release_people(store)
    assert recount_of(store, "study").n in (0, 1)  # nobody was told which
    store.close()


def sqlite_lock(db: Path) -> Any:
    """A connection of another program that keeps the database's writers out."""
    foreign = sqlite3.connect(db, isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    return foreign


# A listener's settings are those of its connections.


def test_a_client_that_never_reads_is_given_up_by_the_kernel() -> None:
    with closing(server_lock.listen("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname(), timeout=60):
        connection, _ = listener.accept()
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == server_lock.UNREAD_SECONDS * 1000
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        connection.close()
