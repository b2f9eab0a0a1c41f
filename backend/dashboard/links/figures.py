"""The figures of links in a period: of a page of links, and the order of many links by one figure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

from backend.concurrency.side_threads import LONG_WORK
from backend.dashboard.analytics.figures import currencies_of, number
from backend.dashboard.analytics.tables import count_of
from backend.dashboard.analytics.view import View
from backend.dashboard.frame.blueprint import org_id
from backend.domain.analytics.answer import Values
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.query import MOST_LIMIT, Field, Order, Query
from backend.domain.ids import LinkId
from backend.domain.links.listing import LinkFilter
from backend.storage.analytics.query_questions import AskQuery, CountByLink
from backend.storage.links.lists.listing import MOST_RANKED, matching_ids, sorted_by_values
from backend.web.current import resources

# How many times as many links as are shown are read first, since some of them may not match.
_RESERVE_FACTOR = 4
MEASURES = (Measure.CLICKS, Measure.CONVERSIONS, Measure.REVENUE)


@dataclass(slots=True)
class LinkFigures:
    """What came of a link. `revenue` is by currency, `course` clicks by parts of the period, oldest first."""

    clicks: int = 0
    conversions: int = 0
    revenue: defaultdict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    course: Sequence[int] = ()


async def figures_of(view: View, ids: Iterable[LinkId]) -> tuple[list[str], dict[LinkId, LinkFigures]]:
    """The currencies that amounts are shown in, the main one first, and these links' figures in them."""
    link_ids = frozenset(ids)
    questions = [AskQuery(_revenue(view))]
    if link_ids:
        questions.append(AskQuery(_query(view, link_ids), is_whole=True))
    in_all, *by_link = await resources().analytics.ask_all(org_id(), questions)
    currencies = currencies_of(view, in_all.totals.values)
    labels = view.period.spans(view.time_field).labels
    courses = {link_id: dict.fromkeys(labels, 0) for link_id in link_ids}
    figures_by_link = {link_id: LinkFigures() for link_id in link_ids}
    for row in (row for answer in by_link for row in answer.rows):
        link_id, label = LinkId(row.group[0] or ""), row.group[1]
        figures = figures_by_link[link_id]
        figures.clicks += count_of(row.values)
        figures.conversions += count_of(row.values, Measure.CONVERSIONS)
        for currency in currencies:
            figures.revenue[currency] += Decimal(number(row.values[Measure.REVENUE], currency) or 0)
        courses[link_id][label] = count_of(row.values)
    for link_id, figures in figures_by_link.items():
        figures.course = list(courses[link_id].values())
    return currencies, figures_by_link


def _query(view: View, link_ids: frozenset[LinkId]) -> Query:
    return Query(
        period=view.period,
        measures=MEASURES,
        group_by=(Field.LINK, Field(view.time_field)),
        filters={Field.LINK: frozenset[str | None](link_ids)},
        currency=view.currency,
    )


@dataclass(frozen=True, slots=True)
class CountedLinks:
    """What came of all links, and the currencies of their revenue if it is known, the main one first."""

    currencies: Sequence[str]
    by_link: Mapping[LinkId, Values]

    @classmethod
    async def of(cls, view: View, *measures: Measure) -> CountedLinks:
        """What these measures say of the view's period, in its currency if it has one."""
        query = Query(
            period=view.period,
            measures=measures,
            group_by=(Field.LINK,),
            currency=view.currency,
            now=view.now,
        )
        in_all = [AskQuery(_revenue(view))] if Measure.REVENUE in measures else []
        by_link, *totals = await resources().analytics.ask_all(org_id(), [CountByLink(query), *in_all])
        return cls([name for answer in totals for name in currencies_of(view, answer.totals.values)], by_link)

    async def ranked(self, link_filter: LinkFilter, measure: Measure, *, is_descending: bool) -> list[LinkId]:
        """The ids of all links that match, sorted by a measure. Raises TooManyToRank.

        By revenue, the main currency decides.
        """
        currency = next(iter(self.currencies), "")
        ids = await matching_ids(
            resources().database, org_id(), link_filter, resources().clock(), MOST_RANKED
        )
        values = {
            link_id: number(figures[measure], currency) or 0 for link_id, figures in self.by_link.items()
        }
        sorting = partial(sorted_by_values, ids, values, is_descending=is_descending)
        return await LONG_WORK.run(org_id(), sorting)


async def first_links(
    view: View, link_filter: LinkFilter, measure: Measure, most: int, *, is_descending: bool
) -> list[LinkId]:
    """The ids of at least the first `most` links that match, sorted by a measure. Raises TooManyToRank.

    Usually enough links match among those with the largest figures. Then no others are read.
    """
    if is_descending and (not measure.is_money or view.currency) and most * _RESERVE_FACTOR <= MOST_LIMIT:
        largest = await _largest(view, measure, most * _RESERVE_FACTOR)
        database, now = resources().database, resources().clock()
        matching = set(await matching_ids(database, org_id(), link_filter, now, MOST_RANKED, among=largest))
        if len(matching) >= most:
            return [link_id for link_id in largest if link_id in matching]
    counted = await CountedLinks.of(view, measure)
    return await counted.ranked(link_filter, measure, is_descending=is_descending)


async def _largest(view: View, measure: Measure, most: int) -> list[LinkId]:
    """The ids of the links with the largest figures, without those that have none."""
    query = view.query(measure, by=Field.LINK, order=Order(measure, is_descending=True), limit=most)
    answer = await resources().analytics.ask(org_id(), AskQuery(query))
    return [LinkId(row.group[0]) for row in answer.rows if row.group[0] and row.values[measure]]


def _revenue(view: View) -> Query:
    return view.query(Measure.REVENUE)
