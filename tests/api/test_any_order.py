"""Reports and explanations say the same in whatever order facts were told, and as of what was known then."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from random import Random
from typing import Any

import httpx
import pytest

from backend.domain.ids import DeviceId
from tests.api.sales import API, tell
from tests.api.test_sale_names_click import follow
from tests.api.whole_links import Links
from tests.conftest import MovableClock, OrganizationFactory
from tests.organizations import TestOrganization
from tests.sdk_batches import Visitor, call, check, timestamp

Fact = dict[str, Any]
MEASURES = ["leads", "conversions", "customers", "revenue", "refunds", "net_revenue"]
MODELS = ("last_non_direct", "last", "first", "linear", "position_based")
CREDITS = ("device", "customer")
ALL_RULES = list(product(MODELS, CREDITS))
CLICKED = timedelta(hours=20)
# The same in every shop: at equal times the id that sorts first counts.
DEVICES = {name: DeviceId(str(uuid.UUID(name * 32))) for name in "de"}
PAID = {"revenue": 100, "currency": "EUR"}
# The path, the field of the id under which a kind counts once, and what else it needs.
KINDS: dict[str, tuple[str, str, Fact]] = {
    "conversion": ("conversions", "transaction_id", PAID),
    "lead": ("leads", "event_id", {}),
    "identify": ("identities", "", {}),
}


@dataclass(frozen=True)
class Shop:
    """An organization that is told facts. `signals` are those of a click on its link, a day ago."""

    client: httpx.AsyncClient
    organization: TestOrganization
    signals: Mapping[str, str]

    async def tell(self, fact: Fact) -> Any:
        """Tell a fact. False: it is to be told again, once what it is about is known."""
        what, ago = fact["what"], timedelta(hours=fact["ago"])
        if what == "refund":
            refund = {"refund_id": fact["order"], "transaction_id": fact["order"], "amount": 10}
            items = {"items": [refund | {"currency": "EUR", "occurred_at": _ago(ago)}]}
            url, headers = f"{API}/conversions/refund", self.organization.headers
            answer = await self.client.post(url, json=items, headers=headers)
            return answer.json()["results"][0]["status"] != "rejected"
        if fact.get("by_server"):
            await self.tell_list(fact)
            return True
        visitor = Visitor(self.client, self.organization, DEVICES[fact["device"]])
        await visitor.result(self._call(fact, ago))
        return True

    async def tell_list(self, *facts: Fact) -> None:
        """Tell facts of one kind in one request, as servers do."""
        await tell(self.client, self.organization, KINDS[facts[0]["what"]][0], *map(self._item, facts))

    def _item(self, fact: Fact) -> Fact:
        ago = timedelta(hours=fact["ago"])
        _, once, more = KINDS[fact["what"]]
        click = {"click_id": self.signals["cl_click_id"]} if fact.get("click") else {}
        device = {"device_id": DEVICES[fact["device"]]} if fact.get("device") else {}
        who = {"customer_id": fact["customer"]} if fact.get("customer") else {}
        own = {once: fact["order"]} if once else {}
        return {**more, **own, **click, **device, **who, "occurred_at": _ago(ago)}

    def _call(self, fact: Fact, ago: timedelta) -> Fact:
        if fact["what"] == "visit":
            return check(ago=ago, utm_source=fact["source"], **(self.signals if fact.get("click") else {}))
        _, once, more = KINDS[fact["what"]]
        who = {"customer_id": fact["customer"]} if fact.get("customer") else {}
        return call(fact["what"], ago=ago, **more, **({once: fact["order"]} if once else {}), **who)

    async def said(self, **rules: str) -> dict[str, Any]:
        """What reports and the explanations of orders say by these rules."""
        found: dict[str, Any] = {}
        for by in ("link", "source"):
            query = {"measures": MEASURES, "group_by": [by], "currency": "EUR"} | rules
            answer = await self.client.post(
                f"{API}/analytics/query", json=query, headers=self.organization.headers
            )
            assert answer.status_code == 200, answer.text
            own = {by, "short_url"} - {"source"}
            rows = [{name: row[name] for name in row if name not in own} for row in answer.json()["rows"]]
            found[by] = sorted(map(str, rows)), answer.json()["totals"]
        for order in ("t", "u"):
            url = f"{API}/conversions/{order}/explain"
            answer = await self.client.get(url, params=rules, headers=self.organization.headers)
            found[order] = self._explained(answer.json()) if answer.status_code == 200 else None
        return found

    def _explained(self, answer: Any) -> Any:
        """The explanation without times, which hang on how long requests took, and ids of this run."""
        names = {own_id: name for name, own_id in DEVICES.items()}

        def step(each: Fact) -> object:
            touch = each["touch"] and (each["touch"]["link_name"], each["touch"]["utm"].get("utm_source"))
            device = names.get(each["device_id"], "unknown" if each["device_id"] else None)
            return each["kind"], each["in_words"], device, each["customer_id"], touch, each["share"]

        return (
            answer["customer_id"],
            names.get(answer["device_id"]),
            answer["net_revenue"],
            [step(each) for each in answer["steps"]],
            [share | {"touch": share["touch"] and share["touch"]["in_words"]} for share in answer["shares"]],
        )


def _ago(ago: timedelta) -> str:
    return (datetime.now(UTC) - ago).isoformat()


class Opening:
    """Opens a shop for each order in which facts are told."""

    def __init__(self, client: httpx.AsyncClient, make: OrganizationFactory, clock: MovableClock) -> None:
        self._client, self._make, self._clock = client, make, clock

    async def shop(self) -> Shop:
        """An organization with a link that was clicked."""
        organization = await self._make()
        link = await Links(self._client, organization).make(link_name="Spring")
        self._clock.offset = -CLICKED
        signals = await follow(self._client, link["short_url"], "https://news.example/")
        self._clock.offset = timedelta()
        return Shop(self._client, organization, signals)

    async def told(self, facts: Iterable[Fact]) -> Shop:
        """A shop that was told these facts in this order."""
        shop = await self.shop()
        again: list[Fact] = []
        for each in facts:
            again = [one for one in (each, *again) if not await shop.tell(one)]
        return shop


@pytest.fixture
def opening(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, clock: MovableClock
) -> Opening:
    """Opens shops."""
    return Opening(client, make_organization, clock)


def drawn(made: Random) -> list[Fact]:
    """Some facts, a sale and a visit among them, each in an hour of its own."""
    hours = iter(made.sample(range(1, CLICKED // timedelta(hours=1)), 8))

    def fact(what: str) -> Fact:
        maybe = made.random() < 0.5
        found = {"what": what, "ago": next(hours), "device": made.choice("de"), "order": made.choice("tu")}
        if what == "visit":
            return found | {"source": f"s{found['ago']}", "click": maybe}
        found["customer"] = made.choice(["x", "y", None]) if what != "identify" else made.choice("xy")
        if maybe and what != "identify":
            found |= {"by_server": True, "click": made.random() < 0.6}
            found["device"] = made.choice([None, found["device"]])
            if not (found["click"] or found["device"] or found["customer"]):
                found["customer"] = "x"
        return found

    kinds = ["conversion", "visit", *made.choices(["conversion", "lead", "identify", "visit", "refund"], k=3)]
    return [fact(each) for each in kinds]


@pytest.mark.parametrize("seed", range(6))
async def test_reports_do_not_depend_on_the_order_of_tellings(opening: Opening, seed: int) -> None:
    """By all models, by device and by customer; nor do explanations."""
    made = Random(seed)
    facts = drawn(made)
    first = await opening.told(facts)
    expected = {rules: await first.said(model=rules[0], credit=rules[1]) for rules in ALL_RULES}
    for number, order in enumerate(made.sample(list(permutations(facts)), 14)):
        shop = await opening.told(order)
        for model, credit in ALL_RULES if number < 2 else ALL_RULES[number % 10 :: 10]:
            said = await shop.said(model=model, credit=credit)
            assert said == expected[model, credit], (model, credit, order)


def fact(what: str, ago: float, device: str | None = None, customer: str | None = None, **more: Any) -> Fact:
    """A fact of so many hours ago; a sale is the order t."""
    return {"what": what, "ago": ago, "device": device, "customer": customer, "order": "t"} | more


LANDING = fact("visit", 9, "d", source="mail")


async def shares(shop: Shop, order: str = "t", **rules: str) -> list[str | None]:
    """What gets the credit for an order: the sources of visits, a link's click, or nothing."""
    answer = await shop.client.get(
        f"{API}/conversions/{order}/explain", params=rules, headers=shop.organization.headers
    )
    touches = [each["touch"] for each in answer.json()["shares"]]
    return [each and (each["link_name"] or each["utm"]["utm_source"]) for each in touches]


