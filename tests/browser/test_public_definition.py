"""The browser reads `results: public` as Python does, and refuses any other word, and the default where it is written out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import rfc8785

from deniable.errors import RefusedError
from deniable.survey import Survey

pytestmark = pytest.mark.browser
READ = """return Promise.all(given.map((text) => definition.readDefinition(new TextEncoder().encode(text), {})
    .then(({ survey }) => survey.results, () => "refused")));"""
KEYS: dict[str, Any] = {
    "deniable": 1,
    "id": "public",
    "title": "A study",
    "about": "Who asks.",
    "questions": [{"id": "q", "text": "?", "type": "yes_no", "epsilon": "ln 3"}],
}


def changed(results: str) -> bytes:
    value = json.loads(Survey.from_dict(KEYS).definition)
    return rfc8785.dumps({**value, "results": results})


def test_browser_and_python_agree(javascript: Callable[..., Any]) -> None:
    public = Survey.from_dict(KEYS | {"results": "public"}).definition
    assert changed("public") == public
    cases = [public, Survey.from_dict(KEYS).definition, changed("private"), changed("shown"), changed("")]
    assert javascript(READ, [case.decode() for case in cases]) == ["public", "private", "refused", "refused", "refused"]
    assert [Survey.from_definition(case).results for case in cases[:2]] == ["public", "private"]
    for case in cases[2:]:
        with pytest.raises(RefusedError):
            Survey.from_definition(case)
