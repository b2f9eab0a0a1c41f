"""What holds over every route, whichever they are: nothing of one organization is visible to another."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.rule import AlertKind
from backend.domain.ids import OrgId
from backend.domain.mail.mail import Mail
from backend.domain.reports.recipient import RECIPIENT_DEFAULTS, Frequency
from backend.domain.visitors.rejections import Rejection
from backend.domain.web.short_urls import ShortUrlForm
from backend.storage.accounts.api_keys import list_api_keys
from backend.storage.accounts.apps import set_apps
from backend.storage.accounts.origin_refusals import OriginRefusal, add_origin_refusal
from backend.storage.alerts.firing import AlertChannels, tell
from backend.storage.alerts.rules import create_rule, list_rules
from backend.storage.driver.mongo import Database
from backend.storage.links.tags import create_tag, list_tags
from backend.storage.links.utm_templates import create_template, list_templates
from backend.storage.mail import mails
from backend.storage.mail.mails import waiting_document
from backend.storage.outbox.sequencer import place_all
from backend.storage.reports.recipients import ask_recipient, list_recipients
from backend.storage.reports.reports import create_report, list_reports
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.endpoints import create_endpoint, list_endpoints
from backend.system.clock import utc_now
from tests.api.link_calls import create, info
from tests.conftest import OrganizationFactory
from tests.dashboard.people import Person, make_user
from tests.dashboard.routes import routes
from tests.dashboard.test_forms import assert_locked_down
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, check, conversion
from tests.scim_api.identity_provider import connect

SECRET = "their secret"


@pytest.fixture
async def other(
    make_organization: OrganizationFactory, client: httpx.AsyncClient, database: Database
) -> TestOrganization:
    """Another organization, which has something on every page."""
    other = await make_organization()
    await make_user(database, other.id)
    await create(client, other, link_name=SECRET, selected_path="p", utm_campaign=SECRET)
    await set_apps(database, other.domain, other.id, Apps(IosApp("A1B2C3D4E5", "secret.app")))
    await add_origin_refusal(database, other.id, OriginRefusal("https://secret.example", SECRET, utc_now()))
    await create_tag(database, other.id, SECRET, None, utc_now())
    await create_template(database, other.id, SECRET, {"utm_source": SECRET}, utc_now())
    provider = await connect(client, database, other.id)
    await provider.group(SECRET, await provider.user(SECRET, displayName=SECRET))
    hook = await create_endpoint(database, other.id, {"url": "https://secret.example/"}, utc_now())
    asleep = {"slept_at": utc_now(), "failing_since": utc_now(), "last_error": SECRET}
    await database[endpoints.NAME].update_one({"_id": hook.id}, {"$set": asleep})
    report = {"name": SECRET, "query": {"filters": {"campaign": [SECRET]}}}
    made = await create_report(database, other.id, report, utc_now())
    reader = {**RECIPIENT_DEFAULTS, "report_id": made.id, "address": "a@secret.example"}
    await ask_recipient(database, other.id, {**reader, "frequency": Frequency.WEEKLY}, utc_now())
    mail = Mail(other.id, "figures/x/y", "a@secret.example", SECRET, SECRET, SECRET)
    await database[mails.NAME].insert_one(waiting_document(mail, utc_now()) | {"error": SECRET})
    rule = await create_rule(database, other.id, {"name": SECRET, "kind": AlertKind.LIMITS}, utc_now())
    cause = AlertCause("rate/x", "p", utc_now(), {"limit": SECRET, "requests": 1, "last": utc_now()})
    await tell(database, AlertChannels(ShortUrlForm()), rule, [cause], utc_now())
    rejection = Rejection("event", SECRET, SECRET)
    await add_rejections(database, [RejectedCalls(other.id, utc_now(), (rejection,))])
    await Visitor(client, other).results(check(utm_campaign=SECRET), conversion())
    return other


@pytest.fixture
async def their_ids(other: TestOrganization, client: httpx.AsyncClient, database: Database) -> dict[str, str]:
    """What the names in addresses stand for, all of it the other organization's."""
    link = await info(client, other, f"https://{other.domain}/p")
    keys = await list_api_keys(database, other.id)
    (tag,), (template,) = await list_tags(database, other.id), await list_templates(database, other.id)
    (hook,) = await list_endpoints(database, other.id)
    ids = {"key_id": keys[0].id, "tag_id": tag.id, "template_id": template.id, "domain": other.domain}
    (report,) = await list_reports(database, other.id)
    (reader,) = await list_recipients(database, other.id)
    ids |= {"webhook_id": hook.id, "report_id": report.id, "recipient_id": reader.id}
    (rule,) = await list_rules(database, other.id)
    ids["rule_id"] = rule.id
    return ids | {"link_id": link["id"], "kind": "svg"}


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
    match = re.search(r'name="form_token" value="(\w+)"', (await person.get("/tags")).text)
    assert match
    fields = {
        "form_token": match[1],
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
