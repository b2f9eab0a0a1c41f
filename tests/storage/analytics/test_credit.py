"""Credit in SQL equals domain/sales/credit for any history, share by share."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from duckdb import DuckDBPyConnection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.domain.ids import CustomerId, DeviceId
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.histories import MOST_DEVICES
from backend.domain.sales.records import Record
from backend.domain.visitors.attribution import Credit, Device, DirectVisit, Identification, Touch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.tellings import Telling
from backend.storage.analytics.credit.credit import credited
from backend.storage.columns.tables.staged import milliseconds
from tests.examples import examples
from tests.storage.analytics.credited_histories import (
    RULES,
    Share,
    Told,
    at,
    clicked,
    device,
    expected,
    expected_identities,
    found,
    found_identities,
    histories,
    refund,
    sale,
    touch,
)
from tests.storage.analytics.tables import tables

ALWAYS = (at(-1_000), at(9_999))
ADA, BOB, GUEST = (CustomerId(name) for name in ("ada", "bob", "guest"))
PHONE, LAPTOP = DeviceId("phone"), DeviceId("laptop")


@settings(max_examples=examples(3), deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_credit_equals_the_domain_s(data: st.DataObject) -> None:
    """For any history of devices and customers, any model, window, moment and period."""
    with tables() as connection:
        told = data.draw(histories())
        told.write(connection)
        for _ in range(5):
            rules = data.draw(RULES)
            period = data.draw(st.sampled_from([ALWAYS, (at(12), at(60)), (at(48), at(72))]))
            shares = expected(told, rules, *period)
            assert found(connection, rules, *period) == shares
            assert found(connection, rules, *period, has_customers=False) == unnamed(shares)
            assert found_identities(connection, rules, *period) == expected_identities(told, rules, *period)


def unnamed(shares: list[Share]) -> list[Share]:
    """The same without the customers, as where nobody asks for them."""
    return sorted((share._replace(customer=None) for share in shares), key=repr)


def names_of(connection: DuckDBPyConnection, told: Told, **rules: Any) -> list[str | None]:
    """The campaigns of the touches that get credit, oldest touch first, as the domain has them too."""
    told.write(connection)
    asked = CreditRules(**rules)
    shares = found(connection, asked, *ALWAYS)
    assert shares == expected(told, asked, *ALWAYS)
    touches = sorted(share.touch or () for share in shares)
    return [touch_row[2] if touch_row else None for touch_row in touches]


def told_of(*devices: Device, sales: list[Record] | None = None, **refunds: Any) -> Told:
    """These devices, and these sales, or one of the phone at hour 100."""
    made = sales or [bought(PHONE)]
    return Told(devices, made, [refunds.get(record.call_id, []) for record in made])


def bought(
    own: DeviceId | None, hour: float = 100, customer: CustomerId | None = None, *visits: Touch
) -> Record:
    """A sale of this device; with visits, a server tells it with the clicks of each."""
    told = Telling[Touch](at(hour), at(hour), own, customer, bool(visits))
    return sale("s", *(told._replace(visit=visit) for visit in visits or (None,)))


def identified(own: Device, *hours: tuple[CustomerId, float]) -> Device:
    """The device as these customers' from these hours on."""
    for customer, hour in hours:
        own = own.identified(customer, at(hour), at(hour))
    return own


def test_before_the_first_identity_a_device_is_the_first_one_s(columns: DuckDBPyConnection) -> None:
    """Of two at that time, the one that sorts first; from then on the one that sorts last."""
    phone = identified(device("phone", touch(1), touch(3)), (BOB, 2), (ADA, 2))
    laptop = device("laptop")
    for customer, name in ((ADA, "1"), (BOB, "3")):
        told = told_of(phone, laptop, sales=[bought(LAPTOP, 100, customer)])
        assert names_of(columns, told, to=CreditTo.CUSTOMER, model=Model.LINEAR) == [name]


