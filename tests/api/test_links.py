"""GET, POST, PATCH and DELETE of whole links."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.domain.ids import LinkId
from backend.domain.installs import AppPlatform, Install
from backend.storage import click_counts, clicks, install_counts, installs
from backend.storage.installs import record_install
from backend.storage.mongo import Database
from tests.api.links import API, info, invalid, link_body, missing
from tests.conftest import MovableClock, OrganizationFactory
from tests.organizations import TestOrganization
from tests.polling import until, wait_for_async


@dataclass(frozen=True, slots=True)
class Links:
    """The links of an organization, over the REST API."""

    client: httpx.AsyncClient
    organization: TestOrganization

    async def call(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        """A call with the organization's key."""
        return await self.client.request(
            method, f"{API}/links{path}", json=body, headers=self.organization.headers | headers
        )

    async def post(self, *, headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        """POST /links with the required fields and these."""
        return await self.call("POST", "", link_body(self.organization, **fields), **(headers or {}))

    async def make(self, **fields: Any) -> dict[str, Any]:
        """A new link."""
        answer = await self.post(**fields)
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made

    async def get(self, link_id: str) -> dict[str, Any]:
        """The link with this id."""
        answer = await self.call("GET", f"/{link_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    async def list(self, query: str = "") -> list[dict[str, Any]]:
        """The first page of a list."""
        answer = await self.call("GET", f"?{query}" if query else "")
        assert answer.status_code == 200, answer.text
        found: list[dict[str, Any]] = answer.json()["links"]
        return found

    async def visit(self, path: str) -> int:
        """The status of a visitor's request for a short URL."""
        answer = await self.client.get(f"/{path}", headers={"Host": self.organization.domain})
        return answer.status_code

    async def click(self, link: dict[str, Any], times: int = 1) -> None:
        """Click a link, and wait until that is counted."""
        total = (await self.get(link["id"]))["clicks"]["total"] + times
        for _ in range(times):
            assert await self.visit(link["path"]) == 302

        async def counted() -> int:
            return int((await self.get(link["id"]))["clicks"]["total"])

        await wait_for_async(counted, "the clicks were not counted", lambda clicks: clicks == total)


@pytest.fixture
def links(client: httpx.AsyncClient, organization: TestOrganization) -> Links:
    """The links of this test's organization."""
    return Links(client, organization)


ALL_FIELDS: dict[str, Any] = {
    "selected_path": "spring/sale",
    "destination_url": "https://shop.example/sale",
    "link_name": "Spring",
    "external_id": "sku-1",
    "is_enabled": False,
    "ios_behavior": 2,
    "android_behavior": 1,
    "utm_source": "newsletter",
    "utm_medium": "email",
    "utm_campaign": "spring",
    "utm_term": "shoes",
    "utm_content": "header",
    "social_title": "Spring sale",
    "social_description": "Everything must go",
    "social_image_url": "https://shop.example/sale.png",
    "ios_fallback_url": "https://shop.example/ios",
    "android_fallback_url": "https://shop.example/android",
    "desktop_url": "https://shop.example/desktop",
    "custom_data": {"color": "green"},
}


async def test_every_field_is_read_back(links: Links) -> None:
    """A link made with every field is answered with each of them, by POST and GET, and named by Location."""
    answer = await links.post(**ALL_FIELDS)
    made = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"http://localhost:8080{API}/links/{made['id']}"
    path = ALL_FIELDS["selected_path"]
    assert made == {
        **{name: value for name, value in ALL_FIELDS.items() if name != "selected_path"},
        "id": made["id"],
        "org_id": links.organization.id,
        "domain": links.organization.domain,
        "path": path,
        "short_url": f"https://{links.organization.domain}/{path}",
        "is_archived": False,
        "state": "disabled",
        "created_by": "api_rest",
        "created_at": made["created_at"],
        "modified_at": made["created_at"],
        "archived_at": None,
        "imported_clicks": None,
        "clicks": {"total": 0, "last_7_days": 0, "last_30_days": 0},
    }
    assert await links.get(made["id"]) == made
    assert (
        await links.client.get(answer.headers["Location"], headers=links.organization.headers)
    ).json() == made


async def test_fields_that_are_not_set_are_null(links: Links) -> None:
    """Of a link with the required fields every other one is there, as null or with its default."""
    made = await links.make()
    assert {made[name] for name in ALL_FIELDS if name.startswith(("utm", "social")) or "url" in name} == {
        None,
        "https://shop.example/sale",
    }
    assert (made["external_id"], made["custom_data"], made["state"]) == (None, None, "enabled")
    assert (made["ios_behavior"], made["android_behavior"]) == (1, 1)


async def test_create_link_names_the_new_link(links: Links) -> None:
    """The contract's create-link answers the same body as ever, and where the link can be read."""
    body = link_body(links.organization, selected_path="a")
    for _ in range(2):
        answer = await links.client.post(
            f"{API}/create-link", json=body, headers=links.organization.headers | {"Idempotency-Key": "k"}
        )
        assert answer.json() == {
            "status": "success",
            "message": "Link created successfully",
            "short_url": f"https://{links.organization.domain}/a",
        }
        link_id = answer.headers["Location"].rpartition("/")[2]
        assert (await links.get(link_id))["path"] == "a"


@pytest.mark.parametrize("field", ["domain", "destination_url", "link_name"])
async def test_a_required_field(links: Links, field: str) -> None:
    """Without a required field no link is made."""
    answer = await links.post(**{field: None})
    assert (answer.status_code, answer.json()) == (400, missing(field))
    assert await links.list() == []


WRONG = [
    ("destination_url", 5, "destination_url must be a string"),
    ("link_name", ["x"], "link_name must be a string"),
    ("external_id", 5, "external_id must be a string"),
    ("external_id", "a\nb", "external_id must not contain control characters"),
    ("external_id", "x" * 257, "external_id must have at most 256 characters"),
    ("is_enabled", "yes", "is_enabled must be true or false"),
    ("is_enabled", None, "is_enabled must be true or false"),
    ("ios_behavior", 3, "ios_behavior must be 1 (open in browser) or 2 (open in app)"),
    ("custom_data", [], "custom_data must be a JSON object"),
    ("clicks", {}, "clicks is not a field of this request"),
    ("utm_sorce", "x", "utm_sorce is not a field of this request"),
]


@pytest.mark.parametrize(("field", "value", "message"), WRONG)
async def test_a_bad_value(links: Links, field: str, value: Any, message: str) -> None:
    """A value that breaks its rule, or a field that is none, is refused by name, on creation and change."""
    made = await links.make()
    for answer in (
        await links.post(**{field: value}),
        await links.call("PATCH", f"/{made['id']}", {"utm_source": "x", field: value}),
    ):
        assert (answer.status_code, answer.json()) == (400, invalid(message))
    assert await links.list() == [made]


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("domain", "go.example", "domain can't be changed"),
        ("selected_path", "b", "selected_path can't be changed"),
        ("is_archived", 1, "is_archived must be true or false"),
        ("link_name", None, "link_name must be a string"),
    ],
)
async def test_what_no_change_may_have(links: Links, field: str, value: Any, message: str) -> None:
    """Domain and path stay what they are, and what is required can't be cleared."""
    made = await links.make()
    answer = await links.call("PATCH", f"/{made['id']}", {field: value})
    assert (answer.status_code, answer.json()) == (400, invalid(message))
    assert await links.get(made["id"]) == made


