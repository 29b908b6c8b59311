"""The one file that respondents load is its modules, comments aside, and nothing besides: the same bytes wherever they are joined."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from deniable.verify.page_bundle import ENTRIES, ENTRY, FOLDER, KIOSK, NAME, JoinError, join_modules, read_modules, without_comments
from deniable.verify.released import Released, sha384

MODULES = read_modules()
FILES = {name: join_modules(MODULES, entry) for name, entry in ENTRIES.items()}
FILE = FILES[NAME]
SMALL = {
    "form.mjs": (
        "/** Starts. */\n\n"
        'import { one, two } from "./parts/a.mjs";\nimport { b } from "./b.mjs";\nimport { c } from "./c.mjs";\n\n'
        "export const sum = one + two(b); // a sum\nexport async function start() {\n  // now\n  return sum;\n}\n"
    ),
    "parts/a.mjs": (
        'import { b } from "../b.mjs";\n/**\n * Two things.\n */\nexport const one = b;\n\nexport function two(x) {\n  return x;\n}\n'
    ),
    "b.mjs": "export const b = `*/ ${1}`;\n",
    "c.mjs": "export class c {}\n",
}
WHOLE = """\
// b.mjs
const { b } = (() => {
const b = `*/ ${1}`;
return { b };
})();

// parts/a.mjs
const { one, two } = (() => {
const one = b;

function two(x) {
return x;
}
return { one, two };
})();

// c.mjs
const { c } = (() => {
class c {}
return { c };
})();

