"""Two sentences stay true: true answers exist only in `deniable`, which never knows the server; and its core does no I/O."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import deniable

PACKAGE = Path(deniable.__file__).parent
CORE = (
    *(
        "errors",
        "sealed",
        "document",
        "randomize",
        "grid",
        "question_types",
        "encode",
        "epsilon",
        "question",
        "translation",
        "parse",
        "survey",
    ),
    *("branching", "sampling", "codes", "public", "submission", "tally", "accounting", "shuffling", "estimate", "plan"),
)
IO = {"socket", "http", "httpx", "urllib", "requests", "sqlite3", "subprocess", "logging", "ssl", "asyncio", "threading", "multiprocessing"}
ORDER = [
    *("errors", "sealed", "entropy", "document", "randomize", "grid", "question_types", "encode", "epsilon", "question", "translation"),
    *("parse", "survey", "branching", "sampling", "codes", "public", "submission", "tally", "accounting", "shuffling"),
    *("estimate", "plan"),
]

PUBLIC = [
    *(
        "AnswerError",
        "Channel",
        "DeliveryError",
        "DeniableError",
        "EstimateError",
        "MissingExtraError",
        "Question",
        "RefusedError",
        "RejectedError",
    ),
    *("Submission", "SubmissionError", "Survey", "SurveyClient", "SurveyError", "Tally"),
    *("encode", "encode_column", "os_words", "pack", "randomize", "unpack"),
]


def files_of(module: str) -> list[Path]:
    single = PACKAGE / f"{module}.py"
    return [single] if single.exists() else sorted((PACKAGE / module).glob("**/*.py"))


def imported(source: str) -> set[str]:
    """The full names of all modules that a source text imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def does_io(source: str) -> set[str]:
    return {name for name in imported(source) if name.split(".")[0] in IO or name == "os.urandom"}


@pytest.mark.parametrize("module", CORE)
def test_the_core_does_no_input_or_output(module: str) -> None:
    files = files_of(module)
    assert files
    assert {file.name: does_io(file.read_text(encoding="utf-8")) for file in files} == {file.name: set() for file in files}


def test_an_import_of_a_network_or_a_log_is_noticed() -> None:
    source = (PACKAGE / "tally.py").read_text(encoding="utf-8")
    for line in ("import logging", "from http.server import HTTPServer", "def f():\n    import sqlite3", "import os.path, socket"):
        assert does_io(f"{source}\n{line}\n")


def test_the_library_never_imports_the_server() -> None:
    for file in PACKAGE.glob("**/*.py"):
        assert not {name for name in imported(file.read_text(encoding="utf-8")) if name.split(".")[0] == "deniable_server"}, file


@pytest.mark.parametrize("module", ORDER)
def test_a_core_module_imports_only_those_below_it(module: str) -> None:
    below = ORDER[: ORDER.index(module) + 1]
    for file in files_of(module):
        names = {name.split(".")[1] for name in imported(file.read_text(encoding="utf-8")) if name.startswith("deniable.")}
        assert names & {*ORDER, "client", "outbox", "cli", "rows", "transport"} <= set(below), file


def test_the_library_loads_without_scipy_pandas_or_flask() -> None:
    heavy = ("scipy", "pandas", "flask", "deniable_server", "matplotlib")
    script = f"import sys, deniable; print([name for name in {heavy!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert loaded.strip() == "[]"


def test_every_public_name_is_exported_on_purpose() -> None:
    assert sorted(deniable.__all__) == sorted(PUBLIC)
    assert all(hasattr(deniable, name) for name in PUBLIC)


def test_the_core_takes_no_seed() -> None:
    for module in ("entropy", "randomize", "encode", "submission", "survey"):
        for node in ast.walk(ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.arg) and "seed" in node.arg)
