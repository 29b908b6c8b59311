"""Real browsers for the tests: `browser` is shared by the whole run, `new_browser` opens fresh profiles for one test. And the vectors."""

from __future__ import annotations

import gc
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome
from tests.kit.coins import REAL, tossed_for
from tests.kit.pages.chromium import open_browser
from tests.kit.pages.fonts import write_fontconfig
from tests.kit.tls import shared_certificates

LONGEST = (
    "e2e/test_states.py",
    "e2e/test_device_states.py",
    "server/store/test_store_model.py",
    "server/store/postgres/test_processes.py",
    "e2e/test_whole_study.py",
    "e2e/test_journey.py",
    "server/operate/test_move.py",
    "e2e/test_canaries.py",
    "server/operate/test_documentation.py",
    "client/test_frames.py",
    "e2e/test_results_look.py",
    "e2e/test_engines.py",
    "client/verify/test_verify.py",
    "server/researchers/test_guessers.py",
    "server/store/test_kill.py",
    "e2e/test_accessibility.py",
    "e2e/test_respondent_steps.py",
    "server/store/sqlite/test_unordered.py",
    "test_packaging.py",
    "client/sdk/test_client.py",
    "server/operate/test_server_lock.py",
    "server/front/test_stalls.py",
    "server/api/test_hostile_posts.py",
    "test_notebook.py",
    "server/api/test_invitations.py",
)
"""The files that take longest, first: one that starts last would be waited for by all other processes."""


MEMORY, ROOM = Path("/dev/shm"), 4 << 30  # where files are kept in memory, and the bytes that have to be free


def pytest_configure() -> None:
    """Sets up what all tests share: temporary files in memory, no garbage collection meanwhile, and the fonts that DENIABLE_FONTS names.

    Files are kept in memory where there is room: a disk takes its time for each commit, most where others use it, too.

    No test can tell: a killed process loses what it has not written, and a disk what it has not kept only when the power fails.
    """
    if "TMPDIR" not in os.environ and MEMORY.is_dir():
        free = min(shutil.disk_usage(MEMORY).free, os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
        if free > ROOM:
            os.environ["TMPDIR"], tempfile.tempdir = str(MEMORY), None
    os.environ.setdefault("DENIABLE_NICENESS", "0")  # else what computes in a test's server starves beside all other tests
    gc.disable()
    if (fonts := os.environ.get("DENIABLE_FONTS")) and "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ["FONTCONFIG_FILE"] = str(write_fontconfig(fonts, Path(tempfile.mkdtemp(prefix="fonts-"))))


def pytest_collection_finish() -> None:
    """What is loaded by now stays: to look through it for garbage, again and again, took a fifth of the time."""
    gc.freeze()
    gc.enable()


SERVERS = {"make_server", "shipped", "site", "upstream"}
"""The fixtures that start a `deniable-server` of its own: whoever asks for one is slow."""


IN_VAIN = ["not within [0-9]+ seconds", "TimeoutException"]
"""Who has waited in vain, beside other tests, waits once more; who has seen something wrong fails at once.

Of the others nobody waits; and to ask whether they are to be run again took 40 ms for each of them.
"""


@pytest.hookimpl(tryfirst=True)  # before some are chosen by their marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    order = {folder / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path, len(order)))
    for item in items:
        if SERVERS.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)
        if "PYTEST_XDIST_WORKER" in os.environ and any(map(item.get_closest_marker, ("browser", "slow"))):
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=IN_VAIN))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """The test's own coins, and those of the fixtures that it is the first to ask for."""
    with nullcontext() if REAL or item.get_closest_marker("real_coins") else tossed_for(item.nodeid):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def certificates() -> Iterator[None]:
    with shared_certificates():
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[Chrome]:
    """One Chromium for the whole run, whose pages share a process: one for each takes half as long again. Leave nothing behind in it."""
    with open_browser(arguments=("--renderer-process-limit=1", "--disable-site-isolation-trials")) as driver:
        yield driver


@pytest.fixture
def new_browser() -> Iterator[Callable[..., Chrome]]:
    """`new_browser(**options of open_browser)` gives a Chromium with a fresh profile, closed when the test ends."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(open_browser(**options))


@pytest.fixture(scope="session")
def vectors() -> Callable[[str], Any]:
    """`vectors(name)` gives what `tests/vectors/NAME.json` holds."""
    folder = Path(__file__).parent / "vectors"
    return lambda name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