async def test_a_change(links: Links, clock: MovableClock) -> None:
    """The fields in the body change, null clears, the rest stays; a change of nothing keeps the time."""
    made = await links.make(**ALL_FIELDS)
    clock.offset += clock.offset.resolution * 5_000_000
    answer = await links.call(
        "PATCH",
        f"/{made['id']}",
        {"utm_source": "ad", "utm_term": None, "external_id": "", "is_enabled": True},
    )
    changed = made | {"utm_source": "ad", "utm_term": None, "external_id": None, "is_enabled": True}
    changed |= {"state": "enabled", "modified_at": answer.json()["modified_at"]}
    assert (answer.status_code, answer.json()) == (200, changed)
    assert changed["modified_at"] > made["modified_at"]
    again = await links.call("PATCH", f"/{made['id']}", {"utm_source": "ad"})
    assert again.json() == await links.get(made["id"]) == changed


UNKNOWN = f"/{uuid.UUID(int=7)}"


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE", "purge"])
async def test_another_organization_s_link(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, method: str
) -> None:
    """It is not found, as one that does not exist, and stays as it was; what is no UUID is told as such."""
    mine, theirs = Links(client, await make_organization()), Links(client, await make_organization())
    made = await theirs.make()
    verb, query = ("DELETE", "?purge=true") if method == "purge" else (method, "")
    body = {"link_name": "mine"} if verb == "PATCH" else None
    answers = [await mine.call(verb, f"/{link}{query}", body) for link in (made["id"], UNKNOWN[1:])]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json()["error"]["fieldName"] == "LINK_NOT_FOUND"
    assert (await mine.call(verb, f"/x{query}", body)).json() == invalid(
        "Invalid linkId! LinkId is not valid for the organization!"
    )
    assert await theirs.get(made["id"]) == made


