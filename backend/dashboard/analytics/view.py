"""What an address asks to see: a period, what it is compared with, and filters.

All of it stands in the address, so that a view can be shared, kept as a bookmark, and left by the back
button. Values in an address that do not exist are left out, since anyone can write an address. Dates are
what a person typed: for a wrong date, the view has an error.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from backend.dashboard.analytics.time_zone import zone_named, zone_of_browser
from backend.domain.analytics.measures import Measure
from backend.domain.analytics.moving_period import MovingPeriod
from backend.domain.analytics.period import MOST_DAYS, Comparison, QueryPeriod, TimeField
from backend.domain.analytics.query import CLICK_FIELDS, LINK_FIELDS, Field, Query, QueryField
from backend.domain.errors import InvalidField

DEFAULT = "28"
# What can be chosen, in order. Numbers are days, today included.
PRESETS = {
    "today": "Today",
    "7": "7 days",
    "28": "28 days",
    "90": "90 days",
    "month": "This month",
    "year": "This year",
    "all": "All time",
}
# Which of them are a period that moves. All time begins with what was known first.
MOVING_PERIODS = {
    "today": MovingPeriod.TODAY,
    "7": MovingPeriod.LAST_7_DAYS,
    "28": MovingPeriod.LAST_28_DAYS,
    "90": MovingPeriod.LAST_90_DAYS,
    "month": MovingPeriod.THIS_MONTH,
    "year": MovingPeriod.THIS_YEAR,
}
COMPARISONS = {"previous": "the time before", "year": "a year before", "none": "nothing"}
FILTERS = tuple(by for by in Field if by in (LINK_FIELDS | CLICK_FIELDS) - {Field.OUTCOME})
LONGEST_FILTER = 300
# The name of a period from a day to a day.
CUSTOM = "own"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class View:
    """What an address asks for, in days of `zone`.

    `errors` complete sentences that start with a field's label.
    """

    preset: str
    period: QueryPeriod
    zone: ZoneInfo
    comparison: Comparison | None
    filters: Mapping[QueryField, str | None]
    currency: str | None
    others: Mapping[str, str]
    since: str = ""
    until: str = ""
    zone_in_address: bool = False
    errors: Mapping[str, str] = field(default_factory=dict)
    now: datetime | None = None

    @property
    def time_field(self) -> TimeField:
        """The parts of the period that have a number of their own."""
        return self.period.time_field

    @property
    def words(self) -> str:
        """The period in words, such as 24 Oct to 20 Nov 2026."""
        return period_in_words(self.period)

    @property
    def words_of_compared(self) -> str:
        """The period that this one is compared with in words; "" if there is none."""
        return period_in_words(self.period.compared(self.comparison)) if self.comparison else ""

    def end_of(self, day: str) -> datetime:
        """The end of a day such as 2027-12-31."""
        after = date.fromisoformat(day) + _DAY
        return datetime(after.year, after.month, after.day, tzinfo=self.zone).astimezone(UTC)

    def query(self, *measures: Measure, by: QueryField | None = None, **more: Any) -> Query:
        """A query about what is seen, by default without a comparison."""
        more.setdefault("currency", self.currency)
        return Query(
            now=self.now,
            period=self.period,
            measures=measures,
            group_by=(by,) if by else (),
            filters={by: frozenset([value]) for by, value in self.filters.items()},
            **more,
        )

    @property
    def arguments(self) -> dict[str, str]:
        """The address's arguments."""
        arguments = {"period": self.preset} if self.preset not in {DEFAULT, CUSTOM} else {}
        if self.preset == CUSTOM:
            arguments |= {"from": self.since, "to": self.until}
        if self.comparison is not Comparison.PREVIOUS:
            arguments["compare"] = self.comparison.value if self.comparison else "none"
        if self.zone_in_address:
            arguments["zone"] = self.zone.key
        if self.currency:
            arguments["currency"] = self.currency
        filters = {by.value: value or "" for by, value in self.filters.items()}
        return arguments | filters | dict(self.others)

    def address(self, path: str, **changes: str | None) -> str:
        """The path with this view; arguments that are changed to None are left out."""
        arguments = self.arguments
        if "period" in changes:
            arguments = {name: text for name, text in arguments.items() if name not in {"from", "to"}}
        changed = {name: text for name, text in (arguments | changes).items() if text is not None}
        return f"{path}?{urlencode(changed)}" if changed else path

    def with_filter(
        self, path: str, by: QueryField, value: str | None, *, without: Iterable[str] = ()
    ) -> str:
        """The address of this view with one filter more. Arguments named in `without` are left out."""
        changes: dict[str, str | None] = dict.fromkeys(without)
        return self.address(path, **changes | {by.value: value or ""})

    def without_filter(self, path: str, by: QueryField) -> str:
        """The address of this view with one filter less."""
        return self.address(path, **{by.value: None})


