"""The recipes for systemd and for containers: what they start is there, and what they start may do little more than it does."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import httpx
import pytest
from ruamel.yaml import YAML
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import PROGRAM, ServerProcess
from tests.kit.surveys import STUDY, submission

from deniable.survey import Survey
from deniable_server.operate.cli import main

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SERVER = "/opt/deniable/bin/deniable-server"
UNIT = (DEPLOY / "deniable.service").read_text(encoding="utf-8")
MOST_EXPOSED = 1.5  # of 10, as `systemd-analyze security` counts


def directives(unit: str) -> dict[str, list[str]]:
    """What a unit says, by name; all of a name's values in order."""
    found: dict[str, list[str]] = {}
    for line in unit.splitlines():
        if line and line[0] not in "#[":
            name, _, value = line.partition("=")
            found.setdefault(name, []).append(value)
    return found


def parsed(words: list[str]) -> click.Context:
    """The options of `deniable-server serve`. Raises click.UsageError for what it does not have."""
    assert words[0] == "serve"
    return main.commands["serve"].make_context("serve", words[1:])


def test_the_unit_starts_a_server_that_takes_its_options() -> None:
    (started,) = directives(UNIT)["ExecStart"]
    program, *words = shlex.split(started)
    assert program == SERVER
    options = parsed(words).params
    assert str(options["db"]).startswith("/var/lib/deniable/")
    assert directives(UNIT)["StateDirectory"] == ["deniable"]
    assert options["host"] == "127.0.0.1"
    assert options["public_url"].startswith("https://")


def test_an_option_that_serve_does_not_have_is_noticed() -> None:
    with pytest.raises(click.UsageError):
        parsed(["serve", "--no-such-option"])


def systemd(*words: str) -> str:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    result = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, timeout=PATIENCE)
    return result.stdout + result.stderr + ("" if result.returncode == 0 else f"\nexit code {result.returncode}")


def placed(unit: str, folder: Path) -> str:
    path = folder / "deniable.service"
    path.write_text(unit.replace(SERVER, PROGRAM))
    return str(path)


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    assert systemd("verify", placed(UNIT, tmp_path)) == ""
    assert "Unknown key" in systemd("verify", placed(UNIT.replace("NoNewPrivileges", "NoNewPrivilege"), tmp_path))


def exposure(unit: str, folder: Path) -> float:
    told = systemd("security", "--offline=true", "--no-pager", placed(unit, folder))
    (found,) = re.findall(r"Overall exposure level for deniable.service: ([\d.]+)", told)
    return float(found)


def test_systemd_counts_little_that_the_server_could_do(tmp_path: Path) -> None:
    assert exposure(UNIT, tmp_path) <= MOST_EXPOSED
    assert exposure(UNIT.split("# What it may write")[0], tmp_path) > 5


def steps(dockerfile: str) -> list[tuple[str, str]]:
    """Each instruction of a Dockerfile and what stands behind it."""
    joined = dockerfile.replace("\\\n", " ")
    return [(line.split()[0], line.partition(" ")[2].strip()) for line in joined.splitlines() if line and not line.startswith("#")]


