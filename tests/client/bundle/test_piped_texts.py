"""Bundles have no answers, so each file shows an author's fallbacks in place of references to answers."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from tests.client.bundle.conftest import counted_of, written
from tests.kit.surveys import PIPED

from deniable.bundle import Bundle
from deniable.survey import document
from deniable.wire.part import Part

DEFINITION = "survey.json"
"""The only file that has texts as clients receive them."""
LABELLED = {
    "rows.sav",
    "rows.dta",
    "rows.xlsx",
    "codebook.md",
    "codebook.json",
    "codebook.csv",
    "codebook.xml",
    "report.html",
    "report.docx",
}
"""Some of the files that have texts of questions, in which a reference would be found."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("piped")
    written(Bundle(counted_of(document.parse(PIPED).value, {Part("North"): 200, Part("South"): 200})), path)
    return path


def content(path: Path) -> bytes:
    """Returns the bytes of a file, or of all files in it if it is an archive."""
    if not zipfile.is_zipfile(path):
        return path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        return b"".join(map(archive.read, archive.namelist()))


def test_no_file_but_the_definition_has_a_reference_to_an_answer(folder: Path) -> None:
    contents = {str(path.relative_to(folder)): content(path) for path in folder.rglob("*") if path.is_file()}
    assert {name for name, raw in contents.items() if b"${subject" in raw or b"subject|" in raw} == {DEFINITION}
    assert {name for name, raw in contents.items() if b"your subject" in raw} >= LABELLED | {"charts/2-copied.svg"}


def test_the_codebook_for_programs_has_the_texts_of_sections_and_blocks(folder: Path) -> None:
    questions = {question["id"]: question for question in json.loads((folder / "codebook.json").read_text())["questions"]}
    assert questions["copied"]["section"] == {"title": "Work in your subject", "note": "All of your subject."}
    assert questions["glad"]["grid"] == {"id": "felt", "text": "How often in your subject?", "help": "In your subject, this year."}
