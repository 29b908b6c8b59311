"""Optional dependencies: the extra that provides a missing package, and the command to install it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec

from deniable.errors import MissingExtraError

_PACKAGES = {
    "browser": ("websocket",),
    "docx": ("docx",),
    "estimate": ("formulaic", "pandas", "scipy"),
    "parquet": ("pyarrow",),
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


def available(need: str) -> bool:
    """Returns whether all packages for `need`, a key of the table above, are installed. Imports nothing."""
    return not _absent(need)


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
    return None


def extra_of(need: str) -> str:
    """Returns the name of the extra for `need`, a key of the table above."""
    return _EXTRAS.get(need, need)


def _absent(need: str) -> list[str]:
    return [name for name in _PACKAGES[need] if find_spec(name) is None]


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
