"""A real Chromium loads the page, and says what it received and which scripts it ran, over its DevTools protocol.

It has an empty profile and asks as any Chromium does, so a server can tell it from a visitor by its address and the moment only.
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
ARRIVAL = 30.0  # seconds for the page to come up
_QUIET = (
    *("--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--remote-debugging-port=0"),
)
_ARRIVED = "main > section:not([hidden]):not(#loading), main:not([data-survey])"


@dataclass
class Seen:
    """asked: the addresses of all requests. replies: by address. scripts: address and source of each script that ran. arrived: whether
    the page got to its first step."""

    asked: set[str] = field(default_factory=set)
    replies: dict[str, Reply] = field(default_factory=dict)
    scripts: list[tuple[str, str]] = field(default_factory=list)
    arrived: bool = False


def load(program: str, url: str) -> Seen:
    """Loads an address with the Chromium `program`. Raises DeliveryError where that cannot be started or asked."""
    try:
        with _running(program) as address, _Session(address) as session:
            return session.load(url)
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as error:
        raise DeliveryError(f"{program} could not be used as a browser: {type(error).__name__}") from None


@contextlib.contextmanager
def _running(program: str) -> Iterator[str]:
    """A running browser with a profile of its own; gives the address of its DevTools."""
    with tempfile.TemporaryDirectory(prefix="deniable-verify-", ignore_cleanup_errors=True) as profile:
        sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()  # Chromium's sandbox does not run as root
        command = [program, *_QUIET, *sandbox, f"--user-data-dir={profile}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603 - the user's own browser
        try:
            yield _address(Path(profile) / "DevToolsActivePort", process)
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE)


def _address(file: Path, process: subprocess.Popen[bytes]) -> str:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            port, path = file.read_text(encoding="ascii").split()
            return f"ws://127.0.0.1:{port}{path}"
        time.sleep(0.05)
    raise OSError("it did not start")


class _Session:
    """One page of a running browser: commands, and the events that come meanwhile."""

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

    def load(self, url: str) -> Seen:
        try:
            return self._load(url)
        except self._failures as error:
            raise OSError(str(error)) from None

    def _load(self, url: str) -> Seen:
        agent = self._do("Browser.getVersion")["userAgent"].replace("Headless", "")
        page = self._do("Target.createTarget", url="about:blank")["targetId"]
        self._target = {"sessionId": self._do("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]}
        for domain in ("Network", "Page", "Debugger", "DOM"):
            self._do(f"{domain}.enable")
        self._do("Network.setUserAgentOverride", userAgent=agent, acceptLanguage="en-US,en")
        self._do("Page.navigate", url=url)
        seen = Seen(arrived=self._arrives())
        self._collect(seen)
        return seen

    def _arrives(self) -> bool:
        """Waits for the page's first step, and then until nothing that was asked for is on its way."""
        deadline = time.monotonic() + ARRIVAL
        while time.monotonic() < deadline:
            self._do("Browser.getVersion", target=False)  # events come in before its reply
            if not self._on_the_way() and self._finds(_ARRIVED):
                return True
            time.sleep(0.05)
        return False

    def _finds(self, selector: str) -> bool:
        root = self._do("DOM.getDocument", depth=0)["root"]["nodeId"]
        with contextlib.suppress(ValueError):
            return bool(self._do("DOM.querySelector", nodeId=root, selector=selector)["nodeId"])
        return False  # another document has taken its place meanwhile

    def _on_the_way(self) -> set[str]:
        begun = {event["requestId"] for name, event in self._events if name == "Network.requestWillBeSent"}
        ended = {event["requestId"] for name, event in self._events if name in ("Network.loadingFinished", "Network.loadingFailed")}
        return begun - ended

    def _collect(self, seen: Seen) -> None:
        for name, event in list(self._events):
            if name == "Network.requestWillBeSent":
                seen.asked.add(event["request"]["url"].partition("#")[0])
            elif name == "Network.webSocketCreated":
                seen.asked.add(event["url"])
            elif name == "Network.responseReceived":
                told = httpx.Headers(list(event["response"]["headers"].items()))
                seen.replies[event["response"]["url"]] = Reply(event["response"]["status"], told, self._body(event["requestId"]))
            elif name == "Debugger.scriptParsed":
                source = self._do("Debugger.getScriptSource", scriptId=event["scriptId"])["scriptSource"]
                seen.scripts.append((event["url"], source))

    def _body(self, request: str) -> bytes | None:
        try:
            found = self._do("Network.getResponseBody", requestId=request)
        except ValueError:
            return None
        return base64.b64decode(found["body"]) if found["base64Encoded"] else found["body"].encode()

    def _do(self, method: str, *, target: bool = True, **params: Any) -> dict[str, Any]:
        """The result of a command. Raises ValueError where the browser refuses it."""
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
