"""Refunds of sales: what was paid back, each once, and never more than was paid."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from backend.domain.errors import FieldError, InvalidField, MissingField, collect_errors, raise_all
from backend.domain.fields import money
from backend.domain.fields.rules import Rule, parse_fields
from backend.domain.ids import OrgId
from backend.domain.sales.decisions import Status
from backend.domain.visitors.call_fields import Amount, CallText, CurrencyCode, notes_of
from backend.domain.visitors.call_texts import is_blank
from backend.domain.visitors.calls import ID_LENGTH
from backend.domain.visitors.server_calls import Teller, UnknownField, ZonedTime, told_at

# A sale's refunds are kept in its own document.
MOST_REFUNDS = 1_000
RULES: dict[str, Rule[Any]] = {
    "refund_id": CallText(ID_LENGTH),
    "transaction_id": CallText(ID_LENGTH),
    "amount": Amount(),
    "currency": CurrencyCode(),
    "occurred_at": ZonedTime(),
}
REQUIRED = ("refund_id", "transaction_id", "amount", "currency")

# An organization and a transaction_id.
SaleKey = tuple[OrgId, str]
# An organization, "refund", and the refund_id under which it counts once.
RefundKey = tuple[OrgId, str, str]


class SaleUnknown(InvalidField):
    """The refund is of a sale that is not known: it may be told again once that sale is."""

    def __init__(self) -> None:
        super().__init__("transaction_id", "is not of a sale that is known; tell the sale first")


@dataclass(frozen=True, slots=True)
class Refund:
    """What was paid back of a sale, in the sale's currency."""

    refund_id: str
    amount: Decimal
    at: datetime
    received_at: datetime


@dataclass(frozen=True, slots=True)
class ToldRefund:
    """A refund that a server tells. `notes` say what was rounded."""

    org_id: OrgId
    transaction_id: str
    currency: str
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


@dataclass(frozen=True, slots=True)
class PaidSale:
    """What was paid for a sale, and what of it was paid back."""

    currency: str
    revenue: Decimal
    refunds: tuple[Refund, ...] = ()

    @property
    def refundable(self) -> Decimal:
        """What can still be paid back."""
        return self.revenue - sum((refund.amount for refund in self.refunds), Decimal())


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
    counted: dict[RefundKey, datetime] = field(default_factory=dict)


def parse_refund(value: object, teller: Teller) -> ToldRefund:
    """One refund of a server. Raises MissingField or InvalidField, with the errors of all fields."""
    if not isinstance(value, dict):
        raise InvalidField("items", "must hold JSON objects")
    fields = {name: item for name, item in value.items() if not is_blank(item)}
    errors: list[FieldError] = [UnknownField(name) for name in fields if name not in RULES]
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
    refund = Refund(parsed["refund_id"], amount, at, teller.now)
    return ToldRefund(teller.org_id, parsed["transaction_id"], currency, refund, tuple(notes))


def _amount(parsed: Mapping[str, Any]) -> Decimal:
    """The amount in the decimals of its currency, as far as both could be read. Raises InvalidField."""
    if not {"amount", "currency"} <= parsed.keys():
        return Decimal()
    amount = money.rounded(parsed["amount"], parsed["currency"])
    if not amount:
        raise InvalidField("amount", f"must be more than 0 in the decimals of {parsed['currency']}")
    return amount


def decide_refunds(
    told_refunds: Sequence[ToldRefund], sales: Mapping[SaleKey, PaidSale], counted: Collection[RefundKey]
) -> RefundDecisions:
    """Decide about refunds in order of arrival.

    `sales` are those that they are of, as far as they are known; `counted` are ids that counted before.
    """
    decisions, sales = RefundDecisions(), dict(sales)
    for told_refund in told_refunds:
        sale = sales.get(told_refund.sale_key)
        if told_refund.key in counted or told_refund.key in decisions.counted:
            decisions.results.append(_duplicate(told_refund, sale))
            continue
        try:
            sales[told_refund.sale_key] = _refunded(told_refund, sale)
        except InvalidField as error:
            decisions.results.append(RefundResult(None, error))
            continue
        decisions.counted[told_refund.key] = told_refund.refund.received_at
        decisions.added.setdefault(told_refund.sale_key, []).append(told_refund.refund)
        decisions.results.append(RefundResult(Status.ACCEPTED, notes=told_refund.notes))
    return decisions


def _refunded(told_refund: ToldRefund, sale: PaidSale | None) -> PaidSale:
    """The sale with this refund. Raises InvalidField."""
    if sale is None:
        raise SaleUnknown
    if told_refund.currency != sale.currency:
        raise InvalidField("currency", f"must be {sale.currency}, as the sale's")
    if told_refund.refund.amount > sale.refundable:
        raise InvalidField(
            "amount", f"must be at most {sale.refundable} {sale.currency}, what is left of the sale"
        )
    if len(sale.refunds) >= MOST_REFUNDS:
        raise InvalidField("transaction_id", f"has {MOST_REFUNDS:,} refunds, and can't have more")
    return replace(sale, refunds=(*sale.refunds, told_refund.refund))


def _duplicate(told_refund: ToldRefund, sale: PaidSale | None) -> RefundResult:
    refunds = {refund.refund_id: refund for refund in sale.refunds} if sale else {}
    first = refunds.get(told_refund.refund.refund_id)
    differs = () if first is None or first.amount == told_refund.refund.amount else ("amount",)
    notes = tuple(f"{name} differs from what was told first, which stays" for name in differs)
    return RefundResult(Status.DUPLICATE, notes=notes)
