"""Provider of OpenID Connect: discovery, the authorization code flow with PKCE, and the validation of ID tokens.

Authlib and joserfc compute the challenge, verify the signature and validate the claims. They and httpx are slow to load, so they are
imported on first use. A provider gets a few seconds for each request.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from deniable.errors import DeniableError
from deniable_server.context import current_services
from deniable_server.identity.sso.settings import SsoSettings, is_safe

if TYPE_CHECKING:
    import httpx

SECONDS = 5.0  # for a connection, or between two parts of a reply
LONGEST = 10.0  # seconds for a whole reply
MOST_BYTES = 1 << 20  # of a reply
LEEWAY = 60  # seconds that the two clocks may differ
FRESH = 3600.0  # seconds: lifetime of the discovery document in memory
AT_ONCE = 2  # logins that wait for the provider; a slow provider must not block other pages
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Accepted signatures: asymmetric ones only, and never `none`."""

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class SsoError(DeniableError):
    """A login at the provider failed. The message is for the person who logs in, and has nothing that the provider sent.

    Args:
        message: Why the login failed.
        outcome: The kind of failure, one of OUTCOMES, for the metrics.
    """

    def __init__(self, message: str, outcome: str = "failed") -> None:
        super().__init__(message)
        self.outcome = outcome


@dataclass(frozen=True)
class LoginRequest:
    """Secrets of one login, which the reply must match.

    Attributes:
        redirect_uri: The address that the provider redirects the browser to.
        state: Ties the provider's reply to this browser.
        nonce: Ties the ID token to this login.
        verifier: The secret of PKCE, which ties the code to this login.
    """

    redirect_uri: str
    state: str
    nonce: str
    verifier: str


class Provider:
    """One provider, as an application uses it."""

    def __init__(self, settings: SsoSettings) -> None:
        self.settings = settings
        self._turn = threading.Semaphore(AT_ONCE)
        self._metadata: tuple[float, Mapping[str, Any]] | None = None

    def metadata(self) -> Mapping[str, Any]:
        """Returns the discovery document, fetched once an hour.

        Raises:
            SsoError: The provider does not answer, or its document is invalid or another issuer's.
        """
        if self._metadata is not None and time.monotonic() - self._metadata[0] < FRESH:
            return self._metadata[1]
        with self._client() as client:
            document = _fetch(client, "GET", f"{self.settings.issuer.rstrip('/')}/.well-known/openid-configuration")
        if document.get("issuer") != self.settings.issuer:
            raise SsoError("the login provider's discovery document must name the issuer of this server's settings")
        if not all(isinstance(document.get(name), str) and is_safe(document[name]) for name in _ENDPOINTS):
            raise SsoError("the login provider's discovery document must have https:// addresses for login, tokens and keys")
        self._metadata = (time.monotonic(), document)
        return document

    def authorization_url(self, request: LoginRequest) -> str:
        """Returns the address at the provider where a person logs in. Raises SsoError."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        url: str = prepare_grant_uri(
            self.metadata()["authorization_endpoint"],
            client_id=self.settings.client_id,
            response_type="code",
            redirect_uri=request.redirect_uri,
            scope=" ".join(self.settings.scopes),
            state=request.state,
            nonce=request.nonce,
            code_challenge=create_s256_code_challenge(request.verifier),
            code_challenge_method="S256",
        )
        return url

    def claims(self, code: str, request: LoginRequest) -> dict[str, Any]:
        """Exchanges a code for the validated claims about a person.

        Args:
            code: The code that the browser brought.
            request: The login that this browser began.

        Raises:
            SsoError: The provider refuses the code, does not answer, or its ID token is invalid.
        """
        metadata = self.metadata()
        with self._client() as client:
            tokens = self._tokens(client, metadata["token_endpoint"], code, request)
            keys = _fetch(client, "GET", metadata["jwks_uri"])
            claims = self._validated(tokens, keys, request.nonce)
            access, userinfo = tokens.get("access_token"), metadata.get("userinfo_endpoint")
            if isinstance(access, str) and isinstance(userinfo, str) and not self._suffices(claims):
                if not is_safe(userinfo):
                    raise SsoError("the login provider's address for claims must begin with https://")
                more = _fetch(client, "GET", userinfo, headers={"Authorization": f"Bearer {access}"})
                if more.get("sub") != claims["sub"]:
                    raise SsoError("the login provider's two replies must be about the same person")
                claims = {**more, **claims}
        return claims

    def check(self) -> None:
        """Fetches the discovery document and the keys, as a login does. Raises SsoError if they are missing or invalid."""
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        keys_at = self.metadata()["jwks_uri"]
        with self._client() as client:
            keys = _fetch(client, "GET", keys_at)
        try:
            if not KeySet.import_key_set(cast(Any, keys)).keys:
                raise SsoError("the login provider must have a key, got none")
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            raise SsoError("the login provider's keys must be a JSON Web Key Set") from None

    def _client(self) -> _Client:
        return _Client(self._turn)

    def _tokens(self, client: httpx.Client, endpoint: str, code: str, request: LoginRequest) -> Mapping[str, Any]:
        """Returns the reply of the token endpoint."""
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": request.redirect_uri, "code_verifier": request.verifier}
        name, secret = self.settings.client_id, self.settings.client_secret
        if self.settings.client_auth == "client_secret_post":
            return _fetch(client, "POST", endpoint, data={**form, "client_id": name, "client_secret": secret})
        return _fetch(client, "POST", endpoint, data=form, auth=(quote(name, safe=""), quote(secret, safe="")))  # RFC 6749, section 2.3.1

    def _validated(self, tokens: Mapping[str, Any], keys: Mapping[str, Any], nonce: str) -> dict[str, Any]:
        """Returns the claims of a valid ID token. Raises SsoError for another one."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        settings = self.settings
        params = {"nonce": nonce, "client_id": settings.client_id, "access_token": tokens.get("access_token")}
        options = {
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "value": settings.client_id},
            "sub": {"essential": True},
        }
        try:
            token = jwt.decode(str(tokens.get("id_token")), KeySet.import_key_set(cast(Any, keys)), algorithms=list(ALGORITHMS))
            claims = CodeIDToken(token.claims, token.header, options, params)
            claims.validate(leeway=LEEWAY)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError):
            raise SsoError("the login provider's ID token must be valid, and made for this login") from None
        if not isinstance(claims["sub"], str) or not 1 <= len(claims["sub"]) <= 255:
            raise SsoError("the login provider's ID token must name a person")
        return dict(claims)

    def _suffices(self, claims: Mapping[str, Any]) -> bool:
        return all(name.partition(".")[0] in claims or name in claims for name in self.settings.claims)


