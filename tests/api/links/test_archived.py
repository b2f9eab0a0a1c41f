"""DELETE of whole links: archived, taken out of the archive, and purged."""

from __future__ import annotations

import uuid

import pytest

from backend.app import Service
from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.ids import LinkId
from backend.storage.apps import install_counts, installs
from backend.storage.apps.installs import record_install
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, wrong
from tests.api.whole_links import Links
from tests.conftest import MovableClock
from tests.facts.clicks import click, ship
from tests.polling import until, wait_for_async


async def told(service: Service, links: Links, path: str) -> None:
    """Wait until the service knows that the link leads nowhere: a visit before that would count."""

    def leads_somewhere() -> bool:
        entry = service.redirector.cache.current(links.organization.domain, path)
        return entry is not None and entry.link.is_enabled

    await until(lambda: not leads_somewhere(), "the change was not told")


async def test_an_archived_link(links: Links, service: Service) -> None:
    """It shows visitors the error page at once, keeps path, external id and counts, and is in no list."""
    made = await links.make(selected_path="a", external_id="sku")
    await links.click(made)
    answer = await links.call("DELETE", f"/{made['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    await told(service, links, "a")
    assert await links.visit("a") == 404
    archived = await links.get(made["id"])
    assert (archived["state"], archived["is_archived"], archived["is_enabled"]) == ("archived", True, False)
    assert archived["archived_at"] == archived["modified_at"]
    assert archived["clicks"]["total"] == 1
    assert await links.list() == []
    assert await links.list("state=archived") == await links.list("external_id=sku") == [archived]
    taken = await links.post(selected_path="a")
    assert taken.json() == wrong("selected_path is already in use on this domain")
    assert (await links.call("DELETE", f"/{made['id']}")).status_code == 204
    assert await links.get(made["id"]) == archived


async def test_the_contract_s_operations_know_no_archive(links: Links) -> None:
    """To them an archived link is gone, but for its counts."""
    made = await links.make()
    await links.call("DELETE", f"/{made['id']}")
    client, headers = links.client, links.organization.headers
    for path, body in (("update-link", {}), ("links/change-status", {"is_enabled": True})):
        answer = await client.patch(f"{API}/{path}/{made['id']}", json=body, headers=headers)
        assert answer.status_code == 404
    shown = await client.post(f"{API}/links/info", json={"shortUrl": made["short_url"]}, headers=headers)
    assert (shown.status_code, shown.json()["code"]) == (400, 139)
    listed = (await client.get(f"{API}/links/page", headers=headers)).json()
    assert (listed["links"], listed["pagination"]["total_items"]) == ([], 0)
    counted = await client.post(f"{API}/analytics", json={"linkId": made["id"]}, headers=headers)
    assert (counted.status_code, counted.json()["total_clicks"]) == (200, 0)


@pytest.mark.parametrize("was_enabled", [True, False])
async def test_out_of_the_archive(links: Links, was_enabled: bool) -> None:
    """A link that is taken out of the archive is enabled or disabled, as it was before."""
    made = await links.make(is_enabled=was_enabled, selected_path="a")
    await links.call("DELETE", f"/{made['id']}")
    refused = await links.call("PATCH", f"/{made['id']}", {"is_enabled": True})
    assert refused.json() == wrong("is_enabled must not be true while the link is archived")
    back = await links.call("PATCH", f"/{made['id']}", {"is_archived": False})
    assert back.json() == made | {"modified_at": back.json()["modified_at"]}
    status = 302 if was_enabled else 404
    await wait_for_async(lambda: links.visit("a"), "visitors do not see it", lambda code: code == status)


async def test_a_purge(links: Links, service: Service, database: Database, clock: MovableClock) -> None:
    """Refused while the link has clicks; forced, link, counts and clicks are gone, and the path is free."""
    made, other = await links.make(selected_path="a"), await links.make(selected_path="b")
    link_id = LinkId(made["id"])
    install = Install(links.organization.id, str(uuid.uuid4()), AppPlatform.IOS, link_id, clock())  # type: ignore[arg-type]
    await record_install(database, install)
    for link in (made, other):
        await links.click(link)
    refused = await links.call("DELETE", f"/{link_id}?purge=true")
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (409, "LINK_HAS_CLICKS")
    assert (await links.get(link_id))["state"] == "enabled"
    assert (await links.call("DELETE", f"/{link_id}?purge=true&force=true")).status_code == 204
    await told(service, links, "a")
    assert await links.visit("a") == 404
    assert (await links.call("GET", f"/{link_id}")).status_code == 404
    assert await database[install_counts.NAME].find_one({"_id": f"{link_id}/total"}) is None
    (kept,) = [document async for document in database[installs.NAME].find({"org_id": links.organization.id})]
    assert kept["link_id"] is None
    assert (await links.get(other["id"]))["clicks"]["total"] == 1
    assert (await links.make(selected_path="a"))["id"] != link_id


async def test_a_purge_right_after_a_click(links: Links, database: Database, clock: MovableClock) -> None:
    """Refused as soon as a click is stored."""
    made = await links.make()
    await ship(database, [click(links.organization.id, LinkId(made["id"]), clock())])
    refused = await links.call("DELETE", f"/{made['id']}?purge=true")
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (409, "LINK_HAS_CLICKS")


async def test_a_purge_without_clicks(links: Links) -> None:
    """A link that nobody clicked is purged without force, also from the archive, once."""
    made = await links.make()
    await links.call("DELETE", f"/{made['id']}")
    answers = [await links.call("DELETE", f"/{made['id']}?purge=true") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [204, 404]
