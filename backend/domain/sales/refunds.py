"""Refunds of sales: what was paid back, each once, and never more than was paid."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from backend.domain.errors import (
    FieldError,
    InvalidField,
    MissingField,
    collect_errors,
    raise_all,
    unknown_names,
)
from backend.domain.fields import money
from backend.domain.fields.money import in_units
from backend.domain.fields.rules import Rule, parse_fields
from backend.domain.ids import OrgId
from backend.domain.sales.decisions import Status
from backend.domain.sales.told_facts import RefundFact
from backend.domain.visitors.call_fields import Amount, CurrencyCode, FilledId, notes_of
from backend.domain.visitors.call_texts import is_blank
from backend.domain.visitors.calls import ID_LENGTH, Kind
from backend.domain.visitors.server_calls import Teller, UnknownField, ZonedTime, told_at

# A sale's refunds are kept in its own document.
MOST_REFUNDS = 1_000
RULES: dict[str, Rule[Any]] = {
    "refund_id": FilledId(ID_LENGTH),
    "transaction_id": FilledId(ID_LENGTH),
    "amount": Amount(),
    "currency": CurrencyCode(),
    "occurred_at": ZonedTime(),
}
REQUIRED = ("refund_id", "transaction_id", "amount", "currency")

# An organization and a transaction_id.
SaleKey = tuple[OrgId, str]
# An organization, "refund", and the refund_id under which it counts once.
RefundKey = tuple[OrgId, str, str]


# An organization, "conversion", and the transaction_id under which a sale counts once.
SaleMark = tuple[OrgId, str, str]


class SaleUnknown(InvalidField):
    """The refund is of a sale that is not known: it may be told again once that sale is."""

    def __init__(self) -> None:
        super().__init__("transaction_id", "is not of a sale that is known; tell the sale first")


@dataclass(frozen=True, slots=True)
class Refund:
    """What was paid back of a sale, in the currency that the sale had when it was told."""

    refund_id: str
    amount: Decimal
    currency: str
    at: datetime
    received_at: datetime

    def fact(self, currency: str, digits: int) -> RefundFact:
        """What counts of it for a sale with this currency, in units of so many decimals."""
        amount = in_units(self.amount, digits) if self.currency == currency else 0
        return RefundFact(self.received_at, amount, self.at)


@dataclass(frozen=True, slots=True)
class ToldRefund:
    """A refund that a server tells. `notes` say what was rounded."""

    org_id: OrgId
    transaction_id: str
    refund: Refund
    notes: tuple[str, ...] = ()

    @property
    def sale_key(self) -> SaleKey:
        """Which sale it is of."""
        return self.org_id, self.transaction_id

    @property
    def key(self) -> RefundKey:
        """The organization's key of the refund: what is told again with the same one does not count."""
        return self.org_id, "refund", self.refund.refund_id

    @property
    def sale_mark(self) -> SaleMark:
        """The key by which it is known for ever whether the sale was counted."""
        return mark_of(self.sale_key)


def mark_of(sale: SaleKey) -> SaleMark:
    """The key by which it is known for ever whether a sale was counted."""
    org_id, transaction_id = sale
    return org_id, Kind.CONVERSION.value, transaction_id


@dataclass(frozen=True, slots=True)
class PaidSale:
    """What was paid for a sale and when, and what of it was paid back.

    `is_of_browsers` says that only browsers told what was paid: a server may still tell it otherwise.
    """

    currency: str
    revenue: Decimal
    at: datetime
    refunds: tuple[Refund, ...] = ()
    is_of_browsers: bool = False

    @property
    def refundable(self) -> Decimal:
        """What can still be paid back."""
        return self.revenue - refunded(self.refunds, self.currency, self.revenue)


@dataclass(frozen=True, slots=True)
class RefundResult:
    """What became of a refund: accepted, a duplicate, or rejected with an error."""

    status: Status | None
    error: FieldError | None = None
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class RefundDecisions:
    """A result for each refund, the refunds that each sale gets, and the ids to mark as counted."""

    results: list[RefundResult] = field(default_factory=list)
    added: dict[SaleKey, list[Refund]] = field(default_factory=dict)
    counted: dict[RefundKey, ToldRefund] = field(default_factory=dict)


def refunded(refunds: Iterable[Refund], currency: str, revenue: Decimal) -> Decimal:
    """What was paid back of a sale with this revenue, in its currency: never more than was paid.

    A refund counts while the sale has the refund's currency. A server may tell another amount or currency
    later than what a browser told, of which something was paid back.
    """
    paid_back = (refund.amount for refund in refunds if refund.currency == currency)
    return min(sum(paid_back, Decimal()), revenue)


