"""The pages that set the mobile apps of a domain."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace
from html import unescape

import pytest

from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.ids import LinkId
from backend.domain.links.links import Behavior
from backend.storage.accounts.apps import find_apps, set_apps
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.conftest import OrganizationFactory
from tests.dashboard.campaigns import make_link
from tests.dashboard.people import Person, heading
from tests.facts.organizations import TestOrganization
from tests.facts.stored_links import insert_links

FINGERPRINTS = [":".join(["AB"] * 32), ":".join(["01"] * 32)]
APPS = Apps(
    IosApp("A1B2C3D4E5", "com.shop.app", "1234567890", "shopapp", clipboard_page=True, mail_page=True),
    AndroidApp("com.shop.app", tuple(FINGERPRINTS)),
    in_app_page=True,
)
FORM = {
    "ios_team_id": "a1b2c3d4e5",
    "ios_bundle_id": "com.shop.app",
    "app_store_id": "1234567890",
    "custom_scheme": "shopapp",
    "clipboard_page": "yes",
    "mail_page": "yes",
    "in_app_page": "yes",
    "android_package": "com.shop.app",
    "android_fingerprints": "\n".join(fingerprint.lower() for fingerprint in FINGERPRINTS),
}


async def test_apps_are_set_and_taken_away(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """What the form holds is what the domain has, also when it is empty."""
    path = f"/apps/{organization.domain}"
    answer = await person.send(path, path, **FORM)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/apps?notice=apps-saved")
    assert await find_apps(database, organization.domain) == APPS
    listed = unescape((await person.get("/apps")).text)
    assert listed.count("com.shop.app") == 2
    # What the app's developer copies is filled in.
    assert f"domains: ['{organization.domain}']," in listed
    assert "curl -O http://localhost:8080/waylink-app-" in listed
    await person.send(path, path)  # the form as it is changes nothing
    assert await find_apps(database, organization.domain) == APPS
    await person.send(path, path, **dict.fromkeys(FORM, ""))
    assert await find_apps(database, organization.domain) == Apps()


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("ios_team_id", "short", "iOS team id &#39;SHORT&#39; must be 10 capital letters and digits"),
        ("ios_team_id", "", "iOS team id is needed for an iOS app."),
        ("ios_bundle_id", "", "iOS bundle id is needed for an iOS app."),
        ("app_store_id", "x", "App Store id &#39;x&#39; must be digits"),
        ("custom_scheme", "https", "Custom scheme &#39;https&#39; is no app&#39;s own"),
        ("custom_scheme", "shop app", "Custom scheme &#39;shop app&#39; must be small letters and digits"),
        ("android_package", "app", "Android package &#39;app&#39; must be names separated by dots"),
        ("android_package", "", "Android package is needed where a certificate"),
        ("android_fingerprints", "AB:CD", "Certificate fingerprint &#39;AB:CD&#39; must be SHA-256"),
    ],
)
async def test_what_breaks_a_rule(
    person: Person, database: Database, organization: TestOrganization, field: str, value: str, problem: str
) -> None:
    """A wrong identifier is named at its field, what was typed stays, and nothing is stored."""
    path = f"/apps/{organization.domain}"
    answer = await person.send(path, path, **(FORM | {field: value}))
    assert answer.status_code == 422
    assert problem in answer.text
    assert f'id="{field}-problem"' in answer.text
    assert await find_apps(database, organization.domain) == Apps()


async def test_the_page_before_the_app_store_needs_its_id(
    person: Person, organization: TestOrganization
) -> None:
    """The box says what is missing, and stays as it was ticked."""
    path = f"/apps/{organization.domain}"
    answer = await person.send(path, path, **(FORM | {"app_store_id": ""}))
    assert answer.status_code == 422
    assert "Page before the App Store needs the App Store id" in answer.text
    assert re.search(
        r'name="clipboard_page" value="yes" checked aria-describedby="clipboard_page-p', answer.text
    )
    answer = await person.send(path, path, **(FORM | {"custom_scheme": ""}))
    assert answer.status_code == 422
    assert "Page for visitors out of mails needs the custom scheme" in answer.text


async def test_another_organization_s_domain(
    person: Person, database: Database, make_organization: OrganizationFactory
) -> None:
    """The apps of another organization's domain are neither shown nor set."""
    other = await make_organization()
    answer = await person.get(f"/apps/{other.domain}")
    assert (answer.status_code, heading(answer)) == (404, "There is nothing here")
    answer = await person.client.post(f"/apps/{other.domain}", data=FORM | await person.token())
    assert answer.status_code == 404
    assert await find_apps(database, other.domain) == Apps()
    assert other.domain not in (await person.get("/apps")).text


async def test_what_new_apps_change_is_shown_before_they_are_saved(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """By kind of link, with their number and one of them; nothing is stored."""
    path = f"/apps/{organization.domain}"
    made = [await make_link(database, organization, name, utc_now()) for name in ("A", "B", "C")]
    app_links = [
        replace(link, id=LinkId(str(uuid.uuid4())), path=f"app-{link.path}", ios_behavior=Behavior.APP)
        for link in made[:2]
    ]
    await insert_links(database, app_links)
    answer = await person.send(path, path, **FORM, preview_taps="yes")
    assert heading(answer) == f"Apps of {organization.domain}"
    assert "2 links, such as" in answer.text
    assert any(f"/links/{link.id}/taps" in answer.text for link in app_links)
    assert "opens the app" in answer.text
    assert await find_apps(database, organization.domain) == Apps()
    await set_apps(database, organization.domain, organization.id, APPS)
    same = await person.send(path, path, preview_taps="yes")
    assert "0 % for iOS and 0 % for Android." in same.text
    assert "would do the same as now" in same.text


async def test_association_files_that_fill_up(
    person: Person, database: Database, organization: TestOrganization
) -> None:
    """The page warns before links that stay in the browser fill a file, and says what the file does then."""
    await set_apps(database, organization.domain, organization.id, APPS)
    made = await make_link(database, organization, "A", utc_now())

    async def said_with_more(count: int, behavior: Behavior) -> str:
        """What the page says with so many more links, whose paths are long."""
        more = replace(made, ios_behavior=behavior, android_behavior=behavior)
        names = [uuid.uuid4().hex * 6 for _ in range(count)]
        await insert_links(database, [replace(more, id=LinkId(name[:32]), path=name) for name in names])
        return (await person.get(f"/apps/{organization.domain}")).text

    assert "% full" not in await said_with_more(400, Behavior.BROWSER)
    assert "% full with links that stay in the browser" in await said_with_more(100, Behavior.BROWSER)
    assert "no room for all links that stay in the browser" in await said_with_more(200, Behavior.BROWSER)
    assert "names the newest" in await said_with_more(700, Behavior.APP)
