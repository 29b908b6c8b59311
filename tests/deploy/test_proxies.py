"""nginx and Caddy, as the recipes set them up, in front of a real server: what people send arrives, and what they are is kept nowhere."""

from __future__ import annotations

import os
import shutil
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import trustme
from click.testing import CliRunner
from httpx._transports import default
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import ServerProcess, reserved, start
from tests.kit.surveys import STUDY, submission

from deniable.survey import Survey
from deniable.verify import verify
from deniable.wire.link import Link
from deniable_server.operate.cli import main

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME, UPSTREAM = "survey.example.org", "127.0.0.1:8000"
VISITOR = "127.0.0.77"  # whose address must be found nowhere
SURVEY = Survey.from_text(STUDY)
NGINX = """
daemon off; pid {folder}/pid; error_log stderr; {user}
events {{}}
http {{
    client_body_temp_path {folder}/bodies; proxy_temp_path {folder}/replies;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    access_log {folder}/access.log; error_log {folder}/error.log;
    include {folder}/site.conf;
}}
"""


Proxied = tuple[str, Callable[[str, int], list[str]]]


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    """A recipe with other names, each of which stands in it."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


@dataclass(frozen=True)
class Site:
    """Where the tests' proxies find a server and a certificate. blank: a port for plain http; nobody: one on which nobody listens."""

    server: ServerProcess
    port: int
    chain: Path
    key: Path
    trusting: ssl.SSLContext
    blank: int
    nobody: int

    def nginx(self, folder: Path, recipe: str, upstream: int) -> list[str]:
        """The command that runs nginx with a recipe, in front of a server at this port."""
        site = replaced(
            recipe,
            (UPSTREAM, f"127.0.0.1:{upstream}"),
            (NAME, "localhost"),
            ("/etc/letsencrypt/live/localhost/fullchain.pem", str(self.chain)),
            ("/etc/letsencrypt/live/localhost/privkey.pem", str(self.key)),
            ("listen 443 ssl http2;", f"listen 127.0.0.1:{self.port} ssl http2;"),
            ("listen 80;", f"listen 127.0.0.1:{self.blank};"),
            ("    listen [::]:80;\n", ""),
            ("    listen [::]:443 ssl http2;\n", ""),
        )
        (folder / "site.conf").write_text(site)
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user="user root;" if os.geteuid() == 0 else ""))
        return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr"]

    def caddy(self, folder: Path, recipe: str, upstream: int) -> list[str]:
        """The command that runs Caddy with a recipe."""
        site = replaced(
            recipe,
            (UPSTREAM, f"127.0.0.1:{upstream}"),
            (f"\n{NAME} {{\n", f"\nlocalhost:{self.port} {{\n\ttls {self.chain} {self.key}\n"),
            ("{\n\tlog {\n", f"{{\n\tadmin off\n\thttp_port {self.blank}\n\tlog {{\n"),
        )
        (folder / "Caddyfile").write_text(site)
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    authority = trustme.CA()
    issued = authority.issue_cert("localhost")
    chain, key = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    key.write_bytes(issued.private_key_pem.bytes())
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with ExitStack() as stack:
        port, blank, nobody = (stack.enter_context(reserved()).getsockname()[1] for _ in range(3))
        server = ServerProcess(folder)
        stack.callback(server.close)
        server.publish(SURVEY)
        server.start("--public-url", f"https://localhost:{port}")
        yield Site(server, port, chain, key, trusting, blank, nobody)


@pytest.fixture(params=["nginx", "Caddyfile"])
def proxied(request: pytest.FixtureRequest, site: Site, tmp_path: Path) -> Proxied:
    """A recipe; and what makes a command of its text, in front of a server at a port."""
    name = "nginx" if request.param == "nginx" else "caddy"
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    recipe = (DEPLOY / ("nginx.conf" if name == "nginx" else "Caddyfile")).read_text(encoding="utf-8")
    return recipe, lambda text, upstream: list(getattr(site, name)(tmp_path, text, upstream))