def parse_refund(value: object, teller: Teller) -> ToldRefund:
    """One refund of a server. Raises MissingField or InvalidField, with the errors of all fields."""
    if not isinstance(value, dict):
        raise InvalidField("items", "must hold JSON objects")
    fields = {name: item for name, item in value.items() if not is_blank(item)}
    errors: list[FieldError] = [UnknownField(name) for name in unknown_names(fields, RULES)]
    errors += [MissingField(name) for name in REQUIRED if name not in fields]
    parsed = parse_fields(RULES, fields, errors)
    with collect_errors(errors):
        at = told_at(parsed, teller)
    with collect_errors(errors):
        amount = _amount(parsed)
    raise_all(errors)
    currency = parsed["currency"]
    notes = notes_of(RULES, fields)
    if amount != parsed["amount"]:
        notes.append(f"amount was rounded to {amount} {currency}")
    refund = Refund(parsed["refund_id"], amount, currency, at, teller.now)
    return ToldRefund(teller.org_id, parsed["transaction_id"], refund, tuple(notes))


def _amount(parsed: Mapping[str, Any]) -> Decimal:
    """The amount in the decimals of its currency, as far as both could be read. Raises InvalidField."""
    if not {"amount", "currency"} <= parsed.keys():
        return Decimal()
    amount = money.rounded(parsed["amount"], parsed["currency"])
    if not amount:
        raise InvalidField("amount", f"must be more than 0 in the decimals of {parsed['currency']}")
    return amount


def decide_refunds(
    told_refunds: Sequence[ToldRefund],
    sales: Mapping[SaleKey, PaidSale],
    counted: Collection[RefundKey],
    *,
    of_sale: Collection[tuple[RefundKey, SaleKey]] = (),
    gone: Collection[SaleKey] = (),
) -> RefundDecisions:
    """Decide about refunds in order of arrival.

    `sales` are those that they are of, as far as they are known. `gone` are those that were counted once, and
    are not there any more. `counted` are ids that counted before, and `of_sale` those of them that counted
    for the very sale that is named now.
    """
    decisions, sales = RefundDecisions(), dict(sales)
    for told_refund in told_refunds:
        key, sale_key = told_refund.key, told_refund.sale_key
        sale = sales.get(sale_key)
        try:
            if earlier := decisions.counted.get(key):
                decisions.results.append(_duplicate(told_refund, sale, is_same=earlier.sale_key == sale_key))
                continue
            if key in counted:
                decisions.results.append(_duplicate(told_refund, sale, is_same=(key, sale_key) in of_sale))
                continue
            sales[sale_key] = _refunded(told_refund, sale, is_gone=sale_key in gone)
        except InvalidField as error:
            decisions.results.append(RefundResult(None, error))
            continue
        decisions.counted[key] = told_refund
        decisions.added.setdefault(sale_key, []).append(told_refund.refund)
        notes = (*told_refund.notes, *_notes(told_refund.refund, sales[sale_key]))
        decisions.results.append(RefundResult(Status.ACCEPTED, notes=notes))
    return decisions


def _refunded(told_refund: ToldRefund, sale: PaidSale | None, *, is_gone: bool) -> PaidSale:
    """The sale with this refund. Raises InvalidField."""
    if sale is None:
        raise _gone() if is_gone else SaleUnknown()
    refund, currency = told_refund.refund, sale.currency
    if refund.currency != currency:
        raise InvalidField("currency", f"must be {currency}, as {_source(sale)}")
    if refund.amount > sale.refundable:
        left = f"what is left of {_source(sale)}" if sale.is_of_browsers else "what is left of the sale"
        raise InvalidField("amount", f"must be at most {sale.refundable} {currency}, {left}")
    if len(sale.refunds) >= MOST_REFUNDS:
        raise InvalidField("transaction_id", f"has {MOST_REFUNDS:,} refunds, and can't have more")
    return replace(sale, refunds=(*sale.refunds, refund))


def _gone() -> InvalidField:
    rule = "is of a sale that was erased or has expired: its refunds are not kept, and need not be sent again"
    return InvalidField("transaction_id", rule)


def _source(sale: PaidSale) -> str:
    if sale.is_of_browsers:
        return "the sale that a browser told; if it is wrong, tell the sale from your server first"
    return "the sale's"


def _notes(refund: Refund, sale: PaidSale) -> Iterator[str]:
    if refund.at < sale.at:
        yield f"occurred_at is before the sale, which was at {sale.at:%Y-%m-%dT%H:%M:%SZ}"


def _duplicate(told_refund: ToldRefund, sale: PaidSale | None, *, is_same: bool) -> RefundResult:
    """The result of a refund whose id was counted before. Raises InvalidField if it was for another sale."""
    if not is_same:
        rule = "belongs to a refund of another transaction; each refund of yours needs an id of its own"
        raise InvalidField("refund_id", rule)
    refunds = {refund.refund_id: refund for refund in sale.refunds} if sale else {}
    first = refunds.get(told_refund.refund.refund_id)
    differing = [
        name
        for name in ("amount", "currency")
        if first is not None and getattr(first, name) != getattr(told_refund.refund, name)
    ]
    notes = tuple(f"{name} differs from what was told first, which stays" for name in differing)
    return RefundResult(Status.DUPLICATE, notes=notes)