async def customer(shop: Shop, order: str = "t", **rules: str) -> tuple[str | None, str]:
    """Whose an order is, and in words."""
    url = f"{API}/conversions/{order}/explain"
    answer = (await shop.client.get(url, params=rules, headers=shop.organization.headers)).json()
    [sale] = [each for each in answer["steps"] if each["kind"] == "sale"]
    return answer["customer_id"], sale["in_words"]


@pytest.mark.parametrize("is_server_first", [True, False])
async def test_a_click_that_a_server_names_and_the_visit_after_the_sale(
    opening: Opening, is_server_first: bool
) -> None:
    """The sale is the named click's where its browser told its visit 0.3 s too late, whichever came first."""
    named = fact("conversion", 9, "d", by_server=True, click=True)
    visit = fact("visit", 9 - 0.3 / 3600, "d", source="own", click=True)
    shop = await opening.told([named, visit] if is_server_first else [visit, named])
    for model in MODELS:
        assert await shares(shop, model=model) == ["Spring"], model
    assert [step["kind"] for step in (await explanation(shop))["steps"]] == ["touch", "sale"]


async def explanation(shop: Shop, order: str = "t") -> Any:
    """The explanation of an order."""
    url = f"{API}/conversions/{order}/explain"
    return (await shop.client.get(url, headers=shop.organization.headers)).json()


