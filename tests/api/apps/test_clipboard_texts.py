"""The page before the App Store: who copies its text and installs the app gets the link, from any address."""

from __future__ import annotations

import asyncio
import re
import uuid
from dataclasses import replace
from datetime import timedelta

import httpx
import pytest

from backend.domain.ids import InstallId
from backend.domain.visitors.persons import Subject
from backend.domain.web.client import ClientKind, Platform
from backend.storage.accounts.apps import set_apps
from backend.storage.accounts.domains import insert_domain
from backend.storage.apps import clipboard_texts, deferred_links
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject, export_subject
from tests.api.apps.phones import AGENTS, APPS, LinkMaker, Phone, PhoneFactory, ServiceFactory, copied_on
from tests.api.apps.test_deferred_links import OTHER_APPS
from tests.api.link_calls import API, info
from tests.api.told_sales import tell
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.clicks import recorded_clicks
from tests.facts.organizations import TestOrganization
from tests.redirector.user_agents import CLIENTS

assert APPS.ios
WITH_PAGE = replace(APPS, ios=replace(APPS.ios, clipboard_page=True))
STORE = "https://apps.apple.com/app/id123456"


@pytest.fixture
async def short_url(make_app_link: LinkMaker) -> str:
    """A link whose domain asks for the page."""
    return await make_app_link(apps=WITH_PAGE)


async def test_the_text_finds_the_link_from_another_address(
    client: httpx.AsyncClient,
    phone: Phone,
    make_phone: PhoneFactory,
    short_url: str,
    organization: TestOrganization,
    database: Database,
) -> None:
    """The click counts once, the install counts for the link, and only a hash of the text was kept."""
    text = await phone.copy(short_url)
    assert re.fullmatch(re.escape(short_url) + "#cl_clipboard=[A-Za-z0-9_-]{22}", text)
    waiting = await database[clipboard_texts.NAME].find_one({"org_id": organization.id})
    assert waiting is not None
    assert text[-22:] not in str(waiting)
    told = await make_phone().launch(
        organization, clipboard_text=text, install_id="copied", open_id=str(uuid.uuid4())
    )
    assert (told["match"], told["is_new_install"], told["is_counted"]) == ("clipboard", True, False)
    assert (told["destination_url"], told["link"]["short_url"]) == ("https://shop.example/sale", short_url)
    link_id = (await info(client, organization, short_url))["id"]
    install = await database["installs"].find_one({"_id": f"{organization.id}/copied"})
    assert install is not None
    assert (install["link_id"], install["match"]) == (link_id, "clipboard")
    [click] = await recorded_clicks(database, organization.id)
    assert (click.outcome, click.counted) == ("app_store", True)
    assert await database[clipboard_texts.NAME].count_documents({"org_id": organization.id}) == 0


async def test_what_the_install_brings_and_leaves(
    client: httpx.AsyncClient,
    phone: Phone,
    make_phone: PhoneFactory,
    short_url: str,
    organization: TestOrganization,
    database: Database,
) -> None:
    """A sale in the app is the link's. An access shows how it was found, and an erasure leaves none of it."""
    install_id = str(uuid.uuid4())
    text = await phone.copy(short_url)
    await make_phone().launch(organization, clipboard_text=text, install_id=install_id)
    sale = {"transaction_id": "t-1", "revenue": 5, "currency": "EUR", "device_id": install_id}
    await tell(client, organization, "conversions", sale)
    [stored] = await database["conversions"].find({"org_id": organization.id}).to_list(None)
    assert stored["touch"]["link_id"] == (await info(client, organization, short_url))["id"]
    subject = Subject(install_id=InstallId(install_id))
    kept = [document async for document in export_subject(database, organization.id, subject)]
    assert "'match': 'clipboard'" in str(kept)
    await erase_subject(database, organization.id, subject)
    assert [document async for document in export_subject(database, organization.id, subject)] == []


async def test_one_installation_redeems_a_text(
    phone: Phone, make_phone: PhoneFactory, short_url: str, organization: TestOrganization
) -> None:
    """Of many at the same moment one gets the link. The database decides which; all are recorded."""
    text = await phone.copy(short_url)
    phones = [make_phone() for _ in range(20)]
    told = await asyncio.gather(*(opener.launch(organization, clipboard_text=text) for opener in phones))
    assert sorted(answer["match"] for answer in told) == ["clipboard", *["none"] * 19]
    assert all(answer["is_new_install"] for answer in told)


