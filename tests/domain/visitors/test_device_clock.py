"""When a call counts: what one clock says stays in its order, whatever the way to the service took."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.visitors.device_clock import (
    CLOCKS_KEPT,
    LONGEST_DELAY,
    MILLISECOND,
    SAME_CLOCK,
    DeviceClock,
    clock_of,
    counted_at,
    with_clock,
)

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
# What browsers' clocks may say instead of the truth, from 1970 to 9999.
CLOCKS = st.timedeltas(-timedelta(days=56 * 365), timedelta(days=7000 * 365))


@pytest.mark.parametrize(
    ("way", "clocks", "clock"),
    [
        (SECOND, (), SECOND),
        (10 * SECOND, (SECOND,), SECOND),
        (SECOND, (10 * SECOND,), 10 * SECOND),
        (SAME_CLOCK, (timedelta(),), timedelta()),
        (SAME_CLOCK + SECOND, (timedelta(),), SAME_CLOCK + SECOND),
        (timedelta(hours=1), (timedelta(hours=1, seconds=5), timedelta()), timedelta(hours=1, seconds=5)),
        (timedelta(milliseconds=1, microseconds=999), (), MILLISECOND),
    ],
)
def test_which_clock_sent_a_request(
    way: timedelta, clocks: tuple[DeviceClock, ...], clock: DeviceClock
) -> None:
    """The nearest known one, if a request's way can make the difference; else a new one."""
    assert clock_of(NOW - way, NOW, clocks) == clock


@pytest.mark.parametrize(
    ("waited", "counted"),
    [
        ([timedelta()], [timedelta()]),
        ([3 * SECOND, SECOND], [3 * SECOND, SECOND]),
        ([LONGEST_DELAY], [LONGEST_DELAY]),
        ([LONGEST_DELAY + SECOND], [timedelta()]),
        ([-SECOND], [timedelta()]),
        ([timedelta(days=9), -SECOND, timedelta(days=99)], [2 * MILLISECOND, MILLISECOND, timedelta()]),
    ],
)
def test_how_long_a_call_waited(waited: list[timedelta], counted: list[timedelta]) -> None:
    """Between zero and eight days is believed; what is not counts when it was sent, in its order."""
    assert counted_at([NOW - span for span in waited], NOW, SECOND) == [
        NOW + SECOND - span for span in counted
    ]


@pytest.mark.parametrize("sent_at", [datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)])
def test_a_clock_at_the_end_of_all_dates(sent_at: datetime) -> None:
    """A clock that stands at the first or last moment of all dates is as good as any other wrong one."""
    clock = clock_of(sent_at, NOW, ())
    first, last = counted_at([NOW, NOW], sent_at, clock)
    assert first + MILLISECOND == last
    assert abs(last - NOW) <= MILLISECOND


@given(CLOCKS, st.timedeltas(timedelta(), LONGEST_DELAY), st.timedeltas(timedelta(), SAME_CLOCK), st.data())
def test_a_clock_that_is_years_off_counts_right(
    off: timedelta, waited: timedelta, way: timedelta, data: st.DataObject
) -> None:
    """A call counts when it happened, give or take what the longest way makes, whatever clock it is sent by
    and whatever clocks were seen before."""
    clocks = tuple(data.draw(st.lists(CLOCKS, max_size=CLOCKS_KEPT)))
    happened = NOW - waited - way
    clock = clock_of(NOW - way + off, NOW, clocks)
    (at,) = counted_at([happened + off], NOW - way + off, clock)
    assert abs(at - happened) <= 2 * SAME_CLOCK + MILLISECOND


@given(st.lists(CLOCKS))
def test_the_clocks_that_are_kept_are_few(clocks: list[DeviceClock]) -> None:
    """However often a clock jumps, the latest few are kept, each once."""
    kept: tuple[DeviceClock, ...] = ()
    for clock in clocks:
        kept = with_clock(kept, clock)
        assert kept[-1] == clock
        assert len(set(kept)) == len(kept) <= CLOCKS_KEPT
