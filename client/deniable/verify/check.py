"""Verification of a served page: fetches everything that a respondent's browser would, and compares it with the release."""

from __future__ import annotations

import math
import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx

from deniable.errors import RefusedError
from deniable.survey import Survey
from deniable.survey.types.base import printable
from deniable.verify import loads
from deniable.verify.reference import Reference, masked, reference
from deniable.verify.released import FILE, Released, belongs, fingerprint, name, sha384
from deniable.verify.replies import REQUIRED, Browser, Reply, broken_headers, no_reply
from deniable.verify.visits import Kind as VisitKind
from deniable.verify.visits import Visit, other_pages, survey_pages, translated_pages
from deniable.wire.link import Link

Kind = Literal["differs", "missing", "unexpected"]
_TYPES = {
    ".mjs": "text/javascript; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    "": "text/html; charset=utf-8",
}
_KINDS: Mapping[str, VisitKind] = {".css": "style", ".json": "data"}
"""How a browser asks for files that are no scripts."""
_SHOWN = 3


class Finding(NamedTuple):
    """Something that differs from the release: a page, a file, a header, an element, the definition."""

    kind: Kind
    name: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """Result of a verification. checked: the comparisons, in sentences. findings: the differences. digest: of the definition served.

    left: what was not compared. ran: the SHA-384 of each script that ran in a real browser, by address, where one was used.
    script: that of the page's one script, as it was served.
    """

    url: str
    survey: str
    digest: str | None
    checked: tuple[str, ...]
    findings: tuple[Finding, ...]
    left: tuple[str, ...] = ()
    ran: Mapping[str, str] = field(default_factory=dict)
    script: str | None = None


def verify(link: Link, released: Released | None = None, *, browser: str | None = None) -> Verdict:
    """Compares what the server of a respondents' link serves, in every language, with what was released.

    The page and every file must have the released hashes, the modules must make the file that runs, the replies must have the
    released headers and no others, and the definition must be what its epsilons imply and what the link's digest says. Where the
    [server] extra is installed, all other pages and forms, and the replies to damaged requests, must be byte for byte what the
    installed server replies for this definition.
    browser: a Chromium to load the page with as well; what it received and ran is compared.

    No answer and no record is sent, nor the link's group or code. Raises DeliveryError where the server or the browser cannot be reached.
    """
    http = Browser(link.url)
    try:
        return _Verification(link, released or Released.load(), http).verdict(browser)
    finally:
        http.close()


