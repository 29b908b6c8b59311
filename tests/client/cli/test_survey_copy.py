"""`deniable new --from` copies a survey from a file, a definition or a server, and never a file of answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli import main
from deniable.delivery import transport
from deniable.survey import Survey
from deniable.survey.document import MAX_BYTES

TEXT = """\
# Ask the council first.
deniable: 1
id: sleep
title: Sleep
about: A.
epsilon: ln 81
accept_high_epsilon: true
batch: 1
accept_small_batches: true
questions: [{id: q, text: Q, type: yes_no}]
"""
SURVEY = Survey.from_text(TEXT)


@pytest.fixture
def new(tmp_path: Path) -> Callable[..., Result]:
    (tmp_path / "sleep.yaml").write_text(TEXT)
    (tmp_path / "sleep.json").write_bytes(SURVEY.definition)
    (tmp_path / "answers.csv").write_text("q\nyes\nno\n")
    (tmp_path / "answers.yaml").write_text("- {q: secret}\n- {q: secret}\n")
    (tmp_path / "bad.yaml").write_text("deniable: [secret\n")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe secret")

    def run(*arguments: str) -> Result:
        words = [str(tmp_path / word) if word.endswith((".yaml", ".json", ".csv")) else word for word in arguments]
        return CliRunner().invoke(main, ["new", str(tmp_path / "new.yaml"), *words])

    return run


def test_a_file_is_copied_with_its_comments_under_another_id(new: Callable[..., Result], tmp_path: Path) -> None:
    result = new("--from", "sleep.yaml", "--id", "sleep-2")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new.yaml").read_text() == TEXT.replace("id: sleep", "id: sleep-2")


def test_a_definition_becomes_the_same_survey(new: Callable[..., Result], tmp_path: Path) -> None:
    assert new("--from", "sleep.json").exit_code == 0
    assert Survey.from_file(tmp_path / "new.yaml").is_same_as(SURVEY)


@pytest.mark.parametrize("digest", [SURVEY.digest, "0" * 64])
def test_a_published_survey_is_copied_if_it_is_the_one_of_its_link(
    new: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, digest: str
) -> None:
    def get(self: object, path: str, **options: object) -> bytes:
        assert path == "/api/v1/surveys/sleep"
        return SURVEY.definition

    monkeypatch.setattr(transport.Transport, "get", get)
    result = new("--from", f"http://127.0.0.1:1/s/sleep#digest={digest}", "--id", "sleep-3")
    assert (result.exit_code == 0, (tmp_path / "new.yaml").exists()) == (digest == SURVEY.digest,) * 2, result.output
    if digest == SURVEY.digest:
        assert Survey.from_file(tmp_path / "new.yaml").id == "sleep-3"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--from", "answers.csv"), "must be a survey file or a definition"),
        (("--from", "answers.yaml"), "must be a survey file or a definition"),
        (("--from", "bad.yaml"), "must be a survey file or a definition"),
        (("--from", "bytes.yaml"), "must be UTF-8 text"),
        (("--from", "none.yaml"), "cannot be read: No such file"),
        (("--from", "sleep.yaml", "--id", "Sleep!"), "--id must be 1 to 64 of a-z"),
        (("--from", "sleep.yaml", "--topic", "drugs"), "must not both be given"),
        (("--id", "sleep-2"), "--id must come with --from"),
        (("--from", "http://127.0.0.1:1/x"), "link must look like"),
    ],
)
def test_nothing_is_written_from_anything_else_and_no_message_quotes_it(
    new: Callable[..., Result], tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = new(*arguments)
    assert result.exit_code != 0
    assert message in " ".join(result.output.replace("│", " ").split())
    assert not (tmp_path / "new.yaml").exists()
    assert "secret" not in result.output


def test_a_file_that_is_too_large_is_read_no_further(new: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "sleep.yaml").write_text(TEXT + "#" * (5 * MAX_BYTES))
    assert new("--from", "sleep.yaml").exit_code == 1
    assert not (tmp_path / "new.yaml").exists()
