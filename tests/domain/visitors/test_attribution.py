"""Attribution: which touch of a device holds when, and what a device keeps."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.ids import CustomerId, DeviceId, LinkId, OrgId
from backend.domain.sales.credit import kept_credit
from backend.domain.sales.credit_rules import CreditRules
from backend.domain.sales.histories import History
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import (
    CLICK_IDS_KEPT,
    CUSTOMERS_KEPT,
    REPEATED_KEPT,
    TOUCHES_KEPT,
    Device,
    Touch,
)

START = datetime(2026, 1, 1, tzinfo=UTC)


def touch(minute: int, **click_ids: str) -> Touch:
    """A touch so many minutes after the start."""
    return Touch(START + timedelta(minutes=minute), None, {"utm_source": str(minute)}, click_ids)


def device(*minutes: int) -> Device:
    """A device with touches that arrived in this order."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for minute in minutes:
        made = made.touched(touch(minute))
    return made


def last_and_first(made: Device, at: datetime) -> tuple[Touch | None, Touch | None]:
    """The touches that get the credit for what the device does at this time."""
    credit = kept_credit(SaleFacts(at, at, made.id, None), made)
    return credit.last, credit.first


@given(st.permutations(range(8)), st.integers(-1, 9))
def test_the_touch_that_holds_does_not_depend_on_arrival(order: list[int], minute: int) -> None:
    """In whatever order touches arrive, the latest until a moment holds at it, and the first stays first."""
    at = START + timedelta(minutes=minute)
    made = device(*order)
    last, first = last_and_first(made, at)
    assert (last and last.utm["utm_source"]) == (str(min(minute, 7)) if minute >= 0 else None)
    assert (first and first.utm["utm_source"]) == ("0" if minute >= 0 else None)


@given(st.permutations(range(6)), st.integers(0, 3))
def test_of_one_moment_touches_stand_by_what_they_say(order: list[int], minute: int) -> None:
    """Whichever came first: by their links, and the same told again is one."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for number in (*order, *order):
        made = made.touched(replace(touch(number % 3), link_id=LinkId(str(number))))
    assert [kept_touch.link_id for kept_touch in made.touches] == ["0", "3", "1", "4", "2", "5"]
    last, first = last_and_first(made, START + timedelta(minutes=minute))
    assert (last and last.link_id, first and first.link_id) == (str(3 + min(minute, 2)), "0")


@given(st.permutations(range(6)))
def test_click_ids_do_not_depend_on_arrival(order: list[int]) -> None:
    """Each ad click id is kept once, from when the device first had it, oldest first, however they arrive."""
    ids = ["a", "b", "a", "c", "b", "a"]
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for minute in order:
        made = made.touched(touch(minute, gclid=ids[minute]))
    assert [(click_id.value, click_id.at) for click_id in made.click_ids] == [
        ("a", START),
        ("b", START + timedelta(minutes=1)),
        ("c", START + timedelta(minutes=3)),
    ]


def test_the_same_touch_twice_changes_nothing_that_holds() -> None:
    """A touch that equals one before it leaves first and last touch and the click ids as they were."""
    once = device(1, 2).touched(touch(3, gclid="g"))
    twice = once.touched(touch(3, gclid="g")).touched(touch(1))
    at = START + timedelta(minutes=9)
    assert last_and_first(twice, at) == (touch(3, gclid="g"), touch(1))
    assert twice.click_ids == once.click_ids


def test_what_a_device_keeps_is_bounded() -> None:
    """However often a device is touched, its record stays small and the first touch is kept."""
    made = device(*range(100))
    for number in range(100):
        made = made.touched(touch(200 + number, gclid=f"g{number}"))
    assert len(made.touches) == TOUCHES_KEPT
    assert len(made.click_ids) == CLICK_IDS_KEPT
    assert made.first_touch == touch(0)
    assert last_and_first(made, START + timedelta(minutes=5))[0] == touch(0)


def owners(made: Device, *hours: float) -> list[CustomerId | None]:
    """Whose the device was, so many hours after the start."""
    history = History.of_device(made, CreditRules())
    return [history.owner_at(START + timedelta(hours=hour)) for hour in hours]


def test_several_customers_on_one_device() -> None:
    """A device is its latest customer's, and before it was identified the first one's."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for name, hour in (("b", 2), ("a", 1)):
        made = made.identified(CustomerId(name), START + timedelta(hours=hour))
    assert owners(made, *range(4)) == ["a", "a", "b", "b"]


