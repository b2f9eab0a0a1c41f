"""The time of reports of 100,000 sales by campaign, for each way to give credit.

`python -m benchmarks.credit` starts a MongoDB and stores sales of a year, of customers with up to three
devices and touches on each. It asks the query engine for conversions and revenue by campaign, prints the
medians, and ends with an error where the total of a report is not the sales to the cent.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from bson import Decimal128

from backend.clock import utc_now
from backend.domain.analytics_input import UTC_ZONE
from backend.domain.analytics_query import Field, Measure, Query
from backend.domain.attribution import Device, Touch
from backend.domain.credit import kept_credit
from backend.domain.credit_rules import CreditRules, CreditTo, Model
from backend.domain.histories import SaleFacts
from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.query_period import QueryPeriod
from backend.interpreter import set_up_interpreter
from backend.settings import Settings
from backend.storage import conversions, devices, identities
from backend.storage.analytics_answers import answer
from backend.storage.database import open_database
from backend.storage.embedded_mongodb import EmbeddedMongoDB
from backend.storage.mongo import Database, Document, StorageError
from backend.storage.records import TOUCHES
from backend.storage.touches import touch_document
from benchmarks.stored_links import prepare_domain

_DAY = timedelta(days=1)
_AT_ONCE = 5_000
_RULES = {
    "device, last non-direct (kept with each sale)": CreditRules(),
    "device, last non-direct, of 30 days": CreditRules(lookback_days=30),
    "device, linear": CreditRules(model=Model.LINEAR),
    "customer, last non-direct": CreditRules(CreditTo.CUSTOMER),
    "customer, linear, of 30 days": CreditRules(CreditTo.CUSTOMER, Model.LINEAR, 30),
    "customer, position-based": CreditRules(CreditTo.CUSTOMER, Model.POSITION_BASED),
}


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--sales", type=int, default=100_000)
    options.add_argument("--rounds", type=int, default=3, help="how often each report is asked for")
    asked = options.parse_args()
    asyncio.run(_measure(asked.sales, asked.rounds))


async def _measure(number: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="waylink-bench-") as folder:
        async with EmbeddedMongoDB(Path(folder) / "mongodb") as server:
            settings = Settings(mongodb_uri=server.uri, data_dir=Path(folder))
            async with open_database(settings) as database:
                org_id = OrgId(await prepare_domain(database))
                sold = await _store(database, org_id, number)
                set_up_interpreter()  # as a worker of the service does
                print(f"{number:,} sales:")
                for name, rules in _RULES.items():
                    try:
                        runs = [await _ask(database, org_id, rules, sold) for _ in range(rounds)]
                    except StorageError:
                        print(f"  {name:46} longer than a report may take", flush=True)
                        continue
                    seconds, used = (statistics.median(each) for each in zip(*runs, strict=True))
                    print(
                        f"  {name:46} {seconds:6.2f} s, processor time of the service {used:5.2f} s",
                        flush=True,
                    )


async def _ask(database: Database, org_id: OrgId, rules: CreditRules, sold: Decimal) -> tuple[float, float]:
    """The seconds that a report takes, by the clock and of this process's processor time."""
    end = utc_now().replace(minute=0, second=0, microsecond=0) + _DAY
    query = Query(
        period=QueryPeriod(end - 400 * _DAY, end, UTC_ZONE),
        measures=(Measure.CONVERSIONS, Measure.REVENUE),
        group_by=(Field.CAMPAIGN,),
        currency="EUR",
        rules=rules,
    )
    began, used = time.monotonic(), time.process_time()
    found = await answer(database, org_id, query, is_whole=True)
    took = time.monotonic() - began, time.process_time() - used
    if found.totals.values[Measure.REVENUE] != sold:
        sys.exit("The total of the report is not what was sold.")
    return took


async def _store(database: Database, org_id: OrgId, number: int) -> Decimal:
    """Store sales, some two a customer, with devices and identities. Returns what was paid."""
    made = random.Random(20)  # noqa: S311 - the same each time
    now = utc_now().replace(microsecond=0)
    sold, left = Decimal(), number
    found: dict[str, list[Document]] = {
        name: [] for name in (devices.NAME, identities.NAME, conversions.NAME)
    }
    while left:
        customer_id = CustomerId(f"customer-{left}")
        own = [_device(made, org_id, customer_id, now) for _ in range(made.randint(1, 3))]
        found[devices.NAME] += [devices.document(each) for each in own]
        found[identities.NAME] += [_identity(each, customer_id) for each in own]
        for _ in range(min(left, made.randint(1, 3))):
            sale = _sale(made, made.choice(own), customer_id, now)
            found[conversions.NAME].append(sale)
            sold += sale["revenue"].to_decimal()
            left -= 1
        if len(found[conversions.NAME]) >= _AT_ONCE or not left:
            for name, documents in found.items():
                await database[name].insert_many(documents, ordered=False)
                documents.clear()
            print(f"\r  {number - left:,} sales stored", end="", flush=True)
    print("\r", end="")
    return sold


def _device(made: random.Random, org_id: OrgId, customer_id: CustomerId, now: datetime) -> Device:
    first = now - made.randint(1, 360) * _DAY
    device = Device(org_id, DeviceId(str(uuid.UUID(int=made.getrandbits(128)))), first, now)
    for touch in _touches(made, first, now):
        device = device.touched(touch)
    return device.identified(customer_id, first + _DAY, first + _DAY)


def _touches(made: random.Random, first: datetime, now: datetime) -> Iterator[Touch]:
    for _ in range(made.randint(1, 6)):
        at = first + (now - first) * made.random()
        at = at.replace(microsecond=0)
        yield Touch(at, None, {"utm_campaign": f"campaign-{made.randint(0, 99)}"}, {}, at)


def _identity(device: Device, customer_id: CustomerId) -> Document:
    return {
        "_id": f"{device.org_id}/{device.id}/{customer_id}",
        "org_id": device.org_id,
        "device_id": device.id,
        "customer_id": customer_id,
        "first_at": device.first_seen_at,
        "last_at": device.last_seen_at,
    }


def _sale(made: random.Random, device: Device, customer_id: CustomerId, now: datetime) -> Document:
    at = now - made.randint(0, 364) * _DAY
    credit = kept_credit(SaleFacts(at, at, device.id, customer_id), device)
    return {
        "_id": f"{device.org_id}/{uuid.UUID(int=made.getrandbits(128))}",
        "org_id": device.org_id,
        "device_id": device.id,
        "customer_id": customer_id,
        "at": at,
        "received_at": at,
        "currency": "EUR",
        "revenue": Decimal128(Decimal(made.randint(1, 20_000)) / 100),
        **dict(zip(TOUCHES, map(touch_document, (credit.first, credit.last)), strict=True)),
    }


if __name__ == "__main__":
    main()
