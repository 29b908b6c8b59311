"""True answers, and what they are until their coins are tossed, are handled under a seal: no error report shows them.

A report of an error may have all local variables of every frame that the error passed. So nothing leaves a sealed call but its
result, or an error without the frames in which answers were handled. Outside of it answers are in a `Sealed` or nowhere.
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
    """A call that nobody sees into. It is made without a frame of its own, so there is no moment at which one shows its arguments.

    Raises what the call raised if that can hold no answer, which is so for this package's errors, errors of the operating system and
    interrupts; what the caller's own code raised; and instead of everything else an AnswerError, which says what it was and where.
    """

    __slots__ = ()
    args = keywords = None  # type: ignore[assignment]  # a report may show attributes; the call goes without these two

    def __repr__(self) -> str:
        return "<sealed>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("what is under a seal is not copied")

    def __call__(self, /, *args: Any, **kwargs: Any) -> T:
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
            error.args = ()  # nor does it quote anything, if an interrupt comes while it is handled
            failure = _harmless(error, trace)
            trace = None
        except BaseException as error:
            # These first lines call nothing, so no interrupt can come before them: CPython looks for signals at calls and loops.
            trace, error.__traceback__, error.__context__, error.__cause__ = error.__traceback__, None, None, None
            failure = _harmless(error, trace)
            trace = None
        try:
            raise failure
        finally:
            failure = None


def sealed(function: Callable[P, T]) -> Callable[P, T]:
    """The same function under a seal, for those that take true answers."""

    @wraps(function)
    def under_seal(*args: P.args, **kwargs: P.kwargs) -> T:
        call = Sealed(function, *args, **kwargs)
        del args, kwargs
        return call()

    return under_seal


class CallersError(BaseException):
    """Carries what the caller's own code raised out of a seal, as it is."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def callers_own(step: Callable[..., T], *args: Any) -> T:
    """Calls into code of the caller's, such as a generator of rows. What it raises keeps the caller's frames, and loses ours."""
    try:
        return step(*args)
    except BaseException as error:
        trace = error.__traceback__
        error.__traceback__ = trace.tb_next if trace else None
        own = CallersError(error)
        trace = None
    raise own


def _harmless(error: BaseException, trace: TracebackType | None) -> BaseException:
    error.__suppress_context__ = False  # that it has no cause would hide what the caller was handling
    error.__dict__.pop("__notes__", None)
    of_the_system = isinstance(error, OSError) and error.errno is not None  # others are of libraries, and may quote what they read
    if of_the_system or isinstance(error, DeniableError | MemoryError) or not isinstance(error, Exception):
        return error
    return AnswerError(
        f"the answers cannot be read: {type(error).__name__} in {_place(trace)}; its message is not shown, since it may quote an answer"
    )


def _place(trace: TracebackType | None) -> str:
    """The last line of this package on the way to an error."""
    place = "the client"
    while trace:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if module.startswith("deniable"):
            place = f"{module}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return place
