"""Set-up that is paid hundreds of times and that no test is about, made cheap: the hash of a password, the compiling of templates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
        self._kept: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key, bucket.checksum] = bucket.code


@contextmanager
def cheap_applications() -> Iterator[None]:
    """Applications made in this process hash passwords at the least cost and share compiled templates; processes of their own do not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", CHEAP)
        patch.setattr(Flask, "jinja_options", {**Flask.jinja_options, "bytecode_cache": Compiled()})
        passwords._nobody.cache_clear()
        yield
    passwords._nobody.cache_clear()
