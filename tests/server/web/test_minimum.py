"""The minimum of records on every way out: no reply of any route or command depends on a group that has fewer.

Two servers have the same numbers of records everywhere. The records of the small groups are others, with the same sum for all that are
withheld together. Whoever can compute anything of a small group, by whatever reply or difference of replies, must get a reply that differs.
Every route is asked, and a new one is asked without being named here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from flask import Flask
from tests.kit.servers.process import PASSWORD

from deniable.device.entropy import os_words
from deniable.errors import EstimateError
from deniable.survey import Survey
from deniable.wire.part import Mode
from deniable.wire.submission import Submission
from deniable_server import Config, create_app
from deniable_server.access import api_keys
from deniable_server.identity.passwords import set_password
from deniable_server.operate.cli import main
from deniable_server.researchers import models
from deniable_server.results import disclosure_control
from deniable_server.store import open_store
from deniable_server.store.life import Settings
from deniable_server.store.protocol import Store

pytestmark = pytest.mark.slow

LEAST = 30
QUESTION: dict[str, Any] = {"text": "?", "type": "yes_no", "epsilon": "ln 3"}
TOWNS = Survey.from_dict(
    {
        "deniable": 1,
        "id": "towns",
        "title": "T",
        "about": "A.",
        "batch": 1,
        "accept_small_batches": True,
        "groups": ["Large", "Small", "Next", "Mixed", "Empty", "Other"],
        "questions": [{**QUESTION, "id": "p"}, {**QUESTION, "id": "q"}],
    }
)
ONE = Survey.from_dict({**{key: value for key, value in TOWNS.to_dict().items() if key != "groups"}, "id": "one"})
FEW, WAVE, LATER = (Survey.from_dict({**ONE.to_dict(), "id": name}) for name in ("few", "wave", "later"))
STUDY = ("towns", "wave", "later", "few")

Cells = list[tuple[str | None, Mode, int]]
WITHHELD: dict[str, list[Cells]] = {
    "towns": [
        [("Small", "device", 12), ("Next", "device", 35)],  # all less the others: together enough
        [("Mixed", "device", 40), ("Mixed", "organisation", 3)],  # together a group with figures of its own
        [("Small", "by_hand", 4), ("Large", "by_hand", 20), ("Next", "by_hand", 16)],
    ],
    "one": [[(None, "device", 40), (None, "organisation", 5)]],
}
"""Cells of which nothing may be computed but of all cells of a list together; and one survey has nothing to show at all."""

FIGURES = {
    *("researchers.survey", "researchers.groups", "researchers.download", "researchers.chart", "researchers.group_file"),
    *("building.crosstab", "building.download", "building.waves", "building.download_waves", "building.waves_chart"),
    "building.download_trends",
    *("among.page", "among.download", "among.chart"),
    *("building.model", "building.download_model", "data.download"),
    *("api.results", "api.tally", "api.reports", "api.bundle", "api.bundle_file"),
    *("results", "export"),  # commands
}
"""All ways out that give figures or rows. A new one shows in the control below, and has to be added."""

OPTIONS: list[dict[str, str]] = [
    {},
    {"by_hand": "1"},
    {"clusters": "1"},
    {"form": "arrow"},
    {"form": "arrow", "by_hand": "1"},
    {"first": "Large", "second": "Other"},
    {"first": "Large", "second": "Small"},
    {"first": "Next", "second": "Large"},
    *({"group": group, **more} for group in TOWNS.groups for more in ({}, {"by_hand": "1"}, {"form": "arrow"})),
]
PAIR = {"rows": "p", "columns": "q", "row": "p", "column": "q", "other": "few", "with": "wave", "outcome": "p", "predictor": "q"}
PEOPLE = {"among": "q", "answer": "yes"}
VALUES = {
    "question": ("p",),
    "kind": ("csv", "json", "svg"),
    "name": ("bundle.zip", "estimates.csv"),
    "webhook_id": ("wh_0",),
}
OTHERS = {"second_factor.page", "audit.page", "sample.results"}
"""Routes that are new at each look, and are not about records of people: a secret of an account, the log, and the sample study."""
ELSEWHERE = {"draft_id", "filename", "team_id", "token"}
"""Parameters of routes that are not about a survey's records."""


