"""POST /serviceCore/app/v1/links and GET /invitations: links that apps make, and whom they brought."""

from __future__ import annotations

import asyncio
import dataclasses
import uuid
from datetime import timedelta
from typing import Any

import httpx
import pytest

from backend.app import create_app
from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.link_grants import LinkGrant
from backend.settings import Settings
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.apps.test_app_sales import send
from tests.api.apps.test_counted_opens import App
from tests.api.link_calls import API, create, info
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check

LINKS = "/serviceCore/app/v1/links"


@pytest.fixture
async def app(client: httpx.AsyncClient, organization: TestOrganization, database: Database) -> App:
    """An installation of this test's organization, whose key may make links."""
    grant = LinkGrant.of(organization.domain, ["shop.example/invite/*"])
    key, _ = await create_api_key(database, organization.id, KeyKind.MOBILE, utc_now(), links=grant)
    return App(client, dataclasses.replace(organization, mobile_key=key))


def body(app: App, **changes: Any) -> dict[str, Any]:
    """The body of a request for an invitation by Ada."""
    given = {
        "install_id": app.install_id,
        "external_id": str(uuid.uuid4()),
        "destination_url": "https://shop.example/invite/ada",
        "link_name": "Ada invites",
        "custom_data": {"inviter": "ada"},
    }
    return {name: value for name, value in (given | changes).items() if value is not None}


async def make(app: App, **changes: Any) -> httpx.Response:
    """What is answered to this request for a link."""
    headers = {"API-KEY": app.organization.mobile_key}
    return await app.client.post(LINKS, json=body(app, **changes), headers=headers)


async def test_an_invitation(app: App, database: Database) -> None:
    """One link for one external id, also at the same time and by another installation, made by an app."""
    answers = await asyncio.gather(
        *(make(app, external_id="ada-1", install_id=f"phone-{number}") for number in range(4))
    )
    assert sorted(answer.status_code for answer in answers) == [200, 200, 200, 201]
    [made] = {tuple(answer.json().items()) for answer in answers}
    link = await info(app.client, app.organization, dict(made)["short_url"])
    assert dict(made) == {"id": link["id"], "short_url": link["short_url"]}
    listed = await app.client.get(f"{API}/links/page?createdBy=sdk", headers=app.organization.headers)
    assert [row["id"] for row in listed.json()["links"]] == [link["id"]]
    stored = await database["links"].find_one({"_id": link["id"]})
    assert stored
    assert (stored["custom_data"], stored["ios_behavior"]) == ({"inviter": "ada"}, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"destination_url": "https://evil.example/"}, "destination_url must be an address that this app's"),
        ({"destination_url": "https://shop.example/"}, "destination_url must be an address that this app's"),
        ({"external_id": None}, "external_id field is required"),
        ({"install_id": None}, "install_id field is required"),
        ({"domain": "other.example"}, "domain is not a field of this request"),
        ({"custom_data": ["ada"]}, "custom_data must be a JSON object"),
    ],
)
async def test_what_is_refused(app: App, changes: dict[str, Any], message: str) -> None:
    """Addresses outside of the key's, and fields that break a rule, by name."""
    answer = await make(app, **changes)
    assert answer.status_code == 400
    assert answer.json()["error"]["errorMessage"].startswith(message)


async def test_a_key_that_may_not(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A mobile key makes no links unless its organization says so."""
    answer = await make(App(client, organization))
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (403, "KEY_MAKES_NO_LINKS")


async def test_an_external_id_of_another_sort(app: App) -> None:
    """An app is told nothing of a link that no app made."""
    short_url = await create(app.client, app.organization)
    link = await info(app.client, app.organization, short_url)
    change = {"external_id": "crm-1"}
    await app.client.patch(f"{API}/links/{link['id']}", json=change, headers=app.organization.headers)
    answer = await make(app, external_id="crm-1")
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "external_id")


async def test_each_installation_has_a_limit(settings: Settings, app: App) -> None:
    """Beyond it, known invitations are answered, and other installations make theirs."""
    service = create_app(dataclasses.replace(settings, install_link_limit=2))
    await service.startup()
    transport = httpx.ASGITransport(app=service)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8080") as client:
        app.client = client
        statuses = [(await make(app, external_id=own_id)).status_code for own_id in ("a", "b", "a", "c", "b")]
        refused = await make(app, external_id="d")
        in_capitals = await make(app, external_id="d", install_id=app.install_id.upper())
        other = await make(app, external_id="d", install_id="another")
    await service.shutdown()
    assert statuses == [201, 201, 200, 429, 200]
    assert int(refused.headers["Retry-After"]) > 0
    assert in_capitals.status_code == 429
    assert other.status_code == 201


async def test_who_brought_whom(app: App) -> None:
    """A customer was brought by the link of their first touch, with all devices; others come in vain."""
    first, second = [(await make(app)).json() for _ in range(2)]
    await app.open(link_id=first["id"], is_first_launch=True)
    await send(app, call("identify", customer_id="bob"))
    laptop = Visitor(app.client, app.organization)
    await laptop.results(
        check(cl_link_id=second["id"], ago=timedelta(hours=2)), call("identify", customer_id="cleo")
    )
    late = Visitor(app.client, app.organization)
    await late.results(check(cl_link_id=second["id"]), call("identify", customer_id="bob"))
    await late.results(call("identify", customer_id="dora"))
    answer = await app.client.get(f"{API}/invitations?size=1", headers=app.organization.headers)
    page = answer.json()
    rest = await app.client.get(
        f"{API}/invitations?cursor={page['next_cursor']}", headers=app.organization.headers
    )
    listed = {
        invitation["id"]: invitation for invitation in (*page["invitations"], *rest.json()["invitations"])
    }
    assert rest.json()["next_cursor"] is None
    shown = {
        link_id: (
            invitation["opens"],
            invitation["brought"],
            [who["customer_id"] for who in invitation["customers"]],
        )
        for link_id, invitation in listed.items()
    }
    assert shown == {first["id"]: (1, 1, ["bob"]), second["id"]: (0, 1, ["cleo"])}
    assert listed[first["id"]]["custom_data"] == {"inviter": "ada"}
