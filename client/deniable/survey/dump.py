"""Writer of survey files, the inverse of `document.py`: plain dicts, lists and texts become a file's text, without loss."""

from __future__ import annotations

import io
import json
import re
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter
from ruamel.yaml.resolver import VersionedResolver

_STR = "tag:yaml.org,2002:str"
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")  # once JSON has escaped what it must
_WIDTH = 120  # characters of a line, where a text has spaces to break at


class _Representer(SafeRepresenter):
    """Writes texts without quotes if they are read as the same text again, and over several lines if they have several."""

    def represent_text(self, text: str) -> ScalarNode:
        """Returns the node of a text."""
        tag = str(_resolver.resolve(ScalarNode, text, (True, False)))
        if tag in _PLAIN:
            return self.represent_scalar(tag, text)  # 3, 1.10 and true: the document's reader takes them for the text that they are
        return self.represent_scalar(_STR, text, style="|" if _literal(text) else None)


_resolver = VersionedResolver()
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool")}
_Representer.add_representer(str, _Representer.represent_text)


def _literal(text: str) -> bool:
    """Returns whether a text can be written line by line: several lines, none of which begins or ends with a space."""
    lines = text.split("\n")
    return len(lines) > 1 and bool(lines[0]) and not text.endswith("\n\n") and all(line == line.strip() for line in lines)


def to_yaml(value: Any) -> str:
    """Returns a document's value as YAML 1.2. `document.parse` returns the same value again. Keys keep their order.

    A value with control characters is written as JSON, which YAML 1.2 accepts: no style of YAML keeps all of them.
    """
    as_json = to_json(value)
    if as_json.isascii() and "\\u" in as_json:
        return as_json
    writer = YAML(typ="safe", pure=True)
    writer.Representer = _Representer
    writer.default_flow_style = False
    writer.allow_unicode = True
    writer.width = _WIDTH
    writer.representer.sort_base_mapping_type_on_output = False
    out = io.StringIO()
    writer.dump(value, out)
    return out.getvalue()


def to_json(value: Any) -> str:
    """Returns a document's value as JSON, with every text in quotes: it is read as the same survey."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return json.dumps(value, indent=2) + "\n" if _CONTROL.search(text) or "\\u" in text else text
