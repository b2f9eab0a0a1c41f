"""Random facts of organizations, and random queries about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import strategies as st

from backend.domain.analytics.event_properties import EventProperty
from backend.domain.analytics.measures import Measure, MeasureKind
from backend.domain.analytics.period import Comparison, QueryPeriod, WeekStart
from backend.domain.analytics.query import TIMES, Field, Not, Order, Prefix, Query, QueryField
from backend.domain.sales.credit_rules import CreditRules, Model
from tests.storage.analytics.queried_facts import (
    DAY_MS,
    Install,
    Sale,
    StoredClick,
    StoredCost,
    StoredFacts,
    StoredLink,
    Touch,
)

# With daylight saving time, without; with offsets of a half and of a quarter of an hour; far from UTC.
ZONES = (
    "UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/St_Johns",
    "Pacific/Kiritimati", "Pacific/Chatham", "Africa/Casablanca",
)  # fmt: skip
# Around changes of clocks in Chatham, at Lord Howe Island, in Europe and in America; in order.
CALENDAR = [date(2025, 9, 26 + day) for day in range(3)]
CALENDAR += [date(2025, 10, day) for day in (1, 4, 5, 6, 25, 26, 27)]
CALENDAR += [date(2025, 11, day) for day in (1, 2, 3)]
FIRST = datetime(2025, 9, 25, tzinfo=UTC)
DAYS = 45
# Days whose single clicks have expired, in some histories.
FORMER_DAY = int(datetime(2025, 9, 27, tzinfo=UTC).timestamp()) // 86_400


def midnight(day: date, zone: str) -> datetime:
    """When the day begins in the zone."""
    return datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)


def ms(at: datetime) -> int:
    """In milliseconds since 1970."""
    return round(at.timestamp() * 1000)


# Most at the edges of days in some zone, to the millisecond: there mistakes are made.
EDGES = st.builds(
    lambda day, zone, shift: ms(midnight(day, zone)) + shift,
    st.sampled_from(CALENDAR),
    st.sampled_from(ZONES),
    st.sampled_from([-1, 0, 0, 1, 900_000, -900_000]),
)
MOMENTS = EDGES | EDGES | st.builds(
    lambda day, second: ms(midnight(day, "UTC")) + second * 1000,
    st.sampled_from(CALENDAR),
    st.integers(0, 24 * 3600 - 1),
)  # fmt: skip
TAGS = {"1": "Mail", "2": "spring", "3": "Sprint"}
UTM = st.fixed_dictionaries(
    {},
    optional={
        Field.CAMPAIGN: st.sampled_from(["spring", "summer", "Ünï 🙂"]),
        Field.SOURCE: st.sampled_from(["ads", "a"]),
    },
)
LINKS = st.lists(
    st.tuples(UTM, st.lists(st.sampled_from(["1", "2", "3", "gone"]), unique=True).map(tuple), st.booleans()),
    min_size=4,
    max_size=4,
).map(
    lambda facts: [
        StoredLink(number, f"d{number % 2}.example", utm, tags, is_kept=number < 3 or is_kept)
        for number, (utm, tags, is_kept) in enumerate(facts)
    ]
)
CLICKS = st.builds(
    StoredClick,
    at=MOMENTS,
    link=st.integers(0, 3),
    outcome=st.sampled_from(["web", "intent", "app"]),
    reason=st.none() | st.none() | st.sampled_from(["head", "prefetch"]),
    platform=st.sampled_from(["ios", "desktop"]),
    system=st.sampled_from(["", "iOS", "Windows 11.2"]),
    browser=st.sampled_from(["", "$Chrome", "a.b%c"]),
    country=st.none() | st.sampled_from(["DE", "FR", "DK"]),
    referrer=st.none()
    | st.sampled_from(["t.co", "x.com", "www.google.de", "www.news.example", "news.example"]),
    variant=st.none() | st.sampled_from(["A", "mail"]),
    visitor=st.none() | st.integers(0, 5),
)


TOUCHES = st.builds(
    Touch,
    link=st.none() | st.integers(0, 3),
    utm=UTM,
    variant=st.none() | st.sampled_from(["A", "mail"]),
)
AMOUNTS = st.one_of(
    *(
        st.fixed_dictionaries(
            {
                "currency": st.just(currency),
                "digits": st.just(digits),
                "amount": st.integers(0, 50),
                "refunded": st.integers(0, 5),
            }
        )
        for currency, digits in [("EUR", 2), ("EUR", 3), ("JPY", 0)]
    )
)


# Names that are no more than text: not of SQL, and not of JSON.
PROPERTIES = (EventProperty("event.plan"), EventProperty("event.a.b'); --"))
METADATA = st.none() | st.dictionaries(
    st.sampled_from([field.property_name for field in PROPERTIES]),
    st.sampled_from(["pro", "free", "1.5", ""]),
)


@st.composite
def sales(draw: Any) -> Sale:
    """A lead, a conversion, an event or an identity, and what was before it."""
    kind = draw(st.sampled_from(["lead", "conversion", "conversion", "event", "identify"]))
    more: dict[str, Any] = draw(AMOUNTS) if kind == "conversion" else {}
    if kind == "event":
        more["name"] = draw(st.sampled_from(["signup", "sign in"]))
        more["metadata"] = draw(METADATA)
    customer = draw(st.none() | st.sampled_from(["ada", "bob"]))
    return Sale(kind, draw(MOMENTS), customer, touches=tuple(draw(st.lists(TOUCHES, max_size=4))), **more)


# Each campaign, day and currency once, at days of the calendar.
TOLD_COSTS = st.lists(
    st.builds(
        StoredCost,
        campaign=st.sampled_from(["spring", "summer", "Ünï 🙂", "unknown"]),
        day=st.sampled_from([(day - date(1970, 1, 1)).days for day in CALENDAR]),
        currency=st.just("EUR"),
        digits=st.just(2),
        amount=st.integers(0, 500),
    )
    | st.builds(
        StoredCost,
        campaign=st.just("spring"),
        day=st.sampled_from([(day - date(1970, 1, 1)).days for day in CALENDAR]),
        currency=st.just("JPY"),
        digits=st.just(0),
        amount=st.integers(0, 500),
    ),
    max_size=6,
    unique_by=lambda cost: (cost.campaign, cost.day, cost.currency),
)


@st.composite
def histories(draw: Any) -> StoredFacts:
    """Whatever may have happened."""
    # There is one click only at a time on a link, so that it is known which one led to a visit.
    clicks = list({(click.at, click.link): click for click in draw(st.lists(CLICKS, max_size=40))}.values())
    sold = [_with_clicks(draw, sale, clicks) for sale in draw(st.lists(sales(), max_size=12))]
    former: list[tuple[int, int, int]] = []
    if draw(st.booleans()):
        days = st.integers(FORMER_DAY - 2, FORMER_DAY)
        visitors = st.tuples(days, st.integers(0, 3), st.integers(0, 5))
        former = draw(st.lists(visitors, max_size=8, unique=True))
        end = (FORMER_DAY + 1) * DAY_MS
        clicks = [
            replace(click, at=click.at // 900_000 * 900_000, visitor=None, weight=2, kind=None)
            if click.at < end
            else click
            for click in clicks
        ]
    installs = draw(st.lists(st.builds(Install, MOMENTS, st.none() | st.integers(0, 3)), max_size=3))
    return StoredFacts(draw(LINKS), TAGS, clicks, former, sold, installs, draw(TOLD_COSTS))


def _with_clicks(draw: Any, sale: Sale, clicks: list[StoredClick]) -> Sale:
    """The sale with clicks that led to some of its touches."""
    touches = []
    for touch in sale.touches:
        own = [click.at for click in clicks if click.link == touch.link] or [ms(FIRST)]
        at = draw(st.none() | st.sampled_from(own)) if touch.link is not None else None
        touches.append(replace(touch, click_at=at))
    return replace(sale, touches=tuple(touches))


VALUES: Mapping[QueryField, list[str]] = {
    Field.LINK: ["link-0", "link-7"],
    Field.DOMAIN: ["d0.example", "d1.example"],
    Field.CAMPAIGN: ["spring", "summer", "s"],
    Field.SOURCE: ["ads", "a"],
    Field.TAG: ["mail", "spring", "spr"],
    Field.COUNTRY: ["DE", "D", "FR"],
    Field.PLATFORM: ["ios"],
    Field.SYSTEM: ["", "Win"],
    Field.BROWSER: ["$Chrome"],
    Field.REFERRER: ["t.co"],
    Field.REFERRING_SITE: ["X (Twitter)", "news.example", "n"],
    Field.VARIANT: ["A", "mail"],
    Field.OUTCOME: ["web"],
    Field.EVENT: ["sign", "signup"],
    **{field: ["pro", "p", ""] for field in PROPERTIES},
}


@st.composite
def filters(draw: Any) -> dict[QueryField, Any]:
    """Up to two filters, of all three kinds."""
    found = {}
    for name in draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=2, unique=True)):
        values = VALUES[name]
        some = st.frozensets(st.none() | st.sampled_from(values), min_size=1, max_size=2)
        begin = st.sampled_from([value for value in values if value])
        found[name] = draw(some | some.map(Not) | begin.map(Prefix))
    return found


# Which are made of others by rules that have tests of their own.
COUNTED = tuple(measure for measure in Measure if measure is not Measure.CHANCE_OF_BEST)


COSTS_COUNTED = {measure for measure in Measure if measure.kind is MeasureKind.COSTS} | {
    Measure.CLICKS,
    Measure.CONVERSIONS,
    Measure.REVENUE,
}


@st.composite
def queries(draw: Any) -> Query:
    """Whatever can be asked, in any zone and period."""
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    if draw(st.integers(0, 3)):  # days of the zone
        days = sorted(draw(st.lists(st.sampled_from(CALENDAR), min_size=2, max_size=2, unique=True)))
        start, stop = (midnight(day, zone.key) for day in days)
    else:
        quarters = st.integers(0, 4 * 24 * DAYS)
        begin, end = sorted(draw(st.lists(quarters, min_size=2, max_size=2, unique=True)))
        start, stop = (FIRST + timedelta(minutes=15 * quarter) for quarter in (begin, end))
    fields = draw(st.lists(st.sampled_from([*Field, *PROPERTIES]), max_size=4, unique=True))
    time = [field for field in fields if field in TIMES][:1]
    chosen = draw(filters())
    is_of_costs = not draw(st.integers(0, 3))
    if is_of_costs:  # of such fields it is known what they cost
        fields = [field for field in fields if field in {*TIMES, Field.CAMPAIGN}] or [Field.CAMPAIGN]
        time = [field for field in time if field is not Field.HOUR]
        chosen = {name: allowed for name, allowed in chosen.items() if name is Field.CAMPAIGN}
    counted = sorted(COSTS_COUNTED) if is_of_costs else COUNTED
    compare = draw(st.none() | st.sampled_from(Comparison))
    currency = draw(st.none() | st.sampled_from(["EUR", "JPY"]))
    query = Query(
        period=QueryPeriod(start, stop, zone, draw(st.sampled_from(WeekStart))),
        measures=tuple(draw(st.lists(st.sampled_from(counted), min_size=1, max_size=4, unique=True))),
        group_by=tuple(field for field in fields if field not in TIMES or field in time),
        filters=chosen,
        compare=compare,
        change=compare is not None and draw(st.booleans()),
        currency=currency,
        rules=CreditRules(model=draw(st.sampled_from([model for model in Model if model is not Model.LAST]))),
    )
    columns: list[Measure | QueryField] = [*query.measures, *query.group_by]
    orders = [
        Order(column, is_descending)
        for column in columns
        for is_descending in (False, True)
        if currency or not (isinstance(column, Measure) and column.is_money)
    ]
    if not currency:
        orders += [
            Order(measure, is_descending=True, currencies=codes)
            for measure in query.measures
            if measure.is_money
            for codes in (("EUR",), ("JPY", "EUR"))
        ]
    of_measures = [order for order in orders if isinstance(order.column, Measure)]
    if query.change:
        orders += [replace(order, of_change=True) for order in of_measures]
    if compare:
        orders += [replace(order, of_difference=True) for order in of_measures]
    return replace(query, order=draw(st.none() | st.sampled_from(orders))) if orders else query