def records(survey: Survey, n: int, kind: int) -> bytes:
    """Records with bits that differ by kind, drawn always alike. They are packed as `deniable.wire.record` does: any byte is one here."""
    bits = np.random.default_rng(kind).random((n, survey.record.bits)) < (0.2 if kind % 2 else 0.8)
    return np.packbits(bits, axis=1, bitorder="big").tobytes()


def fill(store: Store, other: bool) -> None:
    """Publishes the surveys and adds the records; `other` deals those of the cells that are withheld the other way round."""
    for survey in (TOWNS, ONE, FEW, WAVE, LATER):
        store.surveys.publish(survey)
        store.life.keep(survey.id, Settings(least=LEAST))
    for wave in STUDY[1:]:
        store.studies.join(wave, STUDY[0])
    add(store, TOWNS, "Large", "device", records(TOWNS, 50, 1))
    add(store, TOWNS, "Other", "device", records(TOWNS, 61, 2))
    for name, several in WITHHELD.items():
        survey = {"towns": TOWNS, "one": ONE}[name]
        for number, cells in enumerate(several):
            size = survey.record.bytes
            n = sum(count for _, _, count in cells)
            raw = records(survey, n // 2, 4 * number) + records(survey, n - n // 2, 4 * number + 1)
            dealt = [raw[i * size : (i + 1) * size] for i in range(n)]
            dealt = dealt[::-1] if other else dealt
            for group, mode, count in cells:
                add(store, survey, group, mode, b"".join(dealt[:count]))
                dealt = dealt[count:]
    add(store, WAVE, None, "device", records(WAVE, 70, 3))
    add(store, LATER, None, "device", records(LATER, 60, 5))
    add(store, FEW, None, "device", records(FEW, 29, 7 if other else 8))


def add(store: Store, survey: Survey, group: str | None, mode: Mode, raw: bytes) -> None:
    n = len(raw) // survey.record.bytes
    store.submissions.add(survey.id, Submission(os_words(4).tobytes(), survey.digest, n, raw, group=group, mode=mode))


class World:
    """A server with these records, and all its replies."""

    def __init__(self, folder: Path, logged_in: Callable[..., Any], other: bool, least: int = LEAST) -> None:
        folder.mkdir()
        self.folder, self.store = folder, open_store(folder / "deniable.db")
        fill(self.store, other)
        for survey in (TOWNS, ONE, FEW, WAVE, LATER):
            self.store.life.keep(survey.id, Settings(least=least))
        set_password(self.store.accounts, "ada", PASSWORD)
        self.store.people.set_operator("ada", True)
        self.app: Flask = create_app(Config(folder / "deniable.db", "x" * 40), self.store)
        self.browser = logged_in(self.app)
        self.key = {"Authorization": f"Bearer {api_keys.make(self.store, 'k', ['results', 'reports'])}"}

    def replies(self, quick: bool = False) -> Iterator[tuple[str, str, bytes]]:
        """(endpoint, address, what came) of every route that can be asked, in every way."""
        for rule in self.app.url_map.iter_rules():
            if "GET" not in (rule.methods or ()) or ELSEWHERE & rule.arguments or rule.endpoint in OTHERS:
                continue
            assert rule.arguments <= {"survey_id", *VALUES}, f"{rule}: say in VALUES what it takes, or in ELSEWHERE that it has no records"
            for path in self.paths(rule.endpoint, rule.arguments, quick):
                is_api = rule.endpoint.startswith("api.")
                reply = (self.app.test_client() if is_api else self.browser).get(path, headers=self.key if is_api else {})
                yield rule.endpoint, path, plain(reply.status_code, reply.data)

    def paths(self, endpoint: str, arguments: set[str], quick: bool) -> Iterator[str]:
        several: list[dict[str, str]] = [{}]
        for name in sorted(arguments - {"survey_id"}):
            several = [{**one, name: value} for one in several for value in VALUES[name]]
        surveys = ["towns", "one", "few"] if "survey_id" in arguments else [None]
        for survey in surveys:
            asked = OPTIONS if survey == "towns" and not quick and "bundle" not in endpoint and endpoint != "data.download" else OPTIONS[:3]
            for values in several:
                for options in asked if survey else [{}]:
                    query = {**options, **(PAIR if endpoint.startswith("building") else PEOPLE if endpoint.startswith("among") else {})}
                    with self.app.test_request_context():
                        try:
                            yield self.app.url_for(endpoint, **{**query, **values, **({"survey_id": survey} if survey else {})})
                        except ValueError:  # this route takes others of these values
                            break

    def commands(self) -> Iterator[tuple[str, str, bytes]]:
        """The same of every command that takes a survey, or needs nothing."""
        ways: list[list[str]] = [[], ["--by-hand"], ["--clusters"], *(["--group", group] for group in TOWNS.groups)]
        for survey in ("towns", "one", "few"):
            for way in ways:
                yield "results", f"{survey} {way}", self.run("results", survey, "--json", *way)
            out = self.folder / f"out-{survey}"
            yield "export", survey, self.run("export", survey, "--parquet", str(out)).replace(bytes(self.folder), b"")
            for file in sorted(out.iterdir()) if out.exists() else ():
                yield "export", f"{survey} {file.name}", file.read_bytes()
        yield "list", "", self.run("list")

    def run(self, command: str, *words: str) -> bytes:
        done = CliRunner().invoke(main, [command, "--db", str(self.folder / "deniable.db"), *words])
        return done.output.encode()

    def every(self, quick: bool = False) -> dict[tuple[str, str], bytes]:
        return {(endpoint, path): told for endpoint, path, told in (*self.replies(quick), *self.commands())}


def plain(status: int, body: bytes) -> bytes:
    """A reply without what changes from look to look."""
    return b"%d " % status + re.sub(rb'name="(csrf_token|secret|once)"[^>]*>|"study":\{"id":"[0-9a-f]+"', b"", body)


def differing(one: Mapping[tuple[str, str], bytes], other: Mapping[tuple[str, str], bytes]) -> list[tuple[str, str]]:
    assert set(one) == set(other)
    return [key for key in one if one[key] != other[key]]


def fingerprint(survey: Survey, raw: bytes, model: Any) -> Any:
    """In place of a model, which takes seconds to fit: it depends on every record."""
    raise EstimateError(f"fingerprint {hashlib.sha256(raw).hexdigest()}")


@pytest.fixture
def worlds(tmp_path: Path, logged_in: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., World]]:
    made: list[World] = []
    monkeypatch.setattr(models, "fit_model", fingerprint)

    def make(other: bool, **options: Any) -> World:
        made.append(World(tmp_path / f"world-{len(made)}", logged_in, other, **options))
        return made[-1]

    yield make
    for world in made:
        world.store.close()


