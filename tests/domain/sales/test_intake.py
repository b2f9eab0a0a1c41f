"""What becomes of calls that arrive: duplicates, identities and touches, decided without a database."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.ids import DeviceId, OrgId
from backend.domain.sales.decisions import Status
from backend.domain.sales.intake import late_touches
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Kind
from backend.domain.visitors.device_clock import LONGEST_DELAY, SAME_CLOCK
from tests.domain.sales.shelf import START, Shelf, arrived, batch

NEW, AGAIN = Status.ACCEPTED, Status.DUPLICATE


@pytest.mark.parametrize(
    ("first", "second", "statuses"),
    [
        (arrived("event", call_id="a"), arrived("event", call_id="b"), [NEW, NEW]),
        (arrived("event", call_id="a"), arrived("event", call_id="a"), [NEW, AGAIN]),
        (arrived("event", call_id="a"), arrived("lead", call_id="a"), [NEW, AGAIN]),
        (arrived("conversion", transaction_id="t"), arrived("conversion", transaction_id="t"), [NEW, AGAIN]),
        (arrived("conversion", transaction_id="t"), arrived("conversion", transaction_id="u"), [NEW, NEW]),
        (arrived("conversion"), arrived("conversion"), [NEW, NEW]),
        (arrived("lead", event_id="t"), arrived("lead", event_id="t"), [NEW, AGAIN]),
        (arrived("lead", event_id="t"), arrived("conversion", transaction_id="t"), [NEW, NEW]),
        (arrived("event", event_id="t"), arrived("event", event_id="t"), [NEW, NEW]),
    ],
)
@pytest.mark.parametrize("groups", ["one batch", "two batches", "two groups"])
def test_what_counts_once(
    first: ArrivedCall, second: ArrivedCall, statuses: list[Status], groups: str
) -> None:
    """A call_id, a conversion's transaction_id and a lead's event_id count once, however delivered."""
    shelf = Shelf()
    match groups:
        case "one batch":
            decided = shelf.store([batch(first, second)]).results
        case "two batches":
            decided = shelf.store([batch(first), batch(second, device="other")]).results
        case _:
            decided = shelf.store([batch(first)]).results + shelf.store([batch(second)]).results
    assert [result.status for results in decided for result in results] == statuses


def test_a_duplicate_writes_nothing_but_the_mark_of_its_delivery() -> None:
    """A transaction that was counted leaves no record, identity or device where it is told again."""
    shelf = Shelf()
    shelf.store([batch(arrived("conversion", transaction_id="t"))])
    again = shelf.store([batch(arrived("conversion", 1, transaction_id="t"))])
    assert not any((again.records, again.completed, again.contacts, again.devices, again.counted))
    assert len(again.calls) == 1


def test_organizations_share_nothing() -> None:
    """The same call and transaction of another organization are new there."""
    shelf = Shelf()
    sale = arrived("conversion", transaction_id="t")
    results = shelf.store([batch(sale), batch(sale, org="other")]).results
    assert [result.status for (result,) in results] == [NEW, NEW]


@pytest.mark.parametrize(
    ("calls", "identified"),
    [
        ([arrived("identify", 1, customer="a")], ["a"]),
        ([arrived("identify", 1, customer="a"), arrived("identify", 2, customer="a")], ["a", "a"]),
        ([arrived("identify", 1, customer="a"), arrived("lead", 2, customer="a")], ["a"]),
        ([arrived("identify", 1, customer="a"), arrived("lead", 2, customer="b")], ["a", "b"]),
        ([arrived("lead", 1, customer="a")], ["a"]),
        ([arrived("lead", 1)], []),
    ],
)
def test_which_calls_tell_an_identity(calls: list[ArrivedCall], identified: list[str]) -> None:
    """An identify always does, another call where its customer is not the device's already."""
    assert [identity.customer_id for identity in Shelf().store([batch(*calls)]).contacts] == identified


