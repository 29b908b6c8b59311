"""The one file that respondents load is its modules, comments aside, and nothing besides: the same bytes wherever they are joined."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from deniable.verify.page_bundle import ENTRY, FOLDER, JoinError, joined, read_modules
from deniable.verify.released import Released, sha384

MODULES = read_modules()
FILE = joined(MODULES)
SMALL = {
    "form.mjs": (
        "/** Starts. */\n\n"
        'import { one as first, two } from "./parts/a.mjs";\nimport { b } from "./b.mjs";\nimport { c } from "./c.mjs";\n\n'
        "export const sum = first + two(b); // a sum\nexport async function start() {\n  // now\n  return sum;\n}\n"
    ),
    "parts/a.mjs": (
        'import { b } from "../b.mjs";\n/**\n * Two things.\n */\nexport const one = b;\n\nexport function two(x) {\n  return x;\n}\n'
    ),
    "b.mjs": "export const b = `*/ ${1}`;\n",
    "c.mjs": "export class c {}\n",
}
WHOLE = """\
const MODULES = Object.create(null);

MODULES["b.mjs"] = (() => {
const b = `*/ ${1}`;
return { b };
})();

MODULES["parts/a.mjs"] = (() => {
const { b } = MODULES["b.mjs"];
const one = b;

function two(x) {
  return x;
}
return { one, two };
})();

MODULES["c.mjs"] = (() => {
class c {}
return { c };
})();

MODULES["form.mjs"] = (() => {

const { one: first, two } = MODULES["parts/a.mjs"];
const { b } = MODULES["b.mjs"];
const { c } = MODULES["c.mjs"];

const sum = first + two(b); // a sum
async function start() {
  return sum;
}
return { sum, start };
})();
"""


def code(source: str) -> list[str]:
    """The lines of a module as it is written that are code of its own, without `export`."""
    kept = re.sub(r"^ */\*.*?\*/\n|^ *//[^\n]*\n|^import [^\n]*\n", "", source, flags=re.DOTALL | re.MULTILINE)
    return [line.removeprefix("export ") for line in kept.splitlines() if line]


def test_each_module_becomes_a_function_that_stands_after_those_that_it_imports() -> None:
    assert joined(SMALL) == WHOLE


def test_every_line_of_every_module_is_in_it_once_in_its_order_and_nothing_else_is() -> None:
    """Another reading of the same modules: what is left of the file without the lines that join is all code, a module after the other."""
    function = re.compile(r'\nMODULES\["([^"]+)"\] = \(\(\) => \{\n(.*?)\nreturn \{[^\n]*\};\n\}\)\(\);\n', re.DOTALL)
    found = {name: [line for line in text.splitlines() if line and " = MODULES[" not in line] for name, text in function.findall(FILE)}
    assert found == {name: code(source) for name, source in MODULES.items()}
    assert function.sub("", FILE) == "const MODULES = Object.create(null);\n"


def test_it_is_the_same_on_every_machine_and_the_one_that_was_released() -> None:
    """In another process, folder, language and order of hashes; and on the machine where the released hash was written down."""
    environment = {"PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-m", "deniable.verify.page_bundle"]
    printed = subprocess.run(command, cwd="/", env=environment, check=True, stdout=subprocess.PIPE).stdout
    assert printed == FILE.encode()
    assert sha384(printed) == Released.load().files["/browser/respond.mjs"]


@pytest.mark.slow
def test_a_module_with_a_statement_more_makes_another_file() -> None:
    changed = {name: joined({**MODULES, name: f"{source}let more;\n"}) for name, source in MODULES.items()}
    assert len({FILE, *changed.values()}) == 1 + len(MODULES)


def test_a_comment_in_lines_of_its_own_changes_nothing() -> None:
    assert joined({**SMALL, "b.mjs": f"// a word\n{SMALL['b.mjs']}/* more\n of them */\n"}) == WHOLE


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('import b from "./b.mjs";', "must be"),
        ('import * as b from "./b.mjs";', "must be"),
        ('import "./b.mjs";', "must be"),
        ('import { b } from "/b.mjs";', "must be"),
        ('import { b } from "./none.mjs";', "is no module"),
        ('import { b } from "../../b.mjs";', "is no module"),
        ('import { none } from "../b.mjs";', "does not export none"),
        ('import { sum } from "../form.mjs";', "import each other"),
        ('const b = await import("./b.mjs");', "computed"),
        ("const here = import.meta.url;", "computed"),
        ("export default 1;", "must be"),
        ("export let b = 1;", "must be"),
        ("export { b };", "must be"),
        ('export * from "./b.mjs";', "must be"),
        ("  export const b = 1;", "must be"),
        ("const text = `", "one line"),
        ("const text = `${`", "one line"),
        ("const text = `${a}` + `${[`b`, `", "one line"),
        ('const text = "a \\', "one line"),
        ("/* a comment */ const b = 1;", "a line of its own"),
        ("/* a comment", "ends nowhere"),
        ("const MODULES = 1;", "must not be used"),
        ("const b = 1;\r", "line ends"),
        ("const b = '\u2028';", "line ends"),
    ],
)
def test_what_it_cannot_join_it_refuses_and_says_where(line: str, rule: str) -> None:
    with pytest.raises(JoinError, match=rf"^parts/a\.mjs(:\d+)? .*{re.escape(rule)}") as refused:
        joined({**SMALL, "parts/a.mjs": f"export const one = 1;\nexport const two = 2;\n{line}\n"})
    if rule not in ("import each other", "line ends"):
        assert str(refused.value).startswith("parts/a.mjs:3 ")


def test_a_module_that_nothing_imports_is_refused() -> None:
    with pytest.raises(JoinError, match=r"^d\.mjs is imported by no module$"):
        joined({**SMALL, "d.mjs": "export const d = 1;\n"})


def test_without_the_module_that_starts_there_is_nothing_to_join() -> None:
    with pytest.raises(JoinError, match=ENTRY):
        joined({})


def test_the_modules_folder_has_nothing_but_modules_that_are_joined_and_the_first_script() -> None:
    assert {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.*")} == {*MODULES, "support.js"}
