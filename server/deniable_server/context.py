"""Services of an application: its store, its config, and the long-lived objects that its rooms register."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast

from flask import Flask, current_app, has_request_context, request

from deniable_server.config import Config
from deniable_server.store.protocol import Store

_KEY = "deniable"
Service = TypeVar("Service")


class Trials(Protocol):
    """Interface to the stores of trials: test runs and simulations, which are thrown away."""

    def find(self, survey_id: str) -> Store | None:
        """Returns the store of a trial, or None for another survey or a trial that is gone."""

    def discard_draft(self, draft_id: str) -> None:
        """Deletes the trials of a draft, if it has any."""


class NoTrials:
    """The trials of an application without any."""

    def find(self, survey_id: str) -> Store | None:
        """Returns None."""
        return None

    def discard_draft(self, draft_id: str) -> None:
        """Returns at once."""


@dataclass
class Services:
    """Long-lived objects of one application.

    Attributes:
        store: The database.
        config: The operator's configuration.
        trials: The stores of trials.
        others: Objects by their class, from packages that this module must not import.
    """

    store: Store
    config: Config
    trials: Trials = field(default_factory=NoTrials)
    others: dict[type, object] = field(default_factory=dict)

    def store_of(self, survey_id: str | None) -> Store:
        """Returns the store that has a survey: a trial's own, otherwise the database."""
        return (self.trials.find(survey_id) if survey_id else None) or self.store

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
    """Returns the store of the survey in the current request's address: a trial's own, otherwise the application's database."""
    return current_services().store_of((request.view_args or {}).get("survey_id") if has_request_context() else None)


def current_config() -> Config:
    """Returns the config of the application that handles the current request."""
    return current_services().config
