"""The notebooks say what their pages in docs/guide say, and run from their first cell to their last."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMES = ("analysis.ipynb", "three_studies.ipynb")
AFRESH = f"%reset -f\nimport os\nos.chdir({str(EXAMPLES)!r})"
Run = Callable[[nbformat.NotebookNode], str]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::DeprecationWarning:zmq"),
]


@pytest.fixture(scope="module")
def run() -> Iterator[Run]:
    """Runs a notebook where nothing has been run before, and gives what its cells show. All have one kernel: it is slow to start."""
    client = NotebookClient(nbformat.v4.new_notebook(), timeout=300)

    def shown(notebook: nbformat.NotebookNode) -> str:
        nbformat.validate(notebook)
        client.nb = nbformat.from_dict({**notebook, "cells": [nbformat.v4.new_code_cell(AFRESH), *notebook.cells]})
        for number, cell in enumerate(client.nb.cells):
            client.execute_cell(cell, number)
        outputs = [output for cell in client.nb.cells for output in cell.get("outputs", [])]
        return "\n".join(str(output.get("text", output.get("data", {}).get("text/plain", ""))) for output in outputs)

    with client.setup_kernel():
        yield shown


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(EXAMPLES / name, as_version=4)


def test_the_notebooks_are_what_their_script_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "make_notebook.py", tmp_path], check=True)
    for name in NAMES:
        assert (tmp_path / name).read_text(encoding="utf-8") == (EXAMPLES / name).read_text(encoding="utf-8")


def test_every_cell_of_the_analysis_runs_and_shows_what_the_page_shows(run: Run) -> None:
    notebook = read("analysis.ipynb")
    assert sum(cell.cell_type == "code" for cell in notebook.cells) > 25
    shown = run(notebook)
    assert len(shown.splitlines()) > 20
    assert re.search(r"affair", shown)


def test_every_figure_of_the_three_studies_comes_out_beside_the_published_one(run: Run) -> None:
    shown = run(read("three_studies.ipynb"))
    for row in (
        r"fought with a teacher +0\.4070 \(0\.0323\) +0\.4070 \(0\.0323\)",
        r"ban +0\.8707 \(0\.0411\) +0\.8707 \(0\.0411\)",
        r"family +0\.068 \(0\.050\) +0\.068 \(0\.050\)",
    ):
        assert re.search(row, shown)


def test_a_cell_that_fails_and_a_name_of_another_notebook_are_noticed(run: Run) -> None:
    """The control."""
    run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("beside = 1\nbeside")]))
    for wrong in ("int('a')", "beside"):
        with pytest.raises(CellExecutionError):
            run(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(wrong)]))
