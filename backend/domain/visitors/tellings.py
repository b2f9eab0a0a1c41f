"""Tellings of one sale or lead: what browsers and servers said of it, and what that comes to together.

Each telling is a fact and stays as it was told. What they come to follows from what they say, and not from
which of them came first (docs/decisions/credit.md, "The facts").
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Generic, NamedTuple, TypeVar

from backend.domain.ids import CustomerId, DeviceId

# Of one sale. Those that tell nothing new are not kept and do not count.
MOST_TELLINGS = 20
VisitT = TypeVar("VisitT")


class Telling(NamedTuple, Generic[VisitT]):
    """What a browser or, if it `is_server`, a server told of a sale, and when the service was told.

    `visit` is the one of which a server named the click. `occurred_at` is the time by the teller's clock.
    `added` names the fields that no telling before it had.
    """

    received_at: datetime
    at: datetime
    device_id: DeviceId | None
    customer_id: CustomerId | None
    is_server: bool = False
    visit: VisitT | None = None
    occurred_at: datetime | None = None
    added: tuple[str, ...] = ()


class Combined(NamedTuple):
    """What tellings of one sale come to: its time, device, and the customer that it was told of.

    `received_at` is when the service was first told.
    """

    at: datetime
    received_at: datetime
    device_id: DeviceId | None
    customer_id: CustomerId | None


class SaleIdentity(NamedTuple):
    """A device that a sale says to be its customer's from `at` on.

    The sale said so since `received_at`, until a further telling said something else at `replaced_at`. Both
    the device and the customer were told since `told_at`: what is taken back later, is taken back of it too.
    """

    device_id: DeviceId
    customer_id: CustomerId
    at: datetime
    told_at: datetime
    received_at: datetime
    replaced_at: datetime | None = None


def combine(tellings: Sequence[Telling[VisitT]]) -> Combined:
    """What these tellings, of which there is at least one, come to."""
    if len(tellings) == 1:  # nearly always
        [only] = tellings
        return Combined(only.at, only.received_at, only.device_id, only.customer_id)
    device_id = _device_of(tellings)
    by_it = [each for each in tellings if each.device_id == device_id] if device_id else tellings
    return Combined(
        min(each.at for each in by_it),
        min(each.received_at for each in tellings),
        device_id,
        _customer_of(tellings),
    )


def _device_of(tellings: Sequence[Telling[VisitT]]) -> DeviceId | None:
    named = [(not each.is_server, each.at, each.device_id) for each in tellings if each.device_id]
    return min(named)[2] if named else None


def _customer_of(tellings: Sequence[Telling[VisitT]]) -> CustomerId | None:
    named = [(not each.is_server, each.at, each.customer_id) for each in tellings if each.customer_id]
    return min(named)[2] if named else None


def says_more(telling: Telling[VisitT], known: Sequence[Telling[VisitT]]) -> bool:
    """Whether a telling may ever change what these come to, whatever is told later.

    It can't if one of them says all that it says, of no later time, and was not told later.
    """
    return not any(
        each.received_at <= telling.received_at
        and each.at <= telling.at
        and each.device_id == telling.device_id
        and each.is_server == telling.is_server
        and telling.customer_id in {None, each.customer_id}
        for each in known
    ) or _names_a_click(telling, known)


def _names_a_click(telling: Telling[VisitT], known: Sequence[Telling[VisitT]]) -> bool:
    """Whether it names a click that none of these named, unless it was told later."""
    return telling.visit is not None and not any(
        each.received_at <= telling.received_at and each.visit == telling.visit for each in known
    )


def identities_of(tellings: Sequence[Telling[VisitT]]) -> list[SaleIdentity]:
    """What the sale said at any time of whose its device is, each as long as it was said."""
    if len(tellings) == 1:  # nearly always
        [only] = tellings
        new = _identity(tellings, only.received_at)
        return [new] if new else []
    said: list[SaleIdentity] = []
    for moment in sorted({each.received_at for each in tellings}):
        new = _identity([each for each in tellings if each.received_at <= moment], moment)
        last = said[-1] if said and said[-1].replaced_at is None else None
        if last and (new is None or new[:3] != last[:3]):
            said[-1] = last._replace(replaced_at=moment)
        if new and (last is None or new[:3] != last[:3]):
            said.append(new)
    return said


def _identity(tellings: Sequence[Telling[VisitT]], received_at: datetime) -> SaleIdentity | None:
    at, _, device_id, customer_id = combine(tellings)
    if device_id is None or customer_id is None:
        return None
    of_device = [each.received_at for each in tellings if each.device_id == device_id]
    # Of a device, only itself and servers may say whose it is.
    of_customer = [
        each.received_at
        for each in tellings
        if each.customer_id == customer_id and (each.is_server or each.device_id == device_id)
    ]
    if not of_customer:
        return None
    told_at = max(min(of_device), min(of_customer))
    return SaleIdentity(device_id, customer_id, at, told_at, received_at)
