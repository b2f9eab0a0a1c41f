"""Alert rules over REST: made, asked, changed, deleted; and what they have told of."""

from __future__ import annotations

import uuid
from typing import Any

import httpx

from backend.domain.accounts.users import User
from backend.domain.ids import LinkId, UserId
from backend.storage.accounts.users.users import insert_user
from backend.storage.driver.mongo import Database
from backend.system.clock import utc_now
from tests.api.link_calls import API
from tests.archives.full_organization import PASSWORD_HASH
from tests.conftest import OrganizationFactory
from tests.facts.fired_alerts import fire_alert
from tests.facts.organizations import TestOrganization


async def call(
    client: httpx.AsyncClient, of: TestOrganization, method: str, path: str, body: object = None
) -> httpx.Response:
    """A call with the organization's key."""
    return await client.request(method, f"{API}{path}", json=body, headers=of.headers)


async def test_a_rule_from_making_to_deleting(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """It has its defaults, each field can be changed by itself, and wrong ones are told by their names."""
    address = f"ada@{organization.domain}"
    user = User(UserId(address), address, PASSWORD_HASH, (organization.id,), utc_now())
    await insert_user(database, user)
    body = {"name": "Clicks", "kind": "spike", "mail_to": [address], "language": "de"}
    made = (await call(client, organization, "POST", "/alert-rules", body)).json()
    expected: dict[str, Any] = body | {
        "scope": "organization",
        "link_id": None,
        "tag": None,
        "thresholds": {"factor": 3, "least": 30},
        "webhooks": False,
        "timezone": "UTC",
        "is_enabled": True,
    }
    assert {name: made[name] for name in expected} == expected
    assert made.keys() == expected.keys() | {"id", "created_at"}
    changes = {"thresholds": {"least": 50}, "timezone": "Europe/Berlin", "webhooks": True, "mail_to": []}
    one = f"/alert-rules/{made['id']}"
    changed = made | changes | {"thresholds": {"factor": 3, "least": 50}}
    assert (await call(client, organization, "PATCH", one, changes)).json() == changed
    assert (await call(client, organization, "GET", "/alert-rules")).json() == {"alert_rules": [changed]}
    for wrong, field in [
        ({"thresholds": {"percent": 5}}, "thresholds.percent"),
        ({"thresholds": {"factor": 1}}, "thresholds.factor"),
        ({"mail_to": ["stranger@example.com"]}, "mail_to"),
        ({"kind": "drop"}, "kind"),
        ({"timezone": "Berlin"}, "timezone"),
    ]:
        refused = await call(client, organization, "PATCH", one, wrong)
        assert (refused.status_code, refused.json()["error"]["fieldName"]) == (400, field)
    assert (await call(client, organization, "GET", one)).json() == changed
    assert (await call(client, organization, "DELETE", one)).status_code == 204
    assert (await call(client, organization, "GET", one)).status_code == 404


async def test_what_a_rule_would_tell(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> None:
    """It is asked without being stored; a rule of what is not the organization's can't be asked."""
    answer = await call(client, organization, "POST", "/alert-preview", {"name": "New", "kind": "spike"})
    assert answer.json() == {"alerts": 0, "note": None, "findings": []}
    assert (await call(client, organization, "GET", "/alert-rules")).json() == {"alert_rules": []}
    body = {"name": "New", "kind": "limits", "link_id": str(uuid.uuid4())}
    refused = await call(client, organization, "POST", "/alert-preview", body)
    assert refused.json()["error"]["fieldName"] == "link_id"


async def test_alerts_are_listed_and_seen(
    client: httpx.AsyncClient,
    organization: TestOrganization,
    database: Database,
    make_organization: OrganizationFactory,
) -> None:
    """The latest first, page by page, with why they fired; nobody else sees or marks them."""
    first, second = [await fire_alert(database, organization.id, LinkId(link)) for link in ("a", "b")]
    listed = (await call(client, organization, "GET", "/alerts")).json()["alerts"]
    assert {alert["id"] for alert in listed} == {first.id, second.id}
    assert listed[0]["why"] == "4 of the link's 5 clicks were taken."
    assert (listed[0]["ended_at"], listed[0]["is_seen"], listed[0]["is_sent"]) == (None, False, True)
    page = (await call(client, organization, "GET", f"/alerts?limit=1&before={listed[0]['id']}")).json()
    assert page["alerts"] == listed[1:]
    of_rule = await call(client, organization, "GET", f"/alerts?rule_id={first.rule_id}")
    assert [alert["id"] for alert in of_rule.json()["alerts"]] == [first.id]
    seen = await call(client, organization, "PATCH", f"/alerts/{first.id}", {"is_seen": True})
    assert seen.json() == {**of_rule.json()["alerts"][0], "is_seen": True}
    other = await make_organization()
    assert (await call(client, other, "GET", "/alerts")).json() == {"alerts": []}
    refused = await call(client, other, "PATCH", f"/alerts/{second.id}", {"is_seen": True})
    assert (refused.status_code, refused.json()["error"]["fieldName"]) == (404, "ALERT_NOT_FOUND")
    behind = await call(client, other, "GET", f"/alerts?before={second.id}")
    assert behind.json()["error"]["fieldName"] == "before"
