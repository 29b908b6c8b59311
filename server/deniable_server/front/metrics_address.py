"""Separate address at which `/metrics` needs no API key, and which serves nothing else."""

from __future__ import annotations

from flask import Flask
from granian._granian import RSGIHTTPProtocol
from granian.rsgi import Scope
from werkzeug.exceptions import HTTPException, NotFound

from deniable_server.front import gateway
from deniable_server.front.workers import Workers
from deniable_server.web.lanes import Lane

METRICS = "/metrics"


class Scraped:
    """Answers METRICS requests to `host` and `port` with the application `app`, with `mark` in their environ."""

    def __init__(self, app: Flask, host: str, port: int, mark: str) -> None:
        self._app, self._mark = app, mark
        self._base = gateway.base_environ(host, port)
        self._workers = Workers("metrics", threads=1, waiting=16, lane=Lane.RESEARCHERS)

    async def __rsgi__(self, scope: Scope, proto: RSGIHTTPProtocol) -> None:
        """Answers one request, without its body."""
        environ = gateway.with_body(gateway.environ_of(scope, scope.headers.items(), self._base), b"")
        try:
            if scope.path != METRICS or scope.method not in ("GET", "HEAD"):
                raise NotFound
            reply = await self._workers.run(gateway.call, self._app, {**environ, self._mark: True})
        except HTTPException as why:
            reply = gateway.refuse(self._app, environ, why)
        proto.response_bytes(reply.status, reply.headers, reply.body)
