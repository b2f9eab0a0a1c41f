"""Where links may lead, asked of every operation that makes or changes them; and links that are held."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import httpx
import pytest

from backend.app import Service
from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.fields.addresses.address_patterns import AddressPatterns
from backend.domain.ids import LinkId
from backend.storage.accounts.organizations import set_destination_rules
from backend.storage.driver.mongo import Database
from backend.storage.links.writing.holds import hold_link
from backend.system.clock import utc_now
from tests.api.link_calls import API, invalid, link_body, wrong
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.polling import wait_for_async

EVIL = "https://evil.example/"
REFUSED = "destination_url must not lead to evil.example, which the organization's rules refuse"
BLOCKED = "destination_url must not lead there: the operator of this service blocks that address"


@pytest.fixture
def blocked(service: Service) -> Iterator[None]:
    """The operator blocks evil.example."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service.resources.block_list, "current", AddressPatterns.of(["evil.example"]))
        yield


async def rules_are_known(links: Links) -> None:
    """Wait until the service has read the rules: it remembers former ones for two seconds."""

    async def refused() -> bool:
        return (await links.post(destination_url=EVIL)).status_code == 400

    await wait_for_async(refused, "the rule does not hold")


@pytest.mark.parametrize("way", ["rules", "block list"])
async def test_every_way_to_lead_a_link_there_is_refused(
    links: Links, database: Database, service: Service, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the contract's operations, by those on whole links and in a bulk; nothing is stored of them."""
    said = REFUSED if way == "rules" else BLOCKED
    if way == "rules":
        await set_destination_rules(database, links.organization.id, DestinationRules((), ("evil.example",)))
    else:
        monkeypatch.setattr(service.resources.block_list, "current", AddressPatterns.of(["evil.example"]))
    made = await links.make(external_id="sku")
    client, headers = links.client, links.organization.headers
    body = link_body(links.organization, destination_url=EVIL)
    answers = [
        await client.post(f"{API}/create-link", json=body, headers=headers),
        await client.patch(
            f"{API}/update-link/{made['id']}", json={"destination_url": EVIL}, headers=headers
        ),
        await links.post(destination_url=EVIL),
        await links.post(destination_url=EVIL, external_id="sku"),
        await links.call("PATCH", f"/{made['id']}", {"destination_url": EVIL}),
    ]
    told = [invalid(said)] * 2 + [wrong(said)] * 3
    assert [answer.json() for answer in answers] == told
    bulk = {"operations": [{"op": "create", "link": body}, {"op": "archive", "id": made["id"]}]}
    results = (await links.call("POST", "/bulk", bulk)).json()["results"]
    assert [result["status"] for result in results] == ["rejected", "archived"]
    assert results[0]["error"] == wrong(said)
    fallback = await links.post(desktop_url=EVIL)
    assert fallback.json() == wrong(said.replace("destination_url", "desktop_url"))
    assert [link["destination_url"] for link in await links.list("external_id=sku")] == [
        made["destination_url"]
    ]
    assert await links.list() == []


async def test_rules_hold_for_what_is_new(
    links: Links, database: Database, make_organization: OrganizationFactory
) -> None:
    """Within seconds, and for their organization only; a link that leads elsewhere already can be renamed."""
    made = await links.make()
    await set_destination_rules(database, links.organization.id, DestinationRules(("only.example",), ()))
    await rules_are_known(links)
    said = "destination_url must lead to what the organization's rules allow: only.example"
    assert (await links.post()).json() == wrong(said)
    assert (await links.call("PATCH", f"/{made['id']}", {"link_name": "New"})).status_code == 200
    await links.make(destination_url="https://www.only.example/")
    await Links(links.client, await make_organization()).make()


async def destination_rules(links: Links, body: object = None) -> httpx.Response:
    """What PATCH /destination-rules answers to this body; GET without one."""
    method = "GET" if body is None else "PATCH"
    path, headers = f"{API}/destination-rules", links.organization.headers
    return await links.client.request(method, path, json=body, headers=headers)


async def test_rules_over_rest(links: Links, make_organization: OrganizationFactory) -> None:
    """Each list is replaced by itself, stored as hosts are, and holds for links of this organization only."""
    assert (await destination_rules(links)).json() == {"allowed": [], "refused": []}
    refused = {"allowed": [], "refused": ["evil.example"]}
    assert (await destination_rules(links, {"refused": ["https://EVIL.example/"] * 2})).json() == refused
    await rules_are_known(links)
    assert (await destination_rules(links, {})).json() == (await destination_rules(links)).json() == refused
    changed = await destination_rules(links, {"allowed": ["shop.example/sale/*"]})
    assert changed.json() == refused | {"allowed": ["shop.example/sale/*"]}
    assert (await destination_rules(links, {"allowed": [], "refused": []})).json()["refused"] == []
    others = Links(links.client, await make_organization())
    assert (await destination_rules(others)).json() == {"allowed": [], "refused": []}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"allowed": "shop.example"}, "allowed must be a list of addresses"),
        ({"allowed": None}, "allowed must be a list of addresses"),
        ({"refused": ["a.example", 7]}, "refused[1] must be a string"),
        (
            {"refused": [f"{number}.example" for number in range(201)]},
            "refused must have at most 200 patterns",
        ),
        ({"blocked": []}, "blocked is not a field of this request"),
    ],
)
async def test_what_is_no_rule_changes_nothing(links: Links, body: object, said: str) -> None:
    """The error names the field, the place in its list, and the rule."""
    before = await destination_rules(links, {"refused": ["evil.example"]})
    assert (await destination_rules(links, body)).json() == wrong(said)
    assert (await destination_rules(links)).json() == before.json()


