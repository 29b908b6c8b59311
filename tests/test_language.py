"""The house style of CONTRIBUTING.md: no file of the product and its documents breaks it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.kit import language


@pytest.mark.parametrize("rule", language.RULES)
def test_no_rule_of_style_is_broken(rule: str) -> None:
    findings = [f"{(language.ROOT / path).relative_to(language.ROOT)}: {where}" for path, where in language.RULES[rule]()]
    assert findings == [], "write it as CONTRIBUTING.md says"


def test_there_are_sixty_terms_and_each_names_a_module_once() -> None:
    assert len(language.terms()) >= 60


FAULTS = {
    "banned words": "# Whoever asks is told.\n",
    "banned phrases": '"""Surveys, of which some are closed."""\n',
    "docstrings without a verb": 'def count() -> int:\n    """The number of surveys."""\n    return 1\n',
    "participles as names": "found = 1\n",
    "class names used twice": "class Survey:\n    pass\n",
    "more than eight parameters": "def count(a, b, c, d, e, f, g, h, i) -> None:\n    pass\n",
}


@pytest.mark.parametrize("rule", FAULTS)
def test_each_fault_of_style_is_counted(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "client" / "deniable"
    package.mkdir(parents=True)
    (package / "survey.py").write_text('"""Surveys."""\n\n\nclass Survey:\n    """One survey."""\n', encoding="utf-8")
    (package / "faulty.py").write_text('"""A module with a fault."""\n\n\n' + FAULTS[rule], encoding="utf-8")
    monkeypatch.setattr(language, "ROOT", tmp_path)
    monkeypatch.setattr(language, "files", lambda *_, ending: tuple(sorted(package.glob(f"*{ending}"))))
    monkeypatch.setattr(language, "CODE", (str(package),))
    language.read_by_people.cache_clear()
    names = {path.name for path, _ in language.RULES[rule]()}
    language.read_by_people.cache_clear()
    assert "faulty.py" in names


@pytest.mark.parametrize(
    "text",
    ['"""Returns the rows that were read."""', "# nobody can see it", '"""Asks: who may read this?"""', '"""A stand-in for the store."""'],
)
def test_plain_english_is_not_counted(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plain.py"
    path.write_text(text + "\n", encoding="utf-8")
    ast.parse(text)
    monkeypatch.setattr(language, "ROOT", tmp_path)
    monkeypatch.setattr(language, "read_by_people", lambda: (path,))
    assert not list(language.banned_phrases())
    assert not list(language.banned_words())


def test_what_documents_quote_of_respondents_pages_is_not_counted_and_their_own_words_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "page.md"
    monkeypatch.setattr(language, "page_texts", lambda: "Somebody who watches your screen, or a program.")
    path.write_text("| What then? | Somebody who watches your screen |\n", encoding="utf-8")
    assert "Somebody" not in language.without_quotes(path)
    path.write_text("| What then? | Somebody who asks us for a screen |\n", encoding="utf-8")
    assert "Somebody" in language.without_quotes(path)
    script = tmp_path / "page.mjs"
    script.write_text('// somebody\nshow(t("Somebody said \\"no\\"."));\n', encoding="utf-8")
    assert language.without_quotes(script) == '// somebody\nshow(t(""));\n'
