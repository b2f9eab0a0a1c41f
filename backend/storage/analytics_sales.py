"""Counts the leads, conversions and installs that a query of analytics asks for, out of single ones.

They are found by the organization and the time, so a query costs as much as its period has of them. What
they are credited to is the touch's link, with the campaign and so on that it has now; for a touch without a
link, such as an ad's, what the address of the visit said. What has no touch, or one of a link that was
deleted for good, is in rows apart (decisions, "words-of-reports").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from bson import Decimal128

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.analytics_answer import Counted, Figures, Group, RowKind
from backend.domain.analytics_query import LINK_FIELDS, PEOPLE, RATES, SALES, Field, Measure, Query
from backend.domain.credit_rules import CreditRules, Model
from backend.domain.ids import CustomerId, LinkId
from backend.domain.rollup import QUARTER_SECONDS
from backend.storage import conversions, identities, installs, leads, refunds, sale_customers
from backend.storage.analytics_counting import group_slots
from backend.storage.analytics_links import UTM, LinkRows, LinkValues, read_link_rows
from backend.storage.analytics_reading import Reading
from backend.storage.credited_records import CreditedRecord, credit_records
from backend.storage.histories import HistoryReader, StoredSource
from backend.storage.mongo import Document

_QUARTER_MS = QUARTER_SECONDS * 1000
_DAY_MS = 86_400_000
_LINKS_AT_ONCE = 10_000
# In which field a record keeps the touch that a model names for its device.
_KEPT = {Model.FIRST: "first_touch", Model.LAST_NON_DIRECT: "touch"}


async def count_sales(asked: Reading, counted: Counted) -> None:
    """Add the organization's leads, conversions, people and revenue, by group and in all."""
    needed = asked.query.needed
    sources = []
    if needed & {Measure.LEADS, Measure.CONTACTS}:
        sources.append(leads.NAME)
    if needed & (SALES - {Measure.LEADS}):
        sources.append(conversions.NAME)
    is_kept = await _is_kept(asked)
    for name in sources:
        found = await (_grouped if is_kept else _credited)(asked, name)
        groups = await _Groups.of(asked, found)
        await beside_the_loop(partial(_add_all, found, groups, counted, is_lead=name == leads.NAME))
        counted.kinds |= groups.kinds


async def count_installs(asked: Reading, counted: Counted) -> None:
    """Add the organization's installs, by group and in all."""
    if Measure.INSTALLS not in asked.query.needed:
        return
    by = {"link": "$link_id", **_quarter(asked.query)}
    found = await _aggregated(asked, installs.NAME, [{"$group": {"_id": by, "count": {"$sum": 1}}}])
    groups = await _Groups.of(asked, found)
    for each in found:
        for figures in counted.of(groups.of_sum(each)):
            figures.installs += each["count"]
    counted.kinds |= groups.kinds


def _add_all(found: list[Document], groups: _Groups, counted: Counted, *, is_lead: bool) -> None:
    for each in found:
        places = groups.of_sum(each)
        if places and groups.is_of_other_currency(each):
            currency = each["_id"]["currency"]
            counted.left_out[currency] = counted.left_out.get(currency, 0) + each["count"]
            continue
        for figures in counted.of(places):
            _add(figures, each, is_lead=is_lead)


def _add(figures: Figures, found: Mapping[str, Any], *, is_lead: bool) -> None:
    of, count = found["_id"], found["count"]
    if is_lead:
        figures.leads += count
    else:
        figures.conversions += count
        is_of_link = bool(of.get("is_of_link"))
        if is_of_link:
            figures.came_of_links += count
        if currency := of.get("currency"):
            figures.add_revenue(currency, found["revenue"], found["refunds"], is_of_link=is_of_link)
    for customer_id in found.get("customers", ()):
        figures.add_contact(customer_id, has_bought=not is_lead)


async def _is_kept(asked: Reading) -> bool:
    """Whether MongoDB can add up by what each record keeps, without looking at devices."""
    if not asked.query.rules.are_kept:
        return False
    has_customers = not PEOPLE.isdisjoint(asked.query.needed)
    return not (has_customers and await identities.has_taken_back(asked.database, asked.org_id))