class _Client:
    """An HTTP client for one login; AT_ONCE logins wait for the provider at a time. Raises SsoError if there are more."""

    def __init__(self, turn: threading.Semaphore) -> None:
        import httpx

        self._turn = turn
        self._client = httpx.Client(timeout=SECONDS, follow_redirects=False, headers={"Accept": "application/json"})

    def __enter__(self) -> httpx.Client:
        if not self._turn.acquire(timeout=SECONDS):
            raise SsoError("the login provider is slow, and other people wait for it; try again in a minute")
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._turn.release()


def _fetch(client: httpx.Client, method: str, url: str, **more: Any) -> Mapping[str, Any]:
    """Returns a JSON object of the provider. Raises SsoError, without anything that was sent or received."""
    import httpx

    body, begun = bytearray(), time.monotonic()
    try:
        with client.stream(method, url, **more) as response:
            for part in response.iter_bytes():
                body += part
                if len(body) > MOST_BYTES or time.monotonic() - begun > LONGEST:
                    raise SsoError("the login provider's reply was too long or too slow")
            status = response.status_code
    except (httpx.HTTPError, httpx.InvalidURL):
        raise SsoError("the login provider does not answer; try again in a minute") from None
    if status != 200:
        raise SsoError(f"the login provider refused this login (status {status}); log in again")
    try:
        value = json.loads(body)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise SsoError("the login provider's reply must be a JSON object")
    return value


def current_provider() -> Provider | None:
    """Returns the provider of the application that handles the current request, or None without single sign-on."""
    return current_services().find(Provider)


def is_required() -> bool:
    """Returns whether people may log in only by single sign-on."""
    provider = current_provider()
    return provider is not None and provider.settings.require
