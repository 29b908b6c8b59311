"""What a page can leave behind or let out, searched for in every place there is."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome

LOGS = {"goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}

LEAKS = """
  addEventListener("change", (event) => {
    const { value, type } = event.target;
    const answer = type === "text" ? value : event.target.closest("label").textContent.trim().replace(/\\s+/g, " ");
    localStorage.draft = answer;
    sessionStorage.draft = answer;
    document.cookie = `draft=${answer}`;
    window.name = answer;
    history.replaceState({ answer }, "", `?draft=${answer}`);
    console.log(answer);
    fetch(`/s/draft-${answer}`);
    const request = indexedDB.open("drafts");
    request.onupgradeneeded = () => request.result.createObjectStore("answers", { autoIncrement: true });
    request.onsuccess = () => {
      const writing = request.result.transaction("answers", "readwrite");
      writing.objectStore("answers").add(answer);
      writing.oncomplete = () => { window.written = (window.written ?? 0) + 1; };
    };
    document.title = answer;
  }, true);
"""
"""A page that leaves every answer in ten places: the control of the search."""


def requests_of(driver: Chrome) -> list[dict[str, Any]]:
    """Every request since the last call: to whomever, with its body."""
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
    headers = {e["params"]["requestId"]: e["params"]["headers"] for e in events if e["method"] == "Network.requestWillBeSentExtraInfo"}
    sent = [params for params in sent if not params["request"]["url"].startswith(("chrome://", "data:", "about:"))]  # never leave it
    return [{**params["request"], "headers": {**params["request"]["headers"], **headers.get(params["requestId"], {})}} for params in sent]


def traces(driver: Chrome, requests: list[dict[str, Any]]) -> dict[str, str]:
    """All that a page can leave behind or let out, by where."""
    script = """
      const done = arguments[0];
      (async () => {
        const databases = {};
        for (const { name } of await indexedDB.databases()) {
          const db = await new Promise((resolve) => { const r = indexedDB.open(name); r.onsuccess = () => resolve(r.result); });
          for (const table of db.objectStoreNames) {
            databases[name] = await new Promise((resolve) => {
              const r = db.transaction(table).objectStore(table).getAll(); r.onsuccess = () => resolve(r.result); });
          }
          db.close();
        }
        return { localStorage: { ...localStorage }, sessionStorage: { ...sessionStorage }, indexedDB: databases, cookies: document.cookie,
          url: location.href, history: history.state, title: document.title, name: window.name, caches: await caches.keys(),
          inputs: [...document.querySelectorAll("#questions :is(input, select), #review dd")].map((i) => [i.checked, i.value]) };
      })().then(done);"""
    found = driver.execute_async_script(script)
    found["cookies"] = driver.get_cookies()
    found["console"] = driver.get_log("browser")
    found["requests"] = requests
    return {where: json.dumps(what) for where, what in found.items()}


def on_disk(folder: Path, words: list[str]) -> list[str]:
    """Which of the words stand in any file of a browser's profile."""
    contents = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    assert contents
    return [word for word in words if any(spelling in c for c in contents for spelling in (word.encode(), word.encode("utf-16-le")))]


def spellings(word: str) -> list[bytes]:
    """The bytes under which a word may hide: as text of either width, in hexadecimal, and in base64 wherever in a text it stands."""
    raw = word.encode()
    hidden = [base64.b64encode(b"\0" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    return [raw, word.encode("utf-16-le"), raw.hex().encode(), *(part for part in hidden if len(part) >= 6)]


def count_in(folder: Path, words: Iterable[str]) -> dict[str, int]:
    """How often each word stands in the files of a folder, in any spelling."""
    contents = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
    return {word: sum(content.count(spelling) for content in contents for spelling in spellings(word)) for word in words}
