"""An organization that has something on every page of the dashboard."""

from __future__ import annotations

import httpx
import pytest

from backend.domain.accounts.apps import Apps, IosApp
from backend.domain.alerts.finding import AlertCause
from backend.domain.alerts.rule import AlertKind
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.annotations.annotation import ANNOTATIONS, NotedTime
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
from backend.storage.reports.recipients import ask_recipient, list_recipients
from backend.storage.reports.reports import create_report, list_reports
from backend.storage.resources.things import Things
from backend.storage.visitors.rejections import RejectedCalls, add_rejections
from backend.storage.webhooks import endpoints
from backend.storage.webhooks.endpoints import create_endpoint, list_endpoints
from backend.system.clock import utc_now
from tests.api.link_calls import create, info
from tests.conftest import OrganizationFactory
from tests.dashboard.people import make_user
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
    noted = {"at": NotedTime.of_day(utc_now().date()), "text": SECRET, "link_id": None}
    await Things(ANNOTATIONS).add(database, other.id, noted, utc_now())
    funnel = {"name": SECRET, "steps": [{"kind": "click"}, {"kind": "conversion"}]}
    parsed = {name: SAVED_FUNNELS.told[name].parse(name, value) for name, value in funnel.items()}
    await Things(SAVED_FUNNELS).add(database, other.id, parsed, utc_now())
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
    (note,) = await Things(ANNOTATIONS).list(database, other.id)
    (funnel,) = await Things(SAVED_FUNNELS).list(database, other.id)
    ids |= {"note_id": note.id, "funnel_id": funnel.id}
    return ids | {"link_id": link["id"], "kind": "svg"}
