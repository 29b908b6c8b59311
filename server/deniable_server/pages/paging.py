"""Pagination: the questions of a wide survey that one page of results shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from flask import abort, request

QUESTIONS = 100
"""Questions on a page."""

ALL = "all"
"""Value of the option `page` for all questions on one page."""

T = TypeVar("T")


@dataclass(frozen=True)
class Paging:
    """One of several pages.

    Attributes:
        page: The page, from 1, or None for all questions on one page.
        total: The number of questions on all pages.
    """

    page: int | None
    total: int

    @classmethod
    def of(cls, value: str | None, total: int) -> Paging:
        """Reads the option `page`, by default the first. Raises ValueError if there is no such page."""
        last = cls(1, total).pages
        if value is None:
            return cls(1, total)
        if value == ALL:
            return cls(None if last > 1 else 1, total)
        if not (value.isascii() and value.isdecimal() and len(value) < 7 and 1 <= int(value) <= last):
            raise ValueError(f"page must be a whole number from 1 to {last}, or {ALL}, or left out")
        return cls(int(value), total)

    @property
    def pages(self) -> int:
        """The number of pages, 1 or more."""
        return max(1, -(-self.total // QUESTIONS))

    @property
    def first(self) -> int:
        """The number of the first question on this page, from 1."""
        return 1 if self.page is None else QUESTIONS * (self.page - 1) + 1

    @property
    def last(self) -> int:
        """The number of the last question on this page."""
        return self.total if self.page is None else min(self.total, QUESTIONS * self.page)

    def at(self, page: int) -> Paging:
        """Returns another page, from 1."""
        return Paging(page, self.total)

    def part(self, questions: Sequence[T]) -> Sequence[T]:
        """Returns the questions of this page."""
        return questions[self.first - 1 : self.last]

    def shows(self, index: int) -> bool:
        """Returns whether the question with this index, from 0, is on this page."""
        return self.first <= index + 1 <= self.last

    @staticmethod
    def option(page: int | None) -> str | None:
        """Returns the option `page` in the address of a page; None for the first, whose address has no such option."""
        return ALL if page is None else str(page) if page > 1 else None

    @classmethod
    def option_of(cls, index: int) -> str | None:
        """Returns the option `page` of the page with the question with this index, from 0."""
        return cls.option(index // QUESTIONS + 1)


def requested(total: int, status: int = 400) -> Paging:
    """Returns the requested page of so many questions. Aborts with a status, 400 by default, if there is no such page."""
    try:
        return Paging.of(request.args.get("page"), total)
    except ValueError as error:
        abort(status, str(error))
