"""Reports over REST: made, listed, changed and deleted."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from backend.domain.reports.report import MOST_REPORTS
from backend.storage.accounts.organizations import set_event_properties
from backend.storage.driver.mongo import Database
from backend.storage.driver.unrecorded import unrecorded
from backend.storage.reports.reports import NAME, create_report
from tests.api.link_calls import API
from tests.conftest import MovableClock, OrganizationFactory
from tests.facts.organizations import TestOrganization

QUERY = {"measures": ["clicks", "revenue"], "group_by": ["campaign"], "period": "last_28_days"}


async def call(
    client: httpx.AsyncClient, of: TestOrganization, method: str, path: str = "", body: object = None
) -> httpx.Response:
    """A call about reports with the organization's key."""
    return await client.request(method, f"{API}/reports{path}", json=body, headers=of.headers)


async def test_a_report_from_making_to_deleting(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """Its fields are answered as they were given, with the URL each time, and never with the password."""
    body = {
        "name": "Spring",
        "query": QUERY | {"compare": None},
        "shows_revenue": True,
        "password": "kites-42",
        "embed_origins": ["https://Shop.example/", "https://*.shop.example"],
        "expires_at": "2099-01-01T01:00:00+01:00",
    }
    answer = await call(client, organization, "POST", body=body)
    assert answer.status_code == 201, answer.text
    made = answer.json()
    assert made == {
        "id": made["id"],
        "name": "Spring",
        "url": made["url"],
        "kind": "table",
        "query": QUERY,
        "shows_revenue": True,
        "shows_notes": False,
        "has_password": True,
        "embed_origins": ["https://shop.example", "https://*.shop.example"],
        "expires_at": "2099-01-01T00:00:00Z",
        "created_at": made["created_at"],
        "opened_at": None,
    }
    assert len(made["url"].rpartition("/shared/")[2]) == 43
    stored = await database[NAME].find_one({"_id": made["id"]})
    assert stored
    assert stored["password_hash"].startswith("$argon2id$")
    assert "password" not in stored
    assert (await call(client, organization, "GET")).json() == {"reports": [made]}
    changes: dict[str, Any] = {"name": "Summer", "password": None, "expires_at": None, "embed_origins": []}
    changed = await call(client, organization, "PATCH", f"/{made['id']}", changes)
    del changes["password"]
    assert (changed.status_code, changed.json()) == (200, made | changes | {"has_password": False})
    assert (await call(client, organization, "GET", f"/{made['id']}")).json() == changed.json()
    assert (await call(client, organization, "DELETE", f"/{made['id']}")).status_code == 204
    assert (await call(client, organization, "GET")).json() == {"reports": []}
    assert (await call(client, organization, "GET", f"/{made['id']}")).status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "rule"),
    [
        ({"query": {}}, "name", "field is required"),
        ({"name": "x"}, "query", "field is required"),
        ({"name": "x", "query": []}, "query", "must be a JSON object"),
        (
            {"name": "x", "query": {"filters": {"day": ["x"]}}},
            "query.filters.day",
            "can't be filtered by; possible are",
        ),
        ({"name": "x", "query": {"group_by": ["day", "week"]}}, "query.group_by", "must have at most one of"),
        ({"name": "x", "query": {"measures": ["revenue"]}}, "query.measures", "must have one that is no"),
        ({"name": "x", "query": {}, "password": "abc"}, "password", "must have 4 to 1024 characters"),
        ({"name": "x", "query": {}, "password": ""}, "password", "must have 4 to 1024 characters"),
        (
            {"name": "x", "query": {}, "embed_origins": ["https://a.example/x; script-src *"]},
            "embed_origins",
            "must have origins such as",
        ),
        (
            {"name": "x", "query": {}, "expires_at": "2020-01-01T00:00:00Z"},
            "expires_at",
            "must not have passed",
        ),
        ({"name": "x", "query": {}, "url": "https://a"}, "url", "is not a field of this request"),
    ],
)
async def test_what_is_wrong_is_told(
    client: httpx.AsyncClient, organization: TestOrganization, body: object, field: str, rule: str
) -> None:
    """Each wrong field is named, also inside of the query."""
    answer = await call(client, organization, "POST", body=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["fieldName"] == field
    assert rule in error["errorMessage"]


async def test_a_change_is_checked_with_what_stays(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """Revenue can't be hidden from a report that has nothing else; the report stays as it was."""
    body = {"name": "x", "query": {"measures": ["revenue"]}, "shows_revenue": True}
    made = (await call(client, organization, "POST", body=body)).json()
    refused = await call(client, organization, "PATCH", f"/{made['id']}", {"shows_revenue": False})
    assert refused.json()["error"]["fieldName"] == "query.measures"
    assert (await call(client, organization, "GET")).json() == {"reports": [made]}


async def test_overviews_and_funnels(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    """Each kind is kept, and changed only together with a query that fits it."""
    steps: dict[str, Any] = {"steps": [{"kind": "click"}, {"kind": "conversion"}], "group_by": ["campaign"]}
    body = {"name": "x", "kind": "funnel", "query": steps}
    made = (await call(client, organization, "POST", body=body)).json()
    assert (made["kind"], made["query"]) == ("funnel", steps)
    refused = await call(client, organization, "PATCH", f"/{made['id']}", {"kind": "overview"})
    assert refused.json()["error"]["fieldName"] == "query.steps"
    changes = {"kind": "overview", "query": {"group_by": ["tag", "country"]}}
    changed = (await call(client, organization, "PATCH", f"/{made['id']}", changes)).json()
    assert changed == made | changes
    assert (await call(client, organization, "GET")).json() == {"reports": [changed]}


async def test_installs_need_a_subscription(
    client: httpx.AsyncClient, organization: TestOrganization
) -> None:
    """What the organization can't ask, its reports can't either."""
    answer = await call(client, organization, "POST", body={"name": "x", "query": {"measures": ["installs"]}})
    assert answer.status_code == 403


async def test_properties_of_events_are_marked_first(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """A report can't ask by one that is not, and later its page does not say which ones are."""
    body = {"name": "x", "query": {"measures": ["events"], "group_by": ["event.plan"]}}
    refused = await call(client, organization, "POST", body=body)
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (400, "query.group_by")
    await set_event_properties(database, organization.id, ("plan",))
    made = await call(client, organization, "POST", body=body)
    assert made.status_code == 201
    await set_event_properties(database, organization.id, ("secret",))
    page = await client.get(f"/shared/{made.json()['url'].rpartition('/')[2]}")
    assert page.status_code == 422
    assert "secret" not in page.text


async def test_reports_of_others_are_not_found(
    client: httpx.AsyncClient, make_organization: OrganizationFactory, clock: MovableClock, database: Database
) -> None:
    """Another organization can't list, read, change or delete a report."""
    owner, other = await make_organization(), await make_organization()
    report = await create_report(database, owner.id, {"name": "x", "query": {}}, clock())
    assert (await call(client, other, "GET")).json() == {"reports": []}
    for method, body in (("GET", None), ("PATCH", {"name": "mine"}), ("DELETE", None)):
        answer = await call(client, other, method, f"/{report.id}", body)
        assert (answer.status_code, answer.json()["error"]["fieldName"]) == (404, "REPORT_NOT_FOUND")
        assert report.token not in answer.text
    assert len((await call(client, owner, "GET")).json()["reports"]) == 1


async def test_an_organization_has_a_bounded_number(
    client: httpx.AsyncClient, organization: TestOrganization, clock: MovableClock, database: Database
) -> None:
    """One more than the limit is refused."""
    made = await create_report(database, organization.id, {"name": "x", "query": {}}, clock())
    document = await database[NAME].find_one({"_id": made.id})
    assert document
    ids = [f"{organization.id}/{number}" for number in range(1, MOST_REPORTS)]
    await unrecorded(database)[NAME].insert_many(
        [document | {"_id": given_id, "token": given_id} for given_id in ids]
    )
    answer = await call(client, organization, "POST", body={"name": "y", "query": {}})
    assert (answer.status_code, answer.json()["error"]["fieldName"]) == (400, "name")
