"""Asks the query engine for the organization of the current request, and reads what the request asks for."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from quart import Response, request

from backend.dashboard.analytics.tables import name_of
from backend.dashboard.analytics.view import FILTERS, View, asks_for_beginning, read_view
from backend.dashboard.frame.blueprint import org_id
from backend.domain.analytics.answer import AnalyticsAnswer, NamedLink
from backend.domain.analytics.query import Field, Query, QueryField, field_label
from backend.domain.clicks.rows import RowFormat
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.ids import LinkId, OrgId
from backend.storage.accounts.organizations import get_organization
from backend.storage.analytics.clicks.latest_clicks import FirstDay
from backend.storage.analytics.client import Analytics
from backend.storage.analytics.query_file import QueryFile
from backend.storage.analytics.query_questions import AskQuery
from backend.storage.analytics.question import Question
from backend.storage.links.links import find_links
from backend.web.current import resources
from backend.web.file_answer import file_answer
from backend.web.made_file import made_file

RowT = TypeVar("RowT")
_ROWS_PER_PIECE = 5_000


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that is set, and the address of the view without it."""

    label: str
    value: str
    address: str
    is_country: bool = False


async def ask(query: Query, *, is_whole: bool = False) -> AnalyticsAnswer:
    """The answer for the organization that the request acts for."""
    return await resources().analytics.ask(org_id(), AskQuery(query, is_whole))


async def ask_all(queries: Sequence[Query]) -> list[AnalyticsAnswer]:
    """The answers to several queries, as of one moment."""
    return await resources().analytics.ask_all(org_id(), [AskQuery(query) for query in queries])


async def view_of_request(
    choices: Mapping[str, Container[str]], filters: Iterable[QueryField] = FILTERS
) -> View:
    """The view that the request's address names; `choices` are what the page adds to it."""
    now = resources().clock()
    beginning = await _beginning() if asks_for_beginning(request.args) else now.date()
    return read_view(request.args, now, beginning, choices, filters)


async def _beginning() -> date:
    """The day of the organization's first click, or of its creation if that is earlier."""
    organization = await get_organization(resources().database, org_id())
    first_click = await resources().analytics.ask(org_id(), FirstDay())
    return min(filter(None, (first_click, organization.created_at.date())))


async def chips_of(view: View, path: str) -> list[Chip]:
    """The filters of the view."""
    chips = []
    for by, value in view.filters.items():
        links = {}
        if by is Field.LINK and value:
            stored = await find_links(resources().database, [LinkId(value)], org_id())
            links = {link.id: NamedLink(link.domain, link.path, link.link_name) for link in stored.values()}
        name = name_of(by, value, links)
        chips.append(
            Chip(field_label(by), name, view.without_filter(path, by), is_country=by is Field.COUNTRY)
        )
    if view.currency:
        chips.append(Chip("Currency", view.currency, view.address(path, currency=None)))
    return chips


async def csv_of_pages(
    name: str,
    columns: Sequence[str],
    page: Callable[[int, int], Question[tuple[Sequence[RowT], int]]],
    lines_of: Callable[[RowT], Iterable[Sequence[str | None]]],
) -> Response:
    """All rows as a file of this name: the names of its columns, then the lines of each row.

    `page` makes the question for at most so many rows behind so many others, and how many there are in all.
    """
    pieces = _pieces(resources().analytics, org_id(), columns, page, lines_of)
    return await _csv_file(name, pieces)


async def _pieces(
    analytics: Analytics,
    organization: OrgId,
    columns: Sequence[str],
    page: Callable[[int, int], Question[tuple[Sequence[RowT], int]]],
    lines_of: Callable[[RowT], Iterable[Sequence[str | None]]],
) -> AsyncGenerator[bytes, None]:
    yield csv_line(columns).encode()
    skipped = 0
    while True:
        rows, _ = await analytics.ask(organization, page(_ROWS_PER_PIECE, skipped))
        yield "".join(csv_line(line) for row in rows for line in lines_of(row)).encode()
        skipped += len(rows)
        if len(rows) < _ROWS_PER_PIECE:
            return


async def csv_answer(query: Query, name: str) -> Response:
    """All rows of the answer as a file of this name."""
    question = QueryFile(query, resources().short_url_form, RowFormat.CSV)
    return await _csv_file(name, made_file(org_id(), question))


async def _csv_file(name: str, pieces: AsyncGenerator[bytes, None]) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}.csv"'}
    return await file_answer(pieces, RowFormat.CSV.media_type, headers)
