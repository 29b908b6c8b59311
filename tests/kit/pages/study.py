"""One survey, and everybody who answers it with one engine: what their browsers keep, what they send, what the server notes down.

Coins fall so that the same record comes out, whatever is answered; so whatever follows the answer is a trace of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.kit.pages import profiles
from tests.kit.pages.asked import EVERY_TYPE, Asked
from tests.kit.pages.controls import Controls
from tests.kit.pages.dice import alike, coins
from tests.kit.pages.engines import ENGINES
from tests.kit.pages.person import Person
from tests.kit.pages.visits import HASTE

from deniable.survey import Survey

SURVEY: dict[str, Any] = {
    "title": "A study",
    "about": "Who asks, and why.\n\n" + "And a long text beside it. " * 12,
    "contact": "Ada Lovelace, ada@example.org",
    "ethics": "Board of ethics, no. 7",
    "thanks": "Thank you.",
    "closed": "Enough people have answered.",
    "return_link": "https://127.0.0.1:9/complete",
    "epsilon": 5,
}
MOST = 10
"""Runs for each answer, before what still separates them counts as a trace: a second of a clock has two bits that come to the disk."""

STAYS = """const later = setTimeout; window.setTimeout = (f, ms) => later(f, ms < 25_000 ? ms : 3_600_000);
const often = setInterval; window.setInterval = (f, ms) => often(f, ms < 25_000 ? ms : 3_600_000);"""
"""A record that waits does not go out by itself after half a minute: on a busy machine it takes longer to look at what is kept."""

DOES = """
window.did = [];
const tell = (object, name, say) => {
  const real = object[name];
  object[name] = function (...given) { window.did.push(`${name} ${say(...given)}`); return real.apply(this, given); };
};
tell(Crypto.prototype, "getRandomValues", (array) => array.length);
tell(SubtleCrypto.prototype, "digest", (_, bytes) => bytes.length ?? bytes.byteLength);
tell(Storage.prototype, "setItem", (_, text) => text.length);
tell(Storage.prototype, "removeItem", () => "");
tell(History.prototype, "pushState", (state) => JSON.stringify(state));
tell(History.prototype, "replaceState", (state) => JSON.stringify(state));
tell(window, "fetch", (_, more) => `${more?.method} ${more?.body?.length}`);
"""
"""What the page asks of the browser, in turn, with how much of it: whoever watches the device or the clock may see that."""
PAGE = """const answering = document.querySelector("#questions:not([hidden]), #review:not([hidden])") !== null;
const saved = document.documentElement.cloneNode(true);
for (const board of saved.querySelectorAll("[data-board]")) board.remove();
return { did: location.pathname.startsWith("/s/") ? window.did.join() : "",
  address: location.href, title: document.title, name: window.name,
  entries: history.length, state: history.state, scrolled: [scrollX, scrollY],
  cookies: document.cookie, local: { ...localStorage }, session: { ...sessionStorage },
  whole: answering ? [] : saved.outerHTML.replaceAll("><", ">\\n<").split("\\n") }"""
"""What is in the page: also all that it would be saved with, before the first question and after the last look.

