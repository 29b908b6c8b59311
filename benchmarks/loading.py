"""Waiting time of a respondent, from the link to the first question: with the one file, and with its modules.

Run: make bench NAME=loading. Chromium loads both from this process, in turn, over networks that it slows down itself. The page with the
modules requests them all at once, each with its integrity in an import map. The button of the first page is pressed as soon as it appears.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import json
import re
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from flask.testing import FlaskClient
from selenium.webdriver import Chrome, ChromeOptions, ChromeService
from selenium.webdriver.support.ui import WebDriverWait

from deniable.survey import Survey
from deniable.verify.page_bundle import ENTRY, NAME, read_modules
from deniable_server import Config, create_app
from deniable_server.store import open_store
from deniable_server.web.files import SCRIPTS

QUESTIONS = 20
PATIENCE = 60  # seconds
NETWORKS = {  # milliseconds to wait for each reply, bytes a second down and up; the second is what Chrome's tools call Slow 4G
    "150 ms, 1.6 Mbit/s": (150.0, 1.6e6 / 8, 750e3 / 8),
    "Slow 4G": (562.5, 0.9 * 1.6e6 / 8, 0.9 * 750e3 / 8),
}
WATCH = """
addEventListener("DOMContentLoaded", () => {
  const seen = (id, action) => {
    const step = document.getElementById(id);
    const look = () => step.hidden || (observer.disconnect(), action(step));
    const observer = new MutationObserver(look);
    observer.observe(step, { attributeFilter: ["hidden"] });
  };
  seen("consent", (step) => step.querySelector("[data-action=agree]").click());
  seen("questions", () => { globalThis.firstQuestion = performance.now(); });
});
"""
LOADED = """
const entries = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
const parts = entries.filter(({ name }) => name.startsWith("http"));
return [parts.length, parts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0), firstQuestion];
"""


class Reply(NamedTuple):
    """headers: those that matter to a browser. body: compressed."""

    headers: Mapping[str, str]
    body: bytes


class Visit(NamedTuple):
    """What a page asked for, in requests and bytes of bodies, and milliseconds from the link to its first question."""

    requests: int
    size: int
    time: float


def replies_of(client: FlaskClient, survey: Survey) -> dict[str, Reply]:
    """What the server replies to all that either page asks for, by path."""
    paths = [f"/s/{survey.id}", f"/api/v1/surveys/{survey.id}", "/static/base.css", "/static/respond.css"]
    found = {}
    for path in [*paths, *(f"/browser/{name}" for name in SCRIPTS)]:
        reply = client.get(path, headers={"Accept-Encoding": "gzip"})
        if reply.status_code != 200 or reply.headers.get("Content-Encoding") != "gzip":
            raise RuntimeError(f"{path} must be served, compressed, got {reply.status_code}")
        kept = ("Content-Type", "Content-Encoding", "Content-Security-Policy", "Cache-Control")
        found[path] = Reply({name: reply.headers[name] for name in kept}, reply.data)
    return found


def with_modules(page: Reply) -> Reply:
    """The page that loads the modules themselves."""
    names = sorted(read_modules())
    hashes = {f"/browser/{name}": SCRIPTS[name] for name in names}
    table = json.dumps({"integrity": hashes}, separators=(",", ":"))
    links = [f'  <link rel="modulepreload" href="/browser/{name}" integrity="{SCRIPTS[name]}">' for name in names if name != ENTRY]
    start = f'  <script type="module" src="/browser/{ENTRY}" integrity="{SCRIPTS[ENTRY]}"></script>'
    markup = "\n".join([f'<script type="importmap">{table}</script>', *links, start])
    text, count = re.subn(rf'<script type="module" src="/browser/{NAME}"[^>]*></script>', markup, gzip.decompress(page.body).decode())
    if count != 1:
        raise RuntimeError("the page must have its script once")
    allowed = base64.b64encode(hashlib.sha256(table.encode()).digest()).decode()
    policy = page.headers["Content-Security-Policy"].replace("script-src 'self'", f"script-src 'self' 'sha256-{allowed}'")
    return Reply({**page.headers, "Content-Security-Policy": policy}, gzip.compress(text.encode(), 9, mtime=0))


@contextmanager
def served(replies: Mapping[str, Reply]) -> Iterator[str]:
    """The address of a server that has these replies, over connections that are kept."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # which waits 40 ms with the body of each reply; no real server does

        def do_GET(self) -> None:
            reply = replies.get(self.path, Reply({}, b""))
            self.send_response(200 if self.path in replies else 404)
            for name, value in {**reply.headers, "Content-Length": str(len(reply.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@contextmanager
def chromium() -> Iterator[Chrome]:
    options = ChromeOptions()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for argument in ("--headless=new", "--no-sandbox", "--disable-background-networking", f"--user-data-dir={profile}"):
            options.add_argument(argument)
        options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
        driver = Chrome(options, ChromeService(shutil.which("chromedriver")))
        driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        driver.execute_cdp_cmd("Network.enable", {})
        yield driver
        driver.quit()


def visit(driver: Chrome, address: str, network: tuple[float, float, float] | None) -> Visit:
    """One visit on new connections, over a network {latency, down, up}; None: as fast as it goes."""
    latency, down, up = network or (0, -1, -1)
    limits = {"offline": False, "latency": latency, "downloadThroughput": down, "uploadThroughput": up}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", limits)
    driver.get("about:blank")
    driver.get(address)
    WebDriverWait(driver, PATIENCE, 0.05).until(lambda d: d.execute_script("return globalThis.firstQuestion !== undefined"))
    return Visit(*driver.execute_script(LOADED))


def survey_of(questions: int) -> Survey:
    asked = [{"id": f"q{i}", "text": f"Question {i}, of which there are some?", "type": "yes_no"} for i in range(questions)]
    return Survey.from_dict(
        {"deniable": 1, "id": "s", "title": "A survey", "about": "Who asks, and why.", "epsilon": 4, "questions": asked}
    )


def pages(folder: Path) -> dict[str, tuple[dict[str, Reply], str]]:
    """Both pages: all that is served with each, and the address of the page behind the server's, by name."""
    survey = survey_of(QUESTIONS)
    store = open_store(folder / "site.db")
    store.surveys.publish(survey)
    replies = replies_of(create_app(Config(folder / "site.db", "0" * 32), store).test_client(), survey)
    store.close()
    page = f"/s/{survey.id}"
    modules = {**replies, page: with_modules(replies[page])}
    return {"one file": (replies, page), "modules": (modules, page)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visits", type=int, default=7, help="visits a line, of which the median is told")
    visits = parser.parse_args().visits
    print(f"| page | requests | bytes | {' | '.join(f'{name}, ms' for name in NETWORKS)} |\n" + "|---" * (3 + len(NETWORKS)) + "|")
    with tempfile.TemporaryDirectory() as folder, chromium() as driver:
        found: dict[str, dict[str, list[Visit]]] = {}
        made = pages(Path(folder))
        for network, limits in NETWORKS.items():
            for _ in range(visits):
                for name, (replies, page) in made.items():
                    with served(replies) as address:
                        found.setdefault(name, {}).setdefault(network, []).append(visit(driver, address + page, limits))
        for name, of_page in found.items():
            one = next(iter(of_page.values()))[0]
            times = [f"{median(seen.time for seen in seens):.0f}" for seens in of_page.values()]
            print(f"| {name} | {one.requests} | {one.size:,} | {' | '.join(times)} |")


if __name__ == "__main__":
    main()
