"""POST /links/bulk: many operations with a result each."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.domain.links.operations import LinkResult
from backend.domain.web.short_urls import ShortUrlForm
from backend.json_api import error_table
from backend.rest_api.links import bulk as bulk_route
from backend.settings import Settings
from backend.storage.links.writing import writes
from tests.api.link_calls import link_body, wrong
from tests.api.test_error_table import serving
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization

Operation = dict[str, Any]


def create(links: Links, **fields: Any) -> Operation:
    """An operation that makes a link."""
    return {"op": "create", "link": link_body(links.organization, **fields)}


def upsert(links: Links, **fields: Any) -> Operation:
    """An operation that brings a link up to date."""
    return {"op": "upsert", "link": link_body(links.organization, **fields)}


async def bulk(links: Links, *operations: Any, **headers: str) -> list[dict[str, Any]]:
    """The results of a bulk."""
    answer = await links.call("POST", "/bulk", {"operations": operations}, **headers)
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json()["results"]
    return results


def statuses(results: list[dict[str, Any]]) -> list[str]:
    """The status of each result."""
    return [result["status"] for result in results]


async def test_each_operation(links: Links) -> None:
    """Each operation has its result, in the order of the request, and what it did is stored."""
    made, gone = await links.make(external_id="sku"), await links.make()
    results = await bulk(
        links,
        create(links, selected_path="a", link_name="A"),
        upsert(links, external_id="sku", link_name="Renamed"),
        upsert(links, external_id="new"),
        {"op": "update", "id": made["id"], "link": {"utm_source": "x"}},
        {"op": "update", "id": made["id"], "link": {"utm_source": "x"}},
        {"op": "archive", "id": gone["id"].upper()},
        {"op": "archive", "id": gone["id"]},
    )
    assert statuses(results) == [
        "created", "updated", "created", "updated", "unchanged", "archived", "unchanged",
    ]  # fmt: skip
    assert all(result.keys() == {"status", "id", "short_url"} for result in results)
    assert [results[n]["id"] for n in (1, 3, 5)] == [made["id"], made["id"], gone["id"]]
    created = await links.get(results[0]["id"])
    assert (created["short_url"], created["link_name"]) == (results[0]["short_url"], "A")
    changed = await links.get(made["id"])
    assert (changed["link_name"], changed["utm_source"]) == ("Renamed", "x")
    assert (await links.get(gone["id"]))["state"] == "archived"
    assert len(await links.list()) == 3


async def test_operations_see_one_another(links: Links) -> None:
    """What comes later finds what came before: one link for an external id, one for a path."""
    results = await bulk(
        links,
        upsert(links, external_id="sku", selected_path="a"),
        upsert(links, external_id="sku", link_name="Renamed"),
        create(links, selected_path="a"),
        create(links, external_id="sku"),
        create(links, selected_path="b", destination_url=f"https://{links.organization.domain}/a"),
        upsert(links, external_id="sku", destination_url=f"https://{links.organization.domain}/b"),
    )
    assert statuses(results) == ["created", "updated", "rejected", "rejected", "created", "rejected"]
    assert results[2]["error"] == wrong("selected_path is already in use on this domain")
    assert results[3]["error"] == wrong("external_id is already in use by another link")
    assert results[5]["error"] == wrong("destination_url must not lead back to the link's own short URL")
    assert [(await links.get(results[0]["id"]))["link_name"], len(await links.list())] == ["Renamed", 2]


NOTHING_GIVEN = [f"{field} field is required" for field in ("domain", "destination_url", "link_name")]


REJECTED: list[tuple[Any, dict[str, Any]]] = [
    (5, wrong("operations must hold JSON objects")),
    ({}, wrong("op field is required")),
    ({"op": "delete"}, wrong("op must be one of create, upsert, update, archive")),
    ({"op": ["create"]}, wrong("op must be one of create, upsert, update, archive")),
    ({"op": "create"}, wrong("link field is required")),
    ({"op": "create", "link": []}, wrong("link must be a JSON object")),
    ({"op": "create", "link": {}}, wrong(*NOTHING_GIVEN)),
    ({"op": "create", "id": "x", "link": {}}, wrong("id is not a field of the operation create")),
    ({"op": "archive"}, wrong("id field is required")),
    ({"op": "archive", "id": 7}, wrong("id must be a UUID")),
    ({"op": "archive", "id": str(uuid.UUID(int=7)), "link": {}},
     wrong("link is not a field of the operation archive")),
    ({"op": "archive", "id": str(uuid.UUID(int=7))}, error_table.LINK_NOT_FOUND.body()),
    ({"op": "update", "id": str(uuid.UUID(int=7)), "link": {"path": "x"}},
     wrong("path is not a field of this request")),
    ({"op": "update", "id": str(uuid.UUID(int=7)), "link": {"domain": "x"}},
     wrong("domain can't be changed")),
    ({"op": "create", "purge": True},
     wrong("purge is not a field of an operation", "link field is required")),
    ({"\ud800": 1}, wrong("\\ud800 is not a field of an operation", "op field is required")),
]  # fmt: skip


async def test_rejected_operations(links: Links) -> None:
    """Each is told in shape A, by field and rule, and does not stop the others."""
    operations = [create(links), *(operation for operation, _ in REJECTED), create(links)]
    body = json.dumps({"operations": operations}).encode()
    headers = links.organization.headers | {"Content-Type": "application/json"}
    answer = await links.client.post("/serviceCore/pa/v1/links/bulk", content=body, headers=headers)
    first, *results, last = answer.json()["results"]
    assert statuses([first, last]) == ["created"] * 2
    assert results == [{"status": "rejected", "error": error} for _, error in REJECTED]


async def test_a_wrong_type(links: Links) -> None:
    """A field of the wrong type is named, in creations, upserts and changes."""
    made = await links.make()
    names = ("destination_url", "link_name", "external_id", "is_enabled", "utm_source")
    for field, value in product(names, (5, [], {})):
        wrong = {"external_id": "sku", field: value}
        results = await bulk(
            links,
            create(links, **wrong),
            upsert(links, **wrong),
            {"op": "update", "id": made["id"], "link": wrong},
        )
        assert statuses(results) == ["rejected"] * 3
        messages = [result["error"]["error"]["errorMessage"] for result in results]
        assert all(message.startswith(f"{field} must be") for message in messages), messages


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, wrong("operations field is required")),
        ({"operations": {}}, wrong("operations must be a list of 1 to 1,000 operations")),
        ({"operations": []}, wrong("operations must be a list of 1 to 1,000 operations")),
        ({"operations": [1] * 1001}, wrong("operations must be a list of 1 to 1,000 operations")),
        ({"operations": [1], "atomic": True}, wrong("atomic is not a field of this request")),
    ],
)
async def test_a_body_that_is_no_bulk(links: Links, body: Any, expected: dict[str, Any]) -> None:
    """The whole request is refused, by field and rule."""
    answer = await links.call("POST", "/bulk", body)
    assert (answer.status_code, answer.json()) == (400, expected)


async def test_another_organization_s_links(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """They are not found, and neither their domains nor their external ids can be used."""
    mine, theirs = Links(client, await make_organization()), Links(client, await make_organization())
    made = await theirs.make(external_id="sku")
    results = await bulk(
        mine,
        {"op": "update", "id": made["id"], "link": {"link_name": "mine"}},
        {"op": "archive", "id": made["id"]},
        create(theirs),
        upsert(mine, external_id="sku"),
    )
    assert statuses(results) == ["rejected", "rejected", "rejected", "created"]
    assert results[0]["error"] == results[1]["error"] == error_table.LINK_NOT_FOUND.body()
    assert results[2]["error"] == wrong("domain is not configured for the organization")
    assert await theirs.get(made["id"]) == made


async def test_a_repeat_under_a_key(links: Links) -> None:
    """The same bytes are answered again, and nothing is done twice; another body is refused."""
    made = await links.make()
    body = {
        "operations": [
            create(links),
            {"op": "update", "id": made["id"], "link": {"link_name": "B"}},
            {"op": "archive"},
            *[create(links, link_name="x" * 900) for _ in range(90)],
        ]
    }
    first = await links.call("POST", "/bulk", body, **{"Idempotency-Key": "k"})
    again = await links.call("POST", "/bulk", body, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.content) == (200, first.content)
    assert len(await links.list("size=200")) == 92
    other = await links.call("POST", "/bulk", {"operations": [create(links)]}, **{"Idempotency-Key": "k"})
    assert other.json() == wrong("Idempotency-Key was already used with another request body")


async def test_a_key_many_times_at_once(links: Links) -> None:
    """Parallel requests under one key are carried out once, and all get the same bytes."""
    body = {"operations": [create(links) for _ in range(20)]}
    answers = await asyncio.gather(
        *(links.call("POST", "/bulk", body, **{"Idempotency-Key": "k"}) for _ in range(10))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert len(await links.list("size=200")) == 20


async def test_a_key_many_times_at_once_where_nothing_can_be_done(links: Links) -> None:
    """Each answer has the results, also where no operation could be read."""
    calls = (bulk(links, {"op": "delete"}, **{"Idempotency-Key": "k"}) for _ in range(10))
    answers = await asyncio.gather(*calls)
    assert [statuses(results) for results in answers] == [["rejected"]] * 10


async def test_bulks_and_single_upserts_at_once(links: Links) -> None:
    """However they meet, there is one link for each external id, and each answer names it."""
    named = [f"sku-{number}" for number in range(15)]
    answers = await asyncio.gather(
        *(
            bulk(links, *[upsert(links, external_id=external_id, link_name=f"{n}") for external_id in named])
            for n in range(4)
        ),
        *(links.post(external_id=external_id) for external_id in named for _ in range(2)),
    )
    made = {link["external_id"]: link["id"] for link in await links.list("size=200")}
    assert (sorted(made), len(await links.list("size=200"))) == (sorted(named), len(named))
    results = [answer for answer in answers if isinstance(answer, list)]
    assert all([result["id"] for result in group] == [made[name] for name in named] for group in results)
    single = [answer.status_code for answer in answers if isinstance(answer, httpx.Response)]
    created = single.count(201) + sum(statuses(group).count("created") for group in results)
    assert created == len(named)


async def test_bulks_for_one_path_at_once(links: Links) -> None:
    """Of bulks that want the same paths, one gets each; the others are told that it is taken."""
    creations = [create(links, selected_path=f"p{number}") for number in range(10)]
    results = await asyncio.gather(*(bulk(links, *creations) for _ in range(6)))
    for place in range(10):
        assert Counter(result[place]["status"] for result in results) == {"created": 1, "rejected": 5}


async def test_what_a_bulk_costs(settings: Settings, organization: TestOrganization, tmp_path: Path) -> None:
    """Each 25 operations cost one request: a thousand take 40 of the limit; a large one is taken whole."""
    async with serving(replace(settings, rate_limit=60, data_dir=tmp_path)) as (_, client):
        links = Links(client, organization)
        for operations, left in ((25, 59), (26, 57), (1000, 17), (1000, 0)):
            body = {"operations": [{"op": "archive"}] * operations}
            answer = await links.call("POST", "/bulk", body)
            assert (answer.status_code, answer.headers["RateLimit-Remaining"]) == (200, str(left))
        assert (await links.call("POST", "/bulk", body)).status_code == 429


async def test_a_large_body(links: Links) -> None:
    """A bulk may have 2 MiB, a single link 64 KiB; a thousand links are made at once, each with a path."""
    text = "x" * 1800
    many = [create(links, external_id=f"sku-{number}", social_description=text) for number in range(1000)]
    results = await bulk(links, *many)
    assert Counter(statuses(results)) == {"created": 1000}
    assert len({result["short_url"] for result in results}) == 1000
    assert (await links.list("external_id=sku-999"))[0]["id"] == results[999]["id"]
    answer = await links.call("POST", "/bulk", {"operations": many * 2})
    assert (answer.status_code, answer.json()) == (413, error_table.BODY_TOO_LARGE.body(message="2097152"))


async def test_no_transaction_waits_for_what_is_rejected(
    links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is told of wrong operations is written before others' links wait for the transaction."""
    tell, write, done = bulk_route._result, writes.write_links, []

    def tell_noted(outcome: LinkResult, form: ShortUrlForm) -> dict[str, Any]:
        done.append(outcome.done.value)
        return tell(outcome, form)

    async def write_noted(*arguments: Any) -> Any:
        done.append("writes")
        return await write(*arguments)

    monkeypatch.setattr(bulk_route, "_result", tell_noted)
    monkeypatch.setattr("backend.rest_api.links.bulk.write_links", write_noted)
    wrong_path, too_much = create(links, selected_path="/"), {"op": "archive", "id": "x", "y": 1}
    results = await bulk(links, wrong_path, create(links), too_much)
    assert statuses(results) == ["rejected", "created", "rejected"]
    assert done == ["rejected", "rejected", "writes", "created"]
