"""Examples of the README, of the first survey and of the operations page, run in order."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import start

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
            server = start(words, port, folder / "log", cwd=folder, env=environment)
        else:
            printed += subprocess.run(words, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout
    assert server is not None
    return server, printed


def replies(page: str) -> list[str]:
    """What a page shows below its commands, in order."""
    shown = [re.split(r"^\$ .*\n", block, flags=re.MULTILINE) for block in blocks(page, "console")]
    return [reply for replies in shown for reply in replies if reply]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (survey,) = blocks("docs/start/first-survey.md", "yaml")
    assert Survey.from_text(survey).id == "affairs"
    assert (ROOT / "examples" / "affairs.yaml").read_text() == survey
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "affairs.yaml").write_text(survey)
    return tmp_path


def test_the_page_on_architecture_shows_the_protocol_test_as_it_is_run() -> None:
    source = (ROOT / "tests" / "test_protocol.py").read_text()
    function = source[source.index("def test_from_true_answers") :]
    assert function.rstrip() + "\n" in blocks("docs/why/architecture.md", "python")
    assert len(function.splitlines()) <= 40


@pytest.mark.slow
def test_the_readmes_commands_and_client_work(folder: Path, make_server: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    port = make_server().port  # a free one
    server, told = run_commands("README.md", folder, port)
    assert replies("README.md") == []
    (key,) = re.findall(r"^dk_\S+$", told, re.MULTILINE)
    monkeypatch.setenv("ADA_PASSWORD", PASSWORD)
    monkeypatch.setenv("LAB_KEY", key)
    try:
        (example,) = [block for block in blocks("README.md", "python") if "SurveyClient" in block]
        printed = StringIO()
        with redirect_stdout(printed):
            exec(example.replace("8000", str(port)), {})
    finally:
        server.terminate()
        server.wait(timeout=PATIENCE)
    (table,) = [block for block in blocks("README.md", "") if block.startswith("About marriage (affairs)")]
    assert said_alike(printed.getvalue()) == said_alike(table)


def said_alike(table: str) -> list[list[str]]:
    """A table without what the coins decide: its figures, and the notes on them."""
    lines = table.split("\n\n[1]")[0].split("\n\nMade-up")[0].strip().splitlines()
    rows = [re.sub(r"-?[\d.]+(?= ?%| –)|\[\d\]", "#", line).split() for line in lines[3:]]
    return [[word for word in row if word != "#"] for row in [*[line.split() for line in lines[:3]], *rows]]


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/guide/operations.md", "docs/start/first-survey.md"])
def test_the_commands_of_a_page_work(page: str, folder: Path, make_server: Callable[[], Any]) -> None:
    server, told = run_commands(page, folder, make_server().port)
    server.terminate()
    server.wait(timeout=PATIENCE)
    assert [reply for reply in replies(page) if reply not in told] == []
