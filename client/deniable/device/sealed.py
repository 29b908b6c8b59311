"""Seal around true answers until their coins are tossed: no error report shows them.

An error report may contain all local variables of every frame that the error passed. So a sealed call lets out only its result, or an
error without the frames that handled answers. Outside sealed calls, answers are held only as a `Sealed`'s arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from types import TracebackType
from typing import Any, NoReturn, ParamSpec, TypeVar

from deniable.errors import AnswerError, DeniableError

P = ParamSpec("P")
T = TypeVar("T")


class Sealed(partial[T]):
    """A call with hidden arguments. It is created without a frame of its own, so no frame ever shows its arguments.

    An error that cannot hold an answer passes through: errors of this package and of the operating system, interrupts, and errors of
    the caller's own code. An AnswerError replaces any other error, and names its type and location.
    """

    __slots__ = ()
    args = keywords = None  # type: ignore[assignment]  # a report may show attributes; a call does not need these two

    def __repr__(self) -> str:
        return "<sealed>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a sealed call must not be copied")

    def __call__(self, /, *args: Any, **kwargs: Any) -> T:
        """Calls the function, and removes everything from an error that may show an answer."""
        failure: BaseException | None
        try:
            return super().__call__(*args, **kwargs)
        except CallersError as carried:
            carried.__traceback__ = None
            failure = carried.error
        except (DeniableError, OSError, MemoryError) as error:
            trace, error.__traceback__, error.__context__, error.__cause__ = error.__traceback__, None, None, None
            failure = _harmless(error, trace)
            trace = None
        except Exception as error:
            trace, error.__traceback__, error.__context__, error.__cause__ = error.__traceback__, None, None, None
            error.args = ()  # so that it quotes nothing even if an interrupt follows
            failure = _harmless(error, trace)
            trace = None
        except BaseException as error:
            # The next line calls nothing, so no interrupt can precede it: CPython checks for signals at calls and loops.
            trace, error.__traceback__, error.__context__, error.__cause__ = error.__traceback__, None, None, None
            failure = _harmless(error, trace)
            trace = None
        try:
            raise failure
        finally:
            failure = None


def sealed(function: Callable[P, T]) -> Callable[P, T]:
    """Makes a function that takes true answers run under a seal."""

    @wraps(function)
    def under_seal(*args: P.args, **kwargs: P.kwargs) -> T:
        call = Sealed(function, *args, **kwargs)
        del args, kwargs
        return call()

    return under_seal


class CallersError(BaseException):
    """Carries an error of the caller's own code out of a seal, unchanged."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def call_callers_code(step: Callable[..., T], *args: Any) -> T:
    """Calls the caller's code, such as a generator of rows. Its errors keep the caller's frames, and lose this package's."""
    try:
        return step(*args)
    except BaseException as error:
        trace = error.__traceback__
        error.__traceback__ = trace.tb_next if trace else None
        own = CallersError(error)
        trace = None
    raise own


def _harmless(error: BaseException, trace: TracebackType | None) -> BaseException:
    error.__suppress_context__ = False  # a suppressed context would hide the error that the caller was handling
    error.__dict__.pop("__notes__", None)
    of_the_system = isinstance(error, OSError) and error.errno is not None  # others come from libraries, and may quote their input
    if of_the_system or isinstance(error, DeniableError | MemoryError) or not isinstance(error, Exception):
        return error
    return AnswerError(
        f"the answers cannot be read: {type(error).__name__} in {_location(trace)}; its message is not shown, since it may quote an answer"
    )


def _location(trace: TracebackType | None) -> str:
    """Returns the last line of this package on the way to an error."""
    location = "the client"
    while trace:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith("deniable"):
            location = f"{module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return location
