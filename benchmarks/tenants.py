"""Cost of a server with many surveys: what opening, commands, lists and posts take with 10, 1,000 and 10,000 small surveys.

Run: make bench NAME=tenants ARGS="--surveys 10 1000". Each step is a process of its own, which measures its work after its imports: the
processor's time, and the pages that the system gave it. Ratios are to the smallest store. --live runs commands beside a server, to which 8
connections post.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server.api.metrics import Metrics
from deniable_server.api.submissions import DirectSubmissions
from deniable_server.operate.cli import main as command_line
from deniable_server.researchers.dashboard import ListQuery, listing
from deniable_server.store import open_store
from deniable_server.store.errors import BusyError
from deniable_server.store.protocol import Store
from deniable_server.web.rate_limiter import Rate

SIZES = [10, 1_000, 10_000]
POSTS, AT_ONCE = 2_048, 16
PORT, CONNECTIONS, OFTEN = 18_437, 8, 10**6
OWNER = "ada"


class Cost(NamedTuple):
    """cpu: seconds of user and system time; faults: pages that the system gave the process."""

    cpu: float
    faults: int


def survey_of(number: int, base: list[Survey] = []) -> Survey:  # noqa: B006 - parsed once
    """Returns a survey of five questions. Only id and title differ."""
    if not base:
        asked = [{"id": f"q{i}", "text": f"Question {i}?", "type": "yes_no"} for i in range(5)]
        base.append(Survey.from_dict({"deniable": 1, "id": "s", "title": "T", "about": "A.", "epsilon": 5, "questions": asked}))
    return replace(base[0], id=f"s{number:05}", title=f"Survey number {number}")


def submission(survey: Survey) -> Submission:
    bits = [randomize(q.channel, np.zeros(1, dtype=np.int64), os_words) for q in survey.questions]
    return Submission(os.urandom(16), survey.digest, 1, pack(survey, bits))


def fill(folder: Path, surveys: int) -> None:
    """Publishes surveys by the store's own function, many in one commit."""
    with contextlib.closing(open_store(folder / "s.db")) as store:
        store.accounts.set_password(OWNER, "no password")
        with ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda number: publish(store, number), range(surveys)))
        store.rewrite()


def publish(store: Store, number: int) -> None:
    """Publishes a survey, again if the writer was busy for too long."""
    while True:
        with contextlib.suppress(BusyError):
            store.surveys.publish(survey_of(number), OWNER)
            return


# The steps, each in a process of its own.


def opening(folder: Path, surveys: int) -> Cost:
    return cost_of(lambda: open_store(folder / "s.db").close())


def command(*words: str) -> Callable[[Path, int], Cost]:
    def run(folder: Path, surveys: int) -> Cost:
        def work() -> None:
            with contextlib.redirect_stdout(io.StringIO()):
                command_line([*words, "--db", str(folder / "s.db")], standalone_mode=False)

        return cost_of(work)

    return run


def backup(folder: Path, surveys: int) -> Cost:
    (folder / "copy.db").unlink(missing_ok=True)
    return command("backup", str(folder / "copy.db"))(folder, surveys)


def start(folder: Path, surveys: int) -> Cost:
    """Of a server from its start until it replied to a request and ended."""
    serving = [str(Path(sys.executable).with_name("deniable-server")), "serve", "--db", str(folder / "s.db"), "--port", str(PORT)]

    def work() -> None:
        server = subprocess.Popen(serving, stderr=subprocess.DEVNULL)
        wait_for_server()
        server.terminate()
        server.wait()

    return cost_of(work, resource.RUSAGE_CHILDREN)


def metrics(folder: Path, surveys: int) -> Cost:
    with contextlib.closing(open_store(folder / "s.db")) as store:
        return cost_of(Metrics(store).text)


def metrics_again(folder: Path, surveys: int) -> Cost:
    """Of a request on the same day, which a scraper repeats several times a minute."""
    with contextlib.closing(open_store(folder / "s.db")) as store:
        same_day = Metrics(store)
        same_day.text()
        return cost_of(same_day.text)


def dashboard(order: str) -> Callable[[Path, int], Cost]:
    def run(folder: Path, surveys: int) -> Cost:
        with contextlib.closing(open_store(folder / "s.db")) as store:

            def work() -> None:
                headings = store.surveys.headings(store.roles.seen_by(OWNER))
                listing(store, headings, [], ListQuery(order=order), len(headings))

            return cost_of(work)

    return run


def posts(in_turn: bool) -> Callable[[Path, int], Cost]:
    """Returns a step that posts to one survey after the other, or to the same one."""

    def run(folder: Path, surveys: int) -> Cost:
        with contextlib.closing(open_store(folder / "s.db")) as store:
            backend = DirectSubmissions(lambda _: store, Rate(OFTEN, OFTEN))
            every = [survey_of(number % surveys if in_turn else 0) for number in range(POSTS)]
            bodies = [(survey.id, submission(survey).to_json()) for survey in every]
            for survey_id, body in bodies[:AT_ONCE]:
                post(backend, [(survey_id, body)])
            cost = cost_of(lambda: [post(backend, bodies[at : at + AT_ONCE]) for at in range(AT_ONCE, POSTS, AT_ONCE)])
        return Cost(cost.cpu / (POSTS - AT_ONCE), cost.faults)

    return run


def post(backend: DirectSubmissions, bodies: list[tuple[str, bytes]]) -> None:
    """Posts some records at the same time, as the front does, and waits for their commit."""
    outcomes: list[object] = []
    done = threading.Semaphore(0)
    for survey_id, body in bodies:
        survey = backend.survey(survey_id) or backend.learn(survey_id)
        backend.take(survey, body, lambda outcome: (outcomes.append(outcome), done.release()))  # type: ignore[arg-type, return-value]
    for _ in bodies:
        done.acquire()
    if any(outcome is not True for outcome in outcomes):
        raise SystemExit(f"a record was refused: {outcomes}")


