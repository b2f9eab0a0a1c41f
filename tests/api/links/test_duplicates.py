"""POST /links/{id}/duplicate."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx

from backend.storage.driver.mongo import Database
from backend.storage.links import links as stored_links
from tests.api.link_calls import API, CONTRACT_FIELDS, wrong
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.polling import wait_for_async

# What is a link's alone.
OWN = ("id", "path", "short_url", "external_id", "created_at", "modified_at", "clicks")


async def duplicate(links: Links, link_id: str, body: object = None, **headers: str) -> httpx.Response:
    """Duplicate a link."""
    return await links.call("POST", f"/{link_id}/duplicate", body or {}, **headers)


async def test_a_copy_has_everything_but_what_is_the_link_s_alone(links: Links) -> None:
    """All fields and tags, at a path of its own, without external id and clicks; the link itself stays."""
    for name in ("a", "b"):
        await links.client.post(f"{API}/tags", json={"name": name}, headers=links.organization.headers)
    link = await links.make(
        **CONTRACT_FIELDS, external_id="sku", tags=["b", "a"], desktop_url="https://x.example"
    )
    await links.click(link)
    before = await links.get(link["id"])
    answer = await duplicate(links, link["id"])
    copy = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"].endswith(f"/links/{copy['id']}")
    assert {name: value for name, value in copy.items() if name not in OWN} == {
        name: value for name, value in link.items() if name not in OWN
    }
    assert (copy["external_id"], copy["clicks"]["total"]) == (None, 0)
    assert copy["path"] != link["path"]
    assert await links.get(link["id"]) == before
    assert await links.get(copy["id"]) == copy
    assert await links.visit(copy["path"]) == 302


async def test_a_copy_with_changes(links: Links) -> None:
    """Fields of the body take the place of the link's; null clears an optional one."""
    link = await links.make(utm_source="mail", utm_term="shoes", custom_data={"a": 1})
    body = {"selected_path": "copy", "link_name": "Copy", "utm_term": None, "external_id": "c"}
    copy = (await duplicate(links, link["id"], body | {"is_enabled": False})).json()
    shown = (copy["path"], copy["link_name"], copy["external_id"], copy["state"])
    assert shown == ("copy", "Copy", "c", "disabled")
    assert (copy["utm_source"], copy["utm_term"], copy["custom_data"]) == ("mail", None, {"a": 1})
    assert copy["destination_url"] == link["destination_url"]


async def test_a_copy_of_an_archived_link_is_enabled(links: Links) -> None:
    """What was archived or disabled can be begun anew."""
    link = await links.make()
    await links.call("DELETE", f"/{link['id']}")
    copy = (await duplicate(links, link["id"])).json()
    assert (copy["state"], copy["archived_at"]) == ("enabled", None)


NOT_OF_A_COPY: list[tuple[Any, ...]] = [
    ({"selected_path": "taken"}, "selected_path is already in use on this domain"),
    ({"external_id": "sku"}, "external_id is already in use by another link"),
    ({"domain": "x.example"}, "domain is not configured for the organization"),
    ({"destination_url": None}, "destination_url must be a string"),
    ({"is_archived": True}, "is_archived is not a field of this request"),
    ({"selected_path": "loop", "destination_url": "https://{domain}/loop"},
     "destination_url must not lead back to the link's own short URL"),
]  # fmt: skip


async def test_what_a_new_link_may_not_have(links: Links) -> None:
    """A copy may not have it either, and none is made."""
    link = await links.make(selected_path="taken", external_id="sku")
    domain = links.organization.domain
    for body, message in NOT_OF_A_COPY:
        sent = {name: value and str(value).replace("{domain}", domain) for name, value in body.items()}
        answer = await duplicate(links, link["id"], sent)
        assert (answer.status_code, answer.json()) == (400, wrong(message))
        assert len(await links.list()) == 1, body


async def test_a_copy_is_made_once(links: Links) -> None:
    """Repeated with its Idempotency-Key, the request gets the first answer; the key is for one link."""
    one, other = await links.make(), await links.make()
    first = await duplicate(links, one["id"], {}, **{"Idempotency-Key": "k"})
    again = await duplicate(links, one["id"], {}, **{"Idempotency-Key": "k"})
    assert (first.json(), first.headers["Location"]) == (again.json(), again.headers["Location"])
    assert (await duplicate(links, other["id"], {}, **{"Idempotency-Key": "k"})).status_code == 400
    assert len(await links.list()) == 3


async def test_a_repeat_after_the_link_was_purged(links: Links) -> None:
    """The first answer stays the answer, where the copied link is gone; without the key it is not found."""
    link = await links.make()
    first = await duplicate(links, link["id"], {}, **{"Idempotency-Key": "k"})
    assert (await links.call("DELETE", f"/{link['id']}?purge=true")).status_code == 204
    again = await duplicate(links, link["id"], {}, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Location"] == first.headers["Location"]
    assert (await duplicate(links, link["id"])).status_code == 404


async def test_imported_clicks_are_not_copied(links: Links, database: Database) -> None:
    """What another service had counted stays with the link that it was counted for."""
    link = await links.make()
    clicks = {"count": 7, "source": "Bitly", "imported_at": datetime(2026, 1, 2, tzinfo=UTC)}
    await database[stored_links.NAME].update_one({"_id": link["id"]}, {"$set": {"imported_clicks": clicks}})
    copy = (await duplicate(links, link["id"])).json()
    assert copy["imported_clicks"] is None


async def test_another_organization_s_link_is_not_found(
    links: Links, client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Its link can't be duplicated, which looks as for a link that does not exist."""
    theirs = await Links(client, await make_organization()).make()
    answer = await duplicate(links, theirs["id"])
    assert (answer.status_code, answer.json()["code"]) == (404, 103)


async def test_a_copy_has_its_own_clicks_left(links: Links) -> None:
    """A copy of a link whose clicks are used up has all of them again."""
    link = await links.make(max_clicks=1)
    assert await links.visit(link["path"]) == 302

    async def state() -> str:
        return str((await links.get(link["id"]))["state"])

    await wait_for_async(state, "the link was not used up", lambda seen: seen == "expired")
    copy = (await duplicate(links, link["id"])).json()
    assert (copy["state"], copy["max_clicks"]) == ("enabled", 1)
    assert await links.visit(copy["path"]) == 302


async def test_a_copy_of_a_held_link_is_held(links: Links, database: Database) -> None:
    """Nobody leads visitors on by a copy of what the operator stopped."""
    link = await links.make()
    hold = {"at": datetime(2026, 1, 2, tzinfo=UTC), "why": "phishing"}
    await database[stored_links.NAME].update_one({"_id": link["id"]}, {"$set": {"hold": hold}})
    assert (await duplicate(links, link["id"])).json()["state"] == "held"


async def test_a_copy_has_the_password(links: Links) -> None:
    """What can't be read back is copied as well: a copy is as closed as the link."""
    link = await links.make(password="open sesame")
    copy = (await duplicate(links, link["id"])).json()
    assert copy["has_password"] is True
    assert await links.visit(copy["path"]) == await links.visit(link["path"]) != 302