def test_no_reply_of_any_route_or_command_depends_on_who_is_in_a_small_group(worlds: Callable[..., World]) -> None:
    one, other = worlds(False).every(), worlds(True).every()
    assert differing(one, other) == []
    shown = {
        endpoint for (endpoint, path), told in one.items() if told.startswith(b"200") or b"ingerprint" in told or not path.startswith("/")
    }
    assert FIGURES - shown == set()  # a study with a few small groups can be used
    for group, status in (("Large", 200), ("Other", 200), ("Mixed", 200), ("Small", 403), ("Next", 403)):
        assert one["api.results", f"/api/v1/surveys/towns/results?group={group}"].startswith(b"%d" % status), group


def test_without_a_minimum_each_way_out_differs_and_these_are_all_ways(worlds: Callable[..., World]) -> None:
    one, other = (worlds(other, least=1).every(quick=True) for other in (False, True))
    assert {endpoint for endpoint, _ in differing(one, other)} - {"watch.page", "api.progress", "researchers.surveys"} == FIGURES


@pytest.mark.parametrize(
    "name", ["withheld", "_is_mixed", "require"], ids=["no group is withheld", "ways of perturbing are told apart", "nothing is asked"]
)
def test_a_gate_that_is_open_is_found_out(worlds: Callable[..., World], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    broken: dict[str, Any] = {"withheld": (), "_is_mixed": lambda self, group: False, "require": lambda self, group=None: None}
    monkeypatch.setattr(disclosure_control.Release, name, broken[name])
    assert differing(*({(e, p): told for e, p, told in worlds(other).commands()} for other in (False, True)))
