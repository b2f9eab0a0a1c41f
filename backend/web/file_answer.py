"""Answers that are files, sent while they are written, for as long as the client reads them; also the pieces
of other long answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing

from quart import Response, request

# How long a client may take to read the whole, and to read one piece.
LONGEST_SECONDS = 3600.0
PIECE_SECONDS = 60.0
_PIECE_BYTES = 64 * 1024


async def file_answer(
    pieces: AsyncGenerator[bytes, None], content_type: str, headers: Mapping[str, str]
) -> Response:
    """The answer with these pieces as its body.

    The first two are read at once: what fails until then gets an answer. An error in a later one ends the
    connection without the end of the body, so that nobody takes a part for the whole.
    """
    body = _nothing() if request.method == "HEAD" else await _begun(pieces)
    response = Response(body, content_type=content_type, headers=dict(headers))
    response.timeout = LONGEST_SECONDS
    return response


async def _begun(pieces: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    head = await anext(pieces, b"")
    return read_in_time(head + await anext(pieces, b""), pieces)


async def _nothing() -> AsyncGenerator[bytes, None]:
    yield b""


async def read_in_time(first: bytes, others: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """These pieces, as long as the client reads each within `PIECE_SECONDS`; else the connection ends."""
    reader = asyncio.current_task()
    assert reader is not None
    async with aclosing(_small_pieces(first, others)) as pieces:
        async for piece in pieces:
            watch = asyncio.get_running_loop().call_later(PIECE_SECONDS, reader.cancel)
            try:
                yield piece
            finally:
                watch.cancel()


async def _small_pieces(first: bytes, others: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(others):
        for piece in _split(first):
            yield piece
        async for large in others:
            for piece in _split(large):
                yield piece


def _split(piece: bytes) -> Iterator[bytes]:
    return (piece[at : at + _PIECE_BYTES] for at in range(0, len(piece), _PIECE_BYTES))
