"""GET, POST and PATCH of whole links."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import httpx
import pytest

from backend.domain.links.limits import LIMIT_FIELDS
from tests.api.link_calls import API, CONTRACT_FIELDS, info, link_body, wrong
from tests.api.whole_links import Links
from tests.archives.test_every_link_field import GIVEN
from tests.conftest import MovableClock, OrganizationFactory

# What a link of the archive's test has, but for its limits and tags, which other tests are about.
ALL_FIELDS: dict[str, Any] = {
    **{name: value for name, value in GIVEN.items() if name not in {"tags", *LIMIT_FIELDS}},
    **CONTRACT_FIELDS,
    "is_enabled": False,
    "rules": [
        {
            "if": {
                "platform": ["ios"],
                "system": ["iOS"],
                "browser": ["Mobile Safari"],
                "language": ["de"],
                "country": ["DE", "AT"],
                "query": {"ref": None},
                "from": "2026-01-01T00:00:00Z",
                "until": "2027-01-01T00:00:00Z",
                "weekdays": [1, 5],
                "hours": {"from": "08:00", "until": "18:00", "timezone": "Europe/Berlin"},
                "device": "new",
            },
            "then": {"destination_url": "https://shop.example/rule"},
        },
        {
            "if": {},
            "then": {
                "split": [
                    {"name": "A", "weight": 1, "destination_url": "https://shop.example/a"},
                    {"name": "B", "weight": 3, "destination_url": "https://shop.example/b"},
                ]
            },
        },
    ],
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
        "hold": None,
        "imported_clicks": None,
        **dict.fromkeys(("starts_at", "expires_at", "max_clicks", "clicks_left", "expired_url")),
        "click_to_continue": False,
        "has_password": False,
        "tags": [],
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
    assert (made["ios_behavior"], made["android_behavior"], made["rules"]) == (1, 1, [])


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
    assert (answer.status_code, answer.json()) == (400, wrong(f"{field} field is required"))
    assert await links.list() == []


WRONG: list[tuple[Any, ...]] = [
    ("destination_url", 5, "destination_url must be a string"),
    ("link_name", ["x"], "link_name must be a string"),
    ("external_id", 5, "external_id must be a string"),
    ("external_id", "a\nb", "external_id must not contain control characters"),
    ("external_id", "x" * 257, "external_id must have at most 256 characters"),
    ("is_enabled", "yes", "is_enabled must be true or false"),
    ("is_enabled", None, "is_enabled must be true or false"),
    ("ios_behavior", 3, "ios_behavior must be 1 (open in browser) or 2 (open in app)"),
    ("custom_data", [], "custom_data must be a JSON object"),
    ("rules", {}, "rules must be a list of at most 50 rules"),
    ("rules", [{"if": {}}], "rules[0].then is required"),
    ("clicks", {}, "clicks is not a field of this request"),
    ("utm_sorce", "x", "utm_sorce is not a field of this request"),
]


async def test_a_bad_value(links: Links) -> None:
    """A value that breaks its rule, or a field that is none, is refused by name, on creation and change."""
    made = await links.make()
    for field, value, message in WRONG:
        for answer in (
            await links.post(**{field: value}),
            await links.call("PATCH", f"/{made['id']}", {"utm_source": "x", field: value}),
        ):
            assert (answer.status_code, answer.json()) == (400, wrong(message))
        assert await links.list() == [made], (field, value)


NO_CHANGE: list[tuple[Any, ...]] = [
    ("domain", "go.example", "domain can't be changed"),
    ("selected_path", "b", "selected_path can't be changed"),
    ("is_archived", 1, "is_archived must be true or false"),
    ("link_name", None, "link_name must be a string"),
]


async def test_what_no_change_may_have(links: Links) -> None:
    """Domain and path stay what they are, and what is required can't be cleared."""
    made = await links.make()
    for field, value, message in NO_CHANGE:
        answer = await links.call("PATCH", f"/{made['id']}", {field: value})
        assert (answer.status_code, answer.json()) == (400, wrong(message))
        assert await links.get(made["id"]) == made, (field, value)


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


async def test_another_organization_s_link(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """It is not found, as one that does not exist, and stays as it was; what is no UUID is told as such."""
    mine, theirs = Links(client, await make_organization()), Links(client, await make_organization())
    made = await theirs.make()
    for verb, query in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("DELETE", "?purge=true")):
        body = {"link_name": "mine"} if verb == "PATCH" else None
        answers = [await mine.call(verb, f"/{link}{query}", body) for link in (made["id"], UNKNOWN[1:])]
        assert [answer.status_code for answer in answers] == [404, 404]
        assert answers[0].json() == answers[1].json()
        assert answers[0].json()["error"]["fieldName"] == "LINK_NOT_FOUND"
        assert (await mine.call(verb, f"/x{query}", body)).json() == wrong(
            "Invalid linkId! LinkId is not valid for the organization!", field="linkId"
        )
        assert await theirs.get(made["id"]) == made, (verb, query)


@pytest.mark.parametrize(
    ("method", "path", "field", "message"),
    [
        ("POST", "?dry_run=true", "dry_run", "dry_run is not a parameter of this request"),
        ("POST", "?%ff", "%FF", "%FF is not a parameter of this request"),
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
    query = {"code": 400, "errorMessage": "Invalid query parameters"}
    assert (answer.status_code, answer.json()) == (400, wrong(message, field=field) | query)


async def test_an_idempotency_key(links: Links) -> None:
    """A repeat under the key gets the same bytes, whatever became of the link; another body is refused."""
    headers = {"Idempotency-Key": "k"}
    first = await links.post(headers=headers)
    await links.call("DELETE", f"/{first.json()['id']}")
    again = await links.post(headers=headers)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["Location"] == first.headers["Location"]
    other = await links.post(headers=headers, link_name="other")
    assert other.json() == wrong("Idempotency-Key was already used with another request body")
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
    assert refused.json() == wrong(message)
    made = await links.make(selected_path="a", external_id="sku")
    changed = await links.call("PATCH", f"/{made['id']}", {"destination_url": home})
    upserted = await links.post(external_id="sku", destination_url=home)
    assert changed.json() == upserted.json() == wrong(message)


async def test_the_contract_s_view_of_a_new_link(links: Links) -> None:
    """A link made here is read by the contract's operations as any other."""
    made = await links.make(link_name="Shared")
    link_info = await info(links.client, links.organization, made["short_url"])
    assert (link_info["id"], link_info["link_name"]) == (made["id"], "Shared")
