"""Sales that a browser and servers tell, decided without a database: counted once, with all that is known."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest

from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Call, Kind
from tests.domain.sales.shelf import START, Shelf, arrived, batch

SALE: dict[str, Any] = {"transaction_id": "t", "revenue": 5, "currency": "EUR"}


def server_batch(
    kind: str = "conversion",
    *,
    second: float = 20,
    device: str | None = None,
    customer: str | None = None,
    **fields: Any,
) -> Batch:
    """What a server tells, so many seconds after the start; a conversion is the sale t."""
    at = START + timedelta(seconds=second)
    values = SALE | fields if kind == "conversion" else fields
    who = None if customer is None else CustomerId(customer)
    call = ArrivedCall(Call(Kind(kind), CallId(f"{kind}-{second}-{values}"), at, None, who, values))
    device_id = DeviceId(device) if device else None
    return Batch(OrgId("o"), device_id, None, START + timedelta(seconds=60), (call,))


DEVICE = OrgId("o"), DeviceId("d")
LANDING = batch(arrived("attribution", 1, source="mail"), second=1)
BROWSER = batch(arrived("conversion", 10, **SALE), second=10)
WEBHOOK = server_batch(customer="c", metadata={"invoice": 7})
VISIT = Touch(START, LinkId("l"), {}, {}, START, click_at=START, click_mark=7, is_named=True)
CLICKED = replace(server_batch(second=21), calls=(replace(server_batch(second=21).calls[0], visit=VISIT),))
STOCK = server_batch(second=30, customer="c", product_id="kite")


@pytest.mark.parametrize("is_one_group", [False, True])
@pytest.mark.parametrize("order", list(permutations([BROWSER, WEBHOOK, STOCK])))
def test_whoever_comes_first_the_same_sale_stays(order: tuple[Batch, ...], is_one_group: bool) -> None:
    """A sale told by its device and by two servers counts once, in the device's time and with its touch."""
    shelf = Shelf()
    for group in [[LANDING, *order]] if is_one_group else [[one_batch] for one_batch in (LANDING, *order)]:
        shelf.store(group)
    (record,) = shelf.records.values()
    assert (record.device_id, record.customer_id) == ("d", "c")
    assert record.fields == SALE | {"metadata": {"invoice": 7}, "product_id": "kite"}
    assert record.at == START + timedelta(seconds=10)
    assert shelf.sources() == {record.call_id: ("mail", "mail")}
    # So it is the customer who came by that touch, also in reports by customer.
    assert History.of_device(shelf.devices[DEVICE], CreditRules()).owner_at(record.at) == "c"


@pytest.mark.parametrize("order", list(permutations([BROWSER, CLICKED, STOCK])))
def test_a_click_that_a_server_names_stays(order: tuple[Batch, ...]) -> None:
    """Beside the touches of the device that another telling names, whichever comes first."""
    shelf = Shelf()
    for one_batch in (LANDING, *order):
        shelf.store([one_batch])
    (record,) = shelf.records.values()
    assert (record.device_id, record.customer_id) == ("d", "c")
    assert (record.credit.first, record.credit.last) == (VISIT, shelf.devices[DEVICE].touches[0])


def test_a_landing_that_arrives_last_gets_its_credit() -> None:
    """A server's sale that its device told as well is credited to a check that arrives after both."""
    for groups in ([[WEBHOOK, BROWSER, LANDING]], [[WEBHOOK], [BROWSER], [LANDING]]):
        shelf = Shelf()
        for group in groups:
            shelf.store(group)
        assert [last for _, last in shelf.sources().values()] == ["mail"]


def test_what_is_known_stays() -> None:
    """Another amount, customer or device of the same order changes nothing and is named."""
    shelf = Shelf()
    shelf.store([server_batch(customer="c", device="d")])
    other = server_batch(second=21, customer="x", device="e", revenue=6)
    ((result,),) = shelf.store([other]).results
    assert set(result.differs) == {"revenue", "customer_id", "device_id"}
    (record,) = shelf.records.values()
    assert (record.fields["revenue"], record.customer_id, record.device_id) == (5, "c", "d")
    assert result.record_id == record.call_id


def test_another_browser_does_not_say_whose_a_sale_is() -> None:
    """A customer that another browser names for a known order is neither the order's nor its device's."""
    shelf = Shelf()
    shelf.store([BROWSER])
    shelf.store([batch(arrived("conversion", 11, customer="x", **SALE), device="other")])
    (record,) = shelf.records.values()
    assert record.customer_id is None
    assert shelf.devices[DEVICE].customers == ()
    assert set(shelf.devices) == {DEVICE}


def test_a_forgotten_sale_stays_forgotten() -> None:
    """An order that counted, and was erased since, is a duplicate that stores nothing."""
    shelf = Shelf()
    shelf.store([WEBHOOK])
    shelf.records.clear()
    again = shelf.store([STOCK])
    assert not any((again.records, again.completed, again.contacts, again.devices))


def test_a_server_needs_no_device() -> None:
    """What is told of a customer alone has no touches, and keeps the customer's e-mail address."""
    shelf = Shelf()
    decided = shelf.store(
        [server_batch("lead", customer="c", email_sha256="ab"), server_batch("event", customer="c", name="n")]
    )
    assert [contact.details for contact in decided.contacts] == [{"email_sha256": "ab"}, {}]
    assert {contact.device_id for contact in decided.contacts} == {None}
    assert shelf.devices == {}
    assert set(shelf.sources().values()) == {(None, None)}


def test_a_server_tells_true_time() -> None:
    """A server's sale counts when it says, also for a device whose clock is off, and brings no clock."""
    shelf = Shelf()
    off = timedelta(minutes=1)
    landing = arrived("attribution", 0, source="mail")
    shelf.store([Batch(OrgId("o"), DeviceId("d"), START, START + off, (landing,))])
    clocks = shelf.devices[DEVICE].clocks
    shelf.store([server_batch(second=61, device="d")])
    (record,) = shelf.records.values()
    assert record.at == START + timedelta(seconds=61)
    assert shelf.devices[DEVICE].clocks == clocks


@pytest.mark.parametrize("customer", [None, "c"])
def test_what_was_taken_back_is_not_said_by_another_time(customer: str | None) -> None:
    """A sale whose identity was taken back, told once more with an earlier time, identifies nobody again."""
    shelf = Shelf()
    shelf.store([server_batch(device="d", customer="c")])
    assert shelf.take_back(DeviceId("d"), CustomerId("c"), START + timedelta(seconds=70))
    again = replace(
        server_batch(second=9, device="d", customer=customer), received_at=START + timedelta(seconds=80)
    )
    assert not shelf.store([again]).contacts
    (record,) = shelf.records.values()
    assert record.at == START + timedelta(seconds=9)
    assert not shelf.devices[DEVICE].standing
    assert shelf.customers() == {record.call_id: None}