async def test_an_installation_that_reports_again(
    phone: Phone, make_phone: PhoneFactory, short_url: str, organization: TestOrganization
) -> None:
    """An app that lost the answer gets it again, with the text or without."""
    text = await phone.copy(short_url)
    sent = [{"clipboard_text": text}, {"clipboard_text": text}, {}]
    told = [await make_phone().launch(organization, install_id="again", **fields) for fields in sent]
    assert {answer["match"] for answer in told} == {"clipboard"}
    assert sum(answer["is_new_install"] for answer in told) == 1


async def test_the_text_uses_up_the_match_by_address(
    phone: Phone, make_phone: PhoneFactory, short_url: str, organization: TestOrganization
) -> None:
    """Nobody else gets the tap by its address, whether the app is opened there or elsewhere."""
    for opened_at in (phone, make_phone()):
        text = await phone.copy(short_url)
        assert (await opened_at.launch(organization, clipboard_text=text))["match"] == "clipboard"
        assert (await phone.launch(organization))["match"] == "none"


async def test_a_match_by_address_leaves_the_texts(
    phone: Phone, short_url: str, organization: TestOrganization
) -> None:
    """Two taps make two texts and one candidate by address: each text still finds the link, once."""
    first, second = [await phone.copy(short_url) for _ in range(2)]
    assert first != second
    assert (await phone.launch(organization))["match"] == "address"
    for text in (first, second):
        told = [await phone.launch(organization, clipboard_text=text) for _ in range(2)]
        assert [answer["match"] for answer in told] == ["clipboard", "none"]


async def test_the_link_that_the_app_names_comes_first(
    client: httpx.AsyncClient, phone: Phone, make_app_link: LinkMaker, organization: TestOrganization
) -> None:
    """A text of the same link is used up with it; one of another link can still be redeemed."""
    short_url, other = [await make_app_link(apps=WITH_PAGE) for _ in range(2)]
    text, of_other = await phone.copy(short_url), await phone.copy(other)
    for sent in (text, of_other):
        told = await phone.launch(organization, short_url=short_url, clipboard_text=sent)
        assert (told["match"], told["link"]["short_url"]) == ("link", short_url)
    assert (await phone.launch(organization, clipboard_text=of_other))["match"] == "clipboard"
    assert (await phone.launch(organization, clipboard_text=text))["match"] == "none"


async def test_another_organization(
    phone: Phone,
    make_app_link: LinkMaker,
    make_organization: OrganizationFactory,
    short_url: str,
    organization: TestOrganization,
) -> None:
    """Its app learns nothing from the text, though its name is the same, and uses nothing up."""
    other = await make_organization()
    await make_app_link(other, apps=WITH_PAGE)
    text = await phone.copy(short_url)
    assert (await phone.launch(other, clipboard_text=text))["match"] == "none"
    assert (await phone.launch(organization, clipboard_text=text))["match"] == "clipboard"


async def test_another_app_of_the_organization(
    phone: Phone,
    make_phone: PhoneFactory,
    short_url: str,
    organization: TestOrganization,
    database: Database,
    clock: MovableClock,
) -> None:
    """With two apps, the open says which one it is, and only the one of the link redeems the text."""
    second = f"two.{organization.domain}"
    await insert_domain(database, second, organization.id, clock())
    await set_apps(database, second, organization.id, OTHER_APPS)
    text = await phone.copy(short_url)
    matches = [
        (await make_phone().launch(organization, clipboard_text=text, **fields))["match"]
        for fields in ({}, {"app_id": "com.shop.other"}, {"app_id": "com.shop.app"})
    ]
    assert matches == ["none", "none", "clipboard"]


async def test_a_text_ages(
    phone: Phone, short_url: str, organization: TestOrganization, clock: MovableClock
) -> None:
    """It can be redeemed for a day, which is longer than a match by address."""
    early, late = [await phone.copy(short_url) for _ in range(2)]
    clock.offset = timedelta(hours=23, minutes=55)
    assert (await phone.launch(organization, clipboard_text=early))["match"] == "clipboard"
    clock.offset = timedelta(hours=24, minutes=5)
    assert (await phone.launch(organization, clipboard_text=late))["match"] == "none"


