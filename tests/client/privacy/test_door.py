"""What `deniable.privacy` has is what its page names, and the page imports it from there."""

from __future__ import annotations

import re
from pathlib import Path

from deniable import privacy

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "privacy.md").read_text(encoding="utf-8")


def test_the_page_takes_every_figure_from_one_door() -> None:
    imports = re.findall(r"^>>> from (deniable\.privacy\S*) import (.+)$", PAGE, re.MULTILINE)
    assert {module for module, _ in imports} == {"deniable.privacy"}
    named = {name for _, names in imports for name in names.split(", ")}
    assert sorted(named) == privacy.__all__
    assert all(callable(getattr(privacy, name)) for name in named)


def test_the_page_uses_all_that_it_names() -> None:
    assert {name for name in privacy.__all__ if len(re.findall(rf"\b{name}\(", PAGE)) == 0} == set()
