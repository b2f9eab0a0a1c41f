"""Counts the leads, conversions and installs that a query of analytics asks for, out of single ones.

They are found by the organization and the time, so a query costs as much as its period has of them. What
they are credited to is the touch's link, with the campaign and so on that it has now; for a touch without a
link, such as an ad's, or of one that is gone, what the address of the visit said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

from bson import Decimal128

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics_answer import Counted, Figures, Group
from backend.domain.analytics_query import SALES, Field, Measure, Query
from backend.domain.ids import CustomerId, LinkId
from backend.domain.money import of_units
from backend.domain.rollup import QUARTER_SECONDS
from backend.storage import conversions, identities, installs, leads, refunds
from backend.storage.analytics_counting import group_slots
from backend.storage.analytics_links import UTM, LinkRows, LinkValues, read_link_rows
from backend.storage.analytics_reading import Reading
from backend.storage.attribution_report import KEPT, in_window, later_identity
from backend.storage.credited_records import CreditedRecord, count_of, credit_records
from backend.storage.histories import HistoryReader, StoredSource
from backend.storage.mongo import Document

_QUARTER_MS = QUARTER_SECONDS * 1000
_LINKS_AT_ONCE = 10_000


async def count_sales(asked: Reading, counted: Counted) -> None:
    """Add the organization's leads, conversions, customers and revenue, by group and in all."""
    needed = asked.query.needed
    sources = []
    if needed & {Measure.LEADS, Measure.CUSTOMERS}:
        sources.append(leads.NAME)
    if needed & (SALES - {Measure.LEADS}):
        sources.append(conversions.NAME)
    is_kept = await _is_kept(asked)
    for name in sources:
        found = await (_grouped if is_kept else _credited)(asked, name)
        groups = await _Groups.of(asked, found)
        await beside_the_loop(partial(_add_all, found, groups, counted, is_lead=name == leads.NAME))


async def count_installs(asked: Reading, counted: Counted) -> None:
    """Add the organization's installs, by group and in all."""
    if Measure.INSTALLS not in asked.query.needed:
        return
    by = {"link": "$link_id", **_quarter(asked.query)}
    found = await _aggregated(asked, installs.NAME, [{"$group": {"_id": by, "count": {"$sum": 1}}}])
    groups = await _Groups.of(asked, found)
    for each in found:
        for figures in groups.figures(each, counted):
            figures.installs += each["count"]


def _add_all(found: list[Document], groups: _Groups, counted: Counted, *, is_lead: bool) -> None:
    for each in found:
        for figures in groups.figures(each, counted):
            _add(figures, each, is_lead=is_lead)


def _add(figures: Figures, found: Mapping[str, Any], *, is_lead: bool) -> None:
    if is_lead:
        figures.leads += found["count"]
    else:
        figures.conversions += found["count"]
        if currency := found["_id"].get("currency"):
            figures.add_revenue(currency, found["revenue"], found["refunds"])
    if customer_id := found["_id"].get("customer_id") or found.get("later_customer_id"):
        figures.add_customer(customer_id)


async def _is_kept(asked: Reading) -> bool:
    """Whether MongoDB can add up by what each record keeps, without looking at devices."""
    if not asked.query.rules.are_kept:
        return False
    has_customers = Measure.CUSTOMERS in asked.query.needed
    return not (has_customers and await identities.has_taken_back(asked.database, asked.org_id))


async def _credited(asked: Reading, name: str) -> list[Document]:
    """As `_grouped`, by rules that need the histories of devices."""
    sums = _Sums(asked.query)
    reader = HistoryReader(asked.database, asked.org_id, asked.query.rules, sums.fields, asked.session)
    await credit_records(reader, name, _times(asked), sums.add)
    return await beside_the_loop(lambda: list(sums.groups()))


# A quarter of an hour, what is asked of a touch, a currency, the decimals of amounts, and a customer.
_Key = tuple[int, StoredSource | None, str | None, int, CustomerId | None]


class _Sums:
    """What records that nothing of the query tells apart come to together."""

    def __init__(self, query: Query) -> None:
        self._has_time = query.time_field is not None
        self._has_variants = query.breakdown is Field.VARIANT
        self._has_customers = Measure.CUSTOMERS in query.needed
        self._utm = _utm_of(query)
        of_links = ["link_id", *(f"utm.{name}" for name in self._utm)] if query.link_fields else []
        self.fields = [*(["variant"] if self._has_variants else []), *of_links]
        self._sums: defaultdict[_Key, list[int]] = defaultdict(lambda: [0, 0, 0])

    def add(self, records: Iterable[CreditedRecord]) -> None:
        """Add what these records' touches get."""
        for at, currency, digits, (customer_id, shares) in records:
            quarter = int(at.replace(tzinfo=UTC).timestamp()) // QUARTER_SECONDS if self._has_time else 0
            whose = customer_id if self._has_customers else None
            for touch, parts, amount, refunded in shares:
                sums = self._sums[quarter, touch, currency, digits, whose]
                sums[0] += parts
                sums[1] += amount
                sums[2] += refunded

    def groups(self) -> Iterator[Document]:
        """What was added up, in the form in which MongoDB adds up."""
        nothing = (None,) * len(self.fields)
        for (quarter, touch, currency, digits, customer_id), (parts, amount, refunded) in self._sums.items():
            of = dict(zip(self.fields, touch or nothing, strict=True))
            yield {
                "_id": {
                    "quarter": quarter,
                    "link": of.get("link_id"),
                    "utm": {name: of[f"utm.{name}"] for name in self._utm},
                    "variant": of.get("variant"),
                    "currency": currency,
                    "customer_id": customer_id,
                },
                "count": count_of(parts),
                "revenue": of_units(amount, digits),
                "refunds": of_units(refunded, digits),
            }