def test_of_a_customer_with_many_devices_as_many_count_as_the_domain_says(
    columns: DuckDBPyConnection,
) -> None:
    """The sale's own, the latest that servers named, and the latest and the first that browsers told of."""
    made = Random(54)
    guests = []
    for number in range(2 * MOST_DEVICES + 20):
        guest = device(f"{number:03}", touch(number), seen_at=at(made.randrange(40)))
        told_at, by_server = at(300 + made.randrange(60)), made.random() < 0.5
        guests.append(guest.identified(GUEST, at(made.randrange(200)), told_at, is_server=by_server))
    for own, customer in ((None, GUEST), ("007", GUEST), ("111", None), ("222", GUEST)):
        sold = sale("s", Telling(at(9_000), at(9_000), DeviceId(own) if own else None, customer))
        told = Told(guests, [sold], [[]])
        told.write(columns)
        for as_of in (None, at(330)):
            rules = CreditRules(to=CreditTo.CUSTOMER, model=Model.LINEAR, as_of=as_of)
            shares = found(columns, rules, *ALWAYS)
            assert shares == expected(told, rules, *ALWAYS)
            assert as_of or 150 < len(shares) < len(guests)


def test_a_sale_s_own_device_that_is_nobody_s_counts_too(columns: DuckDBPyConnection) -> None:
    """But no visits of it while it was somebody else's."""
    phone, laptop = identified(device("phone", touch(1)), (ADA, 2)), device("laptop", touch(3))
    of_bob = identified(laptop, (BOB, 1))
    linear = {"to": CreditTo.CUSTOMER, "model": Model.LINEAR}
    sales = [bought(LAPTOP, 100, ADA)]
    assert names_of(columns, told_of(phone, laptop, sales=sales), **linear) == ["1", "3"]
    assert names_of(columns, told_of(phone, of_bob, sales=sales), **linear) == ["1"]


def test_a_copy_counts_where_the_device_s_list_has_the_touch_no_more(columns: DuckDBPyConnection) -> None:
    """Not at a time of which the list has a touch, or a server named a visit; of two, the later one."""
    phone = device("phone", touch(5, "listed"))
    gone, other, later = touch(1, "gone"), touch(5, "other"), touch(1, "later")
    linear = {"model": Model.LINEAR}
    for copies, names in (
        (Credit(gone, gone), ["gone", "listed"]),
        (Credit(gone, later), ["later", "listed"]),
        (Credit(other, other), ["listed"]),
    ):
        told = told_of(phone, sales=[bought(PHONE).credited(copies)])
        assert names_of(columns, told, **linear) == names
    named = clicked(24, at(100), is_named=True, name="named")
    copies = Credit(touch(24, "gone"), touch(25, "gone too"))
    told = told_of(phone, sales=[bought(PHONE, 100, None, named).credited(copies)])
    assert names_of(columns, told, **linear) == ["listed", "named", "gone too"]


def test_a_copy_counts_only_of_the_device_that_the_sale_is_known_to_be_of(
    columns: DuckDBPyConnection,
) -> None:
    """As it stood before a server named another one, nothing is known of copies."""
    tellings = [
        Telling[Touch](at(50), at(50), PHONE, None),
        Telling[Touch](at(80), at(50), LAPTOP, None, is_server=True),
    ]
    gone = touch(1, "gone")
    told = told_of(device("phone"), device("laptop"), sales=[sale("s", *tellings, credit=Credit(gone, gone))])
    assert names_of(columns, told) == ["gone"]
    assert names_of(columns, told, as_of=at(60)) == [None]
    assert names_of(columns, told, as_of=at(40)) == []