@contextmanager
def running(words: list[str], site: Site, folder: Path) -> Iterator[httpx.Client]:
    """The proxy; and a visitor, who has an address of their own."""

    def answers() -> bool:
        with httpx.Client(verify=site.trusting, timeout=PATIENCE) as asked:
            try:
                return asked.get(f"https://localhost:{site.port}/healthz").status_code in (200, 502)
            except httpx.TransportError:
                return False

    home = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    process = start(words, site.port, folder / "log", answers, env=home)
    transport = httpx.HTTPTransport(verify=site.trusting, local_address=VISITOR)
    try:
        with httpx.Client(transport=transport, base_url=f"https://localhost:{site.port}", timeout=PATIENCE) as visitor:
            yield visitor
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def send(visitor: httpx.Client, count: int = 1, **headers: str) -> int:
    url = f"/api/v1/surveys/{SURVEY.id}/submissions"
    body = submission(SURVEY, count).to_json()
    return visitor.post(url, content=body, headers={"Content-Type": "application/json", **headers}).status_code


@pytest.mark.slow
def test_all_that_is_sent_through_a_proxy_arrives_and_doctor_and_verify_find_nothing(
    proxied: Proxied, site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, words = proxied

    def counted() -> int:
        with site.server.store() as store:
            return sum(store.submissions.counts(SURVEY.id).values())

    before = counted()
    with running(words(recipe, site.server.port), site, tmp_path) as visitor:
        assert [send(visitor) for _ in range(200)] == [200] * 200
        many = 100_000
        assert send(visitor, many, Authorization=f"Bearer {site.server.key}") == 200  # its body is larger than any buffer
        assert counted() == before + 200 + many
        assert visitor.get("/api/v1/surveys/study/reports", headers={"Authorization": "Bearer dk_no"}).status_code == 401
        monkeypatch.setattr(default, "create_ssl_context", lambda *_, **__: site.trusting)
        url = f"https://localhost:{site.port}"
        looked = CliRunner().invoke(main, ["doctor", "--db", str(site.server.db), "--public-url", url])
        assert looked.exit_code == 0, looked.output
        assert "ok  the address (--public-url URL)" in looked.output
        verdict = verify(Link(url, SURVEY.id, SURVEY.digest))
        assert (verdict.findings, verdict.left) == ((), ())


def traces(words: list[str], site: Site, folder: Path) -> list[str]:
    """The files in which something of a visitor is, after visits of every kind: also of what fails, and where no server answers."""
    with running(words, site, folder) as visitor:
        told = {"Referer": "https://kanary.test", "User-Agent": "kanary"}
        statuses = [visitor.get("/s/kanary?ref=kanary", headers=told).status_code]
        kanary = {"Content-Type": "application/json", **told}
        statuses.append(visitor.post("/api/v1/surveys/study/submissions", content=b"kanary", headers=kanary).status_code)
        statuses.append(visitor.get("/s/study", headers={"kanary": "k" * 100_000}).status_code)
        assert set(statuses) <= {200, 400, 404, 413, 431, 502, 503}
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(trace in path.read_bytes() for trace in (VISITOR.encode(), b"kanary"))
    )


@pytest.mark.parametrize("up", [True, False], ids=["the server answers", "no server answers"])
def test_nothing_of_a_visitor_is_written_down(proxied: Proxied, site: Site, tmp_path: Path, up: bool) -> None:
    recipe, words = proxied
    assert traces(words(recipe, site.server.port if up else site.nobody), site, tmp_path) == []


CARELESS = (
    ("access_log off;", ""),
    ("error_log /dev/null emerg;", ""),  # it has what no server answered, and what was no request
    ("\t\texclude http.log http.handlers\n", ""),
    ("\t\texclude http.log http.handlers\n\t}\n", "\t\tlevel DEBUG\n\t}\n"),
)


@pytest.mark.parametrize(("kept", "dropped"), CARELESS)
def test_a_proxy_that_keeps_its_logs_is_noticed(proxied: Proxied, site: Site, tmp_path: Path, kept: str, dropped: str) -> None:
    recipe, words = proxied
    if kept in recipe:
        assert traces(words(recipe.replace(kept, dropped), site.nobody), site, tmp_path)
    else:
        assert "access_log off;" in recipe or "exclude http.log" in recipe
