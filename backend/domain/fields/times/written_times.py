"""Days and times as people, programs and spreadsheets write them: one reader for tables, forms and commands.

No number is taken for a time that it may not mean, such as a year alone, or a day as a spreadsheet counts it
from 1900 on.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time

_CLOCK = (
    r"(?:,?[ T]+(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
    r"(?:[ \u202f]?(?P<half>[AP])M)?(?: ?(?:UTC|GMT))?)?"
)
# With dots the day comes first where the year does not, in every country that writes dots.
_NAMED = re.compile(
    r"(?:(?P<year>\d{4})(?P<between>[-/.])(?P<month>\d{1,2})(?P=between)(?P<day>\d{1,2})"
    rf"|(?P<first>\d{{1,2}})(?P<then>[-/.])(?P<second_number>\d{{1,2}})(?P=then)(?P<last>\d{{4}})){_CLOCK}",
    re.ASCII | re.IGNORECASE,
)
_MONTHS = 12
_HALF_A_DAY = 12  # hours
# As spreadsheets and databases write the time of a day that has none.
_MIDNIGHT = re.compile(r",?[ T](?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00)? ?AM)$", re.ASCII | re.IGNORECASE)
_PLAIN_DAY = re.compile(r"(?:19|20|21)\d{6}", re.ASCII)
_MILLISECONDS_FROM = 10**11  # a number of this size counts milliseconds, not seconds, since 1970
# The seconds of times from 2001 to 2128.
_SECONDS = range(10**9, 5 * 10**9)


def written_day(text: str) -> date | None:
    """The day in this text: 2026-03-01, 2026/3/1, 20260301, 01.03.2026, or 31/03/2026, which no country reads
    otherwise. None if it is none."""
    try:
        if named := _NAMED.fullmatch(text):
            return None if named["hour"] else _day(named)
        return date.fromisoformat(text)
    except ValueError:
        return None


def _day(named: re.Match[str]) -> date:
    """The day that was written. Raises ValueError for none, and where two countries read it differently."""
    if named["year"]:
        return date(int(named["year"]), int(named["month"]), int(named["day"]))
    day, month = int(named["first"]), int(named["second_number"])
    if named["then"] != "." and day <= _MONTHS:
        if month <= _MONTHS and day != month:
            raise ValueError
        day, month = month, day
    return date(int(named["last"]), month, day)


def _clock(named: re.Match[str]) -> time:
    """The time of the day that was written, or its beginning. Raises ValueError for none."""
    hour, minute, second = (int(named[part] or 0) for part in ("hour", "minute", "second"))
    if half := named["half"]:
        if not 1 <= hour <= _HALF_A_DAY:
            raise ValueError
        hour = hour % _HALF_A_DAY + (_HALF_A_DAY if half in {"P", "p"} else 0)
    return time(hour, minute, second, tzinfo=UTC)


def without_midnight(text: str) -> str:
    """The text without the time that a table has behind days, where it can't mean a time."""
    return _MIDNIGHT.sub("", text.strip())


def written_moment(text: str) -> datetime | None:
    """The time in this text: ISO 8601, a day of `written_day` alone or with a time, or (milli)seconds since
    1970, not before 2001.

    None if it is empty or none of these. A time without a zone is in UTC.
    """
    text = text.strip()
    try:
        if named := _NAMED.fullmatch(text):
            return datetime.combine(_day(named), _clock(named))
        if text.isascii() and text.isdecimal() and not _PLAIN_DAY.fullmatch(text):
            return _since_1970(int(text))
        moment = datetime.fromisoformat(text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        moment.astimezone(UTC)  # in the first year or the last, UTC may have no such time
    except (ValueError, OverflowError, OSError):
        return None
    return moment


def _since_1970(number: int) -> datetime | None:
    seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
    return datetime.fromtimestamp(seconds, UTC) if int(seconds) in _SECONDS else None
