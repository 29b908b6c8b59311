"""Comparison of a server's replies with the release: fetches everything that a respondent's browser would."""

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
from deniable.verify.reference import ReferenceServer, mask_secret, reference_server
from deniable.verify.released import FILE, FILES, Released, fingerprint, is_joined_from_modules, name, sha384
from deniable.verify.replies import REQUIRED, Browser, Reply, broken_headers, status_problem
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
"""The kinds of requests for files that are not scripts."""
_LISTED = 3


class Finding(NamedTuple):
    """A difference from the release: of a page, a file, a header, an element or the definition."""

    kind: Kind
    name: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """Result of a verification.

    Attributes:
        url: The server.
        survey: The id of the survey.
        digest: The digest of the served definition.
        checked: The comparisons, in words.
        findings: The differences.
        left: The omitted comparisons, in words.
        ran: The SHA-384 hash of each script that ran in a real browser, by address.
        script: The SHA-384 hash of the page's script, as served.
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
    """Compares the replies of a survey's server, in every language, with the release.

    The page and every file must have the released hashes. The script must be the modules, joined. Replies must have the released
    headers and no others. The definition must follow from its epsilons, and have the link's digest. If the extra `deniable[server]` is
    installed, all other pages and forms, and the replies to damaged requests, must equal the installed server's, byte for byte.

    Sends no answer, no record, and neither the link's group nor its code.

    Args:
        link: The survey's link.
        released: The release; the installed one if left out.
        browser: A Chromium that loads the page too, to compare what it receives and runs.

    Raises:
        DeliveryError: The server or the browser cannot be reached.
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
        self.headers: dict[tuple[Kind, str, str], list[str]] = {}  # the addresses that have the same wrong header
        self.loaded_by: dict[str, str] = {}  # the file or element that loads each address
        self.replies = 0
        self.is_compared_with_server = False
        self.definition: bytes | None = None
        self.script: str | None = None

    def verdict(self, browser: str | None) -> Verdict:
        """Runs all comparisons, and returns the result."""
        self.check_address()
        kinds = self.check_survey_pages()
        self.check_files()
        survey, definition_in_words = self.check_definition()
        self.check_pages(translated_pages(self.link.survey, self.languages_without_page(survey)))
        checked = [f"the page ({', '.join(kinds) or 'unknown'}) in {', '.join(self.released.pages)}", self.files_in_words()]
        state = next((state for state in ("closed", "paused") if any(kind.startswith(state) for kind in kinds)), "open")
        checked += [definition_in_words, *(self.check_other_pages(survey, state) if survey else ())]
        ran = self.check_browser(browser) if browser else {}
        checked += [f"the {len(ran)} scripts that {browser} ran"] if browser else []
        for (kind, header, message), addresses in self.headers.items():
            self.find(kind, f"header {header}", f"{message} (in {_first_of(addresses)})")
        checked.insert(2, f"the headers of {self.replies} replies")
        left = () if self.is_compared_with_server or not survey else (_WITHOUT_SERVER,)
        digest = survey.digest if survey else None
        return Verdict(self.link.url, self.link.survey, digest, tuple(checked), tuple(self.findings), left, ran, self.script)

    def files_in_words(self) -> str:
        """Returns the number of released files, in words."""
        kinds = Counter(posixpath.splitext(path)[1] for path in self.released.files)
        scripts = f"{kinds['.js'] + kinds['.mjs']} scripts (and {' and '.join(FILES)} with their modules)"
        return f"{scripts}, {kinds['.css']} style sheets, the names of languages, and everything they load"

    def languages_without_page(self, survey: Survey | None) -> list[str]:
        """Returns the languages of the survey that have no released page."""
        return [tag for tag in survey.languages if tag not in self.released.pages] if survey else []

    def find(self, kind: Kind, name: str, message: str) -> None:
        """Adds a finding."""
        self.findings.append(Finding(kind, _clean(name), _clean(message)))

    def check_address(self) -> None:
        """Checks that the address is encrypted, and has no path before /s/."""
        parts = urlsplit(self.link.url)
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            self.find("differs", "address", f"must begin with https://, got {parts.scheme}://: anyone on the network can change the page")
        if parts.path:
            self.find(
                "differs", "address", f"must have its surveys at {parts.scheme}://{parts.netloc}/s/, where the page loads its files from"
            )

    def check_headers(self, path: str, reply: Reply, required: Mapping[str, str]) -> None:
        """Checks the headers of a reply."""
        self.replies += 1
        for kind, header, message in broken_headers(reply, required, self.link.url.startswith("https:"), path == self.data):
            self.headers.setdefault((kind, header, message), []).append(path)  # type: ignore[arg-type]

    def get(self, visit: Visit, mimetype: str) -> bytes | None:
        """Returns the body of a reply with status 200; anything else is a finding, and wrong headers too."""
        reply = self.browser.get(visit, self.browser.headers(visit))
        return self.body(visit.path, reply, mimetype)

    def body(self, path: str, reply: Reply, mimetype: str) -> bytes | None:
        """Checks the status, the headers and the length of a reply, and returns its body."""
        if reply.status != 200:
            self.replies += 1
            self.find("missing", path, status_problem(reply))
            return None
        self.check_headers(path, reply, {**self.released.headers, "Content-Type": mimetype})
        if reply.body is None:
            self.find("differs", path, "is longer than anything in the release")
        return reply.body

    def check_survey_pages(self) -> list[str]:
        """Checks the page in each language and with common queries. Returns its kinds."""
        return self.check_pages(survey_pages(self.link.survey, tuple(self.released.pages)))

    def check_pages(self, visits: Iterable[Visit]) -> list[str]:
        """Checks that visits get released pages, and returns the kinds of these pages."""
        kinds: list[str] = []
        for visit in visits:
            body = self.get(visit, _TYPES[""])
            if body is not None:
                kinds += self.check_page(visit.path, visit.language, body)
        return list(dict.fromkeys(kinds))

    def check_page(self, address: str, language: str, body: bytes) -> list[str]:
        """Checks a page and remembers what it loads. Returns its kind; nothing if it is not a released page."""
        served = fingerprint(body, self.link.survey)
        kinds = [kind for kind, released in self.released.pages[language].items() if released == served]
        if not kinds:
            self.find("differs", f"{address} ({language})", f"is not a page of {name()}")
        for load in loads.of_page(body.decode("utf-8", "replace")):
            if load.url is not None and load.url != "data:,":
                self.remember_load(urljoin(address, load.url), load.element)
            elif load.url is None and not kinds:
                self.find("unexpected", f"{address} ({language})", f"runs additional code: {load.element[:200]}")
        return kinds[:1]

    def remember_load(self, url: str, by: str) -> None:
        """Remembers the first loader of an address; an address on another host stays whole, and is unexpected."""
        self.loaded_by.setdefault(url.removeprefix(self.link.url) if url.startswith(f"{self.link.url}/") else url, by)

    def check_files(self) -> None:
        """Checks every released file, that the script is made of its modules, and that nothing else is loaded."""
        files: dict[str, bytes] = {}
        for path, released in self.released.files.items():
            suffix = posixpath.splitext(path)[1]
            body = self.get(Visit(_KINDS.get(suffix, "module"), path), _TYPES[suffix])
            if body is not None:
                self.check_file(path, released, body)
                files |= {path: body} if path in FILES or sha384(body) == released else {}  # an unknown module is never parsed
        self.script = sha384(files[FILE]) if FILE in files else None
        if files.keys() == self.released.files.keys():
            for path in FILES:
                if not is_joined_from_modules(files, path):
                    self.find("differs", path, "must be the modules beside it, joined")
        for path, by in self.loaded_by.items():
            if path not in self.released.files and path != self.data:
                self.find("unexpected", path, f"is not a file of {name()}, but is loaded by {by[:200]}")

    def check_file(self, path: str, released: str, body: bytes) -> None:
        """Compares a file with its released hash; remembers what a different file loads."""
        if sha384(body) == released:
            return
        self.find("differs", path, f"is not the file of {name()}: its hash must be {released}, got {sha384(body)}")
        for url in loads.of_file(path, body.decode("utf-8", "replace")):
            self.remember_load(urljoin(path, url), path)

    @property
    def data(self) -> str:
        """The address of the definition."""
        return f"/api/v1/surveys/{self.link.survey}"

    def check_definition(self) -> tuple[Survey | None, str]:
        """Checks the definition as a client does. Returns the survey, if it is valid, and the definition in words."""
        body = self.get(Visit("data", self.data), "application/json")
        self.definition = body
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
            self.find("differs", self.data, f"must have the digest of the link, {self.link.digest}, got {survey.digest}")
        pinned = "as in the link" if self.link.digest else "which the link does not name"
        epsilon = f"{math.ceil(survey.epsilon * 1e4) / 1e4:.4f}".rstrip("0").rstrip(".")  # as `deniable check` prints it
        questions = f"{len(survey.questions)} question{'s' * (len(survey.questions) != 1)}"
        return survey, (
            f"the definition: {questions} with recomputed coins; epsilon at most {epsilon} in total; digest {survey.digest}, {pinned}"
        )

    def check_other_pages(self, survey: Survey, state: str) -> Iterator[str]:
        """Compares other pages and forms, and replies to damaged requests, with the installed server's. Yields this in words."""
        if survey.id != self.link.survey or not (server := reference_server(survey, self.link.url)):
            return
        try:
            server.state = state
            visits = list(other_pages(self.link.survey, (*self.released.pages, *self.languages_without_page(survey))))
            for visit in visits:
                self.compare(visit, server)
        finally:
            server.close()
        self.is_compared_with_server = True
        yield f"{len(visits)} requests for other pages and forms, some damaged, with the replies of the installed server"

    def compare(self, visit: Visit, server: ReferenceServer) -> None:
        """Compares the replies of both servers to a visit."""
        request = self.browser.headers(visit)
        reply, address = self.browser.get(visit, request), f"{visit.method} {visit.path} ({visit.language})"
        status, headers, body = server.reply(visit.method, visit.path, request, visit.body)
        required = {key: headers[key] for key in (*REQUIRED, "Content-Type", "Content-Language") if key in headers}
        self.check_headers(address, reply, required)
        if reply.status != status:
            self.find("differs", address, f"must reply with status {status}, got {reply.status}")
        elif reply.body is None or mask_secret(reply.body) != mask_secret(body):
            self.find("differs", address, f"is not the reply of {name()}: {_difference(body, reply.body)}")

    def check_browser(self, browser: str) -> dict[str, str]:
        """Compares what a real browser receives and runs. Returns the hash of each script that ran, by address."""
        from deniable.verify import chromium

        page_load = chromium.load(browser, f"{self.link.url}/s/{self.link.survey}")
        for url, reply in page_load.replies.items():
            self.check_received(url.removeprefix(self.link.url), reply)
        for url in page_load.requests - page_load.replies.keys():
            self.check_received(url.removeprefix(self.link.url), Reply(0, httpx.Headers(), None))
        if not page_load.is_ready:
            self.find("differs", f"{browser}", "did not get to the page's first step")
        ran: dict[str, str] = {}
        for url, source in page_load.scripts:
            path = url.removeprefix(self.link.url)
            ran[path or "no address"] = sha384(source.encode())
            if self.released.files.get(path) != sha384(source.encode()):
                self.find("unexpected", path or "code", f"ran in {browser}, but is not in {name()}: {source[:80]}")
        return ran

    def check_received(self, path: str, reply: Reply) -> None:
        """Compares a reply that a real browser received."""
        suffix = posixpath.splitext(path)[1]
        if path == f"/s/{self.link.survey}":
            if (body := self.body(path, reply, _TYPES[""])) is not None:
                self.check_page(path, "en", body)
        elif path in self.released.files:
            if (body := self.body(path, reply, _TYPES[suffix])) is not None:
                self.check_file(path, self.released.files[path], body)
        elif path == self.data:
            if self.body(path, reply, "application/json") != self.definition:
                self.find("differs", path, "must be the same definition for a real browser")
        elif path != "data:,":
            self.find("unexpected", path, f"was requested by the page in a real browser, but is not in {name()}")


_WITHOUT_SERVER = "the other pages and forms: install the extra server to compare them too"


def _difference(expected: bytes, got: bytes | None) -> str:
    """Returns the first line that differs, in words."""
    if got is None:
        return "it is longer than anything in the release"
    for line, other in zip(expected.splitlines(), got.splitlines(), strict=False):
        if mask_secret(line) != mask_secret(other):
            return f"got {other.strip()[:200].decode('utf-8', 'replace')} instead of {line.strip()[:200].decode('utf-8', 'replace')}"
    return f"{len(got):,} bytes instead of {len(expected):,}"


def _first_of(addresses: Iterable[str]) -> str:
    addresses = list(dict.fromkeys(addresses))
    more = f" and {len(addresses) - _LISTED} more" if len(addresses) > _LISTED else ""
    return ", ".join(addresses[:_LISTED]) + more


def _clean(text: str) -> str:
    """Returns a text that may be a server's, safe to print in a terminal."""
    text = " ".join(text.split())
    return text if printable(text) else "".join(char if printable(char) else "\N{REPLACEMENT CHARACTER}" for char in text)
