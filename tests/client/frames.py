"""What an error report can show: errors are provoked at every line between an answer and its acknowledgement, and searched for answers.

    python -m tests.client.frames 3000
    python -m tests.client.frames signals 1000
    python -m tests.client.frames controls

goes that many error paths, or interrupts by a signal as often, and prints, as JSON, what came of them and where an answer was found; or
how many were found in each of `CONTROLS`, clients that are broken on purpose. Three ways of reporting are searched: a traceback with all
local variables, sentry-sdk with its defaults, and all that is logged at DEBUG. The caller's own frames, which are in this file, are the
caller's.
"""

from __future__ import annotations

import faulthandler
import io
import json
import logging
import multiprocessing
import os
import random
import re
import signal
import sqlite3
import ssl
import sys
import tempfile
import threading
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import openpyxl
import pandas as pd
import polars
import sentry_sdk
from sentry_sdk.envelope import Envelope
from sentry_sdk.transport import Transport
from tests.client.conftest import Fault, Server, serving

import deniable
from deniable import cli
from deniable.delivery import jobs, transport
from deniable.device import perturb, sealed
from deniable.errors import AnswerError
from deniable.sdk.client import SurveyClient
from deniable.sdk.session import SurveySession
from deniable.survey import Survey, document

PACKAGE = str(Path(deniable.__file__).parent)
HERE = __file__
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None  # a disk would take its time for each of thousands of outboxes
SURVEY = Survey.from_dict(
    {
        "deniable": 1,
        "id": "canaries",
        "title": "T",
        "about": "A",
        "epsilon": 7,
        "questions": [
            {"id": "smokes", "text": "Q", "type": "yes_no"},
            {"id": "bird", "text": "Q", "type": "choice", "options": [f"b{i}" for i in range(400)]},
            {"id": "mood", "text": "Q", "type": "scale", "options": [f"m{i}" for i in range(250)], "required": False},
            {"id": "age", "text": "Q", "type": "number", "low": 0, "high": 1000, "levels": 251},
            {
                "id": "bin",
                "text": "Q",
                "type": "number",
                "low": 0,
                "high": 1000,
                "bins": [{"name": f"n{i}", "from": 5 * i} for i in range(200)],
            },
            {"id": "drugs", "text": "Q", "type": "multi_choice", "options": ["tea", "plum", "kiwi"]},
            {"id": "more", "text": "Q", "type": "yes_no", "required": False, "show_if": {"question": "smokes", "is": ["yes"]}},
        ],
    }
)
GROUPED = Survey.from_dict({**SURVEY.to_dict(), "id": "grouped", "groups": ["North", "South"]})
ANSWERS: dict[str, Any] = {
    "smokes": "tRuE",
    "bird": "\tb377",
    "mood": "m241 ",
    "age": 613.2519,
    "bin": 736.125,
    "drugs": ["kiwi", "plum"],
    "more": "fAlsE",
}
CELLS = {
    **{k: v for k, v in ANSWERS.items() if k != "drugs"},
    "drugs[tea]": "fAlsE",
    "drugs[plum]": "tRuE",
    "drugs[kiwi]": "tRuE",
    "clinic": "North",
}
CATEGORIES = (377, 241, 153, 154, 147)
WORDS = re.compile(r"tRuE|fAlsE|kiwi, plum|CANARY|613\.25|736\.125")
LABELS = re.compile(r"(?<!b376,)(?<!b376, )b377|(?<!m240,)(?<!m240, )m241")
NUMBERS = re.compile(
    "|".join(rf"(?<!line )(?<![\w.\-])(?<!\b{n - 1}, )(?<!\b{n - 1}\.0, )(?<!\b{n - 1}\.0,)(?<!\b{n - 1},){n}\b" for n in CATEGORIES)
)
"""Answers as they are written, and their categories, of which 153 and 154 are of a number between two; a survey's own lists are none.
The words are so long that random bytes do not spell them by chance."""
READER = Survey.from_definition.__func__.__code__  # type: ignore[attr-defined]
"""What it calls reads the server's bytes, label by label, and counts them: there alone these labels and numbers are the survey's."""
BYTES = re.compile(r"""b'(?:[^'\\]|\\.)*'|b"(?:[^"\\]|\\.)*\"""")
BASE64 = re.compile(r"[\w-]{80,}|\bid: ?[\w-]{22}\b|\bat 0x[0-9a-f]+")
"""Perturbed records, their ids, and addresses in memory, in which three digits or letters may stand by chance."""
SECRET = tuple(str(path) for path in Path(PACKAGE, "device").glob("*.py") if path.stem not in ("sealed", "entropy"))
"""What handles answers, but for these, which begin to, name a row or a file, and are given none."""
GIVEN_NONE = ("perturb_many", "check_many", "_each", "__init__", "__str__", "__post_init__", "kind", "normal_form")


