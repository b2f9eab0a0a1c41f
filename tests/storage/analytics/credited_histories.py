"""Small histories of devices and records, and what credit they get, for tests of credit in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from bson import Decimal128
from duckdb import DuckDBPyConnection
from hypothesis import strategies as st

from backend.domain.fields.money import digits_of, in_units
from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from backend.domain.sales.credit import CreditShare, share_by_histories
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.histories import History
from backend.domain.sales.records import Record
from backend.domain.sales.refunds import Refund
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import (
    Credit,
    Device,
    DirectVisit,
    Identification,
    Touch,
)
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.tellings import Telling
from backend.storage.analytics.credit.credit import credited
from backend.storage.columns.rows.devices import insert_devices
from backend.storage.columns.rows.records import insert_records
from backend.storage.columns.tables.forgetting import forget_all
from backend.storage.columns.tables.staged import milliseconds
from backend.storage.sales import refunds as stored_refunds
from backend.storage.visitors import devices as stored_devices
from backend.storage.visitors import records as stored_records
from tests.storage.analytics.tables import written

ORG = OrgId("o")
START = datetime(2026, 1, 1, tzinfo=UTC)
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
# At few moments, so that things happen at the same one and windows begin at one.
HOURS = st.integers(0, 10).map(lambda number: 12 * number)
NAMES = ("phone", "laptop", "till", "Kiosk")
CUSTOMERS = st.sampled_from([CustomerId(name) for name in ("ada", "Bob", "guest")])
_LINKS = st.sampled_from([LinkId("l"), LinkId("M"), LinkId("é")])
_TELLING_COUNTS = st.sampled_from([1, 1, 1, 2, 3])


def at(hour: float) -> datetime:
    """So many hours after the start."""
    return START + timedelta(hours=hour)


@dataclass(frozen=True)
class Told:
    """All that was told: devices, and leads, conversions and events with their refunds."""

    devices: Sequence[Device]
    records: Sequence[Record]
    refunds: Sequence[Sequence[Refund]]

    def facts(self, rules: CreditRules) -> list[SaleFacts[Touch]]:
        """What of the records the rules know."""
        return [
            _with_amounts(record.facts_known(rules), record.fields_known(rules), refunds)
            for record, refunds in zip(self.records, self.refunds, strict=True)
        ]

    def write(self, connection: DuckDBPyConnection) -> None:
        """Put it into tables, in the place of what is there."""
        forget_all(written(connection))
        insert_devices(connection, [stored_devices.document(known_device) for known_device in self.devices])
        numbered = list(enumerate(zip(self.records, self.refunds, strict=True)))
        numbered.sort(key=lambda entry: entry[1][0].kind)
        for kind, some in groupby(numbered, key=lambda entry: entry[1][0].kind):
            insert_records(connection, kind, [_document(*pair) for _, pair in some])


class Share(NamedTuple):
    """A share of a record, with its touch if there is one. Amounts are in their currency's smallest unit."""

    record: str
    at: int
    customer: str | None
    amount: int
    refunded: int
    weight: int
    whole: int
    touch: tuple[Any, ...] | None


def expected(told: Told, rules: CreditRules, start: datetime, end: datetime) -> list[Share]:
    """The shares that domain/sales/credit gives for records of a time."""
    facts = told.facts(rules)
    histories = (History.of_device(known_device, rules) for known_device in told.devices)
    return sorted(
        (
            _share(record, sale, found.customer_id, found.refunded, share)
            for record, sale, found in zip(
                told.records, facts, share_by_histories(facts, histories, rules), strict=True
            )
            for share in found.shares
            if start <= sale.at < end
        ),
        key=repr,
    )


def expected_identities(
    told: Told, rules: CreditRules, start: datetime, end: datetime
) -> list[tuple[Any, ...]]:
    """The shares of the first identities of devices as customers: as those of a sale at that time."""
    firsts: dict[tuple[DeviceId, CustomerId], datetime] = {}
    for known_device in told.devices:
        for one in known_device.customers:
            if one.customer_id is None:
                continue
            is_over = any(at and rules.knows(at, None) for at in (one.taken_back_at, one.replaced_at))
            if not is_over and rules.knows(one.at, one.received_at):
                before = firsts.get((known_device.id, one.customer_id), one.at)
                firsts[known_device.id, one.customer_id] = min(one.at, before)
    # What had not been told by then is left out already.
    sales = [SaleFacts[Touch](at, _LONG_AGO, *named) for named, at in firsts.items()]
    histories = (History.of_device(known_device, rules) for known_device in told.devices)
    return sorted(
        (
            (
                milliseconds(sale.at),
                of.customer_id,
                share.weight,
                share.whole,
                share.touch and _touch(share.touch),
            )
            for sale, of in zip(sales, share_by_histories(sales, histories, rules), strict=True)
            for share in of.shares
            if start <= sale.at < end
        ),
        key=repr,
    )


