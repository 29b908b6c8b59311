"""Every example of the pages on designs, indirect questioning, regression, three studies and what is left out does what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable import cli

DOCS = Path(__file__).parents[3] / "docs" / "reference"
PAGES = [("designs.md", 11), ("indirect.md", 8), ("regression.md", 19), ("../guide/three-studies.md", 15), ("../why/left-out.md", 20)]


def run(text: str) -> doctest.TestResults:
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "page", "page", 0)
    return doctest.DocTestRunner(verbose=False).run(examples)


@pytest.mark.parametrize(("page", "at_least"), PAGES)
def test_every_example_of_the_page_prints_what_the_page_says(page: str, at_least: int) -> None:
    result = run((DOCS / page).read_text(encoding="utf-8"))
    assert result.attempted >= at_least
    assert result.failed == 0


def test_an_example_that_is_wrong_would_be_noticed() -> None:
    assert run("```python\n>>> 1 + 1\n3\n\n```\n").failed == 1


def test_every_command_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["answer,region,chance_if_no,chance_if_yes,color", "yes,north,0.25,0.75,red", "no,south,1/6,5/6,green"]
    (tmp_path / "survey.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "design.csv").write_text("red,green\n0.8,0.3\n0.2,0.7\n")
    commands = re.findall(r"^\$ deniable (.*)$", (DOCS / "designs.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        result = CliRunner().invoke(cli.main, shlex.split(command))
        assert result.exit_code == 0, result.output