# --- searching ------------------------------------------------------------------------------------------------------------


@lru_cache(1 << 14)
def found_in(text: str, reading: bool = False) -> list[str]:
    """The answers in a text, each with what is around it; quotes, and quoted quotes, are left out. reading: as a definition is read."""
    plain, bare = (BASE64.sub("", re.sub(r"[\\\"']", "", one.replace("\\n", " "))) for one in (text, BYTES.sub("b", text)))
    hits = [(plain, hit) for hit in WORDS.finditer(plain)]
    if not reading:
        hits += [(plain, hit) for hit in LABELS.finditer(plain)] + [(bare, hit) for hit in NUMBERS.finditer(bare)]
    return [one[max(0, hit.start() - 60) : hit.end() + 20] for one, hit in hits]


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An error with all that it came from, what is suppressed included."""
    waiting, seen = [error], set[int]()
    while waiting:
        if id(one := waiting.pop()) not in seen:
            seen.add(id(one))
            yield one
            waiting += [other for other in (one.__cause__, one.__context__) if other is not None]


def in_traceback(error: BaseException, theirs: tuple[str, ...] = (HERE,), frames: bool = True) -> list[str]:
    """What a traceback with all local variables shows: answers, and, unless told otherwise, frames in which answers are handled."""
    hits = []
    for one in chain_of(error):
        hits += found_in("".join([*traceback.format_exception_only(one), *getattr(one, "__notes__", [])]))
        under_seal = reading = False
        for frame, line in traceback.walk_tb(one.__traceback__):
            file, name = frame.f_code.co_filename, frame.f_code.co_name
            if file in theirs:
                continue
            hits += [f"{name}: {hit}" for key, value in frame.f_locals.items() for hit in found_in(f"{key} = {_shown(value)}", reading)]
            reading = reading or frame.f_code is READER
            if frames and ((file in SECRET and name not in GIVEN_NONE) or (under_seal and file != sealed.__file__)):
                hits.append(f"frame of {file}, line {line}, {name}")
            under_seal = file == sealed.__file__ and name == "__call__"
    return hits


def _shown(value: object) -> str:
    """As `traceback` shows a local variable with `capture_locals`; what was interrupted while it was made may have no repr."""
    try:
        return repr(value)
    except Exception:
        return "<broken repr>"


class Captured(Transport):
    """Sentry's transport: keeps what would be sent."""

    def __init__(self, options: dict[str, Any] | None = None) -> None:
        super().__init__(options)
        self.events: list[dict[str, Any]] = []

    def capture_envelope(self, envelope: Envelope) -> None:
        self.events += [item.payload.json for item in envelope.items if item.payload.json]


@contextmanager
def sentry() -> Iterator[Captured]:
    """sentry-sdk with its defaults, but for where it sends to."""
    with sentry_sdk.isolation_scope():
        captured = Captured()
        sentry_sdk.init("http://key@127.0.0.1:9/1", transport=captured)
        yield captured
        sentry_sdk.get_client().close(timeout=0)


