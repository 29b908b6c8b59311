"""Rating blocks, sums of scores, answers in later texts, drawn orders and kiosks: nothing that is kept or sent follows the answer.

Two people say the contrary and their records come out alike, as in `test_states.py`, which has the other types of questions.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from tests.kit.pages import profiles
from tests.kit.pages.asked import RATED, SAME
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.study import Session, Study
from tests.kit.pages.ways import answering, on_a_shared_device, sending

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1800)]  # up to twenty people in turn, each in a browser of their own

LONG = "DENIABLE_CANARY_SESSIONS" in os.environ
KIOSK = {"place": "/kiosk"}
WAYS: list[tuple[Callable[[Session], None], dict[str, Any]]] = [
    (answering, {}),
    (on_a_shared_device, KIOSK),
    *([(answering, {"layout": "steps"}), (sending, {})] if LONG else []),
]
"""All of them with `make long NAME=canaries`."""


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("way", "keys"), WAYS, ids=lambda part: getattr(part, "__name__", None))
def test_nothing_follows_what_is_said_in_a_block_or_on_a_shared_device(
    study: Callable[..., Study], engine: str, way: Callable[[Session], None], keys: dict[str, Any]
) -> None:
    made = study(engine, asked=RATED, section_order="random", **keys)
    found = made.traces(way)
    print(f"\n{made.sessions} respondents, {engine}, {way.__name__}, {keys}: {sum(map(len, found.values()))} traces")
    assert found == {}


WORDS = (0, 5)
"""Words that give three items and two sections another order, and words that leave them as they are."""
DRAWS = """{ const own = Crypto.prototype.getRandomValues;
  Crypto.prototype.getRandomValues = function (array) {
    own.call(this, array);
    return array instanceof Uint32Array && !document.querySelector("#review:not([hidden])") ? array.fill(WORD) : array;
  }; }"""
FIRST = 'document.querySelector("#questions .grid .question [data-slot=text]").textContent'
SECTIONS = '[...document.querySelectorAll("#questions .section h2")].map(({ textContent }) => textContent)'


def ordered(session: Session) -> None:
    """Somebody who sends the answers; the order of the page is another for each of the two people."""
    session.script(DRAWS.replace("WORD", str(WORDS[session.which])))
    person = session.person
    person.start(session.link)
    person.answer_all()
    order = person.driver.execute_script(f"return [{FIRST}, {SECTIONS}[0]]")
    assert order == [["Trouble with sleep", "Remedies"], ["Little joy", "These days"]][session.which]
    person.press("send")
    person.goes("review", "thanks")
    session.see("sent", last=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_that_is_kept_or_sent_follows_the_order_of_items_and_sections(study: Callable[..., Study], engine: str) -> None:
    """In the page, its storage, the network and the server's log; on the disk, too, with `make long NAME=canaries`."""
    assert study(engine, disk=LONG, asked=SAME, section_order="random").traces(ordered) == {}


# Controls: the same search, where there is something to find.


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("what", "name"), [(FIRST, "row"), (f"{SECTIONS}[0]", "section")], ids=["row", "section"])
def test_an_order_that_the_page_keeps_is_found(study: Callable[..., Study], engine: str, what: str, name: str) -> None:
    made = study(engine, disk=False, asked=SAME, section_order="random")
    made.proxy.alter["/browser/respond.mjs"] = (TAKEN, f"localStorage.{name} = {what};".encode() + TAKEN)
    made.proxy.unsealed.add(made.path)
    found = made.traces(ordered, most=1, each=1)
    assert any(trace.startswith(f"page.local.{name}=") for traces in found.values() for trace in traces)


TAKEN = b"const answers = questionnaire.take();"
SECTION = b"fill(heading, this.#words.section(under, answerOf));"
LEAKS: dict[str, tuple[Callable[[Session], None], bytes, bytes, str]] = {
    "one draw more": (on_a_shared_device, TAKEN, TAKEN + b'if (answers[0] === "Nearly every day") cryptoWords()(1);', "page.did="),
    "kept for the next person": (on_a_shared_device, TAKEN, TAKEN + b"window.name = answers[0];", "page.name="),
    "one entry more for more options": (
        on_a_shared_device,
        TAKEN,
        TAKEN + b"if (answers[3].length > 1) localStorage.more = 1;",
        "page.local.more=",
    ),
    "an earlier answer in the address": (
        sending,
        SECTION,
        SECTION[:-1] + b', history.replaceState("", "", `?${heading.textContent}`);',
        "page.",
    ),
}


@pytest.mark.parametrize(("way", "line", "leak", "told"), LEAKS.values(), ids=LEAKS)
def test_a_page_that_follows_the_answer_is_found(
    study: Callable[..., Study], way: Callable[[Session], None], line: bytes, leak: bytes, told: str
) -> None:
    made = study("chromium", disk=False, asked=RATED, place="/kiosk" if way is on_a_shared_device else "")
    made.proxy.alter["/browser/kiosk.mjs" if way is on_a_shared_device else "/browser/respond.mjs"] = (line, leak)
    made.proxy.unsealed.add(made.path)
    found = made.traces(way, most=1, each=1)
    assert any(trace.startswith(told) for traces in found.values() for trace in traces)


@pytest.mark.parametrize("engine", ENGINES if LONG else ["webkit"])
def test_an_answer_of_a_block_in_the_title_is_found_on_the_disk(study: Callable[..., Study], engine: str) -> None:
    made = study(engine, asked=RATED)
    made.proxy.alter["/browser/respond.mjs"] = (SECTION, SECTION[:-1] + b", document.title = heading.textContent;")
    made.proxy.unsealed.add(made.path)
    assert profiles.says(made.traces(answering, most=1, each=1), "After Nearly every day")
