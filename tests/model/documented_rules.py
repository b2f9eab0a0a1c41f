"""The rules of credit, as the documents have them and nothing else: lists, and functions that read them.

Nothing here is the service's. Whoever changes a rule changes its document, and then this.

| rule | document, section |
|---|---|
| what a visit, an identity, a take-back and a sale is | docs/decisions/credit.md, "The facts" |
| whose a device and a sale is | docs/decisions/credit.md, "Whose" |
| which visits count | docs/decisions/credit.md, "Which visits count" |
| who gets the sale | docs/decisions/credit.md, "Models" |
| as_of | docs/decisions/credit.md, "As it stood" |
| when a browser's call counts | docs/ingest.md, "When", and docs/decisions/browser-clocks.md |
| what counts once | docs/ingest.md, "Once" |
| refunds | docs/rest-api.md, "Refund a sale" |
| amounts and their decimal places | docs/decisions/money.md |

"Sale" stands for a lead or a conversion, as it does there; events and identities are credited likewise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from functools import cached_property
from typing import Literal

from tests.model.history import DAY, Fact, History, Telling

DECIMAL_PLACES = {"EUR": 2, "JPY": 0, "KWD": 3, "USD": 2}
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
    campaign: str | None = None
    has_ad: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit of a device; where a server named its click for a sale alone, of no device."""

    at: float
    device: str | None
    source: Source | None  # None: a direct visit
    click: str | None
    is_named: bool  # by a server


@dataclass(frozen=True, slots=True)
class Identity:
    """That a device is a customer's from a time on, and since when the service knows."""

    at: float
    device: str
    customer: str
    told: int


@dataclass(frozen=True, slots=True)
class Told:
    """A fact as it was told: by whom, when, and at which time it counts."""

    fact: Fact
    by_browser: bool
    told: int
    at: float


@dataclass(frozen=True)
class Sale:
    """A conversion or a lead: all tellings of it, the first told first, and its refunds."""

    tellings: Sequence[Told]
    refunds: Sequence[tuple[Decimal, str]]

    @property
    def is_conversion(self) -> bool:
        """Whether it is a conversion, and no lead."""
        return self.tellings[0].fact.kind == "sale"

    @property
    def has_transaction_id(self) -> bool:
        """Whether it is a conversion that can be asked for."""
        return self.is_conversion and self.tellings[0].fact.key is not None

    @property
    def amount(self) -> Decimal:
        """What was paid, in its currency's decimal places."""
        return Decimal(0) if self.paid.amount is None else rounded(self.paid.amount, self.currency)

    @property
    def currency(self) -> str:
        """The currency of what was paid."""
        return self.paid.currency or ""

    @cached_property
    def paid(self) -> Fact:
        """What tells the amount: a server, else the sale's own device, else a browser; the earliest."""
        telling = min(
            self.tellings,
            key=lambda told: (told.by_browser, told.by_browser and told.fact.device != self.device, told.at),
        )
        return telling.fact

    @property
    def refunded(self) -> Decimal:
        """What was paid back in its currency, and at most what was paid."""
        return min(
            sum((part for part, currency in self.refunds if currency == self.currency), Decimal(0)),
            self.amount,
        )

    @cached_property
    def device(self) -> str | None:
        """The device that a server names, else the one that a browser names; the earliest telling's."""
        naming = _servers_first(telling for telling in self.tellings if telling.fact.device is not None)
        return naming[0].fact.device if naming else None

    @cached_property
    def at(self) -> float:
        """The earliest time of the tellings that name its device; of all tellings where none names one."""
        return min(telling.at for telling in self.tellings if telling.fact.device == self.device)

    @cached_property
    def told_customer(self) -> str | None:
        """The customer that a server names, else the sale's own device; the earliest telling's."""
        naming = _servers_first(
            telling
            for telling in self.tellings
            if telling.fact.customer is not None
            and (not telling.by_browser or telling.fact.device == self.device)
        )
        return naming[0].fact.customer if naming else None

    @cached_property
    def clicks(self) -> list[str]:
        """The clicks that servers named for it."""
        return [telling.fact.click for telling in self.tellings if telling.fact.click is not None]

    @cached_property
    def identity(self) -> Identity | None:
        """Its device is its customer's, where a server or that device itself told of the customer."""
        if self.device is None or self.told_customer is None:
            return None
        of_device = [telling.told for telling in self.tellings if telling.fact.device == self.device]
        of_customer = [
            telling.told for telling in self.tellings
            if telling.fact.customer == self.told_customer
            and (not telling.by_browser or telling.fact.device == self.device)
        ]  # fmt: skip
        if not of_customer:
            return None
        return Identity(self.at, self.device, self.told_customer, max(min(of_device), min(of_customer)))


