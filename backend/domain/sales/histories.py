"""Histories: the visits of devices and of customers in order, as far as the service knew of them at a moment.

What a visit came from is whatever the caller gives for it. Times are all with a time zone, or all without one
and in UTC.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import nlargest, nsmallest
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, NamedTuple

from backend.domain.ids import CustomerId, DeviceId
from backend.domain.sales.credit_rules import CreditRules, CreditTo
from backend.domain.sales.told_facts import (
    Identified,
    OrderedVisit,
    SaleFacts,
    SourceT,
    ToldVisit,
)
from backend.domain.visitors.attribution import Device, Times, Touch
from backend.domain.visitors.tellings import Telling, VisitT, combine

# A customer with more devices is no person, but a name such as "guest". Of such a customer's devices count
# the sale's own, the latest of those that a server named, and of those that only browsers told of the latest,
# and besides these the ones that were told first: so whoever has the public key takes no place of theirs.
MOST_DEVICES = 100
MOST_LATEST, MOST_FIRST = 50, 50
_NOBODYS = DeviceId("")


class Owner(NamedTuple):
    """Whose a device was from some time on; None from where identities were not kept."""

    at: datetime
    customer_id: CustomerId | None


class Claim(NamedTuple):
    """Whether a server told that a device is a customer's, and when the service was first told."""

    is_by_server: bool
    told_at: datetime


_time: Callable[[OrderedVisit[Any] | Owner], datetime] = attrgetter("at")
_is_named = attrgetter("is_named")


def known_tellings(tellings: Sequence[Telling[VisitT]], rules: CreditRules) -> Sequence[Telling[VisitT]]:
    """Those of these tellings that the rules know; all of them, if the rules know none."""
    if rules.as_of is None:
        return tellings
    return [telling for telling in tellings if rules.knows(telling.at, telling.received_at)] or tellings


def known_facts(
    tellings: Sequence[Telling[ToldVisit[SourceT]]],
    copies: tuple[ToldVisit[SourceT], ...],
    rules: CreditRules,
) -> SaleFacts[SourceT]:
    """The facts of a sale that the rules know, without its amounts, from its tellings and copies of touches.

    If the rules know none of the tellings, all of them are used, and the sale is credited to no touch.
    """
    combined = combine(known_tellings(tellings, rules))
    # The copies are of the device that follows from all tellings.
    is_same = combined.device_id == combine(tellings).device_id
    visits = tuple(telling.visit for telling in tellings if telling.visit)
    return SaleFacts(*combined, copies if is_same else (), visits=visits)