def period_in_words(period: QueryPeriod) -> str:
    """The days that the period has a part of, such as 24 Oct to 20 Nov 2026."""
    ends = (period.start, period.end - timedelta(seconds=1))
    first, last = (end.astimezone(period.zone).date() for end in ends)
    if first == last:
        return f"{last:%-d %b %Y}"
    return f"{first:{'%-d %b' if first.year == last.year else '%-d %b %Y'}} to {last:%-d %b %Y}"


class AnyDay:
    """All texts that are a day such as 2027-12-31."""

    def __contains__(self, text: object) -> bool:
        """Whether the text is a day in this form."""
        return isinstance(text, str) and read_day("", text, {}) is not None


def asks_for_beginning(arguments: Mapping[str, str]) -> bool:
    """Whether the period that an address asks for begins when anything was known first."""
    since, until = (bool(arguments.get(name, "").strip()) for name in ("from", "to"))
    return arguments.get("period") == "all" or (until and not since)


def read_view(
    arguments: Mapping[str, str],
    now: datetime,
    beginning: date,
    choices: Mapping[str, Container[str]],
    filters: Iterable[QueryField] = FILTERS,
) -> View:
    """The view that an address's arguments ask for, at `now`.

    `beginning` is the first day that anything is known of. `choices` are a page's own arguments and their
    possible values, `filters` the fields that it can be filtered by.
    """
    zone_of_address = zone_named(arguments.get("zone", ""))
    zone = zone_of_address or zone_of_browser()
    errors: dict[str, str] = {}
    since, until = (arguments.get(name, "").strip()[:20] for name in ("from", "to"))
    preset, period = _period(arguments.get("period", ""), since, until, errors, _Clock(now, zone, beginning))
    comparison = None if arguments.get("compare") == "none" or preset == "all" else Comparison.PREVIOUS
    if arguments.get("compare") == "year" and preset != "all":
        comparison = Comparison.YEAR
    currency = arguments.get("currency", "")
    return View(
        preset,
        period,
        zone,
        comparison,
        _filters(arguments, filters),
        currency if len(currency) == 3 and currency.isascii() and currency.isupper() else None,
        {name: arguments[name] for name, values in choices.items() if arguments.get(name, "") in values},
        since,
        until,
        zone_of_address is not None,
        errors,
        now,
    )


@dataclass(frozen=True, slots=True)
class _Clock:
    now: datetime
    zone: ZoneInfo
    beginning: date

    @property
    def today(self) -> date:
        return self.now.astimezone(self.zone).date()

    def midnight(self, day: date) -> datetime:
        return datetime(day.year, day.month, day.day, tzinfo=self.zone)

    def period(self, first: date, end: datetime) -> QueryPeriod:
        """From the beginning of this day."""
        return QueryPeriod(self.midnight(first), end, self.zone)

    def moving(self, period: MovingPeriod) -> QueryPeriod:
        return period.at(self.now, self.zone)


def _period(
    preset_named: str, since: str, until: str, errors: dict[str, str], clock: _Clock
) -> tuple[str, QueryPeriod]:
    if (since or until) and preset_named not in PRESETS:
        first, last = (read_day(name, text, errors) for name, text in (("from", since), ("to", until)))
        try:
            if not errors:
                return CUSTOM, _custom_period(first or clock.beginning, last or clock.today, clock)
        except InvalidField as error:
            errors[error.field] = error.rule
    preset = preset_named if preset_named in PRESETS else DEFAULT
    if preset in MOVING_PERIODS:
        return preset, clock.moving(MOVING_PERIODS[preset])
    longest = clock.today - (MOST_DAYS - 1) * _DAY
    first = max(longest, min(clock.beginning, clock.today))
    return preset, clock.period(first, clock.moving(MovingPeriod.TODAY).end)


def _custom_period(first: date, last: date, clock: _Clock) -> QueryPeriod:
    if last < first:
        raise InvalidField("to", "must not be before the first day")
    return clock.period(first, clock.midnight(last + _DAY))


def read_day(name: str, text: str, errors: dict[str, str]) -> date | None:
    """The day that a person typed; None where there is none, or where `errors` now says what is wrong."""
    try:
        day = date.fromisoformat(text) if text else None
    except ValueError:
        day = date.max
    if day is not None and not 2012 <= day.year < 2200:
        errors[name] = "must be a day such as 2027-12-31"
        return None
    return day


def _filters(arguments: Mapping[str, str], fields: Iterable[QueryField]) -> dict[QueryField, str | None]:
    return {
        field: arguments[field.value][:LONGEST_FILTER] or None for field in fields if field.value in arguments
    }
