"""What the application that handles the current request was made with: its store and its config."""

from __future__ import annotations

from typing import cast

from flask import current_app

from deniable_server.config import Config
from deniable_server.store.protocol import Store


def current_store() -> Store:
    """The store of the application that handles this request."""
    return cast(Store, current_app.extensions["deniable"])


def current_config() -> Config:
    """The config of the application that handles this request."""
    return cast(Config, current_app.extensions["deniable_config"])
