"""The programs in benchmarks/, of which tests run a slice."""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "benchmarks"


@cache
def benchmark(name: str) -> ModuleType:
    """benchmarks/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(f"deniable_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look for their module
    spec.loader.exec_module(module)
    return module
