"""Credit: which touches of a device, or of all devices of a customer, a lead or a sale is credited to.

Facts come in as they were told, and nothing is joined for good: the same facts give other credit by other
rules, or as they stood at an earlier time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from heapq import nlargest

from backend.domain.attribution import Device, DirectVisit, Identification, Touch
from backend.domain.errors import InvalidField
from backend.domain.ids import DeviceId

# What one lead or conversion is divided into.
PARTS = 1_000_000
MOST_LOOKBACK_DAYS = 3_660
# A customer with more devices is no person, such as "guest". The latest ones count, and a sale's own.
MOST_DEVICES = 100
_DAY = timedelta(days=1)


class CreditTo(StrEnum):
    """Whose touches get the credit."""

    DEVICE = "device"
    CUSTOMER = "customer"


class Model(StrEnum):
    """Which touches get the credit, and how much each."""

    LAST_NON_DIRECT = "last_non_direct"
    LAST = "last"
    FIRST = "first"
    LINEAR = "linear"
    POSITION_BASED = "position_based"


@dataclass(frozen=True, slots=True)
class CreditRules:
    """How credit is given.

    Touches count that happened at most `lookback_days` before; None is without limit. With `as_of`, only what
    the service had been told before that time.
    """

    to: CreditTo = CreditTo.DEVICE
    model: Model = Model.LAST_NON_DIRECT
    lookback_days: int | None = None
    as_of: datetime | None = None

    def __post_init__(self) -> None:
        """Raises InvalidField."""
        if self.lookback_days is not None and not 1 <= self.lookback_days <= MOST_LOOKBACK_DAYS:
            raise InvalidField("lookback_days", f"must be a whole number from 1 to {MOST_LOOKBACK_DAYS}")

    @property
    def are_kept(self) -> bool:
        """Whether each record keeps the touch that these rules name: it was stored with it."""
        of_device = self.to is CreditTo.DEVICE and self.model in {Model.LAST_NON_DIRECT, Model.FIRST}
        return of_device and self.lookback_days is None and self.as_of is None

    @property
    def in_words(self) -> str:
        """A sentence that says the rules."""
        whose = "the same device" if self.to is CreditTo.DEVICE else "all devices of the customer"
        days = self.lookback_days
        window = f"at most {days} {'day' if days == 1 else 'days'} before" if days else "however long before"
        stood = f", as it stood before {self.as_of:%Y-%m-%d %H:%M} UTC" if self.as_of else ""
        credited = f"{_WORDS[self.model]} of {whose}, {window}{stood}"
        return f"Leads, conversions and revenue are credited to {credited}."

    def knows(self, at: datetime, received_at: datetime | None) -> bool:
        """Whether the service had been told of what happened at this time."""
        return self.as_of is None or (received_at or at) < self.as_of


_WORDS = {
    Model.LAST_NON_DIRECT: "the last touch (direct visits are none)",
    Model.LAST: "the last visit (nobody where that was a direct one)",
    Model.FIRST: "the first touch",
    Model.LINEAR: "all touches in equal parts",
    Model.POSITION_BASED: "the first and the last touch (40% each) and those between them (20%)",
}


@dataclass(frozen=True, slots=True)
class RefundFact:
    """What was paid back of a sale, in the same units as the sale's amount."""

    received_at: datetime
    amount: int


@dataclass(frozen=True, slots=True)
class SaleFacts:
    """A lead or a conversion, of a device, a customer or both. A lead has no amount.

    `customer_id` is whom it was told of. `touches` are copies that were kept with it, of touches that its
    device's list may have no more. `amount` is in whole units, such as cents.
    """

    at: datetime
    received_at: datetime
    device_id: DeviceId | None
    customer_id: str | None
    touches: tuple[Touch, ...] = ()
    amount: int = 0
    refunds: tuple[RefundFact, ...] = ()


@dataclass(frozen=True, slots=True)
class CreditShare:
    """What a touch gets of a sale: so many millionths of it, and of its amount and refunds.

    Without a touch, it is what no touch gets.
    """

    touch: Touch | None
    parts: int
    amount: int
    refunded: int


@dataclass(frozen=True, slots=True)
class Credited:
    """Whose a sale is, and what each touch gets of it, oldest first. No shares: it had not been told yet."""

    customer_id: str | None
    shares: tuple[CreditShare, ...]


