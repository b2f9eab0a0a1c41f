"""A year of sales for the benchmarks of analytics, to customers with up to three devices."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from operator import attrgetter

from bson import Decimal128

from backend.domain.clicks.block import moment
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.credit import kept_credit
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Device, Identification, Touch
from backend.storage.driver.mongo import Database, Document
from backend.storage.sales import conversions
from backend.storage.visitors import contacts, devices
from backend.storage.visitors.records import TOUCHES
from backend.storage.visitors.touches import touch_document
from benchmarks.data.stored_links import CAMPAIGNS
from benchmarks.data.year_of_clicks import DAYS, Visit

CURRENCY = "EUR"
_DAY = timedelta(days=1)
_SALES_PER_WRITE = 5_000
# From the click to the page that tells of the visit.
_LOADING = timedelta(seconds=2)


async def store_sales(
    database: Database, org_id: OrgId, number: int, until: datetime, visits: Sequence[Sequence[Visit]]
) -> None:
    """Store so many sales, some two a customer, with devices and identities.

    Their touches are of these clicks, which are those of each day of the year; where there are none, of ads.
    """
    making = _Making(org_id, until, visits)
    batch: dict[str, list[Document]] = {name: [] for name in (devices.NAME, contacts.NAME, conversions.NAME)}
    sales_left = number
    while sales_left:
        sales_left -= making.add_customer(batch, sales_left)
        if len(batch[conversions.NAME]) >= _SALES_PER_WRITE or not sales_left:
            for name, documents in batch.items():
                await database[name].insert_many(documents, ordered=False)
                documents.clear()
            print(f"\r  {number - sales_left:,} sales stored", end="", flush=True)
    print("\r", end="")


class _Making:
    """Customers, drawn at random and the same each time."""

    def __init__(self, org_id: OrgId, until: datetime, visits: Sequence[Sequence[Visit]]) -> None:
        self._org_id = org_id
        self._until = until
        self._visits = visits
        self._made = random.Random(20)  # noqa: S311 - no secret is drawn

    def add_customer(self, batch: dict[str, list[Document]], most: int) -> int:
        """Add a customer's documents to those of each collection. Returns how many sales, at most so many."""
        customer_id = CustomerId(f"customer-{most}")
        of_customer = [self._device(customer_id) for _ in range(self._made.randint(1, 3))]
        batch[devices.NAME] += map(devices.document, of_customer)
        batch[contacts.NAME] += [_contact(device, customer_id) for device in of_customer]
        sales = min(most, self._made.randint(1, 3))
        batch[conversions.NAME] += [
            self._sale(self._made.choice(of_customer), customer_id) for _ in range(sales)
        ]
        return sales

    def _device(self, customer_id: CustomerId) -> Device:
        age = self._made.randint(1, DAYS - 5)
        first = self._until - age * _DAY
        touches = [self._touch(age) for _ in range(self._made.randint(1, 6))]
        touches.sort(key=attrgetter("at"))
        return Device(
            self._org_id,
            DeviceId(str(uuid.UUID(int=self._made.getrandbits(128)))),
            first,
            self._until,
            touches[0],
            tuple(touches),
            customers=(Identification(customer_id, first + _DAY, first + _DAY),),
        )

    def _touch(self, age: int) -> Touch:
        """A touch in the last so many days."""
        day = DAYS - self._made.randint(1, age)
        if self._visits:
            link_id, clicked_at = self._made.choice(self._visits[day])
            at = moment(clicked_at) + _LOADING
            return Touch(at, link_id, {}, {}, at, click_at=moment(clicked_at), click_mark=1)
        at = self._until - (DAYS - day) * _DAY + timedelta(seconds=self._made.randrange(86_400))
        utm = {"utm_campaign": f"campaign-{self._made.randrange(CAMPAIGNS)}"}
        return Touch(at, None, utm, {}, at)

    def _sale(self, device: Device, customer_id: CustomerId) -> Document:
        known_for = int((self._until - device.first_seen_at).total_seconds())
        at = self._until - timedelta(seconds=self._made.randint(1, known_for))
        credit = kept_credit(SaleFacts(at, at, device.id, customer_id), device)
        return {
            "_id": f"{self._org_id}/{uuid.UUID(int=self._made.getrandbits(128))}",
            "org_id": self._org_id,
            "device_id": device.id,
            "customer_id": customer_id,
            "at": at,
            "received_at": at,
            "currency": CURRENCY,
            "revenue": Decimal128(Decimal(self._made.randint(1, 20_000)) / 100),
            **dict(zip(TOUCHES, map(touch_document, (credit.first, credit.last)), strict=True)),
        }


def _contact(device: Device, customer_id: CustomerId) -> Document:
    return {
        "_id": f"{device.org_id}/{device.id}/{customer_id}",
        "org_id": device.org_id,
        "device_id": device.id,
        "customer_id": customer_id,
        "last_at": device.last_seen_at,
    }