def in_sentry(captured: Captured, error: BaseException) -> list[str]:
    """What Sentry's defaults send about an error."""
    captured.events.clear()
    sentry_sdk.capture_exception(error)
    if not captured.events:
        return ["Sentry captured nothing"]
    hits = []
    for event in captured.events:
        errors = event["exception"]["values"]
        for one in errors:
            reading = False
            for frame in one.get("stacktrace", {}).get("frames", []):
                if frame["abs_path"] != HERE:
                    shown = [json.dumps({key: value}, ensure_ascii=False) for key, value in frame["vars"].items()]
                    hits += [hit for text in shown for hit in found_in(text, reading)]
                reading = reading or (frame["abs_path"], frame["function"].split(".")[-1]) == (READER.co_filename, READER.co_name)
        told = [[one["type"], one["value"]] for one in errors]
        rest = {key: value for key, value in event.items() if key not in ("exception", "_meta", "event_id", "timestamp")}
        hits += [hit for part in (*told, rest) for hit in found_in(json.dumps(part, ensure_ascii=False))]
    return hits


class Log(logging.Handler):
    """All that is logged, formatted."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


# --- provoking ------------------------------------------------------------------------------------------------------------

Location = tuple[str, int, str]
"""A file, a line and what happens there: call or line."""


def _entered(function: Callable[..., Any]) -> range:
    """The lines of a function's head, and those two that put its argument under a seal: till then it has what its caller has."""
    first = function.__code__.co_firstlineno
    lines = sorted({line for _, _, line in function.__code__.co_lines() if line})
    return range(first, lines[2] + 1)


def _unreachable() -> set[int]:
    """Lines that call nothing, so that no interrupt can come between an error and them, though a tracer can."""
    quiet = ("except ", "trace, error.__traceback__", "carried.__traceback__", "failure = carried.error", "error.args = ()")
    lines = Path(sealed.__file__).read_text().splitlines()
    start = next(i for i, line in enumerate(lines, 1) if "except CallersError as carried" in line)
    end = next(i for i, line in enumerate(lines, 1) if "raise failure" in line)
    return {i for i in range(start, end) if lines[i - 1].strip().startswith(quiet)}


EXEMPT = {
    (file, line)
    for file, lines in (
        (SurveyClient.submit.__code__.co_filename, _entered(SurveyClient.submit)),
        (SurveyClient.submit.__code__.co_filename, _entered(SurveyClient.submit_many)),
        (SurveySession.submit.__code__.co_filename, _entered(SurveySession.submit)),
        (SurveySession.submit.__code__.co_filename, _entered(SurveySession.perturb)),
        (sealed.__file__, _unreachable()),
    )
    for line in lines
}


