"""Labels that a file format has no room for."""

from __future__ import annotations

from collections.abc import Mapping


def cut(text: str, most: int, tail: str = "…") -> str:
    """A text of at most so many bytes of UTF-8; what is cut off is shown by an ellipsis, or by another tail."""
    raw = text.encode()
    return text if len(raw) <= most else raw[: most - len(tail.encode())].decode(errors="ignore") + tail


def cut_all(labels: Mapping[int, str], most: int) -> dict[int, str]:
    """The same of several texts, which stay different: those that are cut end with their numbers."""
    return {code: cut(label, most, f"… ({code})") for code, label in labels.items()}