async def test_a_deleted_organization_has_no_rules_to_change(links: Links, database: Database) -> None:
    """Its key may be known for another moment, and is refused all the same."""
    await destination_rules(links)
    await database["organizations"].delete_one({"_id": links.organization.id})
    assert (await destination_rules(links, {"refused": []})).status_code == 401


async def test_a_held_link_stays(links: Links, database: Database) -> None:
    """Its organization reads when and why, finds it by its state, may change it, and can't set it free."""
    made, other = await links.make(), await links.make()
    await hold_link(database, LinkId(made["id"]), "It is a fake shop", utc_now())
    held = await links.get(made["id"])
    assert (held["state"], held["is_enabled"]) == ("held", True)
    assert held["hold"] == {"at": held["modified_at"], "why": "It is a fake shop"}
    assert await links.list("state=held") == [held]
    assert await links.list("state=enabled") == [other]
    for body in ({"is_enabled": False}, {"is_enabled": True, "destination_url": "https://shop.example/b"}):
        changed = await links.call("PATCH", f"/{made['id']}", body)
        assert (changed.status_code, changed.json()["state"]) == (200, "held")
    purged = await links.call("DELETE", f"/{made['id']}?purge=true&force=true")
    assert (purged.status_code, purged.json()["error"]["fieldName"]) == (409, "LINK_IS_HELD")
    assert (await links.call("DELETE", f"/{made['id']}")).status_code == 204
    back = await links.call("PATCH", f"/{made['id']}", {"is_archived": False})
    assert back.json()["state"] == "held"
    unknown = await links.call("PATCH", f"/{made['id']}", {"hold": None})
    assert unknown.json() == wrong("hold is not a field of this request")


async def test_an_app_is_not_led_there(links: Links, database: Database, blocked: None) -> None:
    """An app that opens a held link, or one whose destination is blocked, is told of none."""
    made = await links.make()
    await hold_link(database, LinkId(made["id"]), "It is a fake shop", utc_now())
    body = {"platform": "ios", "install_id": str(uuid.uuid4()), "is_first_launch": True}
    answer = await links.client.post(
        "/serviceCore/app/v1/open",
        json=body | {"short_url": made["short_url"]},
        headers={"API-KEY": links.organization.mobile_key},
    )
    assert (answer.json()["match"], answer.json()["destination_url"]) == ("none", None)