// form.mjs
(() => {


const sum = one + two(b);
async function start() {
return sum;
}
})();
"""


def code(source: str) -> list[str]:
    """The lines of a module as it is written that are code of its own, without `export`, comments and indentation."""
    kept = re.sub(r"^ */\*.*?\*/\n|^ *//[^\n]*\n|^import [^\n]*\n", "", source, flags=re.DOTALL | re.MULTILINE)
    return [line.partition(" // ")[0].strip().removeprefix("export ") for line in kept.splitlines() if line]


def test_each_module_becomes_a_function_that_stands_after_those_that_it_imports() -> None:
    assert join_modules(SMALL) == WHOLE


def test_every_line_of_every_module_is_in_it_once_in_its_order_and_nothing_else_is() -> None:
    """Another reading of the same modules: what is left of the file without the lines that join is all code, a module after the other."""
    function = re.compile(r"// (\S+)\n(?:const (\{.*?\}) = )?\(\(\) => \{\n(.*?)\n(?:return \2;\n)?\}\)\(\);\n", re.DOTALL)
    found: dict[str, list[str]] = {}
    for file in FILES.values():
        modules = {name: [line for line in text.splitlines() if line] for name, _, text in function.findall(file)}
        assert modules == {name: code(MODULES[name]) for name in modules}
        assert function.sub("", file).strip() == ""
        found |= modules
    assert found.keys() == MODULES.keys()


def test_nothing_of_the_kiosk_is_in_the_file_that_everybody_loads() -> None:
    own = {name for name in MODULES if f"// {name}\n" in FILES[KIOSK] and f"// {name}\n" not in FILE}
    assert own == {"fresh_page.mjs", "idle.mjs", "kiosk_back.mjs", "kiosk_page.mjs", "record_queue.mjs"}
    assert "kiosk" not in FILE


def test_it_is_the_same_on_every_machine_and_the_one_that_was_released() -> None:
    """In another process, folder, language and order of hashes; and on the machine where the released hash was written down."""
    for name, file in FILES.items():
        assert printed(name) == file.encode()
        assert sha384(file.encode()) == Released.load().files[f"/browser/{name}"]
    assert printed() == FILE.encode()


def printed(*names: str) -> bytes:
    """What the program prints."""
    environment = {"PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONUTF8": "0", "TZ": "Asia/Tokyo"}
    command = [sys.executable, "-m", "deniable.verify.page_bundle", *names]
    return subprocess.run(command, cwd="/", env=environment, check=True, stdout=subprocess.PIPE).stdout


@pytest.mark.slow
def test_a_module_with_a_statement_more_makes_another_file() -> None:
    changed = [{**MODULES, name: f"{source}let more;\n"} for name, source in MODULES.items()]
    files = {tuple(join_modules(modules, entry) for entry in ENTRIES.values()) for modules in (MODULES, *changed)}
    assert len(files) == 1 + len(MODULES)


def test_a_comment_in_lines_of_its_own_or_behind_code_changes_nothing() -> None:
    assert join_modules({**SMALL, "b.mjs": f"// a word\n{SMALL['b.mjs']}/* more\n of them */\n"}) == WHOLE
    assert join_modules({**SMALL, "b.mjs": SMALL["b.mjs"].replace("\n", ' // a "word", it\'s `one` // of many\n')}) == WHOLE


@pytest.mark.parametrize("text", ['"a // b"', "'a // b'", "`a // ${1} b`", 'f("c", "a // b")', '/["]/.test(a) // "'])
def test_what_may_be_a_text_with_slashes_is_never_taken_for_a_comment(text: str) -> None:
    with pytest.raises(JoinError, match=r"^c\.mjs:2 has // after an open quote"):
        join_modules({**SMALL, "c.mjs": f"export class c {{}}\nconst text = {text};\n"})


def test_two_modules_export_no_name_alike() -> None:
    with pytest.raises(JoinError, match=r"^c\.mjs exports one, as parts/a\.mjs does"):
        join_modules({**SMALL, "c.mjs": "export class c {}\nexport const one = 1;\n"})


def test_the_first_script_is_served_without_comments_and_otherwise_as_it_is() -> None:
    source = (FOLDER / "support.js").read_text(encoding="utf-8")
    lines = re.sub(r"^ */\*.*?\*/\n|^ *//[^\n]*\n|(?<=[;{,]) // [^\n]*", "", source, flags=re.DOTALL | re.MULTILINE)
    assert without_comments("support.js", source) == lines


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('import { two as b } from "../b.mjs";', "must be"),
        ('import b from "./b.mjs";', "must be"),
        ('import * as b from "./b.mjs";', "must be"),
        ('import "./b.mjs";', "must be"),
        ('import { b } from "/b.mjs";', "must be"),
        ('import { b } from "./none.mjs";', "is not a module"),
        ('import { b } from "../../b.mjs";', "is not a module"),
        ('import { none } from "../b.mjs";', "does not export none"),
        ('import { sum } from "../form.mjs";', "import each other"),
        ('const b = await import("./b.mjs");', "computed"),
        ("const here = import.meta.url;", "computed"),
        ("export default 1;", "must be"),
        ("export let b = 1;", "must be"),
        ("export { b };", "must be"),
        ('export * from "./b.mjs";', "must be"),
        ("  export const b = 1;", "must be"),
        ("const text = `", "every text in its line"),
        ("const text = `${`", "every text in its line"),
        ("const text = `${a}` + `${[`b`, `", "every text in its line"),
        ('const text = "a \\', "every text in its line"),
        ("/* a comment */ const b = 1;", "a line of its own"),
        ("/* a comment", "a comment that does not end"),
        ("const b = 1;\r", "line ends"),
        ("const b = '\u2028';", "line ends"),
    ],
)
def test_what_it_cannot_join_it_refuses_and_says_where(line: str, rule: str) -> None:
    with pytest.raises(JoinError, match=rf"^parts/a\.mjs(:\d+)? .*{re.escape(rule)}") as refused:
        join_modules({**SMALL, "parts/a.mjs": f"export const one = 1;\nexport const two = 2;\n{line}\n"})
    if rule not in ("import each other", "line ends"):
        assert str(refused.value).startswith("parts/a.mjs:3 ")


def test_a_module_that_nothing_imports_is_refused() -> None:
    with pytest.raises(JoinError, match=r"^d\.mjs is imported by no module$"):
        join_modules({**SMALL, "d.mjs": "export const d = 1;\n"})


def test_without_the_module_that_starts_there_is_nothing_to_join() -> None:
    with pytest.raises(JoinError, match=ENTRY):
        join_modules({})


def test_the_modules_folder_has_nothing_but_modules_that_are_joined_the_first_script_and_names_of_languages() -> None:
    assert {file.relative_to(FOLDER).as_posix() for file in FOLDER.rglob("*.*")} == {*MODULES, "support.js", "language_names.json"}


def unimported(modules: dict[str, str]) -> set[tuple[str, str]]:
    """The functions and classes of other modules that a module uses without importing them: (module, name)."""
    exports = {name: set(re.findall(r"^export (?:async )?(?:function|class) (\w+)", text, re.MULTILINE)) for name, text in modules.items()}
    everything = set().union(*exports.values())
    found = set()
    for name, text in modules.items():
        source = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', "\n".join(code(text)))
        own = set(re.findall(r"\b(?:function|class|const|let) (\w+)|^(\w+)\([^\n]*\) \{$", source, re.MULTILINE))
        lists = re.findall(r"\bconst (\{.*?\}) =|\(([^()\n]*)\) (?:=>|\{)", source)  # of what is taken apart, and of parameters
        local = {one for pair in own for one in pair} | set(re.findall(r"\w+", " ".join(f"{a} {b}" for a, b in lists)))
        imported = set(re.findall(r"\w+", " ".join(re.findall(r"^import \{ (.*?) \}", text, re.MULTILINE))))
        used = set(re.findall(r"(?<![.\w#$])(\w+)\(|\binstanceof (\w+)", source))
        found |= {(name, one) for pair in used for one in pair if one in everything - imported - local - exports[name]}
    return found


def test_every_module_imports_what_it_uses_though_the_file_would_run_without() -> None:
    assert unimported(MODULES) == set()


@pytest.mark.parametrize(("module", "name"), [("consent.mjs", "people"), ("faults.mjs", "DeliveryError"), ("types/number.mjs", "t")])
def test_an_import_that_is_missing_is_noticed(module: str, name: str) -> None:
    lines = MODULES[module].splitlines()
    without = [re.sub(rf"(?<=[{{,]) {name}(,| \}})", r" \1", line, count=1) if line.startswith("import ") else line for line in lines]
    assert unimported({**MODULES, module: "\n".join(without)}) == {(module, name)}
