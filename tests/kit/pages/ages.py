"""Browsers of other years: what the page needs and what came later, to be taken away from one of today."""

from __future__ import annotations

import json
import re
from pathlib import Path

from deniable_server.paths import BROWSER

_SUPPORT = (BROWSER / "support.js").read_text(encoding="utf-8")
NEEDS = re.findall(r'"([A-Za-z0-9.]+)"', _SUPPORT.split("var NEEDS = [")[1].split("function has")[0])
"""What the page looks for before it asks anything."""
NEWER = json.loads((Path(__file__).parents[2] / "vendor" / "newer_apis.json").read_text(encoding="utf-8"))
"""What any browser got after its oldest version that can answer."""


def without(*paths: str) -> str:
    """A script that takes these away, as they are missing in a browser that never had them: from objects, prototypes and the window."""
    return f"""{{
      const {{ hasOwn, getPrototypeOf }} = Object;
      for (const path of {json.dumps(paths)}) {{
        const parts = path.replace(/^Window\\.prototype\\./, "").split("."), name = parts.pop();
        let owner = parts.reduce((found, part) => found?.[part], window);
        while (owner && !hasOwn(owner, name) && !/prototype/.test(path)) owner = getPrototypeOf(owner); // history.x, where it is defined
        if (owner && hasOwn(owner, name) && delete owner[name]) window.taken = (window.taken ?? 0) + 1;
      }}
    }}"""
