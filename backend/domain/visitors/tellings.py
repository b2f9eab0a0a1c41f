"""Tellings of one sale or lead: what browsers and servers said of it, and what that comes to together.

Each telling is a fact and stays as it was told. What they come to follows from what they say, and not from
which of them came first (docs/decisions/credit.md, "The facts").
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from backend.domain.ids import CustomerId, DeviceId

# Of one sale, by servers, and as many by browsers, which so take no server's place. Those that tell nothing
# new are not kept and do not count.
MOST_TELLINGS = 20
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})
# An amount without its currency says nothing, so both are one telling's.
_OF_AMOUNTS = ("currency", "revenue")
VisitT = TypeVar("VisitT")


class Telling(NamedTuple, Generic[VisitT]):
    """What a browser or, if it `is_server`, a server told of a sale, and when the service was told.

    `visit` is the one of which a server named the click. `occurred_at` is the time by the teller's clock.
    `fields` are the page and the fields that credit does not read, as far as they were told.
    """

    received_at: datetime
    at: datetime
    device_id: DeviceId | None
    customer_id: CustomerId | None
    is_server: bool = False
    visit: VisitT | None = None
    occurred_at: datetime | None = None
    fields: Mapping[str, Any] = _NO_FIELDS


class Combined(NamedTuple):
    """What follows from all tellings of one sale: its time, its device and its customer.

    `received_at` is when the service was first told.
    """

    at: datetime
    received_at: datetime
    device_id: DeviceId | None
    customer_id: CustomerId | None


class SaleIdentity(NamedTuple):
    """A device that a sale says to be its customer's from `at` on; `is_server`: a server named both.

    The sale said so since `received_at`, until a further telling said something else at `replaced_at`. Both
    the device and the customer were told since `told_at`: what is taken back later, is taken back of it too.
    """

    device_id: DeviceId
    customer_id: CustomerId
    at: datetime
    told_at: datetime
    received_at: datetime
    replaced_at: datetime | None = None
    is_server: bool = False


def combine(tellings: Sequence[Telling[VisitT]]) -> Combined:
    """What follows from these tellings, of which there is at least one."""
    if len(tellings) == 1:  # nearly always
        [only] = tellings
        return Combined(only.at, only.received_at, only.device_id, only.customer_id)
    device_id = _device_of(tellings)
    by_it = [telling for telling in tellings if telling.device_id == device_id] if device_id else tellings
    return Combined(
        min(telling.at for telling in by_it),
        min(telling.received_at for telling in tellings),
        device_id,
        _customer_of(tellings, device_id),
    )


def _device_of(tellings: Sequence[Telling[VisitT]]) -> DeviceId | None:
    named = [
        (not telling.is_server, telling.at, telling.device_id) for telling in tellings if telling.device_id
    ]
    return min(named)[2] if named else None


def _customer_of(tellings: Sequence[Telling[VisitT]], device_id: DeviceId | None) -> CustomerId | None:
    """Only servers and the sale's own device may say whose it is: anyone can guess an order's number."""
    named = [
        (not telling.is_server, telling.at, telling.customer_id)
        for telling in tellings
        if telling.customer_id and (telling.is_server or telling.device_id == device_id)
    ]
    return min(named)[2] if named else None


def fields_of(tellings: Sequence[Telling[VisitT]]) -> Mapping[str, Any]:
    """The page and the fields that follow from these tellings, of which there is at least one.

    Each is as a server tells it, else as the sale's own device does, else as another browser does.
    """
    if len(tellings) == 1:  # nearly always
        return tellings[0].fields
    device_id = _device_of(tellings)
    best: dict[str, Telling[VisitT]] = {}
    for telling in tellings:
        for name in telling.fields:
            if name not in best or _rank(telling, name, device_id) < _rank(best[name], name, device_id):
                best[name] = telling
    return {name: telling.fields[name] for name, telling in best.items()}


def fields_over_time(tellings: Sequence[Telling[VisitT]]) -> list[tuple[datetime, Mapping[str, Any]]]:
    """The fields that followed from what had been told, each time with the moment since when they did."""
    moments = sorted({telling.received_at for telling in tellings})
    return [
        (moment, fields_of([telling for telling in tellings if telling.received_at <= moment]))
        for moment in moments
    ]


def _rank(telling: Telling[VisitT], name: str, device_id: DeviceId | None) -> tuple[Any, ...]:
    """What the tellings of a field are sorted by: the first one counts. `device_id` is the sale's device."""
    is_of_other = not telling.is_server and telling.device_id != device_id
    return not telling.is_server, is_of_other, *_claim(telling, name)


