"""Which part of a device is a person's."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from backend.domain.ids import CustomerId, DeviceId, OrgId
from backend.domain.sales.belongings import part_of
from backend.domain.visitors.attribution import CUSTOMERS_KEPT, Device
from backend.domain.visitors.persons import Person

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_till_is_not_its_first_customer_s_as_a_whole() -> None:
    """Also where nobody else is known any more: somebody had it in the times that were not kept."""
    till = Device(OrgId("o"), DeviceId("d"), START, START)
    names = [CustomerId(str(number)) for number in range(CUSTOMERS_KEPT + 5)]
    for hour, name in enumerate(names):
        till = till.identified(name, START + timedelta(hours=hour))
    part = part_of(Person(customers=frozenset(names)), till)
    assert not part.is_whole
    assert part.has(START)
    assert not part.has(START + timedelta(hours=1))
    assert part.has(START + timedelta(hours=CUSTOMERS_KEPT + 4))
