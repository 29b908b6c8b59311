"""Package for npm, assembled from the modules of the respondents' page: `python client/javascript/pack.py [FOLDER]`.

Writes the package's files to FOLDER/package (by default build/npm/package) and the archive deniable-VERSION.tgz beside it. Modules are
copied byte by byte, with the paths that they have in the repository, so no import changes. The archive depends only on its content.
"""

from __future__ import annotations

import gzip
import io
import json
import posixpath
import re
import shutil
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "client"
ENTRY = "javascript/index.mjs"
MADE = 499_162_500  # the time of every file in npm's own archives: 26 October 1985
_IMPORT = re.compile(r'^(?:import|export) .*\bfrom "(\.{1,2}/[\w./]+)";$', re.MULTILINE)


def modules(entry: str = ENTRY) -> dict[str, bytes]:
    """Returns a module and all that it imports, by path below `client`."""
    texts: dict[str, bytes] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        if name not in texts:
            texts[name] = (SOURCE / name).read_bytes()
            waiting += [
                posixpath.normpath(posixpath.join(posixpath.dirname(name), other)) for other in _IMPORT.findall(texts[name].decode())
            ]
    return texts


def files() -> dict[str, bytes]:
    """Returns every file of the package, by path, in order."""
    own = SOURCE / "javascript"
    manifest = json.loads((own / "package.json").read_text(encoding="utf-8"))
    manifest["version"] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    others = {
        "package.json": f"{json.dumps(manifest, indent=2, ensure_ascii=False)}\n".encode(),
        "README.md": (own / "README.md").read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "javascript/index.d.ts": (own / "index.d.ts").read_bytes(),
    }
    return dict(sorted({**others, **modules()}.items()))


def archive(content: dict[str, bytes]) -> bytes:
    """Returns the archive that `npm install` takes: the same bytes for the same files."""
    unpacked = io.BytesIO()
    with tarfile.open(fileobj=unpacked, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in content.items():
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mtime, entry.mode = len(data), MADE, 0o644
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(unpacked.getvalue(), mtime=0)


def write(folder: Path) -> Path:
    """Writes the package and its archive to a folder; returns the archive's path."""
    content = files()
    package = folder / "package"
    shutil.rmtree(package, ignore_errors=True)
    for name, data in content.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    version = json.loads(content["package.json"])["version"]
    packed = folder / f"deniable-{version}.tgz"
    packed.write_bytes(archive(content))
    return packed


if __name__ == "__main__":
    print(write(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "npm"))
