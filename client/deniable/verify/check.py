"""The verification itself: fetch all that a respondent's browser would, compare it, name what is not as it was released."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

from deniable.errors import RefusedError
from deniable.link import Link
from deniable.question_types import printable
from deniable.survey import Survey
from deniable.verify import loads
from deniable.verify.released import Released, fingerprint, name, sha384
from deniable.verify.replies import Browser, Reply, broken_headers

Kind = Literal["differs", "missing", "unexpected"]
_TYPES = {
    ".mjs": "text/javascript; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    "": "text/html; charset=utf-8",
}
_SHOWN = 3


class Finding(NamedTuple):
    """Something that is not as it was released: a page, a file, a header, an element, the definition."""

    kind: Kind
    name: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """checked: what was compared, in sentences. findings: what is wrong; none where all is right. digest: of the definition served."""

    url: str
    survey: str
    digest: str | None
    checked: tuple[str, ...]
    findings: tuple[Finding, ...]


def verify(link: Link, released: Released | None = None) -> Verdict:
    """Compares what the server of a respondents' link serves, in every language, with what was released.

    The page and every file that it loads must have the released hashes, the replies the released headers, and the
    definition must be what its epsilons imply and what the link's digest says. Nothing is sent but requests for public files, none of
    them with the link's group or code. Raises DeliveryError where the server cannot be reached.
    """
    browser = Browser(link.url)
    try:
        return _Verification(link, released or Released.load(), browser).verdict()
    finally:
        browser.close()


class _Verification:
    def __init__(self, link: Link, released: Released, browser: Browser) -> None:
        self.link, self.released, self.browser = link, released, browser
        self.findings: list[Finding] = []
        self.headers: dict[tuple[Kind, str, str], list[str]] = {}  # where each header is wrong in the same way
        self.named: dict[str, str] = {}  # by which file or element an address is loaded
        self.replies = 0

    def verdict(self) -> Verdict:
        self.connection()
        kinds = self.pages()
        self.files()
        digest, told = self.definition()
        for (kind, header, message), places in self.headers.items():
            self.find(kind, f"header {header}", f"{message} (in {_listed(places)})")
        styles = sum(path.endswith(".css") for path in self.released.files)
        checked = (
            f"the page ({', '.join(kinds) or 'unknown'}) in {', '.join(self.released.pages)}",
            f"{len(self.released.files) - styles} scripts and {styles} style sheets, and what they load",
            f"the headers of {self.replies} replies",
            told,
        )
        return Verdict(self.link.url, self.link.survey, digest, checked, tuple(self.findings))

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

    def get(self, path: str, mimetype: str, language: str = "en") -> bytes | None:
        """The body of a 200 with the right headers; what else comes back is a finding."""
        reply = self.browser.get(path, language)
        self.replies += 1
        if reply.status != 200:
            self.find("missing", path, _no_reply(reply))
            return None
        for kind, header, message in broken_headers(reply, mimetype, self.released.headers, self.link.url.startswith("https:")):
            self.headers.setdefault((kind, header, message), []).append(path)  # type: ignore[arg-type]
        if reply.body is None:
            self.find("differs", path, "is longer than anything that was released")
        return reply.body

    def pages(self) -> list[str]:
        """Checks the page as readers of each language get it, by the language of their browser and by their choice. Gives its kinds."""
        kinds: list[str] = []
        path = f"/s/{self.link.survey}"
        for language in self.released.pages:
            for address in (path, f"{path}?lang={language}"):
                body = self.get(address, _TYPES[""], language)
                if body is not None:
                    kinds += self.page(address, language, body)
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
        for path, known in self.released.files.items():
            body = self.get(path, _TYPES[posixpath.splitext(path)[1]])
            if body is None:
                continue
            if sha384(body) != known:
                self.find("differs", path, f"is not the file of {name()}: its hash must be {known}, got {sha384(body)}")
            for url in loads.of_file(path, body.decode("utf-8", "replace")):
                self.name(urljoin(path, url), path)
        for path, by in self.named.items():
            if path not in self.released.files and path != f"/api/v1/surveys/{self.link.survey}":  # the definition is checked by itself
                self.find("unexpected", path, f"is no file of {name()}, and is loaded by {by[:200]}")

    def definition(self) -> tuple[str | None, str]:
        """Checks the definition as a client does. Gives its digest, and what can be said of it."""
        path = f"/api/v1/surveys/{self.link.survey}"
        body = self.get(path, "application/json")
        if body is None:
            return None, "no definition"
        try:
            survey = Survey.from_definition(body)
        except RefusedError as error:
            self.find("differs", path, str(error))
            return None, "no definition that clients accept"
        if survey.id != self.link.survey:
            self.find("differs", path, f"must be the definition of {self.link.survey}, got that of {survey.id}")
        if self.link.digest not in (None, survey.digest):
            self.find("differs", path, f"must have the digest that the link says, {self.link.digest}, got {survey.digest}")
        pinned = "as the link says" if self.link.digest else "the link names none to compare it with"
        told = f"the definition: {len(survey.questions)} questions, their coins computed again; epsilon {survey.epsilon!r} in all"
        return survey.digest, f"{told}; digest {survey.digest}, {pinned}"


def _no_reply(reply: Reply) -> str:
    if 300 <= reply.status < 400:
        return f"must be served at this address, got a redirect to {reply.headers.get('Location', 'nowhere')[:200]}"
    return f"must be served, got status {reply.status}"


def _listed(places: Iterable[str]) -> str:
    places = list(dict.fromkeys(places))
    more = f" and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
    return ", ".join(places[:_SHOWN]) + more


def _clean(text: str) -> str:
    """Text that may have come from a server, harmless for a terminal."""
    text = " ".join(text.split())
    return text if printable(text) else "".join(char if printable(char) else "\N{REPLACEMENT CHARACTER}" for char in text)
