"""The list of rows that were left out: a file that is never that of the answers, and stays as it was until there is a new one."""

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
    """Raises click.BadParameter where the list would take the answers' place, or could not be written once all is sent."""
    if path == "-":
        return
    if not os.path.basename(path):
        raise _wrong("must name a file")
    folder = os.path.dirname(os.path.realpath(path))
    try:
        if _is_input(os.stat(path), answers):
            raise _wrong("must be another file than the answers', which it would replace")
    except FileNotFoundError:
        if not os.path.isdir(folder):
            raise _wrong(f"there is no folder {folder}") from None
        if not os.access(folder, os.W_OK | os.X_OK):
            raise _wrong(f"no file can be made in {folder}") from None
    except OSError as error:
        raise _wrong(str(error)) from None


def _wrong(told: str) -> click.BadParameter:
    return click.BadParameter(told, param_hint="--rejects")


def _is_input(found: os.stat_result, answers: str) -> bool:
    """Whether this is the file that the answers are read from. A terminal can be both read and written."""
    with suppress(OSError, ValueError):  # a standard input that is no file
        read = os.fstat(sys.stdin.fileno()) if answers == "-" else os.stat(answers)
        return stat.S_ISREG(found.st_mode) and os.path.samestat(found, read)
    return False


def write(path: str, rejected: Sequence[RejectedRow]) -> None:
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(RejectedRow._fields)
    writer.writerows(rejected)
    stream = _standard(path)
    if stream is not None:
        click.echo(text.getvalue().encode(), file=stream, nl=False)
    elif os.path.exists(path) and not os.path.isfile(path):
        _write(path, text.getvalue())
    else:
        _replace(path, text.getvalue())


def _standard(path: str) -> IO[str] | None:
    """Standard output or error, if that is what the path names: a file put in its place would miss what is printed later."""
    if path == "-":
        return sys.stdout
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # a stream that is no file, or a path where no file is
            if os.path.samestat(os.stat(path), os.fstat(stream.fileno())):
                return stream
    return None


def _replace(path: str, text: str) -> None:
    """Puts the text in the file's place once all of it is on the disk, so that what fails leaves the file as it was."""
    target = os.path.realpath(path)
    made = os.path.join(os.path.dirname(target), f".deniable-{secrets.token_hex(8)}")
    try:
        with open(made, "x", encoding="utf-8") as file:
            file.write(text)
        with suppress(FileNotFoundError):
            shutil.copymode(target, made)
        os.replace(made, target)
    except PermissionError:  # the folder takes no file beside it, or it is another user's: it may take the text all the same
        _write(path, text)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(made)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
