"""In the browser: the names that the joined modules share hide nothing of the browser's own."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from deniable.verify.page_bundle import read_modules

pytestmark = pytest.mark.browser
Javascript = Callable[..., Any]
EXPORT = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)


def test_no_export_has_the_name_of_something_that_every_module_can_use(javascript: Javascript) -> None:
    """Exports become constants of the file. One called `close` would be called by a module that means the browser's own."""
    names = [name for text in read_modules().values() for name in EXPORT.findall(text)]
    assert len(names) > 100
    assert javascript("return given.filter((name) => name in globalThis);", names) == []
    assert javascript("return given.filter((name) => name in globalThis);", ["close", *names]) == ["close"]
