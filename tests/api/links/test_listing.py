"""GET /links: filters, orders, pages."""

from __future__ import annotations

import asyncio
import base64
import json
from datetime import timedelta
from itertools import product
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from backend.storage.driver.mongo import Database
from backend.storage.links.lists import orders as link_orders
from tests.api.whole_links import Links
from tests.conftest import MovableClock, OrganizationFactory

ORDERS = ("created", "modified", "name", "clicks_7", "clicks_30")


async def names(links: Links, query: str) -> list[str]:
    """The names of the links of a list, sorted."""
    return sorted(link["link_name"] for link in await links.list(query))


async def pages(links: Links, query: str, *, between: object = None) -> list[str]:
    """The ids on all pages of two links, in order. `between` is called after each page."""
    ids: list[str] = []
    cursor = ""
    while True:
        answer = (await links.call("GET", f"?size=2&{query}{cursor}")).json()
        ids += [link["id"] for link in answer["links"]]
        if answer["next_cursor"] is None:
            return ids
        cursor = f"&cursor={answer['next_cursor']}"
        if callable(between):
            await between()


async def test_each_filter(links: Links, clock: MovableClock) -> None:
    """Each filter leaves the links for which it holds; a time belongs to what is after it, not before it."""
    old = await links.make(link_name="old", utm_campaign="spring", selected_path="Kites")
    clock.offset += timedelta(hours=1)
    new = await links.make(link_name="new", external_id="sku", destination_url="https://shop.example/rope")
    off = await links.make(link_name="off", is_enabled=False)
    gone = await links.make(link_name="gone")
    await links.call("DELETE", f"/{gone['id']}")
    clock.offset += timedelta(hours=1)
    changed = (await links.call("PATCH", f"/{old['id']}", {"utm_source": "x"})).json()
    assert off["state"] == "disabled"
    expected = {
        "": ["new", "off", "old"],
        "state=enabled": ["new", "old"],
        "state=disabled": ["off"],
        "state=archived": ["gone"],
        "campaign=spring": ["old"],
        "campaign=autumn": [],
        "external_id=sku": ["new"],
        "search=kites": ["old"],
        "search=ROPE": ["new"],
        "search=%25": [],
        f"search={quote(old['short_url'])}": ["old"],
        f"domain={links.organization.domain.upper()}": ["new", "off", "old"],
        "domain=other.example": [],
        "created_by=api_rest": ["new", "off", "old"],
        "created_by=sdk": [],
        f"created_after={new['created_at']}": ["new", "off"],
        f"created_before={new['created_at']}": ["old"],
        f"modified_after={changed['modified_at']}": ["old"],
        f"modified_before={changed['modified_at']}": ["new", "off"],
        f"created_after={old['created_at']}&state=enabled&search=e": ["new", "old"],
    }
    assert {query: await names(links, query) for query in expected} == expected


BROKEN: list[tuple[Any, ...]] = [
    ("colour=red", "colour", "colour is not a parameter of this request"),
    ("%C3%A4=1", "\\xe4", "\\xe4 is not a parameter of this request"),
    ("tag=a,b", "tag", "tag must not contain a comma"),
    ("size=0", "size", "size must be a whole number from 1 to 200"),
    ("size=201", "size", "size must be a whole number from 1 to 200"),
    ("size=x", "size", "size must be a whole number from 1 to 200"),
    ("size=1&size=2", "size", "size must be given once"),
    ("sort=age", "sort", "sort must be one of created, modified, name, clicks_7, clicks_30"),
    ("sort=--name", "sort", "sort must be one of created, modified, name, clicks_7, clicks_30"),
    ("state=on", "state", "state must be one of enabled, disabled, archived, expired, not_started, held"),
    ("domain=a b", "domain",
     "domain must be a host name: letters, digits and hyphens, separated by dots"),
    ("search=", "search", "search must not be empty"),
    ("search=%00", "search", "search must not contain control characters"),
    ("created_after=yesterday", "created_after",
     "created_after must be an ISO 8601 time, such as 2026-03-01T12:00:00.000Z"),
    ("cursor=x", "cursor", "cursor is not one that was answered here"),
]  # fmt: skip


