"""A folder is a sentence, and this test says it: who may import whom, who may read, write or toss a coin, and where answers may be.

The tables below are drawn in docs/why/architecture.md, which is compared with them.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import deniable
import deniable_server
from deniable.survey.types import TYPES

PACKAGES = {"deniable": Path(deniable.__file__).parent, "deniable_server": Path(deniable_server.__file__).parent}
PAGE = Path(__file__).parents[1] / "docs" / "why" / "architecture.md"

ROOMS = {
    "errors": ("exceptions", ""),
    "extras": ("optional dependencies, and what they need to run quietly", "errors"),
    "lazy_group": ("groups of commands that are imported when they are called", ""),
    "archive": ("zip archives that depend only on their content", ""),
    "mechanism": ("randomized response: what a question's coins do to an answer", ""),
    "survey": ("survey files and definitions, parsed and validated", "errors mechanism"),
    "forms": ("import of forms: XLSForm, LimeSurvey, Qualtrics", "errors extras survey"),
    "translation_files": ("files for translators: a survey's texts as a table, and its import", "errors extras survey"),
    "topics": ("sample surveys", ""),
    "scales": ("question library: validated scales that are free to use", "survey"),
    "privacy": ("privacy accounting: losses, posteriors, shuffling, each person's ledger", "errors extras mechanism survey"),
    "wire": ("wire format: records, submissions, tallies, links, codes", "errors survey"),
    "device/redacted": ("placeholder for an argument that must not be shown", ""),
    "device/sources/file": ("a file of rows: its name and format; opened elsewhere", "device/redacted"),
    "device": (
        "everything that ever holds a true answer",
        "errors extras mechanism survey privacy wire device/sources/file",
    ),
    "delivery": ("delivery of perturbed records, each exactly once", "errors survey privacy wire"),
    "estimate": ("estimators and their confidence intervals", "errors extras archive mechanism survey wire"),
    "bundle": ("downloads of a survey that may be published", "errors extras archive mechanism survey privacy wire estimate"),
    "exported": ("exports in Parquet, counted by one process or by many", "errors extras survey wire"),
    "simulate": ("simulated respondents, perturbed as real ones are", "errors survey wire device"),
    "plan": ("planning: precision, power, and the price of privacy", "errors extras mechanism survey privacy estimate"),
    "verify": ("verification of a served page against the release", "errors extras survey wire"),
    "sdk": ("the Python client", "errors survey privacy wire device device/redacted device/sources/file delivery estimate plan"),
    "deniable": ("the public names", "errors mechanism survey wire device device/sources/file delivery sdk"),
    "demo": ("demonstration from publishing to estimates, with an old survey's real answers", "errors survey wire estimate sdk"),
    "cli": (
        "the command line",
        "errors extras lazy_group survey forms translation_files topics privacy wire device/sources/file delivery estimate exported plan "
        "verify sdk",
    ),
}
"""Every room of the library, from the ground up: what it is, and the rooms that it may import."""

SERVER = {
    "server/config": ("configuration", ""),
    "server/paths": ("where pages and files are", "deniable"),
    "server/temporary_folder": ("temporary folders, deleted when their process has ended", ""),
    "server/store": ("storage: what any database must do", "errors extras survey wire server/config"),
    "server/store/sql": ("storage in the SQL that every database speaks", "survey wire server/config server/store"),
    "server/store/sqlite": ("SQLite: connections, migrations, backups", "server/store server/store/sql"),
    "server/store/postgres": ("PostgreSQL: connections, migrations, settings", "server/store server/store/sql"),
    "server/store/moving": (
        "move between SQLite and PostgreSQL, while servers run",
        "extras server/config server/store server/store/sql server/store/sqlite server/store/postgres",
    ),
    "server/context": ("the services of an application", "server/config server/store"),
    "server/web": ("what every page shares", "errors survey privacy wire verify server/paths server/store server/context"),
    "server/front": ("between the network and the application", "server/temporary_folder server/web"),
    "server/respondents": ("respondents' pages", "survey privacy wire server/store server/context server/web"),
    "server/pages": ("building blocks of researchers' pages", "survey estimate plan server/store server/web"),
    "server/identity": (
        "who you are: accounts, teams, login, sessions",
        "errors survey server/store server/context server/web server/pages",
    ),
    "server/access": (
        "who may answer or call: invitations and API keys",
        "survey wire server/store server/context server/web server/pages server/identity",
    ),
    "server/results": (
        "what pages, API and commands compute from counted records",
        "errors survey wire estimate bundle plan server/store server/web",
    ),
    "server/drafts": (
        "surveys that are being written",
        "errors extras survey forms topics scales translation_files privacy wire plan server/store server/context server/web server/pages "
        "server/identity",
    ),
    "server/public": (
        "pages of public results",
        "survey privacy estimate server/store server/context server/web server/pages server/results",
    ),
    "server/ethics": (
        "documents for ethics boards",
        "errors extras survey privacy estimate bundle plan server/store server/context server/web server/pages server/drafts",
    ),
    "server/studies": (
        "copies, waves and tags of surveys",
        "errors survey server/store server/context server/web server/pages server/drafts",
    ),
    "server/trials": (
        "test runs, simulations and the sample study",
        "errors survey wire server/store server/context server/web server/temporary_folder server/pages server/access server/results "
        "server/drafts",
    ),
    "server/api": (
        "the HTTP API",
        "errors extras survey wire server/config server/store server/context server/web server/identity server/access server/results",
    ),
    "server/researchers": (
        "pages of published surveys",
        "errors extras survey wire privacy estimate bundle plan server/store server/context server/web server/pages server/identity "
        "server/paths server/results server/drafts server/trials server/api",
    ),
    "server": (
        "the application",
        "server/config server/paths server/store server/context server/web server/respondents server/identity server/access "
        "server/drafts server/studies server/public server/ethics server/trials server/api server/researchers",
    ),
    "server/operate": (
        "commands and processes for operators",
        "errors extras lazy_group survey wire exported verify server server/config server/store server/store/moving server/context "
        "server/web server/temporary_folder server/front server/pages server/identity server/access server/results server/drafts "
        "server/trials server/api",
    ),
}
"""The server's rooms, likewise. None may import what holds answers or tosses coins."""

