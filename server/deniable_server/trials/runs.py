"""Runs: temporary folders, each with the store of one draft's trials or of the sample study, and their limits.

A run's folder is the only state, so the processes that compute for researchers find the same runs. The process that starts a run writes
its store; others read it.
"""

from __future__ import annotations

import json
import secrets
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from deniable.survey import Survey
from deniable_server.access.invitations import make as make_codes
from deniable_server.store import open_trial_store
from deniable_server.store.errors import ConflictError
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store
from deniable_server.store.trials import TEST, TrialId
from deniable_server.temporary_folder import make_folder
from deniable_server.trials.access import TrialRoles

PREFIX = "deniable-trials-"
"""The beginning of the name of the folder of all runs."""
HOURS = 24
"""How long a test run stays, in hours."""
MOST_RUNS = 20
"""The most test runs on a server."""
MOST_OF_AUTHOR = 5
"""The most test runs of one account."""
MOST_SURVEYS = 4
"""The most trials in a run: a test and some simulations."""
MOST_TESTERS = 1000
"""The most records that a test accepts from devices."""
CODES = 5
"""The codes of a test that takes codes."""
SAMPLE = ""
"""In place of a draft's id: the run of the sample study, which is everybody's."""
REMOVED_SAMPLE = "sample"
"""The name under which an account's removal of the sample study is stored."""
_INFO = "run.json"
_STORE = "trial.db"


@dataclass(frozen=True)
class TrialRun:
    """A run.

    Attributes:
        name: The name of its folder.
        draft_id: The draft, or SAMPLE.
        author: The account that has started it.
        revision: The revision of the draft that is tested.
        until: When it is thrown away, in Unix seconds; None for when the server stops.
        survey_ids: The ids of its trials; the test comes first.
        codes: Invitation codes for its test, if that takes codes.
    """

    name: str
    draft_id: str
    author: str
    revision: str
    until: float | None
    survey_ids: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()

    @property
    def test_id(self) -> str | None:
        """The id of its test, which people answer."""
        return next((survey_id for survey_id in self.survey_ids if (trial := TrialId.of(survey_id)) and trial.kind == TEST), None)

    @property
    def simulated_ids(self) -> tuple[str, ...]:
        """The ids of its simulations, oldest first."""
        return tuple(survey_id for survey_id in self.survey_ids if survey_id != self.test_id)


