"""What becomes of calls that arrive: duplicates, identities and touches, decided without a database."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.attribution import Device, Source
from backend.domain.batches import ArrivedCall, Batch
from backend.domain.calls import Call, Kind
from backend.domain.intake import CallKey, Decisions, DeviceKey, Known, OnceKey, Record, Status, decide

START = datetime(2026, 1, 1, tzinfo=UTC)
NEW, AGAIN = Status.ACCEPTED, Status.DUPLICATE


def arrived(
    kind: str, second: float = 0, *, call_id: str | None = None, customer: str | None = None, **fields: Any
) -> ArrivedCall:
    """A call of this kind, so many seconds after the start; a check's `source` is its utm_source."""
    source = Source(utm={"utm_source": fields.pop("source")}) if "source" in fields else None
    at = START + timedelta(seconds=second)
    return ArrivedCall(
        Call(Kind(kind), call_id or str(uuid.uuid4()), at, None, customer, fields), source or _organic(kind)
    )


def _organic(kind: str) -> Source | None:
    return Source() if kind == "attribution" else None


def batch(*calls: ArrivedCall, device: str = "d", org: str = "o", second: float = 60) -> Batch:
    """A request that was sent and received in the same moment."""
    at = START + timedelta(seconds=second)
    return Batch(org, device, at, at, None, calls)


@dataclass(slots=True)
class Shelf:
    """What stays between groups, as a database would keep it."""

    calls: set[CallKey] = field(default_factory=set)
    counted: set[OnceKey] = field(default_factory=set)
    devices: dict[DeviceKey, Device] = field(default_factory=dict)
    records: dict[CallKey, Record] = field(default_factory=dict)

    def store(self, batches: Sequence[Batch]) -> Decisions:
        """Decide about a group, and keep what was decided."""
        known = Known(frozenset(self.calls), frozenset(self.counted), dict(self.devices))
        decisions = decide(batches, known)
        self.calls |= set(decisions.calls)
        self.counted |= set(decisions.counted)
        self.devices |= {key: device for key, (device, _) in decisions.devices.items()}
        self.records |= {(each.batch.org_id, each.call.call_id): each for each in decisions.records}
        return decisions

    def sources(self) -> dict[str, str | None]:
        """The source that each record is credited to, by call id."""
        return {
            key[1]: each.touch.utm["utm_source"] if each.touch else None for key, each in self.records.items()
        }


SALE = {"revenue": 1, "currency": "EUR"}


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
            decided = shelf.store([batch(first, second)]).statuses
        case "two batches":
            decided = shelf.store([batch(first), batch(second, device="other")]).statuses
        case _:
            decided = shelf.store([batch(first)]).statuses + shelf.store([batch(second)]).statuses
    assert [status for each in decided for status in each] == statuses


def test_a_duplicate_writes_nothing_but_the_mark_of_its_delivery() -> None:
    """A transaction that was counted leaves no record, identity or device of its second delivery."""
    shelf = Shelf()
    shelf.store([batch(arrived("conversion", transaction_id="t"))])
    again = shelf.store([batch(arrived("conversion", transaction_id="t", customer="c"), device="other")])
    assert (again.records, again.identities, again.devices, again.counted) == ([], [], {}, {})
    assert len(again.calls) == 1


def test_organizations_share_nothing() -> None:
    """The same call and transaction of another organization are new there."""
    shelf = Shelf()
    sale = arrived("conversion", transaction_id="t")
    statuses = shelf.store([batch(sale), batch(sale, org="other")]).statuses
    assert statuses == [[NEW], [NEW]]


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
    assert [each.customer_id for each in Shelf().store([batch(*calls)]).identities] == identified


def test_a_record_has_the_customer_of_its_moment() -> None:
    """Its own customer, else the one that the device was identified as last, until then."""
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
    shelf.store([batch(arrived("lead", 4, call_id="own", customer="c"))])
    customers = {key[1]: each.customer_id for key, each in shelf.records.items()}
    assert customers == {"x": "a", "y": "b", "z": None, "own": "c"}


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
        for each, statuses in zip(group, decisions.statuses, strict=True):
            for call, status in zip((one.call for one in each.calls), statuses, strict=True):
                own = {Kind.CONVERSION: "transaction_id", Kind.LEAD: "event_id"}.get(call.kind, "")
                id_once = call.fields.get(own) and (each.org_id, call.kind, call.fields[own])
                is_new = (each.org_id, call.call_id) not in seen
                seen.add((each.org_id, call.call_id))
                is_new = is_new and (id_once is None or id_once not in seen)
                if is_new:
                    seen.add(id_once)
                    if call.kind in {Kind.LEAD, Kind.CONVERSION, Kind.EVENT}:
                        kept.add((each.org_id, call.call_id))
                assert status is (NEW if is_new else AGAIN)
    assert set(shelf.records) == kept
