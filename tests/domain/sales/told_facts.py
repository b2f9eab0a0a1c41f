"""Small histories of facts that browsers and servers tell, for tests that tell them in many orders."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from itertools import permutations
from math import factorial
from random import Random
from typing import Any

from hypothesis import strategies as st

from backend.domain.clicks.ids import ClickPlace
from backend.domain.ids import CallId, CustomerId, DeviceId, LinkId, OrgId
from backend.domain.visitors.attribution import Touch
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Call, Kind
from backend.domain.visitors.sources import Source
from tests.domain.sales.shelf import START, Shelf

ORG = OrgId("o")
DEVICES, CUSTOMERS, ORDERS, CLICKS = ("d", "e"), ("x", "y"), ("t", "u"), (1, 2)
# When the first fact is told: all have happened by then.
TOLD_FROM = timedelta(hours=100)


class Follows(StrEnum):
    """How a fact is told after the one before it; a refund and a take-back always by themselves."""

    LATER = "an hour later"
    AT_ONCE = "in the same moment"
    TOGETHER = "an hour later, and decided with it"
    LISTED = "in the same moment, and decided with it"


IN_ITS_OWN_HOUR: Sequence[Follows] = ()
_AT_ONCE = frozenset({Follows.AT_ONCE, Follows.LISTED})
_DECIDED_TOGETHER = frozenset({Follows.TOGETHER, Follows.LISTED})


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

    @property
    def is_call(self) -> bool:
        """Whether a batch tells it."""
        return self.what not in {"refund", "take_back"}

    def tell(self, shelf: Shelf, received_at: datetime) -> bool:
        """Tell the shelf what no batch tells. False: it is to be told again, once it is known what of."""
        if self.what == "refund":
            return shelf.refund(str(self.order), self.at, received_at)
        return shelf.take_back(DeviceId(str(self.device)), CustomerId(str(self.customer)), received_at)

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
        # Each telling says something else: of another amount, in another currency, with or without a product.
        fields: dict[str, Any] = {}
        if kind is Kind.CONVERSION:
            fields = {"revenue": Decimal(7 + self.number), "currency": ("EUR", "JPY")[self.number % 2]}
            fields |= {"product_id": f"p{self.number}"} if self.number % 3 else {}
        if kind is Kind.LEAD:
            fields["name"] = f"n{self.number}"
        if kind is Kind.EVENT:
            fields["metadata"] = {"plan": f"p{self.number}", "n": self.number, "of": {"x": 1}} | _METADATA
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


_METADATA = {"is_new": True, "share": 2.5, "whole": 3.0, "none": None, "many": ["a"], "b'\";": "ß"}


class _Link:
    id = LinkId("l")


_LINK: Any = _Link()
_HOURS = st.integers(0, 5)
_DEVICE, _CUSTOMER, _ORDER, _CLICK = map(st.sampled_from, (DEVICES, CUSTOMERS, ORDERS, CLICKS))
_MAYBE_DEVICE, _MAYBE_CUSTOMER, _MAYBE_CLICK = (
    st.none() | strategy for strategy in (_DEVICE, _CUSTOMER, _CLICK)
)
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
        Fact(fact.what, fact.hour, fact.device, fact.customer, fact.order, fact.click, fact.is_server, number)
        for number, fact in enumerate(facts)
    ]


def orders(facts: Sequence[Fact], most: int = 120) -> list[tuple[Fact, ...]]:
    """The orders in which these can be told; of more than so many a sample. Five facts have 120.

    A take-back is about what was told before: so it keeps its place behind that.
    """
    if factorial(len(facts)) <= most:
        all_orders = list(permutations(facts))
    else:
        made = Random(len(facts))
        all_orders = [tuple(made.sample(facts, len(facts))) for _ in range(most)]
    last = sorted(facts, key=lambda fact: fact.what == "take_back")
    return [tuple(last), *(order for order in all_orders if _keeps_take_backs(order))]


def _keeps_take_backs(order: Sequence[Fact]) -> bool:
    sales = {(fact.what, fact.order) for fact in order if fact.customer and fact.order}
    return not any(
        fact.what != "take_back" and (fact.customer or (fact.what, fact.order) in sales)
        for place, back in enumerate(order)
        if back.what == "take_back"
        for fact in order[place:]
    )


def ways(most: int) -> st.SearchStrategy[list[Follows]]:
    """How so many facts may follow one another."""
    return st.lists(st.sampled_from(Follows), min_size=most, max_size=most)


def moments(count: int, follows: Sequence[Follows] = IN_ITS_OWN_HOUR) -> list[datetime]:
    """When each of so many facts is told."""
    times = [START + TOLD_FROM]
    for place in range(1, count):
        is_later = place >= len(follows) or follows[place] not in _AT_ONCE
        times.append(times[-1] + timedelta(hours=is_later))
    return times[:count]


def shelf_after(
    order: Sequence[Fact], until: int | None = None, follows: Sequence[Follows] = IN_ITS_OWN_HOUR
) -> Shelf:
    """A shelf that was told the first so many of these facts in this order, each as it follows another."""
    shelf = Shelf()
    again: list[Fact] = []
    for group in _decided_together(order[:until], follows):
        fact, received_at = group[0]
        if fact.is_call:
            shelf.store(_batches(group))
        else:
            again = [fact, *again]
        again = [fact for fact in again if not fact.tell(shelf, received_at)]
    return shelf


_TimedFact = tuple[Fact, datetime]


def _decided_together(order: Sequence[Fact], follows: Sequence[Follows]) -> list[list[_TimedFact]]:
    groups: list[list[_TimedFact]] = []
    for place, timed_fact in enumerate(zip(order, moments(len(order), follows), strict=True)):
        are_calls = place > 0 and timed_fact[0].is_call and order[place - 1].is_call
        if are_calls and place < len(follows) and follows[place] in _DECIDED_TOGETHER:
            groups[-1].append(timed_fact)
        else:
            groups.append([timed_fact])
    return groups


def _batches(group: Iterable[_TimedFact]) -> list[Batch]:
    """The requests that tell these; what a browser tells in one moment is in one."""
    batches: list[Batch] = []
    for fact, received_at in group:
        new = fact.batch(received_at)
        last = batches[-1] if batches else None
        if last and new.sent_at and replace(last, calls=()) == replace(new, calls=()):
            batches[-1] = replace(last, calls=last.calls + new.calls)
        else:
            batches.append(new)
    return batches
