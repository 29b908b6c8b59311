"""Downloads from a running server hold back what the application holds back, also from somebody who goes on with an earlier one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import ServerProcess

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire.part import Mode
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.store import open_store

pytestmark = pytest.mark.slow

SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "slices",
        "title": "T",
        "about": "A.",
        "epsilon": "ln 3",
        "release": "close",
        "groups": ["North", "South", "West", "East"],
        "questions": [{"id": "q", "text": "?", "type": "yes_no"}],
    }
)
PEOPLE: dict[tuple[str, Mode], int] = {
    ("North", "device"): 400,
    ("South", "device"): 120,
    ("West", "device"): 12,
    ("East", "device"): 3,
    ("South", "by_hand"): 15,
    ("North", "by_hand"): 4,
}
FILES = ("bundle", *(f"bundle/{name}" for name in ("rows.csv", "rows.xlsx", "rows.parquet", "rows.sav", "rows.dta", "estimates.csv")))
REPORTS = tuple(f"reports{query}" for query in ("", "?form=arrow", "?form=parquet", "?group=South", "?group=East", "?by_hand=1"))


def submission(group: str, mode: Mode) -> Submission:
    bits = [randomize(item.channel, np.zeros(1, dtype=np.int64), os_words) for item in SURVEY.items]
    return Submission(os.urandom(16), SURVEY.digest, 1, pack(SURVEY, bits), group, mode=mode)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerProcess]:
    """A running server whose survey is closed."""
    server = ServerProcess(tmp_path)
    server.publish(SURVEY)
    with server.store() as store:
        for (group, mode), people in PEOPLE.items():
            for _ in range(people):
                store.submissions.add("slices", submission(group, mode))
        store.surveys.set_open("slices", False)
    server.start()
    yield server
    server.close()


@pytest.fixture
def headers(server: ServerProcess) -> dict[str, str]:
    with server.store() as store:
        return {"Authorization": f"Bearer {api_keys.make(store, 'reader', ['reports'])}", "Accept-Encoding": "identity"}


def get(server: ServerProcess, name: str, headers: dict[str, str]) -> httpx.Response:
    return httpx.get(f"{server.url}/api/v1/surveys/slices/{name}", headers=headers, timeout=PATIENCE)


def test_small_slices_are_withheld_from_streamed_files_as_from_whole_ones(server: ServerProcess, headers: dict[str, str]) -> None:
    store = open_store(server.db, writing=False)
    in_place = create_app(Config(server.db, "x" * 40), store).test_client()
    for name in (*FILES, *REPORTS):
        streamed, whole = get(server, name, headers), in_place.get(f"/api/v1/surveys/slices/{name}", headers=headers)
        assert (name, streamed.status_code, streamed.content) == (name, whole.status_code, whole.data)
    assert get(server, "reports?group=East", headers).status_code == 403
    header, *rows = get(server, "bundle/rows.csv", headers).text.splitlines()
    assert (header, len(rows)) == ("mode,q", sum(PEOPLE.values())), "no row has its group: the others' rows would tell East's"
    store.close()


def test_the_rest_of_a_file_is_refused_once_there_are_too_few_records_or_none(server: ServerProcess, headers: dict[str, str]) -> None:
    """The part between two looks: an owner raises the minimum, or deletes the records, while the file is kept."""
    first = get(server, "bundle/rows.csv", headers)
    rest = {**headers, "Range": "bytes=10-", "If-Range": first.headers["ETag"]}
    assert (get(server, "bundle/rows.csv", rest).status_code, first.status_code) == (206, 200)
    with server.store() as store:
        settings = store.life.settings("slices")
        store.life.keep("slices", replace(settings, least=5000))
    assert get(server, "bundle/rows.csv", rest).status_code == 403
    with server.store() as store:
        store.life.keep("slices", settings)
    assert get(server, "bundle/rows.csv", rest).status_code == 206
    with server.store() as store:
        store.life.erase("slices", "2026-11-27")
    erased = get(server, "bundle/rows.csv", rest)
    assert (erased.status_code, len(erased.text.splitlines())) == (200, 1), "the header alone"