def test_each_click_once(columns: DuckDBPyConnection) -> None:
    """A browser's visit counts, at or before the sale; else one that a server named, a device's first."""
    own = clicked(30, at(31), is_named=False, name="own")
    named, again = (clicked(24, at(99), is_named=True, name=name) for name in ("named", "again"))
    linear = {"model": Model.LINEAR}
    sales = [bought(PHONE, 100, None, named, again)]
    assert names_of(columns, told_of(device("phone", own), sales=sales), **linear) == ["own"]
    assert names_of(columns, told_of(device("phone"), sales=sales), **linear) == ["named"]
    early = [bought(PHONE, 28, None, named)]
    assert names_of(columns, told_of(device("phone", own), sales=early), **linear) == ["named"]
    of_device = told_of(device("phone", replace(again, utm={"utm_campaign": "listed"})), sales=sales)
    assert names_of(columns, of_device, **linear) == ["listed"]


def test_what_is_a_click_s_visit_is_decided_before_the_window(columns: DuckDBPyConnection) -> None:
    """A browser's visit that is too long ago leaves no place to the one that a server named."""
    own = replace(clicked(24, at(24), is_named=False, name="own"), at=at(1))
    named = clicked(24, at(25), is_named=True, name="named")
    told = told_of(device("phone", own), sales=[bought(PHONE, 26, None, named)])
    assert names_of(columns, told, lookback_days=1) == [None]


def test_named_visits_of_one_time_stand_in_the_order_of_their_links(columns: DuckDBPyConnection) -> None:
    """Which is by id, and not by the numbers of links in the file."""
    first, last = (
        clicked(24, at(50), is_named=True, name=name, link=link)
        for name, link in (("first", "L"), ("last", "l"))
    )
    told = told_of(sales=[bought(None, 50, None, last, first)])
    assert names_of(columns, told) == ["last"]
    assert names_of(columns, told, model=Model.FIRST) == ["first"]


def test_a_direct_visit_takes_the_credit_by_the_last_visit_only(columns: DuckDBPyConnection) -> None:
    """At one time, a touch is the later one."""
    phone = device("phone", touch(1)).visited(DirectVisit(at(1)))
    assert names_of(columns, told_of(phone), model=Model.LAST) == ["1"]
    phone = phone.visited(DirectVisit(at(2)))
    assert names_of(columns, told_of(phone), model=Model.LAST) == [None]
    assert names_of(columns, told_of(phone)) == ["1"]


def test_a_taken_back_identity_takes_the_customer_from_the_sale(columns: DuckDBPyConnection) -> None:
    """As long as no other of the same two holds, and since it was told."""
    wrong = Identification(ADA, at(1), at(1), taken_back_at=at(50))
    phone = replace(device("phone"), customers=(wrong, Identification(BOB, at(2), at(2))))
    told = told_of(phone, sales=[bought(PHONE, 30, ADA)])
    told.write(columns)
    for as_of, customer in ((None, "bob"), (at(50), "ada"), (at(51), "bob")):
        [share] = found(columns, CreditRules(as_of=as_of), *ALWAYS)
        assert share.customer == customer


def test_a_till_s_past_is_not_its_first_customer_s(columns: DuckDBPyConnection) -> None:
    """Of a device with more customers than are kept: a visit of that time counts for the sale by device."""
    till = device("phone", touch(5), touch(30), touch(99))
    for hour in range(60):
        till = till.identified(CustomerId(f"{hour:02}"), at(hour), at(hour))
    by_customer = CreditRules(to=CreditTo.CUSTOMER, model=Model.LINEAR)
    sales = [
        sale("first", Telling(at(200), at(200), None, CustomerId("00"), is_server=True)),
        sale("of then", Telling(at(6), at(6), PHONE, None)),
        sale("named", Telling(at(7), at(7), PHONE, CustomerId("03"))),
    ]
    told = Told([till], sales, [[], [], []])
    told.write(columns)
    found_shares = found(columns, by_customer, *ALWAYS)
    assert found_shares == expected(told, by_customer, *ALWAYS)
    assert found(columns, by_customer, *ALWAYS, has_customers=False) == unnamed(found_shares)
    whose = {share.record: (share.customer, share.touch and share.touch[2]) for share in found_shares}
    assert whose == {
        "conversion first": ("00", None),
        "conversion of then": (None, "5"),
        "conversion named": ("03", None),
    }