EVERY = {**ROOMS, **SERVER}

DOORS = {
    "server/store/__init__.py": "server/store/sqlite server/store/postgres",  # it opens a store, and imports that kind then
    "server/results/simulated.py": "simulate",  # simulated people, before the records of real ones are shown
    "__main__.py": "cli",
    "cli/estimate.py": "device",  # reports in a table, which are no answers
    "delivery/jobs.py": "device",  # it runs what perturbs rows, and sees the submissions
    "delivery/account.py": "device",  # it charges the persons of rows that are about to be perturbed
    "delivery/row_keys.py": "device",  # it takes the rows away that were sent before
}
"""Files that may import a room besides."""

PURE = ("errors", "mechanism", "survey", "wire", "device", "estimate", "simulate", "plan", "privacy")
READERS = {
    "survey/document.py": {"open"},  # a survey file
    "device/sources/__init__.py": {"os"},  # whether there is a file of that name
    "device/sources/file_rows.py": {"os", "open"},  # how large a file of answers is, when it was changed, and how it begins
    "device/sources/text_rows.py": {"open"},  # it is read
    "device/entropy.py": {"os", "ssl"},  # ssl: OpenSSL's generator, behind a key of the system's
    "device/perturb.py": {"secrets"},  # the code that withdraws
    "estimate/tables/bootstrap.py": {"np.random"},  # surveys drawn as a hypothesis says, always the same ones
    "estimate/present/chart.py": {"write_text"},  # a picture, where its caller names a file
    "estimate/present/tabular.py": {"open"},  # a table, likewise
    "simulate.py": {"np.random"},  # who the made-up people are
    "privacy/claims.py": {"read_text"},  # the table of claims, which the browser's page has too
    "privacy/ledger.py": {"os", "sqlite3", "secrets"},
    "privacy/private_files.py": {"open", "os", "sqlite3", "threading"},  # the ledger and the outbox, for their owner alone
}
"""In pure rooms no file does input or output, but for these."""