def test_the_image_is_made_of_what_is_there_and_runs_as_nobody() -> None:
    told = steps((DEPLOY / "Dockerfile").read_text(encoding="utf-8"))
    names = [name for name, _ in told]
    last = len(names) - names[::-1].index("FROM")
    sources = [word for name, value in told[:last] if name == "COPY" for word in value.split()[:-1]]
    assert [source for source in sources if not (ROOT / source).exists()] == []
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert {Path(path).parts[0] for path in packed["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]} <= set(sources)
    (extras,) = re.findall(r"'\.\[([\w,]+)\]'", " ".join(value for name, value in told if name == "RUN"))
    assert set(extras.split(",")) <= set(packed["project"]["optional-dependencies"])
    final = dict(told[last:])
    assert re.fullmatch(r"[1-9]\d+:[1-9]\d+", final["USER"])
    assert "useradd" not in "".join(value for _, value in told[last:][names[last:].index("USER") :])
    assert YAML(typ="safe").load(final["ENTRYPOINT"]) == ["deniable-server"]
    assert parsed(YAML(typ="safe").load(final["CMD"])).params["host"] == "0.0.0.0"


def test_both_containers_write_nowhere_but_into_their_volumes_and_only_the_proxy_is_reached() -> None:
    told: dict[str, Any] = YAML(typ="safe").load(DEPLOY / "compose.yaml")
    server, proxy = told["services"]["server"], told["services"]["proxy"]
    for service in (server, proxy):
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
        assert "no-new-privileges:true" in service["security_opt"]
        assert not service.get("privileged")
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            assert (DEPLOY / source).exists() if source.startswith(".") else source in told["volumes"], volume
    assert (DEPLOY / server["build"]["context"] / server["build"]["dockerfile"]).exists()
    assert parsed(server["command"]).params["host"] == "0.0.0.0"
    assert "ports" not in server
    assert told["networks"][server["networks"][0]] == {"internal": True}
    ((variable, upstream),) = proxy["environment"].items()
    assert upstream == "server:8000"
    assert f"{{${variable}:127.0.0.1:8000}}" in (DEPLOY / "Caddyfile").read_text()


# As little as they allow, for real, where this machine lets a test do so.

NARROW = """
mount --make-rprivate /
case "$2" in /root/*)  # a Python that only root can reach: made visible where its path says
    mount --bind "$2" /mnt
    mount -t tmpfs -o mode=755 tmpfs /root
    mkdir -p "$2"
    mount --bind /mnt "$2" ;;
esac
mount --bind "$1" "$1"
mount -o remount,bind,ro /
shift 2
exec setpriv --reuid=10001 --regid=10001 --clear-groups --no-new-privs --bounding-set=-all "$@"
"""
NO_NEW_CODE = "import ctypes, os, sys; assert ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) == 0; os.execv(sys.argv[1], sys.argv[1:])"


@pytest.fixture
def narrow() -> Iterator[ServerProcess]:
    """A server as user 10001, on a file system that it cannot write but for its folder, without rights, and without memory that is
    written and run: what MemoryDenyWriteExecute, ProtectSystem and an image with `read_only` make of it."""
    folder = Path(tempfile.mkdtemp(prefix="deniable-narrow-"))
    folder.chmod(0o755)
    command = ["unshare", "--mount", "sh", "-euc", NARROW, "sh", str(folder / "data"), sys.base_prefix, sys.executable, "-c", NO_NEW_CODE]
    try:
        server = ServerProcess(folder, [*command, PROGRAM])
        probe = subprocess.run([*command, shutil.which("true") or "true"], capture_output=True, text=True, timeout=PATIENCE)
        if probe.returncode:
            pytest.skip(f"this machine does not let a test take its own rights away: {probe.stderr}")
        for path in (server.db.parent, *server.db.parent.iterdir()):
            os.chown(path, 10001, 10001)
        yield server
        server.close()
    finally:
        shutil.rmtree(folder)


@pytest.mark.slow
def test_a_server_that_may_do_no_more_takes_answers_and_gives_results(narrow: ServerProcess) -> None:
    survey = Survey.from_text(STUDY)
    narrow.publish(survey)
    for path in narrow.db.parent.iterdir():
        os.chown(path, 10001, 10001)
    narrow.start()
    assert narrow.process is not None
    status = Path(f"/proc/{narrow.process.pid}/status").read_text()
    assert re.search(r"^Uid:\s+10001\s+10001", status, re.MULTILINE)
    assert re.search(r"^CapEff:\s+0+$", status, re.MULTILINE)
    assert re.search(r"^NoNewPrivs:\s+1$", status, re.MULTILINE)
    url = f"{narrow.url}/api/v1/surveys/{survey.id}"
    body = submission(survey).to_json()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {narrow.key}"}  # a record of an organisation does not wait
    sent = httpx.post(f"{url}/submissions", content=body, headers=headers, timeout=PATIENCE)
    assert sent.status_code == 200
    assert httpx.get(f"{url}/results", auth=("ada", "correct horse battery"), timeout=PATIENCE).json()["n"] == 1
    for path in ("results", "tally", "reports", "bundle"):
        assert httpx.get(f"{url}/{path}", auth=("ada", "correct horse battery"), timeout=PATIENCE).status_code == 200, path
    narrow.stop()
    assert "Traceback" not in narrow.log.read_text()
