"""Shops that facts are told to in any order, and what reports and explanations say of them then."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import httpx

from backend.domain.ids import DeviceId
from tests.api.sales.test_names_click import follow
from tests.api.told_sales import API, tell
from tests.api.whole_links import Links
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, timestamp

Fact = dict[str, Any]
MEASURES = ["leads", "conversions", "customers", "revenue", "refunds", "net_revenue"]
CLICKED = timedelta(hours=20)
PAID = {"revenue": 100, "currency": "EUR"}
# The path, the field of the id under which a kind counts once, and what else it needs.
KINDS: dict[str, tuple[str, str, Fact]] = {
    "conversion": ("conversions", "transaction_id", PAID),
    "lead": ("leads", "event_id", {}),
    "identify": ("identities", "", {}),
}


@dataclass(frozen=True)
class Shop:
    """One of an organization's shops, which is told facts. Its devices, customers and orders are its own.

    The first one's present is now. The present of another one, with a number, is the end of a day that no
    other has: so figures by days are figures by shops. `signals` are those of a click on the organization's
    link, some hours before.
    """

    client: httpx.AsyncClient
    organization: TestOrganization
    clock: MovableClock
    number: int = 0
    lag: timedelta = timedelta()
    signals: Mapping[str, str] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """The end of names of its customers and orders."""
        return f"-{self.number:02}" if self.number else ""

    @property
    def day(self) -> date:
        """The day of what was told."""
        return (datetime.now(UTC) - self.lag).date()

    def device(self, name: str) -> DeviceId:
        """One of its devices. At equal times the id that sorts first counts: it is the same in all shops."""
        return DeviceId(str(uuid.UUID(f"{name * 24}{self.number:08x}")))

    async def clicked(self, short_url: str) -> Shop:
        """The shop, some hours after the link was clicked."""
        self.clock.offset = -self.lag - CLICKED
        signals = await follow(self.client, short_url, "https://news.example/")
        self.clock.offset = timedelta()
        return replace(self, signals=signals)

    async def tell(self, fact: Fact) -> Any:
        """Tell a fact. False: it is to be told again, once what it is about is known."""
        self.clock.offset = -self.lag
        try:
            return await self._tell(fact)
        finally:
            self.clock.offset = timedelta()

    async def _tell(self, fact: Fact) -> Any:
        if fact["what"] == "refund":
            order = f"{fact['order']}{self.mark}"
            refund = {"refund_id": order, "transaction_id": order, "amount": 10, "currency": "EUR"}
            items = {"items": [refund | {"occurred_at": self._time(fact)}]}
            url, headers = f"{API}/conversions/refund", self.organization.headers
            answer = await self.client.post(url, json=items, headers=headers)
            return answer.json()["results"][0]["status"] != "rejected"
        if fact.get("by_server"):
            await self._tell_list(fact)
            return True
        visitor = Visitor(self.client, self.organization, self.device(fact["device"]))
        await visitor.result(self._call(fact), sent_at=timestamp(self.lag))
        return True

    async def tell_list(self, *facts: Fact) -> None:
        """Tell facts of one kind in one request, as servers do."""
        self.clock.offset = -self.lag
        await self._tell_list(*facts)
        self.clock.offset = timedelta()

    async def _tell_list(self, *facts: Fact) -> None:
        await tell(self.client, self.organization, KINDS[facts[0]["what"]][0], *map(self._item, facts))

    def _time(self, fact: Fact) -> str:
        return timestamp(timedelta(hours=fact["ago"]) + self.lag)

    def _named(self, fact: Fact) -> Fact:
        """The customer and the order of a fact."""
        _, once, _ = KINDS[fact["what"]]
        names = {"customer_id": fact.get("customer"), once: fact["order"]}
        return {name: f"{value}{self.mark}" for name, value in names.items() if name and value}

    def _item(self, fact: Fact) -> Fact:
        _, _, more = KINDS[fact["what"]]
        click = {"click_id": self.signals["cl_click_id"]} if fact.get("click") else {}
        device = {"device_id": self.device(fact["device"])} if fact.get("device") else {}
        return {**more, **click, **device, **self._named(fact), "occurred_at": self._time(fact)}

    def _call(self, fact: Fact) -> Fact:
        ago = timedelta(hours=fact["ago"]) + self.lag
        if fact["what"] == "visit":
            return check(ago=ago, utm_source=fact["source"], **(self.signals if fact.get("click") else {}))
        return call(fact["what"], ago=ago, **KINDS[fact["what"]][2], **self._named(fact))

    async def explanation(self, order: str = "t", **rules: str) -> Any:
        """The explanation of an order; None where it is not known."""
        url = f"{API}/conversions/{order}{self.mark}/explain"
        answer = await self.client.get(url, params=rules, headers=self.organization.headers)
        return answer.json() if answer.status_code == 200 else None

    async def explained(self, order: str, **rules: str) -> Any:
        """The explanation without times, which hang on how long requests took, and ids of this shop."""
        answer = await self.explanation(order, **rules)
        if answer is None:
            return None
        names = {self.device(name): name for name in "de"}

        def own(text: str | None) -> str | None:
            return text and text.replace(self.mark, "")

        def shown_step(step: Fact) -> object:
            touch = step["touch"] and (step["touch"]["link_name"], step["touch"]["utm"].get("utm_source"))
            device = names.get(step["device_id"], "unknown" if step["device_id"] else None)
            return step["kind"], own(step["in_words"]), device, own(step["customer_id"]), touch, step["share"]

        return (
            own(answer["customer_id"]),
            names.get(answer["device_id"]),
            answer["net_revenue"],
            [shown_step(step) for step in answer["steps"]],
            [share | {"touch": share["touch"] and share["touch"]["in_words"]} for share in answer["shares"]],
        )


async def reported(shops: Sequence[Shop], *by: str, **rules: str) -> list[list[Any]]:
    """The rows that a report by these rules has of each of an organization's shops."""
    client, headers = shops[0].client, shops[0].organization.headers
    period = {"from": f"{shops[-1].day}", "to": f"{shops[0].day + timedelta(days=1)}"}
    asked = {"measures": MEASURES, "group_by": ["day", *by], "currency": "EUR", "limit": 1_000}
    answer = await client.post(f"{API}/analytics/query", json=asked | period | rules, headers=headers)
    assert answer.status_code == 200, answer.text
    rows: defaultdict[str, list[Any]] = defaultdict(list)
    for row in answer.json()["rows"]:
        rows[row.pop("day")].append(row)
    return [sorted(rows[f"{shop.day}"], key=str) for shop in shops]


