"""`deniable verify`: a right server passes; one byte changed anywhere, one thing added or left out, is found and named."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import reduce
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from click.testing import CliRunner, Result
from tests.kit.patience import PATIENCE
from tests.kit.servers.listening import listening
from tests.kit.servers.process import ServerProcess, reserved

from deniable.cli import main
from deniable.survey import Survey
from deniable.verify import released
from deniable.verify.loads import of_file, of_page
from deniable.verify.released import Released, fingerprint
from deniable.verify.replies import REQUIRED, Browser, Reply
from deniable.wire.six_words import six_words
from deniable_server.operate.released import text

QUESTION = {"id": "smokes", "text": "Do you smoke?", "type": "yes_no"}
STUDY = {"deniable": 1, "id": "study", "title": "A study", "about": "Who asks, and why.", "epsilon": "ln 3", "questions": [QUESTION]}
SURVEYS = {
    "study": {},
    "closed": {},
    "paused": {},
    "script": {"epsilon": 1},  # a word of the page
    "invited": {"epsilon": 1, "access": "invited", "groups": ["north", "south"], "layout": "steps", "contact": "Ada", "ethics": "Board 7"},
    "deutsch": {"language": "de", "translations": {"en": {"title": "A study"}, "ar": {"title": "دراسة"}}},
    "kiswahili": {
        "language": "sw",
        "translations": {"en": {"title": "A study"}, "ur": {"title": "مطالعہ"}},
    },
    "sampled": {"epsilon": 2, "ask": 1, "questions": [QUESTION, {**QUESTION, "id": "drinks"}]},
}


@dataclass(frozen=True)
class Served:
    """A reply on its way, which a test may change."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def with_header(self, name: str, value: str | None) -> Served:
        kept = tuple((key, own) for key, own in self.headers if key.lower() != name.lower())
        return replace(self, headers=(*kept, (name, value)) if value is not None else kept)


Change = Callable[[Served], Served]


class Upstream:
    """A running `deniable-server serve`, asked the same only once: tests differ in what becomes of its replies on the way."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=PATIENCE, headers={"Accept-Encoding": "identity"})
        self._known: dict[Any, httpx.Response] = {}

    def request(self, method: str, path: str, headers: dict[str, str], body: bytes) -> httpx.Response:
        asked = (method, path, *headers.items(), body)
        return self._known.get(asked) or self._known.setdefault(asked, self._http.request(method, path, headers=headers, content=body))

    def close(self) -> None:
        self._http.close()


class Site(ThreadingHTTPServer):
    """Passes requests on to a real `deniable-server serve`; `changes` has what becomes of the replies to a path, "*" to all."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstream: Upstream) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.changes: dict[str, Change] = {}
        self.told_apart: list[tuple[Callable[[str, dict[str, str]], bool], Change]] = []  # by path and headers of the request
        self.seen: list[tuple[str, dict[str, str]]] = []

    def handle_error(self, request: object, client_address: object) -> None:
        pass  # a client that has read enough


