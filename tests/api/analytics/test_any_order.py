"""Reports and explanations say the same in whatever order facts were told, and as of what was known then."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations, product
from random import Random
from typing import Any

import httpx
import pytest

from tests.api.analytics.shops import Fact, Opening, Shop, reported, tell_all
from tests.api.told_sales import API, tell
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import timestamp

MODELS = ("last_non_direct", "last", "first", "linear", "position_based")
CREDITS = ("device", "customer")
ALL_RULES = list(product(MODELS, CREDITS))


@pytest.fixture
def opening(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, clock: MovableClock
) -> Opening:
    """Opens shops."""
    return Opening(client, make_organization, clock)


def fact(what: str, ago: float, device: str | None = None, customer: str | None = None, **more: Any) -> Fact:
    """A fact of so many hours ago; a sale is the order t."""
    return {"what": what, "ago": ago, "device": device, "customer": customer, "order": "t"} | more


LANDING = fact("visit", 9, "d", source="mail")
# Of two devices, with visits before sales: a sale is told by its page, one by a server with a click, and one
# with a customer whom another device was identified as. Pages tell of another customer's, one before a visit.
EACH_KIND = [
    LANDING,
    fact("visit", 17, "e", source="own", click=True),
    fact("identify", 13, "e", "x"),
    fact("conversion", 8, "d"),
    fact("conversion", 7, None, by_server=True, click=True, order="u"),
    fact("conversion", 4, None, "x", by_server=True, order="v"),
    fact("lead", 12, "e", "x", by_server=True),
    fact("refund", 1, "d"),
    fact("conversion", 14, "d", "y", order="w"),
    fact("conversion", 3, "e", "y", order="z"),
]


async def test_reports_do_not_depend_on_the_order_of_tellings(opening: Opening) -> None:
    """By all models, by device and by customer; nor do explanations."""
    made = Random(5)
    # In one of the first two each fact comes before each other one.
    drawn = [made.sample(EACH_KIND, len(EACH_KIND)) for _ in range(2)]
    orders = [EACH_KIND, EACH_KIND[::-1], *drawn]
    shops = await opening.shops(len(orders))
    for shop, order in zip(shops, orders, strict=True):
        await tell_all(shop, order)
    for model, credit in ALL_RULES:
        # In all, it is the same by each model.
        for by in [("link", "source"), *([()] if model == "linear" else [])]:
            expected, *others = await reported(shops, *by, model=model, credit=credit)
            assert expected
            for order, said in zip(orders[1:], others, strict=True):
                assert said == expected, (model, credit, by, order)
        rules = {"model": model, "credit": credit}
        told = [[await shop.explained(order, **rules) for order in "tuvwz"] for shop in shops]
        assert any(told[0])
        for order, said in zip(orders, told, strict=True):
            assert said == told[0], (model, credit, order)


async def shares(shop: Shop, order: str = "t", **rules: str) -> list[str | None]:
    """What gets the credit for an order: the sources of visits, a link's click, or nothing."""
    touches = [share["touch"] for share in (await shop.explanation(order, **rules))["shares"]]
    return [touch and (touch["link_name"] or touch["utm"]["utm_source"]) for touch in touches]


async def customer(shop: Shop, order: str = "t", **rules: str) -> tuple[str | None, str]:
    """Whose an order is, and in words."""
    answer = await shop.explanation(order, **rules)
    [sale] = [step for step in answer["steps"] if step["kind"] == "sale"]
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
    assert [step["kind"] for step in (await shop.explanation())["steps"]] == ["touch", "sale"]


async def test_the_browser_s_own_visit_of_a_named_click_counts_before_the_sale(opening: Opening) -> None:
    """Also where the click was named first, and told for another sale."""
    named = fact("conversion", 8, "d", by_server=True, click=True)
    for order in permutations([named, fact("visit", 9, "d", source="own", click=True)]):
        shop = await opening.told(order)
        answer = await shop.explanation()
        assert [share["touch"]["utm"] for share in answer["shares"]] == [{"utm_source": "own"}]


async def test_identities_out_of_order(opening: Opening) -> None:
    """A at -10 h, A again at -6 h and B at -8 h: a sale at -5 h is A's, in whatever order they are told."""
    facts = [
        fact("identify", 10, "d", "A"),
        fact("identify", 6, "d", "A"),
        fact("identify", 8, "d", "B"),
        fact("conversion", 5, "d"),
    ]
    orders = list(permutations(facts))
    for shop, order in zip(await opening.shops(len(orders)), orders, strict=True):
        await tell_all(shop, order)
        assert (await customer(shop))[0] == f"A{shop.mark}", order


