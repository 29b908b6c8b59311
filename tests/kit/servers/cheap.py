"""What is set up hundreds of times and is no test's business, made cheap: hashes of passwords, what each application compiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import argon2
import jinja2
import pytest
from flask import Flask
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from deniable_server.researchers import passwords

CHEAP = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Compiled(jinja2.BytecodeCache):
    """Templates as they were compiled for an application before; one whose text is another is compiled again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key, bucket.checksum] = bucket.code


def shared(compiled: Callable[[Rule, bool], Any]) -> Callable[[Rule, bool], Any]:
    """What writes an address out of a rule is a function of its text alone, and compiled once for all applications."""
    kept: dict[tuple[Any, ...], Any] = {}

    def builder(rule: Rule, append_unknown: bool = True) -> Any:
        key = (rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown)
        if key not in kept:
            kept[key] = compiled(rule, append_unknown)
        return kept[key]

    return builder


@contextmanager
def cheap_applications() -> Iterator[None]:
    """Applications made in this process hash passwords at the least cost and share what is compiled; processes of their own do not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", CHEAP)
        patch.setattr(Flask, "jinja_options", {**Flask.jinja_options, "bytecode_cache": Compiled()})
        patch.setattr(Rule, "_compile_builder", shared(Rule._compile_builder))
        passwords._nobody.cache_clear()
        yield
    passwords._nobody.cache_clear()
