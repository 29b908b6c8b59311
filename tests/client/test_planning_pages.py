"""Every example of docs/guide/planner.md, docs/reference/privacy.md and docs/reference/publishing.md does what the page says."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from deniable.cli import main

ROOT = Path(__file__).parents[2]


def run(text: str, name: str) -> doctest.TestResults:
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    return doctest.DocTestRunner(verbose=False).run(examples)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "examples"), [("guide/planner.md", 20), ("reference/privacy.md", 14), ("reference/publishing.md", 4)])
def test_every_example_of_the_page_prints_what_the_page_says(page: str, examples: int) -> None:
    result = run((ROOT / "docs" / page).read_text(encoding="utf-8"), page)
    assert result.attempted >= examples
    assert result.failed == 0


def test_an_example_that_is_wrong_would_be_noticed() -> None:
    assert run("```python\n>>> 1 + 1\n3\n\n```\n", "wrong").failed == 1


@pytest.mark.slow
def test_the_command_of_the_page_prints_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [block] = re.findall(
        r"^```console\n\$ deniable (.*?)\n(.*?)^```$", (ROOT / "docs" / "guide" / "planner.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    result = CliRunner().invoke(main, shlex.split(block[0]))
    assert result.exit_code == 0
    assert result.stdout == block[1]
