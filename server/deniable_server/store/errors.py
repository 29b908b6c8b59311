"""Errors that a store raises."""

from __future__ import annotations

from deniable.errors import DeniableError


class StoreError(DeniableError):
    """Base class of a store's errors."""


class UnknownSurveyError(StoreError):
    """No published survey has this id."""


class UnknownDraftError(StoreError):
    """No draft has this id."""


class TooManyDraftsError(StoreError):
    """The author has the most drafts that one person may have. Nothing was stored."""


class TooManyQuestionsError(StoreError):
    """The author has the most saved questions that one person may have. Nothing was stored."""


class ClosedError(StoreError):
    """The survey is closed and accepts no more submissions."""


class GroupFullError(ClosedError):
    """The group has all its records, so the survey is closed for it. Nothing was stored."""


class OpenError(StoreError):
    """The survey is open; only a closed one can be archived."""


class QuotaError(StoreError):
    """A quota breaks a rule. Nothing was changed."""


class PausedError(StoreError):
    """The survey is paused. Nothing was stored; send the submission again later."""


class ConflictError(StoreError):
    """The id is in use: by a submission with other bytes, by a withdrawn one, or by another published definition."""


class InvitationError(StoreError):
    """The invitation code is unknown to this survey or used; the error does not reveal which."""


class AccountLinkError(StoreError):
    """The account link does not exist, is used or has expired."""


class UnknownAccountError(StoreError):
    """No account has this name."""


class UnknownTeamError(StoreError):
    """No team has this name."""


class LastError(StoreError):
    """The survey must keep an owner, the server an operator, or the account a way to log in."""


class FullError(StoreError):
    """The disk is full. Nothing of the request was stored; it may be sent again."""


class UnavailableError(StoreError):
    """The database cannot be read or written now. Nothing of the request was stored; it may be sent again."""


class MovedError(UnavailableError):
    """The database was moved to another one, or a move to it is not finished. Nothing of the request was stored."""


class BusyError(UnavailableError):
    """Another process holds the database for longer than a request may wait."""


def busy() -> BusyError:
    """Returns the error for a request that did not get its turn in time and was cancelled."""
    return BusyError("the server's database is busy; nothing was stored, send the same again later")