async def test_the_browser_s_own_visit_of_a_named_click_counts_before_the_sale(opening: Opening) -> None:
    """Also where the click was named first, and told for another sale."""
    named = fact("conversion", 8, "d", by_server=True, click=True)
    for order in permutations([named, fact("visit", 9, "d", source="own", click=True)]):
        shop = await opening.told(order)
        answer = await explanation(shop)
        assert [each["touch"]["utm"] for each in answer["shares"]] == [{"utm_source": "own"}]


@pytest.mark.parametrize("order", list(permutations(range(4))))
async def test_identities_out_of_order(opening: Opening, order: Sequence[int]) -> None:
    """A at -10 h, A again at -6 h and B at -8 h: a sale at -5 h is A's, in whatever order they are told."""
    facts = [
        fact("identify", 10, "d", "A"),
        fact("identify", 6, "d", "A"),
        fact("identify", 8, "d", "B"),
        fact("conversion", 5, "d"),
    ]
    shop = await opening.told([facts[each] for each in order])
    assert (await customer(shop))[0] == "A"


@pytest.mark.parametrize("order", list(permutations(range(3))))
async def test_items_of_one_list_in_every_order(opening: Opening, order: Sequence[int]) -> None:
    """A sale said of two devices in one moment is the earlier one's: the other is nobody's by it."""
    items = [
        fact("conversion", 3, "e", "y"),
        fact("conversion", 4, "d"),
        fact("conversion", 2, "e", order="u"),
    ]
    shop = await opening.shop()
    await shop.tell_list(*(items[each] for each in order))
    told = [await explanation(shop, order) for order in "tu"]
    assert [each["device_id"] for each in told] == [DEVICES["d"], DEVICES["e"]]
    assert [each["customer_id"] for each in told] == ["y", None]
    said = await shop.said(credit="customer", model="linear")
    assert said["source"][1]["customers"] == 1