def share_credit(
    sales: Iterable[SaleFacts], devices: Iterable[Device], rules: CreditRules
) -> Iterator[Credited]:
    """The credit of each of these sales, in their order.

    `devices` are those of the sales and, where credit goes by customer, all of their customers. Parts,
    amounts and refunds of a sale's shares add up to those of the sale.
    """
    histories = _Histories(devices, rules)
    for sale in sales:
        customer_id = histories.customer_of(sale)
        if not rules.knows(sale.at, sale.received_at):
            yield Credited(customer_id, ())
            continue
        path = histories.path_of(sale, customer_id)
        yield Credited(customer_id, tuple(_shares(sale, _weighed(path, rules.model), rules)))


def customer_of(sale: SaleFacts, device: Device | None, rules: CreditRules) -> str | None:
    """The customer whose sale it is, given its device.

    It is the one it was told of, unless the device's identity as that customer was taken back; else the one
    the device was identified as then, or first.
    """
    timeline = _timeline(device, rules) if device else []
    told = sale.customer_id
    if told is not None and not _is_taken_back(device, told, timeline, rules):
        return told
    return _owner_at(timeline, sale.at)


def divide(total: int, weights: Sequence[int]) -> list[int]:
    """The total in whole parts by these weights; the rest goes to the largest remainders, earlier first."""
    whole = sum(weights)
    parts = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda each: -(total * weights[each] % whole))
    for each in by_remainder[: total - sum(parts)]:
        parts[each] += 1
    return parts


# A visit in an order: its time, direct ones first, then by device and as they arrived.
_Key = tuple[datetime, bool, str, int]
_Visit = tuple[_Key, Touch | None]


class _Histories:
    """The devices by id, and what was found out about them."""

    def __init__(self, devices: Iterable[Device], rules: CreditRules) -> None:
        self._rules = rules
        self._devices = {each.id: each for each in devices}
        self._timelines = {each.id: _timeline(each, rules) for each in self._devices.values()}
        self._devices_of: dict[str, list[Device]] = {}
        for device in self._devices.values():
            for customer_id in {each.customer_id for each in self._timelines[device.id]}:
                self._devices_of.setdefault(customer_id, []).append(device)
        for customer_id, all_of_them in self._devices_of.items():
            self._devices_of[customer_id] = _latest(all_of_them)
        self._visits: dict[DeviceId, list[_Visit]] = {}
        self._paths: dict[str, list[_Visit]] = {}

    def customer_of(self, sale: SaleFacts) -> str | None:
        device = self._devices.get(sale.device_id) if sale.device_id else None
        return customer_of(sale, device, self._rules)

    def path_of(self, sale: SaleFacts, customer_id: str | None) -> list[Touch | None]:
        """The visits before the sale that count, oldest first. None is a direct one."""
        whose = customer_id if self._rules.to is CreditTo.CUSTOMER else None
        visits = self._of_customer(whose) if whose is not None else []
        if own := self._own(sale, whose):
            visits = sorted([*visits, *own], key=_key)
        days = self._rules.lookback_days
        first = bisect_left(visits, sale.at - days * _DAY, key=_time) if days else 0
        last = bisect_right(visits, sale.at, key=_time)
        return _each_click_once([touch for _, touch in visits[first:last]])

    def _of_customer(self, customer_id: str) -> list[_Visit]:
        """What their devices did while they were this customer's."""
        if customer_id not in self._paths:
            visits = [
                visit
                for device in self._devices_of.get(customer_id, ())
                for visit in self._of_device(device.id)
                if _owner_at(self._timelines[device.id], _time(visit)) == customer_id
            ]
            self._paths[customer_id] = sorted(visits, key=_key)
        return self._paths[customer_id]

    def _own(self, sale: SaleFacts, whose: str | None) -> list[_Visit]:
        """What is known of the sale's own device beyond what its customer's path has."""
        if sale.device_id is None:
            # A server named the click that led to the sale: nothing says whose browser it was.
            return [
                ((touch.at, True, DeviceId(""), number), touch)
                for number, touch in enumerate(sale.touches)
                if self._rules.knows(touch.at, touch.received_at)
            ]
        visits = self._of_device(sale.device_id)
        timeline = self._timelines.get(sale.device_id, [])
        kept = {_time(each) for each in visits if each[1]}
        copies = [
            ((touch.at, True, sale.device_id, -1), touch)
            for touch in sale.touches
            if touch.at not in kept and self._rules.knows(touch.at, touch.received_at)
        ]
        copies = list({key: (key, touch) for key, touch in copies}.values())
        if whose is None:
            return [*visits, *copies]
        is_in_path = any(each.id == sale.device_id for each in self._devices_of.get(whose, ()))
        own = copies if is_in_path else [*visits, *copies]
        # A device that was never identified is nobody else's.
        return [each for each in own if _owner_at(timeline, _time(each)) in {whose, None}]

    def _of_device(self, device_id: DeviceId) -> list[_Visit]:
        if device_id not in self._visits:
            device = self._devices.get(device_id)
            self._visits[device_id] = list(_visits(device, self._rules)) if device else []
        return self._visits[device_id]


