"""Attribution: what signals mean, and which touch holds when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from backend.domain.attribution import CLICK_IDS_KEPT, TOUCHES_KEPT, Device, Touch, source_of
from backend.domain.links import Link

START = datetime(2026, 1, 1, tzinfo=UTC)
LINK = Link(
    "l", "o", "d", "p", "https://x.example", "n", START, START, utm={"utm_source": "a", "utm_term": "t"}
)


def touch(minute: int, **click_ids: str) -> Touch:
    """A touch so many minutes after the start."""
    return Touch(START + timedelta(minutes=minute), None, {"utm_source": str(minute)}, click_ids)


def device(*minutes: int) -> Device:
    """A device with touches that arrived in this order."""
    made = Device("o", "d", START, START)
    for minute in minutes:
        made = made.touched(touch(minute))
    return made


def test_a_visit_without_signals_is_organic() -> None:
    """No signal, no context, no touch."""
    source = source_of({}, None)
    assert (source.context(), source.touch(START)) == (None, None)


def test_the_address_stands_over_the_link() -> None:
    """A link gives its UTM fields, and the address's own replace those it has."""
    source = source_of({"cl_link_id": "l", "utm_source": "b"}, LINK)
    assert source.utm == {"utm_source": "b", "utm_term": "t"}
    made = source.touch(START)
    assert made is not None
    assert made.link_id == "l"


@given(st.permutations(range(8)), st.integers(-1, 9))
def test_the_touch_that_holds_does_not_depend_on_arrival(order: list[int], minute: int) -> None:
    """In whatever order touches arrive, the latest until a moment holds at it, and the first stays first."""
    at = START + timedelta(minutes=minute)
    made = device(*order)
    last, first = made.last_touch_at(at), made.first_touch_at(at)
    assert (last and last.utm["utm_source"]) == (str(min(minute, 7)) if minute >= 0 else None)
    assert (first and first.utm["utm_source"]) == ("0" if minute >= 0 else None)


def test_what_a_device_keeps_is_bounded() -> None:
    """However often a device is touched, its record stays small and the first touch is kept."""
    made = device(*range(100))
    for number in range(100):
        made = made.touched(touch(200 + number, gclid=f"g{number}"))
    assert len(made.touches) == TOUCHES_KEPT
    assert len(made.click_ids) == CLICK_IDS_KEPT
    assert made.first_touch == touch(0)
    assert made.last_touch_at(START + timedelta(minutes=5)) == touch(0)


def test_several_customers_on_one_device() -> None:
    """A device is its latest customer's, from the moment that it was identified."""
    made = Device("o", "d", START, START)
    made = made.identified("b", START + timedelta(hours=2)).identified("a", START + timedelta(hours=1))
    moments = [made.customer_at(START + timedelta(hours=hour)) for hour in range(4)]
    assert moments == [None, "a", "b", "b"]