def test_a_record_is_of_the_customer_of_its_moment() -> None:
    """Its own customer, else the one that the device was identified as last until then, or else first."""
    shelf = Shelf()
    shelf.store([batch(arrived("identify", 1, customer="a"), arrived("identify", 3, customer="b"))])
    shelf.store(
        [
            batch(
                arrived("lead", 2, call_id="x"),
                arrived("lead", 4, call_id="y"),
                arrived("lead", 0, call_id="z"),
            )
        ]
    )
    shelf.store([batch(arrived("lead", 5, call_id="own", customer="c"))])
    customers = {key[1]: record.customer_id for key, record in shelf.records.items()}
    assert customers == {"x": None, "y": None, "z": None, "own": "c"}
    assert shelf.customers() == {"x": "a", "y": "b", "z": "a", "own": "c"}


CALLS = st.builds(
    arrived,
    st.sampled_from(["attribution", "identify", "lead", "conversion", "event"]),
    st.integers(0, 50),
    call_id=st.sampled_from("abcdefghij"),
    customer=st.none() | st.sampled_from("xy"),
    transaction_id=st.none() | st.sampled_from("tu"),
    event_id=st.none() | st.sampled_from("tu"),
)
BATCHES = st.builds(
    lambda calls, device, org: batch(*calls, device=device, org=org),
    st.lists(CALLS, max_size=4),
    st.sampled_from("de"),
    st.sampled_from("op"),
)


@given(st.lists(st.lists(BATCHES, max_size=3), max_size=4))
def test_counting_once_agrees_with_a_naive_model(groups: list[list[Batch]]) -> None:
    """However calls are grouped, each is answered and kept as by a model that takes them one by one."""
    shelf = Shelf()
    seen: set[object] = set()
    kept: set[tuple[str, str]] = set()
    for group in groups:
        decisions = shelf.store(group)
        for arrived_batch, results in zip(group, decisions.results, strict=True):
            for call, result in zip((one.call for one in arrived_batch.calls), results, strict=True):
                once_field = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id"}.get(call.kind, "")
                id_once = call.fields.get(once_field) and (
                    arrived_batch.org_id,
                    call.kind,
                    call.fields[once_field],
                )
                is_new = (arrived_batch.org_id, call.call_id) not in seen
                seen.add((arrived_batch.org_id, call.call_id))
                is_new = is_new and (id_once is None or id_once not in seen)
                if is_new:
                    seen.add(id_once)
                    if call.kind in {Kind.LEAD, Kind.CONVERSION, Kind.EVENT}:
                        kept.add((arrived_batch.org_id, call.call_id))
                assert result.status is (NEW if is_new else AGAIN)
    assert set(shelf.records) == kept


MET = st.tuples(
    st.sampled_from(["identify", "lead", "event"]), st.none() | st.sampled_from("xyz"), st.sampled_from("de")
).filter(lambda met: met[0] != "identify" or met[1] is not None)


@given(st.lists(st.tuples(MET, st.booleans()), max_size=12))
def test_identities_agree_with_a_naive_model(history: list[tuple[tuple[str, str | None, str], bool]]) -> None:
    """However what devices did is grouped, each record is of its own customer or its device's, and an
    identity is stored for each identify and for whatever first names a customer of a device."""
    shelf = Shelf()
    waiting: list[Batch] = []
    customer_ids: list[str] = []
    present: dict[str, str] = {}
    first: dict[str, str] = {}
    named: set[tuple[str, str]] = set()
    model: dict[str, str | None] = {}
    identified: list[str] = []
    for second, ((kind, customer, device), is_group_done) in enumerate(history):
        call = arrived(kind, second, call_id=str(second), customer=customer)
        waiting.append(batch(call, device=device))
        if kind != "identify":
            model[str(second)] = customer or present.get(device)
        if customer and (kind == "identify" or (device, customer) not in named):
            identified.append(customer)
        if customer:
            named.add((device, customer))
            present[device] = customer
            first.setdefault(device, customer)
        if is_group_done or second == len(history) - 1:
            customer_ids += [identity.customer_id for identity in shelf.store(waiting).contacts]
            waiting = []
    assert customer_ids == identified
    devices = {str(second): device for second, ((_, _, device), _) in enumerate(history)}
    assert shelf.customers() == {
        call_id: customer or first.get(devices[call_id]) for call_id, customer in model.items()
    }


