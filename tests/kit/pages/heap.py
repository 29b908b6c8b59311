"""A snapshot of all that the programs of a page can reach in Chromium's memory, after garbage collection."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

import httpx
from selenium.webdriver import Chrome
from tests.kit.patience import PATIENCE
from websocket import create_connection


def in_memory(driver: Chrome, words: Collection[str]) -> set[str]:
    """Which of the words are in a string of the page's heap."""
    address = driver.capabilities["goog:chromeOptions"]["debuggerAddress"]
    page = next(target for target in httpx.get(f"http://{address}/json", timeout=PATIENCE).json() if target["url"] == driver.current_url)
    connection = create_connection(page["webSocketDebuggerUrl"], timeout=PATIENCE, suppress_origin=True)
    try:
        for number, method in enumerate(("HeapProfiler.enable", "HeapProfiler.collectGarbage")):
            connection.send(json.dumps({"id": number, "method": method}))
        connection.send(json.dumps({"id": 9, "method": "HeapProfiler.takeHeapSnapshot", "params": {"reportProgress": False}}))
        strings = json.loads("".join(_chunks(connection)))["strings"]
    finally:
        connection.close()
    assert len(strings) > 1000
    return {word for word in words if any(word in text for text in strings)}


def _chunks(connection: Any) -> Any:
    while True:
        message = json.loads(connection.recv())
        if message.get("method") == "HeapProfiler.addHeapSnapshotChunk":
            yield message["params"]["chunk"]
        elif message.get("id") == 9:
            return
