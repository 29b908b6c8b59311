"""The modules of the respondents' page as the one file that browsers load: `python -m deniable.verify.page_bundle` prints it.

Each module becomes a function that is called once, in the order in which a browser would run the modules. Its imports become
constants, its exports what it returns; comments that stand in lines of their own are left out. Every other line stays as it is, so
that whoever has read the modules can read the file, and anybody can make it anew.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ENTRY = "form.mjs"
FOLDER = Path(__file__).parents[1] / "browser"
NAME = "respond.mjs"
"""What the file is called where it is served, beside the modules."""

_IMPORT = re.compile(r'import \{ (\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*) \} from "(\.{1,2}/[\w./]+)";')
_EXPORT = re.compile(r"export (?:(?:async )?function|class|const) (\w+)\b")
_COMPUTED = re.compile(r"\bimport\s*[(.]")
_TEXT = re.compile(r"`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|\{[^`{}]*\})*\})*`")  # a template that has no other in it
_OTHER_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class JoinError(Exception):
    """A module that cannot be joined with the others: which, in which line, and why."""


class _Import(NamedTuple):
    """names: as the module is asked for them. module: its path. where: module and line that ask."""

    names: list[str]
    module: str
    where: str


class _Module(NamedTuple):
    """imports: in their order. lines: what becomes of the module's lines. exports: the names that others may import."""

    imports: list[_Import]
    lines: list[str]
    exports: list[str]


def read_modules(folder: Path = FOLDER) -> dict[str, str]:
    """The text of each module in a folder and in those in it, by its path from there."""
    return {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in sorted(folder.rglob("*.mjs"))}


def joined(modules: Mapping[str, str]) -> str:
    """The one file of these modules, given by path: the same modules give the same text, in whatever order they are given.

    Raises JoinError for a module that is missing or never imported, for modules that import each other, and for a line that does not
    say what a line here may: imports and exports are by name, each in a line of its own.
    """
    read = {name: _read(name, text) for name, text in modules.items()}
    order: dict[str, None] = {}
    _visit(ENTRY, read, order, ())
    for name in sorted(read.keys() - order.keys()):
        raise JoinError(f"{name} is imported by no module")
    return "const MODULES = Object.create(null);\n" + "".join(_written(name, read[name]) for name in order)


def _visit(name: str, modules: Mapping[str, _Module], order: dict[str, None], above: tuple[str, ...]) -> None:
    """Puts a module into the order, behind all that it imports."""
    if name not in modules:
        raise JoinError(f"{name} is missing")
    for names, other, where in modules[name].imports:
        if other not in modules:
            raise JoinError(f"{where} imports {other}, which is no module of the page")
        if other in (*above, name):
            raise JoinError(f"{where} imports {other}: the two import each other")
        for missing in set(names) - set(modules[other].exports):
            raise JoinError(f"{where} imports {missing} from {other}, which does not export {missing}")
        if other not in order:
            _visit(other, modules, order, (*above, name))
    order[name] = None


def _written(name: str, module: _Module) -> str:
    body = "".join(f"{line}\n" for line in module.lines)
    return f'\nMODULES["{name}"] = (() => {{\n{body}return {{ {", ".join(module.exports)} }};\n}})();\n'


def _read(name: str, text: str) -> _Module:
    if (found := _OTHER_ENDS.search(text)) or not text.endswith("\n"):
        raise JoinError(f"{name} must have \\n as its line ends, and no others; got {found[0] if found else text[-1:]!a}")
    module = _Module([], [], [])
    for number, line in _without_comments(name, text):
        where = f"{name}:{number}"
        if found := _IMPORT.fullmatch(line):
            names, other = found[1].split(", "), posixpath.normpath(posixpath.join(posixpath.dirname(name), found[2]))
            module.imports.append(_Import([one.split(" as ")[0] for one in names], other, where))
            module.lines.append(f'const {{ {found[1].replace(" as ", ": ")} }} = MODULES["{other}"];')
            continue
        if found := _EXPORT.match(line):
            module.exports.append(found[1])
        own = line.removeprefix("export ") if found else line
        _check(where, own)
        module.lines.append(own)
    return module


def _check(where: str, line: str) -> None:
    """Whether a line of code can stand in a function as it does in a module. Raises JoinError where not, or where that is hard to tell."""
    if _COMPUTED.search(line):
        raise JoinError(f"{where} must not import what is computed, nor ask what it is")
    if re.match(r"\s*(?:import|export)\b", line):
        raise JoinError(f'{where} must be `import {{ a, b as c }} from "./x.mjs";`, or export a function, a class or a const')
    if re.search(r"\bMODULES\b", line):
        raise JoinError(f"{where} must not be used: the name `MODULES` is that of all modules")
    if "`" in _without_texts(line) or line.endswith("\\"):
        raise JoinError(f"{where} has a text that does not end in its line; texts stand in one line, so that none looks like a comment")
    if "/*" in line:
        raise JoinError(f"{where} has a comment beside code; one with /* has a line of its own")


def _without_texts(line: str) -> str:
    """The line without its templates, from the inside out; a backtick that is left begins or ends one in another line."""
    while (shorter := _TEXT.sub("", line)) != line:
        line = shorter
    return line


def _without_comments(name: str, text: str) -> Iterator[tuple[int, str]]:
    """The lines with their numbers, but for those of comments."""
    begun = 0
    for number, line in enumerate(text[:-1].split("\n"), 1):
        opens = not begun and line.lstrip().startswith("/*")
        if opens:
            begun = number
        if begun:
            if "*/" in line[line.index("/*") + 2 if opens else 0 :]:
                if not line.rstrip().endswith("*/") or line.count("*/") > 1:
                    raise JoinError(f"{name}:{number} has code beside a comment; one with /* has a line of its own")
                begun = 0
        elif not line.lstrip().startswith("//"):
            yield number, line
    if begun:
        raise JoinError(f"{name}:{begun} has a comment that ends nowhere")


if __name__ == "__main__":
    sys.stdout.buffer.write(joined(read_modules()).encode())
