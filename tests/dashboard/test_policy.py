"""What holds over every route, whichever they are: nothing of one organization is visible to another."""

from __future__ import annotations

from typing import Any

from backend.domain.ids import OrgId
from backend.storage.driver.mongo import Database
from backend.storage.outbox.sequencer import place_all
from tests.dashboard.furnished import SECRET
from tests.dashboard.people import FormsOf, Person
from tests.dashboard.routes import routes
from tests.dashboard.test_forms import assert_locked_down
from tests.facts.organizations import TestOrganization


async def everything_of(database: Database, org_id: OrgId) -> dict[str, Any]:
    """Every document of an organization, by collection."""
    names = await database.list_collection_names()
    condition = {"$or": [{"org_id": org_id}, {"_id": org_id}, {"org_ids": org_id}]}
    return {name: await database[name].find(condition).sort("_id", 1).to_list(None) for name in names}


async def test_no_page_shows_another_organization(
    person: Person, other: TestOrganization, their_ids: dict[str, str]
) -> None:
    """No address with another's ids shows a page; no other page shows anything of theirs.

    Each of them is locked down.
    """
    words = (
        SECRET,
        "secret.app",
        "secret.example",
        other.id,
        other.domain,
        other.origin,
        their_ids["link_id"],
    )
    paths = set(routes("GET", their_ids))
    assert any(their_ids["link_id"] in path for path in paths)
    for path in paths:
        answer = await person.client.get(path)
        assert_locked_down(answer)
        if any(their_id in path for their_id in their_ids.values()):
            assert answer.status_code == 404, path
        assert not [word for word in words if word in answer.text], path


async def test_no_form_changes_another_organization(
    person: Person, other: TestOrganization, their_ids: dict[str, str], database: Database
) -> None:
    """Every form, sent rightly but with another's ids and names, leaves all that they have as it was."""
    pages = [await person.get(path) for path in ("/settings", "/single-sign-on", "/destinations")]
    seen = [FormsOf(page.text).fields_of("/sign-out") for page in pages]
    fields = {
        "form_token": seen[0]["form_token"],
        "form_saw": "".join(fields["form_saw"] for fields in seen),
        "org_id": other.id,
        "origin": other.origin,
        "domain": other.domain,
        "web_key": other.web_key,
        "destination_url": "https://evil.example/",
        "link_name": "mine",
        "selected_path": "mine",
        "is_enabled": "false",
        "url": "https://evil.example/",
        "form": "json",
        "batch_size": "1",
        "from": "2026-01-01T00:00",
        "is_archived": "true",
        "kind": "rest",
        "name": "mine",
        "action": "archive",
        "links": their_ids["link_id"],
        f"link-{their_ids['link_id']}": "on",
        "report_id": their_ids["report_id"],
        "address": "mine@evil.example",
        "frequency": "weekly",
        "language": "en",
        "timezone": "UTC",
        "ios_team_id": "Z1B2C3D4E5",
        "ios_bundle_id": "evil.app",
        "ios_behavior": "1",
        "android_behavior": "1",
    }
    await place_all(database, other.id)  # what waits for its place in the feed
    before = await everything_of(database, other.id)
    assert before["links"]
    assert before["users"]
    assert before["webhooks"]
    assert before["reports"]
    assert before["report_recipients"]
    assert before["alert_rules"]
    assert before["alerts"]
    paths = set(routes("POST", their_ids)) - {"/sign-in", "/sign-out"}
    for path in paths:
        answer = await person.client.post(path, data=fields)
        assert answer.status_code < 500, path
        if any(their_id in path for their_id in their_ids.values()):
            assert answer.status_code == 404, path
        assert SECRET not in answer.text, path
    after = await everything_of(database, other.id)
    assert {name: after[name] for name in before} == before
