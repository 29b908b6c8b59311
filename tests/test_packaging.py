"""What users install: the wheel, in a clean environment, run from another folder, serves what the checkout serves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.kit.patience import PATIENCE
from tests.kit.servers.process import reserved, start

from deniable.survey import Survey
from deniable_server import Config, create_app, paths
from deniable_server.store import open_store

ROOT = Path(__file__).parents[1]
SURVEY = ROOT / "examples" / "anes1996.yaml"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
JOB = ROOT / "tests" / "installed" / "main_job.py"
WHEELS = Path(sys.prefix) / "wheels"  # what the server needs, fetched by `make test`
LOWEST = Path(sys.prefix) / "lowest"  # the same in the lowest versions


def run(*words: str | Path, cwd: Path, **environment: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    done = subprocess.run(list(map(str, words)), cwd=cwd, env={**clean, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


def environment(folder: Path, wheels: Path, *words: str | Path) -> Path:
    """Installs `words` from a folder of wheels into a new environment; returns the folder of its console scripts."""
    venv.create(folder / "env")
    scripts = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    pip = (sys.executable, "-m", "pip", "--python", scripts / "python")  # no other one has to be put there
    run(*pip, "install", "--quiet", "--no-compile", "--no-index", "--find-links", wheels, *words, cwd=folder)
    return scripts


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The console scripts of a clean environment that holds the wheel and its server extra."""
    assert WHEELS.is_dir(), f"`make test` fetches {WHEELS}, which is not there"
    return environment(tmp_path_factory.mktemp("newest"), WHEELS, f"{wheel}[server]")


@pytest.fixture
def url(installed: Path, tmp_path: Path) -> Iterator[str]:
    """A server run by the installed package, with the example survey."""
    server = installed / "deniable-server"
    run(server, "init", "--user", "ada", "--password-env", "SECRET", cwd=tmp_path, SECRET="correct horse battery")
    run(server, "publish", SURVEY, cwd=tmp_path)
    with reserved() as holder:
        port = holder.getsockname()[1]
        process = start([server, "serve", "--port", str(port)], port, tmp_path / "log", cwd=tmp_path)
        yield f"http://127.0.0.1:{port}"
        process.terminate()
        process.wait(timeout=PATIENCE)


@pytest.mark.slow
def test_the_installed_server_serves_the_pages_of_the_checkout(url: str, tmp_path: Path) -> None:
    store = open_store(tmp_path / "checkout.db")
    store.surveys.publish(Survey.from_file(SURVEY))
    checkout = create_app(Config(tmp_path / "checkout.db", "x" * 40), store).test_client()
    files = [f"/browser/{p.relative_to(paths.BROWSER).as_posix()}" for p in paths.BROWSER.rglob("*.*js")] + ["/browser/respond.mjs"]
    files += [f"/static/{p.name}" for p in paths.STATIC.iterdir()]
    pages = ["/s/anes1996", "/s/anes1996?lang=ar", "/api/v1/surveys/anes1996", "/login", "/nowhere", *files]
    assert len(files) >= 6
    with httpx.Client(base_url=url, timeout=PATIENCE) as http:
        for path in pages:
            ours, theirs = checkout.get(path, buffered=True), http.get(path)
            assert theirs.status_code == ours.status_code
            assert without_token(theirs.text) == without_token(ours.text), path
    store.close()


def without_token(page: str) -> str:
    return re.sub(r'name="csrf_token"[^>]*>', "", page)


@pytest.mark.slow
def test_a_device_that_only_submits_needs_no_scipy_flask_or_pandas(installed: Path, tmp_path: Path) -> None:
    code = "import sys, deniable; heavy = {'scipy', 'flask', 'pandas'} & set(sys.modules); sys.exit(f'imported {heavy}' if heavy else 0)"
    run(installed / "python", "-c", code, cwd=tmp_path)


@pytest.mark.slow
def test_the_installed_command_line_checks_a_survey(installed: Path, tmp_path: Path) -> None:
    printed = run(installed / "deniable", "check", SURVEY, cwd=tmp_path)
    assert Survey.from_file(SURVEY).digest in printed


