"""In the browser: which of a survey's languages somebody reads, and what the languages are called and how they are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deniable.forms.languages import _NAMES
from deniable_server.web.languages import LANGUAGES, tongue_of

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]
VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "negotiation.json").read_text(encoding="utf-8"))
TONGUES = """const { isRightToLeft, languageName } = await import("/language_names.mjs");
    const names = await (await fetch("/language_names.json")).json();"""


def test_the_language_that_fits_best_is_the_one_of_the_vectors(javascript: Javascript) -> None:
    body = """const { negotiate } = await import("/survey_language.mjs");
        return given.map(({ wanted, offered }) => negotiate(wanted, offered) ?? null);"""
    assert javascript(body, VECTORS) == [case["found"] for case in VECTORS]


def test_a_language_has_one_name_and_one_direction_with_a_script_and_without(javascript: Javascript) -> None:
    """Every language that forms can be imported in, and every one of the pages."""
    tags = [*_NAMES, *LANGUAGES]
    named = javascript(TONGUES + "return given.map((tag) => [languageName(tag, names), isRightToLeft(tag)]);", tags)
    expected = {tag: (tongue_of(tag).name, tongue_of(tag).direction == "rtl") for tag in tags}
    assert dict(zip(tags, map(tuple, named), strict=True)) == expected
    assert [tag for tag, (name, _) in expected.items() if name == tag] == []


def test_what_a_tag_says_beside_its_language_is_named_too_and_a_script_decides_on_the_direction(javascript: Javascript) -> None:
    tags = ["pt-BR", "rw-UG", "xx", "xx-YY", "ku-Arab", "uz-Latn", "az-Arab-IR", "constructor"]
    named = javascript(TONGUES + "return given.map((tag) => languageName(tag, names));", tags)
    assert named[:4] == ["Português (Brasil)", "Ikinyarwanda (UG)", "xx", "xx-YY"]
    right_to_left = javascript(TONGUES + "return given.filter((tag) => isRightToLeft(tag));", tags)
    assert right_to_left == [tag for tag in tags if tongue_of(tag).direction == "rtl"] == ["ku-Arab", "az-Arab-IR"]
