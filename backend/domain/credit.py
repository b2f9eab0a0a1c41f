"""Credit: which touches of a device, or of all devices of a customer, a lead or a sale is credited to.

Facts come in as they were told, and nothing is joined for good: the same facts give other credit by other
rules, or as they stood at an earlier time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Generic, NamedTuple

from backend.domain.attribution import Device, Touch
from backend.domain.credit_rules import CreditRules, Model
from backend.domain.histories import Histories, History, OrderedVisit, SaleFacts, SourceT
from backend.domain.ids import CustomerId

# What one lead or conversion is divided into.
PARTS = 1_000_000


class CreditShare(NamedTuple, Generic[SourceT]):
    """What a touch gets of a sale: so many millionths of it, and of its amount and refunds.

    Without a touch, it is what no touch gets.
    """

    touch: SourceT | None
    parts: int
    amount: int
    refunded: int


class Credited(NamedTuple, Generic[SourceT]):
    """Whose a sale is, and what each touch gets of it, oldest first. No shares: it had not been told yet."""

    customer_id: CustomerId | None
    shares: Sequence[CreditShare[SourceT]]


def share_credit(
    sales: Iterable[SaleFacts[Touch]], devices: Iterable[Device], rules: CreditRules
) -> Iterator[Credited[Touch]]:
    """The credit of each of these sales, in their order.

    `devices` are those of the sales and, where credit goes by customer, all of their customers. Parts,
    amounts and refunds of a sale's shares add up to those of the sale.
    """
    return share_by_histories(sales, (History.of_device(each, rules) for each in devices), rules)


def share_by_histories(
    sales: Iterable[SaleFacts[SourceT]], histories: Iterable[History[SourceT]], rules: CreditRules
) -> Iterator[Credited[SourceT]]:
    """As `share_credit`, given what the rules know of these devices."""
    known = Histories(histories, rules)
    for sale in sales:
        customer_id = known.customer_of(sale)
        if not rules.knows(sale.at, sale.received_at):
            yield Credited(customer_id, ())
            continue
        credited = _credited(known.path_of(sale, customer_id), rules.model)
        yield Credited(customer_id, _shares(sale, credited, rules))


def divide(total: int, weights: Sequence[int]) -> list[int]:
    """The total in whole parts by these weights; the rest goes to the largest remainders, earlier first."""
    if len(set(weights)) == 1:
        part, rest = divmod(total, len(weights))
        return [part + 1] * rest + [part] * (len(weights) - rest)
    whole = sum(weights)
    parts = [total * weight // whole for weight in weights]
    by_remainder = sorted(range(len(weights)), key=lambda each: -(total * weights[each] % whole))
    for each in by_remainder[: total - sum(parts)]:
        parts[each] += 1
    return parts


def _credited(path: Sequence[OrderedVisit[SourceT]], model: Model) -> list[SourceT | None]:
    """What gets credit by the model. There is always something: None, for what no touch gets."""
    if model is Model.LAST:
        return [path[-1][4] if path else None]
    touches = [each[4] for each in path if each[1]]
    if model is Model.LAST_NON_DIRECT:
        touches = touches[-1:]
    elif model is Model.FIRST:
        touches = touches[:1]
    return touches or [None]


@lru_cache
def _weights(model: Model, count: int) -> Sequence[int]:
    """The weights of so many touches that get credit."""
    between = count - 2
    if model is not Model.POSITION_BASED or between < 1:
        return (1,) * count
    return (2 * between, *(1,) * between, 2 * between)


@lru_cache
def _parts(model: Model, count: int) -> Sequence[int]:
    """What each of so many touches gets of one lead or conversion."""
    return divide(PARTS, _weights(model, count))


def _shares(
    sale: SaleFacts[SourceT], credited: Sequence[SourceT | None], rules: CreditRules
) -> list[CreditShare[SourceT]]:
    count = len(credited)
    if count == 1:
        back = sum(each.amount for each in sale.refunds if rules.knows(each.received_at, None))
        return [CreditShare(credited[0], PARTS, sale.amount, back)]
    amounts = divide(sale.amount, _weights(rules.model, count))
    refunded = _refunded(sale, amounts, rules) if sale.refunds else [0] * count
    parts = _parts(rules.model, count)
    return [CreditShare(*each) for each in zip(credited, parts, amounts, refunded, strict=True)]


def _refunded(sale: SaleFacts[SourceT], amounts: Sequence[int], rules: CreditRules) -> list[int]:
    """What was paid back of each of these shares of a sale."""
    refunded = [0] * len(amounts)
    for refund in sorted(sale.refunds, key=lambda each: each.received_at):
        if rules.knows(refund.received_at, None):
            # By what is left of each share: so no touch loses more than it got, and all of it in the end.
            left = [amount - back for amount, back in zip(amounts, refunded, strict=True)]
            back = divide(refund.amount, left) if sum(left) else [0] * len(left)
            refunded = [one + other for one, other in zip(refunded, back, strict=True)]
    return refunded