IO = {"asyncio", "ctypes", "http", "httpx", "logging", "multiprocessing", "os", "requests", "secrets", "shutil", "signal", "socket"}
IO |= {"sqlite3", "ssl", "subprocess", "tempfile", "threading", "urllib.request", "warnings", "io.open", "io.FileIO"}
CALLS = {"open", "print", "input", "breakpoint", "exec", "eval"}
METHODS = {"read_text", "read_bytes", "write_text", "write_bytes", "open", "tofile", "fromfile", "savetxt", "loadtxt"}
RANDOM = {"random", "numpy.random", "np.random", "os.urandom", "secrets", "uuid", "time"}
SYSTEMS = {"os.urandom", "ssl.RAND_bytes", "ssl.RAND_add"}
TYPE_NAMES = set(TYPES)

PUBLIC = [
    *(
        "AnswerError",
        "Channel",
        "DeliveryError",
        "DeniableError",
        "EstimateError",
        "File",
        "MissingExtraError",
        "Question",
        "Receipt",
        "RefusedError",
        "RefusedSubmission",
        "RejectedError",
        "RejectedRow",
        "ResendResult",
    ),
    *("Submission", "SubmissionError", "SubmissionReport", "Survey", "SurveyClient", "SurveyError", "SurveySession", "SurveySummary"),
    *("Tally", "UnsentSubmission"),
    *("encode", "encode_column", "os_words", "pack", "randomize", "unpack"),
]


# --- reading the source ---------------------------------------------------------------------------------------------


@cache
def sources() -> Mapping[str, str]:
    """Every Python file: of the library by its path there, of the server behind `server/`; and its text."""
    found = {}
    for package, folder in PACKAGES.items():
        start = "" if package == "deniable" else "server/"
        found.update(
            {start + path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.py"))}
        )
    return found


@cache
def browser_modules() -> Mapping[str, str]:
    """Every module of the browser's, by its path, and its text."""
    folder = PACKAGES["deniable"] / "browser"
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.mjs"))}


@cache
def our_modules() -> frozenset[str]:
    return frozenset(map(module_of, sources()))


@cache
def nodes(source: str) -> tuple[ast.AST, ...]:
    """All nodes of the tree that a source text is, for the rules, each of which looks through all of them."""
    return tuple(ast.walk(ast.parse(source)))


@pytest.fixture(scope="module", autouse=True)
def and_no_longer() -> Iterator[None]:
    """The trees of all files are two million objects, which every collection of garbage would look through."""
    yield
    nodes.cache_clear()


def module_of(file: str) -> str:
    name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    if name in ("__init__", "server.__init__"):
        name = name.removesuffix("__init__").removesuffix(".")
    return f"deniable_{name}" if name.split(".")[0] == "server" else f"deniable.{name}".removesuffix(".")


def room_of(module: str) -> str:
    """The innermost room that a module is in."""
    parts = module.replace("deniable_server", "server").removeprefix("deniable.").split(".")
    rooms = ["/".join(parts[:length]) for length in range(len(parts), 0, -1)]
    return next((room for room in rooms if room in EVERY), "deniable")


def imported(source: str) -> set[str]:
    """The full names of all that a source text imports, modules and what is in them, inside functions too."""
    names = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            names |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@cache
def modules_imported(source: str) -> frozenset[str]:
    """Our modules that a source text imports: a package itself only where something is taken that is no module of it."""
    known: frozenset[str] = our_modules()
    found: set[str] = set()
    for node in nodes(source):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= full | ({str(node.module)} if full - known else set())
    return known & found


# --- the rules: each takes a file and its text, and yields what breaks it ---------------------------------------------


def edges(file: str, source: str) -> Iterator[str]:
    """Rooms that the file's room may not import."""
    room = room_of(module_of(file))
    allowed = {room, *EVERY[room][1].split(), *DOORS.get(file, "").split()}
    yield from sorted({room_of(module) for module in modules_imported(source)} - allowed)


def input_or_output(file: str, source: str) -> Iterator[str]:
    """Whatever reads or writes in a room that is pure."""
    if room_of(module_of(file)) not in PURE:
        return
    allowed = READERS.get(file, set())
    yield from sorted(name for name in imported(source) if {name, name.split(".")[0]} & IO and name.split(".")[0] not in allowed)
    for node in nodes(source):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if (name in CALLS and name not in allowed) or (method in METHODS and not allowed & {"open", method}):
                yield name or method


def randomness(file: str, source: str) -> Iterator[str]:
    """Any source of randomness but the operating system's, and that one anywhere but where words for coins come from."""
    allowed = READERS.get(file, set()) if room_of(module_of(file)) in PURE else {"os", "secrets", "time", "threading", "uuid"}
    for name in sorted(imported(source)):
        if any(name == one or name.startswith(f"{one}.") for one in RANDOM) and name.split(".")[0] not in allowed:
            yield name
    for node in nodes(source):
        if isinstance(node, ast.Attribute) and ast.unparse(node) in {"np.random", "numpy.random"} - allowed:
            yield ast.unparse(node)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in SYSTEMS and file != "device/entropy.py":
            yield ast.unparse(node)


def names_of_types(file: str, source: str) -> Iterator[str]:
    """Questions after a type's name, anywhere but where types are."""
    if file.startswith("survey/types/"):
        return
    for node in nodes(source):
        if isinstance(node, ast.Compare | ast.MatchValue):
            asked = ast.unparse(node)
            named = {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)} & TYPE_NAMES
            if named and ("type" in asked or "kind" in asked):
                yield asked
    types = {f"deniable.survey.types.{name}" for name in TYPE_NAMES}
    yield from sorted(name for name in imported(source) if name in types)


