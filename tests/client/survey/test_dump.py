"""What is written of a document is read as the same document: every text, with all that YAML makes of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.survey import Survey
from deniable.survey.document import parse, read
from deniable.survey.dump import to_json, to_yaml

EXAMPLES = sorted((Path(__file__).parents[3] / "examples").glob("*.yaml"))
TEXT = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    [
        "yes",
        "no",
        "null",
        "~",
        "",
        "1.10",
        "1e3",
        "0x1F",
        "0o7",
        "1_000",
        "true",
        ".nan",
        "-",
        "- a",
        "a: b",
        "#",
        "a #b",
        "'",
        '"',
        "|",
        ">",
        "&a",
        "*a",
        "!x",
        "%",
        "@",
        "`",
        "---",
        "...",
        "=",
        "<<",
        "2024-01-01",
        "12:30",
        " a",
        "a ",
        "a\nb",
        "a\n",
        "\na",
        "a\n\nb\n",
        "a\n b",
        "a\tb",
        "مدينة",
        "😀",
        "\x85",
        "\u2028",
    ]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXT | st.none(), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT.filter(bool), inner, max_size=4), max_leaves=12
)


@pytest.mark.slow
@given(VALUES.filter(lambda value: isinstance(value, dict | list)))
@settings(deadline=None)
@example({"about": "One line.\nAnother: with a colon\n"})
def test_every_value_comes_back_from_yaml_and_from_json(value: Any) -> None:
    for written in (to_yaml(value), to_json(value)):
        document = parse(written)
        assert (document.value, document.problems) == (value, [])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_come_back_with_the_same_digest(path: Path) -> None:
    value = read(path).value
    for written in (to_yaml(value), to_json(value)):
        assert parse(written).value == value
        assert list(parse(written).value) == list(value)
        assert Survey.from_text(written).digest == Survey.from_file(path).digest


def test_what_people_write_without_quotes_is_written_without_quotes() -> None:
    value = {"deniable": "1", "epsilon": "ln 9", "questions": [{"required": "false", "low": "-1.50", "options": ["yes", "no", "7"]}]}
    assert to_yaml(value) == (
        "deniable: 1\nepsilon: ln 9\nquestions:\n- required: false\n  low: -1.50\n  options:\n  - yes\n  - no\n  - 7\n"
    )
    assert to_yaml({"about": "Who asks,\nand why.\n"}) == "about: |\n  Who asks,\n  and why.\n"