def _servers_first(tellings: Iterable[Told]) -> list[Told]:
    return sorted(tellings, key=lambda telling: (telling.by_browser, telling.at))


@dataclass
class Known:
    """What the service had been told until some moment."""

    clicks: dict[str, Fact] = field(default_factory=dict)
    visits: list[Visit] = field(default_factory=list)
    told_identities: list[Identity] = field(default_factory=list)
    take_backs: list[Told] = field(default_factory=list)
    sales: dict[str, Sale] = field(default_factory=dict)
    events: dict[str, Sale] = field(default_factory=dict)
    ids: set[str] = field(default_factory=set)  # of calls and refunds
    # What the service must answer to refunds and take-backs, by the fact's id.
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def identities(self) -> list[Identity]:
        """All that were told, those of sales included."""
        of_sales = (sale.identity for sale in self.sales.values())
        return [*self.told_identities, *(identity for identity in of_sales if identity is not None)]

    @cached_property
    def holding(self) -> list[Identity]:
        """The identities that were not taken back, the earliest first."""
        return sorted(
            (identity for identity in self.identities if not self.is_taken_back(identity)),
            key=lambda identity: identity.at,
        )

    @property
    def first_identities(self) -> list[Sale]:
        """The earliest of each device and customer that was not taken back, as something to be credited."""
        firsts: dict[tuple[str, str], Identity] = {}
        for identity in self.holding:
            firsts.setdefault((identity.device, identity.customer), identity)
        return [
            Sale(
                [Told(Fact("identity", 0, "", first.device, first.customer), True, first.told, first.at)], []
            )
            for first in firsts.values()
        ]

    def is_taken_back(self, identity: Identity) -> bool:
        """Whether a take-back was told after the identity."""
        return any(
            (back.fact.device, back.fact.customer) == (identity.device, identity.customer)
            and back.told > identity.told
            for back in self.take_backs
        )


def known(history: History, as_of: int | None = None) -> Known:
    """What had been told before a moment, from which all else follows (credit.md, "As it stood")."""
    found = Known()
    for telling in sorted(history.tellings, key=lambda telling: telling.told):
        if as_of is None or telling.told < as_of:
            for place, fact in enumerate(telling.facts):
                by_browser = telling.by == "browser"
                _learn(found, Told(fact, by_browser, telling.told, counts_at(telling, place)))
    return found


def counts_at(telling: Telling, place: int) -> float:
    """When a fact of a telling counts.

    A browser's time that can't be believed is when it was sent; several of one request are a millisecond
    apart (browser-clocks.md, "What").
    """
    at = telling.facts[place].at
    if telling.by == "browser" and not 0 <= telling.told - at <= BELIEVED:
        return telling.told + place / 1000
    return at


def _learn(found: Known, told: Told) -> None:
    fact = told.fact
    if fact.kind == "refund":
        found.outcomes[fact.id] = _learn_refund(found, fact)
        return
    if fact.id in found.ids:  # a call counts once (ingest.md, "Once")
        return
    found.ids.add(fact.id)
    if fact.kind == "click":
        found.clicks[fact.id] = fact
    elif fact.kind == "take_back":
        found.outcomes[fact.id] = _learn_take_back(found, told)
    elif fact.kind == "visit":
        found.visits.append(Visit(told.at, fact.device, _source(fact), fact.click, is_named=False))
    else:
        _learn_named_visit(found, told)
        if fact.kind in {"sale", "lead"}:
            _learn_sale(found, told)
            return
        if fact.kind == "event":
            found.events[fact.id] = Sale([told], [])
        if fact.device is not None and fact.customer is not None:
            found.told_identities.append(Identity(told.at, fact.device, fact.customer, told.told))


def _source(visit: Fact) -> Source | None:
    if visit.link is None and visit.campaign is None and not visit.has_ad:
        return None
    return Source(visit.link, visit.campaign, visit.has_ad)


def _learn_named_visit(found: Known, told: Told) -> None:
    """A click that a server names is a visit of its device, or of an unknown browser of its customer."""
    fact = told.fact
    if fact.click is None:
        return
    click = found.clicks[fact.click]
    device = fact.device
    if device is None and fact.customer is not None:
        device = f"the browser of {fact.click}"
        found.told_identities.append(Identity(told.at, device, fact.customer, told.told))
    visit = Visit(click.at, device, Source(click.link), fact.click, is_named=True)
    if visit not in found.visits:  # visits of one device with the same time and content are one
        found.visits.append(visit)


def _learn_sale(found: Known, told: Told) -> None:
    key = told.fact.key or told.fact.id
    before = found.sales.get(key)
    found.sales[key] = Sale([*before.tellings, told], before.refunds) if before else Sale([told], [])


