"""Days and times as people, programs and spreadsheets write them: one reader for tables, forms and commands.

No number is taken for a time that it may not mean, such as a year alone, or a day as a spreadsheet counts it
from 1900 on.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

# Day, month and year, of which only dots say that the day comes first.
_WITH_DOTS = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?:,?[ T](\d{1,2}):(\d{2})(?::(\d{2}))?)?", re.ASCII)
# As spreadsheets and databases write the time of a day that has none.
_MIDNIGHT = re.compile(r",?[ T]0?0:00(?::00(?:\.0+)?)?$", re.ASCII)
_PLAIN_DAY = re.compile(r"(?:19|20|21)\d{6}", re.ASCII)
_MILLISECONDS_FROM = 10**11  # a number of this size counts milliseconds, not seconds, since 1970
# The seconds of times from 2001 to 2128.
_SECONDS = range(10**9, 5 * 10**9)


def written_day(text: str) -> date | None:
    """The day in this text: 2026-03-01, 20260301 or 01.03.2026. None if it is none."""
    try:
        if dotted := _WITH_DOTS.fullmatch(text):
            day, month, year, *clock = dotted.groups()
            return None if any(clock) else date(int(year), int(month), int(day))
        return date.fromisoformat(text)
    except ValueError:
        return None


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
        if dotted := _WITH_DOTS.fullmatch(text):
            day, month, year, hour, minute, second = (int(part or 0) for part in dotted.groups())
            return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
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
