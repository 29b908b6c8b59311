"""Writes each notebook from its page: the same text, the same code, one cell for each thing that is shown.

Run: python examples/make_notebook.py [FOLDER]
"""

from __future__ import annotations

import doctest
import json
import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGES = {"analysis.ipynb": "analysis.md", "three_studies.ipynb": "three-studies.md"}  # of docs/guide
FIRST = """import os
from pathlib import Path

if Path.cwd().name == "examples":  # where a notebook starts; the paths below begin at the project's folder
    os.chdir("..")"""


def cells(page: str) -> list[dict[str, Any]]:
    """Text becomes text; code is cut after every statement that prints something."""
    made = [code_cell(FIRST)]
    for part in re.split(r"(^```python\n.*?^```$)", page, flags=re.MULTILINE | re.DOTALL):
        if part.startswith("```python"):
            made += code_cells(part.removeprefix("```python\n").removesuffix("```"))
        elif part.strip():
            made.append({"cell_type": "markdown", "metadata": {}, "source": lines(relinked(part.strip()))})
    return [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(made)]


def relinked(text: str) -> str:
    """Links beside the page lead from the notebook to the page's folder."""
    return re.sub(r"\]\((?!https?:|#)", "](../docs/guide/", text)


def code_cells(block: str) -> list[dict[str, Any]]:
    made, open_lines = [], list[str]()
    for example in doctest.DocTestParser().get_examples(block):
        open_lines.append(example.source.rstrip())
        if example.want:
            made.append(code_cell("\n".join(open_lines)))
            open_lines = []
    return made + ([code_cell("\n".join(open_lines))] if open_lines else [])


def code_cell(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines(source)}


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(page: str) -> str:
    """The notebook of a page, as its file has it."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {
        "cells": cells(page),
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    for name, page in PAGES.items():
        (folder / name).write_text(notebook((HERE.parent / "docs" / "guide" / page).read_text(encoding="utf-8")), encoding="utf-8")
