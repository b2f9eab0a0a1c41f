"""POST /conversions/refund: what was paid back of sales (docs/rest-api.md)."""

from __future__ import annotations

from backend.domain.refunds import RefundResult, ToldRefund, parse_refund
from backend.rest_api.blueprint import rest
from backend.rest_api.sales_service import store_told_refunds
from backend.rest_api.told_items import Answer, ItemResult, answer_items, rejected, result


@rest.post("/conversions/refund")
async def tell_refunds() -> Answer:
    """Store refunds. Each refund_id counts once, and none goes beyond what was paid."""
    return await answer_items("refund", parse_refund, store_told_refunds, _result)


def _result(_: ToldRefund, stored: RefundResult) -> ItemResult:
    if stored.error:
        return rejected(stored.error)
    assert stored.status is not None  # as nothing is wrong with it
    return result(stored.status, stored.notes)
