"""The page of a list that a request asks for."""

from __future__ import annotations

from dataclasses import dataclass

from quart import request

PAGE_SIZE = 25
# Skipped items cost time too: for items beyond these, there are search, filters and other orders.
_LAST_PAGE = 400


@dataclass(frozen=True, slots=True)
class Paging:
    """A page of a list. `number` starts at 1; `has_next` is set by `with_total`."""

    number: int
    has_next: bool = False

    @property
    def skip(self) -> int:
        """The number of items before this page."""
        return (self.number - 1) * PAGE_SIZE

    @property
    def has_previous(self) -> bool:
        """Whether there is an earlier page."""
        return self.number > 1

    def with_total(self, total: int) -> Paging:
        """A copy with `has_next` set, of a list with so many items on all pages."""
        return Paging(self.number, total > self.skip + PAGE_SIZE and self.number < _LAST_PAGE)


def paging() -> Paging:
    """The page in the current request's query string; page 1 if there is none."""
    text = request.args.get("page", "1")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
    return Paging(min(max(number, 1), _LAST_PAGE))