async def _credited(asked: Reading, name: str) -> list[Document]:
    """As `_grouped`, by rules that need the histories of devices."""
    sums = _Sums(asked.query)
    reader = HistoryReader(asked.database, asked.org_id, asked.query.rules, sums.fields, asked.session)
    await credit_records(reader, name, _times(asked), sums.add)
    return await beside_the_loop(lambda: list(sums.groups()))


# A quarter of an hour, what is asked of a touch, a currency, the decimals of amounts, a customer, and into
# how many parts a record was divided: so the sums are exact, and of numbers, which is quicker than fractions.
_Key = tuple[int, StoredSource | None, str | None, int, CustomerId | None, int]


class _Sums:
    """What records that nothing of the query tells apart come to together."""

    def __init__(self, query: Query) -> None:
        self._has_time = query.time_field is not None
        self._has_variants = query.breakdown is Field.VARIANT
        self._has_customers = not PEOPLE.isdisjoint(query.needed)
        self._utm = _utm_of(query)
        of_links = ["link_id", *(f"utm.{name}" for name in self._utm)] if _needs_links(query) else []
        self.fields = [*(["variant"] if self._has_variants else []), *of_links]
        self._sums: defaultdict[_Key, list[int]] = defaultdict(lambda: [0, 0, 0])

    def add(self, records: Iterable[CreditedRecord]) -> None:
        """Add what these records' touches get."""
        for at, currency, digits, (customer_id, amount, refunded, shares) in records:
            quarter = int(at.replace(tzinfo=UTC).timestamp()) // QUARTER_SECONDS if self._has_time else 0
            whose = customer_id if self._has_customers else None
            for touch, weight, whole in shares:
                sums = self._sums[quarter, touch, currency, digits, whose, whole]
                sums[0] += weight
                sums[1] += weight * amount
                sums[2] += weight * refunded

    def groups(self) -> Iterator[Document]:
        """What was added up, in the form in which MongoDB adds up."""
        nothing = (None,) * len(self.fields)
        for (quarter, touch, currency, digits, customer_id, whole), sums in self._sums.items():
            weight, amount, refunded = sums
            of = dict(zip(self.fields, touch or nothing, strict=True))
            yield {
                "_id": {
                    "quarter": quarter,
                    "link": of.get("link_id"),
                    "is_of_link": of.get("link_id") is not None,
                    "is_credited": touch is not None,
                    "utm": {name: of[f"utm.{name}"] for name in self._utm},
                    "variant": of.get("variant"),
                    "currency": currency,
                },
                "customers": [customer_id] if customer_id else [],
                "count": weight if whole == 1 else Fraction(weight, whole),
                "revenue": Fraction(amount, whole * 10**digits),
                "refunds": Fraction(refunded, whole * 10**digits),
            }


def _utm_of(query: Query) -> list[str]:
    """What is asked of the addresses of visits that came from no link."""
    return [UTM[each] for each in query.link_fields if each in UTM]


def _needs_links(query: Query) -> bool:
    """Whether the links of touches matter: for rows, or for rates, which are of what came of links."""
    return bool(query.link_fields or RATES.intersection(query.measures))


async def _grouped(asked: Reading, name: str) -> list[Document]:
    """The records of a collection, those together that nothing of the query tells apart."""
    query = asked.query
    touch = _KEPT[query.rules.model]
    by: Document = dict(_quarter(query))
    if query.link_fields:
        by |= {"link": f"${touch}.link_id", "utm": f"${touch}.utm", "is_credited": _is_there(touch)}
    if _needs_links(query):
        by["is_of_link"] = _is_there(f"{touch}.link_id")
    if query.breakdown is Field.VARIANT:
        by["variant"] = f"${touch}.variant"
    if name == conversions.NAME:
        by["currency"] = "$currency"
    has_customers = not PEOPLE.isdisjoint(query.needed)
    if has_customers:
        by |= sale_customers.GROUPED_BY
    sums = {"count": {"$sum": 1}, "revenue": {"$sum": "$revenue"}, **refunds.SUM}
    group: Document = {"_id": by, **sums, **(sale_customers.TIMES if has_customers else {})}
    found = await _aggregated(asked, name, [*_in_window(query.rules), {"$group": group}])
    if has_customers:
        await sale_customers.name_customers(asked.database, asked.org_id, found, asked.session)
    return [each | {"revenue": _decimal(each["revenue"]), "refunds": refunds.summed(each)} for each in found]


