"""Bundles have no answers, so each file shows an author's fallbacks in place of references to answers."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.client.bundle.conftest import counted_of, written
from tests.kit.surveys import PIPED

from deniable.bundle import Bundle
from deniable.survey import document
from deniable.wire.part import Part

WITHOUT_TEXTS = ("rows.csv", "rows.parquet", "estimates.json", "CITATION.cff", "reproduce.R", "reproduce.py", "data-package.json")
DEFINITION = "survey.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("piped")
    written(Bundle(counted_of(document.parse(PIPED).value, {Part("North"): 200, Part("South"): 200})), path)
    return path


def contents(path: Path) -> Iterator[bytes]:
    """Yields the bytes of a file, or of each file in it if it is an archive."""
    if not zipfile.is_zipfile(path):
        yield path.read_bytes()
        return
    with zipfile.ZipFile(path) as archive:
        yield from map(archive.read, archive.namelist())


def test_no_file_but_the_definition_has_a_reference_to_an_answer(folder: Path) -> None:
    files = {str(path.relative_to(folder)): b"".join(contents(path)) for path in folder.rglob("*") if path.is_file()}
    assert {name for name, content in files.items() if b"${subject" in content} == {DEFINITION}
    print({name for name, content in files.items() if b"your subject" not in content})
    silent = {name for name, content in files.items() if b"your subject" not in content}
    assert silent == {1}


def test_the_codebook_for_programs_has_the_texts_of_sections_and_blocks(folder: Path) -> None:
    questions = {question["id"]: question for question in json.loads((folder / "codebook.json").read_text())["questions"]}
    assert questions["copied"]["section"] == {"title": "Work in your subject", "note": "All of your subject."}
    assert questions["glad"]["grid"] == {"id": "felt", "text": "How often in your subject?", "help": "In your subject, this year."}