async def test_a_parameter_that_breaks_its_rule(links: Links) -> None:
    """It is refused by name, with the rule."""
    for query, field, message in BROKEN:
        answer = await links.call("GET", f"?{query}")
        assert (answer.status_code, answer.json()["code"]) == (400, 400)
        assert answer.json()["error"] == {"errorMessage": message, "fieldName": field}


async def test_each_order(links: Links, clock: MovableClock) -> None:
    """Links come in the order that was asked for, and backwards with a minus before it."""
    made = []
    for name in ("b", "a", "c"):
        clock.offset += timedelta(seconds=2)
        made.append((await links.make(link_name=name))["id"])
    clock.offset += timedelta(seconds=2)
    await links.call("PATCH", f"/{made[0]}", {"utm_source": "x"})
    expected = {
        "created": made,
        "modified": [made[1], made[2], made[0]],
        "name": [made[1], made[0], made[2]],
    }
    for order, ids in expected.items():
        assert await pages(links, f"sort={order}") == ids
        assert await pages(links, f"sort=-{order}") == ids[::-1]
    assert [link["id"] for link in await links.list()] == made[::-1]


async def test_by_clicks(links: Links, clock: MovableClock) -> None:
    """Links are sorted by their clicks of the last 7 or 30 days, and show them."""
    first, second, third = [await links.make() for _ in range(3)]
    await links.click(second, 2)
    clock.offset += timedelta(days=10)
    await links.click(first)
    for order, expected in (
        ("-clicks_7", [first]),
        ("-clicks_30", [second, first, third]),
        ("clicks_30", [third, first, second]),
    ):
        listed = await links.list(f"sort={order}")
        assert [link["id"] for link in listed][: len(expected)] == [link["id"] for link in expected]
    shown = (await links.list("sort=-clicks_30"))[0]["clicks"]
    assert shown == {"total": 2, "last_7_days": 0, "last_30_days": 2}
    assert [link["id"] for link in await links.list("sort=-clicks_7&size=1")] == [first["id"]]


@pytest.mark.parametrize("order", [f"{sign}{order}" for order in ORDERS[:4] for sign in ("", "-")])
async def test_pages_while_links_are_made(links: Links, order: str) -> None:
    """No page repeats a link or leaves one out that was there from the start, whatever is made in between."""
    # All in about the same second and partly of the same name, so that their ids decide too.
    made = await asyncio.gather(*(links.make(link_name=f"n{number % 3}") for number in range(9)))

    # No more than these: a list by age is never at its end while links are made faster than it is read.
    waves = iter(range(3))

    async def make_more() -> None:
        if next(waves, None) is not None:
            await asyncio.gather(*(links.make(link_name=f"n{number}") for number in (0, 3)))

    listed = await pages(links, f"sort={order}&created_before=2999-01-01T00:00:00Z", between=make_more)
    assert len(listed) == len(set(listed))
    assert {link["id"] for link in made} <= set(listed)


async def test_pages_by_the_longest_names(links: Links) -> None:
    """A cursor holds any name that a link may have."""
    letters = ("a", "\u0416", '"', "\U0001f600", "\U0001f601")
    made = [await links.make(link_name=letter * 1024) for letter in sorted(letters)]
    assert await pages(links, "sort=name") == [link["id"] for link in made]


async def test_pages_by_clicks_while_links_are_clicked(links: Links) -> None:
    """Clicks in between move no link from one page to another."""
    made = [await links.make() for _ in range(5)]
    await links.click(made[0])

    async def click_the_last() -> None:
        await links.click(made[4], 2)

    listed = await pages(links, "sort=-clicks_7", between=click_the_last)
    assert listed[0] == made[0]["id"]
    assert sorted(listed) == sorted(link["id"] for link in made)


async def test_a_link_that_is_purged_between_pages(links: Links) -> None:
    """It is left out, and nothing else is."""
    made = [await links.make() for _ in range(4)]
    first = (await links.call("GET", "?size=2&sort=-clicks_7")).json()
    shown = {link["id"] for link in first["links"]}
    gone = next(link["id"] for link in made if link["id"] not in shown)
    await links.call("DELETE", f"/{gone}?purge=true")
    second = (await links.call("GET", f"?size=2&sort=-clicks_7&cursor={first['next_cursor']}")).json()
    assert {link["id"] for link in second["links"]} == {link["id"] for link in made} - shown - {gone}
    assert second["next_cursor"] is None


