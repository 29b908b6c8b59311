"""Every example of docs/reference/methods.md does what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "methods.md"


def run(text: str) -> doctest.TestResults:
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, PAGE.name, str(PAGE), 0)
    return doctest.DocTestRunner(verbose=False).run(examples)


def test_every_example_of_the_page_prints_what_the_page_says() -> None:
    result = run(PAGE.read_text(encoding="utf-8"))
    assert result.attempted >= 12
    assert result.failed == 0


def test_an_example_that_is_wrong_would_be_noticed() -> None:
    assert run("```python\n>>> 1 + 1\n3\n\n```\n").failed == 1
