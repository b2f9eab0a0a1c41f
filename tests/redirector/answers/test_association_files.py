"""The association files of a domain with apps, on the running service."""

from __future__ import annotations

import uuid

import httpx

from backend.doctor.domains.association_fill import examine_fill
from backend.domain.links.destinations.destination import leaves_to_app
from backend.domain.links.limits import LinkLimits
from backend.domain.links.links import Behavior, Hold, Link
from backend.domain.taps.apple_file import parse_apple_file
from backend.domain.taps.google_file import parse_google_file
from backend.domain.web.client import Platform
from backend.storage.driver.mongo import Database
from backend.storage.links.links import NAME
from backend.system.clock import utc_now
from tests.facts.organizations import TestOrganization
from tests.polling import wait_for_async
from tests.redirector.answers.test_outcomes import APP, APPS
from tests.redirector.conftest import LinkFactory, SetApps


async def test_association_files(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """They name the domain's apps, and what stays in the browser; without an app they are missing."""
    apple = "/.well-known/apple-app-site-association"
    assert (await visitor.get(apple)).status_code == 404
    await set_domain_apps(APPS)
    await make_link(**APP)
    excluded = {(await make_link()).path, (await make_link(**APP, is_enabled=False)).path}
    answer = await visitor.get(apple)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    [details] = answer.json()["applinks"]["details"]
    assert details["appIDs"] == ["A1B2C3D4E5.com.shop.app"]
    *links, svg, png, ahead, everything_else = details["components"]
    assert {rule["/"] for rule in links} == {f"/{path}" for path in excluded}
    assert all(rule["exclude"] for rule in [*links, svg, png, ahead])
    assert everything_else == {"/": "*"}
    [statement] = (await visitor.get("/.well-known/assetlinks.json")).json()
    assert statement["target"]["package_name"] == "com.shop.app"
    [rules] = statement["relation_extensions"].values()
    assert rules["dynamic_app_link_components"] == details["components"]


async def test_each_system_has_rules_of_its_own(
    visitor: httpx.AsyncClient,
    make_link: LinkFactory,
    set_domain_apps: SetApps,
    organization: TestOrganization,
) -> None:
    """Both files leave to the app what the lab says, whatever keeps a link in the browser."""
    await set_domain_apps(APPS)
    links = [
        await make_link(**{**APP, **fields})
        for fields in (
            {},
            {"ios_behavior": Behavior.BROWSER},
            {"android_behavior": Behavior.BROWSER},
            {"is_enabled": False},
            {"hold": Hold(utc_now(), "spam")},
            {"limits": LinkLimits(max_clicks=5)},
            {"limits": LinkLimits(password_hash="x")},
            {"archived_at": utc_now(), "is_enabled": False},
        )
    ]
    apple = parse_apple_file((await visitor.get("/apple-app-site-association")).json())
    google = parse_google_file((await visitor.get("/.well-known/assetlinks.json")).json())
    statement = google.about(APPS.android) if APPS.android else None
    assert statement
    for link in links:
        url = f"https://{link.domain}/{link.path}"
        found = apple.decide("A1B2C3D4E5.com.shop.app", url)
        assert found
        assert found.is_excluding is not leaves_to_app(link, Platform.IOS)
        assert statement.opens(url) is leaves_to_app(link, Platform.ANDROID)
    assert not statement.opens(f"https://{links[0].domain}/{links[0].path}.qr.svg")


async def test_an_association_file_for_more_links_than_apple_takes(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps, database: Database
) -> None:
    """With too many browser links to exclude, it names the app links, and never more than 128 KB of them."""
    await set_domain_apps(APPS)
    app_link, browser_link = await make_link(**APP), await make_link()
    await multiply(database, browser_link, 870)
    assert "871 links that stay in the browser take 84% of the room" in await said_of_room(database, app_link)
    await multiply(database, browser_link, 290)
    assert "a new one opens the app only on phones" in await said_of_room(database, app_link)
    few = await visitor.get("/apple-app-site-association")
    assert few.json()["applinks"]["details"][0]["components"] == [{"/": f"/{app_link.path}"}]
    await multiply(database, app_link, 1500)
    many = await wait_for_async(
        lambda: visitor.get("/apple-app-site-association"),
        "the new links are not in the file",
        lambda file: len(file.content) > 120_000,
    )
    assert len(many.content) < 128_000
    assert f'"/{browser_link.path}"' not in many.text
    named = len(many.json()["applinks"]["details"][0]["components"])
    assert f"newest {named:,}, and {1501 - named:,} others open" in await said_of_room(database, app_link)


async def said_of_room(database: Database, link: Link) -> str:
    """What the doctor says of the room in both files of the link's domain, which is the same."""
    findings = [finding async for finding in examine_fill(database, link.domain, APPS)]
    assert len({(finding.severity, finding.message) for finding in findings}) == 1
    return findings[0].message


async def test_an_association_file_that_did_not_change_is_not_sent_again(
    visitor: httpx.AsyncClient, make_link: LinkFactory, set_domain_apps: SetApps
) -> None:
    """With its ETag the file is answered 304 without a body; once a link changed, it is another one."""
    await set_domain_apps(APPS)
    first = await visitor.get("/apple-app-site-association")
    known = {"If-None-Match": f'"other", W/{first.headers["ETag"]}'}
    second = await visitor.get("/apple-app-site-association", headers=known)
    assert (second.status_code, second.content) == (304, b"")
    assert second.headers["ETag"] == first.headers["ETag"]
    assert second.headers["Cache-Control"] == first.headers["Cache-Control"]
    link = await make_link()
    changed = await wait_for_async(
        lambda: visitor.get("/apple-app-site-association", headers=known),
        "the new link is not in the file",
        lambda answer: answer.status_code == 200,
    )
    assert f"/{link.path}" in changed.text
    assert changed.headers["ETag"] != first.headers["ETag"]


async def multiply(database: Database, link: Link, count: int) -> None:
    """Store that many more links like this one, with paths of 96 characters."""
    document = await database[NAME].find_one({"_id": link.id})
    assert document is not None
    more = [document | {"_id": str(uuid.uuid4()), "path": uuid.uuid4().hex * 3} for _ in range(count)]
    await database[NAME].insert_many(more)
