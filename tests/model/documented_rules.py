"""The rules of credit, as the documents have them and nothing else: lists, and functions that read them.

Nothing here is the service's. Whoever changes a rule changes its document, and then this.

| rule | document, section |
|---|---|
| whose a touch is, whose a sale is, models, as_of, take-backs | docs/decisions/credit.md |
| an identity that arrives late, or out of order | docs/decisions/late-identities.md |
| orders told twice, by browsers and servers | docs/decisions/told-by-servers.md, "Told twice" |
| whose visit a named click is; one visit told twice | docs/decisions/click-ids.md, "Told by servers" |
| times of browsers | docs/ingest.md, "When", and docs/decisions/browser-clocks.md |
| refunds | docs/decisions/refunds.md |
| amounts and their decimal places | docs/decisions/money.md |
| once for ever | docs/ingest.md, "Once" |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Literal

from tests.model.history import DAY, Fact, History, Kind, Telling

DECIMAL_PLACES = {"EUR": 2, "JPY": 0, "KWD": 3}
BELIEVED = 8 * DAY  # how long before it was sent a browser's call may have happened

Model = Literal["last_non_direct", "last", "first", "linear", "position_based"]
Credit = Literal["device", "customer"]


@dataclass(frozen=True, slots=True)
class Rules:
    """Which touches get the credit, as a reader of reports asks for it."""

    credit: Credit = "device"
    model: Model = "last_non_direct"
    lookback_days: int | None = None
    as_of: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """What a visit came from: a link, or what its address said, or both."""

    link: str | None
    campaign: str | None
    has_ad: bool


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit, and whose it is: a device's, else a customer's, else that of one sale or lead."""

    at: int
    source: Source | None  # None: a direct visit
    is_browsers: bool
    click: str | None = None
    device: str | None = None
    customer: str | None = None
    record: str | None = None


@dataclass(slots=True)
class Identity:
    """That a device is a customer's from a time on."""

    at: int
    device: str
    customer: str
    is_taken_back: bool = False


@dataclass(slots=True)
class Record:
    """A sale or a lead, with what its tellings knew."""

    kind: Kind
    key: str
    at: int
    device: str | None
    customer: str | None
    amount: Decimal = Decimal(0)
    currency: str = ""
    clicks: list[str] = field(default_factory=list)
    refunds: list[Decimal] = field(default_factory=list)


@dataclass(slots=True)
class Known:
    """What was known at some moment."""

    clicks: dict[str, Fact] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    records: dict[str, Record] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    refunds: set[str] = field(default_factory=set)
    # What the service must answer to tellings that may be refused, by the fact's id.
    outcomes: dict[str, str] = field(default_factory=dict)


def known(history: History, as_of: int | None = None) -> Known:
    """What had been told before a moment (credit.md, "As it stood")."""
    found = Known()
    for telling in sorted(history.tellings, key=lambda each: each.told):
        if as_of is None or telling.told < as_of:
            for fact in telling.facts:
                _learn(found, telling, fact)
    return found


def _learn(found: Known, telling: Telling, fact: Fact) -> None:
    """Add a fact; one whose call was told before adds nothing (ingest.md, "Once")."""
    if fact.id in found.told and fact.kind != "refund":  # a refund has no call_id
        return
    found.told.add(fact.id)
    at = counts_at(telling, fact)
    if fact.kind == "click":
        found.clicks[fact.id] = fact
    elif fact.kind == "visit":
        found.visits.append(Visit(at, _source(fact), is_browsers=True, click=fact.click, device=fact.device))
    elif fact.kind == "identity":
        _learn_identity(found, at, fact.device, fact.customer)
        _learn_click(found, fact, None)
    elif fact.kind in {"sale", "lead"}:
        _learn_record(found, at, fact)
    elif fact.kind == "refund":
        found.outcomes[fact.id] = _learn_refund(found, fact)
    else:
        found.outcomes[fact.id] = _take_back(found, fact)


def counts_at(telling: Telling, fact: Fact) -> int:
    """When a fact counts. A browser's time that can't be believed is when it was sent (browser-clocks.md)."""
    if telling.by == "browser" and not 0 <= telling.told - fact.at <= BELIEVED:
        return telling.told
    return fact.at


def _source(visit: Fact) -> Source | None:
    if visit.link is None and visit.campaign is None and not visit.has_ad:
        return None
    return Source(visit.link, visit.campaign, visit.has_ad)


def _learn_identity(found: Known, at: int, device: str | None, customer: str | None) -> None:
    if device is not None and customer is not None:
        found.identities.append(Identity(at, device, customer))


def _learn_click(found: Known, fact: Fact, record: str | None) -> None:
    """A click that a server names is a visit at the click's time (click-ids.md, "Told by servers")."""
    if fact.click is None:
        return
    click = found.clicks[fact.click]
    device = fact.device
    customer = fact.customer if device is None else None
    found.visits.append(
        Visit(
            click.at,
            Source(click.link, None, has_ad=False),
            is_browsers=False,
            click=fact.click,
            device=device,
            customer=customer,
            record=record if device is None and customer is None else None,
        )
    )


