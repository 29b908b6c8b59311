"""Single sign-on: people log in at a provider of OpenID Connect, and nobody gets into an account that is not theirs."""

from __future__ import annotations

import html
import logging
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from joserfc import jwt
from joserfc.jwk import OctKey
from tests.kit.servers.login_provider import CLIENT, SECRET, FalseProvider, real_provider, settings_file, unsigned
from werkzeug.test import TestResponse

from deniable_server import Config, create_app
from deniable_server.context import services_of
from deniable_server.identity import account_links, totp
from deniable_server.identity.passwords import set_password
from deniable_server.identity.sso import pages, provider
from deniable_server.identity.sso.access import values_of
from deniable_server.identity.sso.outcomes import SsoOutcomes
from deniable_server.identity.sso.settings import SsoSettings
from deniable_server.operate.cli import main
from deniable_server.store.errors import LastError
from deniable_server.store.identities import Identity
from deniable_server.store.protocol import Store

PASSWORD = "correct horse battery"
OPEN = "create_accounts = true\n"


@pytest.fixture
def false() -> Iterator[FalseProvider]:
    provider = FalseProvider()
    yield provider
    provider.close()


class Site:
    """The server with single sign-on, and browsers that log in."""

    def __init__(self, folder: Path, store: Store, issuer: str, more: str) -> None:
        self.store, self.issuer = store, issuer
        self.app = create_app(Config(folder / "deniable.db", "x" * 40, sso=settings_file(folder, issuer, more)), store)
        self.browser = self.app.test_client()

    def begin(self, path: str = "/login/sso") -> str:
        """Presses the button; returns the address at the provider."""
        reply = self.browser.get(path)
        assert reply.status_code == 302, reply.text
        return reply.headers["Location"]

    def come_back(self, address: str) -> TestResponse:
        """Follows the provider's reply: the first page has no cookie, as with SameSite=Strict, and leads to the second."""
        parts = urlsplit(address)
        first = self.app.test_client().get(f"{parts.path}?{parts.query}")
        assert (first.status_code, first.headers.get("Set-Cookie")) == (200, None)
        target = html.unescape(re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', first.text)[0])
        return self.browser.get(target)

    def log_in(self, provider: FalseProvider, path: str = "/login/sso") -> TestResponse:
        return self.come_back(provider.approve(self.begin(path)))

    def user(self) -> str | None:
        """The account that the browser is logged in to."""
        page = self.browser.get("/manage/account")
        return html.unescape(re.findall(r"<summary><bdi>(.*?)</bdi>", page.text)[0]) if page.status_code == 200 else None

    def token(self, path: str = "/manage/account") -> str:
        return html.unescape(re.findall(r'name="csrf_token"[^>]*value="([^"]+)"', self.browser.get(path).text)[0])

    def post(self, path: str, **fields: str) -> TestResponse:
        return self.browser.post(path, data={"csrf_token": self.token(), **fields})

    def with_password(self, user: str = "ada") -> None:
        """Logs the browser in with a password."""
        set_password(self.store.accounts, user, PASSWORD)
        reply = self.browser.post("/login", data={"user": user, "password": PASSWORD, "csrf_token": self.token("/login")})
        assert reply.status_code == 302


@pytest.fixture
def make(tmp_path: Path, store: Store, false: FalseProvider) -> Callable[..., Site]:
    return lambda more=OPEN, issuer=None: Site(tmp_path, store, issuer or false.url, more)


@pytest.fixture
def site(make: Callable[..., Site]) -> Site:
    return make()


# --- with a real provider ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_person_logs_in_at_a_real_provider_and_is_known_the_next_time(tmp_path: Path, store: Store) -> None:
    more = 'create_accounts = true\n[roles]\noperators = ["admins"]\n[teams]\n"Cognition lab" = ["cog"]\n'
    with real_provider(tmp_path) as provider:
        provider.person("s-1", preferred_username="eve", groups=["cog"])
        site = Site(tmp_path, store, provider.url, more)
        reply = site.come_back(provider.approve(site.begin("/login/sso?next=/manage/teams"), "s-1"))
        assert (reply.status_code, reply.headers["Location"]) == (302, "/manage/teams")
        assert site.user() == "eve"
        person = store.people.person("eve")
        assert person is not None
        assert not person.operator
        assert [team.name for team in store.teams.of("eve")] == ["Cognition lab"]

        provider.person("s-1", preferred_username="another name", groups=["admins"])
        site.browser = site.app.test_client()
        site.come_back(provider.approve(site.begin(), "s-1"))
        assert site.user() == "eve"
        person = store.people.person("eve")
        assert person is not None
        assert person.operator
        assert store.teams.of("eve") == []


@pytest.mark.slow
def test_a_code_of_the_real_provider_works_once(tmp_path: Path, store: Store) -> None:
    with real_provider(tmp_path) as provider:
        provider.person("s-1", preferred_username="eve")
        site = Site(tmp_path, store, provider.url, OPEN)
        back = provider.approve(site.begin(), "s-1")
        cookie = site.browser.get_cookie("deniable")
        assert cookie is not None
        assert site.come_back(back).status_code == 302
        site.browser.set_cookie("deniable", cookie.value)  # as it was before
        assert site.come_back(back).status_code == 403
        assert site.user() is None


@pytest.mark.slow
def test_the_settings_of_the_guide_work_with_a_real_provider(tmp_path: Path, store: Store) -> None:
    page = (Path(__file__).parents[3] / "docs/guide/sso.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    more = example.partition('client_secret_file = "sso.secret"\n')[2]
    with real_provider(tmp_path) as provider:
        site = Site(tmp_path, store, provider.url, more)
        assert "Log in with your university account" in site.browser.get("/login").text
        provider.person("s-1", preferred_username="eve", affiliation=["student"], groups=["cog-lab"])
        assert site.come_back(provider.approve(site.begin(), "s-1")).status_code == 403
        provider.person("s-1", preferred_username="eve", affiliation=["staff"], groups=["cog-lab"])
        assert site.come_back(provider.approve(site.begin(), "s-1")).status_code == 302
        assert store.teams.team("Cognition lab").members == {"eve": False}
        path = settings_file(tmp_path, provider.url, more)
        commands = CliRunner()
        checked = commands.invoke(main, ["doctor", "--db", str(tmp_path / "deniable.db"), "--sso", str(path)])
        assert "ok  single sign-on" in checked.output
    checked = commands.invoke(main, ["doctor", "--db", str(tmp_path / "deniable.db"), "--sso", str(path)])
    assert "FAULT  the login provider does not answer" in checked.output
    for name in ("issuer", "client_auth", "label", "scopes", "name_claim", "create_accounts", "require", "email_domains"):
        assert f"| `{name}` |" in page or name == "issuer", name


# --- what a login must prove -------------------------------------------------------------------------------------------------------


def another_key(false: FalseProvider) -> Callable[[dict[str, Any]], str]:
    return lambda claims: jwt.encode({"alg": "RS256", "kid": "k"}, claims, false.other_key)


def shared_secret(false: FalseProvider) -> Callable[[dict[str, Any]], str]:
    return lambda claims: jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(SECRET))


ATTACKS: dict[str, Callable[[FalseProvider], Callable[[dict[str, Any]], dict[str, Any] | str]]] = {
    "a wrong nonce": lambda false: lambda claims: {**claims, "nonce": "other"},
    "no nonce": lambda false: lambda claims: {name: value for name, value in claims.items() if name != "nonce"},
    "another client's": lambda false: lambda claims: {**claims, "aud": "other"},
    "another client's, too": lambda false: lambda claims: {**claims, "aud": ["other", CLIENT], "azp": "other"},
    "another issuer's": lambda false: lambda claims: {**claims, "iss": "https://login.example.org"},
    "expired": lambda false: lambda claims: {**claims, "iat": claims["iat"] - 900, "exp": claims["iat"] - 300},
    "of the future": lambda false: lambda claims: {**claims, "iat": claims["iat"] + 600},
    "unsigned": lambda false: unsigned,
    "signed with another key": another_key,
    "signed with the shared secret": shared_secret,
    "without a subject": lambda false: lambda claims: {name: value for name, value in claims.items() if name != "sub"},
    "with a number as its subject": lambda false: lambda claims: {**claims, "sub": 7},
    "no token": lambda false: lambda claims: "x",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_id_token_that_is_wrong_logs_nobody_in(site: Site, false: FalseProvider, attack: str) -> None:
    false.change = ATTACKS[attack](false)
    reply = site.log_in(false)
    assert (reply.status_code, site.user()) == (403, None)
    assert site.store.people.person("eve") is None
    assert "ID token" in reply.text


def test_clocks_may_differ_a_little(site: Site, false: FalseProvider) -> None:
    false.change = lambda claims: {**claims, "iat": claims["iat"] + 30, "exp": claims["iat"] - 30}
    assert site.log_in(false).status_code == 302
    assert site.user() == "eve"


def test_the_tests_above_notice_tokens_that_nobody_checks(site: Site, false: FalseProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    from authlib.oidc.core import CodeIDToken

    monkeypatch.setattr(CodeIDToken, "validate", lambda *_, **__: None)
    for attack in ("a wrong nonce", "another client's", "another issuer's", "expired"):
        false.change = ATTACKS[attack](false)
        assert site.log_in(false).status_code == 302, attack


def test_another_state_or_another_browser_logs_nobody_in(site: Site, false: FalseProvider) -> None:
    back = false.approve(site.begin())
    assert site.come_back(re.sub("state=.*", "state=other", back)).status_code == 403
    assert site.come_back(back).status_code == 403  # the login has ended with the first try
    mine, hers = site.browser, site.app.test_client()
    back = false.approve(site.begin())
    site.browser = hers  # an attacker's code in a victim's browser
    assert site.come_back(back).status_code == 403
    site.begin()
    assert site.come_back(back).status_code == 403
    assert site.user() is None
    site.browser = mine
    assert site.come_back(back).status_code == 302


def test_a_login_ends_after_ten_minutes(site: Site, false: FalseProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    back = false.approve(site.begin())
    now = pages.time.time
    monkeypatch.setattr(pages.time, "time", lambda: now() + pages.LASTS + 1)
    assert site.come_back(back).status_code == 403


def test_the_code_comes_with_the_verifier_of_its_challenge_and_the_secret(site: Site, false: FalseProvider) -> None:
    from authlib.oauth2.rfc7636 import create_s256_code_challenge

    address = dict(parse_qsl(urlsplit(site.begin()).query))
    assert (address["code_challenge_method"], address["response_type"]) == ("S256", "code")
    assert site.log_in(false).status_code == 302
    fields = next(fields for path, fields in false.requests if path == "/token")
    assert fields["authorization"].startswith("Basic ")
    assert "client_secret" not in fields
    challenge = create_s256_code_challenge(fields["code_verifier"])
    assert len(fields["code_verifier"]) >= 43
    assert challenge != address["code_challenge"]  # each login has its own


def test_a_code_that_is_replayed_logs_nobody_in_whatever_the_provider_says(site: Site, false: FalseProvider) -> None:
    false.reusable = True
    back = false.approve(site.begin())
    assert site.come_back(back).status_code == 302
    thief = site.app.test_client()
    site.browser = thief
    assert site.come_back(back).status_code == 403
    site.begin()
    assert site.come_back(back).status_code == 403
    assert site.user() is None


def test_a_provider_that_says_no_is_quoted_only_by_a_word(site: Site) -> None:
    fields = dict(parse_qsl(urlsplit(site.begin()).query))
    reply = site.come_back(f"/login/sso/back?error=access_denied&error_description=<b>x</b>&state={fields['state']}")
    assert (reply.status_code, "access_denied" in reply.text, "<b>x" in reply.text) == (403, True, False)
    fields = dict(parse_qsl(urlsplit(site.begin()).query))
    reply = site.come_back(f"/login/sso/back?error=<i>y&state={fields['state']}")
    assert (reply.status_code, "no reason given" in reply.text, "<i>y" in reply.text) == (403, True, False)


def test_a_reply_of_another_issuer_is_refused(site: Site, false: FalseProvider) -> None:
    back = false.approve(site.begin())
    assert site.come_back(f"{back}&iss=https://evil.test").status_code == 403


def test_every_end_of_a_login_is_counted_by_its_outcome_and_no_name(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make(OPEN + '[allow]\ngroups = ["staff"]\n')
    counts = services_of(site.app).get(SsoOutcomes).counts

    def changed(act: Callable[[], object]) -> dict[str, int]:
        before = counts()
        act()
        return {outcome: n - before[outcome] for outcome, n in counts().items() if n != before[outcome]}

    false.person = {"sub": "s-1", "preferred_username": "eve", "groups": ["staff"]}
    assert changed(lambda: site.log_in(false)) == {"success": 1}
    assert site.user() == "eve"
    state = dict(parse_qsl(urlsplit(site.begin()).query))["state"]
    assert changed(lambda: site.come_back(f"/login/sso/back?error=access_denied&state={state}")) == {"cancelled": 1}
    assert changed(lambda: site.come_back("/login/sso/back?code=x&state=other")) == {"expired": 1}
    false.person = {"sub": "s-2", "preferred_username": "mallory", "groups": ["guests"]}
    assert changed(lambda: site.log_in(false)) == {"refused": 1}
    false.person = {"sub": "s-3", "preferred_username": "eve", "groups": ["staff"]}  # a name that another account has
    assert changed(lambda: site.log_in(false)) == {"refused": 1}
    false.change = lambda claims: {**claims, "nonce": "other"}
    assert changed(lambda: site.log_in(false)) == {"failed": 1}
    assert changed(lambda: site.begin()) == {}
    assert not re.search("eve|mallory|s-1", repr(counts()))


# --- accounts ----------------------------------------------------------------------------------------------------------------------


def test_an_account_with_the_same_name_or_address_is_never_taken_over(site: Site, false: FalseProvider) -> None:
    set_password(site.store.accounts, "eve", PASSWORD)
    set_password(site.store.accounts, "ada@example.org", PASSWORD)
    for name in ("eve", "ada@example.org"):
        false.person = {"sub": f"thief of {name}", "preferred_username": name, "email": "ada@example.org", "email_verified": True}
        reply = site.log_in(false)
        assert (reply.status_code, site.user()) == (403, None)
        assert "Your account" in reply.text
    assert site.store.identities.all() == []


def test_a_name_that_looks_like_anothers_is_refused(site: Site, false: FalseProvider) -> None:
    set_password(site.store.accounts, "eve", PASSWORD)
    false.person = {"sub": "s-2", "preferred_username": "еve"}
    assert site.log_in(false).status_code == 403
    false.person = false.userinfo = {"sub": "s-2"}
    assert "preferred_username" in site.log_in(false).text


def test_the_same_subject_at_another_issuer_is_another_person(make: Callable[..., Site], false: FalseProvider) -> None:
    other = FalseProvider()
    try:
        site = make()
        site.log_in(false)
        assert site.user() == "eve"
        elsewhere = make(issuer=other.url)
        other.person = {"sub": "s-1", "preferred_username": "mallory"}
        elsewhere.log_in(other)
        assert elsewhere.user() == "mallory"
    finally:
        other.close()


def test_without_create_accounts_a_stranger_needs_an_invitation(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make("")
    assert site.log_in(false).status_code == 403
    assert site.store.people.person("eve") is None
    token = account_links.make(site.store, "", operator=True).rpartition("/")[2]
    assert f"/login/sso?invitation={token}" in site.browser.get(f"/join/{token}").text
    assert site.log_in(false, f"/login/sso?invitation={token}").status_code == 302
    assert site.user() == "eve"
    person = site.store.people.person("eve")
    assert person is not None
    assert person.operator
    assert site.browser.get(f"/login/sso?invitation={token}").status_code == 404  # used


def test_a_login_makes_a_new_session_and_ends_the_old_one(site: Site, false: FalseProvider) -> None:
    site.with_password("ada")
    before = site.browser.get_cookie("deniable")
    assert before is not None
    assert site.log_in(false).status_code == 302
    assert site.user() == "eve"
    site.browser.set_cookie("deniable", before.value)
    assert site.user() is None


def test_a_disabled_account_does_not_log_in(site: Site, false: FalseProvider) -> None:
    site.log_in(false)
    site.store.people.set_disabled("eve", True)
    assert site.log_in(false).status_code == 403
    assert site.user() is None


def test_a_second_factor_of_the_account_is_asked_for_too(site: Site, false: FalseProvider) -> None:
    site.log_in(false)
    site.store.factors.set_secret("eve", b"s" * totp.SECRET_BYTES, 0, [])
    site.browser = site.app.test_client()
    reply = site.log_in(false, "/login/sso?next=/manage/teams")
    assert reply.headers["Location"] == "/login/code?next=/manage/teams"
    assert site.user() is None


def test_an_account_of_single_sign_on_has_no_password_that_matches(site: Site, false: FalseProvider) -> None:
    site.log_in(false)
    site.browser = site.app.test_client()
    for password in ("", "no such account", "!"):
        site.browser.post("/login", data={"user": "eve", "password": password, "csrf_token": site.token("/login")})
        assert site.user() is None
    assert site.app.test_client().get("/api/v1/surveys", auth=("eve", "no such account")).status_code == 401


@pytest.mark.parametrize("path", ["https://evil.test", "//evil.test", "/\\evil.test", "/manage\n//evil.test", "javascript:x", "/login"])
def test_a_login_leads_to_pages_of_this_server_only(site: Site, false: FalseProvider, path: str) -> None:
    reply = site.come_back(false.approve(site.begin("/login/sso")))
    assert reply.headers["Location"] == "/manage"
    site.browser = site.app.test_client()
    begun = site.browser.get("/login/sso", query_string={"next": path})
    assert site.come_back(false.approve(begun.headers["Location"])).headers["Location"] == "/manage"


# --- connect and disconnect --------------------------------------------------------------------------------------------------------


def test_an_account_connects_and_disconnects_itself(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make("")
    site.with_password()
    assert site.post("/manage/account/sso", current="a wrong password").status_code == 422
    away = site.post("/manage/account/sso", current=PASSWORD)
    address = html.unescape(re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', away.text)[0])
    assert site.come_back(false.approve(address)).status_code == 302
    (binding,) = site.store.identities.of("ada")
    assert binding.identity == Identity(false.url, "s-1")
    site.browser = site.app.test_client()
    site.log_in(false)
    assert site.user() == "ada"
    assert site.post("/manage/account/sso/end", binding=binding.identity.mark).status_code == 200  # it asks
    assert site.post("/manage/account/sso/end", binding=binding.identity.mark, sure="1").status_code == 302
    assert site.store.identities.of("ada") == []
    assert [entry.did.act for entry in site.store.audit.entries()].count("account.unbind") == 1


def test_an_account_connects_only_while_its_owner_is_logged_in(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make("")
    site.with_password()
    away = site.post("/manage/account/sso", current=PASSWORD)
    address = html.unescape(re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', away.text)[0])
    site.store.accounts.end_sessions("ada")
    assert site.come_back(false.approve(address)).status_code == 403
    assert site.store.identities.all() == []


def test_two_accounts_cannot_connect_to_one_person(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make()
    site.log_in(false)
    site.browser = site.app.test_client()
    site.with_password()
    away = site.post("/manage/account/sso", current=PASSWORD)
    address = html.unescape(re.findall(r'http-equiv="refresh" content="0; url=([^"]+)"', away.text)[0])
    assert site.come_back(false.approve(address)).status_code == 403
    assert site.store.identities.user(Identity(false.url, "s-1")) == "eve"


def test_the_only_way_into_an_account_stays(site: Site, false: FalseProvider) -> None:
    site.log_in(false)
    (binding,) = site.store.identities.of("eve")
    with pytest.raises(LastError):
        site.store.identities.unbind("eve", binding.identity.mark)
    assert "Disconnect" not in site.browser.get("/manage/account").text
    site.store.accounts.remove_user("eve")
    assert site.store.identities.all() == []  # another person may get the name


# --- claims ------------------------------------------------------------------------------------------------------------------------


def test_only_people_with_the_claims_log_in(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make(OPEN + 'email_domains = ["example.org"]\n[allow]\naffiliation = ["staff", "faculty"]\n')
    right = {**false.person, "affiliation": ["alum", "staff"], "email": "eve@Example.org", "email_verified": True}
    wrong: list[dict[str, Any]] = [
        {"affiliation": ["alum"]},
        {"affiliation": None},
        {"email": "eve@example.org.evil.test"},
        {"email": "eve@sub.example.org"},
        {"email_verified": False},
        {"email_verified": "true"},
    ]
    for claims in wrong:
        false.person = {**right, **claims}
        assert site.log_in(false).status_code == 403, claims
    assert site.store.people.person("eve") is None
    false.person = right
    assert site.log_in(false).status_code == 302


def test_roles_follow_the_claims_and_the_last_operator_stays(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make(OPEN + '[roles]\nclaim = "realm_access.roles"\noperators = ["admin"]\nresearchers = ["researcher"]\n')
    assert site.log_in(false).status_code == 403
    for roles, is_operator in ((["admin"], True), (["researcher"], True)):
        false.person["realm_access"] = {"roles": roles}
        assert site.log_in(false).status_code == 302
        person = site.store.people.person("eve")
        assert person is not None
        assert person.operator is is_operator
    set_password(site.store.accounts, "ada", PASSWORD)
    site.store.people.set_operator("ada", True)
    assert site.log_in(false).status_code == 302
    person = site.store.people.person("eve")
    assert person is not None
    assert not person.operator


def test_claims_that_the_id_token_lacks_come_from_the_userinfo_of_the_same_person(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make(OPEN + '[allow]\naffiliation = ["staff"]\n')
    false.userinfo = {"sub": "another", "affiliation": "staff"}
    assert site.log_in(false).status_code == 403
    false.userinfo = {"sub": "s-1", "affiliation": "staff", "iss": "x"}
    assert site.log_in(false).status_code == 302


def test_values_of_claims() -> None:
    claims = {"a": "x", "b": ["x", 1, "y"], "c": {"d": ["z"]}, "https://e.org/f": "g", "n": 3}
    assert [values_of(claims, name) for name in ("a", "b", "c.d", "https://e.org/f", "n", "c", "q.r")] == [
        {"x"},
        {"x", "y"},
        {"z"},
        {"g"},
        set(),
        set(),
        set(),
    ]


# --- required, and not configured --------------------------------------------------------------------------------------------------


def test_where_single_sign_on_is_required_passwords_open_nothing(make: Callable[..., Site], false: FalseProvider) -> None:
    site = make(OPEN + "require = true\n")
    set_password(site.store.accounts, "ada", PASSWORD)
    site.app.config["WTF_CSRF_ENABLED"] = False
    page = site.browser.get("/login").text
    assert ('name="password"' in page, "Log in with single sign-on" in page) == (False, True)
    assert site.browser.post("/login", data={"user": "ada", "password": PASSWORD}).status_code == 403
    assert site.user() is None
    assert site.app.test_client().get("/api/v1/surveys", auth=("ada", PASSWORD)).status_code == 401
    link = account_links.make(site.store, "", operator=False)
    assert 'name="password"' not in site.browser.get(link).text
    assert site.log_in(false).status_code == 302


def test_without_settings_there_is_no_button_and_no_page(app: Flask, client: FlaskClient) -> None:
    assert "sso" not in client.get("/login").text
    assert client.get("/login/sso").status_code == 404
    assert "Single sign-on" not in client.get("/login").text


def test_the_way_back_sets_no_cookie_and_loads_nothing(site: Site, false: FalseProvider) -> None:
    reply = site.app.test_client().get("/login/sso/back?code=c&state=s")
    assert "Set-Cookie" not in reply.headers
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert "form-action 'self'" in reply.headers["Content-Security-Policy"]
    assert reply.headers["Cache-Control"] == "no-store"


# --- a provider that fails ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        lambda document: {**document, "issuer": "https://other.example.org"},
        lambda document: {**document, "token_endpoint": "http://login.example.org/token"},
        lambda document: {name: value for name, value in document.items() if name != "jwks_uri"},
        lambda document: [],
        lambda document: "x" * (provider.MOST_BYTES + 1),
    ],
)
def test_a_discovery_document_that_is_wrong_is_refused(site: Site, false: FalseProvider, document: Callable[[Any], Any]) -> None:
    false.document = document
    reply = site.browser.get("/login/sso")
    assert (reply.status_code, "login provider" in reply.text) == (403, True)


def test_a_provider_that_is_gone_is_named_and_nothing_is_logged(
    make: Callable[..., Site], false: FalseProvider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    site = make()
    back = false.approve(site.begin())
    code = dict(parse_qsl(urlsplit(back).query))["code"]
    false.close()
    reply = site.come_back(back)
    assert (reply.status_code, "does not answer" in reply.text) == (403, True)
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not [line for line in ours if code in line or SECRET in line]
    assert SECRET not in reply.text + repr(services_of(site.app).get(provider.Provider).settings)


# --- settings ----------------------------------------------------------------------------------------------------------------------

GOOD = 'issuer = "https://login.example.org"\nclient_id = "c"\nclient_secret_file = "s"\n'


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (GOOD.replace('"c"', "3"), "client_id must be a text"),
        (GOOD.replace("https", "http"), "issuer must begin with https://"),
        (GOOD.replace('client_id = "c"\n', ""), "client_id is missing"),
        (GOOD + 'client_secret = "x"\n', "client_secret must be one of"),
        (GOOD + 'create_accounts = "yes"\n', "create_accounts must be true or false"),
        (GOOD + 'scopes = ["profile"]\n', "scopes must contain openid"),
        (GOOD + "[teams]\nlab = 3\n", "teams.lab must be a list of texts"),
        (GOOD + '[roles]\nviewers = ["x"]\n', "roles.viewers must be one of"),
        (GOOD + 'client_auth = "none"\n', "client_auth must be"),
        ("issuer", "must be a TOML file"),
    ],
)
def test_settings_that_are_wrong_are_named_without_the_secret(tmp_path: Path, text: str, rule: str) -> None:
    (tmp_path / "s").write_text("the secret")
    (tmp_path / "sso.toml").write_text(text)
    with pytest.raises(ValueError, match=r"sso\.toml") as error:
        SsoSettings.from_file(tmp_path / "sso.toml")
    assert rule in str(error.value)
    assert "the secret" not in str(error.value)


def test_settings_are_read_and_do_not_show_the_secret(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("the secret\n")
    (tmp_path / "sso.toml").write_text(GOOD)
    settings = SsoSettings.from_file(tmp_path / "sso.toml")
    assert settings.client_secret == "the secret"
    assert "the secret" not in repr(settings)
    assert replace(settings, issuer="http://127.0.0.1:9").issuer
