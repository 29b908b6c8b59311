"""Names of accounts, keys and passkeys: one rule for pages and commands."""

from __future__ import annotations

LONGEST = 64  # characters


def readable(what: str, written: str) -> str:
    """Returns a name as lists show it, without blanks at its ends.

    Args:
        what: What it is the name of, for the message: "the key's name".
        written: The name as it was typed.

    Raises:
        ValueError: It is empty, longer than LONGEST, or has characters that cannot be printed.
    """
    name = written.strip(" ")
    if not 1 <= len(name) <= LONGEST or not name.isprintable():
        raise ValueError(f"{what} must be 1 to {LONGEST} printable characters")
    return name
