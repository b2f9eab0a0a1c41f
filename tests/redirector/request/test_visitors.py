"""Who counts as one visitor: an address with a browser, on one day, for one organization."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from backend.app import Service, create_app
from backend.domain.apps.deferred_links import day_of
from backend.domain.clicks.clicks import parse_record
from backend.domain.clicks.visitor_hashes import visitor_hash
from backend.domain.ids import OrgId
from backend.domain.links.links import Link
from backend.redirector.request.daily_keys import DailyKeys
from backend.settings import Settings
from backend.storage.clicks.address_keys import NAME, address_key, visitor_key
from backend.storage.database import open_database
from backend.storage.driver.mongo import Database
from tests.conftest import MovableClock
from tests.facts.organizations import create_test_organization
from tests.redirector.conftest import DESKTOP, LinkFactory

ADDRESS, OTHER_ADDRESS, PROXY = "203.0.113.7", "203.0.113.8", "10.1.2.3"
PHONE = "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/126.0.0.0 Mobile Safari/537.36"
CRAWLER = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


async def visit(
    service: Service,
    link: Link,
    *,
    address: str = ADDRESS,
    agent: str = DESKTOP,
    method: str = "GET",
    forwarded: str = "",
) -> int | None:
    """The hash in the click log of a visitor from this address with this browser."""
    headers = {"user-agent": agent} | ({"x-forwarded-for": forwarded} if forwarded else {})
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=service, client=(address, 4711))
    ) as client:
        await client.request(method, f"http://{link.domain}/{link.path}", headers=headers)
    lines = service.redirector.shipper.log.path.read_bytes().splitlines()
    return parse_record(next(line for line in reversed(lines) if link.id.encode() in line)).visitor


async def test_one_browser_at_one_address_is_one_visitor(service: Service, make_link: LinkFactory) -> None:
    """Also on two links of the organization. Another browser or another address is another visitor."""
    link = await make_link()
    same = [await visit(service, target) for target in (link, link, await make_link())]
    others = [
        await visit(service, link, agent=PHONE),
        await visit(service, link, address=OTHER_ADDRESS),
        await visit(service, link, address=OTHER_ADDRESS, agent=PHONE),
    ]
    assert None not in (*same, *others)
    assert len(set(same)) == 1
    assert len({*same, *others}) == 4


async def test_addresses_of_one_ipv6_network_are_one_visitor(
    service: Service, make_link: LinkFactory
) -> None:
    """Devices change the second half of their address during a day."""
    link = await make_link()
    seen = [
        await visit(service, link, address=f"2001:db8:1:{rest}") for rest in ("2::1", "2:3:4:5:6", "3::1")
    ]
    assert seen[0] == seen[1] != seen[2]


def test_the_same_visitor_has_the_same_hash_in_every_version() -> None:
    """So that hosts of different versions count a visitor once."""
    assert visitor_hash(bytes(range(32)), OrgId("org"), "2001:db8::1", b"Firefox") == 366582054


async def test_an_organization_can_not_know_the_visitors_of_another(
    service: Service, database: Database, make_link: LinkFactory
) -> None:
    """One visitor has another hash there."""
    other = await create_test_organization(database)
    link = await make_link(org_id=other.id, domain=other.domain)
    assert await visit(service, link) != await visit(service, await make_link())


@pytest.mark.parametrize("visitor", [{"method": "HEAD"}, {"agent": CRAWLER}])
async def test_what_does_not_count_has_no_visitor(
    service: Service, make_link: LinkFactory, visitor: dict[str, str]
) -> None:
    """Nothing is kept of who it was."""
    assert await visit(service, await make_link(), **visitor) is None


async def test_a_visitor_without_an_address_is_not_known(service: Service, make_link: LinkFactory) -> None:
    """The browser alone would make one visitor of many people."""
    assert await visit(service, await make_link(), address="") is None


async def test_behind_a_proxy_the_forwarded_address_counts(
    settings: Settings, service: Service, make_link: LinkFactory, tmp_path: Path
) -> None:
    """And a second service gives a visitor the same hash as the first."""
    link = await make_link()
    behind_proxy = create_app(
        dataclasses.replace(settings, data_dir=tmp_path, trusted_proxies=("10.0.0.0/8",))
    )
    await behind_proxy.startup()
    forwarded = [
        await visit(behind_proxy, link, address=PROXY, forwarded=address)
        for address in (ADDRESS, OTHER_ADDRESS)
    ]
    await behind_proxy.shutdown()
    assert forwarded == [await visit(service, link, address=address) for address in (ADDRESS, OTHER_ADDRESS)]


async def test_the_next_day_knows_nobody_again(
    settings: Settings, make_link: LinkFactory, clock: MovableClock, tmp_path: Path
) -> None:
    """Its key is in memory beforehand, and is another one."""
    link = await make_link()
    just_started = create_app(dataclasses.replace(settings, data_dir=tmp_path), clock)
    await just_started.startup()
    today = await visit(just_started, link)
    clock.offset = timedelta(days=1)
    tomorrow = await visit(just_started, link)
    await just_started.shutdown()
    assert None not in {today, tomorrow}
    assert today != tomorrow


async def test_without_a_key_nobody_is_hashed(
    service: Service, make_link: LinkFactory, clock: MovableClock
) -> None:
    """A click of a day whose key could not be read yet is counted without a visitor."""
    clock.offset = timedelta(days=2)
    assert await visit(service, await make_link()) is None


async def test_keys_are_forgotten_after_their_day(database: Database) -> None:
    """In memory and, an hour later, in the database; the hashes then belong to nobody."""
    clock = MovableClock()
    clock.offset = timedelta(days=1000)
    keys = DailyKeys(database, clock, "visitors", visitor_key)
    await keys.start()
    first_day = clock()
    assert keys.of_day(first_day) == await visitor_key(database, day_of(first_day))
    await keys.stop()
    clock.offset += timedelta(days=2)
    await keys.start()
    assert keys.of_day(first_day) is None
    assert keys.of_day(clock()) is not None
    await keys.stop()
    stored = await database[NAME].find_one({"_id": f"visitors/{day_of(first_day)}"})
    assert stored is not None
    midnight = datetime.combine(first_day.date() + timedelta(days=1), datetime.min.time())
    assert stored["expires_at"].astimezone(UTC).replace(tzinfo=None) == midnight + timedelta(hours=1)


async def test_every_process_has_the_same_key_of_visitors(database: Database) -> None:
    """One a day, which is not the key of addresses for deferred deep links."""
    keys = await asyncio.gather(*(visitor_key(database, "2999-01-01") for _ in range(20)))
    others = [await visitor_key(database, "2999-01-02"), await address_key(database, "2999-01-01")]
    assert len({*keys}) == 1
    assert len({*keys, *others}) == 3


async def test_a_start_does_not_wait_for_keys(settings: Settings) -> None:
    """Where MongoDB does not answer, the service starts without keys, and they are read later."""
    nowhere = dataclasses.replace(settings, mongodb_uri="mongodb://127.0.0.1:9/?directConnection=true")
    async with open_database(nowhere, may_be_away=True) as database:
        keys = DailyKeys(database, MovableClock(), "visitors", visitor_key)
        async with asyncio.timeout(5):
            await keys.start()
        assert keys.of_day(MovableClock()()) is None
        await keys.stop()
