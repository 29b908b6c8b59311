"""Outcomes of single sign-on, counted in memory for the metrics: no names, no times."""

from __future__ import annotations

import threading
from collections.abc import Mapping

OUTCOMES = ("success", "refused", "cancelled", "expired", "failed")
"""Logged in, or connected an account; no access; not logged in at the provider; begun elsewhere or too long ago; a provider's fault."""


class SsoOutcomes:
    """Counts of logins by their outcome, since the server started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts = dict.fromkeys(OUTCOMES, 0)

    def add(self, outcome: str) -> None:
        """Counts a login.

        Raises:
            KeyError: `outcome` is not one of OUTCOMES.
        """
        with self._lock:
            self._counts[outcome] += 1

    def counts(self) -> Mapping[str, int]:
        """Returns the number of logins by each of OUTCOMES."""
        with self._lock:
            return dict(self._counts)