@pytest.mark.slow
def test_the_wheel_holds_nothing_but_the_packages(installed: Path) -> None:
    site = next((installed.parent / "lib").glob("python*/site-packages"))
    ours = {p.name for p in site.iterdir() if p.name.startswith("deniable")}
    assert len(ours) == 3  # deniable, deniable_server and their metadata
    assert not (site / "templates").exists()
    assert (site / "deniable_server" / "templates" / "base.html").exists()
    assert (site / "deniable" / "py.typed").exists()


@pytest.mark.slow
def test_the_installed_server_has_every_chapter_of_the_guide(installed: Path, tmp_path: Path) -> None:
    code = "from deniable_server.researchers import guide; print(*(guide.chapter(name).name for name in guide.names()))"
    printed = run(installed / "python", "-I", "-c", code, cwd=tmp_path).split()
    files = {path.relative_to(paths.DOCS).with_suffix("").as_posix() for path in paths.DOCS.rglob("*.md")} - {"README"}
    assert set(printed) == files


@pytest.mark.slow
def test_an_installed_server_does_the_main_job_with_the_newest_versions(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "python", "-I", JOB, "server", cwd=tmp_path) == "ok server\n"


@pytest.mark.slow
def test_an_installed_server_does_the_main_job_with_the_lowest_versions(wheel: Path, tmp_path: Path) -> None:
    if not LOWEST.is_dir():
        pytest.skip(f"`make test` could not fetch the lowest versions for Python {sys.version_info.major}.{sys.version_info.minor}")
    (tmp_path / "outside").mkdir()
    scripts = environment(tmp_path, LOWEST, "--requirement", LOWEST / "pins.txt")
    run(sys.executable, "-m", "pip", "--python", scripts / "python", "install", "--quiet", "--no-index", "--no-deps", wheel, cwd=tmp_path)
    assert run(scripts / "python", "-I", JOB, "server", cwd=tmp_path / "outside") == "ok server\n"


@pytest.mark.slow
def test_an_installed_server_has_the_demo_and_its_examples(installed: Path, tmp_path: Path) -> None:
    printed = run(installed / "deniable-server", "demo", cwd=tmp_path)
    assert "An election study: 944 respondents" in printed
    assert "1996" in (tmp_path / "demo" / "results.html").read_text(encoding="utf-8")


def floors() -> set[tuple[str, str]]:
    """Every requirement of an installation: its name, and the rule for its versions with the marker."""
    wanted = [line for extra, lines in EXTRAS.items() if extra != "dev" for line in lines] + PROJECT["dependencies"]
    parts = [re.fullmatch(r"([\w.-]+(?:\[\w+\])?)(.*)", line) for line in wanted if not line.startswith("deniable[")]
    return {(part[1], part[2]) for part in parts if part}


def test_every_requirement_has_a_lowest_version_and_the_same_in_every_extra() -> None:
    assert len(floors()) > 20
    assert [name for name, rule in floors() if not rule.startswith(">=")] == []
    assert len({name for name, _ in floors()}) == len(floors())


def test_the_extra_all_has_every_other() -> None:
    assert set(EXTRAS["all"]) | {"deniable[estimate]"} == {f"deniable[{extra}]" for extra in EXTRAS.keys() - {"all", "dev"}}
    assert EXTRAS["dev"][0] == "deniable[all]"


def test_what_windows_does_not_have_is_not_asked_for_there() -> None:
    assert ("uvloop", ">=0.21; sys_platform != 'win32'") in floors()


def test_a_package_whose_private_parts_are_used_has_an_upper_limit() -> None:
    assert ("granian", ">=2.8,<2.9") in floors()  # tests/server/front/test_granian.py names the parts


def test_the_classifiers_name_every_python_from_the_oldest_on() -> None:
    minors = [
        int(found[1]) for line in PROJECT["classifiers"] if (found := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", line))
    ]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert PROJECT["requires-python"] == f">=3.{minors[0]}"
