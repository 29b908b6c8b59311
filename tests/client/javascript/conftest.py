"""The JavaScript client as it is packed, and ways to call it in Node."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from client.javascript import pack
from tests.kit.node import node, place

CALL = """
import { readFileSync } from "node:fs";
IMPORTS
const given = JSON.parse(readFileSync(0, "utf-8"));
const value = await (async () => { BODY })();
process.stdout.write(JSON.stringify(value ?? null));
"""
PUBLIC = """import * as deniable from "deniable";
const kindOf = (error) => `${error.name}: ${error.message}`;
"""
MODULES = """const FOLDER = "./node_modules/deniable/deniable/browser";
const [encode, randomize, submission, definition, codes, posterior] = await Promise.all(
  ["encode", "randomize", "submission", "definition", "codes", "posterior"].map((name) => import(`${FOLDER}/${name}.mjs`)),
);"""
"""What the tests of the browser's modules see, from the package's files."""

Run = Callable[..., CompletedProcess[str]]


@pytest.fixture(scope="session")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of the package."""
    return pack.write(tmp_path_factory.mktemp("packed"))


@pytest.fixture(scope="session")
def installed(packed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has the package among its modules."""
    folder = tmp_path_factory.mktemp("installed")
    place(packed.parent / "package", folder)
    return folder


def call(folder: Path, imports: str, body: str, given: Any = None) -> CompletedProcess[str]:
    """Runs the body of an async function in Node."""
    script = folder / "call.mjs"
    script.write_text(CALL.replace("IMPORTS", imports).replace("BODY", body), encoding="utf-8")
    return node(script, stdin=json.dumps(given), cwd=folder)


def value_of(done: CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def run(installed: Path) -> Run:
    """`run(body, given)` runs a program that uses the package; returns its exit code and all that it prints."""
    return partial(call, installed, PUBLIC)


@pytest.fixture
def javascript(installed: Path) -> Callable[..., Any]:
    """`javascript(body, given)` runs the body beside the page's modules in the package; returns its value."""
    return lambda body, given=None: value_of(call(installed, MODULES, body, given))


@pytest.fixture
def public(run: Run) -> Callable[..., Any]:
    """`public(body, given)` runs the body beside the package's public names; returns its value."""
    return lambda body, given=None: value_of(run(body, given))


@pytest.fixture
def broken_public(packed: Path, tmp_path: Path) -> Callable[..., Any]:
    """`broken_public(file, right, wrong, body, given)` does so with one piece of one file of the package changed."""

    def changed(file: str, right: str, wrong: str, body: str, given: Any = None) -> Any:
        broken = place(packed.parent / "package", tmp_path) / file
        source = broken.read_text(encoding="utf-8")
        assert source.count(right) == 1, f"{file} must hold this once: {right}"
        broken.write_text(source.replace(right, wrong), encoding="utf-8")
        return value_of(call(tmp_path, PUBLIC, body, given))

    return changed
