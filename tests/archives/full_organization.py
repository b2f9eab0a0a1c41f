"""An organization that has something in every collection, put there as the service does it."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import httpx

from backend.domain.accounts.api_keys import KeyKind
from backend.domain.accounts.apps import AndroidApp, Apps, IosApp
from backend.domain.accounts.destination_rules import DestinationRules
from backend.domain.accounts.permissions import Permission
from backend.domain.accounts.reach.link_reach import LinkReach
from backend.domain.accounts.roles import Role
from backend.domain.accounts.second_factor.factor import SECRET_LENGTH, SecondFactor, recovery_hash
from backend.domain.accounts.second_factor.passkeys import Passkey
from backend.domain.accounts.single_sign_on.group_roles import GroupRole, GroupRoles
from backend.domain.accounts.single_sign_on.provider import IdentityProvider
from backend.domain.accounts.users import User
from backend.domain.all_resources import RESOURCES
from backend.domain.analytics.funnels.saved import SAVED_FUNNELS
from backend.domain.apps.installs import AppPlatform, Install, Match
from backend.domain.clicks.clicks import record_line
from backend.domain.clicks.ids import click_id
from backend.domain.costs.cost import ToldCost
from backend.domain.domains.input import DOMAIN_FIELDS
from backend.domain.feed.events import EventType
from backend.domain.ids import CustomerId, InstallId, LinkId, OrgId, UserId
from backend.domain.links.destinations.destination import Outcome
from backend.domain.links.reports import parse_report
from backend.domain.links.tags import Tag
from backend.domain.reports.recipient import RECIPIENT_DEFAULTS, Frequency
from backend.domain.visitors.persons import Subject
from backend.storage.accounts.api_keys import create_api_key
from backend.storage.accounts.apps import set_apps
from backend.storage.accounts.domain_settings import store_domain_settings
from backend.storage.accounts.organizations import (
    set_destination_rules,
    set_event_properties,
    set_requires_single_sign_on,
)
from backend.storage.accounts.single_sign_on.settings import set_group_roles, set_provider
from backend.storage.accounts.users.second_factors import set_second_factor
from backend.storage.accounts.users.users import insert_user
from backend.storage.apps.installs import record_install
from backend.storage.clicks.expired_days import sum_expired
from backend.storage.clicks.signing import PURPOSE
from backend.storage.clicks.signing_keys import signing_key
from backend.storage.costs.costs import tell_costs
from backend.storage.driver.mongo import Database
from backend.storage.ledger.statement_signing import sign_days
from backend.storage.lifecycle.privacy.privacy import erase_subject
from backend.storage.links.destinations.broken import BrokenDestination, keep_results
from backend.storage.links.links import find_link, list_links
from backend.storage.links.qr_logos import set_logo
from backend.storage.links.reports import add_report
from backend.storage.links.tags import list_tags
from backend.storage.links.taken_clicks import take_clicks
from backend.storage.links.writing.holds import hold_link
from backend.storage.links.writing.idempotency import PIECE_LENGTH
from backend.storage.reports.recipients import ask_recipient, confirm_recipient
from backend.storage.reports.reports import create_report
from backend.storage.resources.things import Things
from backend.storage.webhooks.endpoints import create_endpoint, rotate_secret
from tests.api.told_sales import tell
from tests.facts.clicks import click, ship
from tests.facts.feeds import place_all
from tests.facts.fired_alerts import fire_alert
from tests.facts.organizations import TestOrganization
from tests.facts.sdk_batches import Visitor, call, check, conversion
from tests.polling import wait_for_async
from tests.resources.examples import EXAMPLES, LINK

# Of no password that anyone knows.
PASSWORD_HASH = "$argon2id$v=19$m=65536,t=3,p=4$" + "c2FsdA" * 4 + "$" + "aGFzaA" * 7
CREATE = "/serviceCore/pa/v1/create-link"
DOMAIN_SETTINGS = {
    "root_url": "https://shop.example/",
    "not_found_url": "https://shop.example/help",
    "brand": {"name": "Kites", "logo_url": "https://shop.example/logo.svg", "color": "#1f5fbf"},
    "texts": {"de": {"not_found": {"title": "Nichts", "text": "Hier ist nichts."}}},
    "robots_txt": "User-agent: *\nDisallow: /\n",
    "forwards_path": True,
    "ignores_case": False,
}

# The first bytes of a PNG file.
_LOGO = b"\x89PNG\r\n\x1a\n"


async def fill(client: httpx.AsyncClient, database: Database, organization: TestOrganization) -> list[LinkId]:
    """Give the organization links, visitors and apps; gives the ids of its links."""
    await _make_links(client, organization)
    link_ids = [link.id for link in await list_links(database, organization.id, skip=0, limit=9)]
    await set_logo(database, organization.id, _LOGO, datetime.now(UTC))
    clicks = {"count": 1042, "source": "Bitly", "imported_at": datetime(2026, 1, 2, tzinfo=UTC)}
    await database["links"].update_one({"_id": link_ids[0]}, {"$set": {"imported_clicks": clicks}})
    await hold_link(database, link_ids[1], "It sells what it does not have.", datetime.now(UTC))
    rules = DestinationRules(("shop.example", "com.example/shop/*"), ("old.shop.example",))
    await set_destination_rules(database, organization.id, rules)
    await _set_single_sign_on(database, organization)
    await set_event_properties(database, organization.id, ["plan", "a b"])
    hashed = {"limits.password_hash": PASSWORD_HASH}
    await database["links"].update_one({"_id": link_ids[0]}, {"$set": hashed})
    assert (await take_clicks(database, organization.id, link_ids[0], requested=2, most=5)).remaining == 3
    await _find_fault(database, organization, link_ids[0])
    await _click(database, organization, link_ids)
    await _visit(client, organization)
    await _tell_by_click(client, database, organization, link_ids[0])
    install = Install(
        organization.id,
        InstallId(str(uuid.uuid4())),
        AppPlatform.IOS,
        link_ids[0],
        datetime.now(UTC) - timedelta(days=3),
        Match.CLIPBOARD,
    )
    assert await record_install(database, install)
    apps = Apps(
        IosApp("A1B2C3D4E5", "com.shop.app", "1234567890", "shopapp", clipboard_page=True, mail_page=True),
        AndroidApp("com.shop.app", (":".join(["AB"] * 32),)),
    )
    await set_apps(database, organization.domain, organization.id, apps)
    settings = {name: DOMAIN_FIELDS[name].parse(name, value) for name, value in DOMAIN_SETTINGS.items()}
    await store_domain_settings(database, organization.id, organization.domain, settings)
    tag = await _limit_key(database, organization, link_ids[0])
    fields = {
        "url": "https://crm.example/",
        "types": (EventType.LEAD,),
        "link_ids": (link_ids[0],),
        "tag_ids": (tag.id,),
        "is_enabled": False,
    }
    endpoint = await create_endpoint(database, organization.id, fields, datetime.now(UTC))
    await rotate_secret(database, organization.id, endpoint.id, datetime.now(UTC))
    report = {
        "name": "Frühling",
        # As it was sent, with a control character.
        "query": {"filters": {"campaign": ["spring\x07", None]}, "period": "last_28_days"},
        "password_hash": PASSWORD_HASH,
        "embed_origins": ("https://shop.example",),
        "expires_at": datetime(2100, 1, 1, tzinfo=UTC),
    }
    made = await create_report(database, organization.id, report, datetime.now(UTC))
    reader: dict[str, Any] = {
        "report_id": made.id,
        "address": "ada@shop.example",
        "frequency": Frequency.WEEKLY,
    }
    asked = await ask_recipient(
        database, organization.id, {**RECIPIENT_DEFAULTS, **reader}, datetime.now(UTC)
    )
    assert asked.code
    assert await confirm_recipient(database, asked.token, asked.code, datetime.now(UTC))
    # With a value of each kind; also as it was sent, with a control character.
    funnel = {
        "name": "Checkout",
        "steps": [
            {"kind": "click", "filters": {"campaign": {"not": ["spring\x07", None]}, "country": ["DE"]}},
            {"kind": "event", "name": "added to cart", "filters": {"event.plan": {"prefix": "p"}}},
            {"kind": "conversion"},
        ],
        "by": "customer",
        "within_days": 7,
        "ordered": False,
        "group_by": ["campaign"],
    }
    parsed = {name: rule.parse(name, funnel[name]) for name, rule in SAVED_FUNNELS.told.items()}
    await Things(SAVED_FUNNELS).add(database, organization.id, parsed, datetime.now(UTC))
    for resource in RESOURCES:
        example = EXAMPLES[resource.collection].new
        told = {name: link_ids[0] if value == LINK else value for name, value in example.items()}
        values = {name: rule.parse(name, told[name]) for name, rule in resource.told.items()}
        await Things(resource).add(database, organization.id, values, datetime.now(UTC))
    cost = ToldCost("spring", datetime.now(UTC).date(), Decimal("12.50"), "EUR")
    await tell_costs(database, organization.id, [cost], datetime.now(UTC))
    await _add_member(database, organization)
    await fire_alert(database, organization.id, link_ids[0])
    await place_all(database, organization.id)
    await sign_days(database, organization.id, datetime.now(UTC).date() + timedelta(days=1))
    await erase_subject(database, organization.id, Subject(customer_id=CustomerId("nobody")))
    return link_ids


async def _add_member(database: Database, organization: TestOrganization) -> None:
    """Add a member of this and another organization, with all ways to sign in."""
    org_ids = (organization.id, OrgId("another"))
    email, now = f"ada@{organization.domain}", datetime.now(UTC)
    user = User(UserId(str(uuid.uuid4())), email, PASSWORD_HASH, org_ids, now)
    await insert_user(database, user)
    passkey = Passkey("Y3JlZGVudGlhbA", b"its public half", 0, "Phone", now)
    hashes = (recovery_hash("ABCDEFGHIJKLMNOP"),)
    await set_second_factor(database, user, SecondFactor("A" * SECRET_LENGTH, 7, hashes, now, (passkey,)))


async def _limit_key(database: Database, organization: TestOrganization, link_id: LinkId) -> Tag:
    """Make a key that is limited to this link and a tag, which is given."""
    tag = (await list_tags(database, organization.id))[0]
    reach = LinkReach(tags=(tag.id,), domains=(organization.domain,), links=(link_id,))
    scopes = (Permission.LINKS_READ,)
    await create_api_key(
        database, organization.id, KeyKind.REST, datetime.now(UTC), scopes=scopes, limited_to=reach
    )
    return tag


async def _set_single_sign_on(database: Database, organization: TestOrganization) -> None:
    provider = IdentityProvider("https://id.shop.example", "waylink", "secret", ("shop.example",))
    await set_provider(database, organization.id, provider)
    await set_requires_single_sign_on(database, organization.id, is_on=True)
    group_roles = GroupRoles((GroupRole("Marketing", Role.EDITOR),), Role.VIEWER)
    await set_group_roles(database, organization.id, group_roles)


async def _make_links(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    for number in range(3):
        body: dict[str, object] = {
            "domain": organization.domain,
            "destination_url": f"https://shop.example/{number}",
            "link_name": "Größe “x”\u2028",
            "utm_source": "mail",
            "custom_data": {"small": 1, "large": 2**53 + 1, "exact": 0.1, "date": "2026-01-01", "none": None},
        }
        headers = organization.headers | {"Idempotency-Key": f"key-{number}"}
        assert (await client.post(CREATE, json=body, headers=headers)).status_code == 201

    url = CREATE.replace("create-link", "links")
    for name in ("Spring", "shops/Köln", "given up"):
        tag = {"name": name, "color": "teal"}
        tagged = await client.post(
            CREATE.replace("create-link", "tags"), json=tag, headers=organization.headers
        )
        assert tagged.status_code == 201
    template = {"name": "Newsletter", "utm_source": "mail"}
    filled = await client.post(
        CREATE.replace("create-link", "utm-templates"), json=template, headers=organization.headers
    )
    assert filled.status_code == 201
    made = []
    for number in range(3):
        body = {
            "domain": organization.domain,
            "destination_url": "https://shop.example/sku",
            "link_name": "Sku",
            "external_id": f"sku-{number}",
            "starts_at": "2026-01-01T00:00:00Z",
            "expires_at": "2100-01-01T00:00:00Z",
            "max_clicks": 5,
            "click_to_continue": True,
            "expired_url": "https://shop.example/over",
            "tags": ["Spring", "given up", "shops/Köln"],
            "rules": [{"if": {"country": ["DE"]}, "then": {"destination_url": "https://shop.example/de"}}],
        }
        headers = organization.headers | {"Idempotency-Key": f"sku-{number}"}
        answer = await client.post(url, json=body, headers=headers)
        assert answer.status_code == 201
        made.append(answer.json()["id"])
    assert (await client.delete(f"{url}/{made[0]}", headers=organization.headers)).status_code == 204
    await _purge(client, f"{url}/{made[2]}?purge=true", organization)
    given_up = CREATE.replace("create-link", "tags/given up")
    assert (await client.delete(given_up, headers=organization.headers)).status_code == 204
    bulk = {"operations": [{"op": "archive", "id": made[0]}] * 110}
    headers = organization.headers | {"Idempotency-Key": "bulk"}
    answer = await client.post(f"{url}/bulk", json=bulk, headers=headers)
    assert (answer.status_code, len(answer.text) > PIECE_LENGTH) == (200, True)


async def _purge(client: httpx.AsyncClient, url: str, organization: TestOrganization) -> None:
    async def status() -> int:
        return (await client.delete(url, headers=organization.headers)).status_code

    # A purge asks first whether the link has clicks: 503 as long as the figures are not there.
    assert await wait_for_async(status, "the purge", lambda status: status != 503) == 204


async def _click(database: Database, organization: TestOrganization, link_ids: list[LinkId]) -> None:
    now = datetime.now(UTC)
    clicks = [
        click(
            organization.id,
            link_ids[number % len(link_ids)],
            now - timedelta(hours=number),
            reason=None if number % 2 == 0 else "crawler",
            country="DE",
            referrer_host="shop.example",
        )
        for number in range(7)
    ]
    await ship(database, clicks, end=700)
    old = now - timedelta(days=500)
    await ship(
        database, [click(organization.id, link_ids[0], old, reason="crawler", visitor=n) for n in range(3)]
    )
    assert await sum_expired(database, organization.id, now) == 3


async def _tell_by_click(
    client: httpx.AsyncClient, database: Database, organization: TestOrganization, link_id: LinkId
) -> None:
    """Sales that a server tells by a click: of a customer without a device, and of nobody known."""
    key = await signing_key(database, PURPOSE)
    facts: dict[str, Any] = {"outcome": Outcome.WEB, "reason": None, "country": None, "referrer_host": None}
    line = record_line(organization.id, link_id, '"","","",""', at=datetime.now(UTC), **facts)
    clicked = click_id(key, organization.id, link_id, line).decode()
    sale = {"revenue": 7, "currency": "EUR", "click_id": clicked}
    items = [sale | {"transaction_id": "7", "customer_id": "ada"}, sale | {"transaction_id": "8"}]
    results = await tell(client, organization, "conversions", *items)
    assert [result["status"] for result in results] == ["accepted"] * 2


async def _visit(client: httpx.AsyncClient, organization: TestOrganization) -> None:
    visitor = Visitor(client, organization)
    calls = (
        check(utm_source="mail"),
        call("identify", customer_id="ada", name="Ada"),
        call("lead", event_id="lead-1"),
        conversion(revenue=1234567.89, transaction_id="order-1"),
        call("event", name="viewed", metadata={"price": 1.5}),
    )
    assert [result["status"] for result in await visitor.results(*calls)] == ["accepted"] * len(calls)
    api, headers = CREATE.removesuffix("create-link"), organization.headers
    sale = {"customer_id": "bob", "transaction_id": "order-2", "revenue": 7, "currency": "EUR"}
    for path, item in (("conversions", sale | {"metadata": {"a": 1}}), ("leads", {"customer_id": "bob"})):
        answer = await client.post(f"{api}{path}", json=item, headers=headers)
        assert answer.json()["results"][0]["status"] == "accepted"
    refund = {"refund_id": "r", "transaction_id": "order-2", "amount": 2.5, "currency": "EUR"}
    answer = await client.post(f"{api}conversions/refund", json=refund, headers=headers)
    assert answer.json()["results"][0]["status"] == "accepted"
    refused = await visitor.post(check(), headers={"Origin": "https://elsewhere.example"})
    assert refused.status_code == 403


async def _find_fault(database: Database, organization: TestOrganization, link_id: LinkId) -> None:
    """A visitor reports the link, and its destination does not answer."""
    link, now = await find_link(database, link_id, organization.id), datetime.now(UTC)
    assert link is not None
    await add_report(database, link, parse_report("spam", "Nothing but kites.\nReally.", now))
    broken = BrokenDestination("destination_url", link.destination_url, "it answered 404", now)
    await keep_results(database, {link_id: (organization.id, [broken])}, now)
