"""File of rejected rows: written atomically, and never over the file of answers."""

from __future__ import annotations

import csv
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO
from typing import IO

import click

from deniable.errors import RejectedRow


def check(path: str, answers: str) -> None:
    """Raises click.BadParameter if the file would replace the answers, or could not be written after the rows are sent."""
    if path == "-":
        return
    if not os.path.basename(path):
        raise _invalid("must name a file")
    folder = os.path.dirname(os.path.realpath(path))
    try:
        if _is_input(os.stat(path), answers):
            raise _invalid("must be another file than FILE, which it would replace")
    except FileNotFoundError:
        if not os.path.isdir(folder):
            raise _invalid(f"there is no folder {folder}") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise _invalid(f"no file can be made in {folder}") from None
    except OSError as error:
        raise _invalid(str(error)) from None


def _invalid(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--rejects")


def _is_input(status: os.stat_result, answers: str) -> bool:
    """Returns whether this is the file of answers. A terminal can be both read and written."""
    with suppress(OSError, ValueError):  # standard input that is not a file
        source = os.fstat(sys.stdin.fileno()) if answers == "-" else os.stat(answers)
        return stat.S_ISREG(status.st_mode) and os.path.samestat(status, source)
    return False


def write(path: str, rejected: Sequence[RejectedRow]) -> None:
    """Writes the rejected rows as CSV, to a file or a standard stream."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(RejectedRow._fields)
    writer.writerows(rejected)
    stream = _standard_stream(path)
    if stream is not None:
        click.echo(text.getvalue().encode(), file=stream, nl=False)
    elif os.path.exists(path) and not os.path.isfile(path):
        _write(path, text.getvalue())
    else:
        _replace(path, text.getvalue())


def _standard_stream(path: str) -> IO[str] | None:
    """Returns standard output or error if the path names it; replacing that file would lose later output."""
    if path == "-":
        return sys.stdout
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a stream that is not a file, or a path that does not exist
            if os.path.samestat(os.stat(path), os.fstat(stream.fileno())):
                return stream
    return None


def _replace(path: str, text: str) -> None:
    """Replaces the file after the whole text is on the disk, so that a failure leaves the file unchanged."""
    target = os.path.realpath(path)
    temporary = os.path.join(os.path.dirname(target), f".deniable-{secrets.token_hex(8)}")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        with suppress(FileNotFoundError):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except PermissionError:  # no new file in this folder, or another user's file: the file itself may still be writable
        _write(path, text)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(temporary)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
