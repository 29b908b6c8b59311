"""What the documentation points to is there: files, pages, headings, tests; and no table says a thing twice."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "examples" / "README.md"]
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)")
NAMED = re.compile(r"`((?:tests|client/deniable|server/deniable_server|templates|examples|benchmarks|deploy|docs)/[\w./\-]*)(?:::\w+)?`")


def headings(page: Path) -> set[str]:
    """The names that links to a page's headings have, as GitHub makes them."""
    found = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"[`*]", "", heading).lower()).replace(" ", "-") for heading in found}


def dead_links(page: Path, text: str) -> list[str]:
    dead = []
    for target, heading in LINK.findall(text):
        other = (page.parent / target).resolve() if target else page
        if not other.exists() or (heading and other.suffix == ".md" and heading not in headings(other)):
            dead.append(f"{target}#{heading}")
    return dead


def missing(text: str) -> list[str]:
    return sorted({name for name in NAMED.findall(text) if not (ROOT / name).exists()})


def said_twice(text: str) -> list[str]:
    rows = [line for line in text.splitlines() if line.startswith("|") and not re.fullmatch(r"[|\s:\-]+", line)]
    first = [row.split("|")[1].strip() for row in rows if len(row.split("|")[1]) > 40]
    return sorted({cell for cell in first if first.count(cell) > 1})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_points_to_nothing_that_is_not_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert dead_links(page, text) == []
    assert missing(text) == []
    assert said_twice(text) == []


def test_a_dead_link_a_missing_file_and_a_row_said_twice_are_noticed() -> None:
    assert dead_links(ROOT / "README.md", "[a](docs/none.md) and [b](CONTRIBUTING.md#no-such-heading)") == [
        "docs/none.md#",
        "CONTRIBUTING.md#no-such-heading",
    ]
    assert missing("see `tests/none.py`") == ["tests/none.py"]
    row = f"| {'an attack ' * 5}| a |"
    assert said_twice(f"{row}\n|---|---|\n{row}") == ["an attack " * 4 + "an attack"]


def test_the_page_on_installing_names_every_extra() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"].keys() - {"dev"}
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/start/install.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(table) == sorted(extras)


def test_the_words_of_the_trade_are_in_the_glossary_once_and_in_order() -> None:
    words = re.findall(r"^\*\*(.+?)\.\*\*", (ROOT / "docs/reference/glossary.md").read_text(), re.M)
    assert words == sorted(set(words))
    assert set(words) >= {
        *("Adjusted", "Answer", "Bit", "Block", "Digest", "Epsilon", "Job", "Level"),
        *("Outbox", "Pin", "Record", "Submission", "Tally", "Target"),
    }


def test_a_name_with_an_accent_is_written_with_it() -> None:
    folders = [ROOT / name for name in ("client", "server", "templates", "docs", "examples")]
    texts = [path for folder in folders for path in folder.rglob("*") if path.suffix in {".py", ".html", ".md", ".mjs"}]
    assert len(texts) > 300
    assert [path for path in texts if "Cramer's" in path.read_text(encoding="utf-8")] == []