STEPS: dict[str, Callable[[Path, int], Cost]] = {
    "open": opening,
    "serve": start,
    "list": command("list"),
    "upkeep": command("upkeep"),
    "doctor": command("doctor"),
    "backup": backup,
    "metrics": metrics,
    "metrics, again": metrics_again,
    **{f"dashboard by {order}": dashboard(order) for order in ("activity", "attention", "answers", "title")},
    "post to one": posts(False),
    "post in turn": posts(True),
}


def cost_of(work: Callable[[], object], of: int = resource.RUSAGE_SELF) -> Cost:
    """Returns what work costs this process, or the processes that it starts."""
    before = resource.getrusage(of)
    work()
    after = resource.getrusage(of)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, after.ru_minflt + after.ru_majflt - before.ru_minflt - before.ru_majflt)


# The table.


def measured(folder: Path, surveys: int, step: str, times: int) -> Cost:
    """Returns the least of some processes: others on the machine only add."""
    words = [sys.executable, __file__, "--step", step, str(folder), "--surveys", str(surveys)]
    return min(Cost(*json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout)) for _ in range(times))


def rows(stores: dict[int, Path], steps: list[str], times: int) -> Iterator[str]:
    yield "| CPU, ms | " + " | ".join(f"{surveys:,} surveys" for surveys in stores) + " |"
    yield "|---" * (len(stores) + 1) + "|"
    for step in steps:
        costs = [measured(folder, surveys, step, times) for surveys, folder in stores.items()]
        least = costs[0].cpu or 1e-9
        cells = [f"{1000 * cost.cpu:,.3g} (x {cost.cpu / least:,.2f}), {cost.faults:,} faults" for cost in costs]
        yield f"| {step} | {' | '.join(cells)} |"


# Beside a live server.


def beside_a_server(folder: Path, surveys: int, seconds: float) -> Iterator[str]:
    """Posts to a server on 8 connections, and runs each command meanwhile. Yields the replies by status, and the longest post."""
    program, db = str(Path(sys.executable).with_name("deniable-server")), str(folder / "s.db")
    serving = [program, "serve", "--db", db, "--port", str(PORT), "--most-per-second", str(OFTEN)]
    server = subprocess.Popen(serving, stderr=subprocess.DEVNULL)
    try:
        wait_for_server()
        for words in ((), ("list",), ("upkeep",), ("doctor",), ("backup", str(folder / "live.db"))):
            over, statuses, longest, runs = threading.Event(), Counter[int](), [0.0], Counter[int]()
            clients = [threading.Thread(target=keep_posting, args=(n, surveys, over, statuses, longest)) for n in range(CONNECTIONS)]
            for client in clients:
                client.start()
            until = time.monotonic() + seconds
            while words and (not runs or time.monotonic() < until):
                (folder / "live.db").unlink(missing_ok=True)
                runs[subprocess.run([program, *words, "--db", db], capture_output=True).returncode] += 1
            time.sleep(max(0.0, until - time.monotonic()))
            over.set()
            for client in clients:
                client.join()
            name = " ".join(words[:1]) or "no command"
            yield f"| {name} | {dict(runs)} | {dict(statuses)} | {longest[0]:.2f} |"
    finally:
        server.terminate()
        server.wait()


def wait_for_server() -> None:
    for _ in range(600):
        with contextlib.suppress(OSError):
            http.client.HTTPConnection("127.0.0.1", PORT, timeout=60).request("GET", "/privacy")
            return
        time.sleep(0.2)
    raise SystemExit("the server did not start")


def keep_posting(client: int, surveys: int, over: threading.Event, statuses: Counter[int], longest: list[float]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    number = client
    while not over.is_set():
        survey = survey_of(number % surveys)
        number += CONNECTIONS
        body, begun = submission(survey).to_json(), time.monotonic()
        connection.request("POST", f"/api/v1/surveys/{survey.id}/submissions", body, {"Content-Type": "application/json"})
        reply = connection.getresponse()
        reply.read()
        statuses[reply.status] += 1
        longest[0] = max(longest[0], time.monotonic() - begun)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--surveys", type=int, nargs="+", default=SIZES)
    parser.add_argument("--only", nargs="+", default=list(STEPS), choices=STEPS, metavar="STEP")
    parser.add_argument("--times", type=int, default=3, help="processes for each figure, of which the least counts")
    parser.add_argument("--live", type=float, metavar="SECONDS", help="run each command beside a server instead, for so long")
    parser.add_argument("--folder", type=Path, help="where the files are made and kept; files that are there are used again")
    parser.add_argument("--step", nargs=2, metavar=("STEP", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        print(json.dumps(STEPS[options.step[0]](Path(options.step[1]), options.surveys[0])))
        return
    with tempfile.TemporaryDirectory() as temporary:
        stores = {surveys: (options.folder or Path(temporary)) / str(surveys) for surveys in options.surveys}
        for surveys, folder in stores.items():
            if not (folder / "s.db").exists():
                folder.mkdir(parents=True)
                fill(folder, surveys)
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors\n", flush=True)
        if options.live:
            print("| beside | its exit codes | replies to posts | longest post, s |\n|---|---|---|---|", flush=True)
            for surveys, folder in stores.items():
                print(f"| {surveys:,} surveys | | | |", *beside_a_server(folder, surveys, options.live), sep="\n", flush=True)
            return
        for row in rows(stores, options.only, options.times):
            print(row, flush=True)


if __name__ == "__main__":
    main()
