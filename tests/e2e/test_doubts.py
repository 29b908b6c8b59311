"""What people doubt is answered on the first page, at once or after one tap: the table of docs/guide/respondents.md, tapped and read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver.common.by import By

pytestmark = pytest.mark.browser
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "respondents.md"
FOLD = "for (const folded of document.querySelectorAll('#consent details')) folded.open = false"


def doubts() -> list[tuple[str, str, str]]:
    """Each doubt, what is tapped, and what is read then."""
    table = GUIDE.read_text(encoding="utf-8").split("### Answer eleven doubts")[1].split("\n\n")[2]
    rows = [re.split(r" *\| *", line.strip("| ")) for line in table.splitlines()[2:]]
    return [(doubt, tap, answer) for doubt, tap, answer in rows]


def read(page: Any, tap: str) -> str:
    """What is to be read after one tap, in one line; without one where there is none."""
    page.driver.execute_script(FOLD)
    if tap != "–":
        page.driver.find_element(By.XPATH, f"//section[@id = 'consent']//summary[. = '{tap}']").click()
    return " ".join(page.text().split())


def test_each_of_eleven_doubts_is_answered_within_one_tap(page: Any, site: Any) -> None:
    questions = [{"id": name, "text": f"{name}?", "type": "yes_no"} for name in ("cheated", "again")]
    page.open(site.link(site.publish(id="doubts", questions=questions, epsilon="ln 9")))
    rows = doubts()
    assert len(rows) == 11
    for doubt, tap, answer in rows:
        assert answer in read(page, tap), doubt
        assert tap == "–" or answer not in read(page, "–"), f"{doubt}: no tap is needed"
