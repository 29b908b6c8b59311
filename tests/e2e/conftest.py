"""A real server, a way to it that loses or alters replies, and what a respondent does in a browser."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait
from tests.server.tallies import tally_of

from deniable.device.entropy import os_words
from deniable.device.randomize import randomize
from deniable.survey import Survey
from deniable.wire import access_codes
from deniable.wire.record import pack
from deniable.wire.submission import Submission
from deniable.wire.tally import Tally
from deniable_server.api import keys
from deniable_server.store import open_store

USER, PASSWORD = "ada", "correct horse battery"


class Site:
    """A running `deniable-server serve` with a database of its own."""

    def __init__(self, folder: Path) -> None:
        self.db = folder / "site.db"
        self._program = str(Path(sys.executable).with_name("deniable-server"))
        self._run("init", "--user", USER, "--password-env", "PW")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        with self.log.open("wb") as log:
            command = [self._program, "serve", "--db", str(self.db), "--port", str(self.port)]
            self.process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
        deadline = time.monotonic() + 300  # a busy machine may take its time; a server that has ended is not waited for
        while self.process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{self.url}/login")
                return
            time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{self.log.read_text(encoding='utf-8')}")

    def _run(self, name: str, *words: str) -> None:
        subprocess.run(
            [self._program, name, "--db", str(self.db), *words], check=True, env={**os.environ, "PW": PASSWORD}, capture_output=True
        )

    def publish(self, **keys: Any) -> Survey:
        """Publishes a survey of these keys; what is left out is filled in, and what is None is left out."""
        keys = {"deniable": 1, "batch": 1, "title": "A study", "about": "Who asks, and why.", "epsilon": "ln 9", **keys}
        survey = Survey.from_dict({key: value for key, value in keys.items() if value is not None})
        store = open_store(self.db)
        store.surveys.publish(survey)
        store.close()
        return survey

    def invite(self, survey: Survey) -> str:
        """A new invitation, as it is written."""
        secret = secrets.token_bytes(access_codes.SECRET_BYTES)
        store = open_store(self.db)
        store.access.invite(survey.id, [access_codes.invitation_hash(survey.id, secret)])
        store.close()
        return access_codes.written(secret)

    def spend(self, survey: Survey, code: str) -> None:
        """Uses an invitation up, as somebody else's device would."""
        record = pack(survey, [randomize(item.channel, np.zeros(1, dtype=np.int64), os_words) for item in survey.items])
        store = open_store(self.db)
        store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, 1, record, invitation=access_codes.read(code)))
        store.close()

    def tally(self, survey: Survey, **part: Any) -> Tally:
        """What the store has counted."""
        store = open_store(self.db)
        tally = tally_of(store, survey.id, **part)
        store.close()
        return tally

    def close_survey(self, survey: Survey) -> None:
        self._run("close", survey.id)

    def link(self, survey: Survey) -> str:
        return f"{self.url}/s/{survey.id}#digest={survey.digest}"

    def send(self, submission: Submission, survey: Survey) -> None:
        """Sends a submission of any number of records."""
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"}
        url = f"{self.url}/api/v1/surveys/{survey.id}/submissions"
        httpx.post(url, content=submission.to_json(), headers=headers).raise_for_status()

    @cached_property
    def key(self) -> str:
        """A key for submissions of many records."""
        store = open_store(self.db)
        key = keys.make(store, "lab", ["submit"])
        store.close()
        return key

    def results(self, survey: Survey) -> dict[str, Any]:
        reply = httpx.get(f"{self.url}/api/v1/surveys/{survey.id}/results", auth=(USER, PASSWORD))
        return dict(reply.raise_for_status().json())

    def reports(self, survey: Survey) -> list[bytes]:
        """The records as stored, of this survey's submissions."""
        with contextlib.closing(sqlite3.connect(self.db)) as db:
            return [row[0] for row in db.execute("SELECT reports FROM submissions WHERE survey = ?", [survey.id])]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=30)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("site"))
    yield site
    site.stop()


@pytest.fixture(scope="session")
def make_site() -> type[Site]:
    """`make_site(folder)` for a server of a test's own; whoever makes it stops it."""
    return Site


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a site. Loses the next `lose` replies to POSTs; alters the replies to the paths in `alter`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, site: Site) -> None:
        self.upstream = httpx.Client(base_url=site.url, headers={"Accept-Encoding": "identity"})  # it alters what it passes on
        super().__init__(("127.0.0.1", 0), _Forward)
        self.site, self.lose = site, 0
        self.alter: dict[str, tuple[bytes, bytes]] = {}
        # By path: scripts that run before a page's own, whole pages, and pages whose modules may be altered.
        self.inserted: dict[str, str] = {}
        self.pages: dict[str, str] = {}
        self.unsealed: set[str] = set()
        self.bodies: list[bytes] = []
        self.checks: list[bytes] = []  # of invitations, whose bodies stand apart
        self.url = f"http://127.0.0.1:{self.server_port}"

    def link(self, survey: Survey) -> str:
        return f"{self.url}/s/{survey.id}#digest={survey.digest}"

    def insert(self, survey: Survey, script: str) -> None:
        """Has a survey's page run a script before its own, in whatever engine."""
        self.inserted[f"/s/{survey.id}"] = script


