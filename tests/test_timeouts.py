"""No program, test or example waits for a reply as long as a library happens to: every request names its time limit.

httpx waits for 5 seconds by default, which a login on a busy machine can take; http.client, sockets and urllib wait for ever.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("benchmarks", "client", "examples", "server", "tests")
WAITING = {f"httpx.{name}" for name in ("get", "post", "put", "delete", "head", "request", "stream", "Client", "AsyncClient")}
WAITING |= {"http.client.HTTPConnection", "http.client.HTTPSConnection", "HTTPConnection", "urlopen", "urllib.request.urlopen"}
WAITING |= {"socket.create_connection", "create_connection"}
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def without_limit(source: str) -> Iterator[str]:
    """Yields every call in a source text that waits for a reply and has no `timeout`; those that reach no network need none."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in WAITING:
            named = {keyword.arg for keyword in node.keywords}
            if not named & {"timeout", "transport", None}:
                yield f"line {node.lineno}: {ast.unparse(node)[:80]}"


def sources() -> Iterator[tuple[str, str]]:
    """Yields the name and text of every Python file, and of every block of Python in the documentation."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in CODE.findall(page.read_text(encoding="utf-8")):
            if not block.startswith(">>>"):
                yield page.relative_to(ROOT).as_posix(), block


def test_every_request_names_how_long_it_waits() -> None:
    texts = list(sources())
    assert len(texts) > 500
    assert [f"{name} {call}" for name, text in texts for call in without_limit(text)] == []


def test_a_call_without_a_limit_is_noticed() -> None:
    assert len(list(without_limit("httpx.get(url)\nhttpx.Client(base_url=url)\nurlopen(url)"))) == 3
    assert list(without_limit("httpx.get(url, timeout=9)\nhttpx.Client(transport=mock)\nhttpx.Client(**options)")) == []
