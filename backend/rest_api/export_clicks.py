"""GET /clicks/export: single clicks as a file (docs/rest-api.md, "Export single clicks")."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Any

from quart import Response, request

from backend.current import resources
from backend.domain.click_rows import RowFormat, Selection
from backend.domain.field_rules import Instant, Rule, Uuid, Word
from backend.json_api import error_table
from backend.json_api.refusal import Refusal
from backend.rest_api.blueprint import caller, rest
from backend.rest_api.query_string import query_refusal, read_query
from backend.storage.click_retention import single_clicks_since
from backend.storage.links import find_link
from backend.storage.organizations import get_organization
from backend.storage.single_clicks import written_clicks

# From when on no click has been deleted for its age; absent where clicks are kept without limit.
SINCE_HEADER = "Waylink-Clicks-Since"
MOST_DAYS = 400
# How long a client may take to read the whole, and to read one piece.
LONGEST_SECONDS = 3600.0
PIECE_SECONDS = 60.0
_PIECE_BYTES = 64 * 1024


QUERY: dict[str, Rule[Any]] = {
    "from": Instant(),
    "to": Instant(),
    "link": Uuid(),
    "format": Word(RowFormat),
}


@rest.get("/clicks/export")
async def export_clicks() -> Response:
    """The organization's clicks of a time, streamed as CSV or as lines of JSON."""
    given, now = read_query(QUERY), resources().clock()
    selection = await _selection(given, now)
    form = RowFormat(given.get("format", RowFormat.CSV))
    organization = await get_organization(resources().database, caller().org_id)
    headers = {"Content-Disposition": f'attachment; filename="clicks.{form}"'}
    if since := single_clicks_since(organization.click_days, now):
        headers[SINCE_HEADER] = since.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    body = _nothing() if request.method == "HEAD" else await _begun(selection, form)
    response = Response(body, content_type=form.media_type, headers=headers)
    response.timeout = LONGEST_SECONDS
    return response


async def _selection(given: dict[str, Any], now: datetime) -> Selection:
    if "from" not in given:
        raise query_refusal("from", "parameter is required")
    start, end = given["from"], given.get("to", now)
    if end < start:
        raise query_refusal("to", "must not be before from; without it, it is now")
    if end - start > timedelta(days=MOST_DAYS):
        raise query_refusal("from", f"must be at most {MOST_DAYS} days before to")
    link_id = given.get("link")
    if link_id and await find_link(resources().database, link_id, caller().org_id) is None:
        raise Refusal(error_table.LINK_NOT_FOUND)
    return Selection(start, end, link_id)


async def _begun(selection: Selection, form: RowFormat) -> AsyncGenerator[bytes, None]:
    """The pieces of the file. The first clicks are read at once: what fails until then gets an answer."""
    pieces = written_clicks(
        resources().database, caller().org_id, selection, form, resources().short_url_form
    )
    head = await anext(pieces)
    return _in_time(head + await anext(pieces, b""), pieces)


async def _nothing() -> AsyncGenerator[bytes, None]:
    yield b""


async def _in_time(first: bytes, others: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    """These pieces, for as long as the client reads them.

    An error ends the connection without the end of the body, so that nobody takes a part for the whole.
    """
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
