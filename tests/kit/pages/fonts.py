"""Font sets: what a page looks like depends on the fonts of the machine, so tests choose them with a fontconfig file of their own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[3] / ".venv" / "fonts" / "usr" / "share" / "fonts" / "truetype"
"""Where tests/fetch_fonts.sh puts them."""

SETS = {"dejavu": "DejaVu Sans", "noto": "Noto Sans", "roboto": "Roboto"}
"""The family that stands for sans-serif and the system's own font, by set. DejaVu is in every set, for letters that the others lack."""

_CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  {directories}
  <cachedir>{cache}</cachedir>
  <include ignore_missing="yes">/etc/fonts/conf.d</include>
  {aliases}
</fontconfig>
"""
_ALIAS = """
  <match target="pattern">
    <test name="family"><string>{name}</string></test>
    <edit name="family" mode="prepend" binding="strong"><string>{family}</string></edit>
  </match>"""


def write_fontconfig(fonts: str, folder: Path) -> Path:
    """Writes a fontconfig file with the fonts of one set only.

    Args:
        fonts: A key of `SETS`.
        folder: Where the file and fontconfig's cache go.

    Raises:
        FileNotFoundError: The fonts have not been fetched.
    """
    directories = [FOLDER / name for name in dict.fromkeys((fonts, "dejavu"))]
    for directory in directories:
        if not directory.is_dir():
            raise FileNotFoundError(f"{directory} is missing: run `make browser`")
    file = folder / f"{fonts}.conf"
    file.write_text(
        _CONFIGURATION.format(
            directories="".join(f"<dir>{directory}</dir>" for directory in directories),
            cache=folder / "cache",
            aliases="".join(_ALIAS.format(name=name, family=SETS[fonts]) for name in ("system-ui", "sans-serif", "sans")),
        ),
        encoding="utf-8",
    )
    return file


@contextlib.contextmanager
def only_fonts(fonts: str, folder: Path) -> Iterator[None]:
    """Gives programs that are started in the meantime the fonts of one set only."""
    before = os.environ.get("FONTCONFIG_FILE")
    os.environ["FONTCONFIG_FILE"] = str(write_fontconfig(fonts, folder))
    try:
        yield
    finally:
        os.environ.pop("FONTCONFIG_FILE")
        if before is not None:
            os.environ["FONTCONFIG_FILE"] = before