class Opening:
    """Opens shops that facts are told to."""

    def __init__(self, client: httpx.AsyncClient, make: OrganizationFactory, clock: MovableClock) -> None:
        self._client, self._make, self._clock = client, make, clock

    async def shop(self) -> Shop:
        """An organization with a link that was clicked."""
        organization = await self._make()
        link = await Links(self._client, organization).make(link_name="Spring")
        return await Shop(self._client, organization, self._clock).clicked(link["short_url"])

    async def shops(self, count: int) -> list[Shop]:
        """An organization's shops, whose days are the last ones."""
        organization = await self._make()
        link = await Links(self._client, organization).make(link_name="Spring")
        now = datetime.now(UTC)
        present = now.replace(hour=22, minute=0, second=0, microsecond=0)
        return [
            await Shop(
                self._client, organization, self._clock, number, now - present + timedelta(days=number)
            ).clicked(link["short_url"])
            for number in range(1, count + 1)
        ]

    async def told(self, facts: Iterable[Fact]) -> Shop:
        """A shop that was told these facts in this order."""
        shop = await self.shop()
        await tell_all(shop, facts)
        return shop


async def tell_all(shop: Shop, facts: Iterable[Fact]) -> None:
    """Tell the shop these facts in this order; what it refuses, again after the next ones."""
    again: list[Fact] = []
    for next_fact in facts:
        again = [told for told in (next_fact, *again) if not await shop.tell(told)]