def _in_window(rules: CreditRules) -> list[Document]:
    """Pipeline stages that take from records the touches that they keep and that are too old to count."""
    if rules.lookback_days is None:
        return []
    touch = _KEPT[rules.model]
    oldest = {"$subtract": ["$at", rules.lookback_days * _DAY_MS]}
    return [{"$set": {touch: {"$cond": [{"$gte": [f"${touch}.at", oldest]}, f"${touch}", None]}}}]


def _is_there(field: str) -> Document:
    """Whether the field is in a document, and not null."""
    return {"$gt": [f"${field}", None]}


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
    field = "link_id" if name == installs.NAME else f"{_KEPT[query.rules.model]}.link_id"
    return {field: {"$in": sorted(each for each in wanted if each)}}


def _quarter(query: Query) -> Document:
    """The quarter of an hour, if the time is grouped by."""
    if query.time_field is None:
        return {}
    return {"quarter": {"$floor": {"$divide": [{"$toLong": "$at"}, _QUARTER_MS]}}}


def _moment(quarter: int) -> datetime:
    return datetime.fromtimestamp(quarter * QUARTER_SECONDS, UTC)


class _Groups:
    """Which group something that is credited to a link belongs to. `kinds` are those that there were."""

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
        self.kinds: set[RowKind] = set()

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

    def of_sum(self, found: Document) -> list[Group]:
        """The groups that it counts in; none if the filters leave it out."""
        of = found["_id"]
        variant = of.get("variant")
        if self._query.breakdown is Field.VARIANT and not self._is_left(variant):
            return []
        kind, links = self._links_of(of)
        if not links:
            return []
        span = self._spans.at(int(of["quarter"])) if of.get("quarter") else None
        label = span.label if span else None
        apart = (kind,) if kind and self._query.has_kinds else ()
        if not self.is_of_other_currency(found):
            self.kinds.update(apart)
        return [self._group(label, variant, each) + apart for each in links]

    def is_of_other_currency(self, found: Document) -> bool:
        """Whether these are conversions in another currency than the query's."""
        currency = found["_id"].get("currency")
        return self._query.currency is not None and currency not in {None, self._query.currency}

    def _links_of(self, of: Mapping[str, Any]) -> tuple[RowKind | None, LinkRows]:
        """The values of each row that it belongs to, and their kind if they have none."""
        fields, link = self._query.link_fields, of.get("link")
        if not fields:
            return None, ((),)
        links = self._rows.get(link) if link else None
        if links is None and (link or not of.get("is_credited")):
            kind = RowKind.PURGED_LINKS if link else RowKind.NOT_CREDITED
            return kind, () if LINK_FIELDS.intersection(self._query.filters) else ((None,) * len(fields),)
        if links is None:
            told = tuple(_told(each, of.get("utm") or {}) for each in fields)
            links = (told,) if self._counts_untagged else ()
        return None, tuple(
            each for each in links if all(each[at] in allowed for at, allowed in self._filters)
        )

    def _is_left(self, variant: str | None) -> bool:
        """Whether what has this variant counts: what has none does not."""
        return variant is not None and variant in self._query.filters.get(Field.VARIANT, {variant})

    def _group(self, label: str | None, variant: str | None, links: LinkValues) -> Group:
        parts = (label, variant, *links)
        return tuple(parts[slot] for slot in self._slots)


def _told(field: Field, utm: Mapping[str, str]) -> str | None:
    """What the address of a visit told of this field."""
    return utm.get(UTM[field]) if field in UTM else None
