"""The examples of docs/guide/javascript.md and of the package's README run as they stand; and the package as npm installs it."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from client.javascript import pack
from tests.client.conftest import Server
from tests.kit.node import NPM, node, tsc

from deniable.survey import Survey

ROOT = Path(__file__).parents[3]
GUIDE, README = ROOT / "docs" / "guide" / "javascript.md", ROOT / "client" / "javascript" / "README.md"
EXAMPLES = re.findall(r"```js\n(.*?)```", README.read_text(encoding="utf-8") + GUIDE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def health(server: Server, study: Survey) -> Survey:
    """The survey of the examples."""
    survey = Survey.from_dict({**study.to_dict(), "id": "health"})
    server.publish(survey)
    return survey


def run(example: str, server: Server, health: Survey, folder: Path) -> CompletedProcess[str]:
    assert "https://survey.example.org/s/health#digest=…" in example
    script = folder / "example.mjs"
    script.write_text(
        example.replace("https://survey.example.org", server.url).replace("digest=…", f"digest={health.digest}"), encoding="utf-8"
    )
    return node(script, cwd=folder)


def test_the_examples_do_what_the_page_says(server: Server, health: Survey, installed: Path) -> None:
    printed = []
    for example in EXAMPLES:
        done = run(example, server, health, installed)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        printed.append(done.stdout)
    readme, one, stored, asked = printed
    assert re.fullmatch(r"[0-9a-f]{32} 2\.1972245\d*\n", readme)
    assert re.fullmatch(r"[0-9a-f]{32} 2\.1972245\d*\n", one)
    assert stored == "0 records wait\n"
    assert re.fullmatch(r"Do you smoke\? \nWhich party\? 5\nTo withdraw: [0-9A-Z-]{34}\n", asked)
    assert len(server.posts) == 5
    assert server.counted == 3  # one was withdrawn


def test_the_control_a_wrong_example_fails(server: Server, health: Survey, installed: Path) -> None:
    done = run(EXAMPLES[0].replace("fetchSurvey(", "fetchSurveys("), server, health, installed)
    assert done.returncode != 0
    assert "fetchSurveys" in done.stderr


@pytest.mark.slow
def test_npm_installs_the_archive_into_an_empty_folder_without_a_network(
    packed: Path, server: Server, health: Survey, tmp_path: Path
) -> None:
    done = node(NPM, "install", "--offline", "--no-audit", "--no-fund", "--cache", tmp_path / "cache", packed, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "node_modules").iterdir() if path.is_dir()) == ["deniable"]
    done = run(EXAMPLES[0], server, health, tmp_path)
    assert done.returncode == 0, done.stderr
    assert server.counted == 1


def test_the_archive_depends_only_on_its_content_and_has_the_version_of_the_project(packed: Path, tmp_path: Path) -> None:
    assert pack.write(tmp_path).read_bytes() == packed.read_bytes()
    changed = pack.files() | {"README.md": b"Other words.\n"}
    assert pack.archive(changed) != packed.read_bytes()
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert packed.name == f"deniable-{version}.tgz"
    assert json.loads(pack.files()["package.json"])["version"] == version


def test_every_example_and_the_types_pass_the_strict_compiler(installed: Path, tmp_path: Path) -> None:
    """An example in TypeScript, those of the page, and that what the package exports is what its types declare."""
    (tmp_path / "node_modules").symlink_to(installed / "node_modules")
    (tmp_path / "example.ts").write_text((Path(__file__).parent / "example.ts").read_text(encoding="utf-8"), encoding="utf-8")
    for number, example in enumerate(EXAMPLES):
        typed = example.replace("const answers = {};", "const answers: Record<string, any> = {};").replace(
            "one.id === id);", "one.id === id)!;"
        )
        (tmp_path / f"example{number}.mts").write_text(typed, encoding="utf-8")
    options = ["--strict", "--noEmit", "--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom"]
    files = sorted(path.name for path in tmp_path.glob("example*"))
    assert len(files) == 5
    done = tsc(*options, *files, cwd=tmp_path)
    assert done.stdout == ""
    assert done.returncode == 0
    (tmp_path / "wrong.mts").write_text('import { fetchSurvey } from "deniable";\nawait fetchSurvey(7, { minbatch: 1 });\n')
    assert tsc(*options, "wrong.mts", cwd=tmp_path).stdout.count("error TS") == 1
    names = node("--input-type=module", "-e", "import('deniable').then((all) => console.log(Object.keys(all).join()))", cwd=tmp_path)
    declared = re.findall(r"^export (?:function|class) (\w+)", (ROOT / "client" / "javascript" / "index.d.ts").read_text(), re.MULTILINE)
    assert sorted(names.stdout.strip().split(",")) == sorted(declared)