def found_identities(
    connection: DuckDBPyConnection, rules: CreditRules, start: datetime, end: datetime
) -> list[tuple[Any, ...]]:
    """The shares that the tables give for identities of a time."""
    shares = credited(connection, rules, milliseconds(start), milliseconds(end), [Kind.IDENTIFY])
    rows = connection.execute(
        f"""
        SELECT shares."at", customer, weight, whole, has_touch,
            [touched_at::VARCHAR, links.id, shares.campaign, shares.source, shares.variant,
            click_at::VARCHAR, click_mark::VARCHAR]
        FROM ({shares.text}) AS shares LEFT JOIN links USING (link)
        """,
        dict(shares.values),
    ).fetchall()
    return sorted(((*row[:4], tuple(row[5]) if row[4] else None) for row in rows), key=repr)


def found(
    connection: DuckDBPyConnection,
    rules: CreditRules,
    start: datetime,
    end: datetime,
    *,
    has_customers: bool = True,
) -> list[Share]:
    """The shares that the tables give for records of a time."""
    period = (milliseconds(start), milliseconds(end))
    shares = credited(connection, rules, *period, has_customers=has_customers)
    rows = connection.execute(
        f"""
        SELECT records.kind || ' ' || records.id, shares."at", customer, coalesce(shares.amount, 0), refunded,
            weight, whole, has_touch,
            [touched_at::VARCHAR, links.id, shares.campaign, shares.source, shares.variant,
            click_at::VARCHAR, click_mark::VARCHAR]
        FROM ({shares.text}) AS shares JOIN records USING (record) LEFT JOIN links USING (link)
        """,
        dict(shares.values),
    ).fetchall()
    for *_, has_touch, touch in rows:
        assert has_touch or touch == [None] * len(touch)
    return sorted((Share._make((*row[:7], tuple(row[-1]) if row[-2] else None)) for row in rows), key=repr)


def _share(
    record: Record,
    sale: SaleFacts[Touch],
    customer_id: CustomerId | None,
    refunded: int,
    share: CreditShare[Touch],
) -> Share:
    name = f"{record.kind} {record.call_id}"
    known = _touch(share.touch) if share.touch else None
    return Share(
        name, milliseconds(sale.at), customer_id, sale.amount, refunded, share.weight, share.whole, known
    )


def _touch(touch: Touch) -> tuple[Any, ...]:
    numbers = (
        None if number is None else str(number)
        for number in (touch.click_at and milliseconds(touch.click_at), touch.click_mark)
    )
    utm = (touch.utm.get(name) for name in ("utm_campaign", "utm_source"))
    return str(milliseconds(touch.at)), touch.link_id, *utm, touch.variant, *numbers


def _with_amounts(
    sale: SaleFacts[Touch], fields: Mapping[str, Any], refunds: Sequence[Refund]
) -> SaleFacts[Touch]:
    if "currency" not in fields:
        return sale
    digits = digits_of(fields["revenue"], fields["currency"])
    paid_back = tuple(refund.fact(fields["currency"], digits) for refund in refunds)
    return sale._replace(amount=in_units(fields["revenue"], digits), refunds=paid_back)


def refund(hour: float, cents: int, currency: str = "EUR") -> Refund:
    """What was paid back in this hour, and told then."""
    amount = Decimal(cents) if currency == "JPY" else Decimal(cents) / 100
    return Refund(f"{hour} {cents}", amount, currency, at(hour), at(hour))


def _document(record: Record, refunds: Sequence[Refund]) -> dict[str, Any]:
    paid_back = [asdict(paid_back) | {"amount": Decimal128(paid_back.amount)} for paid_back in refunds]
    return stored_records.document(record, None) | ({stored_refunds.FIELD: paid_back} if paid_back else {})


def device(name: str, *touches: Touch, seen_at: datetime = START) -> Device:
    """A device with these touches."""
    made = Device(ORG, DeviceId(name), START, seen_at)
    for visit in touches:
        made = made.touched(visit)
    return made


def touch(hour: float, name: str = "", received: float | None = None, link: str = "l") -> Touch:
    """A touch of a campaign of this name, or of its hour."""
    received_at = at(hour if received is None else received)
    return Touch(at(hour), LinkId(link), {"utm_campaign": name or f"{hour:g}"}, {}, received_at)


def clicked(
    hour: float, received_at: datetime | None, *, is_named: bool, link: str = "l", name: str = "clicked"
) -> Touch:
    """The visit of the click of this day, which a server named or a browser told."""
    click_at = at(hour - hour % 24)
    own_at = click_at if is_named else at(hour)
    utm = {"utm_campaign": name}
    return Touch(own_at, LinkId(link), utm, {}, received_at, "b", click_at, 1, is_named=is_named)


def sale(
    name: str,
    *tellings: Telling[Touch],
    kind: Kind = Kind.CONVERSION,
    credit: Credit = Credit(),  # noqa: B008 - it never changes
    cents: int = 900,
) -> Record:
    """A record of these tellings."""
    fields: dict[str, Any] = {"name": "signup"} if kind is Kind.EVENT else {}
    if kind is Kind.CONVERSION:
        fields = {"revenue": Decimal(cents) / 100, "currency": "EUR"}
    told = tuple(telling._replace(fields={**fields, **telling.fields}) for telling in tellings)
    return Record(kind, ORG, CallId(name), told, credit)


