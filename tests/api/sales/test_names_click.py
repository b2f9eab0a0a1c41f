"""From the short URL to the sale: it names the very click, and believes no other id."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx

from backend.domain.clicks.clicks import Click
from backend.domain.ids import LinkId
from backend.domain.visitors.attribution import Touch
from backend.storage.clicks.places import find_click
from backend.storage.driver.mongo import Database, known_fields
from tests.api.link_calls import API, create
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion
from tests.polling import wait_for_async

BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


async def follow(client: httpx.AsyncClient, short_url: str, referrer: str) -> dict[str, Any]:
    """The signals that a visitor of the short URL brings."""
    url = urlsplit(short_url)
    headers = {"host": url.netloc, "user-agent": BROWSER, "referer": referrer}
    answer = await client.get(url.path, headers=headers)
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


async def click_of_sale(database: Database, visitor: Visitor) -> Click | None:
    """The click that the visitor's sale names."""
    stored_sale: Any = await database["conversions"].find_one({"device_id": visitor.device_id})
    touch = Touch(**known_fields(stored_sale["touch"], Touch))
    if touch.click is None or touch.link_id is None:
        return None
    place, link_id = touch.click, LinkId(touch.link_id)
    return await wait_for_async(
        lambda: find_click(database, visitor.organization.id, link_id, place), "the click is stored"
    )


async def test_a_sale_names_its_click(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """With its time and where it came from, of two clicks on one link."""
    short_url = await create(client, organization)
    visitors = {host: Visitor(client, organization) for host in ("a.example", "b.example")}
    for host, visitor in visitors.items():
        signals = await follow(client, short_url, f"https://{host}/")
        assert signals.keys() == {"cl_link_id", "cl_click_id"}
        results = await visitor.results(check(gclid="g", **signals), conversion())
        assert "notes" not in results[0]
        await visitor.results(conversion(transaction_id=host))
    for host, visitor in visitors.items():
        click = await click_of_sale(database, visitor)
        assert click is not None
        assert (click.referrer_host, (click.browser or "").partition(" ")[0]) == (host, "Firefox")
        url = f"{API}/conversions/{host}/explain"
        touch = (await client.get(url, headers=organization.headers)).json()["shares"][0]["touch"]
        assert touch["click_ids"] == ["gclid"]
        told = touch["click"]
        assert (told["referrer_host"], told["country"], told["variant"]) == (host, None, None)


async def test_forged_and_foreign_ids_count_as_none(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """The visit keeps its link, the sale names no click, and the site's developer is told."""
    first, second = [await follow(client, await create(client, organization), "") for _ in range(2)]
    for wrong in (second["cl_click_id"], "x", "A" * 32):
        visitor = Visitor(client, organization)
        results = await visitor.results(check(**first | {"cl_click_id": wrong}), conversion())
        assert results[0]["notes"] == [
            "cl_click_id is not the id of a click on this link; the visit counts without it"
        ]
        assert results[0]["attribution"]["cl_link_id"] == first["cl_link_id"]
        assert await click_of_sale(database, visitor) is None
    alone = await Visitor(client, organization).result(check(cl_click_id=first["cl_click_id"]))
    assert alone["attribution"] is None
