"""The notebook says what docs/analysis.md says, and runs from its first cell to its last."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

EXAMPLES = Path(__file__).parents[1] / "examples"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client", "ignore::DeprecationWarning:zmq"),
]


def run(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    return NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(EXAMPLES)}}).execute()


@pytest.fixture
def notebook() -> nbformat.NotebookNode:
    return nbformat.read(EXAMPLES / "analysis.ipynb", as_version=4)


def test_the_notebook_is_what_its_script_writes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "make_notebook.py", tmp_path / "made.ipynb"], check=True)
    assert (tmp_path / "made.ipynb").read_text(encoding="utf-8") == (EXAMPLES / "analysis.ipynb").read_text(encoding="utf-8")


def test_every_cell_runs_and_shows_what_the_page_shows(notebook: nbformat.NotebookNode) -> None:
    nbformat.validate(notebook)
    code = [cell for cell in run(notebook).cells if cell.cell_type == "code"]
    assert len(code) > 25
    assert sum(bool(cell.outputs) for cell in code) > 20
    shown = "\n".join(str(output.get("text", output.get("data", {}).get("text/plain", ""))) for cell in code for output in cell.outputs)
    assert re.search(r"affair", shown)


def test_a_cell_that_fails_is_noticed(notebook: nbformat.NotebookNode) -> None:
    """The control."""
    notebook.cells = [*notebook.cells[:2], nbformat.v4.new_code_cell("Survey.from_text('')")]
    with pytest.raises(CellExecutionError):
        run(notebook)
