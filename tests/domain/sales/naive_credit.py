"""A naive model of credit: looks at every visit of every device for every sale, and uses exact fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from backend.domain.ids import CustomerId
from backend.domain.sales.credit_rules import CreditRules, CreditTo, Model
from backend.domain.sales.histories import SaleFacts
from backend.domain.visitors.attribution import Device, Touch


@dataclass(frozen=True)
class Expected:
    """Whose a sale is, and the exact part that each touch gets; None: it was not told yet."""

    customer_id: CustomerId | None
    parts: list[tuple[Touch | None, Fraction]] | None


def expect(sale: SaleFacts[Touch], devices: Sequence[Device], rules: CreditRules) -> Expected:
    """What the rules give, said as slowly and plainly as can be."""
    now = rules.as_of

    def told(at: datetime, received_at: datetime | None) -> bool:
        return now is None or (at if received_at is None else received_at) < now

    def identities(device: Device) -> list[tuple[datetime, CustomerId]]:
        found = []
        for each in device.customers:
            gone = each.taken_back_at is not None and (now is None or each.taken_back_at < now)
            if told(each.at, each.received_at) and not gone:
                found.append((each.at, each.customer_id))
        return found

    def user(device: Device, at: datetime) -> CustomerId | None:
        found = identities(device)
        before = [customer for since, customer in found if since <= at]
        if before:
            return before[-1]
        return found[0][1] if found else None

    own = next((each for each in devices if each.id == sale.device_id), None)
    customer = sale.customer_id
    if own and customer is not None:
        said = [each for each in own.customers if each.customer_id == customer]
        gone = any(
            each.taken_back_at is not None and (now is None or each.taken_back_at < now) for each in said
        )
        if gone and customer not in {name for _, name in identities(own)}:
            customer = None
    if own and customer is None:
        customer = user(own, sale.at)
    if not told(sale.at, sale.received_at):
        return Expected(customer, None)

    visits: list[tuple[datetime, int, str, int, Touch | None]] = []
    by_customer = rules.to is CreditTo.CUSTOMER and customer is not None
    for device in devices:
        for number, visit in enumerate(_visits(device, sale if device is own else None, told)):
            at, touch = visit
            owner = user(device, at)
            is_theirs = owner == customer or (device is own and owner is None)
            if is_theirs if by_customer else device is own:
                visits.append((at, 0 if touch is None else 1, device.id, number, touch))
    for _, _, named, *_ in sale.visits:
        assert named is not None
        if told(named.at, named.received_at) and named not in [each[4] for each in visits]:
            visits.append((named.at, 1, "", named.click_mark or 0, named))
    path = [each for each in sorted(visits, key=lambda each: each[:4]) if each[0] <= sale.at]
    path = _each_click_once(path)
    days = rules.lookback_days
    in_time = [each[4] for each in path if days is None or sale.at - each[0] <= timedelta(days=days)]
    return Expected(customer, _parts(in_time, rules.model))


def _each_click_once(
    path: list[tuple[datetime, int, str, int, Touch | None]],
) -> list[tuple[datetime, int, str, int, Touch | None]]:
    """Without named visits of clicks that a browser told of, and of other clicks only the first."""
    kept = []
    for number, each in enumerate(path):
        touch = each[4]
        others = [other[4] for other in path if other[4] is not None and touch is not None
                  and other[4].is_same_click(touch)]  # fmt: skip
        if touch is not None and touch.is_named:
            if any(not other.is_named for other in others):
                continue
            before = [other[4] for other in path[:number] if other[4] is not None]
            if any(other.is_same_click(touch) for other in before):
                continue
        kept.append(each)
    return kept


def _visits(
    device: Device, sale: SaleFacts[Touch] | None, told: object
) -> Iterable[tuple[datetime, Touch | None]]:
    assert callable(told)
    moments = set()
    if device.first_touch is not None and device.first_touch not in device.touches:
        if told(device.first_touch.at, device.first_touch.received_at):
            moments.add(device.first_touch.at)
            copied = device.first_touch
        else:
            copied = None
    else:
        copied = None
    listed = [each for each in device.touches if told(each.at, each.received_at)]
    moments |= {each.at for each in listed}
    for _, _, touch, *_ in sale.copies if sale else ():
        assert touch is not None
        if touch.at not in moments and told(touch.at, touch.received_at):
            moments.add(touch.at)
            yield touch.at, touch
    for visit in device.direct_visits:
        if told(visit.at, visit.received_at):
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
    touches = [each for each in visits if each is not None]
    if not touches:
        return nothing
    count = len(touches)
    if model is Model.LAST_NON_DIRECT:
        return [(touches[-1], Fraction(1))]
    if model is Model.FIRST:
        return [(touches[0], Fraction(1))]
    if model is Model.LINEAR or count < 3:
        return [(each, Fraction(1, count)) for each in touches]
    middle = [(each, Fraction(1, 5) / (count - 2)) for each in touches[1:-1]]
    return [(touches[0], Fraction(2, 5)), *middle, (touches[-1], Fraction(2, 5))]
