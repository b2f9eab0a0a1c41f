"""Documents with fields of a newer version, as while hosts are upgraded one after the other."""

from __future__ import annotations

from urllib.parse import urlsplit

import httpx

from backend.app import Service
from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.ids import OrgId
from backend.storage.accounts.apps import find_apps, set_apps
from backend.storage.driver.mongo import Database
from tests.api.link_calls import create, info
from tests.dashboard.people import Person, browser, make_user, open_session
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check

NEWER = {"of_a_newer_version": {"a": 1}}


async def add_unknown_fields(database: Database, org_id: OrgId) -> None:
    """What a newer version might have stored with everything of the organization."""
    for name in await database.list_collection_names():
        owner = {"_id": org_id} if name in {"organizations", "refusals"} else {"org_id": org_id}
        await database[name].update_many(owner, {"$set": NEWER})
    await database["users"].update_many({"org_ids": org_id}, {"$set": NEWER})
    await database["apps"].update_many({"org_id": org_id}, {"$set": {"ios.of_a_newer_version": 1}})
    inside = {"touches.$[].of_a_newer_version": 1, "first_touch.of_a_newer_version": 1}
    await database["devices"].update_many({"org_id": org_id}, {"$set": inside})
    await database["refusals"].update_many({"_id": org_id}, {"$set": {"recent.$[].of_a_newer_version": 1}})


async def test_unknown_fields_are_left_alone(
    client: httpx.AsyncClient, service: Service, database: Database, organization: TestOrganization
) -> None:
    """Redirects, the APIs and the dashboard go on with documents that hold more than they know."""
    apps = Apps(IosApp("A1B2C3D4E5", "com.shop.app", "123456"), None)
    await set_apps(database, organization.domain, organization.id, apps)
    short_url = await create(client, organization)
    visitor = Visitor(client, organization)
    await visitor.result(check(utm_source="mail"))
    await visitor.post(check(), headers={"Origin": "https://elsewhere.example"})
    async with browser(service) as client_of_person:
        person = Person(client_of_person, await make_user(database, organization.id))
        await open_session(database, person)
        await add_unknown_fields(database, organization.id)
        assert (await person.get("/")).status_code == 200
        assert (await person.get("/origins")).status_code == 200
    assert (await info(client, organization, short_url))["short_url"] == short_url
    path = urlsplit(short_url).path
    assert (await client.get(path, headers={"host": organization.domain})).status_code == 302
    assert await find_apps(database, organization.domain) == apps
    assert (await visitor.result(call("event", name="e")))["status"] == "accepted"
