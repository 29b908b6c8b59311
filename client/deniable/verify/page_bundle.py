"""Bundler: joins the modules of a respondents' page into the one file that browsers load.

`python -m deniable.verify.page_bundle` prints the file of the survey page, and with the argument `kiosk.mjs` the file of its kiosk. Each
module becomes a function that is called once, in a browser's order. It returns the exports that later modules import, which become
constants of the file, so that these modules use them without imports. Imports, comments and indentation are removed; every other line is
unchanged. If you have read the modules, you can read the file, and anyone can build it again.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping, Set
from pathlib import Path
from typing import NamedTuple

ENTRY = "form.mjs"
FOLDER = Path(__file__).parents[1] / "browser"
NAME = "respond.mjs"
"""The name of the survey page's file on the server, beside the modules."""
KIOSK = "kiosk.mjs"
"""The name of the kiosk's file."""
ENTRIES = {NAME: ENTRY, KIOSK: "kiosk_page.mjs"}
"""The module that starts each file, by the file's name."""

_IMPORT = re.compile(r'import \{ (\w+(?:, \w+)*) \} from "(\.{1,2}/[\w./]+)";')
_EXPORT = re.compile(r"export (?:(?:async )?function|class|const) (\w+)\b")
_COMPUTED = re.compile(r"\bimport\s*[(.]")
_TEXT = re.compile(r"`(?:[^`\\$]|\\.|\$(?!\{)|\$\{(?:[^`{}]|\{[^`{}]*\})*\})*`")  # a template literal without another one in it
_QUOTED = re.compile(r"""\"(?:[^"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'""")
_COMMENT = re.compile(r"\s+// ")  # after code
_OTHER_ENDS = re.compile("[\r\v\f\x1c-\x1e\x85\u2028\u2029]")


class JoinError(Exception):
    """A module cannot be joined with the others; the message names the module, the line and the rule."""


class _Import(NamedTuple):
    """An import statement.

    Attributes:
        names: The imported names.
        module: The path of their module.
        where: The module and the line of the statement.
    """

    names: list[str]
    module: str
    where: str


class _Module(NamedTuple):
    """A parsed module.

    Attributes:
        imports: Its import statements, in order.
        lines: Its lines of code without imports.
        exports: The names that other modules may import.
    """

    imports: list[_Import]
    lines: list[str]
    exports: list[str]


def read_modules(folder: Path = FOLDER) -> dict[str, str]:
    """Returns the text of each module in a folder and its subfolders, by relative path."""
    return {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in sorted(folder.rglob("*.mjs"))}


def join_modules(modules: Mapping[str, str], entry: str = ENTRY) -> str:
    """Returns the file of a module and of everything that it imports. The order of the mapping does not matter.

    Args:
        modules: The text of each module, by path.
        entry: The module that starts the file.

    Raises:
        JoinError: A module is missing or imported for no file, modules import each other, two modules export the same name, or a line
            breaks the rules for modules. Imports and exports must be by name, each in a line of its own.
    """
    parsed = {name: _parse(name, text) for name, text in modules.items()}
    order: dict[str, None] = {}
    _visit(entry, parsed, order, ())
    reachable = dict(order)
    for other in parsed.keys() & ENTRIES.values():
        _visit(other, parsed, reachable, ())
    for name in sorted(parsed.keys() - reachable.keys()):
        raise JoinError(f"{name} is imported by no module")
    exporters: dict[str, str] = {}
    for name in order:
        for export in parsed[name].exports:
            if (other := exporters.setdefault(export, name)) != name:
                raise JoinError(f"{name} exports {export}, as {other} does; every export must have a name of its own")
    imported = {each for name in order for statement in parsed[name].imports for each in statement.names}
    return "\n".join(_function(name, parsed[name], imported) for name in order)


def without_comments(name: str, text: str) -> str:
    """Returns a script without its comments; every other line is unchanged. Raises JoinError as `join_modules` does."""
    lines = (_without_comment(f"{name}:{number}", line) for number, line in _code_lines(name, text))
    return "".join(f"{line}\n" for line in lines)


