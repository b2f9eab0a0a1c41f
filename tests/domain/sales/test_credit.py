"""Credit equals a naive model for any history, and its shares add up to the sale."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backend.domain.errors import InvalidField
from backend.domain.ids import CustomerId, DeviceId, LinkId, OrgId
from backend.domain.sales.credit import kept_credit, share_credit
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.histories import MOST_FIRST, MOST_LATEST, as_told
from backend.domain.sales.told_facts import RefundFact, SaleFacts
from backend.domain.visitors.attribution import Device, DirectVisit, Touch
from tests.domain.sales.naive_credit import expect
from tests.examples import examples

START = datetime(2026, 1, 1, tzinfo=UTC)
# At few moments, so that things happen at the same one and windows begin at one.
HOURS = st.integers(0, 12).map(lambda half_days: 12 * half_days)
ADA, BOB, GUEST = (CustomerId(name) for name in ("ada", "bob", "guest"))
CUSTOMERS = st.sampled_from([ADA, BOB])
NAMES = ("phone", "laptop", "till")


def at(hour: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=hour)


def touch(hour: float, name: str = "l") -> Touch:
    """A touch of this link."""
    return Touch(at(hour), LinkId(name), {}, {}, at(hour))


def device(name: str, *hours: float) -> Device:
    """A device with a touch at each of these hours, of a link named after both."""
    made = Device(OrgId("o"), DeviceId(name), START, START)
    for hour in hours:
        made = made.touched(touch(hour, f"{name} {hour:g}"))
    return made


def clicked(hour: float, received_at: datetime | None, *, is_named: bool) -> Touch:
    """The visit of the click of this hour, which a server named or a browser told."""
    click = (at(hour - hour % 24), 1)
    own_at = click[0] if is_named else at(hour)
    return Touch(own_at, LinkId("clicked"), {}, {}, received_at, None, *click, is_named=is_named)


def names_of(sale: SaleFacts[Touch], devices: list[Device], **rules: Any) -> list[str | None]:
    """The links that get credit."""
    [credited] = share_credit([sale], devices, CreditRules(**rules))
    return [share.touch.link_id if share.touch else None for share in credited.shares]


@st.composite
def devices(draw: Callable[[Any], Any], name: str) -> Device:
    """Touches, direct visits and identities, some late, some taken back."""
    made = device(name)
    for number, (kind, hour, late, customer) in enumerate(
        draw(
            st.lists(st.tuples(st.integers(0, 5), HOURS, st.sampled_from([0, 0, 30]), CUSTOMERS), max_size=9)
        )
    ):
        received = draw(st.sampled_from([at(hour + late), None]))
        match kind:
            case 0 | 1:
                made = made.touched(Touch(at(hour), LinkId(f"{name}{number}"), {}, {}, received))
            case 2:
                made = made.touched(clicked(hour, received, is_named=draw(st.booleans())))
            case 3:
                made = made.visited(DirectVisit(at(hour), received))
            case 4:
                made = made.identified(customer, at(hour), received)
            case 5:
                made = made.taken_back(customer, at(hour))
    # What a list is cut to.
    return replace(made, touches=made.touches[-3:])


@st.composite
def sales(draw: Callable[[Any], Any], known_devices: list[Device]) -> SaleFacts[Touch]:
    """Of a device, a customer or both, refunded now and then."""
    hour = draw(HOURS)
    sale_device = draw(st.none() | st.sampled_from(known_devices))
    amount = draw(st.integers(0, 1_001))
    remaining, refunds = amount, []
    for after in draw(st.lists(HOURS, max_size=2)):
        part = draw(st.integers(0, remaining))
        remaining -= part
        refunds.append(RefundFact(at(hour + after), part))
    facts = SaleFacts[Touch](at(hour), at(hour), sale_device.id if sale_device else None, None)
    copies = list(kept_credit(facts, sale_device).touches)
    if sale_device and draw(st.booleans()):  # one that the list has no more
        copies.append(Touch(at(hour - 1), LinkId("gone"), {}, {}))
    return SaleFacts(
        at(hour),
        at(hour + draw(st.sampled_from([0, 0, 40]))),
        sale_device.id if sale_device else None,
        draw(st.none() | CUSTOMERS),
        tuple(map(as_told, copies)),
        amount,
        tuple(refunds),
        tuple(
            as_told(clicked(clicked_hour, at(hour), is_named=True))
            for clicked_hour in draw(st.sets(HOURS, max_size=2))
        ),
    )


RULES = st.builds(
    CreditRules,
    to=st.sampled_from(CreditTo),
    model=st.sampled_from(Model),
    lookback_days=st.none() | st.integers(1, 4),
    as_of=st.none() | HOURS.map(at),
)


@settings(max_examples=examples(30))
@given(st.data())
def test_credit_equals_a_naive_model(data: st.DataObject) -> None:
    """For any history of devices and customers, any model, window and moment; and sums are exact."""
    all_devices = [data.draw(devices(name)) for name in NAMES]
    told_sales = data.draw(st.lists(sales(all_devices), min_size=1, max_size=6))
    for _ in range(4):
        rules = data.draw(RULES)
        for sale, credited in zip(told_sales, share_credit(told_sales, all_devices, rules), strict=True):
            expected = expect(sale, all_devices, rules)
            assert credited.customer_id == expected.customer_id
            if expected.parts is None:
                assert not credited.shares
                continue
            assert [share.touch for share in credited.shares] == [touch for touch, _ in expected.parts]
            assert [share.part for share in credited.shares] == [part for _, part in expected.parts]
            assert sum(share.part for share in credited.shares) == 1
            back = [
                refund.amount
                for refund in sale.refunds
                if not rules.as_of or refund.received_at < rules.as_of
            ]
            assert (credited.amount, credited.refunded) == (sale.amount, sum(back))


def test_a_click_on_the_phone_and_a_purchase_on_the_laptop() -> None:
    """By customer the sale is the click's; by device it is nobody's. A wrong identity can be taken back."""
    phone = device("phone", 1).identified(ADA, at(2))
    laptop = device("laptop").visited(DirectVisit(at(3), at(3))).identified(ADA, at(4))
    sale = SaleFacts[Touch](at(5), at(5), DeviceId("laptop"), ADA)
    by_customer = {"to": CreditTo.CUSTOMER}
    assert names_of(sale, [phone, laptop]) == [None]
    assert names_of(sale, [phone, laptop], **by_customer) == ["phone 1"]
    wrong = [phone.taken_back(ADA, at(9)), laptop]
    assert names_of(sale, wrong, **by_customer) == [None]
    assert names_of(sale, wrong, **by_customer, as_of=at(8)) == ["phone 1"]
    again = [wrong[0].identified(ADA, at(10)), laptop]
    assert names_of(sale, again, **by_customer) == ["phone 1"]


def test_of_a_customer_with_many_devices_the_first_and_the_latest_count_and_the_sale_s_own() -> None:
    """Such a customer is no person, but "guest": otherwise each sale would be divided among all guests."""
    guests = [
        replace(device(str(hour), hour).identified(GUEST, at(hour), at(hour)), last_seen_at=at(hour))
        for hour in range(200)
    ]
    counting = [f"{hour} {hour}" for hour in (*range(MOST_FIRST), *range(200 - MOST_LATEST, 200))]
    late = at(999)
    linear = {"to": CreditTo.CUSTOMER, "model": Model.LINEAR}
    assert names_of(SaleFacts(late, late, DeviceId("160"), GUEST), guests, **linear) == counting
    own = names_of(SaleFacts(late, late, DeviceId("77"), GUEST), guests, **linear)
    assert own == [*counting[:MOST_FIRST], "77 77", *counting[MOST_FIRST:]]
    assert names_of(SaleFacts(late, late, None, GUEST), guests, **linear) == counting


def test_made_up_browsers_push_no_device_out() -> None:
    """Neither one that was told of before, nor one that a server named, however many there are."""
    made_up = [
        replace(device(f"made up {number}").identified(ADA, at(0), at(20)), last_seen_at=at(90))
        for number in range(300)
    ]
    before = device("before", 1).identified(ADA, at(2), at(2))
    named = device("named", 3).identified(ADA, at(2), at(50), is_server=True)
    sale = SaleFacts[Touch](at(99), at(99), None, ADA)
    linear = {"to": CreditTo.CUSTOMER, "model": Model.LINEAR}
    assert names_of(sale, [*made_up, before, named], **linear) == ["before 1", "named 3"]


def test_the_models_differ() -> None:
    """Each gives what its name says, and a direct visit takes the credit by the last visit only."""
    third, fifth = Fraction(1, 3), Fraction(1, 5)
    all_devices = [device("d", 1, 2, 3).visited(DirectVisit(at(4)))]
    sale = SaleFacts[Touch](at(5), at(5), DeviceId("d"), None, amount=100)
    shares_by_model = {
        model: [
            (share.touch.link_id if share.touch else None, share.part)
            for share in next(share_credit([sale], all_devices, CreditRules(model=model))).shares
        ]
        for model in Model
    }
    assert shares_by_model == {
        Model.LAST_NON_DIRECT: [("d 3", 1)],
        Model.LAST: [(None, 1)],
        Model.FIRST: [("d 1", 1)],
        Model.LINEAR: [("d 1", third), ("d 2", third), ("d 3", third)],
        Model.POSITION_BASED: [("d 1", fifth * 2), ("d 2", fifth), ("d 3", fifth * 2)],
    }


def test_at_one_moment_a_touch_is_later_than_a_direct_visit() -> None:
    """So that a check told twice, once without its signals, takes nobody's credit."""
    all_devices = [device("d", 1).visited(DirectVisit(at(1)))]
    sale = SaleFacts[Touch](at(1), at(1), DeviceId("d"), None)
    assert names_of(sale, all_devices, model=Model.LAST) == ["d 1"]


def test_a_window_includes_its_beginning() -> None:
    """A touch exactly so many days before counts, one before that does not."""
    sale = SaleFacts[Touch](at(48), at(48), DeviceId("d"), None)
    assert names_of(sale, [device("d", 24)], lookback_days=1) == ["d 24"]
    assert names_of(sale, [device("d", 23.9)], lookback_days=1) == [None]


@pytest.mark.parametrize("days", [0, -1, 3_661])
def test_a_window_has_bounds(days: int) -> None:
    """What is no number of days is refused."""
    with pytest.raises(InvalidField, match="lookback_days"):
        CreditRules(lookback_days=days)
