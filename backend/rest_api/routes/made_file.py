"""Answers that are files which the process that has the figures makes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from backend.rest_api.routes.blueprint import caller
from backend.storage.analytics.files import FileQuestion
from backend.web.current import resources

_PIECE_BYTES = 256 * 1024


async def made_file(question: FileQuestion) -> AsyncGenerator[bytes, None]:
    """The file that answers the question about the caller's organization. It is whole before its first piece.

    Raises StorageError, and what the question raises, before that.
    """
    async with resources().analytics.file(caller().org_id, question) as made:
        while piece := await asyncio.to_thread(made.file.read, _PIECE_BYTES):
            yield piece
