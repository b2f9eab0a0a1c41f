"""What histories are made of: visits, identities, refunds and sales, as the service was told of them."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from backend.domain.ids import CustomerId, DeviceId, LinkId

SourceT = TypeVar("SourceT")
# The link, and the click's place in the ledger.
PlacedClick: TypeAlias = tuple[LinkId | None, datetime, int]


class ToldVisit(NamedTuple, Generic[SourceT]):
    """A visit as the service was told of it.

    `received_at` is when the service was told (None: not noted). A direct visit has no source. `click` led
    to it, if that is known. One that `is_named` was named by a server, by that click.
    """

    at: datetime
    received_at: datetime | None
    source: SourceT | None
    click: PlacedClick | None
    is_named: bool


class Identified(NamedTuple):
    """An identity as the service was told of it, from `at` on; None is a customer that was not kept.

    It was `taken_back_at` some time, or another telling of the sale that it follows from replaced it. Where
    it `is_server`, a server named both device and customer.
    """

    at: datetime
    received_at: datetime | None
    customer_id: CustomerId | None
    taken_back_at: datetime | None
    replaced_at: datetime | None
    is_server: bool


class OrderedVisit(NamedTuple, Generic[SourceT]):
    """A visit in order: by its time, direct ones first, then by device and number in its list."""

    at: datetime
    is_touch: bool
    device_id: DeviceId
    number: int
    source: SourceT | None
    click: PlacedClick | None
    is_named: bool


class RefundFact(NamedTuple):
    """A refund of a sale, in the same units as the sale's amount. `at` is None where it does not matter.

    Its amount is 0 where it was told in another currency than the sale's: then it does not count.
    """

    received_at: datetime
    amount: int
    at: datetime | None = None


class SaleFacts(NamedTuple, Generic[SourceT]):
    """A lead or a conversion, of a device, a customer or both. A lead has no amount.

    `customer_id` is the customer that its tellings name. `copies` are touches of its device that are stored
    with it, since the device's list may not have them any more. `visits` are those that servers named for it.
    `amount` is in whole units, such as cents.
    """

    at: datetime
    received_at: datetime
    device_id: DeviceId | None
    customer_id: CustomerId | None
    copies: tuple[ToldVisit[SourceT], ...] = ()
    amount: int = 0
    refunds: tuple[RefundFact, ...] = ()
    visits: tuple[ToldVisit[SourceT], ...] = ()
