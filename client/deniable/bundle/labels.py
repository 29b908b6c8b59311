"""Truncation of labels to what a file format allows."""

from __future__ import annotations

from collections.abc import Mapping


def truncate(text: str, most: int, tail: str = "…") -> str:
    """Returns a text of at most `most` bytes of UTF-8; a truncated one ends with `tail`."""
    raw = text.encode()
    return text if len(raw) <= most else raw[: most - len(tail.encode())].decode(errors="ignore") + tail


def truncate_distinctly(labels: Mapping[int, str], most: int) -> dict[int, str]:
    """Returns the labels truncated so that they still differ: a truncated one ends with its number."""
    return {code: truncate(label, most, f"… ({code})") for code, label in labels.items()}
