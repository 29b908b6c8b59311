"""Processes that compute: of lower priority, limited, unable to write, and ended when nobody waits for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.kit.patience import PATIENCE, wait_for
from tests.kit.surveys import STUDY

from deniable.errors import SurveyError
from deniable.survey import Survey
from deniable_server import Config
from deniable_server.front.processes import Pool
from deniable_server.operate.computing import MODULE, NICENESS
from deniable_server.store import open_store
from deniable_server.store.errors import UnavailableError
from deniable_server.store.protocol import Store
from deniable_server.web.offload import Broken, Gone, GoneError, Task, TooMuchError

pytestmark = pytest.mark.slow

ENVIRON = {
    "REQUEST_METHOD": "GET",
    "PATH_INFO": "/manage/surveys/study",
    "QUERY_STRING": "",
    "SERVER_NAME": "localhost",
    "SERVER_PORT": "80",
    "SERVER_PROTOCOL": "HTTP/1.1",
    "wsgi.url_scheme": "http",
}


def task(name: str, *arguments: object, seconds: int = 60) -> Task:
    return Task(f"tests.kit.breaks.computations:{name}", arguments, {}, seconds, ENVIRON, {}, {})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = open_store(tmp_path_factory.mktemp("computing") / "deniable.db")
    store.surveys.publish(Survey.from_text(STUDY))
    yield store
    store.close()


def pool_of(store: Store) -> Pool:
    path = store.database.path  # type: ignore[attr-defined]
    return Pool(1, MODULE, (Config(path, "x" * 40), "text"))


@pytest.fixture(scope="module")
def pool(store: Store) -> Iterator[Pool]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NICENESS, "7")
        made = pool_of(store)
        yield made
        made.close()


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").exists() and b"computing" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_computation_has_its_request_and_gives_way_to_everything_else(pool: Pool) -> None:
    niceness, path = pool.run(task("about"), Gone())
    assert (niceness - os.getpriority(os.PRIO_PROCESS, 0), path) == (7, "/manage/surveys/study")


def test_a_process_serves_one_computation_after_the_other(pool: Pool) -> None:
    assert pool.run(task("process"), Gone()) == pool.run(task("process"), Gone()) != os.getpid()


def test_a_computation_whose_client_has_gone_is_killed_and_the_next_one_has_another_process(pool: Pool, tmp_path: Path) -> None:
    gone, beginning = Gone(), tmp_path / "begun"
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(pool.run, task("endless", str(beginning)), gone)
        wait_for(lambda: beginning.exists() and beginning.read_text(), "a computation that has begun")
        gone.set()
        with pytest.raises(GoneError):
            running.result(PATIENCE)
    pid = int(beginning.read_text())
    wait_for(lambda: not is_running(pid), "the end of its process")
    assert pool.run(task("process"), Gone()) != pid


def test_nothing_is_begun_for_a_client_that_has_gone_already(pool: Pool, tmp_path: Path) -> None:
    gone = Gone()
    gone.set()
    with pytest.raises(GoneError):
        pool.run(task("endless", str(tmp_path / "begun")), gone)
    assert not (tmp_path / "begun").exists()


def test_a_computation_that_takes_too_long_is_ended_and_the_next_one_is_done(pool: Pool) -> None:
    with pytest.raises(TooMuchError, match="more than the 1 seconds of computing"):
        pool.run(task("burning", seconds=1), Gone())
    assert pool.run(task("about"), Gone())


def test_a_computation_that_takes_too_much_memory_is_refused(pool: Pool) -> None:
    failed = pool.run(task("hungry"), Gone())
    with pytest.raises(TooMuchError, match="more memory than a request may use"):
        raise failed.error()


def test_a_process_that_dies_is_logged_with_its_exit_code(pool: Pool, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(TooMuchError, match="ended without a result"):
        pool.run(task("dying"), Gone())
    assert caplog.messages == ["a computing process ended without a result, with exit code -9"]
    assert pool.run(task("about"), Gone())


def test_the_limit_of_computing_is_that_of_each_computation_and_not_of_all(pool: Pool) -> None:
    for _ in range(3):
        assert pool.run(task("about", seconds=1), Gone())


def test_an_error_comes_back_as_it_was_raised(pool: Pool) -> None:
    failed = pool.run(task("refusing"), Gone())
    error = failed.error()
    assert isinstance(error, SurveyError)
    assert (str(error), error.problems[0].line) == (str(SurveyError(error.problems)), 3)


def test_an_error_that_nobody_expects_is_logged_without_its_message(store: Store, capfd: pytest.CaptureFixture[str]) -> None:
    secret, pool = "forty-two", pool_of(store)  # whose standard error is that of this test
    failed = pool.run(task("failing", secret), Gone())
    pool.close()
    assert isinstance(failed, Broken)
    assert (failed.reply.status, secret in failed.reply.body.decode()) == (500, False)
    logged = capfd.readouterr().err
    assert "ValueError" in logged
    assert secret not in logged


def test_a_process_that_computes_cannot_write(pool: Pool, store: Store) -> None:
    failed = pool.run(task("writing"), Gone())
    assert isinstance(failed.error(), UnavailableError)
    assert store.surveys.published("study").is_open


def test_all_processes_end_with_the_pool_and_leave_no_files(store: Store) -> None:
    pool = pool_of(store)
    pid = pool.run(task("process"), Gone())
    pool.close()
    wait_for(lambda: not is_running(pid) or _is_zombie(pid), "the end of the process")
    assert not pool.folder.exists()


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True
