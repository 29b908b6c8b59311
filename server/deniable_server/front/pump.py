"""Pump: sends growing files through named pipes, with one thread for any number of slow clients.

Granian sends a file up to its end, and reads a named pipe like a file: as fast as its client takes it. At the end of the pipe it ends the
reply in order. The file of a build that fails must not end so, or its client would take it for complete. So granian's end of the pipe
then becomes non-blocking: the next read is an error, and granian closes the connection in the middle of a chunk.
"""

from __future__ import annotations

import fcntl
import os
import select
import threading
from contextlib import suppress
from time import monotonic

from deniable_server.web.downloads import DESCRIPTORS, GrowingFile

CHUNK = 1 << 16  # bytes, the size of a pipe
BURST = 16  # chunks in turn for each file
TICK = 0.005  # seconds between two looks at the files
OPENED_SECONDS = 10.0  # until granian has opened a pipe


class Pump:
    """Follows growing files. Its thread runs while there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipes: list[_Pipe] = []
        self._runs = False

    def follow(self, file: GrowingFile) -> str:
        """Sends a file through a named pipe and closes the file in the end. Returns the path of the pipe, to be opened by the reader."""
        try:
            pipe = _Pipe(file)
        except OSError:
            file.close()
            raise
        with self._lock:
            self._pipes.append(pipe)
            if not self._runs:
                threading.Thread(target=self._run, name="deniable-pump", daemon=True).start()
                self._runs = True
        return str(pipe.path)

    def _run(self) -> None:
        while pipes := self._open_pipes():
            poll = select.poll()
            waits = [pipe for pipe in pipes if pipe.step()]
            for pipe in waits:
                poll.register(pipe.descriptor, select.POLLOUT)
            poll.poll(TICK * 1000)

    def _open_pipes(self) -> list[_Pipe]:
        with self._lock:
            self._pipes = [pipe for pipe in self._pipes if not pipe.is_closed]
            self._runs = bool(self._pipes)
            return list(self._pipes)


class _Pipe:
    """A growing file and the named pipe through which it is sent.

    The last byte is held back until the file is complete: it wakes the reader of a pipe whose build has failed.
    """

    def __init__(self, file: GrowingFile) -> None:
        self._file = file
        self.path = file.path.with_name(f"{file.path.name}-{id(self):x}")
        os.mkfifo(self.path, 0o600)
        self.descriptor = -1  # until the reader has opened it
        self.is_closed = False
        self._sent, self._deadline = 0, monotonic() + OPENED_SECONDS
        self._has_failed = self._is_broken = False

    def step(self) -> bool:
        """Sends what there is and what the pipe can hold. Returns whether there is more to send when the pipe has room."""
        try:
            return self._is_open() and (self._break() if self._has_failed else self._send())
        except BrokenPipeError:  # the client has left
            self._close()
        except OSError:  # the file cannot be read
            self._has_failed = True
        return False

    def _is_open(self) -> bool:
        """Opens the pipe for writing, which is possible once granian has opened it for reading. Returns whether it is open."""
        if self.descriptor < 0:
            with suppress(OSError):  # it has no reader yet
                self.descriptor = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
                self.path.unlink()
            if self.descriptor < 0 and monotonic() > self._deadline:
                self._close()
        return self.descriptor >= 0

    def _send(self) -> bool:
        state, size = self._file.progress()
        end = size if state == "complete" else size - 1
        for _ in range(BURST):
            if self._sent >= end:
                break
            try:
                self._sent += os.write(self.descriptor, self._file.read(self._sent, min(CHUNK, end - self._sent)))
            except BlockingIOError:
                return True
        self._has_failed = state == "failed" and self._sent >= end
        if _has_left(self.descriptor) or (state == "complete" and self._sent >= end):
            self._close()
            return False
        return self._sent < end

    def _break(self) -> bool:
        """Makes the reader fail. It waits for a byte, gets the last one, and then an error, because there is no further byte."""
        if not self._is_broken and _unblock_reader(self.descriptor):
            self._is_broken = True
            with suppress(BlockingIOError):  # it has not read the pipe yet
                os.write(self.descriptor, self._file.read(self._sent, 1))
        if _has_left(self.descriptor):
            self._close()
        return False

    def _close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1
        self.is_closed = True
        self.path.unlink(missing_ok=True)
        self._file.close()


def _has_left(descriptor: int) -> bool:
    """Returns whether a pipe has no reader any more."""
    poll = select.poll()
    poll.register(descriptor, 0)
    return bool(poll.poll(0))


def _unblock_reader(descriptor: int) -> bool:
    """Makes the other end of a pipe non-blocking, which is a descriptor of this process. Returns False if it is not there.

    The descriptor is not duplicated: to close a duplicate of one of SQLite's would release SQLite's locks on the file.
    """
    pipe = os.fstat(descriptor)
    for name in os.listdir(DESCRIPTORS):
        with suppress(OSError):  # closed meanwhile
            flags = fcntl.fcntl(int(name), fcntl.F_GETFL)
            if flags & os.O_ACCMODE == os.O_RDONLY and os.path.samestat(os.fstat(int(name)), pipe):
                fcntl.fcntl(int(name), fcntl.F_SETFL, flags | os.O_NONBLOCK)
                return True
    return False


PUMP = Pump()
"""The pump of this process."""
