"""Server-sent events: an answer that goes on for as long as its client stays (HTML standard, section 9.2)."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from quart import Response

from backend.storage.driver.mongo import StorageError, is_unreachable
from backend.web.file_answer import read_in_time

MEDIA_TYPE = "text/event-stream"
# Without anything to tell, seconds after which the client hears that the connection lives. Proxies end those
# that are silent for 30 seconds and more.
KEEP_ALIVE_SECONDS = 15.0
# What a client that lost the connection waits until it comes again.
_RETRY = b"retry: 2000\n\n"


@dataclass(frozen=True, slots=True)
class Message:
    """One event of a stream; `id` is where a client that comes again goes on, which it tells as
    `Last-Event-ID`."""

    id: str
    event: str
    data: object  # of JSON

    def __bytes__(self) -> bytes:
        data = json.dumps(self.data, separators=(",", ":"), ensure_ascii=False)  # without line ends
        return f"id: {self.id}\nevent: {self.event}\ndata: {data}\n\n".encode()


def keep_alive(id: str) -> bytes:
    """A comment, and where a client goes on from now: that is no event, since it has no data."""
    return f": nothing new\nid: {id}\n\n".encode()


def event_stream(pieces: AsyncGenerator[bytes, None]) -> Response:
    """The answer with these messages and keep-alives, which goes on until they end or the client leaves.

    It ends also for a client that does not read, and where `pieces` fail as the storage can't be reached:
    clients come again by themselves, and are told then.
    """
    response = Response(read_in_time(_RETRY, _while_it_can(pieces)), content_type=MEDIA_TYPE)
    response.timeout = None
    response.headers["X-Accel-Buffering"] = "no"  # nginx, which else would collect what comes
    return response


async def _while_it_can(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(pieces):
        try:
            async for piece in pieces:
                yield piece
        except StorageError as error:
            if not is_unreachable(error):
                raise