def test_a_sale_has_what_was_known_to_be_paid_back(columns: DuckDBPyConnection) -> None:
    """All refunds, or those that had been told by then; an event and a lead have an amount of nothing."""
    refunds = [refund(120, 100), refund(150, 200)]
    sales = [bought(PHONE), sale("e", Telling(at(9), at(9), PHONE, None), kind=Kind.EVENT)]
    told = Told([device("phone")], sales, [refunds, []])
    told.write(columns)
    for as_of, paid_back in ((None, 300), (at(150), 100), (at(110), 0)):
        shares = found(columns, CreditRules(as_of=as_of), *ALWAYS)
        assert [share.refunded for share in shares if share.record == "conversion s"] == [paid_back]


@pytest.mark.parametrize("is_server_first", [True, False])
def test_a_server_s_amount_counts_since_it_was_told(
    columns: DuckDBPyConnection, *, is_server_first: bool
) -> None:
    """Before that, what a browser told. Refunds count in the currency of then, and up to the amount."""
    browser = Telling(at(9), at(9), PHONE, None, fields={"revenue": Decimal(500), "currency": "JPY"})
    server = {"revenue": Decimal("5.00"), "currency": "EUR"}
    tellings = [browser, Telling(at(50), at(11), None, None, is_server=True, fields=server)]
    made = sale("s", *(tellings[::-1] if is_server_first else tellings))
    told = told_of(device("phone"), sales=[made], s=[refund(20, 300, "JPY"), refund(60, 600)])
    for as_of, amounts in ((None, (500, 500)), (at(55), (500, 0)), (at(50), (500, 300)), (at(15), (500, 0))):
        rules = CreditRules(as_of=as_of)
        told.write(columns)
        [share] = found(columns, rules, *ALWAYS)
        assert (share.amount, share.refunded) == amounts, as_of
        assert [share] == expected(told, rules, *ALWAYS)
        shares = credited(columns, rules, milliseconds(at(0)), milliseconds(at(10)))
        [currency] = columns.execute(f"SELECT currency FROM ({shares.text})", dict(shares.values)).fetchall()
        assert currency == ("JPY" if as_of and as_of <= at(50) else "EUR",)


@pytest.mark.parametrize("kinds", [(), ("lead",), ("conversion", Kind.EVENT)])
def test_only_records_of_these_kinds_are_there(columns: DuckDBPyConnection, kinds: tuple[str, ...]) -> None:
    """With the fields that they have."""
    sales = [
        sale(kind, Telling(at(9), at(9), PHONE, None), kind=kind)
        for kind in (Kind.LEAD, Kind.CONVERSION, Kind.EVENT)
    ]
    Told([device("phone")], sales, [[], [], []]).write(columns)
    shares = credited(columns, CreditRules(), milliseconds(at(0)), milliseconds(at(10)), kinds)
    text = f"SELECT kind, name, currency, digits FROM ({shares.text})"
    rows = columns.execute(text, dict(shares.values)).fetchall()
    there = {"lead": (None, None, None), "conversion": (None, "EUR", 2), "event": ("signup", None, None)}
    assert {kind: tuple(more) for kind, *more in rows} == {kind: there[kind] for kind in kinds}


def test_of_a_time_of_which_nothing_was_told_there_are_no_rows(columns: DuckDBPyConnection) -> None:
    """But the same columns, of the same types."""
    told_of(device("phone", touch(1)), s=[refund(120, 100)]).write(columns)
    types = []
    for (start, end), rows in ((ALWAYS, 1), ((at(500), at(600)), 0)):
        for rules in (CreditRules(), CreditRules(to=CreditTo.CUSTOMER, model=Model.LINEAR)):
            shares = credited(columns, rules, milliseconds(start), milliseconds(end))
            found_rows = columns.execute(shares.text, dict(shares.values))
            types.append([(name, str(kind)) for name, kind, *_ in found_rows.description or ()])
            assert len(found_rows.fetchall()) == rows
    assert all(type_ == types[0] for type_ in types)
