"""A naive model of what queries of analytics count: every click and sale of an organization, one by one."""

from __future__ import annotations

import uuid
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any

from bson import Decimal128

from backend.domain.analytics.answer import AnalyticsAnswer, Group, RowKind
from backend.domain.analytics.measures import ByCurrency, Measure
from backend.domain.analytics.period import QueryPeriod
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, Field, Filter, Query, QueryField
from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId, OrgId, TagId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.links import Link
from backend.domain.web.referring_sites import site_of
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag, delete_tag
from tests.facts.clicks import click, ship
from tests.facts.stored_links import insert_links

Facts = dict[QueryField, str | None]
CAME_OF_LINKS = "came of links"
FIRST = datetime(2025, 9, 25, tzinfo=UTC)  # before everything


@dataclass(frozen=True)
class Sale:
    """A lead, a conversion or an install, as it is stored. Without `is_credited`, it has no touch."""

    collection: str
    at: datetime
    link_id: str | None
    utm: Mapping[str, str]
    customer_id: str | None = None
    currency: str | None = None
    revenue: Decimal = Decimal()
    refunds: tuple[Decimal, ...] = ()
    variant: str | None = None
    is_credited: bool = True


@dataclass
class History:
    """What happened on an organization's links."""

    org_id: OrgId
    links: list[Link]
    clicks: list[Click]
    sales: list[Sale]
    tags: dict[TagId, str]

    def naive(self, query: Query, period: QueryPeriod) -> tuple[dict[Group, Counter[Any]], Counter[Any]]:
        """What the query's period has by group, and in all, by looking at each click and each sale."""
        rows: defaultdict[Group, Counter[Any]] = defaultdict(Counter)
        total: Counter[Any] = Counter()
        seen: set[Any] = set()
        links = {link.id: link for link in self.links}

        def add(
            at: datetime,
            facts: Iterable[Facts],
            what: Any,
            once: Any = None,
            kind: RowKind | None = None,
            count: int = 1,
        ) -> None:
            if not period.start <= at < period.end:
                return
            if kind and LINK_FIELDS.intersection(query.filters):
                return
            left = [
                fact | times_of(at, period.zone)
                for fact in facts
                if all(fact[name] in _values(allowed) for name, allowed in query.filters.items())
            ]
            has_links = not LINK_FIELDS.isdisjoint(query.group_by)
            groups = {
                tuple(fact[name] for name in query.group_by) + ((kind,) if kind and has_links else ())
                for fact in left
            }
            places = [(group, rows[group]) for group in groups]
            for place, figures in [*places, ("total", total)] if left else ():
                if once is None:
                    figures[what] += count
                elif (place, what, once) not in seen:
                    seen.add((place, what, once))
                    figures[what] += 1

        for recorded in self.clicks:
            link = links[recorded.link_id]
            of_click: Facts = {
                Field.COUNTRY: recorded.country, Field.PLATFORM: recorded.platform,
                Field.SYSTEM: recorded.system, Field.BROWSER: recorded.browser,
                Field.REFERRER: recorded.referrer_host,
                Field.REFERRING_SITE: site_of(recorded.referrer_host) if recorded.referrer_host else None,
                Field.VARIANT: recorded.variant,
                Field.OUTCOME: recorded.outcome.value, Field.EVENT: None,
            }  # fmt: skip
            if _is_of_variants(query) and recorded.variant is None:
                continue
            facts = [of | of_click for of in self.of_link(link)]
            if not recorded.counted:
                add(recorded.at, facts, Measure.NOT_COUNTED)
                continue
            add(recorded.at, facts, Measure.CLICKS)
            if recorded.outcome is Outcome.APP:
                add(recorded.at, facts, Measure.OPENS)
            if recorded.visitor is not None:
                add(recorded.at, facts, Measure.VISITORS, (recorded.at.date(), recorded.visitor))
        for sale in self.sales_of(query):
            kind = self.kind_of(sale)
            facts = [{field: sale.utm.get(f"utm_{field}") for field in LINK_FIELDS}]
            if kind:
                facts = [{**dict.fromkeys(LINK_FIELDS)}]
            elif sale.link_id:
                facts = self.of_link(links[LinkId(sale.link_id)])
            # No sale names its click, so nobody knows of which country and so on it is.
            of_sale: Facts = {**dict.fromkeys(CLICK_FIELDS | {Field.EVENT}), Field.VARIANT: sale.variant}
            facts = [fact | of_sale for fact in facts]
            add(sale.at, facts, Measure(sale.collection), kind=kind)
            if sale.customer_id and sale.collection != "installs":
                add(sale.at, facts, Measure.CONTACTS, sale.customer_id, kind)
            if sale.customer_id and sale.currency:
                add(sale.at, facts, Measure.CUSTOMERS, sale.customer_id, kind)
            if sale.currency:
                if sale.link_id:
                    add(sale.at, facts, CAME_OF_LINKS, kind=kind)
                add(sale.at, facts, f"sales in {sale.currency}", kind=kind)
                refunded = f"refunded {sale.currency}"
                add(sale.at, facts, sale.currency, kind=kind, count=int(sale.revenue * 100))
                add(sale.at, facts, refunded, kind=kind, count=int(sum(sale.refunds) * 100))
        return rows, total

    def sales_of(self, query: Query) -> list[Sale]:
        """Those that the query may count."""
        return [
            sale
            for sale in self.sales
            if (sale.variant or not _is_of_variants(query))
            and (sale.currency in {None, query.currency or sale.currency})
        ]

    def kind_of(self, sale: Sale) -> RowKind | None:
        """The kind of the row that it counts in, if that is apart."""
        if sale.link_id:
            return None if sale.link_id in {link.id for link in self.links} else RowKind.PURGED_LINKS
        is_touched = sale.is_credited and sale.collection != "installs"
        return None if is_touched else RowKind.NOT_CREDITED

    def of_link(self, link: Link) -> list[Facts]:
        """What a link is counted by: once for each of its tags."""
        utm: Facts = {field: link.utm.get(f"utm_{field}") for field in LINK_FIELDS}
        facts = utm | {Field.LINK: link.id, Field.DOMAIN: link.domain}
        names: list[str | None] = [self.tags[id_] for id_ in link.tag_ids if id_ in self.tags]
        return [facts | {Field.TAG: name} for name in names or [None]]


