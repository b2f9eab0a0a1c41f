"""A naive model of what queries of analytics count: all stored facts, looked at one by one."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from functools import partial
from typing import Any

from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.period import WeekStart
from backend.domain.analytics.query import (
    CLICK_FIELDS,
    LINK_FIELDS,
    TIMES,
    Field,
    Filter,
    Not,
    Prefix,
    Query,
    QueryField,
)
from tests.storage.analytics.queried_facts import (
    DAY_MS,
    UTM,
    Install,
    Sale,
    StoredClick,
    StoredCost,
    StoredFacts,
    StoredLink,
    Touch,
)

Facts = dict[QueryField, str | None]
# What a row is of, and its kind.
Key = tuple[str | None, ...]
OF_CLICKS = tuple(name for name in Field if name in CLICK_FIELDS)
NEEDED_FOR = {
    "lead": {Measure.LEADS, Measure.CONTACTS},
    "conversion": {
        Measure.CONVERSIONS, Measure.CUSTOMERS, Measure.CONTACTS, Measure.REVENUE, Measure.REFUNDS,
    },
    "event": {Measure.EVENTS},
    "identify": {Measure.IDENTITIES},
}  # fmt: skip


@dataclass
class Tally:
    """What is counted in one place."""

    counts: Counter[str] = field(default_factory=Counter)
    parts: defaultdict[str, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    amounts: defaultdict[tuple[str, str], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    people: defaultdict[str, set[Any]] = field(default_factory=lambda: defaultdict(set))


def count_naively(
    facts: StoredFacts, query: Query, labels: Callable[[int], str | None], start: int, end: int
) -> tuple[dict[Key, Tally], Tally]:
    """What is counted from `start` to `end` by group, and in all. `labels` names the time's part."""
    count = _Counting(facts, query, labels)
    for cost in facts.costs:
        if start <= count.noon_of(cost) < end and count.counts_cost(cost):
            count.with_cost[cost.campaign].add(cost.currency)
    for click in facts.clicks:
        if start <= click.at < end:
            count.click(click)
    for former in facts.former:
        if start <= former[0] * DAY_MS + DAY_MS // 2 < end:
            count.former_visitor(*former)
    for cost in facts.costs:
        if start <= count.noon_of(cost) < end:
            count.cost(cost)
    for sale in facts.sales:
        if start <= sale.at < end:
            count.sale(sale)
    for install in facts.installs:
        if start <= install.at < end:
            count.install(install)
    return count.rows, count.total