TYPE_IN_QUOTES = re.compile(rf"""(["'`])(?:{"|".join(sorted(TYPE_NAMES))})\1""")
ONE_TYPE = re.compile(r"""["']\.{1,2}/types/(?!base\.mjs)""")


def names_of_types_in_the_browser(file: str, source: str) -> Iterator[str]:
    """The same in a browser's module: a type's name in quotes or the module of one type, anywhere but in `types/` and their table."""
    if file == "types.mjs" or file.startswith("types/"):
        return
    code = re.sub(r"/\*.*?\*/|//[^\n]*", "", source, flags=re.DOTALL)
    for line in re.sub(r'typeof [\w.]+ [!=]== "number"', "", code).splitlines():  # a type of JavaScript's
        if TYPE_IN_QUOTES.search(line) or ONE_TYPE.search(line):
            yield line.strip()


def a_seed(file: str, source: str) -> Iterator[str]:
    """Arguments from which noise could be computed again."""
    if room_of(module_of(file)) in ("mechanism", "survey", "device", "wire", "delivery", "sdk"):
        yield from (node.arg for node in nodes(source) if isinstance(node, ast.arg) and "seed" in node.arg)


Rule = Callable[[str, str], Iterator[str]]
RULES: tuple[Rule, ...] = (edges, input_or_output, randomness, names_of_types, a_seed)


def broken(rule: Rule, files: Mapping[str, str]) -> dict[str, list[str]]:
    return {file: found for file, text in files.items() if (found := list(rule(file, text)))}


# --- what holds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_every_file_keeps_to_its_room(rule: Rule) -> None:
    assert broken(rule, sources()) == {}


def test_only_the_folder_of_types_asks_for_the_type_of_a_question_in_the_browser() -> None:
    assert broken(names_of_types_in_the_browser, browser_modules()) == {}


def test_every_question_type_is_one_file_in_each_language() -> None:
    assert {file for file in browser_modules() if file.startswith("types/")} == {f"types/{name}.mjs" for name in (*TYPES, "base")}
    assert {f"survey/types/{name}.py" for name in TYPES} <= set(sources())


