"""Annotations over REST, and the changes of links beside them. All else is in tests/resources."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.domain.annotations.annotation import ANNOTATIONS
from backend.domain.errors import InvalidField
from tests.api.link_calls import API
from tests.api.whole_links import Links
from tests.facts.organizations import TestOrganization


async def call(
    client: httpx.AsyncClient, of: TestOrganization, method: str, path: str = "", body: object = None
) -> dict[str, Any]:
    """The answer to a call about annotations with the organization's key."""
    answer = await client.request(method, f"{API}/annotations{path}", json=body, headers=of.headers)
    return dict(answer.json())


async def test_days_and_times(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """A day stays a day, a time becomes one in UTC, and filters leave notes of a time."""
    day = await call(client, organization, "POST", body={"at": "2026-03-02", "text": "Newsletter sent"})
    assert (day["at"], day["link_id"], day["created_by"]) == ("2026-03-02", None, "rest")
    body = {"at": "2026-03-02T09:30:00+02:00", "text": "Posted"}
    made = await call(client, organization, "POST", body=body)
    assert made["at"] == "2026-03-02T07:30:00Z"
    assert await call(client, organization, "GET") == {"annotations": [day, made], "changes": []}
    later = await call(client, organization, "GET", "?from=2026-03-02T00:00:01Z&to=2026-03-03")
    assert later["annotations"] == [made]
    since = await call(client, organization, "GET", "?from=2026-03-02T07:30:00Z")
    assert since["annotations"] == [made]
    earlier = await call(client, organization, "GET", "?to=2026-03-02T07:30:00Z")
    assert earlier["annotations"] == [day]
    changed = await call(client, organization, "PATCH", f"/{made['id']}", {"at": "2026-03-01"})
    assert (await call(client, organization, "GET"))["annotations"] == [changed, day]


async def test_changes_of_a_link_are_told_beside_its_notes(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """What the feed says of the link, oldest first; with the link, its notes and its changes go."""
    links = Links(client, organization)
    link_id, other_id = (await links.make())["id"], (await links.make())["id"]
    note = {"at": "2026-03-02", "text": "x", "link_id": link_id.upper()}
    assert (await call(client, organization, "POST", body=note))["link_id"] == link_id
    rules = [{"if": {"country": ["DE"]}, "then": {"destination_url": "https://de.example/"}}]
    for change in ({"destination_url": "https://b.example/"}, {"rules": rules}):
        assert (await links.call("PATCH", f"/{link_id}", change)).status_code == 200
    told = await call(client, organization, "GET", f"?link_id={link_id}")
    assert [note["text"] for note in told["annotations"]] == ["x"]
    assert [(change["type"], change["changed"]) for change in told["changes"]] == [
        ("link.created", []),
        ("link.changed", ["destination_url"]),
        ("link.changed", ["rules"]),
    ]
    none = await call(client, organization, "GET", f"?link_id={link_id}&to=2026-01-01")
    assert none == {"annotations": [], "changes": []}
    other = await call(client, organization, "GET", f"?link_id={other_id}")
    assert (other["annotations"], len(other["changes"])) == ([], 1)
    assert (await links.call("DELETE", f"/{link_id}?purge=true")).status_code == 204
    gone = await call(client, organization, "GET", f"?link_id={link_id}")
    assert gone == {"annotations": [], "changes": []}


@pytest.mark.parametrize(
    ("field", "value", "rule"),
    [
        ("at", "2026-03-02T09:00:00", "must be a date, or an ISO 8601 time with a zone"),
        ("at", "1999-01-01", "must be between 2012-01-01 and 2200-01-01"),
        ("text", "x" * 201, "must have at most 200 characters"),
        ("text", "a\nb", "must not contain control characters"),
    ],
)
def test_what_is_wrong_is_told(field: str, value: str, rule: str) -> None:
    """What a note may say is a rule of its fields."""
    with pytest.raises(InvalidField, match=rule):
        ANNOTATIONS.told[field].parse(field, value)
