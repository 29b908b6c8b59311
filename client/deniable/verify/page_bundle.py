"""The modules of the respondents' page as the one file that browsers load: `python -m deniable.verify.page_bundle` prints it.

Each module becomes a function that is called once, in the order in which a browser would run the modules. It returns its exports, which
become constants of the file, so that later modules see them without importing them. Imports, comments and indentation are left out. Every
other line stays as it is: if you have read the modules, you can read the file, and anybody can make it anew.
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

_IMPORT = re.compile(r'import \{ (\w+(?:, \w+)*) \} from "(\.{1,2}/[\w./]+)";')
_EXPORT = re.compile(r"export (?:(?:async )?function|class|const) (\w+)\b")
_COMPUTED = re.compile(r"\bimport\s*[(.]")
_TEXT = re.compile(r"`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|\{[^`{}]*\})*\})*`")  # a template that has no other in it
_QUOTED = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'""")
_COMMENT = re.compile(r"\s+// ")  # behind code
_OTHER_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class JoinError(Exception):
    """A module that cannot be joined with the others: which, in which line, and why."""


class _Import(NamedTuple):
    """names: what is imported. module: its path. where: module and line that ask."""

    names: list[str]
    module: str
    where: str


class _Module(NamedTuple):
    """imports: in their order. lines: the module's lines of code but for imports. exports: the names that others may import."""

    imports: list[_Import]
    lines: list[str]
    exports: list[str]


def read_modules(folder: Path = FOLDER) -> dict[str, str]:
    """The text of each module in a folder and in those in it, by its path from there."""
    return {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in sorted(folder.rglob("*.mjs"))}


def joined(modules: Mapping[str, str]) -> str:
    """The one file of these modules, given by path: the same modules give the same text, in whatever order they are given.

    Raises JoinError for a module that is missing or never imported, for modules that import each other, for a name that two of them
    export, and for a line that does not say what a line here may: imports and exports are by name, each in a line of its own.
    """
    read = {name: _read(name, text) for name, text in modules.items()}
    order: dict[str, None] = {}
    _visit(ENTRY, read, order, ())
    for name in sorted(read.keys() - order.keys()):
        raise JoinError(f"{name} is imported by no module")
    exporters: dict[str, str] = {}
    for name in order:
        for export in read[name].exports:
            if (other := exporters.setdefault(export, name)) != name:
                raise JoinError(f"{name} exports {export}, as {other} does; every export must have a name of its own")
    return "\n".join(_written(name, read[name]) for name in order)


def without_comments(name: str, text: str) -> str:
    """Returns a script's text without its comments; every other line stays as it is. Raises JoinError as `joined` does."""
    lines = (_without_comment(f"{name}:{number}", line) for number, line in _code_lines(name, text))
    return "".join(f"{line}\n" for line in lines)


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
    exports = ", ".join(module.exports)
    start, end = (f"const {{ {exports} }} = ", f"return {{ {exports} }};\n") if exports else ("", "")
    return f"// {name}\n{start}(() => {{\n{body}{end}}})();\n"


def _read(name: str, text: str) -> _Module:
    if (found := _OTHER_ENDS.search(text)) or not text.endswith("\n"):
        raise JoinError(f"{name} must have \\n as its line ends, and no others; got {found[0] if found else text[-1:]!a}")
    module = _Module([], [], [])
    for number, line in _code_lines(name, text):
        where = f"{name}:{number}"
        if found := _IMPORT.fullmatch(line):
            names, other = found[1].split(", "), posixpath.normpath(posixpath.join(posixpath.dirname(name), found[2]))
            module.imports.append(_Import(names, other, where))
            continue
        if found := _EXPORT.match(line):
            module.exports.append(found[1])
        own = _without_comment(where, line.removeprefix("export ") if found else line)
        _check(where, own)
        module.lines.append(own.lstrip())  # no text goes over several lines, so what a line begins with means nothing
    return module


def _check(where: str, line: str) -> None:
    """Whether a line of code can stand in a function as it does in a module. Raises JoinError where not, or where that is hard to tell."""
    if _COMPUTED.search(line):
        raise JoinError(f"{where} must not import what is computed, nor ask what it is")
    if re.match(r"\s*(?:import|export)\b", line):
        raise JoinError(f'{where} must be `import {{ a, b }} from "./x.mjs";`, or export a function, a class or a const')
    if "`" in _without_texts(line) or line.endswith("\\"):
        raise JoinError(f"{where} has a text that does not end in its line; texts stand in one line, so that none looks like a comment")
    if "/*" in line:
        raise JoinError(f"{where} has a comment beside code; one with /* has a line of its own")


def _without_texts(line: str) -> str:
    """The line without its templates, from the inside out; a backtick that is left begins or ends one in another line."""
    while (shorter := _TEXT.sub("", line)) != line:
        line = shorter
    return line


def _without_comment(where: str, line: str) -> str:
    """The line without the comment behind its code. Raises JoinError where `//` may stand in a text: a quote before it has no other."""
    if not (found := _COMMENT.search(line)):
        return line
    code = line[: found.start()]
    if re.search("[\"'`]", _QUOTED.sub("", _without_texts(code))):
        raise JoinError(f"{where} has // behind a quote that does not end before it; such a comment has a line of its own")
    return code


def _code_lines(name: str, text: str) -> Iterator[tuple[int, str]]:
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
