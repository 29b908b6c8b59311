"""A process that was forked, such as a web server's worker, shares no connection, no outbox and no ledger with its parent."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import sleep

import pytest

from deniable.delivery.outbox import Outbox
from deniable.delivery.per_process import PerProcess
from deniable.delivery.sender import Delivery
from deniable.delivery.transport import Transport
from deniable.errors import DeliveryError
from deniable.privacy.private_files import PrivateDatabase
from deniable.sdk.client import SurveyClient
from deniable.wire.submission import Submission

pytestmark = [
    pytest.mark.real_coins,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),
]
ANSWERS = {"smokes": "yes", "party": "Red"}


def forked(work: Callable[[], object]) -> int:
    """Does something in a child, and gives the child's number. Its exit says whether it raised."""
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            work()
            failed = 0
        finally:
            os._exit(failed)
    return child


def ended(child: int) -> bool:
    """Whether a child came to its end without an error."""
    return os.waitpid(child, 0)[1] == 0


def test_workers_of_one_client_send_over_connections_of_their_own(server, outbox):
    """On a shared one each could read the reply to the other's record, and forget a record that the server does not have."""
    with SurveyClient(server.url, outbox=outbox, retries=0) as client:
        client.submit("study", ANSWERS)
        children = [forked(lambda: client.submit("study", ANSWERS)) for _ in range(2)]
        client.submit("study", ANSWERS)
        assert all(map(ended, children))
    parent, *others = {seen.port: None for seen in server.posts}
    assert [sum(seen.port == port for seen in server.posts) for port in (parent, *others)] == [2, 1, 1]
    assert server.counted == 4


def test_threads_that_are_the_first_at_once_share_one_outbox_and_leave_no_lock(server, outbox, tmp_path):
    made, together = [], threading.Barrier(8)
    own = PerProcess(lambda: made.append(sleep(0.02)) or object())
    first = [threading.Thread(target=lambda: (together.wait(), own.get())) for _ in range(8)]
    with SurveyClient(server.url, outbox=outbox, retries=0) as client:
        first += [threading.Thread(target=lambda: client.submit("study", ANSWERS)) for _ in range(4)]
        for thread in first:
            thread.start()
        for thread in first:
            thread.join()
    assert len(made) == 1
    assert server.counted == 4
    assert [path.name for path in outbox.parent.iterdir() if path.name.endswith("lock")] == []


def test_the_control_a_connection_from_before_the_fork_is_the_parents(server, outbox, monkeypatch):
    with SurveyClient(server.url, outbox=outbox, retries=0) as client:
        client.submit("study", ANSWERS)
        inherited = client._transport._http.get()
        monkeypatch.setattr(client._transport._http, "get", lambda: inherited)
        assert ended(forked(lambda: client.submit("study", ANSWERS)))
    assert len({seen.port for seen in server.posts}) == 1


def kept_by_a_worker_whose_parent_ends_first(outbox: Path) -> int:
    """How many records are in the outbox: one that a worker put there while its parent had it open, and one from later."""
    began, parent_ended = os.pipe(), os.pipe()
    delivery = Delivery(Transport("http://127.0.0.1:9", 1, 0), outbox)
    assert delivery.outbox.urls() == []

    def work() -> None:
        for step in range(2):
            delivery.outbox.add("u", "s", Submission(bytes([step] * 16), "d", 1, b"x"))
            if not step:
                os.write(began[1], b"1")
                os.read(parent_ended[0], 1)

    child = forked(work)
    os.read(began[0], 1)
    delivery.close()
    os.write(parent_ended[1], b"1")
    assert ended(child)
    for end in (*began, *parent_ended):
        os.close(end)
    with closing(Outbox(outbox)) as later:
        return later.waiting("u")


def test_what_a_worker_keeps_outlives_its_parent(outbox):
    assert kept_by_a_worker_whose_parent_ends_first(outbox) == 2


def test_the_control_a_file_that_is_open_while_forking_loses_it(outbox, monkeypatch):
    """SQLite's locks are its parent's alone, which removes the log that the worker still writes to."""
    monkeypatch.setattr(PrivateDatabase, "suspend", lambda file: file._mutex.acquire())
    assert kept_by_a_worker_whose_parent_ends_first(outbox) < 2


def test_a_worker_that_ends_leaves_the_job_and_the_records_of_its_parent_alone(server, outbox):
    """Whoever took the job over would randomize its rows again."""
    with SurveyClient(server.url, outbox=outbox, retries=0) as client:
        client.submit("study", ANSWERS)
        client.outbox.begin(server.url, "study", "monday", "d", "m")
        waits = client.survey("study").perturb(ANSWERS).submission.id
        client.outbox.claim(server.url)
        assert ended(forked(client.close))
        other = Outbox(outbox)
        with pytest.raises(DeliveryError, match="another process is working on it"):
            other.begin(server.url, "study", "monday", "d", "m")
        assert (other.claim(server.url), other.waiting(server.url)) == ([], 1)
        other.close()
        assert client.outbox.load(waits)[0] == "study"


def test_a_fork_waits_for_a_charge_that_is_under_way_and_the_worker_charges_too(server, outbox, tmp_path):
    with SurveyClient(server.url, outbox=outbox, ledger=tmp_path / "ledger", retries=0) as client:
        held, forking = threading.Event(), threading.Event()

        def charging() -> None:
            with client._ledger._file.transaction():
                held.set()
                forking.wait()

        midst = threading.Thread(target=charging)
        midst.start()
        held.wait()
        os.register_at_fork(before=forking.set)  # those that are registered last come first
        child = forked(lambda: client.submit("study", ANSWERS, person="a"))
        midst.join()
        client.submit("study", ANSWERS, person="a")
        assert ended(child)
        assert client._ledger.spent(client._ledger.hashed("a"))[:2] == (1, 2)


def test_each_process_makes_its_own_and_a_child_of_a_child_too():
    made: list[int] = []
    own = PerProcess(lambda: made.append(os.getpid()) or object())

    def differs(inherited: object) -> None:
        assert own.get() is not inherited
        assert own.get() is own.get()
        assert made[-1] == os.getpid()

    first = own.get()

    def child() -> None:
        differs(first)
        mine = own.get()
        assert ended(forked(lambda: differs(mine)))
        assert own.detach() is mine
        assert own.detach() is None

    assert ended(forked(child))
    assert own.get() is first
    assert made == [os.getpid()]
    assert Transport("http://127.0.0.1:1", 1, 0).close() is None  # nothing was opened


def forks_of_several_threads(outbox: Path) -> list[bool]:
    """Whether each child came to its end, of three threads that fork at once, several times, while a fourth opens files and closes them."""
    done: list[bool] = []
    with closing(Outbox(outbox)) as kept:

        def forking() -> None:
            for _ in range(8):
                done.append(ended(forked(lambda: kept.waiting("u"))))

        threads = [threading.Thread(target=forking) for _ in range(3)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            Outbox(outbox.with_name("other")).close()
        return done


@pytest.mark.slow
def test_threads_that_fork_at_once_do_not_wait_for_one_another(outbox):
    assert forks_of_several_threads(outbox) == [True] * 24


def test_a_file_closed_after_a_fork_is_not_opened_for_that_and_stays_closed(tmp_path):
    path = tmp_path / "file"
    kept = PrivateDatabase(str(path), lambda error: DeliveryError(str(error)))
    assert ended(forked(kept.close))
    path.unlink()
    kept.close()
    kept.close()
    with pytest.raises(DeliveryError, match="the file was closed"), kept.transaction():
        pass
    assert not path.exists()