class _Counting:
    """Adds up facts by the groups of a query."""

    def __init__(self, facts: StoredFacts, query: Query, labels: Callable[[int], str | None]) -> None:
        self._query = query
        self._facts = facts
        self._labels = labels
        self._links = {link.number: link for link in facts.links}
        self._has_links = not LINK_FIELDS.isdisjoint(query.group_by)
        self._filters_links = not LINK_FIELDS.isdisjoint(query.filters)
        self.rows: defaultdict[Key, Tally] = defaultdict(Tally)
        self.total = Tally()
        self.with_cost: defaultdict[str | None, set[str]] = defaultdict(set)

    def noon_of(self, cost: StoredCost) -> int:
        """When the noon of the cost's day is in the query's zone."""
        zone = self._query.period.zone
        day = datetime(1970, 1, 1) + timedelta(days=cost.day, hours=12)
        return round(day.replace(tzinfo=zone).timestamp() * 1000)

    def counts_cost(self, cost: StoredCost) -> bool:
        """Whether a cost passes the filters, and nothing is filtered by what is not known of costs."""
        query = self._query
        chosen = query.filters.get(Field.CAMPAIGN)
        is_of_currency = query.currency in {None, cost.currency}
        is_known = set(query.filters) <= {Field.CAMPAIGN}
        return is_known and is_of_currency and (chosen is None or is_left(chosen, cost.campaign))

    def cost(self, cost: StoredCost) -> None:
        """Count a cost."""
        query = self._query
        if Measure.COST not in query.needed or not self.counts_cost(cost):
            return
        tallies = [self.total]
        if set(query.group_by) <= {Field.CAMPAIGN, Field.DAY, Field.WEEK, Field.MONTH}:
            label = self._labels(self.noon_of(cost)) if query.time_field else None
            if not query.time_field or label is not None:
                key = tuple(label if name in TIMES else cost.campaign for name in query.group_by)
                tallies.append(self.rows[key])
        for tally in tallies:
            tally.amounts["cost", cost.currency] += Fraction(cost.amount, 10**cost.digits)

    def click(self, click: StoredClick) -> None:
        """Count a request."""
        facts: Facts = {name: getattr(click, name) for name in OF_CLICKS}
        measures = {Measure.NOT_COUNTED if click.reason else Measure.CLICKS}
        if not click.reason and click.outcome == "app":
            measures.add(Measure.OPENS)
        places = list(self._places(click.at, facts, self._links[click.link]))
        for measure in measures & self._query.needed:
            for place in places:
                place().counts[measure] += click.weight
        link = self._links[click.link]
        if link.is_kept and Measure.CLICKS in self._query.needed and not click.reason:
            for currency in self.with_cost[link.utm.get(Field.CAMPAIGN)]:
                for place in places:
                    place().amounts["clicks_with_cost", currency] += click.weight
        if Measure.VISITORS in self._query.needed and not click.reason and click.visitor is not None:
            for place in places:
                place().people["visitors"].add((click.at // DAY_MS, click.visitor))

    def former_visitor(self, day: int, link: int, visitor: int) -> None:
        """Count a visitor of whom only the day and the link are known."""
        asked = {*self._query.group_by, *self._query.filters}
        is_known_so = asked.isdisjoint(CLICK_FIELDS)
        if Measure.VISITORS not in self._query.needed or not CLICK_FIELDS.isdisjoint(self._query.filters):
            return
        of_events = [
            chosen
            for name, chosen in self._query.filters.items()
            if name is Field.EVENT or isinstance(name, EventProperty)
        ]
        if Field.VARIANT in asked or not all(is_left(chosen, None) for chosen in of_events):
            return
        places = list(self._places(day * DAY_MS + DAY_MS // 2, {}, self._links[link], is_former=True))
        is_in_rows = is_known_so and Field.HOUR not in asked
        for place in places if is_in_rows else places[:1]:
            place().people["visitors"].add((day, visitor))

    def sale(self, sale: Sale) -> None:
        """Count a lead, a conversion or an event."""
        query = self._query
        is_other = query.currency is not None and sale.currency not in {None, query.currency}
        if NEEDED_FOR[sale.kind].isdisjoint(query.needed) or (sale.kind == "conversion" and is_other):
            return
        for part, touch in sale.shares(query.rules.model):
            for place in self._places_of(sale, touch):
                self._add(place(), sale, part, is_of_link=touch is not None and touch.link is not None)
                if sale.kind == "conversion":
                    self._add_with_cost(place(), sale, part, self.with_cost[self._campaign_of(touch)])

    def _campaign_of(self, touch: Touch | None) -> str | None:
        if touch is None or touch.link is None:
            return touch.utm.get(Field.CAMPAIGN) if touch else None
        link = self._links[touch.link]
        return link.utm.get(Field.CAMPAIGN) if link.is_kept else None

    @staticmethod
    def _add_with_cost(tally: Tally, sale: Sale, part: Fraction, costs_in: set[str]) -> None:
        for currency in costs_in:
            tally.amounts["conversions_with_cost", currency] += part
        if sale.currency in costs_in:
            amount = part * (sale.amount or 0) / 10 ** (sale.digits or 0)
            tally.amounts["revenue_with_cost", sale.currency] += amount

    def _places_of(self, sale: Sale, touch: Touch | None) -> Iterator[Callable[[], Tally]]:
        facts: Facts = self._of_click(touch) | {
            Field.VARIANT: touch.variant if touch else None,
            Field.EVENT: sale.name,
            **self._properties_of(sale),
        }
        link = self._links[touch.link] if touch and touch.link is not None else None
        kind = "not_credited" if touch is None else None if not link or link.is_kept else "purged_links"
        told: Facts = {name: touch.utm.get(name) if touch else None for name in UTM}
        return self._places(sale.at, facts, link, told, kind)

    def _properties_of(self, sale: Sale) -> Facts:
        metadata = sale.metadata or {}
        asked = (name for name in self._query.fields if isinstance(name, EventProperty))
        return {name: metadata.get(name.property_name) for name in asked}

    @staticmethod
    def _add(tally: Tally, sale: Sale, part: Fraction, *, is_of_link: bool) -> None:
        tally.parts["identities" if sale.kind == "identify" else f"{sale.kind}s"] += part
        if sale.customer and sale.kind in {"lead", "conversion"}:
            tally.people["contacts"].add(sale.customer)
        if sale.kind != "conversion":
            return
        if sale.customer:
            tally.people["customers"].add(sale.customer)
        tally.parts["of_links"] += part * is_of_link
        if sale.currency:
            tally.amounts["conversions", sale.currency] += part
            unit = part / 10 ** (sale.digits or 0)
            tally.amounts["revenue", sale.currency] += unit * (sale.amount or 0)
            tally.amounts["refunds", sale.currency] += unit * sale.refunded
            tally.amounts["of_links", sale.currency] += unit * (sale.amount or 0) * is_of_link

    def install(self, install: Install) -> None:
        """Count an install."""
        if Measure.INSTALLS not in self._query.needed:
            return
        link = self._links[install.link] if install.link is not None else None
        kind = "not_credited" if link is None else None if link.is_kept else "purged_links"
        for place in self._places(install.at, dict.fromkeys(OF_CLICKS), link, {}, kind):
            place().counts[Measure.INSTALLS] += 1

    def _of_click(self, touch: Touch | None) -> Facts:
        """What the click was that led to a visit."""
        for click in self._facts.clicks:
            if touch and (click.at, click.link, click.weight) == (touch.click_at, touch.link, 1):
                return {name: getattr(click, name) for name in OF_CLICKS}
        return dict.fromkeys(OF_CLICKS)

    def _places(
        self,
        at: int,
        facts: Facts,
        link: StoredLink | None,
        told: Mapping[QueryField, str | None] | None = None,
        kind: str | None = None,
        *,
        is_former: bool = False,
    ) -> Iterator[Callable[[], Tally]]:
        """Where something counts: first the totals, then its rows."""
        query = self._query
        if Field.VARIANT in {*query.group_by, *query.filters} and facts.get(Field.VARIANT) is None:
            return
        if kind and self._filters_links:
            return
        of_links: list[Facts] = [{**dict.fromkeys(LINK_FIELDS), **(told or {})}]
        is_gone = link is not None and not link.is_kept
        if link and link.is_kept:
            of_links = [self._of_link(link) | {Field.TAG: tag} for tag in self._tags_of(link.tag_ids)]
        elif kind or is_gone:
            of_links = [dict.fromkeys(LINK_FIELDS)]
        elif not self._tags_of(()):
            of_links = []
        if is_gone and self._filters_links:
            return
        all_facts = [of_link | dict(facts) for of_link in of_links]
        left = [fact for fact in all_facts if self._is_left(fact, is_former=is_former)]
        if not left:
            return
        yield lambda: self.total
        if is_gone and self._has_links and not kind:
            return  # clicks of links that were deleted for good
        label = self._labels(at) if query.time_field else None
        if query.time_field and label is None:
            return
        groups = {
            tuple(label if name in TIMES else fact.get(name) for name in query.group_by)
            + ((kind,) if kind and self._has_links else ())
            for fact in left
        }
        for group in groups:
            yield partial(self.rows.__getitem__, group)

    def _of_link(self, link: StoredLink) -> Facts:
        facts: Facts = {name: link.utm.get(name) for name in UTM}
        return facts | {Field.LINK: link.id, Field.DOMAIN: link.domain}

    def _tags_of(self, ids: Iterable[str]) -> list[str | None]:
        """The tags of the rows of a link with these."""
        names: list[str | None] = [self._facts.tags[id_] for id_ in ids if id_ in self._facts.tags]
        chosen = self._query.filters.get(Field.TAG)
        if chosen is None:
            return names or [None]
        left = [tag for tag in names or [None] if is_left(chosen, tag and tag.lower())]
        return left if len(left) == len(names or [None]) or not isinstance(chosen, Not) else []

    def _is_left(self, facts: Facts, *, is_former: bool) -> bool:
        return all(
            is_left(chosen, facts.get(name))
            for name, chosen in self._query.filters.items()
            if name is not Field.TAG and not (is_former and name not in LINK_FIELDS)
        )


def is_left(chosen: Filter, value: str | None) -> bool:
    """Whether a filter leaves this value."""
    match chosen:
        case Prefix(text):
            return value is not None and value.startswith(text)
        case Not(values):
            return value not in values
    return value in chosen


def label_of(query: Query, zone: tzinfo) -> Callable[[int], str | None]:
    """Names the parts of the time by the zone's calendar."""

    def label(at: int) -> str | None:
        local = datetime.fromtimestamp(at / 1000, UTC).astimezone(zone)
        day = local.date()
        of_week = day.weekday() if query.period.week_starts is WeekStart.MONDAY else day.isoweekday() % 7
        labels = {
            Field.DAY: f"{day}",
            Field.WEEK: f"{day - timedelta(days=of_week)}",
            Field.MONTH: f"{day:%Y-%m}",
            Field.HOUR: local.replace(minute=0, second=0, microsecond=0).isoformat(timespec="minutes"),
        }
        return labels[Field(query.time_field)] if query.time_field else None

    return label
