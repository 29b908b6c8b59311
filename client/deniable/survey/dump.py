"""Writer of survey files, the lossless inverse of `document.py`: plain dicts, lists and texts become YAML or JSON."""

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
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")  # characters that YAML refuses
_WIDTH = 120  # characters of a line, where a text has spaces to break at


class _Representer(SafeRepresenter):
    """Writes a text without quotes if it is read as the same text, and a text of several lines as a block."""

    def represent_text(self, text: str) -> ScalarNode:
        """Returns the node of a text."""
        tag = str(_resolver.resolve(ScalarNode, text, (True, False)))
        if tag in _PLAIN:
            return self.represent_scalar(tag, text)  # `document.parse` reads 3, 1.10 and true as text
        return self.represent_scalar(_STR, text, style="|" if _is_block(text) else None)


_resolver = VersionedResolver()
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool")}
_Representer.add_representer(str, _Representer.represent_text)


def _is_block(text: str) -> bool:
    """Returns whether a text can be a literal block: it has several lines, and none begins or ends with a space."""
    lines = text.split("\n")
    return len(lines) > 1 and bool(lines[0]) and not text.endswith("\n\n") and all(line == line.strip() for line in lines)


def to_yaml(value: Any) -> str:
    """Returns a document's value as YAML 1.2. `document.parse` returns the same value again. Keys keep their order.

    A value with control characters is written as JSON, which YAML 1.2 accepts: no style of YAML preserves them all.
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
    """Returns a document's value as JSON, with every text in quotes. It is read as the same survey."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return json.dumps(value, indent=2) + "\n" if _CONTROL.search(text) or "\\u" in text else text
