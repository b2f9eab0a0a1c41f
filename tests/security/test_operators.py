"""MongoDB's operators are values like any other: refused where a text belongs, and never carried out."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from itertools import cycle, product
from typing import Any

import httpx
import pytest

from backend.app import Service
from backend.rest_api.openapi.document import openapi_document
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API, create, info, link_body
from tests.facts.organizations import TestOrganization, make_scoped_key
from tests.facts.sdk_batches import Visitor, call, check, conversion

OPERATORS = [{"$ne": None}, {"$gt": ""}, {"$regex": ".*"}, {"$where": "1"}, {"$expr": {}}, [{"$ne": None}]]
# No rule of a field tells one object from another: each field gets one of them and the list.
*OBJECTS, LIST = OPERATORS


def fields_of_bodies() -> Iterator[tuple[str, str, list[str]]]:
    """Method, path and the fields of every request body that the OpenAPI document describes."""
    document = openapi_document("http://localhost:8080")
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            schema = (
                operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            )
            if fields := _properties(document, schema or {}):
                yield method.upper(), path, fields


def _properties(document: dict[str, Any], schema: dict[str, Any]) -> list[str]:
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    parts = [*schema.get("allOf", []), *schema.get("anyOf", []), *schema.get("oneOf", [])]
    return [*schema.get("properties", {}), *(name for part in parts for name in _properties(document, part))]


async def ask(
    client: httpx.AsyncClient, key: str, method: str, path: str, body: dict[str, Any]
) -> httpx.Response:
    """A call of the REST API."""
    return await client.request(method, path, json=body, headers={"API-KEY": key})


def is_rejected(answer: httpx.Response) -> bool:
    """Whether it is the answer to a bulk that carried out nothing."""
    return all(result["status"] == "rejected" for result in answer.json().get("results", [{"status": ""}]))


async def test_every_field_of_every_body(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """An operator in any field that the OpenAPI document names is refused, and changes and finds nothing."""
    short_url = await create(client, organization)
    link = await info(client, organization, short_url)
    tried, objects, key = 0, cycle(OBJECTS), await make_scoped_key(database, organization)
    for method, template, fields in fields_of_bodies():
        path = template.replace("{linkId}", link["id"]).replace("{id}", link["id"])
        path = path.replace("/domains/{name}", f"/domains/{organization.domain}")
        path = path if path.startswith(API) else API + path
        base = link_body(organization) if path.endswith(("/create-link", "/links")) else {}
        for field, is_list in product(fields, (False, True)):
            operator = LIST if is_list else next(objects)
            answer = await ask(client, key, method, path, base | {field: operator})
            is_refused = answer.status_code == 400 or is_rejected(answer)
            assert is_refused, f"{method} {path} {field} {operator}: {answer.text}"
        tried += 1
    assert tried >= 20
    assert await info(client, organization, short_url) == link


async def test_query_parameters_and_paths(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Names with brackets, which some frameworks turn into objects, are no filters; nor is a path's part."""
    await create(client, organization)
    whole = (await client.get(f"{API}/links/page", headers=organization.headers)).json()
    for query in ("createdBy[$ne]=x", "page[$gt]=0", "$where=sleep(1000)"):
        answer = await client.get(f"{API}/links/page?{query}", headers=organization.headers)
        assert answer.json() == whole
    for query in ("createdBy=%7B%22$ne%22:null%7D", "page=%7B%22$gt%22:0%7D", "size=$size"):
        assert (
            await client.get(f"{API}/links/page?{query}", headers=organization.headers)
        ).status_code == 400
    for part in ("%7B%22$ne%22:null%7D", "[$ne]", "$where"):
        answer = await client.patch(f"{API}/update-link/{part}", json={}, headers=organization.headers)
        assert answer.status_code == 400


@pytest.mark.parametrize("key", ['{"$ne": null}', "$ne", "c_api_[$ne]", '{"$gt": ""}', "c_api_.*"])
async def test_keys(client: httpx.AsyncClient, organization: TestOrganization, key: str) -> None:
    """An operator in place of a key is an unknown key."""
    answer = await client.get(f"{API}/links/page", headers={"API-KEY": key})
    assert answer.status_code == 401


async def test_every_field_of_a_batch(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """In the envelope of a batch and in each field of each kind of call an operator is refused; among an
    address's signals, and among the names of metadata, it is left out with a note."""
    visitor = Visitor(client, organization)
    for operator in OPERATORS:
        for field in set(visitor.envelope()) - {"calls"}:
            changes: dict[str, Any] = {field: operator}
            assert (await visitor.post(check(), **changes)).status_code in {400, 401}, field
        calls = [
            valid_call | {field: operator}
            for valid_call in (
                check(gclid="x"),
                conversion(transaction_id="t", product_id="p", customer_id="c"),
                call("lead", event_id="e", name="n", customer_id="c"),
                call("identify", customer_id="c", name="n", email_sha256="0" * 64, phone_sha256="0" * 64),
                call("event", name="e", product_id="p", metadata={"a": 1}),
            )
            for field in valid_call
        ]
        for first in range(0, len(calls), 50):
            results = await visitor.results(*calls[first : first + 50])
            for sent, result in zip(calls[first : first + 50], results, strict=True):
                if result["status"] != "rejected":
                    assert isinstance(operator, dict)
                    (field,) = (name for name in ("signals", "metadata") if sent.get(name) == operator)
                    assert [note for note in result["notes"] if not _says_left_out(note, field)] == []
                    assert len(result["notes"]) == len(operator)


def _says_left_out(note: str, field: str) -> bool:
    """Whether a note says that a name in this field was left out."""
    return note.startswith(f"{field}.$") and "left out" in note


async def test_app_opens(client: httpx.AsyncClient, service: Service, organization: TestOrganization) -> None:
    """In each field of an app's open an operator is refused."""
    body = {"platform": "ios", "install_id": str(uuid.uuid4()), "is_first_launch": False, "link_id": "x"}
    for operator in OPERATORS:
        for field in [*body, "short_url", "install_referrer"]:
            answer = await client.post(
                "/serviceCore/app/v1/open",
                content=json.dumps(body | {field: operator}),
                headers={"API-KEY": organization.mobile_key, "Content-Type": "application/json"},
            )
            assert answer.status_code == 400, f"{field} {operator}: {answer.text}"
