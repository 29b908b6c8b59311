"""Every `pip install` in pages, documents and messages names what exists: this checkout, a wheel of it, or a registered package.

The name `deniable` is not registered on a package index, so anyone can register it and have what they like installed by its readers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
SUFFIXES = {".html", ".ipynb", ".json", ".md", ".mjs", ".po", ".py", ".R", ".service", ".sh", ".txt", ".yaml", ""}
FOLDERS = ("client", "deploy", "docs", "examples", "server", "templates")
OURS = re.compile(r"\.(?:\[(?P<extras>[\w,]+)\])?|\$\(echo dist/deniable-\*\.whl\)(?:\[(?P<of_wheel>[\w,]+)\])?")
COMMAND = re.compile(r"pip install (?P<words>[^\n`]*)")
OPTION = re.compile(r"--?[\w-]+")


def requirement_names() -> set[str]:
    """Returns the distributions that pyproject.toml asks for, which are registered."""
    lines = [line for lines in EXTRAS.values() for line in lines] + PROJECT["dependencies"]
    return {re.split(r"[\[<>=;]", line)[0].lower() for line in lines if not line.startswith("deniable[")}


REGISTERED = requirement_names() | {"jupyter"}


def installs(text: str) -> Iterator[str]:
    """Yields every word that a `pip install` in a text names."""
    for command in COMMAND.finditer(text):
        words = re.sub(r"\{.*\}.*", "", command["words"])  # a message that is made of requirements: tests/client/test_extras.py
        words = re.split(r"\s#|#|\)\s|\s&&|\s\|\|", words)[0]
        for quoted, plain in re.findall(r"""['"]([^'"]+)['"]|(\S+)""", words):
            word = (quoted or plain).rstrip(".,;:")
            if word and not OPTION.fullmatch(word):
                yield word


def exists(word: str) -> bool:
    """Returns whether a word names this checkout, a wheel built from it, or a registered distribution; with extras that there are."""
    if ours := OURS.fullmatch(word):
        named = (ours["extras"] or ours["of_wheel"] or "").split(",")
        return {extra for extra in named if extra} <= EXTRAS.keys()
    return re.split(r"[\[<>=]", word)[0].lower() in REGISTERED


def texts() -> Iterator[tuple[str, str]]:
    """Yields the name and text of every file that a reader may meet, or that prints messages."""
    paths = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))]
    for path in paths:
        if path.is_file() and path.suffix in SUFFIXES and "node_modules" not in path.parts:
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def test_every_pip_install_names_what_exists() -> None:
    named = [(name, word) for name, text in texts() for word in installs(text)]
    assert len(named) > 8
    assert [one for one in named if not exists(one[1])] == []


@pytest.mark.parametrize("word", ["deniable", "deniable[server]", ".[serve]", "deniable-server", "scipi"])
def test_a_name_that_is_not_ours_or_an_extra_that_there_is_not_is_noticed(word: str) -> None:
    assert not exists(word)
    assert list(installs(f"type `pip install '{word}'` here")) == [word]
