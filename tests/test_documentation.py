"""What the documentation points to is there: files, pages, headings, tests; and no table says a thing twice."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tests.kit import glossary, language

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
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


def indexed(index: str) -> list[str]:
    """Returns the pages that the index of the documentation links to, in order."""
    return sorted(target for target, _ in LINK.findall(index) if target.endswith(".md"))


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


def test_the_index_links_to_every_page_once_under_its_title() -> None:
    docs = ROOT / "docs"
    index = (docs / "README.md").read_text(encoding="utf-8")
    pages = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md") if path != docs / "README.md")
    assert indexed(index) == pages
    titles = {page: (docs / page).read_text(encoding="utf-8").split("\n")[0].removeprefix("# ") for page in pages}
    assert {target: title for title, target in re.findall(r"\[([^\]]+)\]\(([\w/-]+\.md)\)", index)} == titles


def test_a_page_that_the_index_omits_or_repeats_is_noticed() -> None:
    assert indexed("[a](a.md), [b](b/b.md#c), [a](a.md) and [d](https://example.org/d.md)") == ["a.md", "a.md", "b/b.md"]


def test_the_glossary_leads_from_each_standard_term_to_its_module() -> None:
    page = glossary.PAGE.read_text(encoding="utf-8")
    assert len(glossary.rows(page)) >= 60
    assert glossary.rows(page) == language.terms(), "run python -m tests.kit.glossary; a new term needs a row"


def test_a_module_that_moved_is_noticed_in_the_glossary_and_can_be_copied() -> None:
    page = glossary.PAGE.read_text(encoding="utf-8")
    moved = {**language.terms(), "TOTP": "server/elsewhere"}
    assert glossary.rows(page) != moved
    assert glossary.rows(glossary.with_modules(page, moved)) == moved


def test_each_entry_of_the_glossary_has_synonyms_and_a_place_in_the_code() -> None:
    page = (ROOT / "docs/reference/glossary.md").read_text(encoding="utf-8")
    entries = re.split(r"^\*\*(?=[A-Z])", page.split("## Standard terms")[0], flags=re.MULTILINE)[1:]
    texts = [" ".join(entry.split()) for entry in entries]
    assert [text for text in texts if not re.search(r"Also searched as: [^.]+\. In the code: `[\w/.]+`\.$", text)] == []


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
