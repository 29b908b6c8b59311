"""What `pip install deniable` leaves out, and which extra brings it."""

from __future__ import annotations

from importlib.util import find_spec

from deniable.errors import MissingExtraError

_PACKAGES = {
    "estimate": ("formulaic", "pandas", "scipy"),
    "parquet": ("pyarrow",),
    "docx": ("docx",),
    "xlsx": ("openpyxl",),
    "scale": ("dask", "distributed", "pyarrow"),
    "postgres": ("psycopg", "psycopg_pool"),
    "xlsform": ("pyxform",),
    "server": ("argon2", "babel", "flask", "flask_wtf", "granian", "nacl", "segno", "sqlite_utils", "uvloop", "webauthn", "wtforms"),
}
_OF = {"parquet": "tables", "xlsx": "tables", "docx": "bundle"}


def missing(what: str, need: str) -> MissingExtraError | None:
    """The error that `what` cannot be had without, where a package is not installed. Imports nothing. need: a key of the table above."""
    absent = [name for name in _PACKAGES[need] if find_spec(name) is None]
    extra = _OF.get(need, need)
    return MissingExtraError(f"{what} needs {', '.join(absent)}: pip install 'deniable[{extra}]'") if absent else None
