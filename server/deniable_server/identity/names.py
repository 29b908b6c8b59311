"""Name validation for accounts, keys and passkeys: one rule for pages and commands."""

from __future__ import annotations

LONGEST = 64  # characters


def check_name(label: str, text: str) -> str:
    """Returns a name without blanks at its ends.

    Args:
        label: The subject of the message: "the key's name".
        text: The name as it was typed.

    Raises:
        ValueError: The name is empty, longer than LONGEST, or has characters that cannot be printed.
    """
    name = text.strip(" ")
    if not 1 <= len(name) <= LONGEST or not name.isprintable():
        raise ValueError(f"{label} must be 1 to {LONGEST} printable characters")
    return name