class _Forward(BaseHTTPRequestHandler):
    server: Proxy

    def do_GET(self) -> None:
        if self.path in self.server.pages:
            return self._answer(httpx.Response(200, headers={"Cache-Control": "no-store"}, html=self.server.pages[self.path]))
        if (page := self.path.removesuffix("/inserted.js")) != self.path:
            headers = {"Content-Type": "text/javascript", "Cache-Control": "no-store"}
            return self._answer(httpx.Response(200, headers=headers, text=self.server.inserted[page]))
        return self._answer(self.server.upstream.get(self.path))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        (self.server.checks if self.path.endswith("/invitations/check") else self.server.bodies).append(body)
        reply = self.server.upstream.post(self.path, content=body, headers={"Content-Type": self.headers["Content-Type"]})
        if self.server.lose > 0:
            self.server.lose -= 1
            self.close_connection = True
            return
        self._answer(reply)

    def _answer(self, reply: httpx.Response) -> None:
        old, new = self.server.alter.get(self.path, (b"", b""))
        assert old in reply.content
        body = reply.content.replace(old, new) if old else reply.content
        if self.path in self.server.unsealed:
            body = body.replace(b"integrity", b"unheeded")
        if self.path in self.server.inserted:
            body = body.replace(b"<head>", f'<head><script src="{self.path}/inserted.js"></script>'.encode())
        self.send_response(reply.status_code)
        for name, value in reply.headers.items():
            if name not in ("content-length", "date", "server", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        with contextlib.suppress(ConnectionError):  # a browser that has gone on, or was killed, takes no reply
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def proxy(site: Site) -> Iterator[Proxy]:
    with Proxy(site) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()
        proxy.upstream.close()


class Page:
    """The respondent's page in a browser, and what a respondent does there."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, link: str) -> str:
        """Opens a link afresh; gives the step that it leads to."""
        self.driver.get("about:blank")
        self.driver.get(link)
        return self.step("loading")

    def step(self, after: str) -> str:
        """The step that comes up after the one named."""
        script = "return [...document.querySelectorAll('main > section')].find((s) => !s.hidden).id"
        found = WebDriverWait(self.driver, 20, 0.05).until(lambda d: (s := d.execute_script(script)) not in (after, "sending") and s)
        return str(found)

    def text(self) -> str:
        return self.driver.find_element(By.TAG_NAME, "main").text

    def choose(self, *options: int) -> None:
        """Agrees, and picks an option of each question, by number; -1 leaves one out."""
        self.press("agree")
        assert self.step("consent") == "questions"
        for question, option in zip(self.driver.find_elements(By.CSS_SELECTOR, ".question"), options, strict=True):
            if option >= 0:
                question.find_elements(By.CSS_SELECTOR, "label.option, option:not([disabled])")[option].click()

    def press(self, action: str) -> None:
        """Presses the button of the step that is shown."""
        self.driver.find_element(By.CSS_SELECTOR, f"main > section:not([hidden]) [data-action={action}]").click()

    def send(self) -> str:
        """Looks at the answers once more, and sends them."""
        self.press("next")
        assert self.step("questions") == "review"
        self.press("send")
        return self.step("review")

    def answer(self, link: str, *options: int) -> str:
        """From the link to the end; gives the last step."""
        assert self.open(link) == "consent"
        self.choose(*options)
        return self.send()

    def keys(self, *keys: str) -> None:
        ActionChains(self.driver).send_keys(*keys).perform()

    def focused(self, selector: str) -> bool:
        return bool(self.driver.execute_script("return document.activeElement.matches(arguments[0])", selector))


@pytest.fixture
def page(browser: Chrome) -> Page:
    """The shared browser; a survey of its own for each test keeps tests apart."""
    return Page(browser)


@pytest.fixture
def injected() -> Iterator[Callable[[Chrome, str], None]]:
    """`injected(driver, script)` runs a script in every new document of that browser, before the page's own, until the test ends."""
    made: list[tuple[Chrome, str]] = []

    def inject(driver: Chrome, script: str) -> None:
        reply = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        made.append((driver, reply["identifier"]))

    yield inject
    for driver, identifier in made:
        if driver.service.process is None or driver.service.process.poll() is not None:
            continue  # the test has closed it
        driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", {"identifier": identifier})


@pytest.fixture
def make_page() -> Callable[[Chrome], Page]:
    """`make_page(driver)` for a browser of the test's own."""
    return Page