@pytest.mark.parametrize("is_server_first", [True, False])
async def test_a_customer_who_was_told_wins_over_whose_the_device_was(
    opening: Opening, is_server_first: bool
) -> None:
    """Whenever it is told, in explanations and reports; whose device it was is never said to be told."""
    known = [LANDING, fact("identify", 8, "d", "X")]
    sale, told = fact("conversion", 5, "d"), fact("conversion", 4, None, "Y", by_server=True)
    shop = await opening.told([*known, sale])
    assert await customer(shop) == ("X", "It is the sale of the customer X, whose device it was.")
    shop = await opening.told([*known, *((told, sale) if is_server_first else (sale, told))])
    assert await customer(shop) == ("Y", "It is the sale of the customer Y, of whom it was told.")
    said = await shop.said(credit="customer", model="linear")
    assert said["source"][1]["customers"] == 1


async def test_as_of_a_moment_is_what_was_known_then(opening: Opening) -> None:
    """A landing that is told late, and what a second telling adds, count from when they were told."""
    shop = await opening.told(
        [fact("visit", 12, "e", source="other"), fact("conversion", 5, None, "Z", by_server=True)]
    )
    moments = []
    for late in (
        fact("conversion", 5.5, "d"),
        LANDING,
        fact("conversion", 5, None, None, by_server=True, click=True),
    ):
        moments.append(timestamp())
        await shop.tell(late)
    as_of = [await shares(shop, model="linear", as_of=each) for each in moments]
    assert as_of == [[None], [None], ["mail"]]
    assert await shares(shop, model="linear") == ["Spring", "mail"]
    devices = [(await _asked(shop, as_of=each))["device_id"] for each in moments]
    assert devices == [None, *[DEVICES["d"]] * 2]


async def _asked(shop: Shop, **rules: str) -> Any:
    url = f"{API}/conversions/t/explain"
    return (await shop.client.get(url, params=rules, headers=shop.organization.headers)).json()


@pytest.mark.parametrize(
    ("told", "currency", "kept"),
    [(99.99, "JPY", "100"), (100 / 3, "EUR", "33.33"), (0.0015, "KWD", "0.002"), (0.125, "EUR", "0.12")],
)
async def test_what_servers_tell_is_rounded_as_the_answer_says(
    client: httpx.AsyncClient, organization: TestOrganization, told: float, currency: str, kept: str
) -> None:
    """A sale is stored and reported as noted, and a refund of the noted amount is accepted."""
    sale = {"transaction_id": "t", "revenue": told, "currency": currency, "customer_id": "c"}
    (result,) = await tell(client, organization, "conversions", sale)
    assert result["notes"] == [f"revenue was rounded to {kept} {currency}"]
    headers = organization.headers
    answer = (await client.get(f"{API}/conversions/t/explain", headers=headers)).json()
    assert (answer["revenue"], answer["shares"][0]["revenue"]) == (kept, kept)
    refund = {"refund_id": "r", "transaction_id": "t", "amount": float(kept), "currency": currency}
    answer = await client.post(f"{API}/conversions/refund", json={"items": [refund]}, headers=headers)
    assert answer.json()["results"][0]["status"] == "accepted"
    query = {"measures": ["revenue", "net_revenue"], "currency": currency}
    totals = (await client.post(f"{API}/analytics/query", json=query, headers=headers)).json()["totals"]
    assert (totals["revenue"], float(totals["net_revenue"])) == (kept, 0)


async def test_as_of_a_moment_a_sale_is_of_the_time_that_was_known_then(opening: Opening) -> None:
    """A server's until its device tells another, in reports of either time."""
    shop = await opening.told([fact("conversion", 2, None, "Z", by_server=True)])
    moment = timestamp()
    await shop.tell(fact("conversion", 15, "d"))

    async def sold(begin: int, end: int, **rules: str) -> int:
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        of = [(hour - timedelta(hours=each)).isoformat() for each in (begin, end)]
        times = dict(zip(("from", "to"), of, strict=True))
        query: Fact = {"measures": ["conversions"], **times, **rules}
        answer = await shop.client.post(
            f"{API}/analytics/query", json=query, headers=shop.organization.headers
        )
        return int(answer.json()["totals"]["conversions"])

    assert (await sold(20, 10), await sold(10, 0)) == (1, 0)
    assert (await sold(20, 10, as_of=moment), await sold(10, 0, as_of=moment)) == (0, 1)
    assert await sold(10, 0, as_of=timestamp(-timedelta(hours=1))) == 0