def test_every_file_is_in_a_room_and_every_room_has_files() -> None:
    assert {room_of(module_of(file)) for file in sources()} == set(EVERY)


def test_rooms_import_only_those_above_them_in_the_table_so_there_is_no_circle() -> None:
    order = list(EVERY)
    for room, (_, allowed) in EVERY.items():
        assert all(order.index(other) < order.index(room) for other in allowed.split()), room


def test_no_door_and_no_reader_is_left_open_for_nobody() -> None:
    files = sources()
    for file, rooms in DOORS.items():
        assert set(rooms.split()) <= {room_of(module) for module in modules_imported(files[file])}, file
    for file, allowed in READERS.items():
        assert all(name in files[file] for name in allowed), file


def test_all_that_holds_an_answer_is_short_enough_to_be_read() -> None:
    """What makes bits of answers by itself, and what only reads rows from files and frames, beside it."""
    device = {file: lines_of_code(text) for file, text in sources().items() if room_of(module_of(file)) == "device"}
    readers = sum(lines for file, lines in device.items() if file.startswith("device/sources/"))
    print(f"{sum(device.values()) - readers:,} lines of code, and {readers:,} of readers")
    assert 0 < sum(device.values()) - readers < 730
    assert 0 < readers < 500


def lines_of_code(source: str) -> int:
    """Lines with something other than a comment or a text that stands alone, such as a docstring."""
    words = {
        line
        for node in nodes(source)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }
    nothing = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return len({line for token in tokens if token.type not in nothing for line in range(token.start[0], token.end[0] + 1)} - words)


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circle({module_of(file): modules_imported(text) - {module_of(file)} for file, text in sources().items()}) == []


def circle(graph: dict[str, set[str]]) -> list[str]:
    """What is left when everything that imports nothing else that is left has been taken away, again and again."""
    left = dict(graph)
    while free := [name for name, others in left.items() if not others & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def test_a_circle_is_noticed() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == ["a", "b", "c", "d"]


# --- edits that must not pass -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "file", "line"),
    [
        (edges, "wire/tally.py", "from deniable.device.perturb import perturb"),
        (edges, "survey/survey.py", "def f():\n    from deniable.device import encode"),
        (edges, "estimate/__init__.py", "import deniable.device.tables"),
        (edges, "delivery/outbox.py", "from deniable.device.tables import Batch"),
        (edges, "delivery/sender.py", "from deniable import encode"),
        (edges, "cli/__init__.py", "from deniable.device import tables"),
        (edges, "plan/__init__.py", "from deniable.simulate import simulate"),
        (input_or_output, "estimate/__init__.py", "def f(path):\n    return open(path).read()"),
        (input_or_output, "estimate/__init__.py", "from pathlib import Path\nPath('a').read_text()"),
        (input_or_output, "wire/tally.py", "print('an answer')"),
        (input_or_output, "wire/record.py", "import logging"),
        (input_or_output, "survey/parse.py", "def f(answer):\n    print(answer)"),
        (input_or_output, "survey/document.py", "import sqlite3"),
        (input_or_output, "device/encode.py", "import os.path, socket"),
        (edges, "cli/submit.py", "from deniable.device import tables"),
        (input_or_output, "device/tables.py", "open('answers')"),
        (input_or_output, "device/tables.py", "from http.server import HTTPServer"),
        (randomness, "device/randomize.py", "import random"),
        (randomness, "device/randomize.py", "from numpy.random import default_rng"),
        (randomness, "device/randomize.py", "np.random.default_rng()"),
        (randomness, "device/randomize.py", "import os\nos.urandom(4)"),
        (randomness, "device/randomize.py", "from secrets import randbits"),
        (randomness, "device/tables.py", "os.urandom(4)"),
        (randomness, "delivery/sender.py", "import ssl\nssl.RAND_bytes(4)"),
        (randomness, "mechanism.py", "import time"),
        (names_of_types, "device/encode.py", "def f(question):\n    return question.type == 'number'"),
        (names_of_types, "survey/parse.py", "def f(kind):\n    return kind in ('yes_no', 'scale')"),
        (names_of_types, "estimate/__init__.py", "from deniable.survey.types.number import Number"),
        (a_seed, "sdk/client.py", "def submit(answers, seed=None): ..."),
        (edges, "verify/check.py", "from deniable_server.operate.released import fingerprints"),
        (edges, "server/api/v1.py", "from deniable import encode"),
        (edges, "server/api/v1.py", "from deniable.device.encode import encode"),
        (edges, "server/respondents/page.py", "from deniable.device.randomize import randomize"),
        (edges, "server/store/sqlite/store.py", "from deniable_server.web import errors"),
        (edges, "server/respondents/page.py", "from deniable_server.identity.sessions import current_user"),
    ],
)
def test_an_edit_that_breaks_a_rule_is_noticed(rule: Rule, file: str, line: str) -> None:
    source = sources()[file]
    assert set(rule(file, f"{source}\n{line}\n")) - set(rule(file, source))


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("words.mjs", 'if (question.type === "yes_no") return [];'),
        ("definition.mjs", "const long = ['choice', 'scale'].includes(type);"),
        ("consent.mjs", "switch (kind) { case `multi_choice`: break; }"),
        ("receipt.mjs", 'if (type === "number" && !source.bins) return "";'),
        ("questions.mjs", 'if (typeof low === "number" && type === "number") return fieldOf(element);'),
        ("encode.mjs", 'import { number } from "./types/number.mjs";'),
        ("form.mjs", 'await import("./types/scale.mjs");'),
    ],
)
def test_a_module_of_the_browser_that_asks_for_a_type_is_noticed(file: str, line: str) -> None:
    source = browser_modules()[file]
    rule = names_of_types_in_the_browser
    assert set(rule(file, f"{source}\n{line}\n")) - set(rule(file, source))


