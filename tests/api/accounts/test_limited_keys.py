"""What a key may do that is limited to some links: to these, as they are at the time, and to new ones."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import pytest

from backend.storage.accounts import domains
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag, delete_tag
from backend.system.clock import utc_now
from tests.api.limited_keys import LimitedKey, limited_key
from tests.api.link_calls import API, link_body
from tests.api.whole_links import Links
from tests.facts.organizations import TestOrganization, make_scoped_key


@pytest.fixture
def all_links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The organization's links, by a key that reaches all."""
    return Links(client, organization)


@pytest.fixture
async def agency(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> LimitedKey:
    """A key that is limited to the tag `agency`, beside which there is a tag `other`."""
    for name in ("agency", "other"):
        await create_tag(database, organization.id, name, None, utc_now())
    return await limited_key(client, database, organization, tags=["Agency"])


async def test_a_key_is_made_with_a_limit_and_keeps_it(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, all_links: Links
) -> None:
    """It is made in names, shown with the names of now, and the key that replaces it has the same."""
    await create_tag(database, organization.id, "agency", None, utc_now())
    own = await all_links.make(link_name="own", tags=["agency"])
    await all_links.make(link_name="theirs")
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    limit = {"tags": ["AGENCY", "agency"], "domains": [organization.domain], "links": [own["id"]]}
    body = {"kind": "rest", "scopes": ["links:read"], "limited_to": limit}
    made = (await client.post(f"{API}/keys", json=body, headers=headers)).json()
    shown = limit | {"tags": ["agency"]}
    assert made["limited_to"] == shown
    rotated = await client.post(f"{API}/keys/{made['id']}/rotate", json={}, headers=headers)
    assert rotated.json()["limited_to"] == shown
    for key in (made["key"], rotated.json()["key"]):
        assert await LimitedKey(client, organization, key).names() == {"own"}
    await delete_tag(database, organization.id, "agency")
    keys = (await client.get(f"{API}/keys", headers=headers)).json()["keys"]
    by_id = {key["id"]: key["limited_to"] for key in keys}
    assert by_id.pop(made["id"]) == by_id.pop(rotated.json()["id"]) == shown | {"tags": []}
    assert {*by_id.values()} == {None}


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"tags": ["nobody's"]}, "limited_to.tags must be the organization's, and this one is not: nobody's"),
        (
            {"domains": ["a.example"]},
            "limited_to.domains must be the organization's, and this one is not: a.example",
        ),
        (
            {"links": [str(uuid.UUID(int=7))]},
            "limited_to.links must be the organization's, and this one is not: ",
        ),
        ({}, "limited_to must be an object with some of tags, domains, links"),
        ({"tags": []}, "limited_to.tags must be a list of 1 to 100"),
    ],
)
async def test_a_limit_names_what_is_there(
    client: httpx.AsyncClient,
    database: Database,
    organization: TestOrganization,
    limit: dict[str, Any],
    message: str,
) -> None:
    """What the organization does not have, and a limit to nothing, is refused with the field's name."""
    body = {"kind": "rest", "scopes": ["links:read"], "limited_to": limit}
    headers = {"API-KEY": await make_scoped_key(database, organization)}
    answer = await client.post(f"{API}/keys", json=body, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["errorMessage"].startswith(message)


async def test_the_limit_is_that_of_the_moment(
    agency: LimitedKey, all_links: Links, database: Database
) -> None:
    """A link is reached from when it has the tag until it loses it, or until the tag is deleted."""
    link = await all_links.make(link_name="late")
    path = f"/links/{link['id']}"
    assert (await agency.call("GET", path)).status_code == 404
    await all_links.call("PATCH", f"/{link['id']}", {"tags": ["agency", "other"]})
    assert (await agency.call("GET", path)).json()["tags"] == ["agency", "other"]
    await all_links.call("PATCH", f"/{link['id']}", {"remove_tags": ["agency"]})
    assert (await agency.call("GET", path)).status_code == 404
    await all_links.call("PATCH", f"/{link['id']}", {"add_tags": ["agency"]})
    assert await agency.names() == {"late"}
    await delete_tag(database, agency.organization.id, "agency")
    await create_tag(database, agency.organization.id, "agency", None, utc_now())
    await all_links.make(link_name="new", tags=["agency"])
    assert await agency.names() == set()
    assert (await agency.call("GET", "/tags")).json() == {"tags": []}
    assert (await agency.make()).json()["error"]["errorMessage"].startswith("tags must have one")


async def test_new_links_are_within_reach(agency: LimitedKey, all_links: Links, database: Database) -> None:
    """They get the only tag, by the contract's operation too; a copy likewise, of a link within reach."""
    made = (await agency.make(link_name="made")).json()
    assert made["tags"] == ["agency"]
    body = link_body(agency.organization, link_name="plain")
    assert (await agency.call("POST", "/create-link", body)).status_code == 201
    copied = await agency.call("POST", f"/links/{made['id']}/duplicate", {"link_name": "copy", "tags": []})
    assert copied.json()["tags"] == ["agency"]
    assert await agency.names() == await agency.names("/links") == {"made", "plain", "copy"}
    theirs = await all_links.make(link_name="theirs")
    assert (await agency.call("POST", f"/links/{theirs['id']}/duplicate", {})).status_code == 404


async def test_new_links_are_on_its_domains(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization
) -> None:
    """Another domain is refused alike, whether it is the organization's or nobody's."""
    theirs = f"two.{organization.domain}"
    await domains.insert_domain(database, theirs, organization.id, utc_now())
    key = await limited_key(client, database, organization, domains=[organization.domain])
    assert (await key.make(password="secret-1")).status_code == 201
    refused = [
        await key.make(domain=domain, **more)
        for domain in (theirs, "nobodys.example")
        for more in ({}, {"password": "secret-1"})
    ]
    assert {answer.status_code for answer in refused} == {400}
    (text,) = {answer.text for answer in refused}
    assert f"domain must be one to which the key is limited: {organization.domain}" in text


async def test_a_key_of_single_links_makes_none(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, all_links: Links
) -> None:
    """It is refused for that with 403, also in a bulk, where it may change its links all the same."""
    link = await all_links.make(link_name="one")
    key = await limited_key(client, database, organization, links=[link["id"]])
    answer = await key.make()
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (403, "KEY_LIMITED")
    operations = [
        {"op": "create", "link": link_body(organization, password="secret-1")},
        {"op": "update", "id": link["id"], "link": {"link_name": "changed"}},
    ]
    results = (await key.call("POST", "/links/bulk", {"operations": operations})).json()["results"]
    assert [result["status"] for result in results] == ["rejected", "updated"]
    assert results[0]["error"]["error"]["fieldName"] == "KEY_LIMITED"


async def test_no_change_leads_out_of_reach(agency: LimitedKey, all_links: Links) -> None:
    """A link keeps a tag to which the key is limited, and gets no tag that the key does not know."""
    link = (await agency.make(link_name="made")).json()
    await all_links.call("PATCH", f"/{link['id']}", {"add_tags": ["other"]})
    path = f"/links/{link['id']}"
    changes: list[dict[str, list[str]]] = [{"tags": []}, {"remove_tags": ["agency"]}, {"tags": ["other"]}]
    for change in changes:
        answer = await agency.call("PATCH", path, change)
        assert "tags must keep one to which the key is limited" in answer.text
    changed = await agency.call("PATCH", path, {"tags": ["other", "agency"], "link_name": "kept"})
    assert changed.json()["tags"] == ["other", "agency"]
    assert (await agency.call("PATCH", path, {"remove_tags": ["other"]})).json()["tags"] == ["agency"]
    unknown = [await agency.call("PATCH", path, {"add_tags": [name]}) for name in ("other", "nobody")]
    assert {answer.status_code for answer in unknown} == {400}
    assert unknown[0].text == unknown[1].text.replace("nobody", "other")


async def test_external_ids_of_others_are_only_taken(agency: LimitedKey, all_links: Links) -> None:
    """One that a link out of reach has is taken, as for a second link: it is neither changed nor told."""
    theirs = await all_links.make(link_name="theirs", external_id="shared")
    own = (await agency.make(link_name="own")).json()
    answers = [
        await agency.make(external_id="shared"),
        await agency.call("PATCH", f"/links/{own['id']}", {"external_id": "shared"}),
    ]
    assert [answer.status_code for answer in answers] == [400, 400]
    assert answers[0].json() == answers[1].json()
    assert theirs["id"] not in answers[0].text
    assert await all_links.get(theirs["id"]) == theirs
    assert await agency.names("/links?external_id=shared") == set()


async def test_idempotency_keys_are_of_a_limited_key(agency: LimitedKey, all_links: Links) -> None:
    """The same name and body that another key had sent gives no answer about that key's link."""
    body = link_body(agency.organization, link_name="same")
    sent = {"Idempotency-Key": "order-1"}
    theirs = (await all_links.call("POST", "", body, **sent)).json()
    answers = [await agency.call("POST", "/links", body, **sent) for _ in range(2)]
    assert answers[0].json()["id"] == answers[1].json()["id"] != theirs["id"]
