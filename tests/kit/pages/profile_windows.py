"""Windows of one Chromium that know nothing of each other, as if each were on a device of its own; they cost no second browser."""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

from selenium.webdriver import Chrome
from tests.kit.patience import PATIENCE
from websocket import WebSocket, create_connection


@contextlib.contextmanager
def own_window(driver: Chrome) -> Iterator[None]:
    """The driver is in a window with a new profile meanwhile: no cookie, nothing stored. All of it is gone afterwards."""
    address = driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
    with urlopen(f"http://{address}/json/version", timeout=PATIENCE) as reply:
        socket = create_connection(json.load(reply)["webSocketDebuggerUrl"], suppress_origin=True, timeout=PATIENCE)
    before = driver.current_window_handle
    number = itertools.count(1)
    try:
        profile = _do(socket, next(number), "Target.createBrowserContext")["browserContextId"]
        window = _do(socket, next(number), "Target.createTarget", url="about:blank", browserContextId=profile)["targetId"]
        driver.switch_to.window(window)
        try:
            yield
        finally:
            driver.switch_to.window(before)
            _do(socket, next(number), "Target.disposeBrowserContext", browserContextId=profile)
    finally:
        socket.close()


def _do(socket: WebSocket, number: int, method: str, **params: Any) -> dict[str, Any]:
    socket.send(json.dumps({"id": number, "method": method, "params": params}))
    while (reply := json.loads(socket.recv())).get("id") != number:
        pass  # what the browser tells by itself
    assert "error" not in reply, reply["error"]
    return dict(reply["result"])
