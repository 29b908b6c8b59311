"""The comparison of browsers' profiles: it finds what follows the answer, but not how long somebody took."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.kit.pages import profiles

SITE = "http://127.0.0.1:8000,*"


def profile(folder: Path, **setting: Any) -> profiles.Profile:
    """A profile whose preferences have this about a site."""
    folder.mkdir()
    (folder / "Preferences").write_text(json.dumps({"exceptions": {"site_engagement": {SITE: {"setting": setting}}}}), encoding="utf-8")
    return profiles.read(folder)


def traces(tmp_path: Path, *settings: dict[str, Any]) -> list[str]:
    first, second = (profile(tmp_path / str(place), **setting) for place, setting in enumerate(settings))
    return profiles.traces_of_the_answer([first], [second])


def test_the_time_that_a_browser_counts_is_no_trace(tmp_path: Path) -> None:
    assert traces(tmp_path, {"rawScore": 15.0, "pointsAddedToday": 15.0}, {"rawScore": 13.8, "pointsAddedToday": 13.8}) == []


@pytest.mark.parametrize("key", ["lastShortcutLaunchTime", "answer"])
def test_anything_else_about_a_site_is_one(tmp_path: Path, key: str) -> None:
    """Control."""
    found = traces(tmp_path, {"rawScore": 15.0, key: 1}, {"rawScore": 13.8, key: 2})
    assert [trace.rpartition(".")[2] for trace in found] == [f"{key}=1", f"{key}=2"]
