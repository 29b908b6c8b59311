"""House style checks: what breaks the rules of CONTRIBUTING.md's section "Words". `python -m tests.kit.language` lists it."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from babel.messages.pofile import read_po

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "language"

CODE = ("client/deniable", "server/deniable_server")
TEMPLATES = ("templates/researchers", "templates/drafts", "templates/identity", "templates/access", "templates/results", "templates/pages")
BROWSER = ("client/deniable/browser", "server/deniable_server/static")
DOCS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "docs")

PARTICIPLES = frozenset(
    ("asked", "drawn", "found", "given", "held", "kept", "known", "made", "said", "seen", "shown", "taken", "told", "wanted", "written")
)
"""Never the name of a value, a function, a parameter or a module: such a name says when, not what."""

MOST_PARAMETERS = 8
LONG_SIGNATURES = {
    ("client/deniable/sdk/client.py", "__init__"): "independent keyword-only options, as httpx.Client has; they may be secrets",
    ("client/deniable/sdk/client.py", "submit_many"): "plain arguments are redacted in the same call; an object built before it is not",
    ("client/deniable/sdk/client.py", "analysis"): "the options of `analyse`, unchanged, and the records that they are for",
}
"""Functions that may have more parameters than MOST_PARAMETERS, each with the reason."""
LONGEST_LINE = 140
RESULTS = 3

PHRASES = {
    "nobody": r"\bnobody\b(?! can\b)",
    "stands": r"\bstands?\b(?![- ](in|alone)\b)",
    "is none": r"\b(is|are|has|have) none\b",
    "the own": r"\b(the|an?|its) own (one|category|window|part|row|record)\b",
    "of which": r"\b(of|in|for|to|with) which\b",
    "that of": r"\b(that|those) of\b",
    "what is done": r"\b[Ww]hat (is|are|was|were|has|have) (not )?(been )?\w+ed\b",
    "by now": r"\bby now\b",
    "all that": r"\b[Aa]ll that\b",
    "one may": r"\bone (may|has|sees|does)\b",
    "relative clause as subject": r"(?:^|[.:;!?]\s+|\"\"\")(?:Who|Whose|What|Whom|Which)\b(?=[^?]*?[.\n\"])(?![^.\n\"]*\?)",
}
"""Turns of phrase to avoid, each as an expression: CONTRIBUTING.md says what to write instead."""


@cache
def files(*folders: str, ending: str) -> tuple[Path, ...]:
    """Returns the tracked files of some folders that end so, in order."""
    listing = subprocess.run(["git", "ls-files", "-z", "--", *folders], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(ROOT / name for name in sorted(listing.split("\0")) if name.endswith(ending) and (ROOT / name).is_file())


@cache
def tree(path: Path) -> ast.Module:
    """Returns the syntax tree of a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def page_texts() -> str:
    """Returns the texts of respondents' pages, which are written in everyday words and not held to these rules."""
    catalog = ROOT / "server" / "deniable_server" / "translations" / "deniable.pot"
    with catalog.open("rb") as file:
        return "\n".join(text for message in read_po(file) for text in (message.id if isinstance(message.id, tuple) else [message.id]))


def without_quotes(path: Path) -> str:
    """Returns the text of a file without what it has of respondents' pages: their texts in scripts, and cells of tables that quote them."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".mjs":
        return re.sub(r'\btn?\("(?:[^"\\]|\\.)*"', 't(""', text)
    if path.suffix == ".md":
        return re.sub(r"(?<=\| )[^|\n]{20,}(?= \|)", lambda cell: "" if cell[0] in page_texts() else cell[0], text)
    return text


def prose(path: Path, text: str) -> str:
    """Returns the comments and texts of a Python file, one below the other; of another file the parts that people read."""
    if path.suffix == ".py":
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return "\n".join(token.string for token in tokens if token.type in (tokenize.COMMENT, tokenize.STRING))
    if path.suffix == ".mjs":
        return "\n".join(re.findall(r"//[^\n]*|/\*.*?\*/", text, re.DOTALL))
    if path.suffix == ".md":
        return re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return text


@cache
def read_by_people() -> tuple[Path, ...]:
    """Returns every file whose words are held to the rules: code, researchers' templates, docs."""
    code = files(*CODE, ending=".py") + files(*BROWSER, ending=".mjs")
    return code + files(*TEMPLATES, ending=".html") + files(*DOCS, ending=".md")


Findings = Iterator[tuple[Path, str]]
"""What breaks a rule: the file, and where or what it is."""


def banned_words() -> Findings:
    """Yields each banned word that codespell finds (tests/language/banned.txt)."""
    with TemporaryDirectory() as folder:
        for path in read_by_people():
            copy = Path(folder) / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_text(without_quotes(path), encoding="utf-8")
        command = [sys.executable, "-m", "codespell_lib", "--dictionary", str(DATA / "banned.txt"), "--builtin", "clear", "."]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    for line in run.stdout.splitlines():
        name, _, rest = line.partition(":")
        yield ROOT / name, rest


def banned_phrases() -> Findings:
    """Yields each turn of phrase of PHRASES in a comment, docstring, message, page or document."""
    for path in read_by_people():
        text = prose(path, without_quotes(path))
        for name, pattern in PHRASES.items():
            for match in re.finditer(pattern, text, re.MULTILINE):
                yield path, f"{name}: {text[match.start() : match.start() + 60]!r}"


