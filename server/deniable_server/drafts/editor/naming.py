"""Short names for links, made from titles."""

from __future__ import annotations

import re
import unicodedata

_MOST = 40  # characters


def id_of_title(title: str) -> str:
    """Returns an id made of a title's letters and digits; empty for a title without letters of the Latin alphabet."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    if len(words) > _MOST:
        words = words[:_MOST].rpartition("-")[0] or words[:_MOST]
    return words if re.search("[a-z]", words) else ""
