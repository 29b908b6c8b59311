"""Prometheus metrics at `/metrics`, in the text format 0.0.4: off by default, for a separate key or at a separate address.

A scraper stores the time of every change. So no value changes with a single submission, withdrawal or visit: values that
could are updated once a day, in UTC, the finest time that is stored for anything. There are no counters of requests, open
sockets or processor time, since someone who opens connections could infer the activity of other people.
"""

from __future__ import annotations

import platform
import resource
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from flask import Response, abort, request
from werkzeug.exceptions import Unauthorized

from deniable.wire.part import Part
from deniable_server.api import callers
from deniable_server.context import current_services
from deniable_server.store.errors import StoreError
from deniable_server.store.protocol import STATES, Store
from deniable_server.web.audience import Audience, Routes

OWN_ADDRESS = "deniable.own_address"  # the key of the environ that marks requests at the separate address; no header can set it
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SCOPE = "metrics"
_COARSE = 1 << 20  # bytes: sizes are rounded up to a multiple
_STARTED = time.time()

bp = Routes("metrics", __name__, Audience(login=False, forms=False, csrf=False, translated=False))


@dataclass(frozen=True)
class MetricFamily:
    """A gauge: its name, its description, and its values by label."""

    name: str
    help: str
    values: tuple[tuple[Mapping[str, str], float], ...]

    @classmethod
    def of(cls, name: str, help_: str, value: float) -> MetricFamily:
        """Returns a gauge with one value and no labels."""
        return cls(name, help_, (({}, value),))

    @property
    def text(self) -> str:
        """The gauge's lines in the text format."""
        lines = [f"# HELP {self.name} {self.help}", f"# TYPE {self.name} gauge"]
        return "".join(f"{line}\n" for line in (*lines, *(f"{self.name}{_labels(labels)} {value:.17g}" for labels, value in self.values)))


class Metrics:
    """The metrics of a store.

    Args:
        database: The database file, if it is one.
        backups: The newest backup, or the folder of all backups.
        today: Returns the day in UTC, YYYY-MM-DD.
        sso: Returns the number of logins by outcome; None without single sign-on.
    """

    def __init__(
        self,
        store: Store,
        database: Path | None = None,
        backups: Path | None = None,
        today: Callable[[], str] = lambda: datetime.now(UTC).date().isoformat(),
        sso: Callable[[], Mapping[str, int]] | None = None,
    ) -> None:
        self._sso = sso
        self._store, self._database, self._backups, self._today = store, database, backups, today
        self._lock = threading.Lock()
        self._cached: tuple[str, str] = ("", "")  # the day, and its values

    def text(self) -> str:
        """Returns all metrics. If the database cannot be read, `deniable_database_up` is 0 and the day's values stay."""
        try:
            self._store.surveys.count()
            daily, up = self._daily(), 1.0
        except StoreError:
            daily, up = self._cached[1], 0.0
        versions = {"version": version("deniable"), "python": platform.python_version()}
        families = [
            MetricFamily("deniable_info", "The versions that run.", ((versions, 1.0),)),
            MetricFamily.of("deniable_start_time_seconds", "When the server started, in Unix seconds.", round(_STARTED)),
            MetricFamily.of("deniable_database_up", "Whether the database can be read.", up),
        ]
        if (made_at := _newest(self._backups)) is not None:
            families.append(MetricFamily.of("deniable_backup_time_seconds", "When the newest backup was made, in Unix seconds.", made_at))
        return "".join(family.text for family in families) + daily

    def _daily(self) -> str:
        """Returns the values that are updated by the first request of each day."""
        with self._lock:
            today = self._today()
            if self._cached[0] != today:
                self._cached = today, "".join(family.text for family in self._families_of_day(today))
            return self._cached[1]

    def _families_of_day(self, today: str) -> Iterator[MetricFamily]:
        store = self._store
        surveys, counts, codes_made = store.surveys.headings(), store.submissions.all_counts(), store.invitations.all_counts()
        states = [each.state for each in surveys]
        records = (
            ({"survey": each.id, "mode": mode}, float(n))
            for each in surveys
            for mode, n in sorted(_by_mode(counts.get(each.id, {})).items())
        )
        codes = (({"survey": each.id}, float(codes_made.get(each.id, (0, 0))[0])) for each in surveys if each.access == "invited")
        midnight = datetime.fromisoformat(today).replace(tzinfo=UTC).timestamp()
        yield MetricFamily.of("deniable_day_seconds", "The day, in Unix seconds, of the values below.", midnight)
        counted = tuple(({"state": state}, float(states.count(state))) for state in STATES)
        yield MetricFamily("deniable_surveys", "Published surveys by their state.", counted)
        yield MetricFamily("deniable_records", "Counted records, by survey and by mode: where the answers were perturbed.", tuple(records))
        yield MetricFamily("deniable_invitation_codes", "Invitation codes of a survey, used or not.", tuple(codes))
        if self._sso:
            logins = tuple(({"outcome": outcome}, float(n)) for outcome, n in self._sso().items())
            yield MetricFamily("deniable_sso_logins", "Logins by single sign-on since the server started, by outcome.", logins)
        yield MetricFamily.of("deniable_memory_peak_bytes", "The server's peak memory, rounded up to 1 MiB.", _memory())
        if self._database:
            yield MetricFamily.of(
                "deniable_database_bytes", "The size of the database, rounded up to 1 MiB.", _rounded(self._database.stat().st_size)
            )


@bp.get("/metrics")
def page() -> Response:
    """Serves the metrics to an API key with the scope metrics, or at the separate address."""
    metrics = current_services().find(Metrics)
    if metrics is None:
        abort(404)
    if not request.environ.get(OWN_ADDRESS) and callers.key_for(SCOPE, None) is None:
        raise Unauthorized(f"a key with the scope {SCOPE} is needed", www_authenticate=callers.bearer())
    return Response(metrics.text(), content_type=CONTENT_TYPE)


def _by_mode(counts: Mapping[Part, int]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for part, n in counts.items():
        sizes[part.mode] = sizes.get(part.mode, 0) + n
    return sizes


def _memory() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return _rounded(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def _rounded(size: int) -> float:
    return float(-(-size // _COARSE) * _COARSE)


def _newest(backups: Path | None) -> float | None:
    """Returns the time of a backup, or of the newest backup in a folder; None for an empty folder."""
    if backups is None:
        return None
    try:
        files = [path for path in backups.iterdir() if path.is_file()] if backups.is_dir() else [backups]
        return max((path.stat().st_mtime // 1 for path in files), default=None)
    except OSError:
        return None


def _labels(labels: Mapping[str, str]) -> str:
    escaped = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{','.join(escaped)}}}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
