"""Gives leads and conversions their credit as they are read (domain/credit)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from functools import partial
from typing import NamedTuple

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.credit import Credited, share_by_histories
from backend.storage.blocking import in_thread
from backend.storage.histories import Found, HistoryReader, StoredSource, is_of, read_sale
from backend.storage.mongo import Document, begin


class CreditedRecord(NamedTuple):
    """A lead or conversion with its credit. `currency` is None for a lead.

    `at` is in UTC, without a time zone. Amounts of the credit are in units with so many `digits`.
    """

    at: datetime
    currency: str | None
    digits: int
    credited: Credited[StoredSource]


async def credit_records(
    reader: HistoryReader,
    collection: str,
    times: Document,
    add: Callable[[Iterable[CreditedRecord]], None],
) -> None:
    """Give the leads or conversions of a time to `add`, some thousand at once.

    `times` is a condition on `at`, or empty. What was not told yet by the rules' moment is left out. `add`
    runs beside the event loop.
    """
    records = await in_thread(reader.database, lambda _: reader.records(collection, times))
    give = partial(_give, reader, times, add)
    # While these get their credit, the next are read.
    ahead = begin(in_thread(reader.database, lambda _: reader.next_of(records)))
    while (found := await asyncio.shield(ahead)).sales:
        ahead = begin(in_thread(reader.database, lambda _: reader.next_of(records)))
        await beside_the_loop(partial(give, found))


def _give(
    reader: HistoryReader, times: Document, add: Callable[[Iterable[CreditedRecord]], None], found: Found
) -> None:
    add(_credited(reader, times, found))


def _credited(reader: HistoryReader, times: Document, found: Found) -> Iterator[CreditedRecord]:
    sales = [read_sale(each, reader.rules) for each in found.sales]
    credits = share_by_histories((each.facts for each in sales), reader.histories(found), reader.rules)
    for sale, credited in zip(sales, credits, strict=True):
        if credited.shares and (reader.rules.as_of is None or is_of(sale.facts.at, times)):
            yield CreditedRecord(sale.facts.at, sale.currency, sale.digits, credited)