async def test_an_upsert(links: Links, clock: MovableClock) -> None:
    """With a known external id its link is brought up to date: 200, one link, what is absent stays."""
    first = await links.post(external_id="sku", utm_source="mail", utm_term="x", selected_path="a")
    clock.offset += clock.offset.resolution * 5_000_000
    second = await links.post(external_id="sku", link_name="New", utm_term=None)
    third = await links.post(external_id="sku", link_name="New")
    assert (first.status_code, second.status_code, third.status_code) == (201, 200, 200)
    expected = first.json() | {"link_name": "New", "utm_term": None}
    assert second.json() == third.json() == expected | {"modified_at": second.json()["modified_at"]}
    assert await links.list() == [second.json()]


async def test_an_upsert_moves_no_link(links: Links) -> None:
    """Where an upsert names another path or domain than the link has, it is refused, and says which."""
    await links.make(external_id="sku", selected_path="a")
    answer = await links.post(external_id="sku", selected_path="b")
    message = "selected_path can't be changed: the link of this external_id has a"
    assert (answer.status_code, answer.json()) == (400, invalid(message))
    assert (await links.post(external_id="sku", selected_path="a")).status_code == 200


async def test_external_ids_belong_to_the_organization(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Two organizations that use the same external id do not meet."""
    for _ in range(2):
        await Links(client, await make_organization()).make(external_id="same")


async def test_upserts_at_once_make_one_link(links: Links) -> None:
    """Of forty upserts of one external id at once one makes the link; the others find it."""
    answers = await asyncio.gather(*(links.post(external_id="sku", link_name=f"{n}") for n in range(40)))
    assert Counter(answer.status_code for answer in answers) == {201: 1, 200: 39}
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert len(await links.list()) == 1


async def forgotten(service: Service, links: Links, path: str) -> None:
    """Wait until the service knows that the link has changed: a visit before that would count."""
    cache = service.redirector.cache
    await until(lambda: not cache.current(links.organization.domain, path), "the change was not told")


async def test_an_archived_link(links: Links, service: Service) -> None:
    """It shows visitors the error page at once, keeps path, external id and counts, and is in no list."""
    made = await links.make(selected_path="a", external_id="sku")
    await links.click(made)
    answer = await links.call("DELETE", f"/{made['id']}")
    assert (answer.status_code, answer.content) == (204, b"")
    await forgotten(service, links, "a")
    assert await links.visit("a") == 404
    archived = await links.get(made["id"])
    assert (archived["state"], archived["is_archived"], archived["is_enabled"]) == ("archived", True, False)
    assert archived["archived_at"] == archived["modified_at"]
    assert archived["clicks"]["total"] == 1
    assert await links.list() == []
    assert await links.list("state=archived") == await links.list("external_id=sku") == [archived]
    taken = await links.post(selected_path="a")
    assert taken.json() == invalid("selected_path is already in use on this domain")
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
    found = await client.post(f"{API}/links/info", json={"shortUrl": made["short_url"]}, headers=headers)
    assert (found.status_code, found.json()["code"]) == (400, 139)
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
    assert refused.json() == invalid("is_enabled must not be true while the link is archived")
    back = await links.call("PATCH", f"/{made['id']}", {"is_archived": False})
    assert back.json() == made | {"modified_at": back.json()["modified_at"]}
    status = 302 if was_enabled else 404
    await wait_for_async(lambda: links.visit("a"), "visitors do not see it", lambda found: found == status)


async def test_an_upsert_takes_a_link_out_of_the_archive(links: Links) -> None:
    """Whoever says anew what the link of an external id is, has it again."""
    made = await links.make(external_id="sku")
    await links.call("DELETE", f"/{made['id']}")
    answer = await links.post(external_id="sku")
    assert (answer.status_code, answer.json()["id"], answer.json()["state"]) == (200, made["id"], "enabled")


async def test_a_purge(links: Links, service: Service, database: Database, clock: MovableClock) -> None:
    """Refused while the link has clicks; forced, link, counts and clicks are gone, and the path is free."""
    made, other = await links.make(selected_path="a"), await links.make(selected_path="b")
    link_id = LinkId(made["id"])
    install = Install(links.organization.id, str(uuid.uuid4()), AppPlatform.IOS, link_id, clock())  # type: ignore[arg-type]
    await record_install(database, install)
    for each in (made, other):
        await links.click(each)
    refused = await links.call("DELETE", f"/{link_id}?purge=true")
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (409, "LINK_HAS_CLICKS")
    assert (await links.get(link_id))["state"] == "enabled"
    assert (await links.call("DELETE", f"/{link_id}?purge=true&force=true")).status_code == 204
    await forgotten(service, links, "a")
    assert await links.visit("a") == 404
    assert (await links.call("GET", f"/{link_id}")).status_code == 404
    for name in (click_counts.NAME, install_counts.NAME):
        assert await database[name].find_one({"_id": f"{link_id}/total"}) is None
    (kept,) = [found async for found in database[installs.NAME].find({"org_id": links.organization.id})]
    assert kept["link_id"] is None
    assert await database[clicks.NAME].find_one({"link_id": link_id}) is None
    assert (await links.get(other["id"]))["clicks"]["total"] == 1
    assert (await links.make(selected_path="a"))["id"] != link_id


async def test_a_purge_without_clicks(links: Links) -> None:
    """A link that nobody clicked is purged without force, also from the archive, once."""
    made = await links.make()
    await links.call("DELETE", f"/{made['id']}")
    answers = [await links.call("DELETE", f"/{made['id']}?purge=true") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [204, 404]


@pytest.mark.parametrize(
    ("method", "path", "field", "message"),
    [
        ("POST", "?dry_run=true", "dry_run", "dry_run is not a parameter of this request"),
        ("GET", f"{UNKNOWN}?x=1", "x", "x is not a parameter of this request"),
        ("PATCH", f"{UNKNOWN}?x=1", "x", "x is not a parameter of this request"),
        ("DELETE", f"{UNKNOWN}?purgee=true", "purgee", "purgee is not a parameter of this request"),
        ("DELETE", f"{UNKNOWN}?purge=1", "purge", "purge must be true or false"),
        ("DELETE", f"{UNKNOWN}?force=true", "force", "force is for purge=true"),
        ("POST", "/bulk?x=1", "x", "x is not a parameter of this request"),
    ],
)
async def test_a_query_parameter_that_is_none(
    links: Links, method: str, path: str, field: str, message: str
) -> None:
    """An unknown query parameter, or a bad one, is refused by name."""
    answer = await links.call(method, path, {} if method in {"POST", "PATCH"} else None)
    assert answer.status_code == 400
    assert answer.json() == {
        "code": 400,
        "errorMessage": "Invalid query parameters",
        "error": {"errorMessage": message, "fieldName": field},
    }


async def test_an_idempotency_key(links: Links) -> None:
    """A repeat under the key gets the same bytes, whatever became of the link; another body is refused."""
    headers = {"Idempotency-Key": "k"}
    first = await links.post(headers=headers)
    await links.call("DELETE", f"/{first.json()['id']}")
    again = await links.post(headers=headers)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Location"] == first.headers["Location"]
    other = await links.post(headers=headers, link_name="other")
    assert other.json() == invalid("Idempotency-Key was already used with another request body")
    contract = await links.client.post(
        f"{API}/create-link", json=link_body(links.organization), headers=links.organization.headers | headers
    )
    assert contract.status_code == 400


async def test_an_idempotency_key_thirty_times_at_once(links: Links) -> None:
    """Parallel requests under one key make one link, and all get the same bytes."""
    answers = await asyncio.gather(*(links.post(headers={"Idempotency-Key": "k"}) for _ in range(30)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.content for answer in answers}) == 1
    assert len(await links.list()) == 1


async def test_a_new_link_leads_to_itself(links: Links) -> None:
    """A link that would send visitors round is refused, on creation, upsert and change."""
    home = f"https://{links.organization.domain}/a"
    message = "destination_url must not lead back to the link's own short URL"
    refused = await links.post(selected_path="a", destination_url=home)
    assert refused.json() == invalid(message)
    made = await links.make(selected_path="a", external_id="sku")
    changed = await links.call("PATCH", f"/{made['id']}", {"destination_url": home})
    upserted = await links.post(external_id="sku", destination_url=home)
    assert changed.json() == upserted.json() == invalid(message)


async def test_the_contract_s_view_of_a_new_link(links: Links) -> None:
    """A link made here is read by the contract's operations as any other."""
    made = await links.make(link_name="Shared")
    found = await info(links.client, links.organization, made["short_url"])
    assert (found["id"], found["link_name"]) == (made["id"], "Shared")