def _claim(telling: Telling[VisitT], name: str) -> tuple[Any, ...]:
    """What two tellings of a field by servers, or by one browser, are sorted by."""
    names = _OF_AMOUNTS if name in _OF_AMOUNTS else (name,)
    return telling.at, [_sorted_by(telling.fields.get(each)) for each in names]


def _sorted_by(value: object) -> tuple[Decimal, str]:
    if isinstance(value, Decimal):
        return value, ""
    return Decimal(), value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)


def with_telling(
    tellings: tuple[Telling[VisitT], ...], telling: Telling[VisitT]
) -> tuple[Telling[VisitT], ...]:
    """These tellings and another one; the same, if they are too many or it can't change what follows."""
    is_full = sum(1 for earlier in tellings if earlier.is_server == telling.is_server) >= MOST_TELLINGS
    return tellings if is_full or not says_more(telling, tellings) else (*tellings, telling)


def says_more(telling: Telling[VisitT], tellings: Sequence[Telling[VisitT]]) -> bool:
    """Whether a telling can change what follows from these tellings, now or with later ones.

    It can't if one of these tellings says everything that it says, of no later time, and arrived no later.
    """
    return not any(
        earlier.received_at <= telling.received_at
        and earlier.at <= telling.at
        and earlier.device_id == telling.device_id
        and earlier.is_server == telling.is_server
        and telling.customer_id in {None, earlier.customer_id}
        and all(_has_claim(earlier, telling, name) for name in telling.fields)
        for earlier in tellings
    ) or _names_a_click(telling, tellings)


def _has_claim(earlier: Telling[VisitT], telling: Telling[VisitT], name: str) -> bool:
    """Whether a field counts as `earlier` tells it, and never as `telling`, by the same one, does."""
    return name in earlier.fields and _claim(earlier, name) <= _claim(telling, name)


def _names_a_click(telling: Telling[VisitT], tellings: Sequence[Telling[VisitT]]) -> bool:
    """Whether it names a click that none of these named, unless it was told later."""
    return telling.visit is not None and not any(
        earlier.received_at <= telling.received_at and earlier.visit == telling.visit for earlier in tellings
    )


def identities_of(tellings: Sequence[Telling[VisitT]]) -> list[SaleIdentity]:
    """The customers that the sale named for its devices over time, each with the time in which it held."""
    if len(tellings) == 1:  # nearly always
        [only] = tellings
        new = _identity(tellings, only.received_at)
        return [new] if new else []
    identities: list[SaleIdentity] = []
    for moment in sorted({telling.received_at for telling in tellings}):
        new = _identity([telling for telling in tellings if telling.received_at <= moment], moment)
        last = identities[-1] if identities and identities[-1].replaced_at is None else None
        if last and (new is None or new[:3] != last[:3]):
            identities[-1] = last._replace(replaced_at=moment)
        elif new and last:
            identities[-1] = last._replace(is_server=new.is_server)
        if new and (last is None or new[:3] != last[:3]):
            identities.append(new)
    return identities


def _identity(tellings: Sequence[Telling[VisitT]], received_at: datetime) -> SaleIdentity | None:
    at, _, device_id, customer_id = combine(tellings)
    if device_id is None or customer_id is None:
        return None
    of_device = [telling.received_at for telling in tellings if telling.device_id == device_id]
    of_customer = [
        telling.received_at
        for telling in tellings
        if telling.customer_id == customer_id and (telling.is_server or telling.device_id == device_id)
    ]
    told_at = max(min(of_device), min(of_customer))
    by_servers = [telling for telling in tellings if telling.is_server]
    is_server = any(telling.device_id == device_id for telling in by_servers) and any(
        telling.customer_id == customer_id for telling in by_servers
    )
    return SaleIdentity(device_id, customer_id, at, told_at, received_at, is_server=is_server)
