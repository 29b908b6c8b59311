"""What a store refuses, and what keeps it from doing its work."""

from __future__ import annotations

from deniable.errors import DeniableError


class StoreError(DeniableError):
    """Base of what a store refuses."""


class UnknownSurveyError(StoreError):
    """No survey with this id is published."""


class UnknownDraftError(StoreError):
    """No draft with this id is kept, or not any more."""


class TooManyDraftsError(StoreError):
    """Whoever begins a draft has as many as one person may keep. Nothing was kept."""


class ClosedError(StoreError):
    """The survey takes no more submissions."""


class OpenError(StoreError):
    """The survey is open; only a closed one can be archived."""


class PausedError(StoreError):
    """The survey takes no submissions for a while. Nothing was kept; it may be sent again later."""


class ConflictError(StoreError):
    """The id is taken: by other bytes of a submission, by one that was withdrawn, or by another published definition."""


class InvitationError(StoreError):
    """The invitation is none of this survey's, or spent; which of the two is not said."""


class UnknownAccountError(StoreError):
    """No account has this name."""


class LastError(StoreError):
    """Somebody has to be left who owns the survey, or who manages accounts."""


class FullError(StoreError):
    """The disk is full. Nothing of the request was kept; it may be sent again."""


class UnavailableError(StoreError):
    """The database cannot be written or read now. Nothing of the request was kept; it may be sent again."""


class BusyError(UnavailableError):
    """Another process has the database for longer than anybody waits."""


def busy() -> BusyError:
    """Of what did not get its turn in time and was taken back."""
    return BusyError("the server's database is busy; nothing was kept, send the same again later")