def _values(allowed: Filter) -> frozenset[str | None]:
    assert isinstance(allowed, frozenset)  # no history is asked by other filters
    return allowed


def _is_of_variants(query: Query) -> bool:
    return Field.VARIANT in {*query.group_by, *query.filters}


def times_of(at: datetime, zone: tzinfo) -> Facts:
    """The parts of the time in a zone."""
    local = at.astimezone(zone)
    day = local.date()
    return {
        Field.DAY: f"{day}",
        Field.WEEK: f"{day - timedelta(days=day.weekday())}",
        Field.MONTH: f"{day:%Y-%m}",
        Field.HOUR: local.replace(minute=0, second=0, microsecond=0).isoformat(timespec="minutes"),
    }


async def make_history(
    database: Database,
    utms: list[dict[str, str]],
    clicks: Iterable[Any],
    sales: Iterable[Sale],
    tags: Mapping[int, Iterable[str]] | None = None,
) -> History:
    """Store and count all of this for an organization of its own.

    `tags` has those of links by their numbers. One that is called "gone" is deleted again.
    """
    org_id = OrgId(str(uuid.uuid4()))
    names = sorted({name for some in (tags or {}).values() for name in some})
    tag_ids = {name: (await create_tag(database, org_id, name, None, FIRST)).id for name in names}
    if "gone" in tag_ids:
        await delete_tag(database, org_id, "gone")
    links = [
        Link(LinkId(str(uuid.uuid4())), org_id, f"d{number % 2}.example", uuid.uuid4().hex, "https://x.example/",
             f"Link {number}", FIRST, FIRST, utm=utm,
             tag_ids=[tag_ids[name] for name in (tags or {}).get(number, ())])
        for number, utm in enumerate(utms)
    ]  # fmt: skip
    await insert_links(database, links)
    made = [click(org_id, links[number].id, at, **facts) for number, at, facts in clicks]
    if made:
        await ship(database, made)
    ids = {str(number): link.id for number, link in enumerate(links)}
    history = History(
        org_id,
        links,
        made,
        [replace(sale, link_id=ids.get(sale.link_id or "", sale.link_id)) for sale in sales],
        {tag_id: name for name, tag_id in tag_ids.items() if name != "gone"},
    )
    for sale in history.sales:
        touch = {"link_id": sale.link_id, "utm": dict(sale.utm), "at": sale.at, "click_ids": {}}
        document: dict[str, Any] = {"_id": f"{org_id}/{uuid.uuid4()}", "org_id": org_id, "at": sale.at}
        if sale.collection == "installs":
            document |= {"link_id": sale.link_id, "platform": "ios"}
        else:
            touch |= {"variant": sale.variant} if sale.variant else {}
            document |= {
                "touch": touch if sale.is_credited else None,
                "first_touch": None,
                "customer_id": sale.customer_id,
            }
            document["device_id"] = str(uuid.uuid4())
        if sale.collection == "conversions":
            document |= {"currency": sale.currency, "revenue": Decimal128(sale.revenue)}
            if sale.refunds:
                document["refunds"] = [
                    {
                        "refund_id": str(number),
                        "amount": Decimal128(amount),
                        "currency": sale.currency,
                        "at": sale.at,
                        "received_at": sale.at,
                    }
                    for number, amount in enumerate(sale.refunds)
                ]
        else:
            object.__setattr__(sale, "currency", None)
        await database[sale.collection].insert_one(document)
    return history


