"""Where visitors of a link with rules go."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.links.links import CreatedBy, Link
from backend.domain.links.operations import ChangeLink, LinkRequest
from backend.domain.links.rules.conditions import Circumstances
from backend.redirector.links.cache import LinkCache
from backend.redirector.request.recognition import recognize
from backend.storage.driver.mongo import Database
from backend.storage.links.destinations.policies import DestinationPolicies
from backend.storage.links.writing.writes import store_link
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization
from tests.polling import until, wait_for_async
from tests.redirector.answers.test_outcomes import IPHONE, PIXEL
from tests.redirector.conftest import LinkFactory, Recorded
from tests.redirector.request.test_forwarding import BRITISH, GERMAN

DEVICE = "cl_device_id=6f1f8b8e-7d43-4b0e-9a0c-0d7a5a8c1b2d"


def rule(url: str, **conditions: Any) -> dict[str, Any]:
    """A rule in its stored form."""
    return {"if": conditions, "then": {"destination_url": f"https://{url}.example/"}}


RULES = [
    rule("german", country=["DE"]),
    rule("phone", platform=["ios", "android"]),
    rule("french", language=["fr"]),
    rule("sale", query={"ref": "sale"}),
    rule("again", device="returning"),
]


async def visited(
    service: Service, link: Link, query: str = "", peer: str = BRITISH, **headers: str
) -> str | None:
    """The host that the link leads to."""
    transport = httpx.ASGITransport(app=service, client=(peer, 4711))
    async with httpx.AsyncClient(transport=transport) as client:
        url = f"http://{link.domain}/{link.path}{query}"
        answer = await client.get(url, headers={"user-agent": "Firefox/130"} | headers)
    assert answer.status_code == 302
    to = httpx.URL(answer.headers["location"])
    assert to.params["cl_link_id"] == link.id
    assert to.params["utm_source"] == "mail"
    assert to.params.get("cl_variant", to.host.removesuffix(".example")) == to.host.removesuffix(".example")
    return to.host.removesuffix(".example")


@pytest.mark.parametrize(
    ("query", "peer", "headers", "host"),
    [
        ("", BRITISH, {}, "shop"),
        ("", GERMAN, {"user-agent": IPHONE}, "german"),
        ("", BRITISH, {"user-agent": IPHONE}, "phone"),
        ("", BRITISH, {"user-agent": PIXEL}, "phone"),
        ("", BRITISH, {"accept-language": "en;q=0.7, fr-CA;q=0.8"}, "french"),
        ("", BRITISH, {"accept-language": "en, fr;q=0.8"}, "shop"),
        ("?ref=sale", BRITISH, {}, "sale"),
        ("?ref=sale", BRITISH, {"accept-language": "fr"}, "french"),
        ("", BRITISH, {"cookie": f"a=b; {DEVICE}"}, "again"),
        ("", BRITISH, {"cookie": f"my_{DEVICE}"}, "shop"),
    ],
)
async def test_who_goes_where(
    service: Service, make_link: LinkFactory, query: str, peer: str, headers: dict[str, str], host: str
) -> None:
    """Country, platform, language, query and the SDK's cookie are read from the request; the first rule that
    fits decides. The address gets what every destination gets."""
    link = await make_link(rules=RULES, ios_behavior=2, utm={"utm_source": "mail"})
    assert await visited(service, link, query, peer, **headers) == host


async def test_a_click_by_a_rule_counts(service: Service, make_link: LinkFactory, recorded: Recorded) -> None:
    """It is recorded as every other one."""
    link = await make_link(rules=[rule("any")], utm={"utm_source": "mail"})
    assert await visited(service, link) == "any"
    (click,) = await recorded(link, 1)
    assert (click["counted"], click["outcome"]) == (True, "web")


async def test_a_split(service: Service, make_link: LinkFactory, recorded: Recorded) -> None:
    """A visitor stays with a variant, others get the other one; the page is told, and the click has it."""
    parts = [{"name": name, "weight": 1, "destination_url": f"https://{name}.example/"} for name in "ab"]
    link = await make_link(rules=[{"if": {}, "then": {"split": parts}}], utm={"utm_source": "mail"})
    # So many that they all get the same one by chance once in a billion runs.
    peers = [f"203.0.113.{number}" for number in range(31)]
    first = [await visited(service, link, peer=peer) for peer in peers]
    assert set(first) == {"a", "b"}
    assert [await visited(service, link, "?x=1", peer=peer) for peer in peers] == first
    clicks = await recorded(link, 2 * len(peers))
    assert [click["variant"] for click in clicks] == first * 2


async def test_a_changed_rule_is_told_to_every_process(
    database: Database, organization: TestOrganization, make_link: LinkFactory
) -> None:
    """The change stream tells a second cache long before its time to live is over, and it decides anew."""
    link = await make_link(rules=[rule("old")])
    cache = LinkCache(database, utc_now, capacity=10, seconds_to_live=3600)
    await cache.start()
    visit = Circumstances(recognize(b""), utc_now())

    async def leads_to() -> str | None:
        entry = cache.current(link.domain, link.path) or await cache.load(link.domain, link.path)
        target = entry and entry.rules and entry.rules.target(visit)
        return target.link.destination_url if target else None

    try:
        await until(lambda: cache.follows_changes, "the stream does not prove that it is current")
        assert await leads_to() == "https://old.example/"
        for rules, url in (([rule("new")], "https://new.example/"), ([], None)):
            change = ChangeLink(link.id, {"rules": rules})
            request = LinkRequest(organization.id, CreatedBy.REST, utc_now(), change)
            await store_link(database, request, DestinationPolicies(database))
            await wait_for_async(leads_to, "the change was not told", lambda seen: seen == url)  # noqa: B023 - called here
            assert cache.current(link.domain, link.path), "it is not kept"
    finally:
        await cache.stop()
