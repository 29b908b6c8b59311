"""Set-up that is paid hundreds of times and that no test is about, made cheap: the hash of a password, the compiling of templates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import argon2
import jinja2
import pytest
from flask import Flask
from jinja2.bccache import Bucket

from deniable_server.researchers import passwords

CHEAP = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Compiled(jinja2.BytecodeCache):
    """Templates as they were compiled for an application before; one whose text is another is compiled again."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key] = bucket.bytecode_to_string()


@contextmanager
def cheap_applications() -> Iterator[None]:
    """Applications made in this process hash passwords at the least cost and share compiled templates; processes of their own do not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", CHEAP)
        patch.setattr(Flask, "jinja_options", {**Flask.jinja_options, "bytecode_cache": Compiled()})
        passwords._nobody.cache_clear()
        yield
    passwords._nobody.cache_clear()