async def test_a_cursor_of_another_list(links: Links) -> None:
    """A cursor belongs to its filters and its order; the size of pages may change."""
    for _ in range(3):
        await links.make()
    cursor = (await links.call("GET", "?size=1")).json()["next_cursor"]
    for other in ("sort=name", "state=enabled", "search=x"):
        refused = await links.call("GET", f"?{other}&cursor={cursor}")
        assert refused.json()["error"] == {
            "errorMessage": "cursor belongs to a list with other filters or another order",
            "fieldName": "cursor",
        }
    assert len(await links.list(f"size=2&cursor={cursor}")) == 2


async def test_a_forged_cursor(links: Links) -> None:
    """Whatever somebody writes into a cursor, it is refused."""
    places: list[list[object]] = [
        ["2026-01-01", "x"],
        ["0001-01-01T00:00:00+23:59", "00000000-0000-0000-0000-000000000000"],
        [{"$gt": ""}, "00000000-0000-0000-0000-000000000000"],
        ["\ud800", "00000000-0000-0000-0000-000000000000"],
        ["0" * 32, -1],
        [None, None],
        [1, 2, 3, 4],
    ]
    for order, place in product(ORDERS, places):
        text = base64.urlsafe_b64encode(json.dumps(["mark", *place]).encode()).decode()
        answer = await links.call("GET", f"?sort={order}&cursor={text}")
        assert answer.status_code == 400, (order, place)


async def test_another_organization_s_links(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """No list has them, by no filter, and no cursor leads to them."""
    mine, theirs = Links(client, await make_organization()), Links(client, await make_organization())
    made = [await theirs.make(external_id=f"sku-{number}") for number in range(3)]
    assert await mine.list() == await mine.list("external_id=sku-1") == []
    assert await mine.list(f"domain={theirs.organization.domain}") == []
    assert await mine.list(f"search={quote(made[0]['short_url'])}") == []
    for order in ("created", "-clicks_7"):
        cursor = (await theirs.call("GET", f"?size=1&sort={order}")).json()["next_cursor"]
        answer = await mine.call("GET", f"?size=1&sort={order}&cursor={cursor}")
        assert answer.status_code == 400 or answer.json()["links"] == []


async def test_an_order_that_is_gone_in_part(
    links: Links, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While an order is being deleted, a page says so, and never that there is nothing more."""
    monkeypatch.setattr(link_orders, "_IDS_PER_PIECE", 2)
    for _ in range(4):
        await links.make()
    cursor = (await links.call("GET", "?size=2&sort=clicks_7")).json()["next_cursor"]
    assert len(await links.list(f"size=2&sort=clicks_7&cursor={cursor}")) == 2
    start = (await links.call("GET", "?size=1&sort=clicks_7")).json()["next_cursor"]
    await database[link_orders.NAME].delete_many({"_id": {"$regex": "/1$"}})
    answer = await links.call("GET", f"?size=1&sort=clicks_7&cursor={start}")
    assert answer.json()["error"]["errorMessage"] == "cursor is too old; ask for the first page again"


async def test_few_orders_are_kept(links: Links, database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often somebody asks for lists by clicks, only the latest twenty orders are kept."""
    assert link_orders.MOST_KEPT == 20
    monkeypatch.setattr(link_orders, "MOST_KEPT", 3)
    for _ in range(3):
        await links.make()
    first = (await links.call("GET", "?size=1&sort=clicks_7")).json()["next_cursor"]
    for _ in range(link_orders.MOST_KEPT):
        last = (await links.call("GET", "?size=1&sort=clicks_7")).json()["next_cursor"]
    assert await database[link_orders.NAME].count_documents({"org_id": links.organization.id}) == 3
    answer = await links.call("GET", f"?size=1&sort=clicks_7&cursor={first}")
    assert answer.json()["error"]["errorMessage"] == "cursor is too old; ask for the first page again"
    assert len(await links.list(f"size=1&sort=clicks_7&cursor={last}")) == 1