But for the boards of the practice, which is about another question: they say which of their buttons was pressed.
"""
IDS = re.compile(r"[0-9a-f]{16,}|\d+")


def copied_if_still_there(source: str, target: str) -> None:
    """A running browser removes files between the listing of a folder and their copies."""
    with contextlib.suppress(FileNotFoundError):
        shutil.copy2(source, target)


class Session:
    """One person, from the first page to the last; `states` is what was found at each that was looked at."""

    def __init__(self, study: Study, which: int, profile: Path) -> None:
        self.study, self.which, self.profile = study, which, profile
        self.proxy, self.link = study.proxy, study.link
        self.states: dict[str, profiles.Profile] = {}
        self.secret = hashlib.sha256(str(profile).encode()).digest()[:15]  # of the withdrawal code
        self._heads, self._bodies = len(self.proxy.heads), len(self.proxy.bodies)
        self._log = len(self._server_log())
        self.person = self.open_again()

    def open_again(self) -> Person:
        """The browser is opened, for the first time or once more."""
        asked = self.study.asked
        self.person = Person(self.study.open(self.profile), asked.single, asked.answers[self.which], self.study.controls)
        return self.person

    def script(self, more: str = "") -> None:
        """Has the page run a script before its own, after those that every session has."""
        tosses = coins(self.study.survey, self.study.words[self.which], self.secret, late=True)
        self.proxy.inserted[self.study.path] = HASTE + STAYS + tosses + DOES + more

    def see(self, state: str, *, last: bool = False) -> None:
        """What would be found on the disk, by the network and at the server if the power failed now; `last` has it fail."""
        page = profiles.leaves("page", self.person.driver.execute_script(PAGE))
        if self.study.disk:
            self.person.driver.flushed(self.proxy.url)
        if last:
            self.person.driver.kill()
        self.states[state] = self._on_disk() if last else self._copied()
        self.states[state].facts.update((*page, *self._around()))

    def close(self, state: str) -> None:
        """The browser is closed as a person closes it, and what it leaves is looked at."""
        self.person.driver.quit()
        self.states[state] = self._on_disk()
        self.states[state].facts.update(self._around())

    def _on_disk(self) -> profiles.Profile:
        return profiles.read(self.profile) if self.study.disk else profiles.Profile()

    def _copied(self) -> profiles.Profile:
        if not self.study.disk:
            return profiles.Profile()
        copy = self.profile.with_name("copy")
        shutil.copytree(self.profile, copy, symlinks=True, copy_function=copied_if_still_there)
        found = profiles.read(copy)
        shutil.rmtree(copy)
        return found

    def _around(self) -> Iterator[str]:
        """What the network and the server saw of this person: each request, but for those of the tests' own tabs."""
        own = Counter(head for head in self.proxy.heads[self._heads :] if "mark-" not in head.partition("\n")[0])
        yield from (f"network: {count} times {head}" for head, count in own.items())  # those of one page come in any order
        for body in self.proxy.bodies[self._bodies :]:
            yield from (f"network: body of {len(body)} {leaf}" for leaf in profiles.leaves("", json.loads(body)))
        yield from (f"log: {place} {line}" for place, line in enumerate(IDS.sub("#", self._server_log()[self._log :]).splitlines()))

    def _server_log(self) -> str:
        return str(self.proxy.site.server.log.read_text(encoding="utf-8"))


class Study:
    """`keys` are the survey's own; `more` stands in the link, before its end. Without `disk`, nobody looks at the profiles.

    `asked` is what the survey asks and what two people say to it; `place` is what stands behind the survey's address, as `/kiosk`.

    Everybody begins with a profile that has been used before, of which `blanks` has one for each engine.
    """

    def __init__(
        self,
        engine: str,
        proxy: Any,
        folder: Path,
        blanks: Path,
        *,
        disk: bool = True,
        more: str = "",
        asked: Asked = EVERY_TYPE,
        place: str = "",
        **keys: Any,
    ) -> None:
        self.engine, self.proxy, self.folder, self.disk, self.asked = engine, proxy, folder, disk, asked
        name = f"state-{engine}-{next(_numbers)}"
        self.survey: Survey = proxy.site.publish(id=name, **{**SURVEY, "questions": asked.questions, **keys})
        self.path = f"/s/{self.survey.id}{place}"
        self.link = proxy.link(self.survey).replace("#", f"{place}{more}#")
        self.words = alike(self.survey, asked.answers)
        self.controls = Controls()
        folder.mkdir()
        self.opened: list[Any] = []
        self.sessions = 0
        self.blank = blanks / engine
        if not self.blank.exists():
            driver = self.open(self.blank)
            driver.get(f"{proxy.site.url}/static/base.css")  # opened again by everybody: it outlives the proxy
            driver.quit()

    def open(self, profile: Path) -> Any:
        driver = ENGINES[self.engine](profile)
        self.opened.append(driver)
        return driver

    def session(self, which: int) -> Session:
        self.sessions += 1
        profile = self.folder / f"run-{self.sessions}"
        shutil.copytree(self.blank, profile, symlinks=True)
        session = Session(self, which, profile)
        session.script()
        return session

    def traces(self, way: Callable[[Session], None], most: int = MOST, each: int = 2) -> dict[str, list[str]]:
        """What of the answer is found after each state of a way; as many people as it takes to be sure, `each` of an answer at least."""
        seen: list[list[dict[str, profiles.Profile]]] = [[], []]
        found: dict[str, list[str]] = {}
        for which in itertools.islice(itertools.cycle((0, 1, 1, 0)), 2 * most):
            session = self.session(which)
            way(session)
            session.person.driver.kill()
            shutil.rmtree(session.profile, ignore_errors=True)  # what outlives the browser may still tidy up
            seen[which].append(session.states)
            if len(seen[0]) == len(seen[1]) >= each:
                states = seen[0][0].keys()
                found = {s: t for s in states if (t := profiles.traces_of_the_answer([v[s] for v in seen[0]], [v[s] for v in seen[1]]))}
                if not found or len(seen[0]) == most:
                    break
        own = [json.loads(body) for body in self.proxy.bodies if self.survey.digest.encode() in body]
        assert len({body["reports"] for body in own}) <= 1, "coins fall alike, or nothing of this is known"
        return found


_numbers = itertools.count()
