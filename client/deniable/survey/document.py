"""Reader of survey documents: YAML or JSON text becomes plain dicts, lists and texts, with each value's line.

Every scalar except null stays text, so an option `yes`, `no` or `1.10` keeps its meaning; `parse.py` interprets the values. Duplicate
keys, which most readers silently drop, are errors.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer, MaxDepthExceededError
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from deniable.errors import Problem, SurveyError

MAX_BYTES = 1 << 18  # read in some seconds
MAX_DEPTH = 20  # the reader's time grows with the square of the depth
MAX_NODES = 50_000  # aliases can repeat a part of a file; this limits all repetitions together


@dataclass
class Document:
    """A parsed file: `value` (dict, list or str), the 1-based `lines` by path, and the problems that the reader reports."""

    value: Any
    lines: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read(path: str | Path) -> Document:
    """Reads a survey file. Raises SurveyError if it is not UTF-8 YAML or JSON, or over 256 KiB; OSError as `open` does."""
    with open(path, "rb") as file:
        raw = file.read(MAX_BYTES + 1)
    _refuse_large(str(path), len(raw))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SurveyError([Problem(str(path), f"must be UTF-8 text, got another byte at position {error.start:,}")]) from None
    return parse(text)


def parse(text: str) -> Document:
    """Parses YAML 1.2, a superset of JSON. Raises SurveyError with the line of a syntax error, or if it is over 256 KiB."""
    _refuse_large("file", len(text.encode("utf-8", "surrogatepass")))
    try:
        reader = YAML(typ="safe", pure=True)
        reader.Composer = _Composer
        reader.max_depth = MAX_DEPTH
        reader.composer.warn_double_anchors = False
        node = reader.compose(text)
        document = Document(None)
        document.value = _plain(node, "", document, [0])
    except MaxDepthExceededError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise SurveyError([Problem("file", f"must be nested at most {MAX_DEPTH} deep", line)]) from None
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise SurveyError([Problem("file", f"is not valid YAML: {error.problem or error.context}", line)]) from None
    except (YAMLError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).splitlines()[0]
        raise SurveyError([Problem("file", f"is not valid YAML: {reason}")]) from None
    return document


def _refuse_large(where: str, size: int) -> None:
    if size > MAX_BYTES:
        raise SurveyError([Problem(where, f"must be at most {MAX_BYTES:,} bytes, got more")])


def _too_many() -> SurveyError:
    return SurveyError([Problem("file", f"must have at most {MAX_NODES:,} values, including repetitions by aliases")])


class _Composer(Composer):
    """Composer that stops after MAX_NODES, without reading the rest."""

    nodes = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Reads a node. Raises SurveyError if there are too many."""
        self.nodes += 1
        if self.nodes > 2 * MAX_NODES:  # keys are nodes too
            raise _too_many()
        return super().compose_node(parent, index)


def strict_json(raw: bytes) -> Any:
    """Parses JSON, and raises ValueError also at a repeated key, NaN, Infinity, or a number beyond the range of doubles."""
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_refuse_constant, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _plain(node: Node | None, where: str, document: Document, count: list[int]) -> Any:
    count[0] += 1
    if count[0] > MAX_NODES:
        raise _too_many()
    if node is None:
        return ""
    document.lines[where] = node.start_mark.line + 1
    if isinstance(node, MappingNode):
        return _mapping(node, where, document, count)
    if isinstance(node, SequenceNode):
        return [_plain(child, f"{where}[{index}]", document, count) for index, child in enumerate(node.value)]
    if node.tag == "tag:yaml.org,2002:null" and node.value:
        return None  # null and ~ without quotes are no text
    return _join_surrogates(node.value)


def _join_surrogates(text: str) -> str:
    """Joins surrogate pairs, as JSON may escape a character beyond U+FFFF; YAML reads the two halves as two characters."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _mapping(node: MappingNode, where: str, document: Document, count: list[int]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key = _join_surrogates(str(key_node.value))
        here = f"{where}.{key}" if where else key
        if key in result:
            document.problems.append(Problem(here, "must not be repeated", key_node.start_mark.line + 1))
        else:
            result[key] = _plain(value_node, here, document, count)
    return result


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    pairs = list(pairs)
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key is repeated in one object")
    return result


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    if not math.isfinite(number := float(text)):
        raise ValueError(f"{text[:20]} is beyond the range of numbers")
    return number