Draw = Callable[[Any], Any]
_CENTS, _CURRENCIES = st.integers(0, 1_001), st.sampled_from(["EUR", "EUR", "JPY"])
_AMOUNTS = st.builds(
    lambda cents, currency: {"revenue": refund(0, cents, currency).amount, "currency": currency},
    _CENTS,
    _CURRENCIES,
)
_REFUNDS = st.lists(st.builds(refund, HOURS, _CENTS, _CURRENCIES), max_size=2)


@st.composite
def _devices(draw: Draw, name: str) -> Device:
    """Touches, direct visits and identities, some late, some taken back or replaced."""
    made = replace(device(name), last_seen_at=at(draw(HOURS)))
    for number, (kind, hour, late) in enumerate(
        draw(st.lists(st.tuples(st.integers(0, 6), HOURS, st.sampled_from([0, 0, 30])), max_size=8))
    ):
        received = draw(st.sampled_from([at(hour + late), None]))
        utm = {"utm_campaign": f"{name}{number}"}
        match kind:
            case 0 | 1:
                made = made.touched(Touch(at(hour), draw(st.none() | _LINKS), utm, {}, received))
            case 2:
                made = made.touched(draw(_clicked(hour, received, f"{name}{number}")))
            case 3:
                made = made.visited(DirectVisit(at(hour), received))
            case _:
                made = draw(_identified(made, hour, received))
    return replace(made, touches=made.touches[-3:])  # what a list is cut to


@st.composite
def _clicked(draw: Draw, hour: float, received: datetime | None, name: str) -> Touch:
    is_named, link = draw(st.booleans()), draw(_LINKS)
    return clicked(hour, received, is_named=is_named, link=link, name=name)


@st.composite
def _identified(draw: Draw, made: Device, hour: int, received: datetime | None) -> Device:
    later = st.none() | st.none() | HOURS.map(at)
    new = Identification(
        draw(CUSTOMERS), at(hour), received, taken_back_at=draw(later), replaced_at=draw(later)
    )
    if draw(st.integers(0, 4)) == 0:  # others were not kept
        new = Identification(None, at(hour), received)
    customers = sorted(
        (*made.customers, new),
        key=lambda identification: (identification.at, identification.customer_id or ""),
    )
    return replace(made, customers=tuple(customers))


@st.composite
def _tellings(draw: Draw, names: Sequence[str]) -> Telling[Touch]:
    hour, is_server = draw(HOURS), draw(st.booleans())
    received_at = at(hour + draw(st.sampled_from([0, 0, 40])))
    visit = None
    if is_server and draw(st.booleans()):
        visit = draw(_clicked(draw(HOURS), received_at, f"named {hour}"))
        visit = replace(visit, at=visit.click_at, is_named=True)
    own = draw(st.none() | st.sampled_from([*names, "unknown"]).map(DeviceId))
    return Telling(received_at, at(hour), own, draw(st.none() | CUSTOMERS), is_server, visit)


@st.composite
def _records(draw: Draw, number: int, known: Sequence[Device]) -> Record:
    kind = draw(st.sampled_from([Kind.LEAD, Kind.CONVERSION, Kind.CONVERSION, Kind.EVENT]))
    count = draw(_TELLING_COUNTS)
    tellings = [draw(_tellings([known_device.id for known_device in known])) for _ in range(count)]
    if kind is Kind.CONVERSION:
        tellings = [telling._replace(fields=draw(_AMOUNTS)) for telling in tellings]
    made = sale(str(number), *tellings, kind=kind)
    own = next((known_device for known_device in known if known_device.id == made.device_id), None)
    listed = list(own.touches) if own else []
    gone = [
        Touch(at(hour), LinkId("gone"), {"utm_campaign": f"gone {hour}"}, {}, at(late))
        for hour, late in draw(st.lists(st.tuples(HOURS, HOURS), max_size=2))
    ]
    copies = draw(st.lists(st.sampled_from([*listed, *gone]), max_size=2)) if listed or gone else []
    copies.sort(key=lambda visit: visit.at)
    return made.credited(Credit(*copies))


@st.composite
def histories(draw: Draw) -> Told:
    """Some devices, and records of theirs and of others."""
    known = [draw(_devices(name)) for name in draw(st.sets(st.sampled_from(NAMES), min_size=1).map(sorted))]
    records = [draw(_records(number, known)) for number in range(draw(st.integers(1, 5)))]
    return Told(
        known, records, [draw(_REFUNDS) if record.kind is Kind.CONVERSION else [] for record in records]
    )


RULES = st.builds(
    CreditRules,
    to=st.sampled_from(CreditTo),
    model=st.sampled_from(Model),
    lookback_days=st.none() | st.integers(1, 4),
    as_of=st.none() | HOURS.map(at),
)
