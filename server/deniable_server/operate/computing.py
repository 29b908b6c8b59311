"""Computing process for researchers' requests: it only reads the database, and runs one task after the other."""

from __future__ import annotations

import gc
import os
import resource
import secrets
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from flask import Flask, Response, g, session
from werkzeug.exceptions import HTTPException
from werkzeug.wsgi import FileWrapper

from deniable.errors import DeniableError
from deniable_server import create_app
from deniable_server.operate import logs
from deniable_server.store import open_store
from deniable_server.web.offload import ANNOUNCE, MESSAGES, Begun, Broken, Failure, MessagesShown, ProcessReply, Task, TooMuchError

NICENESS = "DENIABLE_NICENESS"  # the environment variable with the niceness of these processes, 0 to 19; by default 10
MOST_MEMORY = 3 << 30  # bytes of data
MODULE = "deniable_server.operate.computing"


def main() -> None:
    """Runs the tasks that arrive over the socket whose number is the last argument, until the server closes it."""
    os.nice(int(os.environ.get(NICENESS, "10")))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # no core dump, which would write the memory to the disk
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    for number in (signal.SIGINT, signal.SIGTERM):  # a terminal sends these to the whole group; the server ends this process
        signal.signal(number, signal.SIG_IGN)
    connection = Connection(int(sys.argv[-1]))
    (config, log), folder = connection.recv()
    tempfile.tempdir = folder
    _end_with_the_server(Path(folder).parent)
    logs.begin(log)
    app = create_app(config, open_store(config.db, writing=False))
    gc.freeze()
    while (task := _next(connection)) is not None:
        _limit(task.seconds)
        connection.send(_run(app, task, connection))


def _next(connection: Connection) -> Task | None:
    try:
        task: Task = connection.recv()
    except (EOFError, OSError):
        return None
    return task


def _limit(seconds: int) -> None:
    """Limits this process to so many more seconds of computing; then it ends."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))


def _end_with_the_server(folder: Path) -> None:
    """Ends this process when the server has gone: the server holds the other end of the standard input, and writes nothing to it."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)

    threading.Thread(target=watch, name="deniable-server-is-gone", daemon=True).start()


def _run(app: Flask, task: Task, connection: Connection) -> Any:
    """Runs a task and returns its result or its failure."""

    def announce(response: Response) -> None:
        connection.send(Begun(_with_link(response)))

    try:
        return _call(app, task, announce)
    except MemoryError:
        return Failure.of(TooMuchError("this takes more memory than a request may use: ask for less, or use the command line"))
    except (DeniableError, HTTPException) as error:
        return Failure.of(error)


def _call(app: Flask, task: Task, announce: Callable[[Response], None]) -> Any:
    """Calls the function in the context of its request, which is already authorized."""
    module, name = task.function.split(":")
    function = getattr(import_module(module), name)
    environ = {**task.environ, "wsgi.input": BytesIO(), "wsgi.errors": sys.stderr, "wsgi.file_wrapper": FileWrapper, ANNOUNCE: announce}
    with app.request_context(environ):
        session.update(task.session)
        for attribute, value in task.identity.items():
            if value is not None:
                setattr(g, attribute, value)
        try:
            result = function(*task.arguments, **task.keywords)
        except (DeniableError, HTTPException, MemoryError):
            raise
        except Exception as error:  # logged here, where its traceback is
            return Broken(_as_process_reply(app.make_response(app.handle_user_exception(error))))
        reply = _as_process_reply(result) if isinstance(result, Response) else result
        return MessagesShown(reply) if MESSAGES in task.session and MESSAGES not in session else reply


def _as_process_reply(response: Response) -> ProcessReply:
    if not isinstance(response.response, FileWrapper):
        return ProcessReply(response.status_code, response.headers.to_wsgi_list(), response.get_data())
    reply = _with_link(response)
    response.close()
    return reply


def _with_link(response: Response) -> ProcessReply:
    """Returns a reply whose file is outside this process's own folder, which is deleted with it."""
    path = Path(tempfile.gettempdir()).parent / secrets.token_hex(16)
    os.link(cast(FileWrapper, response.response).file.name, path)
    return ProcessReply(response.status_code, response.headers.to_wsgi_list(), b"", str(path))


if __name__ == "__main__":
    main()
