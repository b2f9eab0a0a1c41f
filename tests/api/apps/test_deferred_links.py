"""Deferred deep links: the first launch of an app gets the link that was clicked before it was installed."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import httpx
import pytest

from backend.domain.accounts.apps import Apps, IosApp
from backend.storage.accounts.apps import set_apps
from backend.storage.accounts.domains import insert_domain
from backend.storage.apps.deferred_links import NAME
from backend.storage.clicks.address_keys import address_key, find_address_keys
from backend.storage.driver.mongo import Database
from tests.api.apps.phones import LinkMaker, Phone, PhoneFactory, ServiceFactory
from tests.api.link_calls import API, info
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.clicks import recorded_clicks
from tests.facts.organizations import TestOrganization

OTHER_APPS = Apps(IosApp("A1B2C3D4E5", "com.shop.other", "654321"))


@pytest.mark.parametrize("platform", ["ios", "android"])
async def test_the_first_launch_gets_the_link(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization, platform: str
) -> None:
    """Who clicked and then installed is told where the link leads, and that it was found by address."""
    short_url = await make_app_link()
    await phone.click(short_url, platform)
    told = await phone.launch(organization, platform=platform)
    assert (told["is_new_install"], told["match"]) == (True, "address")
    assert told["destination_url"] == "https://shop.example/sale"
    assert told["link"]["short_url"] == short_url


async def test_the_install_is_counted_for_the_link(
    client: httpx.AsyncClient,
    phone: Phone,
    make_app_link: LinkMaker,
    organization: TestOrganization,
    database: Database,
) -> None:
    """An install that was matched by address belongs to the link."""
    short_url = await make_app_link()
    link_id = (await info(client, organization, short_url))["id"]
    await phone.click(short_url)
    await phone.launch(organization, install_id="counted")
    install = await database["installs"].find_one({"_id": f"{organization.id}/counted"})
    assert install is not None
    assert (install["link_id"], install["match"]) == (link_id, "address")


async def test_two_candidates_are_none(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """Where two links were clicked from an address, nobody guesses which one it was."""
    for _ in range(2):
        await phone.click(await make_app_link())
    told = await phone.launch(organization)
    assert (told["match"], told["destination_url"], told["link"]) == ("none", None, None)


@pytest.mark.parametrize("passes_midnight", [False, True])
async def test_two_clicks_on_one_link_are_one_candidate(
    phone: Phone,
    make_app_link: LinkMaker,
    organization: TestOrganization,
    clock: MovableClock,
    passes_midnight: bool,
) -> None:
    """Who taps twice installs once: the first launch gets the link, a second one nothing. So it is if the
    taps are on both sides of midnight, when the key that hashes addresses changes."""
    short_url = await make_app_link()
    if passes_midnight:
        now = clock()
        next_day = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        clock.offset = next_day - now - timedelta(minutes=5)
    await phone.click(short_url)
    clock.offset += timedelta(minutes=10)
    await phone.click(short_url)
    assert [(await phone.launch(organization))["match"] for _ in range(2)] == ["address", "none"]


async def test_a_click_after_the_claim_is_a_new_one(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """The next person at the same address who clicks the same link gets it, too."""
    short_url = await make_app_link()
    for _ in range(2):
        await phone.click(short_url)
        assert (await phone.launch(organization))["match"] == "address"


async def test_parallel_claims(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """Of many installations at the same moment, one gets the link."""
    await phone.click(await make_app_link())
    told = await asyncio.gather(*(phone.launch(organization) for _ in range(20)))
    assert sorted(answer["match"] for answer in told) == ["address", *["none"] * 19]
    assert all(answer["is_new_install"] for answer in told)


async def test_an_installation_that_reports_again(
    phone: Phone, make_phone: PhoneFactory, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """An app that lost the answer gets it again, from any network; the install counts once."""
    await phone.click(await make_app_link())
    together = await asyncio.gather(*(phone.launch(organization, install_id="again") for _ in range(5)))
    later = await make_phone().launch(organization, install_id="again")
    assert {answer["match"] for answer in [*together, later]} == {"address"}
    assert sum(answer["is_new_install"] for answer in [*together, later]) == 1


async def test_an_installation_that_was_told_nothing(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """An installation that was recorded before the click claims nothing after it."""
    await phone.launch(organization, install_id="organic")
    await phone.click(await make_app_link())
    told = await phone.launch(organization, install_id="organic")
    assert (told["is_new_install"], told["match"]) == (False, "none")


async def test_another_organization(
    phone: Phone,
    make_app_link: LinkMaker,
    make_organization: OrganizationFactory,
    organization: TestOrganization,
) -> None:
    """Another organization's app learns nothing of the click, though its name and address are the same."""
    other = await make_organization()
    await make_app_link(other)
    await phone.click(await make_app_link())
    assert (await phone.launch(other))["match"] == "none"
    assert (await phone.launch(organization))["match"] == "address"


@pytest.mark.parametrize(
    ("fields", "match"),
    [({}, "none"), ({"app_id": "com.shop.other"}, "none"), ({"app_id": "com.shop.app"}, "address"),
     ({"app_id": "com.nobody"}, "none")],
)  # fmt: skip
async def test_another_app_of_the_organization(
    phone: Phone,
    make_app_link: LinkMaker,
    organization: TestOrganization,
    database: Database,
    clock: MovableClock,
    fields: dict[str, str],
    match: str,
) -> None:
    """With two apps, an open must say which one it is, and only the one that was linked gets the link."""
    second = f"two.{organization.domain}"
    await insert_domain(database, second, organization.id, clock())
    await set_apps(database, second, organization.id, OTHER_APPS)
    await phone.click(await make_app_link())
    assert (await phone.launch(organization, **fields))["match"] == match


