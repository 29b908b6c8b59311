"""Every extra in an environment of its own, with the lowest and the newest versions that it accepts: `make long NAME=environments`.

    python -m tests.installed.environments --pythons 3.11,3.12 --only lowest:server

For every Python from 3.11 on that this machine has, and every extra: uv installs the lowest direct versions, then the newest, beside the
wheel, and `main_job.py` does the main job there, outside the checkout. For Windows and macOS versions are resolved only.
Prints a line for each environment, and exits with 1 if one failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from tests.server.store.postgresql import PostgresServer

ROOT = Path(__file__).parents[2]
JOB = Path(__file__).with_name("main_job.py")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("none", *(name for name in PROJECT["optional-dependencies"] if name != "dev"))
VERSIONS = {"lowest": ("--resolution", "lowest-direct"), "newest": ("--resolution", "highest")}
PLATFORMS = ("x86_64-pc-windows-msvc", "aarch64-apple-darwin")
OLDEST = (3, 11)
SECONDS = 900  # for one step
UV = Path(sys.executable).with_name("uv")


class StepError(Exception):
    """A step that failed, or did not end in time. The message has its output."""


def main(arguments: Sequence[str]) -> int:
    """Returns 1 if an environment failed, else 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pythons", default="", help="versions, separated by commas; by default all that this machine has")
    parser.add_argument("--only", default="", help="a regular expression, searched in PYTHON:VERSIONS:EXTRA")
    options = parser.parse_args(arguments)
    places: dict[str, Path | None] = {**pythons(), **dict.fromkeys(PLATFORMS)}
    wanted = set(options.pythons.split(",") if options.pythons else places)
    failed = []
    postgres = PostgresServer()
    try:
        with tempfile.TemporaryDirectory(prefix="deniable-environments-") as name:
            wheel = build(Path(name))
            for place, versions, extra in product(places, VERSIONS, EXTRAS):
                label = f"{place}:{versions}:{extra}"
                if place in wanted and re.search(options.only, label):
                    try:
                        check(Path(name), wheel, place, places[place], versions, extra, postgres)
                        print(f"ok      {label}", flush=True)
                    except StepError as error:
                        print(f"FAILED  {label}\n{error}", flush=True)
                        failed.append(label)
    finally:
        postgres.end()
    print(f"{len(failed)} failed: {', '.join(failed)}" if failed else "no environment failed")
    return int(bool(failed))


def pythons() -> dict[str, Path]:
    """Returns one interpreter of each minor version that is supported: this one, else one of uv's or pyenv's."""
    listed = json.loads(run(UV, "python", "list", "--only-installed", "--no-python-downloads", "--output-format", "json"))
    paths = [Path(sys.executable), *sorted((Path.home() / ".pyenv" / "versions").glob("*/bin/python"))]
    paths += [Path(one["path"]) for one in listed if one["implementation"] == "cpython"]
    versions: dict[tuple[int, ...], Path] = {}
    for path in paths:
        try:
            version = tuple(map(int, run(path, "-c", "import sys; print(*sys.version_info[:2])").split()))
        except StepError:  # no interpreter, but a stub of one
            continue
        versions.setdefault(version, path)
    return {".".join(map(str, version)): path for version, path in sorted(versions.items()) if version >= OLDEST}


def build(folder: Path) -> Path:
    """Returns the wheel, built of the checkout."""
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def check(folder: Path, wheel: Path, place: str, python: Path | None, versions: str, extra: str, postgres: PostgresServer) -> None:
    """Installs an environment and does the main job in it; for a platform only resolves it. Raises StepError.

    An installer takes the lowest versions of *direct* requirements. Of a wheel's requirements none is direct, so those of the project
    are resolved first, and the wheel is added without its own.
    """
    pins, environment, outside = folder / "pins.txt", folder / "environment", folder / "outside"
    chosen = () if extra == "none" else ("--extra", extra)
    where = ("--python-platform", place, "--python-version", "3.11") if python is None else ("--python", python)
    compiled = (*VERSIONS[versions], "--only-binary", ":all:", "--quiet", "--output-file", pins)
    pins.unlink(missing_ok=True)
    run(UV, "pip", "compile", ROOT / "pyproject.toml", *chosen, *where, *compiled)
    if python is None:
        return
    for old in (environment, outside):
        shutil.rmtree(old, ignore_errors=True)
    outside.mkdir()
    run(UV, "venv", "--quiet", "--python", python, environment)
    interpreter = environment / "bin" / "python"
    install = (UV, "pip", "install", "--quiet", "--python", interpreter)
    run(*install, "--only-binary", ":all:", "--requirement", pins)
    run(*install, "--no-deps", wheel)
    run(UV, "pip", "check", "--quiet", "--python", interpreter)
    extras = ",".join(set(EXTRAS) - {"none", "all"}) if extra == "all" else "server,postgres" if extra == "postgres" else extra
    url = {"DENIABLE_POSTGRES": postgres.new()} if "postgres" in extras else {}
    run(interpreter, "-I", JOB, "" if extra == "none" else extras, cwd=outside, **url)


def run(*words: object, cwd: Path | None = None, **environment: str) -> str:
    """Returns what a program prints. Raises StepError if it fails or takes longer than SECONDS."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    command = list(map(str, words))
    try:
        done = subprocess.run(command, cwd=cwd, env={**clean, **environment}, capture_output=True, text=True, timeout=SECONDS, check=True)
    except subprocess.CalledProcessError as error:
        raise StepError(f"{' '.join(command)}\n{error.stdout}{error.stderr}") from None
    except subprocess.TimeoutExpired:
        raise StepError(f"{' '.join(command)} did not end within {SECONDS} seconds") from None
    except OSError as error:
        raise StepError(f"{command[0]}: {error.strerror}") from None
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
