"""Every example of docs/guide/analysis.md and docs/reference/question-types.md does what the page says."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from deniable import Survey
from deniable.simulate import simulate
from deniable.survey.rating import RATING
from deniable.survey.types import TYPES

ROOT = Path(__file__).parents[3]


def run(text: str) -> doctest.TestResults:
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "page", "page", 0)
    return doctest.DocTestRunner(verbose=False).run(examples)


@pytest.fixture
def the_same_coins(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figures of the page: only a test can put a generator with a seed under `simulate`."""
    rng = np.random.default_rng(1978)

    def words(count: int) -> NDArray[np.uint32]:
        return rng.integers(0, 1 << 32, count, dtype=np.uint32)

    monkeypatch.setattr(sys.modules[simulate.__module__], "os_words", words)


@pytest.mark.slow
@pytest.mark.usefixtures("the_same_coins")
@pytest.mark.parametrize(("page", "at_least"), [("guide/analysis.md", 40), ("reference/question-types.md", 10)])
def test_every_example_of_the_page_prints_what_the_page_says(page: str, at_least: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = run((ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert result.attempted >= at_least
    assert result.failed == 0


def test_an_example_that_is_wrong_would_be_noticed() -> None:
    assert run("```python\n>>> 1 + 1\n3\n\n```\n").failed == 1


def yaml_examples() -> list[str]:
    text = (ROOT / "docs" / "reference" / "question-types.md").read_text(encoding="utf-8")
    return re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("example", yaml_examples())
def test_every_survey_on_the_page_of_question_types_is_one(example: str) -> None:
    head = "" if "questions:" in example else "deniable: 1\nid: s\ntitle: T\nabout: A\nepsilon: 2\nquestions:\n"
    assert Survey.from_text(head + example).questions


def test_the_page_of_question_types_shows_every_type() -> None:
    shown = {found for example in yaml_examples() for found in re.findall(r"type: (\w+)", example)}
    assert shown == {*TYPES, RATING}
