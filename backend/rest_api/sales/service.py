"""What the REST API needs beyond the app's common resources to store what servers tell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from backend.domain.sales.decisions import Result
from backend.domain.sales.refunds import RefundResult, ToldRefund
from backend.domain.visitors.batches import Batch
from backend.json_api.json_body import body_bytes
from backend.storage.driver.group_writes import GroupWrites
from backend.storage.sales.batches import store_batches
from backend.storage.sales.refunds import store_refunds
from backend.web.current import Resources, of_app

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class SalesService:
    """The group commits for calls and refunds that servers tell, which all requests share.

    What one request tells is stored as a whole.
    """

    def __init__(self, resources: Resources) -> None:
        database = resources.database

        async def store(requests: Sequence[Sequence[Batch]]) -> list[list[Result]]:
            results = iter(
                await store_batches(database, [batch for batches in requests for batch in batches])
            )
            return [[next(results)[0] for _ in batches] for batches in requests]

        async def store_refunds_of(requests: Sequence[Sequence[ToldRefund]]) -> list[list[RefundResult]]:
            results = iter(
                await store_refunds(database, [refund for refunds in requests for refund in refunds])
            )
            return [[next(results) for _ in refunds] for refunds in requests]

        self.commit: GroupWrites[Sequence[Batch], list[Result]] = GroupWrites(
            store, owner_of=lambda batches: batches[0].org_id, size_of=len
        )
        self.refunds: GroupWrites[Sequence[ToldRefund], list[RefundResult]] = _RefundCommit(
            store_refunds_of, owner_of=lambda refunds: refunds[0].org_id, size_of=len
        )


class _RefundCommit(GroupWrites[Sequence[ToldRefund], list[RefundResult]]):
    # Refunds that arrive together are mostly of one sale, where two groups would wait for each other.
    MOST_WRITERS = 1


async def store_calls(batches: Sequence[Batch]) -> list[Result]:
    """Store these calls, all or none. Raises NotStored if the storage can't be reached."""
    return await _add(of_app(SalesService).commit, batches)


async def store_told_refunds(refunds: Sequence[ToldRefund]) -> list[RefundResult]:
    """Store these refunds, in one group. Raises NotStored if the storage can't be reached."""
    return await _add(of_app(SalesService).refunds, refunds)


async def _add(commit: GroupWrites[Sequence[ItemT], list[ResultT]], items: Sequence[ItemT]) -> list[ResultT]:
    if not items:
        return []
    return await commit.add(items, body_bytes())
