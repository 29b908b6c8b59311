"""Providers of OpenID Connect: a real one in a process of its own, and one whose ID tokens a test makes wrong."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.kit.servers.process import reserved, start

CLIENT = "deniable"
SECRET = "the secret of this server at the provider"


def settings_file(folder: Path, issuer: str, more: str = "") -> Path:
    """Writes the settings of single sign-on at this provider."""
    (folder / "sso.secret").write_text(SECRET + "\n")
    path = folder / "sso.toml"
    path.write_text(f'issuer = "{issuer}"\nclient_id = "{CLIENT}"\nclient_secret_file = "sso.secret"\n{more}')
    return path


class RealProvider:
    """oidc-provider-mock, as its program starts it."""

    def __init__(self, url: str) -> None:
        self.url = url

    def person(self, subject: str, **claims: Any) -> None:
        """Sets the claims of a person."""
        httpx.put(f"{self.url}/users/{subject}", json=claims, timeout=60).raise_for_status()

    def approve(self, address: str, subject: str) -> str:
        """Logs the person in at the provider; returns the address to which the browser is sent back."""
        reply = httpx.post(address, data={"sub": subject}, timeout=60)
        assert reply.status_code in (302, 303), reply.text
        return reply.headers["location"]


@contextmanager
def real_provider(folder: Path) -> Iterator[RealProvider]:
    """Runs it until the end of the block."""
    with reserved() as holder:
        port = holder.getsockname()[1]
        url = f"http://127.0.0.1:{port}"

        def answers() -> bool:
            try:
                return httpx.get(f"{url}/.well-known/openid-configuration", timeout=60).status_code == 200
            except httpx.HTTPError:
                return False

        holder.close()
        process = start([sys.executable, "-m", "oidc_provider_mock", "--port", str(port)], port, folder / "provider.log", answers)
    try:
        yield RealProvider(url)
    finally:
        process.terminate()
        process.wait()


class FalseProvider:
    """A provider whose replies a test changes.

    Attributes:
        person: The claims of the person who logs in next.
        change: Changes the claims of an ID token, or returns another token in place of them.
        document: Changes the discovery document.
        codes: The codes that were issued and not yet used, with their nonce and challenge.
    """

    def __init__(self) -> None:
        self.key, self.other_key = (RSAKey.generate_key(2048, {"kid": "k"}) for _ in range(2))
        self.person: dict[str, Any] = {"sub": "s-1", "preferred_username": "eve"}
        self.change: Callable[[dict[str, Any]], dict[str, Any] | str] = lambda claims: claims
        self.document: Callable[[dict[str, Any]], Any] = lambda document: document
        self.userinfo: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.reusable = False
        self.silent = threading.Event()
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._answer(dict(parse_qsl(urlsplit(self.path).query)))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self._answer({name: values[0] for name, values in parse_qs(body).items()})

            def _answer(self, fields: dict[str, str]) -> None:
                path = urlsplit(self.path).path
                provider.requests.append((path, {**fields, "authorization": self.headers.get("Authorization") or ""}))
                status, value = provider.reply(path, fields)
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def approve(self, address: str) -> str:
        """Logs the person in; returns the address to which the browser is sent back."""
        fields = dict(parse_qsl(urlsplit(address).query))
        code = base64.urlsafe_b64encode(json.dumps([len(self.codes), time.time()]).encode()).decode().rstrip("=")
        self.codes[code] = fields
        return f"{fields['redirect_uri']}?code={code}&state={fields['state']}"

    def reply(self, path: str, fields: dict[str, str]) -> tuple[int, Any]:
        """Returns status and JSON for a request."""
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "auth", "token_endpoint": "token", "jwks_uri": "keys", "userinfo_endpoint": "userinfo"}
            return 200, self.document({"issuer": self.url, **{name: f"{self.url}/{end}" for name, end in names.items()}})
        if path == "/keys":
            return 200, {"keys": [self.key.as_dict(private=False)]}
        if path == "/userinfo":
            return 200, self.userinfo
        begun = self.codes.get(fields.get("code", "")) if self.reusable else self.codes.pop(fields.get("code", ""), None)
        if begun is None:
            return 400, {"error": "invalid_grant"}
        return 200, {"token_type": "Bearer", "access_token": "access", "id_token": self.id_token(begun)}

    def id_token(self, begun: dict[str, str]) -> str:
        """Returns a signed ID token, or what `change` makes of it."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": begun["nonce"], **self.person}
        changed = self.change(claims)
        return changed if isinstance(changed, str) else jwt.encode({"alg": "RS256", "kid": "k"}, changed, self.key)

    def close(self) -> None:
        """Stops the provider."""
        self.server.shutdown()
        self.server.server_close()


def unsigned(claims: dict[str, Any]) -> str:
    """Returns an ID token with `alg: none`."""
    parts = ({"alg": "none", "typ": "JWT"}, claims)
    return ".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."