async def test_another_address_and_platform(
    phone: Phone, make_phone: PhoneFactory, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """Neither another address nor another platform gets the link."""
    await phone.click(await make_app_link())
    assert (await make_phone().launch(organization))["match"] == "none"
    assert (await phone.launch(organization, platform="android"))["match"] == "none"


async def test_ipv6_addresses_that_change(
    make_phone: PhoneFactory, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """Phones change the second half of their IPv6 address: the first half is what is matched."""
    await make_phone("2001:db8:1:2:aaaa::1").click(await make_app_link())
    assert (await make_phone("2001:db8:1:3::1").launch(organization))["match"] == "none"
    assert (await make_phone("2001:db8:1:2:bbbb::9").launch(organization))["match"] == "address"


@pytest.mark.parametrize(("minutes", "match"), [(59, "address"), (61, "none")])
async def test_the_window(
    phone: Phone,
    make_app_link: LinkMaker,
    organization: TestOrganization,
    clock: MovableClock,
    minutes: int,
    match: str,
) -> None:
    """The click counts for as long as WAYLINK_DEFERRED_LINK_SECONDS says: an hour."""
    await phone.click(await make_app_link())
    clock.offset = timedelta(minutes=minutes)
    assert (await phone.launch(organization))["match"] == match


async def test_what_leaves_nothing_for_an_app(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """A HEAD request, a desktop's click and a link that opens in the browser are no candidates."""
    await phone.click(await make_app_link(), method="HEAD")
    await phone.click(await make_app_link(), "desktop")
    await phone.click(await make_app_link(ios_behavior=1))
    assert (await phone.launch(organization))["match"] == "none"


async def test_the_install_referrer_is_certain(
    client: httpx.AsyncClient, phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """It decides where the address could not, and takes its own click from those that are left."""
    mine, other = await make_app_link(), await make_app_link()
    for short_url in (mine, other):
        await phone.click(short_url, "android")
    link_id = (await info(client, organization, mine))["id"]
    told = await phone.launch(organization, platform="android", install_referrer=f"cl_link_id={link_id}")
    assert (told["match"], told["link"]["short_url"]) == ("install_referrer", mine)
    left = await phone.launch(organization, platform="android")
    assert (left["match"], left["link"]["short_url"]) == ("address", other)


async def test_a_link_disabled_after_the_click(
    client: httpx.AsyncClient, phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """A disabled link leads nowhere, also when its click came before."""
    short_url = await make_app_link()
    await phone.click(short_url)
    link_id = (await info(client, organization, short_url))["id"]
    await client.patch(
        f"{API}/links/change-status/{link_id}", json={"is_enabled": False}, headers=organization.headers
    )
    told = await phone.launch(organization)
    assert (told["match"], told["destination_url"]) == ("none", None)


async def test_a_later_open_claims_nothing(
    phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """Only a first launch looks for a click."""
    await phone.click(await make_app_link())
    assert (await phone.launch(organization, is_first_launch=False))["match"] == "none"
    assert (await phone.launch(organization))["match"] == "address"


async def test_the_match_by_address_can_be_turned_off(
    service_with: ServiceFactory, make_app_link: LinkMaker, organization: TestOrganization, database: Database
) -> None:
    """With WAYLINK_DEFERRED_LINK_SECONDS=0 nothing is matched, and no hash is kept."""
    short_url = await make_app_link()
    async with service_with(deferred_link_seconds=0.0) as service:
        phone = Phone(httpx.AsyncClient(transport=httpx.ASGITransport(app=service)), database)
        await phone.click(short_url)
        assert (await phone.launch(organization))["match"] == "none"
    assert await database[NAME].count_documents({"org_id": organization.id}) == 0


async def test_addresses_behind_a_proxy(
    service_with: ServiceFactory, make_app_link: LinkMaker, organization: TestOrganization, database: Database
) -> None:
    """The phone's address is what a trusted proxy tells of it, for the click and for the open; of several
    lines the last is the proxy's own."""
    short_url = await make_app_link()
    async with service_with(trusted_proxies=("10.0.0.0/8",)) as service:
        transport = httpx.ASGITransport(app=service, client=("10.0.0.1", 1))
        phone = Phone(httpx.AsyncClient(transport=transport), database)
        await phone.click(short_url, **{"x-forwarded-for": "203.0.113.5"})
        phone.http.headers["x-forwarded-for"] = "203.0.113.6"
        assert (await phone.launch(organization))["match"] == "none"
        phone.http.headers = httpx.Headers([("x-forwarded-for", ip) for ip in ("8.8.8.8", "203.0.113.5")])
        assert (await phone.launch(organization))["match"] == "address"


async def test_every_process_has_the_same_key_of_a_day(database: Database) -> None:
    """Processes that need a new day's key at the same moment get one key; another day has another."""
    keys = await asyncio.gather(*(address_key(database, "2999-01-01") for _ in range(20)))
    assert len(set(keys)) == 1
    assert await address_key(database, "2999-01-02") not in keys
    assert await find_address_keys(database, ["2999-01-01", "2999-01-03"]) == keys[:1]


async def test_no_address_is_stored(
    make_phone: PhoneFactory, make_app_link: LinkMaker, organization: TestOrganization, database: Database
) -> None:
    """What is kept is a keyed hash that expires, and none of it is in the click's record."""
    address = "203.0.113.77"
    await make_phone(address).click(await make_app_link())
    waiting = await database[NAME].find_one({"org_id": organization.id})
    [click] = await recorded_clicks(database, organization.id)
    assert waiting is not None
    assert address not in f"{waiting} {click}"
    assert round((waiting["expires_at"] - waiting["clicked_at"]).total_seconds()) == 3600
    assert waiting["address_hash"] not in str(click)
