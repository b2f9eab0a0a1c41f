"""A naive model of credit: looks at every visit of every device for every sale, and uses exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from backend.domain.ids import CustomerId
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.told_facts import SaleFacts
from backend.domain.visitors.attribution import Device, Touch


@dataclass(frozen=True)
class Expected:
    """Whose a sale is, and the exact part that each touch gets; None: it was not told yet."""

    customer_id: CustomerId | None
    parts: list[tuple[Touch | None, Fraction]] | None


def expect(sale: SaleFacts[Touch], devices: Sequence[Device], rules: CreditRules) -> Expected:
    """What the rules give, said as slowly and plainly as can be."""
    now = rules.as_of

    def was_told(at: datetime, received_at: datetime | None) -> bool:
        return now is None or (at if received_at is None else received_at) < now

    def identities(device: Device) -> list[tuple[datetime, CustomerId | None]]:
        standing = []
        for identity in device.customers:
            gone = identity.taken_back_at is not None and (now is None or identity.taken_back_at < now)
            if was_told(identity.at, identity.received_at) and not gone:
                standing.append((identity.at, identity.customer_id))
        return standing

    def user(device: Device, at: datetime) -> CustomerId | None:
        standing = identities(device)
        before = [customer for since, customer in standing if since <= at]
        if before:
            return before[-1]
        return standing[0][1] if standing else None

    sale_device = next((device for device in devices if device.id == sale.device_id), None)
    customer = sale.customer_id
    if sale_device and customer is not None:
        named_identities = [
            identity for identity in sale_device.customers if identity.customer_id == customer
        ]
        gone = any(
            identity.taken_back_at is not None and (now is None or identity.taken_back_at < now)
            for identity in named_identities
        )
        if gone and customer not in {name for _, name in identities(sale_device)}:
            customer = None
    if sale_device and customer is None:
        customer = user(sale_device, sale.at)
    if not was_told(sale.at, sale.received_at):
        return Expected(customer, None)

    visits: list[tuple[datetime, int, str, int, Touch | None]] = []
    by_customer = rules.to is CreditTo.CUSTOMER and customer is not None
    for device in devices:
        for number, visit in enumerate(_visits(device, sale if device is sale_device else None, was_told)):
            at, touch = visit
            owner = user(device, at)
            is_theirs = owner == customer or (device is sale_device and not identities(device))
            if is_theirs if by_customer else device is sale_device:
                visits.append((at, 0 if touch is None else 1, device.id, number, touch))
    for _, _, named, *_ in sale.visits:
        assert named is not None
        if was_told(named.at, named.received_at) and named not in [entry[4] for entry in visits]:
            visits.append((named.at, 1, "", named.click_mark or 0, named))
    path = [entry for entry in sorted(visits, key=lambda entry: entry[:4]) if entry[0] <= sale.at]
    path = _each_click_once(path)
    days = rules.lookback_days
    in_time = [entry[4] for entry in path if days is None or sale.at - entry[0] <= timedelta(days=days)]
    return Expected(customer, _parts(in_time, rules.model))


def _each_click_once(
    path: list[tuple[datetime, int, str, int, Touch | None]],
) -> list[tuple[datetime, int, str, int, Touch | None]]:
    """Without named visits of clicks that a browser told of, and of other clicks only the first."""
    kept = []
    for number, entry in enumerate(path):
        touch = entry[4]
        others = [other[4] for other in path if other[4] is not None and touch is not None
                  and other[4].is_same_click(touch)]  # fmt: skip
        if touch is not None and touch.is_named:
            if any(not other.is_named for other in others):
                continue
            before = [other[4] for other in path[:number] if other[4] is not None]
            if any(other.is_same_click(touch) for other in before):
                continue
        kept.append(entry)
    return kept


def _visits(
    device: Device, sale: SaleFacts[Touch] | None, was_told: object
) -> Iterable[tuple[datetime, Touch | None]]:
    assert callable(was_told)
    moments = set()
    if device.first_touch is not None and device.first_touch not in device.touches:
        if was_told(device.first_touch.at, device.first_touch.received_at):
            moments.add(device.first_touch.at)
            copied = device.first_touch
        else:
            copied = None
    else:
        copied = None
    listed = [touch for touch in device.touches if was_told(touch.at, touch.received_at)]
    moments |= {touch.at for touch in listed}
    for _, _, touch, *_ in sale.copies if sale else ():
        assert touch is not None
        if touch.at not in moments and was_told(touch.at, touch.received_at):
            moments.add(touch.at)
            yield touch.at, touch
    for visit in device.direct_visits:
        if was_told(visit.at, visit.received_at):
            yield visit.at, None
    if copied:
        yield copied.at, copied
    for touch in listed:
        yield touch.at, touch


def _parts(  # noqa: PLR0911 - one for each model
    visits: Sequence[Touch | None], model: Model
) -> list[tuple[Touch | None, Fraction]]:
    nothing: list[tuple[Touch | None, Fraction]] = [(None, Fraction(1))]
    if not visits:
        return nothing
    if model is Model.LAST:
        return [(visits[-1], Fraction(1))]
    touches = [visit for visit in visits if visit is not None]
    if not touches:
        return nothing
    count = len(touches)
    if model is Model.LAST_NON_DIRECT:
        return [(touches[-1], Fraction(1))]
    if model is Model.FIRST:
        return [(touches[0], Fraction(1))]
    if model is Model.LINEAR or count < 3:
        return [(touch, Fraction(1, count)) for touch in touches]
    middle = [(touch, Fraction(1, 5) / (count - 2)) for touch in touches[1:-1]]
    return [(touches[0], Fraction(2, 5)), *middle, (touches[-1], Fraction(2, 5))]