def _latest(devices: list[Device]) -> list[Device]:
    if len(devices) <= MOST_DEVICES:
        return devices
    return nlargest(MOST_DEVICES, devices, key=lambda each: (each.last_seen_at, each.id))


def _each_click_once(path: list[Touch | None]) -> list[Touch | None]:
    """The path without visits that a server told of by their click, where the browser told of them too.

    What servers told of one click, such as of two sales, is one visit.
    """
    if not any(each and each.is_named for each in path):
        return path
    told = {(each.link_id, each.click) for each in path if each and not each.is_named}
    kept: list[Touch | None] = []
    for each in path:
        if each and each.is_named:
            if (each.link_id, each.click) in told:
                continue
            told.add((each.link_id, each.click))
        kept.append(each)
    return kept


def _key(visit: _Visit) -> _Key:
    return visit[0]


def _time(visit: _Visit) -> datetime:
    return visit[0][0]


def _visits(device: Device, rules: CreditRules) -> Iterator[_Visit]:
    """The device's visits that were known, in no order."""
    touches: Sequence[Touch] = device.touches
    if device.first_touch and device.first_touch not in touches:
        touches = (device.first_touch, *touches)
    known: Sequence[Touch | DirectVisit] = (*device.direct_visits, *touches)
    for number, each in enumerate(known):
        if rules.knows(each.at, each.received_at):
            touch = each if isinstance(each, Touch) else None
            yield (each.at, touch is not None, device.id, number), touch


def _timeline(device: Device, rules: CreditRules) -> list[Identification]:
    """What the device was known to be identified as, oldest first."""
    return [
        each
        for each in device.customers
        if rules.knows(each.at, each.received_at) and not _was_taken_back(each, rules)
    ]


def _was_taken_back(each: Identification, rules: CreditRules) -> bool:
    return each.taken_back_at is not None and (rules.as_of is None or each.taken_back_at < rules.as_of)


def _is_taken_back(
    device: Device | None, customer_id: str, timeline: Collection[Identification], rules: CreditRules
) -> bool:
    if device is None or any(each.customer_id == customer_id for each in timeline):
        return False
    return any(each.customer_id == customer_id and _was_taken_back(each, rules) for each in device.customers)


def _owner_at(timeline: Sequence[Identification], at: datetime) -> str | None:
    """The customer that a device was at this time: before its first identity, its first one."""
    if not timeline:
        return None
    latest = bisect_right(timeline, at, key=lambda each: each.at)
    return timeline[max(latest - 1, 0)].customer_id


def _weighed(path: Sequence[Touch | None], model: Model) -> list[tuple[Touch | None, int]]:
    """The touches that get credit, with their weights. There is always one: None, for what no touch gets."""
    touches = [each for each in path if each]
    match model:
        case Model.LAST:
            touches = [path[-1]] if path and path[-1] else []
        case Model.LAST_NON_DIRECT:
            touches = touches[-1:]
        case Model.FIRST:
            touches = touches[:1]
    if not touches:
        return [(None, 1)]
    between = len(touches) - 2
    ends = 2 * between if model is Model.POSITION_BASED and between > 0 else 1
    last = len(touches) - 1
    return [(touch, ends if at in {0, last} else 1) for at, touch in enumerate(touches)]


def _shares(
    sale: SaleFacts, weighed: Sequence[tuple[Touch | None, int]], rules: CreditRules
) -> Iterator[CreditShare]:
    weights = [weight for _, weight in weighed]
    parts, amounts = divide(PARTS, weights), divide(sale.amount, weights)
    refunded = [0] * len(weights)
    for refund in sorted(sale.refunds, key=lambda each: each.received_at):
        if rules.knows(refund.received_at, refund.received_at):
            # By what is left of each share: so no touch loses more than it got, and all of it in the end.
            left = [amount - back for amount, back in zip(amounts, refunded, strict=True)]
            back = divide(refund.amount, left) if sum(left) else [0] * len(left)
            refunded = [one + other for one, other in zip(refunded, back, strict=True)]
    for (touch, _), *share in zip(weighed, parts, amounts, refunded, strict=True):
        yield CreditShare(touch, *share)
