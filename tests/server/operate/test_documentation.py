"""What the README and the operations page say is what happens: their examples are run here, in order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest

from deniable.survey import Survey

ROOT = Path(__file__).parents[3]
PASSWORD = "correct horse battery"


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


def commands(page: str) -> list[list[str]]:
    return [shlex.split(line[2:]) for block in blocks(page, "console") for line in block.splitlines() if line.startswith("$ ")]


def run_commands(page: str, folder: Path, port: int) -> tuple[subprocess.Popen[bytes], str]:
    """Runs a page's commands in a folder that has affairs.yaml: returns `serve`, in the background, and what the others printed."""
    server: subprocess.Popen[bytes] | None = None
    printed = ""
    for program, *arguments in commands(page):
        words = [str(Path(sys.executable).with_name(program)), *(str(port) if word == "8000" else word for word in arguments)]
        environment = {**os.environ, "ADA_PASSWORD": PASSWORD}
        if "serve" in words:
            with (folder / "log").open("wb") as log:
                server = subprocess.Popen(words, cwd=folder, env=environment, stdout=log, stderr=log)
            wait_for(port)
        else:
            printed += subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
    assert server is not None
    return server, printed


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            httpx.get(f"http://127.0.0.1:{port}/healthz").raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise AssertionError("the server did not start")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (survey,) = blocks("README.md", "yaml")
    assert Survey.from_text(survey).id == "affairs"
    (tmp_path / "affairs.yaml").write_text(survey)
    return tmp_path


def test_the_readme_shows_the_protocol_test_as_it_is_run() -> None:
    source = (ROOT / "tests" / "test_protocol.py").read_text()
    function = source[source.index("def test_from_true_answers") :]
    assert function.rstrip() + "\n" in blocks("README.md", "python")
    assert len(function.splitlines()) <= 40


@pytest.mark.slow
def test_the_readmes_commands_and_client_work(folder: Path, make_server: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    port = make_server().port  # a free one
    server, told = run_commands("README.md", folder, port)
    (key,) = re.findall(r"^dk_\S+$", told, re.MULTILINE)
    try:
        (example,) = [block for block in blocks("README.md", "python") if "SurveyClient" in block]
        printed = StringIO()
        with redirect_stdout(printed):
            exec(example.replace("8000", str(port)), {"password": PASSWORD, "key": key})
    finally:
        server.terminate()
        server.wait(timeout=30)
    assert "1001" in printed.getvalue() or "1,001" in printed.getvalue()


@pytest.mark.slow
def test_the_commands_of_the_operations_page_work(folder: Path, make_server: Callable[[], Any]) -> None:
    server, _ = run_commands("docs/operations.md", folder, make_server().port)
    server.terminate()
    server.wait(timeout=30)
