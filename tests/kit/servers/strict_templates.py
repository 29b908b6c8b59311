"""Templates that fail at a name without a value, which Jinja would print as nothing: a renamed value must not vanish from a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from jinja2 import Environment, StrictUndefined, Undefined
from jinja2.utils import missing

OPTIONAL = frozenset({"user", "scripted", "caller", "csrf_token"})
"""Names that some pages do not have, or tests without CSRF protection; any key of a mapping is optional, too."""


class Required(StrictUndefined):
    """A value that is not there, and must be unless its name is in OPTIONAL."""

    def __new__(cls, hint: str | None = None, obj: Any = missing, name: str | None = None, *more: Any) -> Any:
        if name in OPTIONAL or isinstance(obj, Mapping):
            return Undefined(hint, obj, name, *more)
        return super().__new__(cls)


@contextmanager
def strict_templates() -> Iterator[None]:
    """Makes the applications that are created meanwhile strict."""
    create = Flask.create_jinja_environment

    def strict(app: Flask) -> Environment:
        environment = create(app)
        environment.undefined = Required
        return environment

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Flask, "create_jinja_environment", strict)
        yield