@dataclass
class Tracer:
    """Notes every call and line of the package, and raises `error` at the given hit of the target."""

    target: Location | None = None
    hit: int = 1
    error: BaseException | None = None
    seen: Counter[Location] = field(default_factory=Counter)

    def __call__(self, frame: types.FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return None
        if event in ("call", "line") and (frame.f_code.co_filename, frame.f_lineno) not in EXEMPT:
            location = (frame.f_code.co_filename, frame.f_lineno, event)
            self.seen[location] += 1
            if location == self.target and self.seen[location] == self.hit and self.error is not None:
                raise self.error
        return self

    @contextmanager
    def tracing(self) -> Iterator[None]:
        before = sys.gettrace()
        sys.settrace(self)
        threading.settrace(self)  # what is sent in the background is provoked, too
        try:
            yield
        finally:
            sys.settrace(before)
            threading.settrace(None)  # type: ignore[arg-type]


class Alarm(Tracer):
    """Interrupts by a signal after some seconds, wherever that is."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    @contextmanager
    def tracing(self) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_REAL, self.seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)


ERRORS: tuple[Callable[[], BaseException], ...] = (
    KeyboardInterrupt,
    MemoryError,
    partial(SystemExit, 3),
    partial(OSError, 28, "No space left on device"),
    partial(sqlite3.OperationalError, "database is locked"),
    partial(RuntimeError, "a bug"),
)

Act = Callable[[SurveyClient, Path], Any]


def _rows(n: int = 7) -> Iterator[dict[str, Any]]:
    for _ in range(n):
        yield dict(ANSWERS)


def _wrong() -> Iterator[dict[str, Any]]:
    yield dict(ANSWERS)
    yield {**ANSWERS, "bird": "CANARY", "age": 736.125e9, "CANARY": 1}


def _breaking() -> Iterator[dict[str, Any]]:
    yield from _rows(3)
    raise ValueError("the caller's")


class Hostile(dict[str, Any]):
    """A mapping whose own code raises what it holds."""

    def get(self, key: str, default: Any = None) -> Any:
        if key == "age":
            raise KeyError("CANARY", dict(self))
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        return key != "age" and super().__contains__(key)


@cache
def _table() -> pd.DataFrame:
    return pd.DataFrame([CELLS] * 7)


@cache
def _text() -> str:
    return _table().to_csv(index=False)


def _csv(folder: Path, text: str | None = None) -> Path:
    path = folder / "answers.csv"
    path.write_text(_text() if text is None else text)
    return path


def _semicolons(folder: Path) -> Path:
    path = folder / "answers.txt"
    path.write_bytes(_table().to_csv(index=False, sep=";").encode("utf-16"))
    return path


@cache
def _polars() -> polars.DataFrame:
    return polars.DataFrame([CELLS] * 7)


def _columns(folder: Path) -> Path:
    _polars().write_parquet(folder / "answers.parquet", row_group_size=2)
    return folder / "answers.parquet"


def _workbook(folder: Path) -> Path:
    """A cell of another column makes openpyxl warn, which quotes it."""
    book = openpyxl.Workbook()
    for row in [[*CELLS, "note"], *([*CELLS.values(), 98765432101234] for _ in range(7))]:
        book.active.append(row)
    book.active.cell(2, len(CELLS) + 1).number_format = "yyyy-mm-dd"
    book.save(folder / "answers.xlsx")
    return folder / "answers.xlsx"


def _keyed() -> list[dict[str, Any]]:
    return [{**ANSWERS, "staff": f"staff-{n}"} for n in range(7)]


def _jsonl(folder: Path) -> Path:
    path = folder / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, _rows())))
    return path


def _command(client: SurveyClient, folder: Path, *words: str, stdin: str | None = None) -> None:
    before = sys.stdin
    if stdin is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()))
    try:
        words = ("submit", f"{client.url}/s/canaries", "--outbox", str(folder / "box"), *words)
        made = cli.main.make_context("deniable", list(words))
        with made:
            super(type(cli.main), cli.main).invoke(made)  # without turning errors into exit codes
    finally:
        sys.stdin = before


def _cp1252(folder: Path) -> Path:
    path = folder / "answers.csv"
    path.write_bytes((_text() + "CANARY\xe9,tRuE\n").encode("cp1252"))
    return path


def _not(path: Path) -> Path:
    path.write_bytes(b"PK\x03\x04PAR1 smokes,bird\nCANARY,b377\n")
    return path


def _formula(folder: Path) -> Path:
    book = openpyxl.Workbook()
    for row in [[*CELLS], [*list(CELLS.values())[:-1], '="CANARY"'], ['="CANARY"', *list(CELLS.values())[1:]]]:
        book.active.append(row)
    book.save(folder / "answers.xlsx")
    return folder / "answers.xlsx"


ACTS: dict[str, Act] = {
    "one": lambda client, folder: client.submit("canaries", ANSWERS),
    "a session": lambda client, folder: client.survey("canaries").submit(ANSWERS),
    "perturbed, then sent": lambda client, folder: (session := client.survey("canaries")).send(session.perturb(ANSWERS)),
    "one, by column": lambda client, folder: client.submit("canaries", {k: v for k, v in CELLS.items() if k != "clinic"}),
    "dicts": lambda client, folder: client.submit_many("canaries", list(_rows()), batch=3),
    "generator": lambda client, folder: client.submit_many("canaries", _rows(), batch=3),
    "generator, as a job": lambda client, folder: client.submit_many("canaries", _rows(), batch=3, job="j"),
    "frame": lambda client, folder: client.submit_many("canaries", _table(), batch=4),
    "csv": lambda client, folder: client.submit_many("canaries", _csv(folder), batch=3),
    "csv, all at once": lambda client, folder: client.submit_many("canaries", _csv(folder)),
    "open csv": lambda client, folder: client.submit_many("canaries", io.StringIO(_csv(folder).read_text()), batch=3),
    "jsonl": lambda client, folder: client.submit_many("canaries", _jsonl(folder), batch=3),
    "semicolons in UTF-16": lambda client, folder: client.submit_many("canaries", _semicolons(folder), batch=3),
    "parquet": lambda client, folder: client.submit_many("canaries", _columns(folder), batch=3),
    "workbook": lambda client, folder: client.submit_many("canaries", _workbook(folder), batch=3),
    "frame of polars": lambda client, folder: client.submit_many("canaries", _polars(), batch=3),
    "rows by their keys": lambda client, folder: client.submit_many("canaries", _keyed(), batch=3, row_key="staff"),
    "groups": lambda client, folder: client.submit_many("grouped", _table(), group_column="clinic"),
    "command": lambda client, folder: _command(client, folder, "--batch", "3", str(_csv(folder))),
    "command, stdin": lambda client, folder: _command(client, folder, "-", stdin=_text()),
}
"""What goes well, unless something is provoked."""

WRONG: dict[str, Act] = {
    "wrong answers": lambda client, folder: client.submit(
        "canaries", {**ANSWERS, "bird": "CANARY", "drugs": ["CANARY"], "CANARY": "CANARY"}
    ),
    "a series": lambda client, folder: client.submit("canaries", pd.Series(["b377", "CANARY"], index=["bird", "CANARY"])),
    "pairs": lambda client, folder: client.submit("canaries", list(ANSWERS.items())),
    "a text": lambda client, folder: client.submit("canaries", "CANARY"),
    "a hostile mapping": lambda client, folder: client.submit("canaries", Hostile(ANSWERS)),
    "hostile rows": lambda client, folder: client.submit_many("canaries", (Hostile(row) for row in _rows())),
    "wrong rows": lambda client, folder: client.submit_many("canaries", list(_wrong())),
    "wrong rows of a generator": lambda client, folder: client.submit_many("canaries", _wrong()),
    "a generator that breaks": lambda client, folder: client.submit_many("canaries", _breaking(), batch=2),
    "rows in a text": lambda client, folder: client.submit_many("canaries", "bird\nCANARY\n"),
    "a column of a frame": lambda client, folder: client.submit_many("canaries", _table()["bird"]),
    "a whole number that is too long": lambda client, folder: client.submit("canaries", {**ANSWERS, "bird": 377 * 10**5000}),
    "a file without a header": lambda client, folder: client.submit_many("canaries", _csv(folder, "CANARY,tRuE\nb377,tRuE\n")),
    "a file that is not UTF-8": lambda client, folder: client.submit_many(
        "canaries", io.TextIOWrapper(io.BytesIO(b"smokes\nCANARY\xff"), "utf-8")
    ),
    "a broken file": lambda client, folder: client.submit_many("canaries", _csv(folder, _text() + '"tRuE"CANARY,\n')),
    "an unknown column": lambda client, folder: client.submit_many("canaries", list(_rows()), columns={"others": "bird"}),
    "a file in another encoding": lambda client, folder: client.submit_many("canaries", _cp1252(folder)),
    "a workbook that is none": lambda client, folder: client.submit_many("canaries", _not(folder / "answers.xlsx")),
    "a file of columns that is none": lambda client, folder: client.submit_many("canaries", _not(folder / "answers.parquet")),
    "a formula": lambda client, folder: client.submit_many("canaries", _formula(folder)),
    "a key that is twice": lambda client, folder: client.submit_many("canaries", [*_keyed(), *_keyed()[:1]], batch=3, row_key="staff"),
    "command, wrong answers": lambda client, folder: _command(client, folder, str(_csv(folder, _text() + "CANARY,1,2\n"))),
}
"""What goes wrong by itself."""

REPLIES: dict[str, Fault | None] = {
    "dead": Fault(),
    "503": Fault(status=503),
    "403": Fault(status=403, body=b'{"detail": "closed"}'),
    "another page": Fault(status=200, body=b"<html>"),
}


@dataclass(frozen=True)
class Scenario:
    """Something that is done while the server replies with `reply` to every submission."""

    name: str
    act: Act
    reply: Fault | None = None
    fetches: bool = False

    def run(self, server: Server, tracer: Tracer) -> BaseException | None:
        """The error that came of it."""
        with tempfile.TemporaryDirectory(dir=MEMORY, ignore_cleanup_errors=True) as name, ExitStack() as stack:
            folder = Path(name)
            client = SurveyClient(server.url, outbox=folder / "outbox", retries=1, key=server.key)
            stack.callback(_closed, client)
            stack.enter_context(patch.dict(os.environ, {"DENIABLE_KEY": server.key}))
            if not self.fetches:
                client._surveys = {survey.id: survey for survey in (SURVEY, GROUPED)}
            server.faults.clear()
            server.faults.extend([self.reply] * 40 if self.reply else [])
            try:
                with tracer.tracing():
                    self.act(client, folder)
            except BaseException as error:
                return error
            return None


def _closed(client: SurveyClient) -> None:
    with suppress(Exception):
        client.close()


SCENARIOS = [
    Scenario("one, by a new client", ACTS["one"], fetches=True),
    Scenario("csv, by a new client", ACTS["csv"], fetches=True),
    *(Scenario(name, act) for name, act in {**ACTS, **WRONG}.items()),
    *(Scenario(f"{name}, {said}", act, reply) for said, reply in REPLIES.items() for name, act in ACTS.items()),
]


# --- broken on purpose ----------------------------------------------------------------------------------------------------


def _ours(function: types.FunctionType, module: types.ModuleType) -> types.FunctionType:
    """The function as if the module had it: its frames are the client's."""
    code = function.__code__.replace(co_filename=str(module.__file__))
    return types.FunctionType(
        code, {**vars(module), **function.__globals__}, function.__name__, function.__defaults__, function.__closure__
    )


def _holds_a_batch() -> None:
    """The rows' categories stay in the frame that sends."""
    made = perturb._submissions

    def held(survey: Survey, public: Any, batch: Any) -> list[Any]:
        class Shown(list[Any]):
            categories = batch.categories

            def __repr__(self) -> str:
                return f"Batch(categories={self.categories!r})"

        return Shown(made(survey, public, batch))

    perturb._submissions = held


def _shows_its_seal() -> None:
    sealed.Sealed.__repr__ = partial.__repr__  # type: ignore[method-assign]


def _keeps_the_frames() -> None:
    sealed.Sealed.__call__ = partial.__call__  # type: ignore[method-assign]


def _quotes_unknown_keys() -> None:
    def quoting(answers: Any, survey: Survey, public: Any) -> Any:
        raise AnswerError("\n".join(f"{name}: is no question of survey {survey.id}" for name in answers))

    perturb.perturb_one.__code__ = _ours(quoting, perturb).__code__  # type: ignore[attr-defined]


def _logs_an_answer() -> None:
    send = jobs.Bulk.send

    def logging_send(self: Any, part: Any, *rest: Any) -> None:
        logging.getLogger("deniable").debug("sending %s", "b377")
        send(self, part, *rest)

    jobs.Bulk.send = logging_send  # type: ignore[method-assign]


def _answers_reach_the_reader_of_definitions() -> None:
    def breaking(raw: bytes) -> Any:
        held = {"smokes": "tRuE", "bird": "b377"}  # noqa: F841
        raise RuntimeError("a bug")

    document.strict_json = _ours(breaking, document)


CONTROLS = {
    "holds a batch": _holds_a_batch,
    "shows its seal": _shows_its_seal,
    "keeps the frames": _keeps_the_frames,
    "quotes unknown keys": _quotes_unknown_keys,
    "logs an answer": _logs_an_answer,
    "answers reach the reader of definitions": _answers_reach_the_reader_of_definitions,
}


# --- all of it ------------------------------------------------------------------------------------------------------------


def paths(server: Server, rng: random.Random) -> Iterator[tuple[Scenario, Tracer]]:
    """Every scenario as it is; then, without end, a scenario with an error of some kind at a line of it, those first that had none yet."""
    yield from ((scenario, Tracer()) for scenario in SCENARIOS)
    lines: dict[str, Counter[Location]] = {}
    had = Counter[Location]()
    while True:
        for scenario in rng.sample(SCENARIOS, len(SCENARIOS)):
            if scenario.name not in lines:
                dry = Tracer()
                scenario.run(server, dry)
                lines[scenario.name] = dry.seen
            for _ in range(8):
                location, hits = min(rng.sample(sorted(lines[scenario.name].items()), 20), key=lambda found: had[found[0]])
                had[location] += 1
                yield scenario, Tracer(location, rng.choice([1, hits, rng.randint(1, hits)]), rng.choice(ERRORS)())


def search(count: int, seed: int = 0) -> dict[str, Any]:
    """Goes `count` error paths, or as many as it takes to find an answer where that is 0; what came of them, and what was found."""
    result: dict[str, Any] = {"paths": 0, "without an error": 0, "ignored": 0, "errors": Counter(), "places": 0, "hits": []}
    ssl.create_default_context = cache(ssl.create_default_context)  # a third of the time goes into reading certificates
    places, log, ignored = set(), Log(), list[BaseException]()
    transport.sleep = lambda seconds: None  # type: ignore[assignment]
    logging.getLogger().addHandler(log)
    logging.getLogger().setLevel(logging.DEBUG)
    sys.unraisablehook = lambda found: ignored.append(found.exc_value or KeyboardInterrupt())  # an error while a generator is dropped
    with serving(SURVEY, GROUPED) as server, sentry() as captured:
        for scenario, tracer in paths(server, random.Random(seed)):
            faulthandler.dump_traceback_later(120, exit=True)
            log.lines.clear()
            error = scenario.run(server, tracer)
            hits = {"log": found_in("\n".join(log.lines)), "ignored": [hit for one in ignored for hit in in_traceback(one, frames=False)]}
            result["ignored"] += len(ignored)
            ignored.clear()
            if error is None:
                result["without an error"] += 1
            else:
                result["paths"] += 1
                result["errors"][type(error).__name__] += 1
                places.add(tracer.target)
                hits |= {"traceback": in_traceback(error), "sentry": in_sentry(captured, error)}
            where = f"{scenario.name}, {type(tracer.error).__name__} at {tracer.target}, hit {tracer.hit}"
            result["hits"] += [f"{way}: {where}: {hit}" for way, found in hits.items() for hit in found]
            if result["paths"] >= (count or 300) or (result["hits"] and count == 0):
                break
    return {**result, "places": len(places)}


def search_by_signals(count: int, seed: int = 0) -> dict[str, Any]:
    """Interrupts `count` submissions at some moment; what came of them, and what tracebacks show."""
    result: dict[str, Any] = {"errors": Counter(), "hits": []}
    rng = random.Random(seed)
    transport.sleep = lambda seconds: None  # type: ignore[assignment]
    sys.unraisablehook = lambda found: None
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    with serving(SURVEY, GROUPED) as server:
        while result["errors"].total() < count:
            scenario = rng.choice([one for one in SCENARIOS if one.name in ACTS])
            faulthandler.dump_traceback_later(120, exit=True)
            error = None
            with suppress(KeyboardInterrupt):  # one that comes late
                error = scenario.run(server, Alarm(rng.uniform(1e-5, 0.05)))
            if error is not None and (place := _where(error)) and place not in EXEMPT:
                result["errors"][type(error).__name__] += 1
                result["hits"] += [f"signal: {scenario.name}: {hit}" for hit in in_traceback(error)]
    return result


def _where(error: BaseException) -> tuple[str, int] | None:
    """Where an error came from; None if it was in none of our frames."""
    places = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    return places[-1] if any(file.startswith(PACKAGE) for file, _ in places) else None


def found_in_control(broken: str) -> int:
    """How many answers are found where a client is broken, as soon as there are any."""
    CONTROLS[broken]()
    return len(search(0)["hits"])


def controls() -> dict[str, int]:
    """The same for each of `CONTROLS`, in a process of its own, which begins with what is imported here and has broken nothing else."""
    found = {}
    for broken in CONTROLS:
        with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as fresh:
            found[broken] = fresh.submit(found_in_control, broken).result()
    return found


if __name__ == "__main__":
    first, *rest = sys.argv[1:]
    with redirect_stdout(io.StringIO()):  # what commands say
        if first == "controls":
            in_controls = controls()
        else:
            found = search_by_signals(int(rest[0])) if first == "signals" else search(int(first))
    if first == "controls":
        print(json.dumps(in_controls))
        sys.exit()
    print(json.dumps({**found, "found": len(found["hits"]), "hits": found["hits"][:20]}, indent=2, ensure_ascii=False))
    sys.exit(bool(found["hits"]))
