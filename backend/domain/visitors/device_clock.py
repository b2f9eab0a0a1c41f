"""The time at which a call counts, based on the device's own clock (docs/decisions/browser-clocks.md).

The server compares the device's clock with its own once and stores the difference with the device. If it did
so for every request, each request's travel time would be added to its calls' times, and a sale could appear
to be earlier than its landing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

# How much two requests by the same clock may differ, since one of them took longer to arrive.
SAME_CLOCK = timedelta(minutes=2)
# The SDK discards a call after a week. An older one means that the device's clock was changed.
LONGEST_DELAY = timedelta(days=8)
CLOCKS_KEPT = 5
# MongoDB stores times in whole milliseconds.
MILLISECOND = timedelta(milliseconds=1)

# How far the server's clock is ahead of a device's, in whole milliseconds.
DeviceClock = timedelta


def clock_of(sent_at: datetime, received_at: datetime, clocks: Sequence[DeviceClock]) -> DeviceClock:
    """The clock that a request was sent by: a known clock of the device if one fits, else a new one.

    `sent_at` is a time by the browser's clock, `received_at` by the server's.
    """
    ahead = _in_milliseconds(received_at - sent_at)
    nearest = min(clocks, key=lambda clock: abs(clock - ahead), default=ahead)
    return nearest if abs(nearest - ahead) <= SAME_CLOCK else ahead


def with_clock(clocks: Sequence[DeviceClock], clock: DeviceClock) -> tuple[DeviceClock, ...]:
    """The device's clocks after it used `clock`: the most recent ones, `clock` last."""
    if clocks and clocks[-1] == clock:  # nearly always
        return tuple(clocks)
    return (*(other for other in clocks if other != clock), clock)[-CLOCKS_KEPT:]


def counted_at(occurred: Sequence[datetime], sent_at: datetime, clock: DeviceClock) -> list[datetime]:
    """The times at which the calls of one request count, by the server's clock, in whole milliseconds.

    `occurred` and `sent_at` are times by the device's clock. If a call seems to have waited less than zero or
    more than eight days, the device's clock was set in between: the call then counts at the time it was sent.
    Several such calls keep their order, one millisecond apart.
    """
    last = len(occurred) - 1
    # Counted back by the server's clock: the device's may stand at the first moment that a date can say.
    sent = whole_milliseconds(sent_at) + clock
    return [
        whole_milliseconds(at) + clock
        if timedelta() <= sent_at - at <= LONGEST_DELAY
        else sent - (last - place) * MILLISECOND
        for place, at in enumerate(occurred)
    ]


def _in_milliseconds(span: timedelta) -> timedelta:
    return span // MILLISECOND * MILLISECOND


def whole_milliseconds(moment: datetime) -> datetime:
    """The time as MongoDB stores it."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
