"""Annotations over REST, and the changes of links beside them."""

from __future__ import annotations

import uuid

import httpx
import pytest

from backend.domain.annotations.annotation import MOST_ANNOTATIONS
from backend.storage.annotations.notes import NAME
from backend.storage.audit.recording import unrecorded
from backend.storage.driver.mongo import Database
from tests.api.link_calls import API
from tests.api.whole_links import Links
from tests.conftest import OrganizationFactory
from tests.facts.organizations import TestOrganization


async def call(
    client: httpx.AsyncClient, of: TestOrganization, method: str, path: str = "", body: object = None
) -> httpx.Response:
    """A call about annotations with the organization's key."""
    return await client.request(method, f"{API}/annotations{path}", json=body, headers=of.headers)


async def test_a_note_from_making_to_deleting(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """A day stays a day, a time becomes one in UTC, and a note is of a link as long as it says so."""
    link_id = (await Links(client, organization).make())["id"]
    day = (
        await call(client, organization, "POST", body={"at": "2026-03-02", "text": "Newsletter sent"})
    ).json()
    assert (day["at"], day["link_id"], day["created_by"]) == ("2026-03-02", None, "rest")
    body = {"at": "2026-03-02T09:30:00+02:00", "text": "Posted", "link_id": link_id.upper()}
    answer = await call(client, organization, "POST", body=body)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert (made["at"], made["link_id"]) == ("2026-03-02T07:30:00Z", link_id)
    listed = await call(client, organization, "GET")
    assert listed.json() == {"annotations": [day, made], "changes": []}
    later = await call(client, organization, "GET", "?from=2026-03-02T00:00:01Z&to=2026-03-03")
    assert later.json()["annotations"] == [made]
    changed = await call(
        client, organization, "PATCH", f"/{made['id']}", {"at": "2026-03-01", "link_id": None}
    )
    assert changed.json() == made | {"at": "2026-03-01", "link_id": None}
    assert (await call(client, organization, "DELETE", f"/{made['id']}")).status_code == 204
    assert (await call(client, organization, "GET")).json()["annotations"] == [day]
    assert (await call(client, organization, "PATCH", f"/{made['id']}", {"text": "x"})).status_code == 404


async def test_changes_of_a_link_are_told_beside_its_notes(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """What the feed says of the link, oldest first; with the link, its notes and its changes go."""
    links = Links(client, organization)
    link_id, other_id = (await links.make())["id"], (await links.make())["id"]
    note = {"at": "2026-03-02", "text": "x", "link_id": link_id}
    assert (await call(client, organization, "POST", body=note)).status_code == 201
    rules = [{"if": {"country": ["DE"]}, "then": {"destination_url": "https://de.example/"}}]
    for change in ({"destination_url": "https://b.example/"}, {"rules": rules}):
        assert (await links.call("PATCH", f"/{link_id}", change)).status_code == 200
    told = (await call(client, organization, "GET", f"?link_id={link_id}")).json()
    assert [note["text"] for note in told["annotations"]] == ["x"]
    assert [(change["type"], change["changed"]) for change in told["changes"]] == [
        ("link.created", []),
        ("link.changed", ["destination_url"]),
        ("link.changed", ["rules"]),
    ]
    none = (await call(client, organization, "GET", f"?link_id={link_id}&to=2026-01-01")).json()
    assert none == {"annotations": [], "changes": []}
    other = (await call(client, organization, "GET", f"?link_id={other_id}")).json()
    assert (other["annotations"], len(other["changes"])) == ([], 1)
    assert (await links.call("DELETE", f"/{link_id}?purge=true")).status_code == 204
    gone = (await call(client, organization, "GET", f"?link_id={link_id}")).json()
    assert gone == {"annotations": [], "changes": []}
    assert (await call(client, organization, "GET")).json()["annotations"] == []


@pytest.mark.parametrize(
    ("body", "field", "rule"),
    [
        ({"text": "x"}, "at", "field is required"),
        ({"at": "2026-03-02"}, "text", "field is required"),
        ({"at": "2026-03-02T09:00:00", "text": "x"}, "at", "must be a date, or an ISO 8601 time with a zone"),
        ({"at": "1999-01-01", "text": "x"}, "at", "must be between 2012-01-01 and 2200-01-01"),
        ({"at": 5, "text": "x"}, "at", "must be a string"),
        ({"at": "2026-03-02", "text": "x" * 201}, "text", "must have at most 200 characters"),
        ({"at": "2026-03-02", "text": "a\nb"}, "text", "must not contain control characters"),
        ({"at": "2026-03-02", "text": "x", "link_id": "y"}, "link_id", "must be a UUID"),
        (
            {"at": "2026-03-02", "text": "x", "link_id": str(uuid.UUID(int=7))},
            "link_id",
            "must be a link of your organization",
        ),
        ({"at": "2026-03-02", "text": "x", "color": "red"}, "color", "is not a field of this request"),
    ],
)
async def test_what_is_wrong_is_told(
    client: httpx.AsyncClient, organization: TestOrganization, body: object, field: str, rule: str
) -> None:
    """Each wrong field is named with its rule."""
    answer = await call(client, organization, "POST", body=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["fieldName"]) == (400, field)
    assert rule in error["errorMessage"]


async def test_notes_are_of_one_organization(
    client: httpx.AsyncClient, make_organization: OrganizationFactory
) -> None:
    """Another organization can't see, change or delete a note, nor note something of its link."""
    owner, other = await make_organization(), await make_organization()
    link_id = (await Links(client, owner).make())["id"]
    body = {"at": "2026-03-02", "text": "x", "link_id": link_id}
    made = (await call(client, owner, "POST", body=body)).json()
    assert (await call(client, other, "POST", body=body)).json()["error"]["fieldName"] == "link_id"
    seen = await call(client, other, "GET", f"?link_id={link_id}")
    assert seen.json() == {"annotations": [], "changes": []}
    for method, change in (("PATCH", {"text": "mine"}), ("DELETE", None)):
        answer = await call(client, other, method, f"/{made['id']}", change)
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (404, "ANNOTATION_NOT_FOUND")
    assert (await call(client, owner, "GET")).json()["annotations"] == [made]


async def test_an_organization_has_a_bounded_number(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """One more than the limit is refused."""
    body = {"at": "2026-03-02", "text": "x"}
    made = (await call(client, organization, "POST", body=body)).json()
    document = await database[NAME].find_one({"_id": made["id"]})
    assert document
    ids = [f"{organization.id}/{number}" for number in range(1, MOST_ANNOTATIONS)]
    await unrecorded(database)[NAME].insert_many([document | {"_id": given_id} for given_id in ids])
    answer = await call(client, organization, "POST", body=body)
    assert answer.status_code == 400
    assert "one more than the 2,000 notes" in answer.json()["error"]["errorMessage"]