class _Handler(BaseHTTPRequestHandler):
    server: Site
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # which waits 40 ms with the body of each reply

    def do_GET(self) -> None:
        self.forward(b"")

    def do_POST(self) -> None:
        self.forward(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def forward(self, body: bytes) -> None:
        told = dict(self.headers.items())
        self.server.seen.append((self.path, told))
        passed = {key: own for key, own in told.items() if key not in ("Host", "Connection", "Accept-Encoding", "Content-Length", "Origin")}
        reply = self.server.upstream.request(self.command, self.path, passed, body)
        dropped = ("content-length", "date", "server", "connection", "transfer-encoding")
        served = Served(reply.status_code, tuple((key, own) for key, own in reply.headers.items() if key not in dropped), reply.content)
        if "html" in reply.headers.get("content-type", ""):  # the pages name the server by the address that it was started with
            served = replace(served, body=served.body.replace(self.server.upstream.url.encode(), self.server.url.encode()))
        for path in dict.fromkeys(("*", self.path.split("?")[0], self.path, f"{self.command} {self.path.split('?')[0]}")):
            served = self.server.changes.get(path, lambda unchanged: unchanged)(served)
        for tells, change in self.server.told_apart:
            served = change(served) if tells(self.path, told) else served
        self.send_response_only(served.status)
        for name, value in (*served.headers, ("Content-Length", str(len(served.body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(served.body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Upstream]:
    """A running `deniable-server serve`."""
    server = ServerProcess(tmp_path_factory.mktemp("site"))
    server.publish(*(Survey.from_dict({**STUDY, **keys, "id": name}) for name, keys in SURVEYS.items()))
    with server.store() as store:
        store.surveys.set_open("closed", False)
        store.surveys.pause("paused", True)
    server.start()
    with closing(Upstream(server.url)) as upstream:
        yield upstream
    server.stop()
    server.close()


@pytest.fixture
def site(upstream: Upstream) -> Iterator[Site]:
    with listening(Site(upstream)) as site:
        yield site


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hashes of the sources as they are now; whether the committed file has them is a test of its own."""
    path = tmp_path_factory.mktemp("released") / "released.json"
    path.write_text(text(), encoding="utf-8")
    return path


@pytest.fixture
def run(site: Site, sources: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setattr(released, "PATH", sources)

    def run(*words: str) -> Result:
        return CliRunner().invoke(main, ["verify", *(words or (f"{site.url}/s/study",))])

    return run


@pytest.fixture
def findings(all_findings: Callable[[], dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Callable[[], dict[str, str]]:
    """The same of the survey's page, its files and its definition only, which takes less time."""
    monkeypatch.setattr("deniable.verify.check.reference_server", lambda survey, url: None)
    return all_findings


@pytest.fixture
def all_findings(run: Callable[..., Result], site: Site) -> Callable[[], dict[str, str]]:
    """Verifies, and gives what was found: "kind name" to the message."""

    def findings() -> dict[str, str]:
        result = run("--json", f"{site.url}/s/study")
        found = json.loads(result.stdout)["findings"]
        assert result.exit_code == (1 if found else 0)
        return {f"{entry['kind']} {entry['name']}": entry["message"] for entry in found}

    return findings


def link(site: Site, survey: str) -> str:
    """The link to a survey: with the digest of its file, or of its definition if the server has added the issuer of its tokens."""
    file = Survey.from_dict({**STUDY, **SURVEYS[survey], "id": survey})
    definition = httpx.get(f"{site.url}/api/v1/surveys/{survey}", timeout=PATIENCE).content if file.access == "invited" else file.definition
    return f"{site.url}/s/{survey}#digest={hashlib.sha256(definition).hexdigest()}"


# What is right passes.


@pytest.mark.slow
@pytest.mark.parametrize("survey", SURVEYS)
def test_a_right_server_passes_whatever_the_survey(site: Site, run: Callable[..., Result], survey: str) -> None:
    result = run(link(site, survey))
    assert result.exit_code == 0, result.output
    assert "Everything matches the release. The server may send something else to another visitor." in result.stdout
    most = re.search(r"epsilon at most ([0-9.]+) in total", result.stdout)
    assert most
    exact = Survey.from_dict({**STUDY, **SURVEYS[survey]}).epsilon
    assert 0 <= float(most[1]) - exact < 1e-4
    assert most[1] == {"sampled": "2", "script": "1"}.get(survey, most[1])
    assert [state for state in ("closed", "paused") if state in result.stdout.splitlines()[1]] == [survey][: survey in ("closed", "paused")]


def test_it_passes_without_a_proxy_and_with_compressed_replies(upstream: Upstream, run: Callable[..., Result]) -> None:
    result = run(upstream.url, "--survey", "study")
    assert result.exit_code == 0, result.output
    assert "which the link does not name" in result.stdout


def test_the_result_as_json_says_what_was_compared(site: Site, run: Callable[..., Result], sources: Path) -> None:
    found = json.loads(run("--json", link(site, "study")).stdout)
    assert (found["right"], found["findings"], found["survey"]) == (True, [], "study")
    assert found["digest"] in link(site, "study")
    files = json.loads(sources.read_text())["files"]
    scripts, styles = (sum(path.endswith(suffixes) for path in files) for suffixes in ((".js", ".mjs"), (".css",)))
    assert found["words"] == {"survey": six_words(found["digest"]), "script": six_words(files["/browser/respond.mjs"])}
    made = "(and /browser/respond.mjs and /browser/kiosk.mjs with their modules)"
    assert found["checked"][1] == f"{scripts} scripts {made}, {styles} style sheets, the names of languages, and everything they load"


def test_every_language_is_asked_for_by_the_browsers_and_by_the_visitors_choice(
    site: Site, run: Callable[..., Result], sources: Path
) -> None:
    languages = json.loads(sources.read_text())["pages"]
    assert run().exit_code == 0
    asked = {(path, headers["Accept-Language"][:2]) for path, headers in site.seen}
    for page in ("/s/study", "/s/study/by-hand", "/s/study/withdraw", "/s/study/definition", "/privacy", "/accessibility"):
        assert asked >= {pair for tag in languages for pair in ((page, tag), (f"{page}?lang={tag}", tag))}


@pytest.mark.parametrize("page", ["", "/by-hand", "/definition"])
def test_a_page_that_only_the_links_to_the_surveys_further_languages_lead_to_is_compared_too(
    site: Site, run: Callable[..., Result], page: str
) -> None:
    site.changes[f"/s/kiswahili{page}?lang=ur"] = lambda reply: replace(
        reply, body=reply.body.replace(b"</main>", b"<p>Be honest</p></main>")
    )
    result = run(link(site, "kiswahili"))
    assert result.exit_code == 1
    assert f"/s/kiswahili{page}?lang=ur" in result.stdout


def test_the_requests_do_not_name_the_program_and_carry_neither_cookie_nor_code(site: Site, run: Callable[..., Result]) -> None:
    site.changes["*"] = lambda reply: reply.with_header("Set-Cookie", "seen=1")
    run(f"{site.url}/s/study#group=north&code=0000-0000-0000-0000-0000-0000-ACHF")
    told = json.dumps(site.seen)
    assert len(site.seen) > 60
    assert all(word not in told for word in ("deniable", "httpx", "python", "seen=1", "Cookie", "north", "0000-0000"))


# A server that tells a verifier from a visitor.

TRAP = b"<script src='/static/copy.mjs'></script></main>"


def trapped(reply: Served) -> Served:
    return replace(reply, body=reply.body.replace(b"</main>", TRAP))


TELLS: dict[str, Callable[[str, dict[str, str]], bool]] = {
    "Sec-Fetch headers": lambda path, told: "Sec-Fetch-Mode" in told,
    "a page that somebody opens": lambda path, told: told.get("Sec-Fetch-Dest") == "document" and "text/html" in told["Accept"],
    "a click": lambda path, told: told.get("Sec-Fetch-User") == "?1" and told.get("Upgrade-Insecure-Requests") == "1",
    "a phone": lambda path, told: "Mobile" in told["User-Agent"],
    "an iPhone": lambda path, told: "iPhone" in told["User-Agent"],
    "Firefox": lambda path, told: "Firefox" in told["User-Agent"],
    "client hints": lambda path, told: "sec-ch-ua" in told,
    "a language with a region": lambda path, told: "en-US,en;q=0.9" in told["Accept-Language"],
    "a link that was shared": lambda path, told: "ref=" in path,
    "a link in a newsletter": lambda path, told: "utm_source" in path,
    "a link in a network": lambda path, told: "fbclid=" in path,
}


@pytest.mark.slow
@pytest.mark.parametrize("tells", TELLS)
def test_a_page_that_is_altered_for_visitors_of_one_kind_is_found(site: Site, findings: Callable[[], dict[str, str]], tells: str) -> None:
    site.told_apart.append((lambda path, told: path.startswith("/s/study") and TELLS[tells](path, told), trapped))
    assert "unexpected /static/copy.mjs" in findings()


def test_a_script_that_is_altered_for_pages_only_is_found(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.told_apart.append((lambda path, told: told.get("Sec-Fetch-Dest") == "script" and path == "/browser/respond.mjs", flipped))
    assert RUNS in findings()


def without_language(name: str) -> str:
    """`differs GET /privacy` for what was found of that page in some language."""
    return " ".join(name.replace("?", " ").split()[:3])


@pytest.mark.slow
def test_one_flipped_byte_of_any_other_page_is_found(site: Site, all_findings: Callable[[], dict[str, str]]) -> None:
    pages = {"/s/study/by-hand", "/s/study/withdraw", "/s/study/definition", "/privacy", "/accessibility"}
    site.changes |= {f"GET {page}": flipped for page in pages}
    assert {without_language(name) for name in all_findings()} == {f"differs GET {page}" for page in pages}


def test_a_form_for_two_coins_that_asks_for_the_truth_is_found(site: Site, all_findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/s/study/by-hand"] = lambda reply: replace(reply, body=reply.body.replace(b"What do your coins say?", b"What is true?"))
    assert any(name.startswith("differs GET /s/study/by-hand") and "What is true?" in message for name, message in all_findings().items())


@pytest.mark.parametrize("secret", [b"1234", b"0000-0000-0000-0000-0000-0000-0000", b'"><script>1</script><input value="'])
def test_a_form_whose_number_is_none_is_found(site: Site, all_findings: Callable[[], dict[str, str]], secret: bytes) -> None:
    def numbered(reply: Served) -> Served:
        before, _, after = reply.body.partition(b'name="secret" type="hidden" value="')
        return replace(reply, body=before + b'name="secret" type="hidden" value="' + secret + b'"' + after.partition(b'"')[2])

    site.changes["GET /s/study/by-hand"] = numbered
    assert any(name.startswith("differs GET /s/study/by-hand") for name in all_findings())


@pytest.mark.slow
def test_a_reply_to_a_damaged_request_that_is_altered_is_found(site: Site, all_findings: Callable[[], dict[str, str]]) -> None:
    places = {"/s/study/by-hand", "/s/study/withdraw", "/api/v1/surveys/study/submissions", "/api/v1/surveys/study/withdrawals"}
    site.changes |= {f"POST {place}": flipped for place in places}
    assert {without_language(name) for name in all_findings()} == {f"differs POST {place}" for place in places}


def test_an_error_page_that_is_altered_is_found(site: Site, all_findings: Callable[[], dict[str, str]]) -> None:
    site.told_apart.append((lambda path, told: True, lambda reply: trapped(reply) if reply.status == 404 else reply))
    assert any(name.startswith("differs GET /s/study/") for name in all_findings())


def test_without_the_server_installed_it_says_what_was_not_compared(
    site: Site, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.verify.check.reference_server", lambda survey, url: None)
    site.changes["GET /s/study/by-hand"] = flipped
    result = run()
    assert result.exit_code == 0
    assert "not compared: the other pages and forms: install the extra server" in result.stdout
    assert "Everything matches" not in result.stdout


# In a real browser.


@pytest.mark.browser
@pytest.mark.parametrize("survey", ["study", "closed"])
def test_a_right_server_passes_in_a_real_browser_too_and_what_ran_is_hashed(site: Site, run: Callable[..., Result], survey: str) -> None:
    result = run("--browser", "--json", link(site, survey))
    found = json.loads(result.stdout)
    assert (result.exit_code, found["findings"]) == (0, [])
    assert found["ran"].keys() == {"/browser/respond.mjs", "/browser/support.js"}  # a closed page looks for records that wait
    known = json.loads(released.PATH.read_text())["files"]
    assert found["ran"].items() <= known.items()


@pytest.mark.browser
@pytest.mark.parametrize("change", ["an element", "code in the page", "an import", "a request", "a definition"])
def test_what_only_a_real_browser_is_served_is_found(
    site: Site, run: Callable[..., Result], change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def chromium(path: str, told: dict[str, str]) -> bool:
        return told["Accept-Encoding"].endswith("zstd")  # as a server that looks more closely can tell it from this program

    def no_policy(reply: Served) -> Served:
        return reply.with_header("Content-Security-Policy", None)

    def altered(reply: Served) -> Served:
        kind = dict(reply.headers)["content-type"]
        if change == "an element":
            return no_policy(trapped(reply))
        if change == "code in the page":
            return no_policy(changed(b"</main>", b"<script>1 + 1</script></main>")(reply)) if "html" in kind else reply
        if change == "an import" and b"// form.mjs\n" in reply.body:
            return replace(reply, body=b'import "/static/copy.mjs";\n' + reply.body)
        if change == "a request" and "html" in kind:
            return no_policy(changed(b"</main>", b"<img src='/pixel.png'></main>")(reply))
        if change == "a definition" and "json" in kind:
            return replace(reply, body=Survey.from_dict({**STUDY, "title": "Another"}).definition)
        return no_policy(reply) if "html" in kind and change == "an import" else reply

    site.told_apart.append((chromium, altered))
    assert run().exit_code == 0  # the control: this is what a real browser is for
    expected = {
        "an element": "unexpected /static/copy.mjs",
        "code in the page": "differs /s/study (en)",
        "an import": "differs /browser/respond.mjs",
        "a request": "unexpected /pixel.png",
        "a definition": "differs /api/v1/surveys/study",
    }[change]
    for seconds in (3.0, 30.0):  # the browser refuses an import, so that page never comes: only a busy machine waits longer for it
        monkeypatch.setattr("deniable.verify.chromium.READY_WITHIN", seconds)
        result = run("--browser", "--json", f"{site.url}/s/study")
        found = {f"{entry['kind']} {entry['name']}" for entry in json.loads(result.stdout)["findings"]}
        if expected in found:
            break
    assert result.exit_code == 1
    assert expected in found


@pytest.mark.browser
def test_a_browser_that_is_none_is_exit_code_3(run: Callable[..., Result], site: Site) -> None:
    result = run("--browser-program", "/bin/false", f"{site.url}/s/study")
    assert result.exit_code == 3
    assert "could not be used as a browser" in result.output


# One byte, in each kind of thing that is served.


def flipped(reply: Served) -> Served:
    """The reply with the lowest bit of one byte in the middle turned over."""
    body = bytearray(reply.body)
    body[len(body) // 2] ^= 1
    return replace(reply, body=bytes(body))


@pytest.mark.parametrize("path", ["/browser/respond.mjs", "/static/base.css"])
def test_one_flipped_byte_of_a_file_is_found(site: Site, findings: Callable[[], dict[str, str]], path: str) -> None:
    site.changes[path] = flipped
    assert f"differs {path}" in findings()


# The file that runs, and the modules that are there to be read.

RUNS = "differs /browser/respond.mjs"
FOREIGN = "must be the modules beside it, joined"


@pytest.mark.parametrize(
    ("path", "line"),
    [("/browser/respond.mjs", b"0;\n"), *(("/browser/randomize.mjs", line) for line in (b"0;\n", b"\xff", b"export default 1;\n", b"`\n"))],
)
def test_a_file_that_its_modules_do_not_make_is_found_even_where_all_hashes_are_as_released(
    site: Site,
    findings: Callable[[], dict[str, str]],
    sources: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    line: bytes,
) -> None:
    """As in a release in which somebody has changed one and not the other, and the list of hashes with it."""
    site.changes[path] = lambda reply: replace(reply, body=reply.body + line)
    told = json.loads(sources.read_text())
    told["files"][path] = released.sha384(httpx.get(site.url + path, timeout=PATIENCE).content)
    (tmp_path / "released.json").write_text(json.dumps(told))
    monkeypatch.setattr(released, "PATH", tmp_path / "released.json")
    bundles = [RUNS] if path.endswith("/respond.mjs") else [RUNS, "differs /browser/kiosk.mjs"]  # the kiosk has this module, too
    assert findings() == dict.fromkeys(bundles, FOREIGN)


def test_the_six_words_of_the_script_are_those_of_what_is_served_here(site: Site, run: Callable[..., Result]) -> None:
    site.changes["/browser/respond.mjs"] = flipped
    served = released.sha384(httpx.get(f"{site.url}/browser/respond.mjs", timeout=PATIENCE).content)
    assert f"words of the page's program: {six_words(served)}" in run().stdout


def test_each_file_that_the_page_loads_is_compared(site: Site, findings: Callable[[], dict[str, str]], sources: Path) -> None:
    files = json.loads(sources.read_text())["files"]
    assert {"/browser/respond.mjs", "/browser/support.js", "/browser/randomize.mjs", "/static/respond.css"} < set(files)
    for path in files:
        site.changes[path] = lambda reply: replace(reply, body=reply.body + b" ")
    assert set(findings()) == {f"differs {path}" for path in files}


def test_one_flipped_byte_of_the_page_is_found_in_any_language(site: Site, findings: Callable[[], dict[str, str]], sources: Path) -> None:
    for tag in json.loads(sources.read_text())["pages"]:
        site.changes = {f"/s/study?lang={tag}": flipped}
        assert f"differs /s/study?lang={tag} ({tag})" in findings()


def test_a_page_that_is_changed_only_for_readers_of_one_language_is_found(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    def for_german_browsers(reply: Served) -> Served:
        return flipped(reply) if b'lang="de"' in reply.body[:60] else reply

    site.changes["/s/study"] = for_german_browsers
    assert {name for name in findings() if name.startswith("differs")} >= {"differs /s/study (de)", "differs /s/study?lang=de (de)"}
    assert "differs /s/study (en)" not in findings()


def test_one_flipped_byte_of_the_definition_is_found(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/api/v1/surveys/study"] = flipped
    assert "differs /api/v1/surveys/study" in findings()


def test_weaker_coins_in_the_definition_are_found_without_a_digest(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/api/v1/surveys/study"] = changed(b"3221225472", b"4294967295")
    assert "keep_threshold must be 3221225472" in findings()["differs /api/v1/surveys/study"]


def test_another_right_definition_than_the_links_is_found(
    site: Site, run: Callable[..., Result], findings: Callable[[], dict[str, str]]
) -> None:
    other = Survey.from_dict({**STUDY, "title": "Another study"})
    site.changes["/api/v1/surveys/study"] = lambda reply: replace(reply, body=other.definition)
    result = run(link(site, "study"))
    assert result.exit_code == 1
    assert "must have the digest of the link" in result.stdout
    assert findings() == {}  # the control: without a digest nobody can tell


def test_another_definition_for_clients_than_for_readers_is_found_without_a_digest_too(
    site: Site, all_findings: Callable[[], dict[str, str]]
) -> None:
    other = Survey.from_dict({**STUDY, "title": "Another study"})
    site.changes["/api/v1/surveys/study"] = lambda reply: replace(reply, body=other.definition)
    assert "differs GET /s/study/definition (en)" in all_findings()


def test_the_definition_of_another_survey_is_found(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    other = Survey.from_dict({**STUDY, "id": "other"})
    site.changes["/api/v1/surveys/study"] = lambda reply: replace(reply, body=other.definition)
    assert "got survey other" in findings()["differs /api/v1/surveys/study"]


# Headers.


@pytest.mark.slow
def test_every_header_left_out_or_changed_is_found(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    names = (*REQUIRED, "Content-Type")
    site.changes["/s/study"] = lambda reply: with_headers(reply, dict.fromkeys(names))
    assert {name for name in findings() if name.startswith("missing")} == {f"missing header {name}" for name in names}
    site.changes["/s/study"] = lambda reply: with_headers(reply, dict.fromkeys(names, "public"))
    found = {name: told for name, told in findings().items() if name.startswith("differs header")}
    assert found.keys() == {f"differs header {name}" for name in names}
    assert all("got public (in /s/study" in told for told in found.values())


def with_headers(reply: Served, values: dict[str, str | None]) -> Served:
    return reduce(lambda one, header: one.with_header(*header), values.items(), reply)


def test_a_header_of_a_single_module_is_compared_too(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/browser/encode.mjs"] = lambda reply: reply.with_header("Content-Type", "text/javascript; charset=utf-7")
    assert findings()["differs header Content-Type"].endswith("(in /browser/encode.mjs)")


def test_a_weaker_policy_is_found_by_one_word(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    def weaker(reply: Served) -> Served:
        policy = dict(reply.headers)["content-security-policy"]
        return reply.with_header("Content-Security-Policy", policy.replace("connect-src 'self'", "connect-src *"))

    site.changes["/s/study"] = weaker
    assert set(findings()) == {"differs header Content-Security-Policy"}


MARKS = [
    *(
        "Set-Cookie",
        "ETag",
        "Last-Modified",
        "Accept-CH",
        "Critical-CH",
        "Clear-Site-Data",
        "Alt-Svc",
        "Link",
        "Refresh",
        "NEL",
        "Report-To",
    ),
    *("Speculation-Rules", "SourceMap", "Service-Worker-Allowed", "Reporting-Endpoints", "Via", "X-Request-Id", "Server-Timing", "Age"),
]


def test_every_header_that_the_release_does_not_send_is_found(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/s/study"] = lambda reply: with_headers(reply, dict.fromkeys(MARKS, "x"))
    assert {found.lower() for found in findings()} == {f"unexpected header {name}".lower() for name in MARKS}


def test_only_a_definition_states_spare_codes_and_nothing_else_in_that_header(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    definition = "/api/v1/surveys/study"
    stated = ["240/100"]
    site.changes[definition] = lambda reply: reply.with_header("Deniable-Codes", stated[-1])
    assert findings() == {}
    for header in ("100/240", "240/100/7", "240/100 x", "0240/100", "visitor-7"):
        stated.append(header)
        assert set(findings()) == {"unexpected header Deniable-Codes"}, header
    del site.changes[definition]
    site.changes["/s/study"] = lambda reply: reply.with_header("Deniable-Codes", "240/100")
    assert set(findings()) == {"unexpected header Deniable-Codes"}


@pytest.mark.slow
@pytest.mark.parametrize("place", ["/s/study/by-hand", "/privacy", "POST /s/study/withdraw", "/api/v1/surveys/study", "/browser/form.mjs"])
def test_an_order_to_empty_the_storage_is_found_on_any_reply(site: Site, all_findings: Callable[[], dict[str, str]], place: str) -> None:
    site.changes[place] = lambda reply: reply.with_header("Clear-Site-Data", '"storage"')
    assert set(all_findings()) == {"unexpected header Clear-Site-Data"}


def test_headers_of_the_transport_harm_nobody(site: Site, all_findings: Callable[[], dict[str, str]]) -> None:
    site.changes["*"] = lambda reply: reply.with_header("Keep-Alive", "timeout=5").with_header("Strict-Transport-Security", "max-age=1")
    assert all_findings() == {}


# Things added, and things left out.


def changed(old: bytes, new: bytes) -> Change:
    """Replaces a text, which must be there."""

    def change(reply: Served) -> Served:
        assert old in reply.body
        return replace(reply, body=reply.body.replace(old, new, 1))

    return change


@pytest.mark.slow
@pytest.mark.parametrize(
    ("element", "named"),
    [
        ('<script src="/browser/extra.mjs"></script>', "/browser/extra.mjs"),
        ('<script src="https://evil.example/x.js"></script>', "https://evil.example/x.js"),
        ('<script type="module" src="//evil.example/x.mjs"></script>', "//evil.example/x.mjs"),
        ('<link rel="stylesheet" href="/static/extra.css">', "/static/extra.css"),
        ('<link rel="modulepreload" href="/browser/form.mjs?2">', "/browser/form.mjs?2"),
        ('<link rel="icon" href="/favicon.ico">', "/favicon.ico"),
        ('<link rel="preload" as="fetch" href="/api/v1/surveys/other">', "/api/v1/surveys/other"),
        ('<img src="/pixel.png" alt="">', "/pixel.png"),
        ('<img srcset="/pixel.png 2x" alt="">', "/pixel.png 2x"),
        ('<iframe src="/frame"></iframe>', "/frame"),
        ('<object data="/movie"></object>', "/movie"),
        ('<video poster="/still.png"></video>', "/still.png"),
        ('<svg><use href="/drawing.svg#a"/></svg>', "/drawing.svg#a"),
    ],
)
def test_an_element_that_loads_something_more_is_named(
    site: Site, findings: Callable[[], dict[str, str]], element: str, named: str
) -> None:
    site.changes["/s/study"] = changed(b"</main>", f"{element}</main>".encode())
    found = findings()
    assert "differs /s/study (en)" in found
    assert "is loaded by <" in found[f"unexpected {named}"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "element",
    [
        "<script>alert(1)</script>",
        "<script type='module'>import '/x.mjs'</script>",
        "<style>p { color: red }</style>",
        '<p onclick="alert(1)">',
        '<a href="javascript:alert(1)">',
        '<base href="https://evil.example/">',
        '<meta http-equiv="refresh" content="0; url=/x">',
        '<form action="https://evil.example/"><input name="q"></form>',
        '<iframe srcdoc="&lt;script&gt;"></iframe>',
    ],
)
def test_code_in_the_page_itself_is_named(site: Site, findings: Callable[[], dict[str, str]], element: str) -> None:
    site.changes["/s/study"] = changed(b"</main>", f"{element}</main>".encode())
    assert element.split(">")[0] in findings()["unexpected /s/study (en)"]


@pytest.mark.parametrize("added", ["<p>Give your name, too.</p>", "<!-- -->", " ", "<a href='https://evil.example'>here</a>"])
def test_an_element_that_loads_nothing_is_found_too(site: Site, findings: Callable[[], dict[str, str]], added: str) -> None:
    site.changes["/s/study"] = changed(b"</main>", f"{added}</main>".encode())
    assert "differs /s/study (en)" in findings()


@pytest.mark.parametrize(
    ("line", "named"),
    [
        (b'import "./extra.mjs";', "/browser/extra.mjs"),
        (b'export * from "/static/copy.mjs";', "/static/copy.mjs"),
        (b'await import("https://evil.example/x.mjs");', "https://evil.example/x.mjs"),
        (b"await import(location.hash.slice(1));", "/browser/location.hash.slice(1"),
        (b'new Worker("/worker.js");', "/worker.js"),
    ],
)
def test_an_import_more_is_named(site: Site, findings: Callable[[], dict[str, str]], line: bytes, named: str) -> None:
    site.changes["/browser/page.mjs"] = lambda reply: replace(reply, body=line + b"\n" + reply.body)
    found = findings()
    assert "differs /browser/page.mjs" in found
    assert found[f"unexpected {named}"].endswith("loaded by /browser/page.mjs")


@pytest.mark.parametrize(("rule", "named"), [(b'@import "x.css";', "/static/x.css"), (b"p { background: url(/p.png) }", "/p.png")])
def test_a_style_sheet_that_loads_something_is_named(site: Site, findings: Callable[[], dict[str, str]], rule: bytes, named: str) -> None:
    site.changes["/static/base.css"] = lambda reply: replace(reply, body=rule + reply.body)
    assert f"unexpected {named}" in findings()


def test_a_missing_file_is_named(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/browser/encode.mjs"] = lambda reply: replace(reply, status=404)
    assert findings() == {"missing /browser/encode.mjs": "must be served, got status 404"}


def test_a_redirect_is_named_and_not_followed(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/browser/encode.mjs"] = lambda reply: replace(reply, status=302, headers=(("Location", f"{site.url}/elsewhere"),))
    assert findings() == {"missing /browser/encode.mjs": f"must be served at this address, got a redirect to {site.url}/elsewhere"}
    assert all(path != "/elsewhere" for path, _ in site.seen)


def test_a_survey_that_is_not_there_is_named(site: Site, run: Callable[..., Result]) -> None:
    result = run(f"{site.url}/s/nothing")
    assert result.exit_code == 1
    assert "missing: /s/nothing must be served, got status 404" in result.stdout
    assert "missing: /api/v1/surveys/nothing" in result.stdout


def test_a_reply_without_end_is_not_read_to_the_end(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/browser/encode.mjs"] = lambda reply: replace(reply, body=bytes(5 << 20))
    assert findings()["differs /browser/encode.mjs"].startswith("is longer")


def test_a_reply_that_was_packed_twice_is_not_unpacked(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    """Five kilobytes of it would take all memory."""

    def packed_twice(reply: Served) -> Served:
        body = gzip.compress(gzip.compress(reply.body))
        return replace(reply, headers=(*reply.headers, ("Content-Encoding", "gzip, gzip")), body=body)

    site.changes["/browser/encode.mjs"] = packed_twice
    assert findings()["differs /browser/encode.mjs"].startswith("is longer")


def test_what_a_server_says_cannot_write_on_the_terminal(site: Site, findings: Callable[[], dict[str, str]]) -> None:
    site.changes["/s/study"] = changed(b"</main>", b'<img src="/\x1b[2Jx"></main>')
    found = findings()
    assert "unexpected /\N{REPLACEMENT CHARACTER}[2Jx" in found
    assert "\x1b" not in "".join([*found, *found.values()])


# Addresses.


def test_no_server_is_exit_code_3(run: Callable[..., Result]) -> None:
    with reserved() as nobody:
        result = run(f"http://127.0.0.1:{nobody.getsockname()[1]}/s/study")
    assert result.exit_code == 3
    assert "could not be read: ConnectError" in result.output


@pytest.mark.parametrize("words", [["https://example.org"], ["ftp://example.org/s/study"], ["https://example.org/s/a", "--survey", "b"]])
def test_an_address_that_is_no_link_is_wrong_usage(run: Callable[..., Result], words: list[str]) -> None:
    assert run(*words).exit_code == 2


def test_an_address_without_https_or_below_a_path_is_found(site: Site, run: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Browser, "get", lambda self, visit, told: Reply(404, httpx.Headers(), b""))
    assert "differs: address must begin with https://" in run("http://example.org/s/study").stdout
    assert "differs: address must have its surveys at https://example.org/s/" in run("https://example.org/below/s/study").stdout


# The parts.


def test_a_fingerprint_takes_out_the_id_where_it_names_the_survey_and_nowhere_else() -> None:
    page = b'<main data-survey="main"><a href="/s/main/definition">main</a></main>'
    assert fingerprint(page, "main") == fingerprint(page.replace(b'"main"', b'"other"').replace(b"/s/main/", b"/s/other/"), "other")
    assert fingerprint(page, "main") != fingerprint(page.replace(b"main", b"other"), "other")
    assert fingerprint(page, "main") != fingerprint(page.replace(b"/s/main/", b"/s//"), "main")
    assert fingerprint(page, "main") != fingerprint(page.replace(b"/s/main/", b"/s/main/s/main/"), "main")


def test_links_that_people_follow_and_data_are_no_loads() -> None:
    page = '<a href="/x">x</a><script type="application/json">{}</script><input value="src"><link rel="icon" href="data:,">'
    assert of_page(page) == (('<link rel="icon" href="data:,">', "data:,"),)


@pytest.mark.slow
def test_no_released_file_names_anything_that_was_not_released(sources: Path, upstream: Upstream) -> None:
    known = Released(**json.loads(sources.read_text()))
    with httpx.Client(base_url=upstream.url, timeout=PATIENCE) as http:
        for path in known.files:
            for url in of_file(path, http.get(path).text):
                assert urljoin(path, url) in known.files, path