class _Verification:
    def __init__(self, link: Link, released: Released, browser: Browser) -> None:
        self.link, self.released, self.browser = link, released, browser
        self.findings: list[Finding] = []
        self.headers: dict[tuple[Kind, str, str], list[str]] = {}  # where each header is wrong in the same way
        self.named: dict[str, str] = {}  # by which file or element an address is loaded
        self.replies = 0
        self.compared = False  # with the installed server
        self.defined: bytes | None = None
        self.script: str | None = None

    def verdict(self, browser: str | None) -> Verdict:
        self.connection()
        kinds = self.pages()
        self.files()
        survey, told = self.definition()
        self.kinds(translated_pages(self.link.survey, self.further(survey)))
        checked = [f"the page ({', '.join(kinds) or 'unknown'}) in {', '.join(self.released.pages)}", self.count_of_files()]
        state = next((state for state in ("closed", "paused") if any(kind.startswith(state) for kind in kinds)), "open")
        checked += [told, *(self.others(survey, state) if survey else ())]
        ran = self.run_in(browser) if browser else {}
        checked += [f"what {browser} ran: {len(ran)} scripts"] if browser else []
        for (kind, header, message), places in self.headers.items():
            self.find(kind, f"header {header}", f"{message} (in {_listed(places)})")
        checked.insert(2, f"the headers of {self.replies} replies")
        left = () if self.compared or not survey else (_LEFT,)
        digest = survey.digest if survey else None
        return Verdict(self.link.url, self.link.survey, digest, tuple(checked), tuple(self.findings), left, ran, self.script)

    def count_of_files(self) -> str:
        kinds = Counter(posixpath.splitext(path)[1] for path in self.released.files)
        scripts = f"{kinds['.js'] + kinds['.mjs']} scripts, of which {FILE} is compared with what the modules make"
        return f"{scripts}, {kinds['.css']} style sheets, the names of languages, and what they load"

    def further(self, survey: Survey | None) -> list[str]:
        """The languages of the survey that have no released page of their own."""
        return [tag for tag in survey.languages if tag not in self.released.pages] if survey else []

    def find(self, kind: Kind, name: str, message: str) -> None:
        self.findings.append(Finding(kind, _clean(name), _clean(message)))

    def connection(self) -> None:
        parts = urlsplit(self.link.url)
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            self.find(
                "differs", "address", f"must begin with https://, got {parts.scheme}://: on the way, anybody can change what is served"
            )
        if parts.path:
            self.find(
                "differs", "address", f"must have its surveys at {parts.scheme}://{parts.netloc}/s/: the page loads its files from there"
            )

    def check_headers(self, path: str, reply: Reply, wanted: Mapping[str, str]) -> None:
        self.replies += 1
        for kind, header, message in broken_headers(reply, wanted, self.link.url.startswith("https:")):
            self.headers.setdefault((kind, header, message), []).append(path)  # type: ignore[arg-type]

    def get(self, visit: Visit, mimetype: str) -> bytes | None:
        """The body of a 200 with the right headers; what else comes back is a finding."""
        reply = self.browser.get(visit, self.browser.headers(visit))
        return self.body(visit.path, reply, mimetype)

    def body(self, path: str, reply: Reply, mimetype: str) -> bytes | None:
        if reply.status != 200:
            self.replies += 1
            self.find("missing", path, no_reply(reply))
            return None
        self.check_headers(path, reply, {**self.released.headers, "Content-Type": mimetype})
        if reply.body is None:
            self.find("differs", path, "is longer than anything that was released")
        return reply.body

    def pages(self) -> list[str]:
        """Checks the page as readers of each language get it, whatever stands behind the link. Gives its kinds."""
        return self.kinds(survey_pages(self.link.survey, tuple(self.released.pages)))

    def kinds(self, visits: Iterable[Visit]) -> list[str]:
        """The kinds of the released pages that these visits get; what is none of them is a finding."""
        kinds: list[str] = []
        for visit in visits:
            body = self.get(visit, _TYPES[""])
            if body is not None:
                kinds += self.page(visit.path, visit.language, body)
        return list(dict.fromkeys(kinds))

    def page(self, address: str, language: str, body: bytes) -> list[str]:
        own = fingerprint(body, self.link.survey)
        kinds = [kind for kind, known in self.released.pages[language].items() if known == own]
        if not kinds:
            self.find("differs", f"{address} ({language})", f"is not the page of {name()}")
        for load in loads.of_page(body.decode("utf-8", "replace")):
            if load.url is not None and load.url != "data:,":
                self.name(urljoin(address, load.url), load.element)
            elif load.url is None and not kinds:
                self.find("unexpected", f"{address} ({language})", f"runs code of its own: {load.element[:200]}")
        return kinds[:1]

    def name(self, url: str, by: str) -> None:
        """Remembers an address that something loads; one on another host is as unexpected as an unknown file."""
        self.named.setdefault(url.removeprefix(self.link.url) if url.startswith(f"{self.link.url}/") else url, by)

    def files(self) -> None:
        got: dict[str, bytes] = {}
        for path, known in self.released.files.items():
            suffix = posixpath.splitext(path)[1]
            body = self.get(Visit(_KINDS.get(suffix, "module"), path), _TYPES[suffix])
            if body is not None:
                self.file(path, known, body)
                got |= {path: body} if path == FILE or sha384(body) == known else {}  # nobody joins what a stranger has written
        self.script = sha384(got[FILE]) if FILE in got else None
        if got.keys() == self.released.files.keys() and not belongs(got):
            self.find("differs", FILE, "is not the file that the modules beside it make")
        for path, by in self.named.items():
            if path not in self.released.files and path != self.data:
                self.find("unexpected", path, f"is no file of {name()}, and is loaded by {by[:200]}")

    def file(self, path: str, known: str, body: bytes) -> None:
        if sha384(body) == known:
            return
        self.find("differs", path, f"is not the file of {name()}: its hash must be {known}, got {sha384(body)}")
        for url in loads.of_file(path, body.decode("utf-8", "replace")):
            self.name(urljoin(path, url), path)

    @property
    def data(self) -> str:
        """The address of the definition, which is checked by itself."""
        return f"/api/v1/surveys/{self.link.survey}"

    def definition(self) -> tuple[Survey | None, str]:
        """Checks the definition as a client does. Gives it, and what can be said of it."""
        body = self.get(Visit("data", self.data), "application/json")
        self.defined = body
        if body is None:
            return None, "no definition"
        try:
            survey = Survey.from_definition(body)
        except RefusedError as error:
            self.find("differs", self.data, str(error))
            return None, "no definition that clients accept"
        if survey.id != self.link.survey:
            self.find("differs", self.data, f"must be the definition of {self.link.survey}, got survey {survey.id}")
        if self.link.digest not in (None, survey.digest):
            self.find("differs", self.data, f"must have the digest that the link says, {self.link.digest}, got {survey.digest}")
        pinned = "as the link says" if self.link.digest else "the link names none to compare it with"
        most = f"{math.ceil(survey.epsilon * 1e4) / 1e4:.4f}".rstrip("0").rstrip(".")  # as `deniable check` says it
        told = f"the definition: {len(survey.questions)} questions, their coins computed again; epsilon {most} at most in all"
        return survey, f"{told}; digest {survey.digest}, {pinned}"

    def others(self, survey: Survey, state: str) -> Iterator[str]:
        """Compares the other pages and forms, and the replies to damaged requests, with those of the installed server."""
        if survey.id != self.link.survey or not (right := reference(survey, self.link.url)):
            return
        try:
            right.state = state
            visits = list(other_pages(self.link.survey, (*self.released.pages, *self.further(survey))))
            for visit in visits:
                self.compare(visit, right)
        finally:
            right.close()
        self.compared = True
        yield f"{len(visits)} requests for other pages and forms, and damaged ones, with the replies of the installed server"

    def compare(self, visit: Visit, right: Reference) -> None:
        told = self.browser.headers(visit)
        reply, place = self.browser.get(visit, told), f"{visit.method} {visit.path} ({visit.language})"
        status, headers, body = right.reply(visit.method, visit.path, told, visit.body)
        self.check_headers(place, reply, {key: headers[key] for key in (*REQUIRED, "Content-Type", "Content-Language") if key in headers})
        if reply.status != status:
            self.find("differs", place, f"must reply with status {status}, got {reply.status}")
        elif reply.body is None or masked(reply.body) != masked(body):
            self.find("differs", place, f"is not the reply of {name()}: {_difference(body, reply.body)}")

    def run_in(self, browser: str) -> dict[str, str]:
        """Loads the page in a real browser, and compares what that received and ran. Gives the hash of each script that ran."""
        from deniable.verify import chromium

        seen = chromium.load(browser, f"{self.link.url}/s/{self.link.survey}")
        for url, reply in seen.replies.items():
            self.received(url.removeprefix(self.link.url), reply)
        for url in seen.asked - seen.replies.keys():
            self.received(url.removeprefix(self.link.url), Reply(0, httpx.Headers(), None))
        if not seen.arrived:
            self.find("differs", f"{browser}", "did not get to the page's first step")
        ran: dict[str, str] = {}
        for url, source in seen.scripts:
            path = url.removeprefix(self.link.url)
            ran[path or "no address"] = sha384(source.encode())
            if self.released.files.get(path) != sha384(source.encode()):
                self.find("unexpected", path or "code", f"ran in {browser}, and is none of {name()}: {source[:80]}")
        return ran

    def received(self, path: str, reply: Reply) -> None:
        """Compares one reply that a real browser got."""
        suffix = posixpath.splitext(path)[1]
        if path == f"/s/{self.link.survey}":
            if (body := self.body(path, reply, _TYPES[""])) is not None:
                self.page(path, "en", body)
        elif path in self.released.files:
            if (body := self.body(path, reply, _TYPES[suffix])) is not None:
                self.file(path, self.released.files[path], body)
        elif path == self.data:
            if self.body(path, reply, "application/json") != self.defined:
                self.find("differs", path, "is another definition for a real browser")
        elif path != "data:,":
            self.find("unexpected", path, f"was asked for by the page in a real browser, and is nothing of {name()}")


_LEFT = "the other pages and forms: install the extra server to compare them too"


def _difference(right: bytes, got: bytes | None) -> str:
    """The first line that differs."""
    if got is None:
        return "it is longer than anything that was released"
    for wanted, line in zip(right.splitlines(), got.splitlines(), strict=False):
        if masked(wanted) != masked(line):
            return f"got {line.strip()[:200].decode('utf-8', 'replace')} where it has {wanted.strip()[:200].decode('utf-8', 'replace')}"
    return f"{len(got):,} bytes instead of {len(right):,}"


def _listed(places: Iterable[str]) -> str:
    places = list(dict.fromkeys(places))
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more


def _clean(text: str) -> str:
    """Text that may have come from a server, harmless for a terminal."""
    text = " ".join(text.split())
    return text if printable(text) else "".join(char if printable(char) else "\N{REPLACEMENT CHARACTER}" for char in text)