def _cents(measure: Measure, currency: str, expected: Counter[Any]) -> int:
    """An amount by the naive count."""
    revenue, refunded = expected[currency], expected[f"refunded {currency}"]
    amounts = {Measure.REVENUE: revenue, Measure.REFUNDS: refunded, Measure.NET_REVENUE: revenue - refunded}
    return amounts[measure]


def assert_equal(found: AnalyticsAnswer, history: History) -> None:
    """Fail unless the answer says what a naive count says, also of the compared period."""
    query = found.query
    for which, period in (("values", query.period), ("previous", found.previous_period)):
        if period is None:
            continue
        rows, total = history.naive(query, period)
        if which == "previous" and query.time_field:
            rows = {}  # their labels are those of the other period; totals must do
        for row in (*found.rows, found.totals):
            values = getattr(row, which)
            group = (*row.group, row.kind) if row.kind else row.group
            expected = total if row is found.totals else rows.get(group, Counter())
            if which == "previous" and query.time_field and row is not found.totals:
                continue
            if Measure.CONVERSIONS in query.measures and not query.currency:
                counts = {name: count for name in ("EUR", "JPY") if (count := expected[f"sales in {name}"])}
                assert values[ByCurrency.CONVERSIONS] == counts, row.group
            for measure in query.measures:
                if measure.is_money:
                    known = ((name, _cents(measure, name, expected)) for name in ("EUR", "JPY"))
                    cents = {name: amount for name, amount in known if amount}
                    amounts = values[measure]
                    if query.currency:
                        amounts = {query.currency: amounts}
                    assert {name: int(amount * 100) for name, amount in amounts.items() if amount} == cents
                elif measure is Measure.CONVERSION_RATE:
                    clicks = expected[Measure.CLICKS]
                    rate = round(expected[CAME_OF_LINKS] / clicks, 6) if clicks else None
                    assert values[measure] == rate, row.group
                else:
                    assert values[measure] == expected[measure], (row.group, measure)
        asked = {*query.measures, *("EUR", "JPY")[: 2 * any(measure.is_money for measure in query.measures)]}
        told = {group for group, figures in rows.items() if any(figures[column] for column in asked)}
        assert told <= {(*row.group, row.kind) if row.kind else row.group for row in found.rows}
