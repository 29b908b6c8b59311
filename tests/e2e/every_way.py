"""Everything that people do on the pages, in three engines, all languages and both layouts: run by `make long NAME=canaries`.

People with opposite answers go each way; what their browsers keep, ask for and send, and what the server notes down, is compared as in
`test_states.py`, which has the slice for every day. Together they use every control there is.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from typing import Any

import pytest
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.study import Study
from tests.kit.pages.ways import WAYS, sending

from deniable_server.web.languages import LANGUAGES

pytestmark = pytest.mark.browser

SESSIONS = int(os.environ.get("DENIABLE_CANARY_SESSIONS", "48"))
STUDIES = -(-SESSIONS // (4 * len(ENGINES)))
"""How many studies there are in each engine; each has four people at least."""
LAYOUTS = ("list", "steps", "steps", "list", "list", "steps", "list")
CASES = list(itertools.islice(zip(itertools.cycle(WAYS), itertools.cycle(LANGUAGES), itertools.cycle(LAYOUTS), strict=False), STUDIES))
"""In turn, so that no two ways have the same languages and layouts."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("way", "language", "layout"), CASES)
def test_nothing_follows_the_answer_on_any_way(study: Callable[..., Study], engine: str, way: Any, language: str, layout: str) -> None:
    visit, keys = way
    made = study(engine, more=f"?lang={language}", layout=layout, **keys)
    found = made.traces(visit)
    print(f"\n{made.sessions} respondents, {engine}, {visit.__name__}, {language}, {layout}: {sum(map(len, found.values()))} traces")
    assert found == {}


@pytest.mark.parametrize("engine", ["chromium"])
def test_people_use_every_control_of_every_page_and_nobody_else_sees_what_they_answer(study: Callable[..., Study], engine: str) -> None:
    there, used = set[str](), set[str]()
    for (visit, keys), layout in zip(WAYS, itertools.cycle(("list", "steps")), strict=False):
        made = study(engine, disk=False, layout=layout, **keys)
        assert made.traces(visit, each=1) == {}, visit.__name__
        there |= made.controls.there
        used |= made.controls.used
    assert there - used == set()
    assert len(made.controls.unused) > 20, "the control: not on each way"


@pytest.mark.parametrize(
    ("leak", "told"),
    [
        (b'if (answers[0] === "yes") crypto.getRandomValues(new Uint8Array(1));', "page.did="),
        (b'if (answers[0] === "yes") history.replaceState("asking", "", "?yes");', "page.address="),
        (b'if (answers[0] === "yes") fetch("/static/base.css?more");', "network: "),
        (b'if (answers[0] === "yes") localStorage.more = 1;', "page.local.more="),
    ],
)
def test_what_follows_the_answer_is_found_wherever_it_shows(study: Callable[..., Study], leak: bytes, told: str) -> None:
    """The controls: pages that toss once more, or change the address, or ask for something, or keep something, after one of the answers."""
    made = study("chromium", disk=False)
    taken = b"const answers = controls.take();"
    made.proxy.alter["/browser/respond.mjs"] = (taken, taken + leak)
    made.proxy.unsealed.add(f"/s/{made.survey.id}")
    found = made.traces(sending, most=1, each=1)
    assert any(trace.startswith(told) for trace in found["sent"])
