"""What docs/guide/languages.md says is what happens: its examples are run here."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest
from babel.messages.frontend import CommandLineInterface
from click.testing import CliRunner
from flask import Flask, render_template_string

from deniable.cli import main
from deniable.survey import Survey
from deniable_server.web import languages
from deniable_server.web.extract import module_texts

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "guide" / "languages.md").read_text(encoding="utf-8")


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_survey_has_the_translations_and_the_gap_that_the_page_tells_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [written] = examples("yaml")
    command, *told = examples("console")[0].splitlines()
    monkeypatch.chdir(tmp_path)
    Path("commute.yaml").write_text(written, encoding="utf-8")
    survey = Survey.from_text(written)
    assert survey.question_in("de", survey.questions[0]) == ("Kommen Sie mit dem Auto?", "de")
    assert survey.text_in("de", "about") == ("The works council asks, to plan the bus lines.", "en")
    result = CliRunner().invoke(main, shlex.split(command)[2:])
    assert [line for line in result.output.splitlines() if line.startswith("note")] == told


def test_a_new_language_is_made_with_the_command_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    [command] = (example for example in examples("console") if "pybabel" in example)
    words = shlex.split(command)[1:]
    words[words.index("--output-dir") + 1] = str(tmp_path)
    CommandLineInterface().run(words)
    portuguese = languages.read(tmp_path / "pt" / "LC_MESSAGES" / "deniable.po")
    assert (portuguese.tag, portuguese.name, portuguese.direction) == ("pt", "Português", "ltr")
    assert portuguese.texts.gettext("Not found") == "Not found"


def test_the_template_says_what_it_shows(app: Flask) -> None:
    [template] = examples("jinja")
    with app.test_request_context("/"):
        assert render_template_string(template).split("\n") == ["<h1>Not found</h1>", "<p>2 questions</p>"]


def test_the_modules_texts_are_collected() -> None:
    [module] = examples("js")
    texts = [texts for _, _, texts, _ in module_texts(io.BytesIO(module.encode()), (), (), {})]
    assert texts == [["Question {place} of {count}"], ["{count} question", "{count} questions"]]


def test_the_page_names_every_language() -> None:
    assert all(f"`{tag}`" in PAGE for tag in languages.LANGUAGES if tag != "en")
