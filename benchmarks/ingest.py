"""Throughput of single durable posts, beside the same posts only validated, and beside Datasette's API for inserts.

All servers run at once and are asked in turns, by one process that keeps CONNECTIONS requests under way. On a busy machine, look at the
processor time of the server for each request.

Run: make bench NAME=ingest ARGS="--seconds 3 --rounds 5 --datasette PYTHON --db URL --records 1 --connections 32 --wrk", where PYTHON has
datasette 1.0 or later, and URL is an empty database on PostgreSQL, to be asked in turns with a file of SQLite. --wrk: posts by wrk, a
client in C, instead of this process.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.access import api_keys
from deniable_server.store import open_store

CONNECTIONS = 32
TICKS = os.sysconf("SC_CLK_TCK")
SERVER = Path(sys.executable).with_name("deniable-server")
VALIDATED = """
from deniable_server.operate.cli import main
from deniable_server.store.sql.submissions import SqlSubmissions
SqlSubmissions.add_later = lambda self, survey_id, submission, notify: notify(True)
main()
"""


@dataclass
class Poured:
    """What a while of posts came to.

    taken: replies of success; others: how many of another status; took: seconds of each; cpu: seconds of the server's, in all.
    """

    seconds: float
    taken: int = 0
    others: dict[int, int] = field(default_factory=dict)
    took: list[float] = field(default_factory=list)
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        return self.taken / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of the server's CPU a request that it took."""
        return 1000 * self.cpu / max(1, self.taken)

    def quantile(self, share: float) -> float:
        return float(np.quantile(self.took, share)) if self.took else float("nan")


@dataclass(frozen=True)
class Running:
    """A server, and what to post to it: whole requests, each once, of so many records."""

    name: str
    process: subprocess.Popen[bytes]
    port: int
    requests: Iterator[bytes]
    records: int = 1

    @property
    def cpu(self) -> float:
        """Seconds of CPU that it has had, threads included."""
        values = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(values[11]) + int(values[12])) / TICKS


def survey_of(questions: int) -> Survey:
    asked = [{"id": f"q{i}", "text": "?", "type": "yes_no"} for i in range(questions)]
    return Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 8, "questions": asked})


def posts(survey: Survey, count: int = 1, key: str | None = None) -> Iterator[bytes]:
    """Requests with `count` records each, perturbed a thousand or more at a time. key: for more than one."""
    head = "POST /api/v1/surveys/s/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {key}\r\n" if key else ""
    while True:
        records = pack(survey, [randomize(q.channel, np.zeros(max(1000, count), dtype=np.int64), os_words) for q in survey.questions])
        size = survey.record.bytes * count
        for at in range(0, len(records) - size + 1, size):
            body = Submission(os.urandom(16), survey.digest, count, records[at : at + size]).to_json()
            yield f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def inserts(token: str, rows: int = 1) -> Iterator[bytes]:
    """Rows of the same size for Datasette: an id and the answers. rows: in each request, at most 100."""
    head = "POST /data/rows/-/insert HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += "Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n"
    while True:
        body = json.dumps({"rows": [{"id": secrets.token_hex(16), "reports": secrets.token_hex(3)} for _ in range(rows)]}).encode()
        yield head.format(token, len(body)).encode() + body


def pour(server: Running, seconds: float, connections: int = CONNECTIONS) -> Poured:
    """Posts for so long, each connection one request after the other. Requests are made before the clock starts."""
    ready = deque(next(server.requests) for _ in range(int(seconds * 8000 / server.records)))
    selector, waiting = selectors.DefaultSelector(), {}
    sockets = [socket.create_connection(("127.0.0.1", server.port), timeout=600) for _ in range(connections)]
    found, cpu, begun = Poured(seconds), server.cpu, time.perf_counter()

    def send(connection: socket.socket) -> None:
        connection.sendall(ready.popleft() if ready else next(server.requests))
        waiting[connection] = time.perf_counter(), b""

    for connection in sockets:
        selector.register(connection, selectors.EVENT_READ)
        send(connection)
    while (now := time.perf_counter()) < begun + seconds:
        for key, _ in selector.select(0.5):
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            since, reply = waiting[connection][0], waiting[connection][1] + connection.recv(65536)
            if not whole(reply):
                waiting[connection] = since, reply
                continue
            found.took.append(time.perf_counter() - since)
            status = int(reply[9:12])
            if status in (200, 201):
                found.taken += 1
            else:
                found.others[status] = found.others.get(status, 0) + 1
            send(connection)
    found.seconds, found.cpu = now - begun, server.cpu - cpu
    for connection in sockets:
        connection.close()
    return found


Client = Callable[[Running, float, int], Poured]
"""What posts to a server for so many seconds, on so many connections."""