def _visit(name: str, modules: Mapping[str, _Module], order: dict[str, None], above: tuple[str, ...]) -> None:
    """Adds a module to the order, after the modules that it imports."""
    if name not in modules:
        raise JoinError(f"{name} is missing")
    for names, other, where in modules[name].imports:
        if other not in modules:
            raise JoinError(f"{where} imports {other}, which is not a module of the page")
        if other in (*above, name):
            raise JoinError(f"{where} imports {other}: the two import each other")
        for missing in set(names) - set(modules[other].exports):
            raise JoinError(f"{where} imports {missing} from {other}, which does not export {missing}")
        if other not in order:
            _visit(other, modules, order, (*above, name))
    order[name] = None


def _function(name: str, module: _Module, imported: Set[str]) -> str:
    """Returns a module as a function that is called once, and returns the exports that other modules of the file import."""
    body = "".join(f"{line}\n" for line in module.lines)
    exports = ", ".join(export for export in module.exports if export in imported)
    start, end = (f"const {{ {exports} }} = ", f"return {{ {exports} }};\n") if exports else ("", "")
    return f"// {name}\n{start}(() => {{\n{body}{end}}})();\n"


def _parse(name: str, text: str) -> _Module:
    if (match := _OTHER_ENDS.search(text)) or not text.endswith("\n"):
        raise JoinError(f"{name} must have \\n as its line ends, and no others; got {match[0] if match else text[-1:]!a}")
    module = _Module([], [], [])
    for number, line in _code_lines(name, text):
        where = f"{name}:{number}"
        if match := _IMPORT.fullmatch(line):
            names, other = match[1].split(", "), posixpath.normpath(posixpath.join(posixpath.dirname(name), match[2]))
            module.imports.append(_Import(names, other, where))
            continue
        if match := _EXPORT.match(line):
            module.exports.append(match[1])
        code = _without_comment(where, line.removeprefix("export ") if match else line)
        _check(where, code)
        module.lines.append(code.lstrip())  # no text spans several lines, so indentation has no meaning
    return module


def _check(where: str, line: str) -> None:
    """Checks that a line of code means the same in a function as in a module. Raises JoinError if it may not."""
    if _COMPUTED.search(line):
        raise JoinError(f"{where} must not use a computed import or import.meta")
    if re.match(r"\s*(?:import|export)\b", line):
        raise JoinError(f'{where} must be `import {{ a, b }} from "./x.mjs";`, or export a function, a class or a const')
    if "`" in _without_texts(line) or line.endswith("\\"):
        raise JoinError(f"{where} must end every text in its line, so that no text looks like a comment")
    if "/*" in line:
        raise JoinError(f"{where} has a comment beside code; a comment with /* must have a line of its own")


def _without_texts(line: str) -> str:
    """Returns the line without template literals, from the inside out. A remaining backtick belongs to a literal of several lines."""
    while (shorter := _TEXT.sub("", line)) != line:
        line = shorter
    return line


def _without_comment(where: str, line: str) -> str:
    """Returns the line without the comment after its code. Raises JoinError if `//` may be in a text: a quote before it is open."""
    if not (match := _COMMENT.search(line)):
        return line
    code = line[: match.start()]
    if re.search("[\"'`]", _QUOTED.sub("", _without_texts(code))):
        raise JoinError(f"{where} has // after an open quote; such a comment must have a line of its own")
    return code


def _code_lines(name: str, text: str) -> Iterator[tuple[int, str]]:
    """Yields the lines that are not comments, each with its number."""
    begun = 0
    for number, line in enumerate(text[:-1].split("\n"), 1):
        opens = not begun and line.lstrip().startswith("/*")
        if opens:
            begun = number
        if begun:
            if "*/" in line[line.index("/*") + 2 if opens else 0 :]:
                if not line.rstrip().endswith("*/") or line.count("*/") > 1:
                    raise JoinError(f"{name}:{number} has code beside a comment; a comment with /* must have a line of its own")
                begun = 0
        elif not line.lstrip().startswith("//"):
            yield number, line
    if begun:
        raise JoinError(f"{name}:{begun} has a comment that does not end")


if __name__ == "__main__":
    sys.stdout.buffer.write(join_modules(read_modules(), ENTRIES[sys.argv[1] if sys.argv[1:] else NAME]).encode())
