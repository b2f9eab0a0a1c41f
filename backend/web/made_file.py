"""Answers that are files made by the analytics process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from backend.domain.ids import OrgId
from backend.storage.analytics.files import FileQuestion
from backend.web.current import resources

_PIECE_BYTES = 256 * 1024


async def made_file(org_id: OrgId, question: FileQuestion) -> AsyncGenerator[bytes, None]:
    """The file that answers the question about the organization. It is whole before its first piece.

    Raises StorageError, and what the question raises, before that.
    """
    async with resources().analytics.file(org_id, question) as made:
        while piece := await asyncio.to_thread(made.file.read, _PIECE_BYTES):
            yield piece
