"""What came of links in a period: the figures of a page of them, and the order of many by one figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from backend.concurrency.side_thread import beside_the_loop
from backend.dashboard.analytics.answers import ask
from backend.dashboard.analytics.figures import currencies_of, number
from backend.dashboard.analytics.tables import count_of
from backend.dashboard.analytics.view import View
from backend.dashboard.frame.blueprint import org_id
from backend.domain.analytics.query import Field, Measure, Query
from backend.domain.ids import LinkId
from backend.domain.links.listing import LinkFilter
from backend.storage.analytics.query_questions import CountByLink
from backend.storage.links.lists.listing import MOST_RANKED, matching_ids, sorted_by_values
from backend.web.current import resources

MEASURES = (Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE)


@dataclass(slots=True)
class LinkFigures:
    """What came of a link. `revenue` is by currency, `course` clicks by parts of the period, oldest first."""

    clicks: int = 0
    conversions: int = 0
    revenue: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    course: Sequence[int] = ()


async def currencies_shown(view: View) -> list[str]:
    """The currencies that amounts are shown in, the main one first."""
    return currencies_of(view, (await ask(view.query(Measure.REVENUE))).totals.values)


async def figures_of(
    view: View, ids: Iterable[LinkId], currencies: Sequence[str]
) -> dict[LinkId, LinkFigures]:
    """The figures of these links, amounts in these currencies."""
    wanted = frozenset(ids)
    labels = view.period.spans(view.time_field).labels
    courses = {each: dict.fromkeys(labels, 0) for each in wanted}
    found = {each: LinkFigures() for each in wanted}
    if wanted:
        rows = await ask(_query(view, wanted), is_whole=True)
        for row in rows.rows:
            of, label = LinkId(row.group[0] or ""), row.group[1]
            figures = found[of]
            figures.clicks += count_of(row.values)
            figures.conversions += count_of(row.values, Measure.CONVERSIONS)
            for each in currencies:
                figures.revenue[each] += Decimal(number(row.values[Measure.REVENUE], each) or 0)
            courses[of][label] = count_of(row.values)
    for each, figures in found.items():
        figures.course = list(courses[each].values())
    return found


def _query(view: View, wanted: frozenset[LinkId]) -> Query:
    return Query(
        period=view.period,
        measures=MEASURES,
        group_by=(Field.LINK, Field(view.time_field)),
        filters={Field.LINK: frozenset[str | None](wanted)},
        currency=view.currency,
    )


async def rank(
    view: View, wanted: LinkFilter, measure: Measure, currency: str, *, is_descending: bool
) -> list[LinkId]:
    """The ids of all links that match, sorted by what came of them. Raises TooManyToRank.

    By revenue, this currency decides.
    """
    database = resources().database
    ids = await matching_ids(database, org_id(), wanted, resources().clock(), MOST_RANKED)
    counted = await resources().analytics.ask(org_id(), CountByLink(counts_of_links(view, measure)))
    values = {link_id: number(each[measure], currency) or 0 for link_id, each in counted.items()}
    return await beside_the_loop(partial(sorted_by_values, ids, values, is_descending=is_descending))


def counts_of_links(view: View, *measures: Measure) -> Query:
    """The query for what came of all links in the view's period, in its currency if it has one."""
    return Query(
        period=view.period, measures=measures, group_by=(Field.LINK,), currency=view.currency, now=view.now
    )
