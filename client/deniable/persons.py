"""Persons and rows are known by a key that whoever sends answers chose: one form for all ways to write it. It is no answer."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np


def known_by(person: Any) -> str | None:
    """A person's key in one form: text in composed characters, or a whole number, without space around; None where it is neither."""
    if isinstance(person, bool) or not isinstance(person, str | int | np.integer):
        return None
    return unicodedata.normalize("NFC", str(person)).strip() or None