def _utm_of(query: Query) -> list[str]:
    """What is asked of the addresses of visits that came from no link."""
    return [UTM[each] for each in query.link_fields if each in UTM]


async def _grouped(asked: Reading, name: str) -> list[Document]:
    """The records of a collection, those together that nothing of the query tells apart."""
    query = asked.query
    touch = KEPT[query.rules.model]
    by: Document = dict(_quarter(query))
    if query.link_fields:
        by |= {"link": f"${touch}.link_id", "utm": f"${touch}.utm"}
    if query.breakdown is Field.VARIANT:
        by["variant"] = f"${touch}.variant"
    if name == conversions.NAME:
        by["currency"] = "$currency"
    has_customers = Measure.CUSTOMERS in query.needed
    if has_customers:
        by["customer_id"] = "$customer_id"
        by["device_id"] = {"$cond": ["$customer_id", None, "$device_id"]}
    pipeline: list[Document] = [
        *in_window(query.rules),
        {"$group": {"_id": by, "count": {"$sum": 1}, "revenue": {"$sum": "$revenue"}, **refunds.SUM}},
    ]
    if has_customers:
        pipeline += [
            later_identity(asked.org_id),
            {"$set": {"later_customer_id": {"$first": "$later.customer_id"}}},
            {"$unset": "later"},
        ]
    found = await _aggregated(asked, name, pipeline)
    return [each | {"revenue": _decimal(each["revenue"]), "refunds": refunds.summed(each)} for each in found]


def _decimal(summed: object) -> Decimal:
    """A sum as MongoDB gives it: of leads, which have no amount, it is the number 0."""
    return summed.to_decimal() if isinstance(summed, Decimal128) else Decimal()


async def _aggregated(asked: Reading, name: str, stages: list[Document]) -> list[Document]:
    """What these stages make of the organization's documents in the spans."""
    scope = {"org_id": asked.org_id} | _times(asked) | _of_links(asked.query, name)
    match: Document = {"$match": scope}
    cursor = asked.database[name].aggregate([match, *stages], session=asked.session, allowDiskUse=True)
    return [each async for each in cursor]


def _times(asked: Reading) -> Document:
    return {"at": {"$gte": _moment(asked.spans.first), "$lt": _moment(asked.spans.end)}}


def _of_links(query: Query, name: str) -> Document:
    """What leaves the records of the links that are filtered by, so that no others are read."""
    wanted = query.filters.get(Field.LINK)
    if wanted is None or None in wanted:
        return {}
    field = "link_id" if name == installs.NAME else f"{KEPT[query.rules.model]}.link_id"
    return {field: {"$in": sorted(each for each in wanted if each)}}


def _quarter(query: Query) -> Document:
    """The quarter of an hour, if the time is grouped by."""
    if query.time_field is None:
        return {}
    return {"quarter": {"$floor": {"$divide": [{"$toLong": "$at"}, _QUARTER_MS]}}}


def _moment(quarter: int) -> datetime:
    return datetime.fromtimestamp(quarter * QUARTER_SECONDS, UTC)


class _Groups:
    """Which group something that is credited to a link belongs to."""

    def __init__(self, asked: Reading, rows: Mapping[LinkId, LinkRows]) -> None:
        query = self._query = asked.query
        self._spans = asked.spans
        self._rows = rows
        self._slots = group_slots(query)
        self._filters = [
            (query.link_fields.index(each), allowed)
            for each, allowed in query.filters.items()
            if each in query.link_fields and each is not Field.TAG  # that held when links were read
        ]
        self._counts_untagged = None in query.filters.get(Field.TAG, {None})

    @classmethod
    async def of(cls, asked: Reading, found: list[Document]) -> _Groups:
        """The groups of these sums, with the rows of the links that they name."""
        rows: dict[LinkId, LinkRows] = {}
        ids = sorted({each["_id"]["link"] for each in found if each["_id"].get("link")})
        if asked.query.link_fields:
            for at in range(0, len(ids), _LINKS_AT_ONCE):
                some = ids[at : at + _LINKS_AT_ONCE]
                rows |= await read_link_rows(asked, {}, some)
        return cls(asked, rows)

    def figures(self, found: Document, counted: Counted) -> list[Figures]:
        """Where it counts; nowhere if the filters leave it out."""
        of = found["_id"]
        variant = of.get("variant")
        if self._query.breakdown is Field.VARIANT and not self._is_left(variant):
            return []
        links = self._rows.get(of.get("link"))
        if links is None:
            told = tuple(_told(each, of.get("utm") or {}) for each in self._query.link_fields)
            links = (told,) if self._counts_untagged else ()
        links = tuple(each for each in links if all(each[at] in allowed for at, allowed in self._filters))
        if not links:
            return []
        span = self._spans.at(int(of["quarter"])) if of.get("quarter") else None
        groups = [self._group(span.label if span else None, variant, each) for each in links]
        return [counted.total, *map(counted.row, groups)]

    def _is_left(self, variant: str | None) -> bool:
        """Whether what has this variant counts: what has none does not."""
        return variant is not None and variant in self._query.filters.get(Field.VARIANT, {variant})

    def _group(self, label: str | None, variant: str | None, links: LinkValues) -> Group:
        parts = (label, variant, *links)
        return tuple(parts[slot] for slot in self._slots)


def _told(field: Field, utm: Mapping[str, str]) -> str | None:
    """What the address of a visit told of this field."""
    return utm.get(UTM[field]) if field in UTM else None
