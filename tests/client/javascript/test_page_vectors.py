"""The page's modules give in Node what the vectors say: the same tests as in a browser, on the package's files."""

from __future__ import annotations

from pathlib import Path

__all__ = [name for name in dir() if name.startswith("test_")]

MODULES = Path(__file__).parents[3] / "client" / "deniable" / "browser"


def test_the_packages_modules_are_the_pages_byte_by_byte(installed: Path) -> None:
    folder = installed / "node_modules" / "deniable" / "deniable" / "browser"
    modules = sorted(folder.rglob("*.mjs"))
    assert len(modules) > 15
    assert [path for path in modules if path.read_bytes() != (MODULES / path.relative_to(folder)).read_bytes()] == []