def whole(reply: bytes) -> bool:
    """Whether all of a reply is here."""
    head, there, body = reply.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
    return bool(there) and (len(body) >= int(length[1]) if length else body.endswith(b"0\r\n\r\n"))


@contextmanager
def ours(folder: Path, survey: Survey, stored: bool = True, db: str | None = None, records: int = 1) -> Iterator[Running]:
    """A server of this project, as it is shipped; one that stores nothing and says that it did, where `stored` is false.

    db: where, instead of a file in the folder. records: of each post.
    """
    name = ("stored in PostgreSQL" if db else "stored") if stored else "validated, not stored"
    url, port = db or f"sqlite:///{folder / name}.db", free_port()
    store = open_store(url)
    store.surveys.publish(survey)
    key = api_keys.make(store, "lab", ["submit"]) if records > 1 else None
    store.close()
    command = [str(SERVER)] if stored else [sys.executable, "-c", VALIDATED]
    arguments = ["serve", "--db", url, "--port", str(port), "--most-per-second", "1000000"]
    with started([*command, *arguments], port, "/healthz") as process:
        yield Running(name, process, port, posts(survey, records, key), records)


@contextmanager
def datasette(folder: Path, python: str, rows: int = 1) -> Iterator[Running]:
    """Datasette with a table of its own, and a token of its root. rows: in each request."""
    port, secret, db = free_port(), secrets.token_hex(16), folder / "data.db"
    made = [python, "-c", f"import sqlite3; sqlite3.connect({str(db)!r}).execute('CREATE TABLE rows (id TEXT PRIMARY KEY, reports TEXT)')"]
    subprocess.run(made, check=True)
    tool = [python, "-m", "datasette"]
    token = subprocess.run(
        [*tool, "create-token", "root", "--secret", secret], check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()
    serve = [*tool, str(db), "-p", str(port), "--secret", secret, "--root"]
    with started(serve, port, "/-/versions.json") as process:
        yield Running("Datasette", process, port, inserts(token, rows))


@contextmanager
def started(command: Sequence[str], port: int, alive: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(f"http://127.0.0.1:{port}{alive}", process)
            yield process
        finally:
            process.terminate()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        try:
            httpx.get(url, timeout=60).raise_for_status()
            return
        except httpx.TransportError:
            if process.poll() is not None:
                break
            time.sleep(0.1)
    raise SystemExit(f"{url} did not answer")


def measured(
    servers: Sequence[Running], rounds: int, seconds: float, connections: int = CONNECTIONS, client: Client = pour
) -> dict[str, list[Poured]]:
    """Each server in turns, after a while that does not count."""
    found: dict[str, list[Poured]] = {server.name: [] for server in servers}
    for number in range(rounds + 1):
        for server in servers:
            poured = client(server, seconds, connections)
            if number:
                found[server.name].append(poured)
    return found


def told(name: str, poured: Sequence[Poured]) -> str:
    rate, cpu = (statistics.median(each) for each in ([one.rate for one in poured], [one.cpu_ms for one in poured]))
    p50, p99 = (statistics.median(one.quantile(share) for one in poured) for share in (0.5, 0.99))
    others = {status: n for one in poured for status, n in one.others.items()}
    return (
        f"{name:22} {rate:8,.0f}/s  {cpu:6.3f} ms of CPU  p50 {1000 * p50:6.1f} ms  p99 {1000 * p99:6.1f} ms  ({p99 / p50:.1f})"
        f"{f'  others: {others}' if others else ''}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--datasette", metavar="PYTHON")
    parser.add_argument("--db", metavar="URL")
    parser.add_argument("--records", type=int, default=1)
    parser.add_argument("--connections", type=int, default=CONNECTIONS)
    parser.add_argument("--wrk", action="store_true", help="post by wrk, which must be installed")
    options = parser.parse_args()
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {options.connections} connections, records in each: {options.records:,}"
    )
    from benchmarks import wrk

    client: Client = wrk.pour if options.wrk else pour
    survey = survey_of(20)
    with tempfile.TemporaryDirectory() as name, ExitStack() as running:
        folder = Path(name)
        os.environ["DENIABLE_KEY_FILE"] = str(folder / "deniable.key")
        servers = [running.enter_context(ours(folder, survey, records=options.records))]
        if options.records == 1:
            servers.append(running.enter_context(ours(folder, survey, stored=False)))
        if options.db:
            servers.append(running.enter_context(ours(folder, survey, db=options.db, records=options.records)))
        if options.datasette:
            servers.append(running.enter_context(datasette(folder, options.datasette)))
        for each, poured in measured(servers, options.rounds, options.seconds, options.connections, client).items():
            print(told(each, poured))


if __name__ == "__main__":
    main()
