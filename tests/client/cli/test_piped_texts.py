"""Commands have no answers, so what they print of a survey file has an author's fallbacks in place of references to answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.kit.surveys import PIPED

from deniable.cli import main


@pytest.mark.parametrize("words", ["check", "check --json", "check --exact", "plan --n 500", "plan --n 500 --json --chart chart.svg"])
def test_no_command_on_a_survey_file_prints_a_reference(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("piped.yaml").write_text(PIPED)
    name, *options = words.split()
    result = CliRunner().invoke(main, [name, "piped.yaml", *options])
    assert result.exit_code == 0
    assert "${" not in result.output
    assert ("“Did you copy in your subject?”" in result.output) == (words in ("check", "check --exact"))
    assert not Path("chart.svg").exists() or "${" not in Path("chart.svg").read_text()
