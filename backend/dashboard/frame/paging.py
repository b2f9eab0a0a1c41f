"""Which page of a list a request asks for."""

from __future__ import annotations

from dataclasses import dataclass

from quart import request

PAGE_SIZE = 25
# Skipping costs what is skipped: who is looking for something older than this searches.
_LAST_PAGE = 400


@dataclass(frozen=True, slots=True)
class Paging:
    """A page of a list, from 1 on. `has_next` is known once the page was read."""

    number: int
    has_next: bool = False

    @property
    def skip(self) -> int:
        """How many items come before the page."""
        return (self.number - 1) * PAGE_SIZE

    @property
    def has_previous(self) -> bool:
        """Whether there is a page before this one."""
        return self.number > 1

    def with_items(self, found: int) -> Paging:
        """The page after PAGE_SIZE + 1 items were asked for and `found` came."""
        return Paging(self.number, found > PAGE_SIZE and self.number < _LAST_PAGE)


def paging() -> Paging:
    """The page that the current request's address names; the first where it names none."""
    text = request.args.get("page", "1")
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else 1
    return Paging(min(max(number, 1), _LAST_PAGE))
