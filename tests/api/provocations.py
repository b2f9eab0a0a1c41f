"""Provocations: calls of an organization that are answered by a row of the error table."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.accounts.roles import Role
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.accounts.users.users import list_users
from backend.storage.driver import disk
from backend.storage.driver.mongo import Database, Document
from backend.storage.links.writing.holds import hold_link
from backend.system.clock import utc_now
from tests.api.link_calls import API, create, link_body
from tests.dashboard.people import make_user
from tests.facts.archives import archive_document
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.polling import wait_for_async
from tests.scim_api.identity_provider import connect

HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Caller:
    """An organization that calls the API."""

    client: httpx.AsyncClient
    organization: TestOrganization
    database: Database

    async def call(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> httpx.Response:
        """A call with the organization's key, unless `headers` has another."""
        all_headers = self.organization.headers | (headers or {})
        return await self.client.request(method, API + path, json=body, headers=all_headers)

    async def create(self, headers: dict[str, str] | None = None, **fields: object) -> httpx.Response:
        """A create-link call."""
        return await self.call("POST", "/create-link", link_body(self.organization, **fields), headers)


Provocation = Callable[[Caller], Awaitable[httpx.Response]]


def calling(
    method: str, path: str, body: object = None, headers: dict[str, str] | None = None
) -> Provocation:
    """Provokes a row of the table by this one call."""
    return lambda caller: caller.call(method, path, body, headers)


async def path_taken(caller: Caller) -> httpx.Response:
    """Make a second link at the path of the first."""
    await create(caller.client, caller.organization, selected_path="a")
    return await caller.create(selected_path="a")


async def key_reused(caller: Caller) -> httpx.Response:
    """One Idempotency-Key for two bodies."""
    await caller.create({"Idempotency-Key": "k"})
    return await caller.create({"Idempotency-Key": "k"}, link_name="B")


async def external_id_taken(caller: Caller) -> httpx.Response:
    """Give a link the external id of another."""
    answers = [
        await caller.call("POST", "/links", link_body(caller.organization, external_id=name))
        for name in ("sku-1", "sku-2")
    ]
    return await caller.call("PATCH", f"/links/{answers[1].json()['id']}", {"external_id": "sku-1"})


async def page_unreadable(caller: Caller) -> httpx.Response:
    """Fill in a preview from a page of a private network."""
    body = link_body(caller.organization, destination_url="http://127.0.0.1:1/")
    link = (await caller.call("POST", "/links", body)).json()
    return await caller.call("POST", f"/links/{link['id']}/preview")


async def link_is_held(caller: Caller) -> httpx.Response:
    """Purge a link that the operator stopped."""
    link = (await caller.call("POST", "/links", link_body(caller.organization))).json()
    await hold_link(caller.database, link["id"], "Phishing", utc_now())
    return await caller.call("DELETE", f"/links/{link['id']}?purge=true")


async def link_has_clicks(caller: Caller) -> httpx.Response:
    """Purge a link that was clicked."""
    link = (await caller.call("POST", "/links", link_body(caller.organization, selected_path="b"))).json()
    await caller.client.get("/b", headers={"Host": caller.organization.domain})

    async def clicks() -> int:
        shown = await caller.call("GET", f"/links/{link['id']}")
        return int(shown.json()["clicks"]["total"])

    await wait_for_async(clicks, "the click was not counted")
    return await caller.call("DELETE", f"/links/{link['id']}?purge=true")


async def domain_in_use(caller: Caller) -> httpx.Response:
    """Remove a domain that has a link."""
    await create(caller.client, caller.organization)
    return await caller.call("DELETE", f"/domains/{caller.organization.domain}")


async def tag_taken(caller: Caller) -> httpx.Response:
    """Make a second tag of a name."""
    await caller.call("POST", "/tags", {"name": "Spring"})
    return await caller.call("POST", "/tags", {"name": "SPRING"})


async def template_taken(caller: Caller) -> httpx.Response:
    """Make a second UTM template of a name."""
    await caller.call("POST", "/utm-templates", {"name": "Mail"})
    return await caller.call("POST", "/utm-templates", {"name": "mail"})


async def without_key(caller: Caller) -> httpx.Response:
    """A call without a key."""
    return await caller.client.get(f"{API}/links/page")


async def makes_no_links(caller: Caller) -> httpx.Response:
    """A link of an app whose key makes none."""
    headers = {"API-KEY": caller.organization.mobile_key}
    return await caller.client.post("/serviceCore/app/v1/links", json={}, headers=headers)


def scoped(
    method: str,
    path: str,
    scopes: Sequence[Permission],
    body: object = None,
    limited_to: LinkReach | None = None,
) -> Provocation:
    """A call with a key that has these scopes. The path may name the organization's own key and owner."""

    async def provoke(caller: Caller) -> httpx.Response:
        org_id = caller.organization.id
        key, stored = await create_api_key(
            caller.database,
            org_id,
            KeyKind.REST,
            utc_now(),
            scopes=tuple(scopes),
            expires_at=utc_now() + HOUR,
            limited_to=limited_to,
        )
        await make_user(caller.database, org_id)
        [owner] = await list_users(caller.database, org_id)
        headers = {"API-KEY": key}
        filled = path.format(key=stored.id, owner=owner.id)
        if "rotate" in path:
            await caller.call("POST", filled, {}, headers)
        return await caller.call(method, filled, body, headers)

    return provoke


def exporting(
    method: str, path: str, *archives: Document, headers: Mapping[str, str] | None = None
) -> Provocation:
    """A call for archives, where the organization has ones with these facts. The path may name the last."""

    async def provoke(caller: Caller) -> httpx.Response:
        archive_id, org_id = str(uuid.uuid4()), caller.organization.id
        for facts in archives:
            document = archive_document(org_id, utc_now(), size=1) | facts
            await caller.database["archives"].insert_one(document)
            archive_id = document["_id"]
        key = {"API-KEY": await make_scoped_key(caller.database, caller.organization)}
        answer = await caller.call(method, path.format(archive=archive_id), None, key | dict(headers or {}))
        await caller.database["archives"].delete_many({"org_id": org_id})  # nobody is to make them
        return answer

    return provoke


async def disk_nearly_full(caller: Caller) -> httpx.Response:
    """Ask for an archive where MongoDB's disk has less room than an archive needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "LITTLE_SPACE", 10**18)
        return await exporting("POST", "/archives")(caller)


async def provisioned_member(caller: Caller) -> httpx.Response:
    """Remove a member of whom the identity provider told."""
    email = await make_user(caller.database, caller.organization.id, role=Role.VIEWER)
    provider = await connect(caller.client, caller.database, caller.organization.id)
    await provider.user(email)
    [member] = await list_users(caller.database, caller.organization.id)
    key = await make_scoped_key(caller.database, caller.organization)
    return await caller.call("DELETE", f"/members/{member.id}", headers={"API-KEY": key})


async def wrong_media_type(caller: Caller) -> httpx.Response:
    """A body that is said to be XML."""
    return await caller.call("POST", "/analytics", {}, {"Content-Type": "application/xml"})
