"""What is set up hundreds of times and is no test's business, made cheap: hashes of passwords, compiled words, new files."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import argon2
import jinja2
import pytest
from flask import Flask
from jinja2.bccache import Bucket
from werkzeug.routing import Rule

from deniable_server.identity import passwords
from deniable_server.store.sqlite import file

CHEAP = argon2.PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Compiled(jinja2.BytecodeCache):
    """Templates as they were compiled for an application before; one whose text is another is compiled again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Any] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._kept.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._kept[bucket.key, bucket.checksum] = bucket.code


def shared(compile_: Callable[[Rule], None]) -> Callable[[Rule], None]:
    """What a rule matches, and what writes an address out of it, follow from its words alone: compiled once for all applications."""
    kept: dict[tuple[Any, ...], Rule] = {}

    def compiled(rule: Rule) -> None:
        first = kept.setdefault((rule.rule, rule.endpoint, repr(rule.defaults), rule.host, rule.subdomain), rule)
        if first is rule:
            return compile_(rule)
        rule._parts, rule._trace, rule._converters, rule.arguments = first._parts, first._trace, first._converters, first.arguments
        rule._build, rule._build_unknown = (build.__func__.__get__(rule) for build in (first._build, first._build_unknown))
        return None

    return compiled


def copied(migrate: Callable[[sqlite3.Connection], None]) -> Callable[[sqlite3.Connection], None]:
    """A new file gets its tables from one that all migrations have made, in a fifth of the time; one that has any is migrated."""
    lock, model = threading.Lock(), sqlite3.connect(":memory:", check_same_thread=False)
    migrate(model)

    def migrated(connection: sqlite3.Connection) -> None:
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            return migrate(connection)
        with lock:
            return model.backup(connection)

    return migrated


@contextmanager
def cheap_applications() -> Iterator[None]:
    """Applications in this process hash passwords at the least cost, share what is compiled, and copy new files; others do not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "_hasher", CHEAP)
        patch.setattr(Flask, "jinja_options", {**Flask.jinja_options, "bytecode_cache": Compiled()})
        patch.setattr(Rule, "compile", shared(Rule.compile))
        patch.setattr(file, "migrate", copied(file.migrate))
        passwords._dummy_hash.cache_clear()
        yield
    passwords._dummy_hash.cache_clear()
