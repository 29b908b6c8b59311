"""Failures of PostgreSQL by their SQLSTATE codes, in words for operators."""

from __future__ import annotations

import psycopg

WORDS = {
    "08006": "does not answer",
    "08004": "refuses the connection",
    "28000": "refuses the role or its password",
    "3D000": "is not there",
    "53100": "has a full disk",
    "53300": "refuses more connections",
    "57P03": "is starting or stopping",
}
_TEXTS = {
    "too many": "53300",
    "connection slots are reserved": "53300",
    "is starting up": "57P03",
    "is shutting down": "57P03",
    "recovery mode": "57P03",
    "password": "28000",
    "authentication": "28000",
    "role": "28000",
    "database": "3D000",
}
"""Words in messages of refused connections: libpq passes on the server's text, but not its code."""


def code_of(error: psycopg.Error) -> str:
    """Returns the SQLSTATE of an error; for a failed connection, the one that its text implies, 08006 without any text."""
    if error.sqlstate:
        return "57P03" if error.sqlstate.startswith("57P") else error.sqlstate
    _, fatal, reason = str(error).partition("FATAL:")
    if not fatal:
        return "08006"
    return next((code for words, code in _TEXTS.items() if words in reason), "08004")


def in_words(code: str) -> str:
    """Returns a line about the database with the code. It quotes no text that the server or a client sent."""
    return f"the database {WORDS.get(code, 'cannot be used')} ({code})"
