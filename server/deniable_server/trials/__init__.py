"""Trials: test runs of drafts, simulations, and the sample study, each in a store that is thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask


def register(app: Flask) -> None:
    """Registers the stores of trials and their pages."""
    from flask import request

    from deniable_server.context import services_of
    from deniable_server.trials import pages, sample_pages
    from deniable_server.trials.access import may_open
    from deniable_server.trials.runs import TrialRuns
    from deniable_server.web.audience import register_blueprints

    services = services_of(app)
    runs = TrialRuns(services.config.trials, services.store, may_open)
    services.trials = runs
    services.add(runs)
    app.add_template_global(lambda: runs.run_with((request.view_args or {}).get("survey_id", "")), "trial_run")
    register_blueprints(app, pages.bp, sample_pages.bp)