def _learn_record(found: Known, at: int, fact: Fact) -> None:
    """The first telling of an order counts; a later one adds what is lacking (told-by-servers.md)."""
    key = fact.key or fact.id
    record = found.records.get(key)
    if record is None:
        record = found.records[key] = Record(fact.kind, key, at, fact.device, fact.customer)
        if fact.amount is not None and fact.currency is not None:
            record.amount, record.currency = rounded(fact.amount, fact.currency), fact.currency
        brings_together = True
    else:
        brings_device = record.device is None and fact.device is not None
        brings_customer = record.customer is None and fact.customer is not None
        brings_together = brings_device or brings_customer or (fact.device is not None and fact.customer is not None)
        if brings_device:
            record.device, record.at = fact.device, at
        if brings_customer:
            record.customer = fact.customer
    if fact.click is not None:
        record.clicks.append(fact.click)
        _learn_click(found, fact, key)
    # "Where an order brings a device and a customer together, the device is identified as that customer's."
    if brings_together:
        _learn_identity(found, record.at, record.device, record.customer)


def rounded(amount: Decimal, currency: str) -> Decimal:
    """An amount in its currency's decimal places, a half to the even digit (money.md)."""
    return amount.quantize(Decimal(1).scaleb(-DECIMAL_PLACES[currency]), ROUND_HALF_EVEN)


def _learn_refund(found: Known, fact: Fact) -> str:
    """A refund counts once, in its sale's currency, and never beyond what is left (refunds.md)."""
    assert fact.amount is not None and fact.currency is not None and fact.refund is not None
    if fact.refund in found.refunds:
        return "duplicate"
    sale = found.records.get(fact.key or "")
    if sale is None or sale.currency != fact.currency:
        return "rejected"
    amount = rounded(fact.amount, fact.currency)
    if not 0 < amount <= sale.amount - sum(sale.refunds):
        return "rejected"
    found.refunds.add(fact.refund)
    sale.refunds.append(amount)
    return "accepted"


def _take_back(found: Known, fact: Fact) -> str:
    """What was told so far of a device and a customer counts as if it had not been said (credit.md)."""
    wrong = [
        each for each in found.identities
        if (each.device, each.customer, each.is_taken_back) == (fact.device, fact.customer, False)
    ]  # fmt: skip
    for each in wrong:
        each.is_taken_back = True
    return "accepted" if wrong else "rejected"


def owner(found: Known, device: str, at: int) -> str | None:
    """Whose a device is: who it was last identified as, and before that its first customer (credit.md)."""
    identities = sorted(
        (each for each in found.identities if each.device == device and not each.is_taken_back),
        key=lambda each: each.at,
    )
    until = [each for each in identities if each.at <= at]
    if until:
        return until[-1].customer
    return identities[0].customer if identities else None


def customer_of(found: Known, record: Record) -> str | None:
    """Whose a sale is: whom it was told of, or whoever its device was (credit.md, "Whose a touch is")."""
    told = record.customer
    if told is not None and not _is_taken_back(found, record.device, told):
        return told
    return None if record.device is None else owner(found, record.device, record.at)


def _is_taken_back(found: Known, device: str | None, customer: str) -> bool:
    """Whether a device was said to be a customer's, and all of that was taken back."""
    said = [each for each in found.identities if (each.device, each.customer) == (device, customer)]
    return bool(said) and all(each.is_taken_back for each in said)


def touches(found: Known, record: Record, rules: Rules) -> list[Visit]:
    """The visits that may get the credit for a sale or lead, oldest first."""
    customer = customer_of(found, record)
    if rules.credit == "customer" and customer is not None:
        own = [each for each in found.visits if _customer_of_visit(found, each) == customer]
    else:
        own = [each for each in found.visits if each.device is not None and each.device == record.device]
    named = [each for each in found.visits if each.click in record.clicks and _is_of_no_browser(each)]
    visits = _each_once([*own, *(each for each in named if each not in own)])
    earliest = None if rules.lookback_days is None else record.at - rules.lookback_days * DAY
    counted = [
        each for each in visits if each.at <= record.at and (earliest is None or each.at >= earliest)
    ]
    return sorted(counted, key=lambda each: each.at)


def _is_of_no_browser(visit: Visit) -> bool:
    """Whether a server named the click without a device: then its sale knows it, whoever else does."""
    return visit.device is None


def _customer_of_visit(found: Known, visit: Visit) -> str | None:
    return visit.customer if visit.device is None else owner(found, visit.device, visit.at)


def _each_once(visits: list[Visit]) -> list[Visit]:
    """A visit told by a browser and a server, or by two sales, is one: the browser's if there is one."""
    kept: list[Visit] = []
    for visit in sorted(visits, key=lambda each: not each.is_browsers):
        is_known = visit.click is not None and any(each.click == visit.click for each in kept)
        if not is_known or visit.is_browsers:
            kept.append(visit)
    return kept


def shares(found: Known, record: Record, rules: Rules) -> list[tuple[Source | None, Fraction]]:
    """What each touch gets, in parts of one; None is nobody (credit.md, "Models")."""
    visits = touches(found, record, rules)
    if rules.model == "last":
        return [(visits[-1].source if visits else None, Fraction(1))]
    sources = [each.source for each in visits if each.source is not None]
    if not sources:
        return [(None, Fraction(1))]
    return list(zip(sources, _parts(len(sources), rules.model), strict=True))


def _parts(count: int, model: Model) -> list[Fraction]:
    if model == "linear":
        return [Fraction(1, count)] * count
    if model == "position_based" and count > 2:
        between = [Fraction(1, 5) / (count - 2)] * (count - 2)
        return [Fraction(2, 5), *between, Fraction(2, 5)]
    if model == "position_based":  # nobody stands between
        return [Fraction(1, count)] * count
    whose = 0 if model == "first" else count - 1
    return [Fraction(int(place == whose)) for place in range(count)]