def test_a_page_that_identifies_on_each_load_pushes_out_nobody() -> None:
    """Of many identities in a row as one customer the latest stay, and those of others as well."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for hour in range(300):
        name = "b" if hour == 100 else "a"
        made = made.identified(CustomerId(name), START + timedelta(hours=hour), START + timedelta(hours=hour))
    hours = [(identity.at - START) // timedelta(hours=1) for identity in made.customers]
    assert hours == [0, 99, 100, 101, *range(299 - REPEATED_KEPT, 300)]
    # Someone else's that arrives late stands between two of these.
    made = made.identified(CustomerId("c"), START + timedelta(hours=296.5), START + timedelta(hours=300))
    assert owners(made, 99, 100, 296, 296.7, 297) == ["a", "b", "a", "c", "a"]


def test_a_device_of_many_customers_keeps_the_first_and_the_latest() -> None:
    """What it did before anybody was known stays the first one's. What others did is not: it is nobody's.

    So it is in whatever order they were told.
    """
    hours = list(range(200))
    for number in range(5):
        made = Device(OrgId("o"), DeviceId("d"), START, START)
        for hour in Random(number).sample(hours, len(hours)) if number else hours:
            made = made.identified(CustomerId(str(hour)), START + timedelta(hours=hour))
        names = [identity.customer_id for identity in made.customers]
        assert names == ["0", None, *map(str, range(201 - CUSTOMERS_KEPT, 200))]
        assert owners(made, -1, 0, 0.5, 1, 150, 151, 199) == ["0", "0", "0", None, None, "151", "199"]


def test_a_device_whose_first_customer_was_taken_back_is_not_the_next_one_s() -> None:
    """Of those that were not kept nothing is known, before and after that."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for hour in range(60):
        made = made.identified(CustomerId(str(hour)), START + timedelta(hours=hour))
    made = made.taken_back(CustomerId("0"), START)
    assert owners(made, -1, 0, 5, 11) == [None, None, None, "11"]


def test_many_identities_as_the_first_customer_leave_no_gap() -> None:
    """Only where somebody else's was left out, it is not known whose the device was."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for hour in range(8):
        made = made.identified(CustomerId("a"), START + timedelta(hours=hour))
    for hour in range(8, 57):
        made = made.identified(CustomerId(str(hour)), START + timedelta(hours=hour))
    assert owners(made, 7, 8) == ["a", "8"]
    made = made.identified(CustomerId("57"), START + timedelta(hours=57))
    assert owners(made, 7, 8, 9) == ["a", None, "9"]


def test_a_till_whose_first_customer_was_erased_gives_nobody_the_past_of_others() -> None:
    """Nothing is known of those that were not kept, however many come later. They come in order of time."""
    made = Device(OrgId("o"), DeviceId("d"), START, START)
    for hour in range(60):
        made = made.identified(CustomerId(str(hour)), START + timedelta(hours=hour))
    made = replace(made, customers=made.customers[1:])
    for hour in range(60, 130):
        made = made.identified(CustomerId(str(hour)), START + timedelta(hours=hour))
        times = [identity.at for identity in made.customers]
        assert times == sorted(times)
        assert len(made.customers) <= CUSTOMERS_KEPT + 1
    assert owners(made, -1, 0, 1, 5, 20, 60, 79, 81, 129) == [*[None] * 7, "81", "129"]
