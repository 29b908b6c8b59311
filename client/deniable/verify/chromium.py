"""Page load in a real Chromium: its DevTools protocol reports the replies it received and the scripts it ran.

It has an empty profile and sends the requests of any Chromium. So a server can distinguish it from a visitor only by its address and
the time.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from deniable.errors import DeliveryError
from deniable.extras import missing
from deniable.verify.replies import Reply

PATIENCE = 30.0  # seconds for the browser to start, and for each of its replies
READY_WITHIN = 30.0  # seconds for the page to show its first step
_QUIET = (
    *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--remote-debugging-port=0"),
)
_READY = "main > section:not([hidden]):not(#loading), main:not([data-survey])"


@dataclass
class PageLoad:
    """Everything that a browser requested, received and ran for a page.

    Attributes:
        requests: The addresses of all requests.
        replies: The replies, by address.
        scripts: The address and the source of each script that ran.
        is_ready: Whether the page showed its first step.
    """

    requests: set[str] = field(default_factory=set)
    replies: dict[str, Reply] = field(default_factory=dict)
    scripts: list[tuple[str, str]] = field(default_factory=list)
    is_ready: bool = False


def load(program: str, url: str) -> PageLoad:
    """Loads an address with the Chromium `program`. Raises DeliveryError if the program does not start or respond."""
    try:
        with _running_browser(program) as address, _Session(address) as session:
            return session.load(url)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise DeliveryError(f"{program} could not be used as a browser: {type(error).__name__}") from None


@contextlib.contextmanager
def _running_browser(program: str) -> Iterator[str]:
    """Runs a browser with an empty profile, and yields the address of its DevTools."""
    with tempfile.TemporaryDirectory(prefix="deniable-verify-", ignore_cleanup_errors=True) as profile:
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()  # Chromium's sandbox does not run as root
        command = [program, *_QUIET, *sandbox, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - the user's own browser
        try:
            yield _devtools_address(Path(profile) / "DevToolsActivePort", process)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _devtools_address(file: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            port, path = file.read_text(encoding="ascii").split()
            return f"ws://127.0.0.1:{port}{path}"
        time.sleep(0.05)
    raise OSError("it did not start")


class _Session:
    """A page of a running browser: its commands and events."""

    def __init__(self, address: str) -> None:
        try:
            from websocket import WebSocketException, create_connection
        except ModuleNotFoundError as error:
            raise DeliveryError(str(missing("a real browser", "browser") or error)) from None
        self._failures = WebSocketException
        self._socket = create_connection(address, timeout=PATIENCE, suppress_origin=True)
        self._numbers = itertools.count(1)
        self._events: list[tuple[str, dict[str, Any]]] = []
        self._target: dict[str, str] = {}

    def __enter__(self) -> _Session:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()

    def load(self, url: str) -> PageLoad:
        """Loads an address. Raises OSError if the connection to the browser fails."""
        try:
            return self._load(url)
        except self._failures as error:
            raise OSError(str(error)) from None

    def _load(self, url: str) -> PageLoad:
        agent = self._do("Browser.getVersion")["userAgent"].replace("Headless", "")
        page = self._do("Target.createTarget", url="about:blank")["targetId"]
        self._target = {"sessionId": self._do("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]}
        for domain in ("Network", "Page", "Debugger", "DOM"):
            self._do(f"{domain}.enable")
        self._do("Network.setUserAgentOverride", userAgent=agent, acceptLanguage="en-US,en")
        self._do("Page.navigate", url=url)
        page_load = PageLoad(is_ready=self._becomes_ready())
        self._collect(page_load)
        return page_load

    def _becomes_ready(self) -> bool:
        """Waits for the page's first step and for all requests to end; returns False after READY_WITHIN seconds."""
        deadline = time.monotonic() + READY_WITHIN
        while time.monotonic() < deadline:
            self._do("Browser.getVersion", target=False)  # events come in before its reply
            if not self._pending() and self._finds(_READY):
                return True
            time.sleep(0.05)
        return False

    def _finds(self, selector: str) -> bool:
        root = self._do("DOM.getDocument", depth=0)["root"]["nodeId"]
        with contextlib.suppress(ValueError):
            return bool(self._do("DOM.querySelector", nodeId=root, selector=selector)["nodeId"])
        return False  # another document has replaced it

    def _pending(self) -> set[str]:
        started = {event["requestId"] for name, event in self._events if name == "Network.requestWillBeSent"}
        ended = {event["requestId"] for name, event in self._events if name in ("Network.loadingFinished", "Network.loadingFailed")}
        return started - ended

    def _collect(self, page_load: PageLoad) -> None:
        for name, event in list(self._events):
            if name == "Network.requestWillBeSent":
                page_load.requests.add(event["request"]["url"].partition("#")[0])
            elif name == "Network.webSocketCreated":
                page_load.requests.add(event["url"])
            elif name == "Network.responseReceived":
                headers = httpx.Headers(list(event["response"]["headers"].items()))
                page_load.replies[event["response"]["url"]] = Reply(event["response"]["status"], headers, self._body(event["requestId"]))
            elif name == "Debugger.scriptParsed":
                source = self._do("Debugger.getScriptSource", scriptId=event["scriptId"])["scriptSource"]
                page_load.scripts.append((event["url"], source))

    def _body(self, request: str) -> bytes | None:
        try:
            body = self._do("Network.getResponseBody", requestId=request)
        except ValueError:
            return None
        return base64.b64decode(body["body"]) if body["base64Encoded"] else body["body"].encode()

    def _do(self, method: str, *, target: bool = True, **params: Any) -> dict[str, Any]:
        """Returns the result of a command, and stores events that arrive before it. Raises ValueError if the browser refuses it."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params, **(self._target if target else {})}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise ValueError(message["error"].get("message"))
                return dict(message["result"])
            if "method" in message:
                self._events.append((message["method"], message.get("params", {})))
