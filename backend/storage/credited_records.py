"""Gives leads and conversions their credit as they are read (domain/credit)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import NamedTuple

from backend.concurrency.side_thread import beside_the_loop
from backend.domain.credit import PARTS, Credited, share_by_histories
from backend.storage.blocking import in_thread
from backend.storage.histories import Found, HistoryReader, StoredSource, read_sale
from backend.storage.mongo import Document, begin


class CreditedRecord(NamedTuple):
    """A lead or conversion with its credit. `currency` is None for a lead.

    `at` is in UTC, without a time zone. Amounts of the credit's shares are in units with so many `digits`.
    """

    at: datetime
    currency: str | None
    digits: int
    credited: Credited[StoredSource]


def count_of(parts: int) -> Decimal:
    """So many parts of leads or conversions as a number of them."""
    return Decimal(parts) / PARTS


async def credit_records(
    reader: HistoryReader,
    collection: str,
    scope: Document,
    add: Callable[[Iterable[CreditedRecord]], None],
) -> None:
    """Give the leads or conversions that a query finds to `add`, some thousand at once.

    What was not told yet by the rules' moment is left out. `add` runs beside the event loop.
    """
    records = reader.records(collection, scope)
    # While these get their credit, the next are read.
    ahead = begin(in_thread(reader.database, lambda _: reader.next_of(records)))
    while (found := await asyncio.shield(ahead)).sales:
        ahead = begin(in_thread(reader.database, lambda _: reader.next_of(records)))
        await beside_the_loop(partial(_give, reader, found, add))


def _give(reader: HistoryReader, found: Found, add: Callable[[Iterable[CreditedRecord]], None]) -> None:
    add(_credited(reader, found))


def _credited(reader: HistoryReader, found: Found) -> Iterator[CreditedRecord]:
    sales = list(map(read_sale, found.sales))
    credits = share_by_histories((each.facts for each in sales), reader.histories(found), reader.rules)
    for sale, credited in zip(sales, credits, strict=True):
        if credited.shares:
            yield CreditedRecord(sale.facts.at, sale.currency, sale.digits, credited)
