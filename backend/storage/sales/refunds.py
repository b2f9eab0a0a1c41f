"""Stores refunds in the documents of their sales, so that they expire, move and are erased with them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from bson import Decimal128
from pymongo import UpdateOne

from backend.domain.feed.facts import Fact, refund_fact
from backend.domain.ids import OrgId
from backend.domain.sales.refunds import (
    PaidSale,
    Refund,
    RefundDecisions,
    RefundResult,
    SaleKey,
    ToldRefund,
    decide_refunds,
    refunded,
)
from backend.storage.accounts.organizations import read_retention_days
from backend.storage.driver.blocking import BlockingDatabase, BlockingSession, in_thread, transact
from backend.storage.driver.mongo import Database, Document
from backend.storage.outbox.entries import AgesBy, note_blocking
from backend.storage.sales import conversions
from backend.storage.visitors import counted_once, records
from backend.storage.visitors.calls import key_of
from backend.storage.visitors.kept import Kept
from backend.storage.visitors.records import TELLINGS

FIELD = "refunds"
_FIELDS = ("org_id", "transaction_id", "currency", "revenue", "at", FIELD, f"{TELLINGS}.is_server")


async def store_refunds(database: Database, requests: Sequence[ToldRefund]) -> list[RefundResult]:
    """Store these refunds, each once and none beyond the sale's revenue. Returns a result for each.

    When it returns, everything is stored with `w: majority`. If it raises, nothing of it counts as stored and
    the refunds may be sent again.
    """
    decisions = await in_thread(database, lambda blocking: _store(blocking, requests))
    return decisions.results


def _store(database: BlockingDatabase, requests: Sequence[ToldRefund]) -> RefundDecisions:
    now = max((request.refund.received_at for request in requests), default=None)
    days = read_retention_days(database, {request.org_id for request in requests})
    kept = {org_id: Kept.at(now, days.get(org_id)) for org_id in days if now}

    def work(session: BlockingSession) -> RefundDecisions:
        documents = _find_sales(database, session, {request.sale_key for request in requests}, kept)
        sales = {key: _paid(document) for key, document in documents.items()}
        marks = counted_once.find_marks(database, session, {request.key for request in requests})
        unknown = {request.sale_mark: request.sale_key for request in requests}
        unknown = {mark: key for mark, key in unknown.items() if key not in sales}
        decisions = decide_refunds(
            requests,
            sales,
            marks,
            of_sale={
                (request.key, request.sale_key)
                for request in requests
                if marks.get(request.key) == counted_once.mark(request.sale_mark)
            },
            gone={unknown[mark] for mark in counted_once.find_counted(database, session, unknown)},
        )
        _write(database, session, documents, decisions)
        return decisions

    return transact(database, work)


def _find_sales(
    database: BlockingDatabase, session: BlockingSession, keys: Iterable[SaleKey], kept: Mapping[OrgId, Kept]
) -> dict[SaleKey, Document]:
    """The sales, without those that are not kept any more, though MongoDB has not deleted them yet."""
    ids: defaultdict[OrgId, list[str]] = defaultdict(list)
    for org_id, transaction_id in keys:
        ids[org_id].append(transaction_id)
    documents: dict[SaleKey, Document] = {}
    for org_id, own_ids in ids.items():
        condition = records.having(org_id, "transaction_id", own_ids)
        condition |= kept[org_id].condition(records.RETENTION) if org_id in kept else {}
        fields = dict.fromkeys(_FIELDS, 1)
        for document in database[conversions.NAME].find(condition, fields, session=session):
            documents[org_id, document["transaction_id"]] = document
    return documents


def _write(
    database: BlockingDatabase,
    session: BlockingSession,
    documents: dict[SaleKey, Document],
    decisions: RefundDecisions,
) -> None:
    """Add refunds to their sales.

    Of two transactions that refund the same sale, the server lets one commit. The other one starts again and
    sees the first one's refund.
    """
    updates = [
        UpdateOne(
            {"_id": documents[key]["_id"]}, {"$push": {FIELD: {"$each": list(map(_document, refunds))}}}
        )
        for key, refunds in decisions.added.items()
    ]
    if updates:
        database[conversions.NAME].bulk_write(updates, session=session, ordered=False)
        marks = [
            counted_once.document(key, told.refund.received_at, of=told.sale_mark)
            for key, told in decisions.counted.items()
        ]
        database[counted_once.NAME].insert_many(marks, session=session, ordered=False)
        note_blocking(database, session, _facts(documents, decisions), AgesBy.VISITORS)


def _facts(documents: Mapping[SaleKey, Document], decisions: RefundDecisions) -> dict[OrgId, list[Fact]]:
    facts: dict[OrgId, list[Fact]] = {}
    for key, refunds in decisions.added.items():
        org_id, call_id = key_of(documents[key]["_id"])
        first = len(documents[key].get(FIELD, ()))
        new_facts = [refund_fact(call_id, number) for number in range(first, first + len(refunds))]
        facts.setdefault(org_id, []).extend(new_facts)
    return facts


def _document(refund: Refund) -> Document:
    return {
        "refund_id": refund.refund_id,
        "amount": Decimal128(refund.amount),
        "currency": refund.currency,
        "at": refund.at,
        "received_at": refund.received_at,
    }


def refunds_of(sale: Document) -> tuple[Refund, ...]:
    """The refunds in a sale's document, in the order in which they arrived."""
    return tuple(
        Refund(
            refund["refund_id"],
            _decimal(refund["amount"]),
            refund["currency"],
            refund["at"],
            refund["received_at"],
        )
        for refund in sale.get(FIELD, ())
    )


def refunded_of(sale: Document) -> Decimal:
    """What was paid back of the sale in a document, in its currency."""
    return refunded(refunds_of(sale), sale["currency"], _decimal(sale["revenue"]))


def _paid(sale: Document) -> PaidSale:
    is_of_browsers = not any(telling.get("is_server") for telling in sale.get(TELLINGS, ()))
    revenue = _decimal(sale["revenue"])
    return PaidSale(sale["currency"], revenue, sale["at"], refunds_of(sale), is_of_browsers)


def _decimal(value: Any) -> Decimal:
    amount: Decimal = value.to_decimal()
    return amount
