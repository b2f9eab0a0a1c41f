"""Small histories of facts that browsers and servers tell, for tests that tell them in many orders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import permutations
from random import Random
from typing import Any

from hypothesis import strategies as st

from backend.domain.attribution import Source, Touch
from backend.domain.batches import ArrivedCall, Batch
from backend.domain.calls import Call, Kind
from backend.domain.click_ids import ClickPlace
from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from tests.unit.shelf import START, Shelf

ORG = OrgId("o")
DEVICES, CUSTOMERS, ORDERS, CLICKS = ("d", "e"), ("x", "y"), ("t", "u"), (1, 2)
REVENUE = {"revenue": Decimal("100.00"), "currency": "EUR"}
# When the first fact is told: all have happened by then.
TOLD_FROM = timedelta(hours=100)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened in an hour, told by a browser or, if it `is_server`, by a server.

    `what` is a visit, a direct visit, a refund, a take-back or a kind of call. A click happened at its number
    of hours.
    """

    what: str
    hour: float
    device: str | None = None
    customer: str | None = None
    order: str | None = None
    click: int | None = None
    is_server: bool = False
    number: int = 0

    @property
    def at(self) -> datetime:
        """When it happened."""
        return START + timedelta(hours=self.hour)

    def tell(self, shelf: Shelf, received_at: datetime) -> bool:
        """Tell the shelf. False: it has to be told again, once what it is about is known."""
        if self.what == "refund":
            return shelf.refund(str(self.order), self.at, received_at)
        if self.what == "take_back":
            return shelf.take_back(DeviceId(str(self.device)), CustomerId(str(self.customer)), received_at)
        shelf.store([self.batch(received_at)])
        return True

    def batch(self, received_at: datetime) -> Batch:
        """The request that tells it."""
        kind = Kind.ATTRIBUTION if self.what in {"visit", "direct"} else Kind(self.what)
        who = None if self.customer is None else CustomerId(self.customer)
        call = Call(kind, CallId(f"call {self.number}"), self.at, None, who, self._fields(kind))
        browser = None
        if self.is_server and self.click and who and not self.device:
            browser = DeviceId(f"browser of {self.click}")
        device = browser if kind is Kind.IDENTIFY and browser else self.device
        arrived = ArrivedCall(
            call,
            self._source() if kind is Kind.ATTRIBUTION else None,
            self._named(received_at) if self.is_server else None,
            browser if kind is not Kind.IDENTIFY else None,
        )
        sent_at = None if self.is_server else received_at
        return Batch(ORG, DeviceId(device) if device else None, sent_at, received_at, (arrived,))

    def _fields(self, kind: Kind) -> dict[str, Any]:
        fields: dict[str, Any] = dict(REVENUE) if kind is Kind.CONVERSION else {}
        if self.order:
            fields["transaction_id" if kind is Kind.CONVERSION else "event_id"] = self.order
        return fields

    def _source(self) -> Source:
        if self.what == "direct":
            return Source()
        place = ClickPlace(START + timedelta(hours=self.click), self.click) if self.click else None
        return Source(_LINK if self.click else None, {"utm_source": f"s{self.number}"}, {}, None, place)

    def _named(self, received_at: datetime) -> Touch | None:
        if self.click is None:
            return None
        at = START + timedelta(hours=self.click)
        return Touch(at, _LINK.id, {}, {}, received_at, None, at, self.click, is_named=True)


class _Link:
    id = LinkId("l")


_LINK: Any = _Link()
_HOURS = st.integers(0, 5)
_DEVICE, _CUSTOMER, _ORDER, _CLICK = map(st.sampled_from, (DEVICES, CUSTOMERS, ORDERS, CLICKS))
_MAYBE_DEVICE, _MAYBE_CUSTOMER, _MAYBE_CLICK = (st.none() | each for each in (_DEVICE, _CUSTOMER, _CLICK))
_SALE = st.sampled_from(["conversion", "lead"])
_VISIT = st.builds(Fact, st.just("visit"), _HOURS, _DEVICE, click=_MAYBE_CLICK)
_DIRECT = st.builds(Fact, st.just("direct"), _HOURS, _DEVICE)
_IDENTITY = st.builds(Fact, st.just("identify"), _HOURS, _DEVICE, _CUSTOMER, is_server=st.booleans())
_EVENT = st.builds(Fact, st.just("event"), _HOURS, _DEVICE, _MAYBE_CUSTOMER)
_BY_BROWSER = st.builds(Fact, _SALE, _HOURS, _DEVICE, _MAYBE_CUSTOMER, _ORDER)
_BY_SERVER = st.builds(
    Fact, _SALE, _HOURS, _MAYBE_DEVICE, _MAYBE_CUSTOMER, _ORDER, _MAYBE_CLICK, is_server=st.just(value=True)
)
_OF_CLICK = st.builds(
    Fact, st.just("identify"), _HOURS, _MAYBE_DEVICE, _CUSTOMER, click=_CLICK, is_server=st.just(value=True)
)
_REFUND = st.builds(Fact, st.just("refund"), st.just(9), order=_ORDER)
_TAKE_BACK = st.builds(Fact, st.just("take_back"), st.just(9), _DEVICE, _CUSTOMER)
_SALES = _BY_BROWSER | _BY_SERVER
ANY = _SALES | _VISIT | _DIRECT | _IDENTITY | _EVENT | _OF_CLICK
_OTHERS = _VISIT | _VISIT | _DIRECT | _IDENTITY | _IDENTITY | _EVENT | _OF_CLICK | _REFUND | _TAKE_BACK


@st.composite
def histories(draw: st.DrawFn, most: int = 5) -> list[Fact]:
    """Some facts, a sale among them."""
    facts = [draw(_SALES), *draw(st.lists(_OTHERS | _SALES, min_size=1, max_size=most - 1))]
    return numbered(*facts)


def numbered(*facts: Fact) -> list[Fact]:
    """These facts, each a call of its own."""
    return [
        Fact(each.what, each.hour, each.device, each.customer, each.order, each.click, each.is_server, number)
        for number, each in enumerate(facts)
    ]


def orders(facts: Sequence[Fact], most: int = 24) -> list[tuple[Fact, ...]]:
    """The orders in which these can be told; of more than so many a sample.

    A take-back is about what was told before: so it keeps its place behind that.
    """
    if len(facts) <= 4:
        found = list(permutations(facts))
    else:
        made = Random(len(facts))
        found = [tuple(made.sample(facts, len(facts))) for _ in range(most)]
    last = sorted(facts, key=lambda each: each.what == "take_back")
    return [tuple(last), *(each for each in found if _keeps_take_backs(each))]


def _keeps_take_backs(order: Sequence[Fact]) -> bool:
    sales = {(each.what, each.order) for each in order if each.customer and each.order}
    return not any(
        each.what != "take_back" and (each.customer or (each.what, each.order) in sales)
        for place, back in enumerate(order)
        if back.what == "take_back"
        for each in order[place:]
    )


def told(order: Sequence[Fact], until: int | None = None) -> Shelf:
    """A shelf that was told these facts in this order, one an hour; of the first so many."""
    shelf = Shelf()
    again: list[Fact] = []
    for place, each in enumerate(order[:until]):
        received_at = START + TOLD_FROM + timedelta(hours=place)
        again = [one for one in (each, *again) if not one.tell(shelf, received_at)]
    return shelf
