"""A history with an event of every type that there is, for who reads feeds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import httpx

from backend.domain.apps.installs import AppPlatform, Install
from backend.domain.feed.events import USUAL_TYPES, EventType
from backend.domain.ids import CustomerId, InstallId, LinkId
from backend.domain.visitors.persons import Subject
from backend.storage.apps.installs import record_install
from backend.storage.driver.mongo import Database
from backend.storage.lifecycle.privacy.privacy import erase_subject
from tests.api.link_calls import CONTRACT_FIELDS
from tests.api.told_sales import tell
from tests.api.whole_links import Links
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all
from tests.facts.fired_alerts import fire_alert
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion

# Nothing stores opens of apps yet.
TYPES = USUAL_TYPES - {EventType.OPEN}


async def tell_history(
    client: httpx.AsyncClient, organization: TestOrganization, database: Database
) -> LinkId:
    """Tell events of all these types, and give the id of the link that they are about."""
    links, now = Links(client, organization), datetime.now(UTC)
    link = await links.make(**CONTRACT_FIELDS)
    await links.call("PATCH", f"/{link['id']}", {"link_name": "Summer sale", "max_clicks": 5})
    link_id = LinkId(link["id"])
    clicks = [
        click(organization.id, link_id, now, country="DE", referrer_host="news.example", platform="ios"),
        click(organization.id, link_id, now + timedelta(seconds=1), reason="head"),
    ]
    await ship(database, clicks)
    visitor = Visitor(client, organization)
    visit = check(utm_source="news", gclid="g-1", cl_link_id=link_id)  # before what it is to have brought
    identity = call("identify", customer_id="ada", name="Ada", email_sha256="a" * 64)
    sale = conversion(transaction_id="order-1", product_id="kite", customer_id="ada")
    seen = call("event", name="viewed", metadata={"price": 1.5})
    await visitor.results(visit, identity, call("lead", customer_id="ada", event_id="l-1"), sale, seen)
    await tell(client, organization, "leads", {"customer_id": "bob", "event_id": "l-2"})
    refund = {"refund_id": "r-1", "transaction_id": "order-1", "amount": 1, "currency": "EUR"}
    await tell(client, organization, "conversions/refund", refund)
    install = Install(organization.id, InstallId("phone-1"), AppPlatform.IOS, link_id, now)
    assert await record_install(database, install)
    await tell(client, organization, "identities", {"customer_id": "eve"})
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("eve")))
    unused = await links.make(selected_path="unused")
    await links.call("DELETE", f"/{unused['id']}")
    await links.call("DELETE", f"/{unused['id']}?purge=true")
    await fire_alert(database, organization.id, link_id)
    await place_all(database, organization.id)
    return link_id
