"""The visits to the shop after clicks of the demo's history, as the SDK's calls."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from typing import Any

from backend.domain.clicks.clicks import Click
from backend.domain.clicks.ids import place_of
from backend.domain.ids import DeviceId
from backend.domain.links.links import Link
from backend.domain.visitors.batches import ArrivedCall, Batch
from backend.domain.visitors.calls import Kind, parse_call
from backend.domain.visitors.sources import LINK_SIGNAL, source_of
from demo_site.kites import CURRENCY, KITES, Kite

# The last sale to which a click may lead comes within this time.
LONGEST = timedelta(days=22)
_DOLLARS = frozenset({"US", "CA", "MX"})
_DAY, _MINUTE, _SECOND = timedelta(days=1), timedelta(minutes=1), timedelta(seconds=1)
# Shares: of sales in the visit of the click, of leads and of buyers who come back and buy.
_BUYS_IN_VISIT, _LEAD_BUYS, _BUYS_AGAIN = 0.6, 0.14, 0.11
# Of those who only look, one of so many puts a kite into the cart.
_ONE_PUTS_INTO_CART = 4
_EXTRAS = (Decimal(0), Decimal(0), Decimal("9.90"), Decimal("14.50"))


class Purpose(Enum):
    """The purpose of a visit to the shop."""

    LOOK = auto()
    LEAD = auto()
    SALE = auto()


@dataclass(frozen=True, slots=True)
class Ids:
    """Ids of one journey, told apart by `name`. All begin with `run`."""

    run: str
    name: str

    def uuid(self, of: str) -> str:
        """An id in the form of a UUID."""
        digits = hashlib.sha256(f"{self.run}/{self.name}/{of}".encode()).hexdigest()
        return f"{self.run}-{digits[:4]}-4{digits[4:7]}-8{digits[7:10]}-{digits[10:22]}"

    def text(self, of: str) -> str:
        """An id as shops make them."""
        return f"demo-{of}-{self.run}-{self.name}"


class Journey:
    """One person in the shop, who came by this click on `link` and may come again by `way_back`.

    `key` is the one that makes click ids.
    """

    def __init__(  # noqa: PLR0917 - all are what the journey is drawn from
        self, ids: Ids, drawn: random.Random, key: bytes, click: Click, link: Link, way_back: Link
    ) -> None:
        self._ids = ids
        self._drawn = drawn
        self._key = key
        self._click = click
        self._link = link
        self._way_back = way_back
        self._currency = "USD" if click.country in _DOLLARS else CURRENCY
        self._sent: list[tuple[datetime, list[ArrivedCall]]] = []
        self._sales = 0
        # The person's clicks on the link `way_back`.
        self.returns: list[Click] = []

    def batches(self, purpose: Purpose, retention_days: int | None) -> list[Batch]:
        """The batches that the SDK sends after the click."""
        drawn, at = self._drawn, self._click.at
        self._land(self._click, self._link)
        if purpose is Purpose.LOOK and self._number("cart") % _ONE_PUTS_INTO_CART == 0:
            kite = KITES[self._number("kite") % len(KITES)]
            self._sent.append((at + 3 * _MINUTE, [self._put_into_cart(at + 3 * _MINUTE, kite)]))
        if purpose is Purpose.LEAD:
            self._lead(at + _MINUTE * drawn.uniform(1, 15))
            if drawn.random() < _LEAD_BUYS:
                self._come_back(at + _DAY * drawn.uniform(1, 9))
        elif purpose is Purpose.SALE and drawn.random() < _BUYS_IN_VISIT:
            self._buy(at + _MINUTE * drawn.uniform(4, 50))
        elif purpose is Purpose.SALE:
            self._come_back(at + _DAY * drawn.uniform(0.3, 9))
        if self._sales and drawn.random() < _BUYS_AGAIN:
            self._come_back(self._sent[-1][0] + _DAY * drawn.uniform(3, 12))
        device = DeviceId(self._ids.uuid("device"))
        return [
            Batch(self._link.org_id, device, sent, sent, tuple(calls), retention_days)
            for sent, calls in self._sent
        ]

    def _land(self, click: Click, link: Link) -> None:
        """The visit after a click: its address has the click's id."""
        at = click.at + 2 * _SECOND
        signals = {LINK_SIGNAL: link.id} | link.utm
        call = self._call(Kind.ATTRIBUTION, at, page=link.destination_url, signals=signals)
        place = place_of(self._key, click)
        self._sent.append((at, [ArrivedCall(call.call, source_of(signals, link, place))]))

    def _lead(self, at: datetime) -> None:
        call = self._call(
            Kind.LEAD,
            at,
            customer_id=self._ids.text("customer"),
            email_sha256=hashlib.sha256(f"{self._ids.text('customer')}@example.com".encode()).hexdigest(),
            event_id=self._ids.text("lead"),
        )
        wants = ["wind report", "new kites"][self._number("newsletter") % 2]
        signed_up = self._event("signed_up", at - 4 * _SECOND, newsletter=wants)
        self._sent.append((at, [signed_up, call]))

    def _come_back(self, at: datetime) -> None:
        at = at.replace(microsecond=at.microsecond // 1000 * 1000)
        click = replace(self._click, link_id=self._way_back.id, at=at, referrer_host=None)
        self.returns.append(click)
        self._land(click, self._way_back)
        self._buy(at + _MINUTE * self._drawn.uniform(3, 20))

    def _buy(self, at: datetime) -> None:
        self._sales += 1
        kite = self._drawn.choices(KITES, [1 / offered.price for offered in KITES])[0]
        price = kite.price * self._drawn.choice([1, 1, 1, 1, 2]) + self._drawn.choice(_EXTRAS)
        call = self._call(
            Kind.CONVERSION,
            at,
            customer_id=self._ids.text("customer"),
            revenue=price,
            currency=self._currency,
            transaction_id=self._ids.text(f"order{self._sales}"),
            product_id=kite.slug,
        )
        self._sent.append((at, [self._put_into_cart(at - 2 * _MINUTE, kite), call]))

    def _put_into_cart(self, at: datetime, kite: Kite) -> ArrivedCall:
        return self._event("added_to_cart", at, kite=kite.name, shape=kite.shape, price=kite.price)

    def _event(self, name: str, at: datetime, **metadata: Any) -> ArrivedCall:
        call_id = self._ids.uuid(f"{name}{len(self._sent)}")
        return self._call(Kind.EVENT, at, call_id, name=name, metadata=metadata)

    def _number(self, of: str) -> int:
        """A number that follows from the journey's name, without a draw: draws would change what follows."""
        return int(hashlib.sha256(f"{self._ids.name}/{of}".encode()).hexdigest()[:6], 16)

    def _call(self, kind: Kind, at: datetime, call_id: str | None = None, **fields: Any) -> ArrivedCall:
        call_fields = {
            "kind": kind.value,
            "call_id": call_id or self._ids.uuid(f"call{len(self._sent)}"),
            "occurred_at": at.isoformat(),
        }
        return ArrivedCall(parse_call(call_fields | fields))
