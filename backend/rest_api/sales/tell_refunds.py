"""POST /conversions/refund: servers tell refunds of sales (docs/rest-api.md)."""

from __future__ import annotations

from backend.domain.sales.refunds import RefundResult, SaleUnknown, ToldRefund, parse_refund
from backend.json_api import error_table
from backend.json_api.api_error import ApiError
from backend.rest_api.sales.schemas import telling
from backend.rest_api.sales.service import store_told_refunds
from backend.rest_api.sales.told_items import ItemResult, ItemResults, answer_items, result


@telling(
    "/conversions/refund",
    "Tell refunds, each counted once",
    "Refund",
    error_table.REFUNDED_SALE_NOT_FOUND,
)
async def tell_refunds() -> ItemResults:
    """Store refunds. Each refund_id counts once, and none goes beyond what was paid."""
    return await answer_items("refund", parse_refund, store_told_refunds, _result)


def _result(_: ToldRefund, stored: RefundResult) -> ItemResult:
    if isinstance(stored.error, SaleUnknown):
        raise ApiError(error_table.REFUNDED_SALE_NOT_FOUND)
    if stored.error:
        raise stored.error
    assert stored.status is not None  # as nothing is wrong with it
    return result(stored.status, stored.notes)
