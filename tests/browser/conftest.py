"""The browser modules, served as they are from 127.0.0.1 (which browsers trust like HTTPS), and a way to call them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from selenium.webdriver import Chrome

import deniable

MODULES = Path(deniable.__file__).parent / "browser"

CALL = """
const done = arguments[arguments.length - 1], given = arguments[0];
(async () => {
  const [encode, randomize, submission, definition, codes, posterior] =
    await Promise.all(["encode", "randomize", "submission", "definition", "codes", "posterior"].map((name) => import(`/${name}.mjs`)));
  BODY
})().then((value) => done({ value }), (error) => done({ error: `${error.name}: ${error.message}` }));
"""


class _Quiet(SimpleHTTPRequestHandler):
    def guess_type(self, path: Any) -> str:
        return "text/javascript" if str(path).endswith(".mjs") else super().guess_type(path)

    def do_GET(self) -> None:
        if self.path == "/":
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>modules</title>")
        else:
            super().do_GET()

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")  # the next server may be given the same port, and serves other modules
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        pass


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serves a folder until it is closed; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(scope="session")
def modules() -> Iterator[str]:
    """The address under which `client/deniable/browser` is served."""
    with serve(MODULES) as address:
        yield address


def run(driver: Chrome, page: str, body: str, given: Any = None) -> Any:
    """Runs the body of an async JavaScript function that sees these modules and `given`; returns what it returns."""
    driver.set_script_timeout(300)
    driver.get(page)
    outcome = driver.execute_async_script(CALL.replace("BODY", body), given)
    if "error" in outcome:
        raise AssertionError(outcome["error"])
    return outcome["value"]


@pytest.fixture
def served() -> Iterator[Callable[[Path], str]]:
    """`served(folder)` serves a folder of scripts until the test ends; gives its address."""
    with ExitStack() as stack:
        yield lambda folder: stack.enter_context(serve(folder))


@pytest.fixture(scope="session")
def javascript_at() -> Callable[..., Any]:
    """`javascript_at(driver, address, body, given)` runs the body in a browser of one's own, at an address of one's own."""
    return run


@pytest.fixture
def javascript(browser: Chrome, modules: str) -> Callable[..., Any]:
    """`javascript(body, given)` runs the body in Chromium, beside the browser modules as they are shipped."""
    return partial(run, browser, modules)


@pytest.fixture
def broken_javascript(browser: Chrome, tmp_path: Path) -> Callable[..., Any]:
    """`broken_javascript(file, right, wrong, body, given)` does so with one piece of one module changed."""

    def changed(file: str, right: str, wrong: str, body: str, given: Any = None) -> Any:
        source = (MODULES / file).read_text(encoding="utf-8")
        assert source.count(right) == 1, f"{file} must hold this once: {right}"
        shutil.copytree(MODULES, tmp_path, dirs_exist_ok=True)
        (tmp_path / file).write_text(source.replace(right, wrong), encoding="utf-8")
        with serve(tmp_path) as address:
            return run(browser, address, body, given)

    return changed
