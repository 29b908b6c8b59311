"""What the application that handles the current request was made with: its store, its config, and who counts tries."""

from __future__ import annotations

from typing import cast

from flask import current_app

from deniable_server.config import Config
from deniable_server.researchers.passwords import Passwords
from deniable_server.store.protocol import Store
from deniable_server.web.limiter import Rate


def current_store() -> Store:
    """The store of the application that handles this request."""
    return cast(Store, current_app.extensions["deniable"])


def current_config() -> Config:
    """The config of the application that handles this request."""
    return cast(Config, current_app.extensions["deniable_config"])


def current_passwords() -> Passwords:
    """What checks passwords for the application that handles this request."""
    return cast(Passwords, current_app.extensions["deniable_passwords"])


def current_rate() -> Rate:
    """How many submissions without a key the application that handles this request still takes."""
    return cast(Rate, current_app.extensions["deniable_rate"])
