"""The house style of CONTRIBUTING.md: what breaks it is counted by rule and folder, and the counts may only fall."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.kit import language

CURE = "write it as CONTRIBUTING.md says; python -m tests.kit.language '{rule}' lists what was counted"


@pytest.mark.parametrize("rule", language.RULES)
def test_each_rule_of_style_is_broken_just_as_often_as_its_ceilings_say(rule: str) -> None:
    counts, ceilings = language.counts(rule), language.ceilings()[rule]
    above = {folder: f"{count} for {ceilings.get(folder, 0)}" for folder, count in counts.items() if count > ceilings.get(folder, 0)}
    assert not above, CURE.format(rule=rule)
    assert counts == ceilings, "fewer than the ceilings: run make ceilings"


def test_there_are_sixty_terms_and_each_names_a_module_once() -> None:
    assert len(language.terms()) >= 60


FAULTS = {
    "banned words": "# Whoever asks is told.\n",
    "banned phrases": '"""Surveys, of which some are closed."""\n',
    "docstring rules": "def count() -> None:\n    pass\n",
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
    monkeypatch.setattr(language, "read_by_people", lambda: (path,))
    assert not list(language.banned_phrases())
    assert not list(language.banned_words())
