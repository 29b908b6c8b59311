"""What `pip install deniable` leaves out is missed in one clear line."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from deniable import extras
from deniable.errors import DeniableError, MissingExtraError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FLOORS = {"scipy": "scipy>=1.13", "pandas": "pandas>=2.2", "formulaic": "formulaic>=1.1", "flask": "flask>=3.1"}


def python(*lines: str, without: str = "") -> subprocess.CompletedProcess[str]:
    """Runs the lines where the packages named `without` are not installed."""
    blocked = f"import sys; sys.modules.update(dict.fromkeys({without.split()!r}))"
    return subprocess.run([sys.executable, "-c", "\n".join([blocked, *lines])], capture_output=True, text=True)


def command(*words: str) -> str:
    return f"from deniable.cli import main; main({list(words)!r}, prog_name='deniable')"


@pytest.mark.parametrize("need", extras._PACKAGES)
def test_a_message_names_packages_that_the_project_asks_for(need: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    message = str(extras.missing("it", need))
    optional = PROJECT["optional-dependencies"]
    asked_for = {requirement.split(";")[0].strip() for lines in optional.values() for requirement in lines}
    command = message.removeprefix(f"it needs the extra {extras.extra_of(need)}: pip install ")
    assert extras.extra_of(need) in optional
    names = {re.match(r"[\w-]+(\[\w+\])?", rule)[0] for rule in shlex.split(command)}
    assert names <= {re.match(r"[\w.-]+(\[\w+\])?", rule)[0] for rule in asked_for}


@pytest.mark.parametrize("package", ["scipy", "pandas", "formulaic"])
def test_an_import_of_the_estimates_names_the_extra_and_shows_no_other_error(package):
    done = python("import deniable.estimate", without=package)
    assert done.stderr.splitlines()[-1].endswith(
        f"MissingExtraError: deniable.estimate needs the extra estimate: pip install '{FLOORS[package]}'"
    )
    assert "During handling" not in done.stderr
    assert issubclass(MissingExtraError, ModuleNotFoundError)
    assert issubclass(MissingExtraError, DeniableError)


@pytest.mark.parametrize(
    "run",
    [
        command("plan", "examples/anes1996.yaml", "--n", "100"),
        command("estimate", "README.md", "--column", "x", "--design", "warner", "--p", "0.7"),
    ],
)
def test_a_command_that_needs_an_extra_says_which_in_one_line(run):
    done = python(run, without="scipy pandas formulaic")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: deniable.")
    assert done.stderr.endswith("needs the extra estimate: pip install 'formulaic>=1.1' 'pandas>=2.2' 'scipy>=1.13'\n")
    assert done.stderr.count("\n") == 1


def test_a_workbook_is_written_without_openpyxl():
    done = python(
        "from deniable.estimate.present.table import Table",
        "from deniable.estimate.present.workbook import render",
        "print(render([Table('shares', ('option',), (('yes',),))])[:2])",
        without="openpyxl",
    )
    assert (done.stderr, done.stdout) == ("", "b'PK'\n")


def test_a_cluster_says_which_extra_it_needs():
    hidden = "import importlib.util as u; find = u.find_spec; u.find_spec = lambda name: None if name == 'distributed' else find(name)"
    done = python(hidden, "from deniable.exported import tally_of; tally_of(None, [])")
    assert done.stderr.splitlines()[-1].endswith(
        "MissingExtraError: a cluster needs the extra scale: pip install 'dask[distributed]>=2024.8'"
    )


@pytest.mark.slow
def test_an_account_of_privacy_needs_an_extra_for_shuffled_reports_only():
    sums = "print(privacy.sequential_composition([1, 1]))"
    done = python("from deniable import privacy", sums, "privacy.shuffling_bound(1, 1000)", without="scipy")
    assert done.stdout == "2.0\n"
    assert done.stderr.splitlines()[-1].endswith("deniable.privacy.shuffling needs the extra estimate: pip install 'scipy>=1.13'")


@pytest.mark.slow
@pytest.mark.parametrize("package", ["flask", "scipy"])
def test_the_server_says_so_too(package):
    done = python("from deniable.cli.server import main; main()", without=package)
    extra = "estimate" if package == "scipy" else "server"
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"needs the extra {extra}: pip install '{FLOORS[package]}'" in done.stderr


def test_the_server_says_on_windows_which_systems_it_needs():
    done = python("from deniable.cli.server import main; sys.platform = 'win32'; main()", without="uvloop resource fcntl")
    assert done.returncode == 1
    assert done.stderr == "Error: deniable-server needs Linux or macOS; `deniable`, the client, runs on Windows too\n"


@pytest.mark.slow
def test_the_control_with_all_that_they_need_they_run():
    for run in ("import deniable.estimate, deniable.plan", command("plan", "--help"), "from deniable.cli.server import main; main()"):
        done = python(run)
        assert done.returncode in (0, 2)
        assert "Error" not in done.stderr


def test_the_command_line_loads_nothing_that_only_estimates_need():
    done = python(
        "import deniable.cli, sys; print({'scipy', 'pandas', 'formulaic', 'pyarrow', 'openpyxl', 'polars', 'flask'} & {*sys.modules})"
    )
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("deniable.estimate", {"pandas", "formulaic", "scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.special", "numpy.testing"}),
        ("deniable_server.operate.cli", {"flask", "granian", "pandas", "pyarrow", "scipy", "deniable.estimate"}),
        ("deniable_server.operate.serve", {"pandas", "formulaic", "scipy.optimize", "scipy.sparse", "webauthn"}),
    ],
)
def test_what_only_some_estimates_and_some_accounts_need_comes_when_they_ask(module: str, heavy: set[str]):
    done = python(f"import {module}, sys; print({heavy} & {{*sys.modules}})")
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_a_bundle_needs_the_estimates_and_leaves_out_what_needs_more():
    done = python("import deniable.bundle", without="scipy")
    assert done.stderr.splitlines()[-1].endswith("MissingExtraError: deniable.bundle needs the extra estimate: pip install 'scipy>=1.13'")
    lines = (
        "from deniable.bundle import omitted_files",
        "from deniable.survey import Survey",
        "survey = Survey.from_file('examples/habits.yaml')",
        "print(sorted(omitted_files(survey, 10)))",
    )
    assert python(*lines).stdout == "[]\n"
    hidden = (
        "import importlib.util as u; find, absent = u.find_spec, ('pyarrow', 'docx', 'weasyprint')\n"
        "u.find_spec = lambda name: None if name in absent else find(name)"
    )
    assert python(hidden, *lines).stdout == "['report.docx', 'report.pdf', 'rows.parquet']\n"
