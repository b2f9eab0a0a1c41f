"""Refunds of one sale that are told at once."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from functools import partial

import httpx
import pytest

from backend.domain.sales.decisions import Status
from backend.domain.sales.refunds import Refund, ToldRefund
from backend.storage.driver.mongo import Database
from backend.storage.sales.refunds import store_refunds
from tests.api.sales.test_refunds import REFUND, REFUNDS, refunded
from tests.api.told_sales import SALE, stored, tell
from tests.between_commands import moments
from tests.facts.organizations import TestOrganization


@pytest.mark.parametrize("is_same", [False, True])
async def test_another_refund_is_stored_between_two_steps_of_one(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database, is_same: bool
) -> None:
    """The other one counts, and this one does not: 15 and 12 are more than the sale's 19.99, or it is the
    same refund, told of another sale."""
    async for moment in moments(database):
        orders = [f"order-{moment.number}-{number}" for number in range(2)]
        sales = [SALE | {"transaction_id": order, "customer_id": "ada"} for order in orders]
        await tell(client, organization, "conversions", *sales)
        now, refund_id = datetime.now(UTC), f"r{moment.number}"
        refund = ToldRefund(organization.id, orders[0], Refund(refund_id, Decimal(15), "EUR", now, now))
        other = {
            "transaction_id": orders[is_same],
            "refund_id": refund_id if is_same else f"other-{refund_id}",
        }
        tell_other = partial(tell, client, organization, REFUNDS, REFUND | other | {"amount": 12})
        (result,), others = await moment.interrupt(store_refunds(moment.database, [refund]), tell_other)
        assert result.status is (None if others else Status.ACCEPTED)
        refused = "refund_id" if is_same else "amount"
        assert (result.error.field if result.error else None) == (refused if others else None)
        sums = {
            sale["transaction_id"]: refunded(sale)
            for sale in await stored(database, organization, "conversions")
        }
        assert sums[orders[0]] + sums[orders[1]] == (12 if others else 15)