@dataclass(slots=True)
class History(Generic[SourceT]):
    """What was known of a device: its visits in order, and its owners, each with the time from which on.

    An owner is None from where identities were not kept: then the device is nobody's.

    `taken_back` are customers that the device was identified as by mistake. `claims` say of each customer
    whether a server named the device as theirs, and when the service was first told so.
    """

    device_id: DeviceId
    last_seen_at: datetime
    visits: list[OrderedVisit[SourceT]]
    owners: list[Owner]
    taken_back: AbstractSet[CustomerId] = frozenset()
    claims: Mapping[CustomerId, Claim] = field(default_factory=dict)
    _times: set[datetime] | None = field(default=None, init=False)

    @classmethod
    def of(
        cls,
        device_id: DeviceId,
        last_seen_at: datetime,
        told_visits: Iterable[ToldVisit[SourceT]],
        identified: Iterable[Identified],
        rules: CreditRules,
    ) -> History[SourceT]:
        """The history with those of these visits and identities, in the order of their lists, that count."""
        if rules.as_of is not None:
            told_visits = [visit for visit in told_visits if rules.knows(visit.at, visit.received_at)]
        visits = [
            OrderedVisit(at, source is not None, device_id, number, source, click, is_named)
            for number, (at, _, source, click, is_named) in enumerate(told_visits)
        ]
        visits.sort()
        owners: list[Owner] = []
        wrong: set[CustomerId] = set()
        claims: dict[CustomerId, Claim] = {}
        for at, received_at, customer_id, taken_back_at, replaced_at, is_server in identified:
            if replaced_at is not None and rules.knows(replaced_at, None):
                continue
            if customer_id and taken_back_at is not None and rules.knows(taken_back_at, None):
                wrong.add(customer_id)
            elif rules.knows(at, received_at):
                owners.append(Owner(at, customer_id))
                if customer_id:
                    told_at = received_at or at
                    is_by_server, first = claims.get(customer_id, Claim(is_by_server=False, told_at=told_at))
                    claims[customer_id] = Claim(is_by_server or is_server, min(first, told_at))
        return cls(device_id, last_seen_at, visits, owners, wrong, claims)

    @classmethod
    def of_device(cls, device: Device, rules: CreditRules) -> History[Touch]:
        """The history of a device with the visits and identities that the rules know."""
        touches: Sequence[Touch] = device.touches
        if device.first_touch and device.first_touch not in touches:
            touches = (device.first_touch, *touches)
        direct: list[ToldVisit[Touch]] = [
            ToldVisit(visit.at, visit.received_at, None, None, is_named=False)
            for visit in device.direct_visits
        ]
        identified = [
            Identified(
                owner.at,
                owner.received_at,
                owner.customer_id,
                owner.taken_back_at,
                owner.replaced_at,
                owner.is_server,
            )
            for owner in device.customers
        ]
        told_visits = [*direct, *map(as_told, touches)]
        return History[Touch].of(device.id, device.last_seen_at, told_visits, identified, rules)

    @property
    def times(self) -> set[datetime]:
        """The times of its visits that were not direct."""
        if self._times is None:
            self._times = {visit.at for visit in self.visits if visit.is_touch}
        return self._times

    @property
    def customer_ids(self) -> set[CustomerId]:
        """The ids of all customers that the device ever was identified as."""
        return {customer_id for _, customer_id in self.owners if customer_id is not None}

    def owner_at(self, at: datetime) -> CustomerId | None:
        """The customer that the device belonged to then; before its first identity, the first one."""
        owners = self.owners
        if not owners:
            return None
        return owners[max(bisect_right(owners, at, key=_time) - 1, 0)].customer_id

    def times_of(self, customer_ids: AbstractSet[CustomerId]) -> Times:
        """The periods in which the device belonged to one of these customers."""
        changes = list(dict.fromkeys(at for at, _ in self.owners))
        whose = [self.owners[0].customer_id if self.owners else None, *map(self.owner_at, changes)]
        periods = zip([None, *changes], [*changes, None], whose, strict=True)
        return [(begin, end) for begin, end, owner in periods if owner in customer_ids]

    def visits_of(self, customer_id: CustomerId) -> list[OrderedVisit[SourceT]]:
        """The visits of the device while it belonged to this customer."""
        if self.is_only(customer_id):
            return self.visits
        return [visit for visit in self.visits if self.owner_at(visit.at) == customer_id]

    def is_only(self, customer_id: CustomerId) -> bool:
        """Whether the device always belonged to this customer."""
        return bool(self.owners) and all(owner == customer_id for _, owner in self.owners)


def as_told(touch: Touch) -> ToldVisit[Touch]:
    """A touch as a visit that was told."""
    place = touch.click
    click = (touch.link_id, place.at, place.mark) if place else None
    return ToldVisit(touch.at, touch.received_at, touch, click, touch.is_named)


def customer_of(sale: SaleFacts[SourceT], history: History[SourceT] | None) -> CustomerId | None:
    """The customer of the sale, given the history of its device.

    It is the customer that the sale's tellings name, unless the device's identity as that customer was taken
    back. Otherwise it is the customer that the device belonged to at the time of the sale.
    """
    named = sale.customer_id
    if history is None:
        return named
    if named is not None and (named not in history.taken_back or named in history.customer_ids):
        return named
    return history.owner_at(sale.at)


