"""tests/install_browser.sh with a package manager that hangs or fails: it tries again, and ends with the names of what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "install_browser.sh"
NEEDED = ("sh", "id", "timeout", "sleep", "cat", "touch", "mkdir", "env")  # of the system; browsers are not among them

pytestmark = pytest.mark.skipif(shutil.which("timeout") is None, reason="Debian's `timeout` is not on this system")


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    """The folder of a system without browsers, whose user is root; tests put their own apt-get there."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found
        (programs / name).symlink_to(found)
    program(programs, "id", "echo 0")
    return programs


def program(folder: Path, name: str, *lines: str) -> None:
    """Makes a program of shell commands; apt-get also lists what it is called with."""
    path = folder / name
    path.unlink(missing_ok=True)
    path.write_text("\n".join(["#!/bin/sh", f'echo "$*" >> {folder.parent}/{name}.log', *lines, ""]))
    path.chmod(0o755)


def run(programs: Path) -> tuple[int, str, list[str]]:
    """Runs the script; returns its exit code, what it says, and every call of apt-get."""
    environment = {"PATH": str(programs), "DENIABLE_APT_SECONDS": "1", "HOME": os.environ.get("HOME", "/")}
    done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True, timeout=60)
    log = programs.parent / "apt-get.log"
    return done.returncode, done.stderr, log.read_text().splitlines() if log.exists() else []


def test_a_package_manager_that_hangs_is_ended_and_the_packages_are_named(apt: Path) -> None:
    program(apt, "apt-get", "exec sleep 1000")
    code, said, calls = run(apt)
    assert code == 1
    assert "sudo apt-get install --no-install-recommends chromium chromium-driver firefox-esr" in said
    assert [call.split()[9] for call in calls] == ["update", "update", "install", "install"]


def test_a_package_manager_that_fails_once_is_tried_again(apt: Path) -> None:
    program(apt, "apt-get", f"[ -e {apt}/failed ] || {{ touch {apt}/failed; exit 100; }}")
    code, said, calls = run(apt)
    assert code == 0, said
    assert [call.split()[9] for call in calls] == ["update", "update", "install", "install"]  # the last is what makes tests quicker


def test_lists_that_cannot_be_renewed_are_no_reason_to_stop(apt: Path) -> None:
    program(apt, "apt-get", 'case "$*" in *update*) exit 100;; esac')
    code, said, calls = run(apt)
    assert code == 0
    assert "could not be renewed" in said
    assert [call.split()[9] for call in calls] == ["update", "update", "install", "install"]


def test_what_is_only_quicker_is_done_without_where_it_cannot_be_had(apt: Path) -> None:
    program(apt, "apt-get", 'case "$*" in *headless-shell*) exit 100;; esac')
    assert run(apt)[0] == 0


def test_every_call_has_limits_for_its_connections_and_retries(apt: Path) -> None:
    program(apt, "apt-get")
    _, _, calls = run(apt)
    assert len(calls) == 3
    for call in calls:
        assert {"Acquire::Retries=3", "Acquire::http::Timeout=30", "Acquire::https::Timeout=30"} <= set(call.split())


def test_every_download_of_the_makefile_has_a_limit() -> None:
    steps = (SCRIPT.parents[1] / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    downloads = [part for line in steps for part in re.split(r"&&|\|\|", line) if re.search(r"pip (install|wheel|download|compile)", part)]
    assert len(downloads) >= 7
    assert [part for part in downloads if "$(LIMIT)" not in part] == []


def test_a_user_who_is_not_root_gets_the_command_to_type(apt: Path) -> None:
    program(apt, "apt-get")
    program(apt, "id", "echo 1000")
    code, said, calls = run(apt)
    assert (code, calls) == (1, [])
    assert "sudo apt-get install" in said