@cache
def verbs() -> frozenset[str]:
    """Returns the verbs that a function's docstring may begin with, in the third person (tests/language/verbs.txt)."""
    return frozenset((DATA / "verbs.txt").read_text(encoding="utf-8").split())


def is_described_as_value(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Returns whether a function is read as a value (a property), or its docstring is a command's help."""
    decorators = [ast.unparse(one) for one in node.decorator_list]
    return any(re.search(r"property|\bcommand\(|\bgroup\(|_command\b", one) for one in decorators)


def docstrings_without_verb() -> Findings:
    """Yields each function whose docstring does not begin with a verb in the third person."""
    for path in files(*CODE, ending=".py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_described_as_value(node):
                words = (ast.get_docstring(node) or "Returns").split()
                if words[0] not in verbs():
                    yield path, f"{node.lineno}: {node.name}: {' '.join(words[:8])}"


def names_bound(node: ast.AST) -> Iterator[str]:
    """Yields the names that a node of the syntax tree gives to something."""
    if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield node.id if isinstance(node, ast.Name) else node.attr
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name.lower()


def participles() -> Findings:
    """Yields each value, function, parameter and module whose name is a bare participle."""
    for path in files(*CODE, ending=".py"):
        if path.stem in PARTICIPLES:
            yield path, path.name
        for node in ast.walk(tree(path)):
            yield from ((path, f"{getattr(node, 'lineno', 0)}: {name}") for name in names_bound(node) if name.strip("_") in PARTICIPLES)


def repeated_classes() -> Findings:
    """Yields each public class, in its folder, whose name another one has."""
    places = defaultdict(list)
    for path in files(*CODE, ending=".py"):
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path)
    for name, paths in sorted(places.items()):
        if len(paths) > 1:
            yield from ((path, name) for path in paths)


def long_signatures() -> Findings:
    """Yields each function, apart from commands and LONG_SIGNATURES, of more than MOST_PARAMETERS parameters, and unused exceptions."""
    unused = set(LONG_SIGNATURES)
    for path in files(*CODE, ending=".py"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_described_as_value(node):
                names = [
                    one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if one.arg not in ("self", "cls")
                ]
                if len(names) > MOST_PARAMETERS:
                    key = (path.relative_to(ROOT).as_posix(), node.name)
                    unused.discard(key)
                    if key not in LONG_SIGNATURES:
                        yield path, f"{node.lineno}: {node.name}: {len(names)} parameters"
    yield from ((ROOT / name, f"{function}: not in need of an exception") for name, function in sorted(unused))


def long_lines() -> Findings:
    """Yields each line of a document, outside code and tables, above LONGEST_LINE characters."""
    for path in files(*DOCS, ending=".md"):
        for number, line in enumerate(prose(path, path.read_text(encoding="utf-8")).splitlines(), 1):
            if len(line) > LONGEST_LINE and not line.lstrip().startswith("|"):
                yield path, f"{number}: {len(line)} characters"


def first_line(path: Path) -> str:
    """Returns the first paragraph's first line of a module's docstring."""
    return (ast.get_docstring(tree(path)) or "").split("\n")[0]


def module_path(path: Path) -> str:
    """Returns the path of a module as terms.txt has it: deniable/... or server/..., a package by its folder."""
    name = path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__")
    return name.removeprefix("client/").replace("server/deniable_server", "server", 1)


def plain(text: str) -> str:
    """Returns a text in small letters, with one space for each run of other characters, as searches compare them."""
    return re.sub(r"[^a-z0-9]+", " ", text.lower()).strip()


def search(term: str) -> list[str]:
    """Returns the modules that a search for a term lists: those of that name, of a name with it, then those whose first line has it."""
    word = rf"{re.escape(plain(term))}(s|es)?"
    ranks: dict[str, tuple[int, int]] = {}
    for path in files(*CODE, ending=".py"):
        name = module_path(path)
        stem, line = plain(name.rsplit("/", 1)[-1]), plain(first_line(path))
        matches = (re.fullmatch(word, stem), re.search(rf"\b{word}\b", stem), re.search(rf"\b{word}\b", line))
        rank = next((rank for rank, match in enumerate(matches) if match), None)
        if rank is not None:
            ranks[name] = (rank, name.count("/"))
    return sorted(ranks, key=lambda name: (ranks[name], name))


def terms() -> dict[str, str]:
    """Returns the standard terms of tests/language/terms.txt, each with the module that defines it."""
    lines = (line for line in (DATA / "terms.txt").read_text(encoding="utf-8").splitlines() if line and not line.startswith("#"))
    return {term.strip(): module.strip() for term, module in (line.split("|") for line in lines)}


def terms_not_found() -> Findings:
    """Yields each standard term for which the right module is not among the first RESULTS of a search."""
    for term, module in terms().items():
        results = search(term)[:RESULTS]
        if module not in results:
            yield DATA / "terms.txt", f"{term}: {module} expected, got {', '.join(results) or 'nothing'}"


RULES: dict[str, Callable[[], Findings]] = {
    "banned words": banned_words,
    "banned phrases": banned_phrases,
    "docstrings without a verb": docstrings_without_verb,
    "participles as names": participles,
    "class names used twice": repeated_classes,
    "more than eight parameters": long_signatures,
    "long lines of documents": long_lines,
    "terms not found": terms_not_found,
}


if __name__ == "__main__":
    for rule, find in RULES.items():
        for path, where in find():
            print(f"{rule}: {(ROOT / path).relative_to(ROOT)}:{where}")