def sent(*calls: ArrivedCall, at: float, way: float = 0, off: timedelta = timedelta()) -> Batch:
    """A request that a device whose clock is off sent, which was so many seconds on its way."""
    moment = START + timedelta(seconds=at)
    of_device = tuple(
        replace(
            arrived_call, call=replace(arrived_call.call, occurred_at=arrived_call.call.occurred_at + off)
        )
        for arrived_call in calls
    )
    return Batch(OrgId("o"), DeviceId("d"), moment + off, moment + timedelta(seconds=way), of_device)


LANDING, SALE = arrived("attribution", 0, source="ads"), arrived("conversion", 0.1, call_id="sale")
EARLIER = arrived("attribution", -60, source="mail")


@pytest.mark.parametrize("off", [timedelta(), timedelta(days=-20000), timedelta(days=20000)])
@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize(
    "arrivals",
    [
        [sent(LANDING, at=0, way=0.3), sent(SALE, at=0.1, way=0.01)],
        [sent(SALE, at=0.1, way=0.01), sent(LANDING, at=0, way=10)],
        [sent(SALE, at=0.1, way=10), sent(LANDING, at=0, way=20)],
        [sent(SALE, at=0.1), sent(LANDING, at=11, way=0.2), sent(LANDING, at=0, way=30)],
        [sent(SALE, at=0.1), sent(LANDING, at=3 * 24 * 60 * 60)],
        [sent(SALE, LANDING, at=5)],
    ],
    ids=["slow", "late", "both late", "lost and sent again", "days later", "one request, wrong way round"],
)
def test_a_sale_keeps_its_landing(arrivals: list[Batch], is_known: bool, off: timedelta) -> None:
    """However the two reach the service, by a new device or a known one, by whatever clock."""
    shelf = Shelf()
    if is_known:
        shelf.store([sent(EARLIER, at=-60, way=0.5, off=off)])
    for request in arrivals:
        shelf.store(
            [
                sent(
                    *request.calls,
                    at=(_sent_at(request) - START).total_seconds(),
                    way=(request.received_at - _sent_at(request)).total_seconds(),
                    off=off,
                )
            ]
        )
    assert shelf.sources()["sale"] == ("mail" if is_known else "ads", "ads")


def _sent_at(request: Batch) -> datetime:
    assert request.sent_at is not None
    return request.sent_at


def test_what_came_before_a_late_touch_keeps_its_own() -> None:
    """A late landing takes over what its device did after it, until the next landing, and nothing else."""
    shelf = Shelf()
    lead = arrived("lead", -30, call_id="before")
    shelf.store([sent(EARLIER, lead, SALE, arrived("attribution", 50, source="new"), at=60)])
    shelf.store([sent(arrived("event", 55, call_id="after"), at=60)])
    decisions = shelf.store([sent(LANDING, at=70)])
    assert list(decisions.credited) == [(Kind.CONVERSION, "o", "sale")]
    assert shelf.sources() == {"before": ("mail", "mail"), "sale": ("mail", "ads"), "after": ("mail", "new")}


def test_a_touch_in_time_reads_no_records() -> None:
    """What devices did before is looked up only where a touch is older than it."""
    shelf = Shelf()
    shelf.store([sent(LANDING, SALE, at=1)])
    in_time, late = (sent(arrived("attribution", at, source="x"), at=60) for at in (1, 0.1))
    assert late_touches([in_time], shelf.devices) == {}
    assert list(late_touches([late], shelf.devices).values()) == [START + timedelta(seconds=0.1)]