class TrialRuns:
    """The runs of a server.

    Args:
        folder: The folder of all runs; None to make a temporary one for this process, when the first run starts.
        main: The server's store.
        may_open: Returns whether an account may open a draft.
        clock: Returns the time in Unix seconds.
    """

    def __init__(
        self, folder: Path | None, main: Store, may_open: Callable[[str, str], bool], clock: Callable[[], float] = time.time
    ) -> None:
        self._folder, self._main, self._may_open, self._clock = folder, main, may_open, clock
        self._lock = threading.RLock()
        self._stores: dict[str, Store] = {}
        self._started: set[str] = set()
        self._timer: threading.Timer | None = None

    def find(self, survey_id: str) -> Store | None:
        """Returns the store of a trial, or None for another survey or a trial that is gone."""
        run = self.run_with(survey_id)
        return self.store_of(run) if run else None

    def run_with(self, survey_id: str) -> TrialRun | None:
        """Returns the run of a trial, or None."""
        if TrialId.of(survey_id) is None:
            return None
        return next((run for run in self.all() if survey_id in run.survey_ids), None)

    def run_of(self, draft_id: str) -> TrialRun | None:
        """Returns the run of a draft, or None."""
        return next((run for run in self.all() if run.draft_id == draft_id), None)

    def all(self) -> list[TrialRun]:
        """Returns all runs that have not expired. Deletes expired ones that this process has started."""
        with self._lock:
            runs = list(self._read())
            for run in runs:
                if self._is_over(run) and run.name in self._started:
                    self.discard(run)
            return [run for run in runs if not self._is_over(run)]

    def start(self, draft_id: str, author: str, revision: str = "") -> TrialRun:
        """Starts a run, in place of an earlier one of the same draft.

        Raises:
            ConflictError: There are too many runs, of this account or on the server.
        """
        with self._lock:
            self.discard_draft(draft_id)
            drafts = [run for run in self.all() if run.draft_id != SAMPLE]
            if draft_id != SAMPLE and sum(run.author == author for run in drafts) >= MOST_OF_AUTHOR:
                raise ConflictError(f"an account must have at most {MOST_OF_AUTHOR} test runs: throw one away first")
            if draft_id != SAMPLE and len(drafts) >= MOST_RUNS:
                raise ConflictError(f"a server must have at most {MOST_RUNS} test runs: try again later")
            until = None if draft_id == SAMPLE else self._clock() + 3600 * HOURS
            run = TrialRun(f"run-{secrets.token_hex(16)}", draft_id, author, revision, until)
            self._path(run).mkdir(mode=0o700, parents=True)
            self._stores[run.name] = self._open(run, writing=True)
            self._started.add(run.name)
            self._write(run)
            self._sweep_later()
            return run

    def start_sample(self, survey: Survey, fill: Callable[[Store], None]) -> TrialRun:
        """Starts the run of the sample study unless another request was faster. Returns its run.

        Args:
            survey: The sample study.
            fill: Stores its records.
        """
        with self._lock:
            if run := self.run_of(SAMPLE):
                return run
            run = self.add(self.start(SAMPLE, ""), survey)
            fill(self.store_of(run))
            return run

    def add(self, run: TrialRun, survey: Survey) -> TrialRun:
        """Publishes a trial in a run. Returns the run with it.

        Raises:
            ConflictError: The run has all the trials that it may have.
        """
        with self._lock:
            if len(run.survey_ids) >= MOST_SURVEYS:
                raise ConflictError(f"a test run must have at most {MOST_SURVEYS - 1} simulations: throw it away to start again")
            store = self.store_of(run)
            store.surveys.publish(survey)
            run = replace(run, survey_ids=(*run.survey_ids, survey.id))
            if survey.id == run.test_id:
                store.life.keep(survey.id, Settings(close_at=MOST_TESTERS))
                codes = make_codes(store, survey.id, CODES) if survey.access == "invited" else ()
                run = replace(run, codes=tuple(codes))
            self._write(run)
            return run

    def store_of(self, run: TrialRun) -> Store:
        """Returns the store of a run, opened for reading if another process has started it."""
        with self._lock:
            for name in self._stores.keys() - {other.name for other in self._read()} - {run.name}:
                self._stores.pop(name).close()  # another process has thrown it away
            if run.name not in self._stores:
                self._stores[run.name] = self._open(run, writing=False)
            return self._stores[run.name]

    def discard(self, run: TrialRun) -> None:
        """Deletes a run with its records."""
        with self._lock:
            (self._path(run) / _INFO).unlink(missing_ok=True)  # from now on it cannot be found
            if store := self._stores.pop(run.name, None):
                store.close()
            shutil.rmtree(self._path(run), ignore_errors=True)

    def discard_draft(self, draft_id: str) -> None:
        """Deletes the run of a draft, if there is one."""
        with self._lock:
            for run in self._read():
                if run.draft_id == draft_id:
                    self.discard(run)

    def close(self) -> None:
        """Deletes all runs, when the server stops."""
        with self._lock:
            if self._timer:
                self._timer.cancel()
            for store in self._stores.values():
                store.close()
            self._stores.clear()
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _open(self, run: TrialRun, *, writing: bool) -> Store:
        roles = TrialRoles(partial(self._survey_ids, run.name), partial(self._admits, run.draft_id))
        return open_trial_store(self._path(run) / _STORE, self._main, roles, writing=writing)

    def _survey_ids(self, name: str) -> tuple[str, ...]:
        return next((run.survey_ids for run in self.all() if run.name == name), ())

    def _admits(self, draft_id: str, user: str) -> bool:
        if draft_id == SAMPLE:
            return REMOVED_SAMPLE not in self._main.accounts.dismissed(user)
        return self._may_open(user, draft_id)

    def _is_over(self, run: TrialRun) -> bool:
        return run.until is not None and run.until <= self._clock()

    def _sweep_later(self) -> None:
        """Deletes expired runs, now and when the next one expires."""
        with self._lock:
            self._sweep_next()

    def _sweep_next(self) -> None:
        if self._timer:
            self._timer.cancel()
        ends = [run.until for run in self.all() if run.until is not None and run.name in self._started]
        self._timer = threading.Timer(max(0.0, min(ends) - self._clock()) + 1, self._sweep_later) if ends else None
        if self._timer:
            self._timer.daemon = True
            self._timer.start()

    def _root(self) -> Path:
        if self._folder is None:
            self._folder = make_folder(PREFIX)
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder

    def _path(self, run: TrialRun) -> Path:
        return self._root() / run.name

    def _read(self) -> Iterator[TrialRun]:
        """Yields the runs on the disk."""
        for path in sorted(self._folder.glob(f"run-*/{_INFO}")) if self._folder else ():
            with suppress(FileNotFoundError):  # thrown away meanwhile
                fields: dict[str, Any] = json.loads(path.read_text())
                yield TrialRun(**fields | {key: tuple(fields[key]) for key in ("survey_ids", "codes")})

    def _write(self, run: TrialRun) -> None:
        path = self._path(run) / _INFO
        new = path.with_suffix(".new")
        new.write_text(json.dumps(asdict(run)))
        new.replace(path)
