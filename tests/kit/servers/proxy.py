"""A way to a site that loses or alters replies."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
from tests.kit.patience import PATIENCE
from tests.kit.servers.site import Site

from deniable.survey import Survey


class Proxy(ThreadingHTTPServer):
    """Passes requests on to a site. Loses the next `lose` replies to POSTs; alters the replies to the paths in `alter`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, site: Site) -> None:
        identity = {"Accept-Encoding": "identity"}  # it alters what it passes on
        self.upstream = httpx.Client(base_url=site.url, timeout=PATIENCE, headers=identity)
        super().__init__(("127.0.0.1", 0), _Forward)
        self.site, self.lose = site, 0
        self.down = False  # every connection ends without a reply, and nothing reaches the site
        self.alter: dict[str, tuple[bytes, bytes]] = {}
        # By path, whatever stands behind its question mark: scripts that run before a page's own, whole pages, and pages whose modules
        # may be altered.
        self.inserted: dict[str, str] = {}
        self.pages: dict[str, str] = {}
        self.unsealed: set[str] = set()
        # By path: files that are missing (404), files whose connection ends without a reply, and files that wait until another was sent.
        self.missing: set[str] = set()
        self.dropped: set[str] = set()
        self.after: dict[str, str] = {}
        self.sent: dict[str, threading.Event] = defaultdict(threading.Event)
        self.bodies: list[bytes] = []
        self.heads: list[str] = []  # the first line and the headers of each request
        self.checks: list[bytes] = []  # exchanges of invitations, whose bodies stand apart
        self.exchanges = True  # whether they get through
        self.url = f"http://127.0.0.1:{self.server_port}"

    def server_close(self) -> None:
        super().server_close()
        self.upstream.close()

    def link(self, survey: Survey) -> str:
        return f"{self.url}/s/{survey.id}#digest={survey.digest}"

    def kiosk(self, survey: Survey, more: str = "") -> str:
        """The link to a survey on a shared device."""
        return self.link(survey).replace("#", "/kiosk#") + more

    def insert(self, survey: Survey, script: str) -> None:
        """Has a survey's page run a script before its own, in whatever engine."""
        self.inserted[f"/s/{survey.id}"] = script


class _Forward(BaseHTTPRequestHandler):
    disable_nagle_algorithm = True  # which would hold the body of a reply back
    server: Proxy

    def parse_request(self) -> bool:
        parsed = super().parse_request()
        if parsed:
            self.server.heads.append(f"{self.requestline}\n{self.headers}")
        return parsed

    def do_GET(self) -> None:
        if self.server.down or (self.path.endswith("/tokens") and not self.server.exchanges):
            self.close_connection = True
            return None
        if self.path in self.server.pages:
            return self._answer(httpx.Response(200, headers={"Cache-Control": "no-store"}, html=self.server.pages[self.path]))
        if (page := self.path.removesuffix("/inserted.js")) != self.path:
            headers = {"Content-Type": "text/javascript", "Cache-Control": "no-store"}
            return self._answer(httpx.Response(200, headers=headers, text=self.server.inserted[page]))
        reply = self.server.upstream.get(self.path)
        if self.path in self.server.after:
            self.server.sent[self.server.after[self.path]].wait(PATIENCE)
        try:
            if self.path in self.server.dropped:
                self.close_connection = True
                return None
            self._answer(httpx.Response(404) if self.path in self.server.missing else reply)
        finally:
            self.server.sent[self.path].set()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.down or (self.path.endswith("/tokens") and not self.server.exchanges):
            self.close_connection = True
            return
        (self.server.checks if self.path.endswith("/tokens") else self.server.bodies).append(body)
        reply = self.server.upstream.post(self.path, content=body, headers={"Content-Type": self.headers["Content-Type"]})
        if self.server.lose > 0:
            self.server.lose -= 1
            self.close_connection = True
            return
        self._answer(reply)

    def _answer(self, reply: httpx.Response) -> None:
        page = self.path.partition("?")[0]
        old, new = self.server.alter.get(page, (b"", b""))
        assert old in reply.content
        body = reply.content.replace(old, new) if old else reply.content
        if page in self.server.unsealed:
            body = body.replace(b"integrity", b"unheeded")
        if page in self.server.inserted:
            body = body.replace(b"<head>", f'<head><script src="{page}/inserted.js"></script>'.encode())
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