class Histories(Generic[SourceT]):
    """The histories of devices by their ids, and those of customers that follow from them."""

    def __init__(self, histories: Iterable[History[SourceT]], rules: CreditRules) -> None:
        """`histories` have what the rules know. If credit goes by customer, they are of all its devices."""
        self._rules = rules
        self._by_id = {history.device_id: history for history in histories}
        self._of_customer: dict[CustomerId, list[History[SourceT]]] = {}
        if rules.to is CreditTo.CUSTOMER:
            self._find_customers()
        self._visits: dict[CustomerId, list[OrderedVisit[SourceT]]] = {}

    def customer_of(self, sale: SaleFacts[SourceT]) -> CustomerId | None:
        """The customer of the sale."""
        return customer_of(sale, self._by_id.get(sale.device_id) if sale.device_id else None)

    def path_of(
        self, sale: SaleFacts[SourceT], customer_id: CustomerId | None
    ) -> list[OrderedVisit[SourceT]]:
        """The visits before the sale that count, oldest first."""
        whose = customer_id if self._rules.to is CreditTo.CUSTOMER else None
        visits = self._visits_of_device(sale) if whose is None else self._of_customer_and_sale(whose, sale)
        if sale.visits:
            visits = _merged(visits, self._named_for(sale, visits))
        path = _each_click_once(visits[: bisect_right(visits, sale.at, key=_time)])
        days = self._rules.lookback_days
        return path[bisect_left(path, sale.at - timedelta(days), key=_time) :] if days else path

    def _find_customers(self) -> None:
        for history in self._by_id.values():
            for customer_id in history.customer_ids:
                self._of_customer.setdefault(customer_id, []).append(history)
        for customer_id, all_of_them in self._of_customer.items():
            self._of_customer[customer_id] = counting(customer_id, all_of_them)

    def _visits_of_device(self, sale: SaleFacts[SourceT]) -> list[OrderedVisit[SourceT]]:
        """The visits of the sale's own device."""
        history = self._by_id.get(sale.device_id) if sale.device_id else None
        visits = history.visits if history else []
        return _merged(visits, self._copies(sale, history))

    def _of_customer_and_sale(
        self, whose: CustomerId, sale: SaleFacts[SourceT]
    ) -> list[OrderedVisit[SourceT]]:
        """The visits of the sale's customer, and further visits of the sale's device."""
        history = self._by_id.get(sale.device_id) if sale.device_id else None
        copies = self._copies(sale, history)
        if history is None:
            return _merged(self._all_of(whose), copies)
        is_one_of_them = any(other is history for other in self._of_customer.get(whose, ()))
        if is_one_of_them and not copies:
            return self._all_of(whose)
        device_visits = copies if is_one_of_them else _merged(history.visits, copies)
        if history.owners:  # a device that was never identified belongs to no other customer
            device_visits = [visit for visit in device_visits if history.owner_at(visit.at) == whose]
        return _merged(self._all_of(whose), device_visits)

    def _all_of(self, customer_id: CustomerId) -> list[OrderedVisit[SourceT]]:
        """The visits of all devices while they belonged to this customer."""
        if customer_id not in self._visits:
            histories = self._of_customer.get(customer_id, ())
            visits = [history.visits_of(customer_id) for history in histories]
            self._visits[customer_id] = _merged(*visits)
        return self._visits[customer_id]

    def _copies(
        self, sale: SaleFacts[SourceT], history: History[SourceT] | None
    ) -> list[OrderedVisit[SourceT]]:
        """The touches stored with the sale that the list of its device does not have any more."""
        # Nearly always the list has all of them, so this is checked first.
        copies = [visit for visit in sale.copies if history is None or visit.at not in history.times]
        if not copies or sale.device_id is None:
            return []
        device_id, named = sale.device_id, {visit.at for visit in sale.visits}
        return sorted(
            {
                at: OrderedVisit(at, True, device_id, -1, source, click, is_named)
                for at, received_at, source, click, is_named in copies
                if self._rules.knows(at, received_at) and at not in named
            }.values()
        )

    def _named_for(
        self, sale: SaleFacts[SourceT], others: Sequence[OrderedVisit[SourceT]]
    ) -> list[OrderedVisit[SourceT]]:
        """The visits that servers named for the sale and that are not among the others."""
        there = {(visit.at, visit.click) for visit in others if visit.is_named}
        sources = {
            (at, click): (source, click)
            for at, received_at, source, click, _ in reversed(sale.visits)
            if click and (at, click) not in there and self._rules.knows(at, received_at)
        }
        return [
            OrderedVisit(at, True, _NOBODYS, number, *sources[at, click], True)
            for number, (at, click) in enumerate(sorted(sources))
        ]


def _merged(*lists: list[OrderedVisit[SourceT]]) -> list[OrderedVisit[SourceT]]:
    """The visits of all of these lists, each in order, in one order."""
    filled = [visits for visits in lists if visits]
    if len(filled) == 1:
        return filled[0]
    return sorted(chain.from_iterable(filled))


def counting(customer_id: CustomerId, histories: list[History[SourceT]]) -> list[History[SourceT]]:
    """Those of a customer's devices that count."""
    if len(histories) <= MOST_DEVICES:
        return histories
    by_server = [history for history in histories if history.claims[customer_id].is_by_server]
    others = [history for history in histories if not history.claims[customer_id].is_by_server]
    latest = nlargest(MOST_LATEST, others, key=_seen)
    last_seen = {history.device_id for history in latest}
    earlier = (history for history in others if history.device_id not in last_seen)
    first = nsmallest(
        MOST_FIRST, earlier, key=lambda history: (history.claims[customer_id].told_at, history.device_id)
    )
    return [*nlargest(MOST_DEVICES, by_server, key=_seen), *latest, *first]


def _seen(history: History[SourceT]) -> tuple[datetime, DeviceId]:
    return history.last_seen_at, history.device_id


def _each_click_once(path: list[OrderedVisit[SourceT]]) -> list[OrderedVisit[SourceT]]:
    """The path with one visit for each click: the browser's own visit, or else one that servers named.

    Servers may name a click several times, such as for two sales.
    """
    if not any(map(_is_named, path)):
        return path
    clicks = {visit.click for visit in path if not visit.is_named}
    kept = []
    for visit in path:
        if visit.is_named:
            if visit.click in clicks:
                continue
            clicks.add(visit.click)
        kept.append(visit)
    return kept
