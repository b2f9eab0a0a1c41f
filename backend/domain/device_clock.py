"""When a call counts: a device's own clock orders what the device did (docs/decisions/browser-clocks.md).

The server compares its clock with the device's once, and keeps the difference with the device. If each
request were compared anew, what its way took would be added to its times, and a sale could come out before
its landing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

# What two requests of one clock may differ by, since one was longer on its way.
SAME_CLOCK = timedelta(minutes=2)
# The SDK gives up on a call after a week; an older one tells of a clock that was changed.
LONGEST_DELAY = timedelta(days=8)
CLOCKS_KEPT = 5
# The storage keeps no shorter times.
MILLISECOND = timedelta(milliseconds=1)

# How far the server's clock is ahead of a device's, in whole milliseconds.
Clock = timedelta


def clock_of(sent_at: datetime, received_at: datetime, known: Sequence[Clock]) -> Clock:
    """The clock that a request was sent by: one of those known of its device, or else a new one."""
    ahead = _in_milliseconds(received_at - sent_at)
    nearest = min(known, key=lambda each: abs(each - ahead), default=ahead)
    return nearest if abs(nearest - ahead) <= SAME_CLOCK else ahead


def with_clock(known: Sequence[Clock], clock: Clock) -> tuple[Clock, ...]:
    """The clocks of a device after it used this one: the latest of them, the one used last at the end."""
    return (*(each for each in known if each != clock), clock)[-CLOCKS_KEPT:]


def counted_at(occurred: Sequence[datetime], sent_at: datetime, clock: Clock) -> list[datetime]:
    """When the calls of a request count, by the server's clock, in whole milliseconds.

    A call that did not wait between zero and eight days was made before its device's clock was set. It counts
    when it was sent; several such calls stay in their order, a millisecond apart.
    """
    last = len(occurred) - 1
    return [
        _whole_milliseconds(
            at if timedelta() <= sent_at - at <= LONGEST_DELAY else sent_at - (last - place) * MILLISECOND
        )
        + clock
        for place, at in enumerate(occurred)
    ]


def _in_milliseconds(span: timedelta) -> timedelta:
    return span // MILLISECOND * MILLISECOND


def _whole_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