async def test_items_of_one_list_in_every_order(opening: Opening) -> None:
    """A sale said of two devices in one moment is the earlier one's: the other is nobody's by it."""
    items = [
        fact("conversion", 3, "e", "y"),
        fact("conversion", 4, "d"),
        fact("conversion", 2, "e", order="u"),
    ]
    orders = list(permutations(items))
    shops = await opening.shops(len(orders))
    for shop, order in zip(shops, orders, strict=True):
        await shop.tell_list(*order)
        told = [await shop.explanation(name) for name in "tu"]
        assert [sale["device_id"] for sale in told] == [shop.device("d"), shop.device("e")], order
        assert [sale["customer_id"] for sale in told] == [f"y{shop.mark}", None], order
    for said in await reported(shops, credit="customer", model="linear"):
        assert [row["customers"] for row in said] == [1]


async def test_a_customer_who_was_told_wins_over_whose_the_device_was(opening: Opening) -> None:
    """Whenever it is told, in explanations and reports; whose device it was is never said to be told."""
    earlier = [LANDING, fact("identify", 8, "d", "X")]
    sale, told = fact("conversion", 5, "d"), fact("conversion", 4, None, "Y", by_server=True)
    [shop, *others] = shops = await opening.shops(3)
    await tell_all(shop, [*earlier, sale])
    name = f"X{shop.mark}"
    assert await customer(shop) == (name, f"It is the sale of the customer {name}, whose device it was.")
    for other, order in zip(others, [(told, sale), (sale, told)], strict=True):
        await tell_all(other, [*earlier, *order])
        name = f"Y{other.mark}"
        assert await customer(other) == (name, f"It is the sale of the customer {name}, of whom it was told.")
    for said in await reported(shops, credit="customer", model="linear"):
        assert [row["customers"] for row in said] == [1]


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
    as_of = [await shares(shop, model="linear", as_of=moment) for moment in moments]
    assert as_of == [[None], [None], ["mail"]]
    assert await shares(shop, model="linear") == ["Spring", "mail"]
    devices = [(await shop.explanation(as_of=moment))["device_id"] for moment in moments]
    assert devices == [None, *[shop.device("d")] * 2]


async def test_what_servers_tell_is_rounded_as_the_answer_says(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A sale is stored and reported as noted, and a refund of the noted amount is accepted."""
    headers = organization.headers
    for name, told, currency, kept in (
        ("yen", 99.99, "JPY", "100"),
        ("third", 100 / 3, "EUR", "33.33"),
        ("dinar", 0.0015, "KWD", "0.002"),
        ("half", 0.125, "EUR", "0.12"),
    ):
        sale = {"transaction_id": name, "revenue": told, "currency": currency, "customer_id": "c"}
        (result,) = await tell(client, organization, "conversions", sale)
        assert result["notes"] == [f"revenue was rounded to {kept} {currency}"]
        answer = (await client.get(f"{API}/conversions/{name}/explain", headers=headers)).json()
        assert (answer["revenue"], answer["shares"][0]["revenue"]) == (kept, kept)
        refund = {"refund_id": name, "transaction_id": name, "amount": float(kept), "currency": currency}
        answer = await client.post(f"{API}/conversions/refund", json={"items": [refund]}, headers=headers)
        assert answer.json()["results"][0]["status"] == "accepted"
    for currency, kept in (("EUR", "33.45"), ("JPY", "100"), ("KWD", "0.002")):
        query = {"measures": ["revenue", "net_revenue"], "currency": currency}
        answer = await client.post(f"{API}/analytics/query", json=query, headers=headers)
        totals = answer.json()["totals"]
        assert (totals["revenue"], float(totals["net_revenue"])) == (kept, 0)


async def test_as_of_a_moment_a_sale_is_of_the_time_that_was_known_then(opening: Opening) -> None:
    """A server's until its device tells another, in reports of either time."""
    shop = await opening.told([fact("conversion", 2, None, "Z", by_server=True)])
    moment = timestamp()
    await shop.tell(fact("conversion", 15, "d"))

    async def sold(begin: int, end: int, **rules: str) -> int:
        hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
        of = [(hour - timedelta(hours=hours)).isoformat() for hours in (begin, end)]
        times = dict(zip(("from", "to"), of, strict=True))
        query: Fact = {"measures": ["conversions"], **times, **rules}
        answer = await shop.client.post(
            f"{API}/analytics/query", json=query, headers=shop.organization.headers
        )
        return int(answer.json()["totals"]["conversions"])

    assert (await sold(20, 10), await sold(10, 0)) == (1, 0)
    assert (await sold(20, 10, as_of=moment), await sold(10, 0, as_of=moment)) == (0, 1)
    assert await sold(10, 0, as_of=timestamp(-timedelta(hours=1))) == 0
