"""Tries that were counted as wrong when they began, and then could not be carried out."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from backend.storage.driver.deadlines import new_deadline
from backend.storage.driver.mongo import StorageError

# The request's own time may be over by then.
_UNDO_SECONDS = 2.0
_log = logging.getLogger("waylink.rate_limits")


@asynccontextmanager
async def undone_after_errors(undo: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """A block that carries a try out. Where an error ends it, nothing was tried, and `undo` is called.

    It is not where the request is cancelled: else whoever hangs up would have as many tries as they like.
    """
    try:
        yield
    except Exception:
        try:
            with new_deadline(_UNDO_SECONDS):
                await undo()
        except StorageError as error:
            _log.warning("A try that was not carried out counts as wrong: %s", type(error).__name__)
        raise
