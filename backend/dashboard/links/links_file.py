"""/links.csv: all links that the list shows on its pages, in its order, with their figures."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from quart import Response

from backend.dashboard.analytics.figures import number
from backend.dashboard.frame.blueprint import dashboard, needs, org_id
from backend.dashboard.links.figures import MEASURES, CountedLinks
from backend.dashboard.links.link_query import LinkQuery, read_link_query
from backend.domain.accounts.permissions import Permission
from backend.domain.analytics.answer import Values
from backend.domain.analytics.measures import ByCurrency, Measure, Shown
from backend.domain.errors import InvalidField
from backend.domain.fields.spreadsheets import csv_line
from backend.domain.ids import LinkId, OrgId
from backend.domain.links.links import Link
from backend.domain.links.tags import Tag, tags_on
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.driver.mongo import Database, StorageError, is_too_slow
from backend.storage.links.lists.listing import TooManyToRank, find_in_order, list_sorted, place_of
from backend.storage.links.tags import find_tags_of
from backend.web.current import resources
from backend.web.file_answer import file_answer

_LINKS_PER_BATCH = 1_000
_HEADINGS = (
    "id", "link_name", "short_url", "destination_url", "campaign", "tags", "state", "made", "clicks",
    "conversions",
)  # fmt: skip
_NOTHING: Values = {Measure.CLICKS: 0, Measure.CONVERSIONS: 0}


@dashboard.get("/links.csv")
@needs(Permission.LINKS_READ)
async def links_csv() -> Response:
    """The CSV file. A query that can't be answered is refused before the file begins."""
    query = await read_link_query()
    if problems := dict(query.view.errors) | dict(query.errors):
        return _refused(" ".join(f"{name} {rule}." for name, rule in problems.items()))
    try:
        file = await _LinksFile.of(query)
    except (InvalidField, TooManyToRank):
        return _refused("These are too many links for one file. A filter or a shorter period leaves fewer.")
    except StorageError as error:
        if not is_too_slow(error):
            raise
        return _refused("That took too long. A filter or a shorter period takes less.")
    headers = {"Content-Disposition": 'attachment; filename="waylink-links.csv"'}
    return await file_answer(file.lines(), "text/csv; charset=utf-8", headers)


@dataclass(frozen=True, slots=True)
class _LinksFile:
    """The content of the file. `ids` is the order of links if it is by a figure; else None.

    It does not use the current request, which is over when the file is sent.
    """

    database: Database
    org_id: OrgId
    query: LinkQuery
    form: ShortUrlForm
    now: datetime
    currencies: Sequence[str]
    counted: Mapping[LinkId, Values]
    ids: Sequence[LinkId] | None

    @classmethod
    async def of(cls, query: LinkQuery) -> _LinksFile:
        """Read the figures of all links. Raises InvalidField and TooManyToRank for too many links."""
        database, form, now = resources().database, resources().short_url_form, resources().clock()
        counted = await CountedLinks.of(query.view, *MEASURES)
        ids = None
        if query.measure:
            ids = await counted.ranked(query.filter, query.measure, is_descending=query.is_descending)
        return cls(database, org_id(), query, form, now, counted.currencies, counted.by_link, ids)

    async def lines(self) -> AsyncGenerator[bytes, None]:
        """The lines of the file, in batches."""
        split = [f"conversions_{currency}" for currency in self._split]
        amounts = [f"revenue_{currency}" for currency in self.currencies]
        yield csv_line([*_HEADINGS, *split, *amounts]).encode()
        if not self.query.can_match:
            return
        async for links in self._links():
            tags = await find_tags_of(self.database, links)
            yield "".join(self._line(link, tags_on(link.tag_ids, tags)) for link in links).encode()

    @property
    def _split(self) -> Sequence[str]:
        """The currencies that have a column of conversions: none if the view is of one currency."""
        return () if self.query.view.currency else self.currencies

    async def _links(self) -> AsyncGenerator[Sequence[Link], None]:
        if self.ids is not None:
            for start in range(0, len(self.ids), _LINKS_PER_BATCH):
                ids = self.ids[start : start + _LINKS_PER_BATCH]
                yield await find_in_order(self.database, self.org_id, ids)
            return
        sort = self.query.link_sort
        assert sort is not None  # without `ids`, the order is by a field of links
        after = None
        while links := await list_sorted(
            self.database,
            self.org_id,
            self.query.filter,
            sort,
            now=self.now,
            after=after,
            limit=_LINKS_PER_BATCH,
        ):
            yield links
            after = place_of(links[-1], sort.order)

    def _line(self, link: Link, tags: Sequence[Tag]) -> str:
        figures = self.counted.get(link.id, _NOTHING)
        made = link.created_at.astimezone(self.query.view.zone).isoformat()
        return csv_line(
            [
                link.id,
                link.link_name,
                self.form.write(link.domain, link.path),
                link.destination_url,
                link.utm.get("utm_campaign"),
                ", ".join(tag.name for tag in tags),
                link.state_at(self.now),
                made,
                str(figures[Measure.CLICKS]),
                str(figures[Measure.CONVERSIONS]),
                *_by_currency(figures, ByCurrency.CONVERSIONS, self._split),
                *_by_currency(figures, Measure.REVENUE, self.currencies),
            ]
        )


def _by_currency(figures: Values, measure: Shown, currencies: Sequence[str]) -> list[str]:
    value = figures.get(measure, 0)
    return [str(number(value, currency) or 0) for currency in currencies]


def _refused(why: str) -> Response:
    return Response(f"{why}\n", 422, content_type="text/plain; charset=utf-8")
