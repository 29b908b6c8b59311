"""Optional dependencies: the extra that provides a missing package, and the command to install it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from ctypes import CDLL
from functools import cache
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from deniable.errors import MissingExtraError

_PACKAGES = {
    "browser": ("websocket",),
    "docx": ("docx",),
    "estimate": ("formulaic", "pandas", "scipy"),
    "parquet": ("pyarrow",),
    "pdf": ("weasyprint",),
    "plot": ("altair", "vl_convert"),
    "postgres": ("psycopg", "psycopg_pool"),
    "scale": ("dask", "distributed", "pyarrow"),
    "server": ("argon2", "babel", "flask", "flask_wtf", "granian", "nacl", "segno", "sqlite_utils", "uvloop", "webauthn", "wtforms"),
    "sso": ("authlib", "joserfc"),
    "xlsform": ("pyxform",),
    "xlsx": ("openpyxl",),
}
_EXTRAS = {"parquet": "tables", "xlsx": "tables", "docx": "bundle"}
_DISTRIBUTIONS = {
    "argon2": "argon2-cffi",
    "distributed": "dask",
    "docx": "python-docx",
    "nacl": "pynacl",
    "vl_convert": "vl-convert-python",
    "websocket": "websocket-client",
}
"""Names of distributions that differ from their modules' names."""


_LIBRARIES = {"pdf": ("libpangoft2-1.0.so.0|libpangoft2-1.0.dylib", "libharfbuzz-subset.so.0|libharfbuzz-subset.0.dylib")}
"""Shared libraries that packages load, by their names on Linux and macOS. Each brings its own dependencies."""
_LIBRARIES_FROM = {"pdf": "Debian's libpangoft2-1.0-0 and libharfbuzz-subset0, or Homebrew's pango"}


def available(need: str) -> bool:
    """Returns whether all packages and libraries for `need`, a key of the table above, are installed. Imports nothing."""
    return not _absent(need) and _has_libraries(need)


def missing(what: str, need: str) -> MissingExtraError | None:
    """Returns the error to raise if a package is not installed, else None. Imports nothing.

    Its message names the extra and the packages themselves, with the versions that this installation accepts: this project's name is not
    registered on a package index.

    Args:
        what: The feature that needs the packages, at the beginning of the message.
        need: A key of the table above.
    """
    if absent := _absent(need):
        return MissingExtraError(f"{what} needs the extra {extra_of(need)}: pip install {' '.join(_requirements(absent))}")
    if not _has_libraries(need):
        return MissingExtraError(f"{what} needs libraries beside the extra {extra_of(need)}: {_LIBRARIES_FROM[need]}")
    return None


def lack_of(need: str) -> str:
    """Returns what `need` lacks here, for a sentence: "the extra NAME" or the libraries; empty if it lacks nothing."""
    if _absent(need):
        return f"the extra {extra_of(need)}"
    return "" if _has_libraries(need) else f"the libraries of the extra {extra_of(need)}, {_LIBRARIES_FROM[need]}"


def extra_of(need: str) -> str:
    """Returns the name of the extra for `need`, a key of the table above."""
    return _EXTRAS.get(need, need)


def _absent(need: str) -> list[str]:
    return [name for name in _PACKAGES[need] if find_spec(name) is None]


def _has_libraries(need: str) -> bool:
    """Returns whether the shared libraries can be loaded. On Windows the package itself looks for them, in folders of its own."""
    return sys.platform == "win32" or all(any(map(_loads, names.split("|"))) for names in _LIBRARIES.get(need, ()))


@cache
def _loads(name: str) -> bool:
    try:
        CDLL(name)
    except OSError:
        return False
    return True


def _requirements(modules: Iterable[str]) -> Iterable[str]:
    """Returns the requirements for the modules, quoted for a shell, each once."""
    try:
        declared = requires("deniable") or []
    except PackageNotFoundError:  # run from source, without an installation
        declared = []
    matches = [re.match(r"(?P<name>[\w.-]+)(?:\[[\w,]+\])?[^;\s]*", line) for line in declared]
    rules = {match["name"].lower(): match[0] for match in matches if match}
    names = (_DISTRIBUTIONS.get(module, module.replace("_", "-")) for module in modules)
    return dict.fromkeys(f"'{rules.get(name, name)}'" for name in names)
