"""The demo ends in one line whatever fails, and deletes no folder that it has not made."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from deniable import demo


@pytest.fixture
def without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo gets as far as its figures and starts nothing."""
    monkeypatch.setattr(demo, "manage", lambda *words, **environment: None)
    monkeypatch.setattr(demo, "serving", lambda database, port: _Nothing())
    monkeypatch.setattr(demo, "collect", lambda *arguments: None)
    monkeypatch.setattr(demo, "compare", lambda results, rows: None)


class _Nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *error: object) -> None: ...


def fail_with(error: Exception) -> Callable[..., Any]:
    def fail(*arguments: object, **options: object) -> Any:
        raise error

    return fail


ERRORS = [
    httpx.ReadTimeout("timed out"),
    httpx.HTTPStatusError("503 for /login", request=httpx.Request("GET", "http://x"), response=httpx.Response(503)),
    OSError(28, "No space left on device"),
    demo.DemoError("the login page has no form"),
]


@pytest.mark.usefixtures("without_a_server")
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("step", ["collect", "compare", "show_page"])
def test_whatever_fails_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, step: str, error: Exception) -> None:
    monkeypatch.setattr(demo, step, fail_with(error))
    with pytest.raises(SystemExit) as ended:
        demo.main(tmp_path / "demo")
    assert str(ended.value) == f"Error: the demo stopped: {error}"
    assert "\n" not in str(ended.value)


@pytest.mark.usefixtures("without_a_server")
def test_a_login_that_fails_shows_no_traceback(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Slow(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            limits.append(request.extensions["timeout"])
            raise httpx.ReadTimeout("timed out", request=request)

    limits: list[dict[str, float]] = []
    client = httpx.Client
    monkeypatch.setattr(httpx, "Client", lambda **options: client(**options, transport=Slow()))
    with pytest.raises(SystemExit, match=r"^Error: the demo stopped: timed out$"):
        demo.main(tmp_path / "demo")
    assert {limit for one in limits for limit in one.values()} == {demo.PATIENCE}


def test_a_folder_that_no_demo_made_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "deniable.db").write_text("a study's records")
    with pytest.raises(
        SystemExit, match=r"^Error: the demo stopped: the folder .* must be new or an earlier demo's; choose another folder$"
    ):
        demo.main(tmp_path)
    assert (tmp_path / "deniable.db").read_text() == "a study's records"


def test_an_earlier_demos_folder_is_made_anew(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "demo"
    demo.empty(folder)
    (folder / "old").touch()
    demo.empty(folder)
    assert [path.name for path in folder.iterdir()] == [demo.MARK]


def test_a_command_that_fails_ends_the_demo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo, "command", lambda name: "false")
    with pytest.raises(SystemExit, match=r"^Error: the demo stopped: `deniable-server init` failed, as it says above$"):
        demo.main(tmp_path / "demo")


def test_a_server_that_does_not_start_ends_the_demo_at_once() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as server:
        server.wait()
        with pytest.raises(demo.DemoError, match="did not start"):
            demo.wait_for("http://127.0.0.1:9/", server)
