"""Services of an application: its store, its config, and the long-lived objects that its rooms register."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, cast

from flask import Flask, current_app

from deniable_server.config import Config
from deniable_server.store.protocol import Store

_KEY = "deniable"
Service = TypeVar("Service")


@dataclass
class Services:
    """Long-lived objects of one application.

    Attributes:
        store: The database.
        config: The operator's configuration.
        others: Objects by their class, from packages that this module must not import.
    """

    store: Store
    config: Config
    others: dict[type, object] = field(default_factory=dict)

    def add(self, service: object) -> None:
        """Adds an object under its class, in place of an earlier one."""
        self.others[type(service)] = service

    def get(self, kind: type[Service]) -> Service:
        """Returns the object of a class.

        Raises:
            LookupError: The application has no object of this class.
        """
        if (service := self.find(kind)) is None:
            raise LookupError(f"the application has no {kind.__name__}")
        return service

    def find(self, kind: type[Service]) -> Service | None:
        """Returns the object of a class, or None if the application runs without one."""
        return cast("Service | None", self.others.get(kind))


def register(app: Flask, services: Services) -> None:
    """Gives an application its services."""
    app.extensions[_KEY] = services


def services_of(app: Flask) -> Services:
    """Returns the services of an application."""
    return cast(Services, app.extensions[_KEY])


def current_services() -> Services:
    """Returns the services of the application that handles the current request."""
    return services_of(current_app)


def current_store() -> Store:
    """Returns the store of the application that handles the current request."""
    return current_services().store


def current_config() -> Config:
    """Returns the config of the application that handles the current request."""
    return current_services().config