async def test_what_is_no_text_of_ours(
    phone: Phone, make_phone: PhoneFactory, short_url: str, organization: TestOrganization
) -> None:
    """Whatever a clipboard holds, the first launch is recorded. The text is for first launches on iOS."""
    text = await phone.copy(short_url)
    for number, other in enumerate(("Dear Ada,\nsee you", short_url, text[:-1], f"{text}x", f"{text} x")):
        told = await make_phone().launch(organization, clipboard_text=other, install_id=f"other {number}")
        assert (told["match"], told["is_new_install"]) == ("none", True)
    for fields in ({"platform": "android"}, {"is_first_launch": False}, {"install_id": "other 0"}):
        assert (await make_phone().launch(organization, clipboard_text=text, **fields))["match"] == "none"
    assert (await make_phone().launch(organization, clipboard_text=f"{text}\n"))["match"] == "clipboard"


async def test_a_link_disabled_after_the_tap(
    client: httpx.AsyncClient, phone: Phone, short_url: str, organization: TestOrganization
) -> None:
    """It leads nowhere, and its text is used up."""
    text = await phone.copy(short_url)
    link_id = (await info(client, organization, short_url))["id"]
    for is_enabled in (False, True):
        await client.patch(
            f"{API}/links/change-status/{link_id}",
            json={"is_enabled": is_enabled},
            headers=organization.headers,
        )
        assert (await phone.launch(organization, clipboard_text=text))["match"] == "none"


async def test_out_of_an_in_app_browser(
    phone: Phone,
    make_phone: PhoneFactory,
    make_app_link: LinkMaker,
    organization: TestOrganization,
    database: Database,
) -> None:
    """The page comes after the way out, the two requests are one click, and the text finds the link."""
    short_url = await make_app_link(apps=replace(WITH_PAGE, in_app_page=True))
    line = CLIENTS[ClientKind.IN_APP_BROWSER, Platform.IOS]["Line on iOS"]
    page = await phone.tap(short_url, **{"user-agent": line})
    found = re.search(r"cl_click_id=([A-Za-z0-9_-]+)", page.text)
    assert found
    safari = await make_phone().http.get(
        f"{short_url}?cl_click_id={found[1]}", headers={"user-agent": AGENTS["ios"]}
    )
    told = await phone.launch(organization, clipboard_text=copied_on(safari))
    assert told["match"] == "clipboard"
    assert (await phone.launch(organization))["match"] == "none"
    assert [click.outcome for click in await recorded_clicks(database, organization.id)] == ["app_page"]


async def test_who_gets_no_page(
    phone: Phone, make_app_link: LinkMaker, short_url: str, organization: TestOrganization
) -> None:
    """It is off at first, and is for links that lead a person on iOS to the App Store."""
    assert (await phone.tap(short_url, method="HEAD")).headers["location"] == STORE
    assert (await phone.tap(short_url, **{"sec-purpose": "prefetch"})).headers["location"] == STORE
    assert (await phone.tap(short_url, "android")).headers["location"].startswith("intent:")
    own = await make_app_link(apps=WITH_PAGE, ios_fallback_url="https://shop.example/ios")
    in_browser = await make_app_link(apps=WITH_PAGE, ios_behavior=1)
    for other in (own, in_browser):
        assert (await phone.tap(other)).headers["location"].startswith("https://shop.example/")
    off = await make_app_link()
    assert (await phone.tap(off)).headers["location"] == STORE


async def test_too_many_texts_of_an_address(phone: Phone, short_url: str) -> None:
    """An address gets 120 a minute; whoever comes then is sent to the App Store at once."""
    statuses = [
        (await phone.http.get(short_url, headers={"user-agent": AGENTS["ios"]})).status_code
        for _ in range(122)
    ]
    assert (statuses.count(200), statuses[-2:]) == (120, [302, 302])


async def test_without_the_match_by_address(
    service_with: ServiceFactory,
    make_app_link: LinkMaker,
    organization: TestOrganization,
    database: Database,
) -> None:
    """With WAYLINK_DEFERRED_LINK_SECONDS=0 no address is kept, and the text finds the link all the same."""
    short_url = await make_app_link(apps=WITH_PAGE)
    async with service_with(deferred_link_seconds=0.0) as service:
        phone = Phone(httpx.AsyncClient(transport=httpx.ASGITransport(app=service)), database)
        text = await phone.copy(short_url)
        assert (await phone.launch(organization, clipboard_text=text))["match"] == "clipboard"
    assert await database[deferred_links.NAME].count_documents({"org_id": organization.id}) == 0