# --- what is public -----------------------------------------------------------------------------------------------------


def test_the_library_loads_without_scipy_pandas_flask_or_its_own_commands() -> None:
    heavy = ("scipy", "pandas", "flask", "deniable_server", "altair", "pyarrow", "openpyxl", "deniable.cli")
    script = f"import sys, deniable; print([name for name in {heavy!r} if name in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert loaded.strip() == "[]"


def test_a_server_starts_and_plans_are_loaded_without_scipys_functions() -> None:
    """They take a tenth of a second, a seventh of all that a start takes, and are loaded by the first who needs one."""
    script = "import sys, deniable.plan, deniable_server.operate.serve; print([n for n in sys.modules if n.startswith('scipy.special')])"
    loaded = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert loaded.strip() == "[]"


def test_every_public_name_is_exported_on_purpose() -> None:
    assert sorted(deniable.__all__) == sorted(PUBLIC)
    assert all(hasattr(deniable, name) for name in PUBLIC)


# --- the page -------------------------------------------------------------------------------------------------------------


def plan() -> str:
    """The table of rooms as docs/why/architecture.md has it."""
    rows = [
        f"| `{room}` | {what} | {' '.join(f'`{one}`' for one in allowed.split()) or 'nothing'} |" for room, (what, allowed) in EVERY.items()
    ]
    return "\n".join(["| room | what it is | may import |", "|---|---|---|", *rows])


def test_the_page_has_the_table_of_rooms() -> None:
    assert plan() in PAGE.read_text(encoding="utf-8")


WALKS = re.compile(r"^\d+\. `([^`]+)`", re.MULTILINE)


@pytest.mark.parametrize("walk", ["An answer, from `submit` to bytes", "A record, from POST to the estimate"])
def test_a_walk_goes_from_file_to_file_and_comes_to_none_twice(walk: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split(f"## {walk}\n")[1].split("\n## ")[0]
    steps = WALKS.findall(section)
    names = [step.partition("::")[::2] for step in steps]
    assert len(steps) > 4
    assert len({file for file, _ in names}) == len(steps)
    for file, name in names:
        assert re.search(rf"^\s*(?:async )?(?:def|class) {re.escape(name)}\b", sources()[file], re.MULTILINE), (file, name)