def _learn_refund(found: Known, fact: Fact) -> str:
    """A refund counts once, in its sale's currency, and never beyond what is left (rest-api.md)."""
    assert fact.amount is not None
    assert fact.currency is not None
    assert fact.refund is not None
    assert fact.key is not None
    if fact.refund in found.ids:
        return "duplicate"
    sale = found.sales.get(fact.key)
    if sale is None or sale.currency != fact.currency:
        return "rejected"
    amount = rounded(fact.amount, fact.currency)
    if not 0 < amount <= sale.amount - sale.refunded:
        return "rejected"
    found.ids.add(fact.refund)
    found.sales[fact.key] = Sale(sale.tellings, [*sale.refunds, (amount, fact.currency)])
    return "accepted"


def _learn_take_back(found: Known, told: Told) -> str:
    """What was told until then of a device and a customer was wrong, if there is anything."""
    pair = (told.fact.device, told.fact.customer)
    wrong = [
        identity for identity in found.identities
        if (identity.device, identity.customer) == pair and not found.is_taken_back(identity)
    ]  # fmt: skip
    if not wrong:  # it changes nothing
        return "rejected"
    found.take_backs.append(told)
    return "accepted"


def rounded(amount: Decimal, currency: str) -> Decimal:
    """An amount in its currency's decimal places, a half to the even digit (money.md)."""
    return amount.quantize(Decimal(1).scaleb(-DECIMAL_PLACES[currency]), ROUND_HALF_EVEN)


def owner(found: Known, device: str | None, at: float) -> str | None:
    """The customer of the device's latest identity at or before a time, else of its first one."""
    identities = [identity for identity in found.holding if identity.device == device]
    until = [identity for identity in identities if identity.at <= at]
    if until:
        return until[-1].customer
    return identities[0].customer if identities else None


def customer_of(found: Known, sale: Sale) -> str | None:
    """Whose a sale is: whom it was told of, unless that was taken back, else whose its device was."""
    told = sale.told_customer
    if told is not None:
        said = [
            identity
            for identity in found.identities
            if (identity.device, identity.customer) == (sale.device, told)
        ]
        if not said or any(not found.is_taken_back(identity) for identity in said):
            return told
    return None if sale.device is None else owner(found, sale.device, sale.at)


def counting_visits(found: Known, sale: Sale, rules: Rules) -> list[Visit]:
    """The visits that count for a sale, in their order (credit.md, "Which visits count")."""
    customer = customer_of(found, sale)
    if rules.credit == "device" or customer is None:
        visits = [visit for visit in found.visits if _is_of_device(visit, sale)]
    else:
        visits = [visit for visit in found.visits if owner(found, visit.device, visit.at) == customer]
        if all(identity.device != sale.device for identity in found.holding):  # it is nobody's
            visits += [visit for visit in found.visits if _is_of_device(visit, sale) and visit not in visits]
    own = [visit for visit in found.visits if visit.is_named and visit.click in sale.clicks]
    visits += [visit for visit in own if visit not in visits]
    visits = _each_click_once([visit for visit in visits if visit.at <= sale.at])
    if rules.lookback_days is not None:
        visits = [visit for visit in visits if visit.at >= sale.at - rules.lookback_days * DAY]
    return sorted(visits, key=lambda visit: visit.at)


def _is_of_device(visit: Visit, sale: Sale) -> bool:
    return visit.device is not None and visit.device == sale.device


def _each_click_once(visits: Iterable[Visit]) -> list[Visit]:
    """Without visits that servers named by a click that a browser told of, or another of them."""
    kept: list[Visit] = []
    for visit in sorted(visits, key=lambda visit: visit.is_named):
        if not (visit.is_named and any(other.click == visit.click for other in kept)):
            kept.append(visit)
    return kept


def shares(found: Known, sale: Sale, rules: Rules) -> list[tuple[Source | None, Fraction]]:
    """What each touch gets, in parts of one; None: no touch gets it (credit.md, "Models")."""
    visits = counting_visits(found, sale, rules)
    if rules.model == "last":
        return [(visits[-1].source if visits else None, Fraction(1))]
    touches = [visit.source for visit in visits if visit.source is not None]
    if not touches:
        return [(None, Fraction(1))]
    return list(zip(touches, _parts(len(touches), rules.model), strict=True))


def _parts(count: int, model: Model) -> list[Fraction]:
    if model == "first":
        return [Fraction(1), *[Fraction(0)] * (count - 1)]
    if model == "last_non_direct":
        return [*[Fraction(0)] * (count - 1), Fraction(1)]
    if model == "position_based" and count > 2:
        return [Fraction(2, 5), *[Fraction(1, 5) / (count - 2)] * (count - 2), Fraction(2, 5)]
    return [Fraction(1, count)] * count