def test_a_clock_that_was_set_back_takes_nothing_away() -> None:
    """A clock an hour behind is another clock: a sale by it is credited to the landing before it."""
    shelf = Shelf()
    shelf.store([sent(LANDING, at=1)])
    shelf.store([sent(replace_time(SALE, 60), at=61, off=timedelta(hours=-1))])
    assert shelf.sources()["sale"] == ("ads", "ads")


def replace_time(arrived_call: ArrivedCall, second: float) -> ArrivedCall:
    """The same call, made so many seconds after START."""
    return replace(
        arrived_call, call=replace(arrived_call.call, occurred_at=START + timedelta(seconds=second))
    )


@st.composite
def histories(draw: Any) -> tuple[list[tuple[float, ArrivedCall]], list[list[Batch]]]:
    """What a device did, in its true order, and the groups of requests in which the service got it.

    Each call is delivered once or twice, alone or with others, after up to a day, on ways of up to a minute.
    """
    off = draw(st.timedeltas(-timedelta(days=3000), timedelta(days=3000)))
    seconds = draw(
        st.lists(st.integers(0, 2_000).map(lambda quarters: quarters / 4), unique=True, max_size=10)
    )
    truth = [
        (second, arrived("attribution", second, source=f"{second}", call_id=f"{second}"))
        if draw(st.booleans())
        else (second, arrived(draw(st.sampled_from(["lead", "event"])), second, call_id=f"{second}"))
        for second in sorted(seconds)
    ]
    requests = []
    for deliveries in range(draw(st.integers(1, 2))):
        undelivered = draw(st.permutations(truth)) if deliveries else truth
        while undelivered:
            size = draw(st.integers(1, 3))
            chosen, undelivered = undelivered[:size], undelivered[size:]
            at = max(second for second, _ in chosen) + draw(st.sampled_from([0, 0, 1, 10, 500, 80_000]))
            way = draw(st.floats(0, SAME_CLOCK.total_seconds() / 2))
            requests.append(sent(*(arrived_call for _, arrived_call in chosen), at=at, way=way, off=off))
    groups: list[list[Batch]] = []
    for request in draw(st.permutations(requests)):
        if groups and draw(st.booleans()):
            groups[-1].append(request)
        else:
            groups.append([request])
    return truth, groups


@given(histories())
def test_credit_agrees_with_a_model_that_knows_the_true_order(
    history: tuple[list[tuple[float, ArrivedCall]], list[list[Batch]]],
) -> None:
    """Whatever the ways and the order of arrival, a record has the first landing and the latest before it."""
    truth, groups = history
    shelf = Shelf()
    for group in groups:
        shelf.store(group)
    model = {}
    landings: list[str] = []
    for second, arrived_call in truth:
        if arrived_call.source:
            landings.append(f"{second}")
        else:
            model[arrived_call.call.call_id] = (landings[0], landings[-1]) if landings else (None, None)
    assert shelf.sources() == model


CLOCKS = st.timedeltas(-timedelta(days=20_000), timedelta(days=2_000_000))


@given(st.lists(st.tuples(st.integers(0, 100), CLOCKS, CLOCKS, st.sampled_from(["attribution", "lead"]))))
def test_a_clock_that_jumps_breaks_nothing(jumps: list[tuple[int, timedelta, timedelta, str]]) -> None:
    """By whatever clocks calls are made and sent, each is accepted, and counts within eight days before its
    arrival, or two minutes after it at the latest."""
    shelf = Shelf()
    for second, made_by, sent_by, kind in jumps:
        call = replace_time(arrived(kind, source="x") if kind == "attribution" else arrived(kind), 0)
        made = replace(call, call=replace(call.call, occurred_at=START + made_by))
        arrives = START + timedelta(seconds=second)
        sending = Batch(OrgId("o"), DeviceId("d"), START + sent_by, arrives, (made,))
        (((result,),)) = shelf.store([sending]).results
        assert result.status is NEW
    for device in shelf.devices.values():
        assert device.last_seen_at <= START + timedelta(seconds=100) + SAME_CLOCK
        assert device.first_seen_at >= START - LONGEST_DELAY - SAME_CLOCK
